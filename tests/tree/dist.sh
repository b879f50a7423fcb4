#!/bin/bash
# SPDX-License-Identifier: MIT
# The tarball of `make dist`: it holds the files of the tree, it can be packed again, and its own `make check-static` and
# `make check-user` pass in a folder that is no repository, without a network. What they download is in the cache already.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

as_root=()
[ "$(id -u)" = 0 ] || as_root=(unshare -r)
dir=$BUILD/dist
rm -rf "$dir"
mkdir -p "$dir"
if ! tarball=$(make dist); then
    result 1 "make dist writes a tarball"
    ktap_finish
fi
tree=$dir/$(basename "$tarball" .tar.xz)
tar -C "$dir" -xf "$tarball"
same_files() { diff <(qemu-device/build/tree.py | tr '\0' '\n' | LC_ALL=C sort) <(cd "$tree" && find . -type f -printf '%P\n' | LC_ALL=C sort); }
check "the tarball holds the files of the tree and no other" same_files
same_bytes() { cmp "$tarball" "$(make -C "$tree" dist)"; }
check "packed again, it is the same byte for byte" same_bytes

# suite NAME: run it in the unpacked tarball. A network name space of its own has no way out.
suite() {
    env -u MAKEFLAGS -u MAKELEVEL TESSERA_CACHE="$CACHE" "${as_root[@]}" unshare -n \
        make -C "$tree" "check-$1" </dev/null >"$dir/$1.log" 2>&1
    grep -a 'not ok' "$dir/$1.log"
    tail -n 3 "$dir/$1.log"
    grep -aqE '^(# check-'"$1"': )?[0-9]+ passed, 0 failed, ' "$dir/$1.log"
}
check "check-static passes without git's files and without a network" suite static
check "check-user passes without git's files and without a network" suite user
rm -rf "$dir"
ktap_finish
