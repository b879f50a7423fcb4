# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A private apt: its own source list, package lists and archive directory, all in the cache. It reaches
# suites that the host does not have configured and installs nothing. Source it after lib.sh.
#
#   apt_ready               lists are there (fetched once; `make update` fetches them again)
#   apt_fetch DIR PKG...    download binary packages and unpack them below DIR
#   apt_closure DIR PKG...  the same, with everything they depend on, as if nothing were installed here
#   apt_source DIR PKG      download and unpack a source package; DIR/PKG-version/ appears
#   apt_version PKG         candidate version of a binary package
#   apt_newest_source PKG   newest version of a source package; apt itself only looks in the host's release
#   apt_depends PKG         what a metapackage stands for, one package per line
#
# Packages come from where the host's own apt gets Debian from, or from TESSERA_MIRROR (and
# TESSERA_SECURITY_MIRROR, by default TESSERA_MIRROR-security). A script that wants packages of more releases
# sets APT_ALSO to their names before it sources this, or to "kernels" for all that have guest kernels; they have to
# be asked for as PKG/RELEASE. One that wants packages of another release only sets APT_ONLY.

. /etc/os-release
HOST_RELEASE=${VERSION_CODENAME:-trixie}
case $HOST_RELEASE in bookworm | trixie) ;; *) HOST_RELEASE=trixie ;; esac
APT_RELEASE=${APT_ONLY:-$HOST_RELEASE}
if [ "${APT_ALSO:-}" = kernels ]; then
    case $HOST_RELEASE in
    bookworm) APT_ALSO='trixie trixie-security trixie-backports' ;;
    *) APT_ALSO='trixie-backports bookworm-backports' ;;
    esac
fi

# host_mirror archive|security: where the host's apt gets Debian, or its security updates, from; nothing when
# it gets it from nowhere. Works before the host has fetched any lists. Others may call their suites like
# Debian's: an address that ends like those of Debian's mirrors is preferred.
host_mirror() {
    local suites='^(bookworm|trixie|forky|sid|(old)?stable|testing|unstable)'
    [ "$1" != security ] || suites+='-security'
    # shellcheck disable=SC2016 # apt expands these
    env -u APT_CONFIG apt-get indextargets --no-release-info \
        --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v suites="$suites\$" '{ sub("/$", "", $3) }
            $1 != "main" || $2 !~ suites || $3 !~ /^(https?|file|copy|ftp):/ { next }
            first == "" { first = $3 }
            best == "" && $3 ~ /\/debian(-security)?(\/[0-9]+T[0-9]+Z)?$/ { best = $3 }
            END { if (first != "") print best == "" ? first : best }'
}

mirror() {
    local found=${TESSERA_MIRROR:-}
    [ -n "$found" ] || found=$(host_mirror archive)
    [ -n "$found" ] || die "this host's apt has no Debian archive among its sources: say TESSERA_MIRROR=URL," \
        "the directory of a mirror that holds dists/ and pool/"
    echo "$found"
}

security_mirror() {
    local found=${TESSERA_SECURITY_MIRROR:-}
    [ -n "$found" ] || [ -n "${TESSERA_MIRROR:-}" ] || found=$(host_mirror security)
    echo "${found:-$(mirror)-security}"
}

# apt_sources MIRROR SECURITY: the source list. On Debian 12 the kernel comes from backports.
apt_sources() {
    local release keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    echo "deb $keys $1 $APT_RELEASE main"
    echo "deb $keys $2 $APT_RELEASE-security main"
    if [ "$APT_RELEASE" = bookworm ]; then
        echo "deb $keys $1 bookworm-backports main"
    fi
    for release in ${APT_ALSO:-}; do
        case $release in
        *-security) echo "deb $keys $2 $release main" ;;
        *) echo "deb $keys $1 $release main" ;;
        esac
    done
    echo "deb-src $keys $1 trixie main"
    echo "deb-src $keys $2 trixie-security main"
}

# The host's mirrors are looked up when lists are fetched, and are no part of the name.
APT_DIR=$CACHE/apt-$(apt_sources "${TESSERA_MIRROR:-host}" "${TESSERA_SECURITY_MIRROR:-host}" | sha256sum | cut -c1-8)
APT_CONFIG=$APT_DIR/apt.conf
export APT_CONFIG

# Which mirror it was, for messages.
used_mirror() { awk 'NR == 1 { print $3 }' "$APT_DIR/sources.list"; }

apt_ready() {
    [ -e "$APT_DIR/ready" ] || locked "$APT_DIR.lock" apt_update
}

apt_update() {
    if [ -e "$APT_DIR/ready" ] && [ "${1:-}" != again ]; then
        return
    fi
    [ -r /usr/share/keyrings/debian-archive-keyring.gpg ] ||
        die "the keys of the Debian archive are missing; install the package debian-archive-keyring"
    local from security
    from=$(mirror) || exit 1
    security=$(security_mirror) || exit 1
    say "fetching package lists from $from"
    mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/archives/partial"
    apt_lists "$from" "$security"
    touch "$APT_DIR/ready"
}

apt_conf() {
    cat >"$APT_DIR/apt.conf" <<EOF
Dir::Etc::sourcelist "$APT_DIR/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$APT_DIR/lists";
Dir::Cache "$APT_DIR";
Dir::Cache::archives "$APT_DIR/archives";
APT::Default-Release "$([ "$APT_RELEASE" != bookworm ] || echo bookworm-backports)";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "root";
APT::Update::Post-Invoke-Success "";
EOF
}

# apt_lists MIRROR SECURITY: the lists of all that is asked for. A mirror need not have more than the host's own release.
apt_lists() {
    apt_conf
    apt_sources "$1" "$2" >"$APT_DIR/sources.list"
    run_logged apt-lists apt-get update --error-on=any && return
    if [ -n "${APT_ALSO:-}" ]; then
        say "$1 does not have all of $APT_ALSO: only what $APT_RELEASE itself has is used"
        APT_ALSO='' apt_sources "$1" "$2" >"$APT_DIR/sources.list"
        run_logged apt-lists apt-get update --error-on=any && return
    fi
    die "cannot fetch package lists from $1: check the network, or set TESSERA_MIRROR"
}

apt_version() { apt-cache policy "$1" | awk '/Candidate:/ { print $2 }'; }

apt_newest_source() {
    local version
    version=$(apt-cache showsrc "$1" | awk '/^Version:/ { print $2 }' | sort -V | tail -n 1)
    [ -n "$version" ] || die "the archive $(used_mirror) has no source package $1 in trixie"
    echo "$version"
}

apt_depends() {
    apt-cache depends --no-recommends --no-suggests "$1" | awk '$1 == "Depends:" { print $2 }'
}

# unpack_into DIR ASIDE: all packages in ASIDE, which goes away
unpack_into() {
    local deb
    mkdir -p "$1"
    for deb in "$2"/*.deb; do
        dpkg-deb -x "$deb" "$1" || die "cannot unpack $deb"
    done
    rm -rf "$2"
}

apt_fetch() {
    local dir=$1 aside
    shift
    aside=$(aside_in "$CACHE/fetch")
    (cd "$aside" && run_logged "fetch-${1%%[=/]*}" apt-get download "$@") || {
        rm -rf "$aside"
        die "cannot download $*: check the network (mirror $(used_mirror)), then try again; if the archive has" \
            "newer versions by now, run 'make update' first"
    }
    unpack_into "$dir" "$aside"
}

apt_closure() {
    local dir=$1 aside
    shift
    aside=$(aside_in "$CACHE/fetch")
    mkdir -p "$aside/partial"
    : >"$aside/status"
    run_logged "closure-${1%%[=/]*}" apt-get -y --no-install-recommends --download-only \
        -o Dir::State::status="$aside/status" -o Dir::Cache::archives="$aside" install "$@" || {
        rm -rf "$aside"
        die "cannot download $* and what it needs: check the network (mirror $(used_mirror)), then try again;" \
            "if the archive has newer versions by now, run 'make update' first"
    }
    unpack_into "$dir" "$aside"
}

apt_source() {
    local dir=$1 pkg=$2
    mkdir -p "$dir"
    (cd "$dir" && run_logged "source-${pkg%%=*}" apt-get source --only-source "$pkg") ||
        die "cannot download the source of $pkg: check the network (mirror $(used_mirror)), then try again;" \
            "if the archive has a newer version by now, run 'make update' first"
}
