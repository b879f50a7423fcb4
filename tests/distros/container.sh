#!/bin/bash
# SPDX-License-Identifier: MIT
# The container (make container): its archive is an OCI image of at most 700 MiB, and a guest runs from it without a
# network, also with a kernel that was built outside. The archive is unpacked by hand and entered by unshare and chroot,
# so no engine for containers is needed. Wants root (or sudo), 4 GB, fifteen minutes.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

root=$roots/container
tree=$BUILD/own-tree    # tests/tree/own_tree.sh builds it
if ! archive=$(make container); then
    result 1 "the container is built"
    ktap_finish
fi

# field FILE KEY: the first value of KEY in a JSON file of the image
field() { grep -oE "\"$2\": ?\"[^\"]*\"" "$1" | head -n 1 | sed 's/.*"\(.*\)"/\1/'; }
blob() { echo "$root.oci/blobs/sha256/${1#sha256:}"; }
unpack() {
    remove_root "$root" && rm -rf "$root.oci" && mkdir -p "$root" "$root.oci" && tar -C "$root.oci" -xf "$archive" || return
    local manifest layer
    manifest=$(blob "$(field "$root.oci/index.json" digest)")
    layer=$(blob "$(sed 's/.*"layers"//' "$manifest" | grep -oE 'sha256:[0-9a-f]+')")
    (cd "$root.oci/blobs/sha256" && sha256sum --quiet -c < <(for f in *; do echo "$f  $f"; done)) || return
    "${as_root[@]}" tar -C "$root" -xf "$layer"
}
check "the archive is an OCI image whose hashes are right" unpack
small() { [ "$("${as_root[@]}" du -sm "$root" | cut -f1)" -le 700 ]; }
check "it has at most 700 MiB" small
IN_ROOT_OPTIONS=--net
enter() { in_root "$root" "$1" >"$root.log" 2>&1 || { tail -n 30 "$root.log"; return 1; }; }
runs() { enter 'tessera guest hello' && grep -q ff332211 "$root.log"; }
check "a guest runs a job without a network" runs
status() { ! in_root "$root" 'tessera guest "exit 7"' >/dev/null 2>&1; [ "$(in_root "$root" 'tessera guest "exit 7"; echo $?' 2>/dev/null | tail -n 1)" = 7 ]; }
check "the status is the command's" status
usage() { in_root "$root" 'tessera; test $? = 2' 2>&1 | grep -q "usage: tessera guest"; }
check "without arguments it prints its usage" usage
own() {
    "${as_root[@]}" cp -al "$tree" "$root/linux" &&
        enter "tessera guest --kernel /linux/arch/x86/boot/bzImage 'uname -r; hello'" &&
        grep -q ff332211 "$root.log" && grep -qF "$(cat "$tree/include/config/kernel.release")" "$root.log"
}
if [ -f "$tree/arch/x86/boot/bzImage" ]; then
    check "a kernel of one's own runs, with the driver built for it in the container" own
else
    skip "a kernel of one's own runs, with the driver built for it in the container" "make check-kernel-tree builds one"
fi
remove_root "$root"
rm -rf "$root.oci" "$archive"
ktap_finish
