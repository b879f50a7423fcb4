#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oci.py ROOT FILE NAME: write the folder ROOT as an OCI archive FILE, an image of one layer called NAME. `podman load -i FILE`
and `docker load -i FILE` (25 or newer) take it. Wants to read everything in ROOT."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

CHUNK = 1 << 20


class Archive:
    """An OCI image layout in a tar file. Blobs are named by their hash."""

    def __init__(self, path):
        self.tar = tarfile.open(path, "w")
        self.add("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')

    def add(self, name, data):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self.tar.addfile(member, io.BytesIO(data))

    def blob(self, kind, data):
        """Add a document; returns its descriptor."""
        data = json.dumps(data, separators=(",", ":")).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.add("blobs/sha256/" + digest, data)
        return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}

    def layer(self, root):
        """Add ROOT, compressed; returns its descriptor and the hash of the uncompressed tar."""
        plain = hashlib.sha256()
        with tempfile.TemporaryFile(dir=os.path.dirname(self.tar.name)) as packed:
            tar = subprocess.Popen(["tar", "-C", root, "--numeric-owner", "--sort=name", "-cf", "-", "."], stdout=subprocess.PIPE)
            with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as out:
                for chunk in iter(lambda: tar.stdout.read(CHUNK), b""):
                    plain.update(chunk)
                    out.write(chunk)
            if tar.wait():
                sys.exit(f"oci.py: tar cannot read all of {root}")
            size = packed.tell()
            packed.seek(0)
            digest = hashlib.file_digest(packed, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else digest_of(packed)
            packed.seek(0)
            member = tarfile.TarInfo("blobs/sha256/" + digest)
            member.size = size
            self.tar.addfile(member, packed)
        kind = "application/vnd.oci.image.layer.v1.tar+gzip"
        return {"mediaType": kind, "digest": "sha256:" + digest, "size": size}, "sha256:" + plain.hexdigest()


def digest_of(file):
    digest = hashlib.sha256()
    shutil.copyfileobj(file, type("Sink", (), {"write": staticmethod(digest.update)}))
    return digest.hexdigest()


def main():
    root, path, name = sys.argv[1:]
    archive = Archive(path)
    layer, plain = archive.layer(root)
    config = archive.blob("application/vnd.oci.image.config.v1+json", {
        "architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [plain]},
        "config": {"Entrypoint": ["/usr/local/bin/tessera"], "Cmd": ["--help"],
                   "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}})
    manifest = archive.blob("application/vnd.oci.image.manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer]})
    manifest["annotations"] = {"org.opencontainers.image.ref.name": name}
    archive.add("index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
    archive.tar.close()


if __name__ == "__main__":
    main()
