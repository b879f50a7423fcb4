#!/bin/bash
# SPDX-License-Identifier: MIT
#
# setup.sh [PACKAGE...]: install the host packages of qemu-device/build/host/packages, and the named ones, that
# are missing. Costs some milliseconds when nothing is. With TESSERA_SETUP=no it does nothing.
. "$(dirname "$0")/../lib.sh"

[ "${TESSERA_SETUP:-}" != no ] || exit 0

. /etc/os-release
case ${VERSION_CODENAME:-} in
bookworm | trixie) codename=$VERSION_CODENAME ;;
*)
    # Other systems may well work; only nobody has tried, and nothing is installed for them.
    say "this is ${PRETTY_NAME:-an unknown system}, not Debian 12 or 13: no packages are installed;" \
        "see qemu-device/build/host/packages for what is needed"
    exit 0
    ;;
esac

mapfile -t wanted < <(sed -e 's/#.*//' "$TOP/qemu-device/build/host/packages" |
    awk -v rel="@$codename" 'NF == 1 || $2 == rel { print $1 }'; [ $# = 0 ] || printf '%s\n' "$@")
mapfile -t present < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    awk '$1 == "installed" { print $2 }' | sort -u)
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | grep -vxF -f <(printf '%s\n' "${present[@]}" -) || true)
[ "${#missing[@]}" -gt 0 ] || exit 0

say "missing packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        die "installing needs root and there is no sudo; as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
    sudo -v </dev/tty 2>/dev/null || sudo -n true 2>/dev/null ||
        die "sudo does not let us in; as root run: apt-get install ${missing[*]}"
fi
export DEBIAN_FRONTEND=noninteractive
unset APT_CONFIG # the host's own packages, whoever calls; apt.sh's lists may just be on their way
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
# A package list that is old, or absent as on a fresh container, is the usual reason for a failure.
install=("${apt[@]}" install --no-install-recommends "${missing[@]}")
if ! "${install[@]}" --download-only </dev/null >/dev/null 2>&1; then
    say "refreshing the host's package lists"
    run_logged apt-update "${apt[@]}" update ||
        die "the package lists cannot be fetched: check the network and /etc/apt"
fi
run_logged apt-install "${install[@]}" ||
    die "these packages cannot be installed: ${missing[*]}"
say "installed ${#missing[@]} package(s)"
