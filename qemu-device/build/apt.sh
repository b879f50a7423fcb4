# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A private apt: its own source list, package lists and archive directory, all in the cache. It reaches
# suites that the host does not have configured and installs nothing. Source it after lib.sh.
#
#   apt_ready               lists are there (fetched once; `make update` fetches them again)
#   apt_fetch DIR PKG...    download binary packages and unpack them below DIR
#   apt_source DIR PKG      download and unpack a source package; DIR/PKG-version/ appears
#   apt_version PKG         candidate version of a binary package
#   apt_newest_source PKG   newest version of a source package; apt itself only looks in the host's release
#   apt_depends PKG         what a metapackage stands for, one package per line
#
# TESSERA_MIRROR may name another Debian mirror. A script that wants packages of one more release sets APT_ALSO
# to its name before it sources this; they have to be asked for as PKG/RELEASE.

. /etc/os-release
HOST_RELEASE=${VERSION_CODENAME:-trixie}
case $HOST_RELEASE in bookworm | trixie) ;; *) HOST_RELEASE=trixie ;; esac
MIRROR=${TESSERA_MIRROR:-http://deb.debian.org/debian}
SECURITY_MIRROR=${TESSERA_SECURITY_MIRROR:-http://deb.debian.org/debian-security}

# On Debian 12 the kernel and meson come from backports; QEMU's source is trixie's everywhere.
apt_sources() {
    local keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    echo "deb $keys $MIRROR $HOST_RELEASE main"
    echo "deb $keys $SECURITY_MIRROR $HOST_RELEASE-security main"
    if [ "$HOST_RELEASE" = bookworm ]; then
        echo "deb $keys $MIRROR bookworm-backports main"
    fi
    [ -z "${APT_ALSO:-}" ] || echo "deb $keys $MIRROR $APT_ALSO main"
    echo "deb-src $keys $MIRROR trixie main"
    echo "deb-src $keys $SECURITY_MIRROR trixie-security main"
}

APT_DIR=$CACHE/apt-$(apt_sources | sha256sum | cut -c1-8)
APT_CONFIG=$APT_DIR/apt.conf
export APT_CONFIG

apt_ready() {
    [ -e "$APT_DIR/ready" ] || locked "$CACHE/apt.lock" apt_update
}

apt_update() {
    if [ -e "$APT_DIR/ready" ] && [ "${1:-}" != again ]; then
        return
    fi
    [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] ||
        die "the keys of the Debian archive are missing; install the package debian-archive-keyring"
    say "fetching package lists from $MIRROR"
    mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/archives/partial"
    apt_sources >"$APT_DIR/sources.list"
    cat >"$APT_DIR/apt.conf" <<EOF
Dir::Etc::sourcelist "$APT_DIR/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$APT_DIR/lists";
Dir::Cache "$APT_DIR";
Dir::Cache::archives "$APT_DIR/archives";
APT::Default-Release "$([ "$HOST_RELEASE" != bookworm ] || echo bookworm-backports)";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "root";
APT::Update::Post-Invoke-Success "";
EOF
    run_logged apt-lists apt-get update --error-on=any ||
        die "cannot fetch package lists from $MIRROR: check the network, or set TESSERA_MIRROR"
    touch "$APT_DIR/ready"
}

apt_version() { apt-cache policy "$1" | awk '/Candidate:/ { print $2 }'; }

apt_newest_source() {
    local version
    version=$(apt-cache showsrc "$1" | awk '/^Version:/ { print $2 }' | sort -V | tail -n 1)
    [ -n "$version" ] || die "the archive $MIRROR has no source package $1 in trixie"
    echo "$version"
}

apt_depends() {
    apt-cache depends --no-recommends --no-suggests "$1" | awk '$1 == "Depends:" { print $2 }'
}

apt_fetch() {
    local dir=$1 aside
    shift
    aside=$(aside_in "$CACHE/fetch")
    (cd "$aside" && run_logged "fetch-${1%%[=/]*}" apt-get download "$@") || {
        rm -rf "$aside"
        die "cannot download $*: check the network (mirror $MIRROR), then try again; if the archive has" \
            "newer versions by now, run 'make update' first"
    }
    mkdir -p "$dir"
    for deb in "$aside"/*.deb; do
        dpkg-deb -x "$deb" "$dir" || die "cannot unpack $deb"
    done
    rm -rf "$aside"
}

apt_source() {
    local dir=$1 pkg=$2
    mkdir -p "$dir"
    (cd "$dir" && run_logged "source-${pkg%%=*}" apt-get source --only-source "$pkg") ||
        die "cannot download the source of $pkg: check the network (mirror $MIRROR), then try again;" \
            "if the archive has a newer version by now, run 'make update' first"
}
