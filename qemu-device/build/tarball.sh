# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the scripts that write tarballs share. Source it after lib.sh.

# release: the version of the release, from the one place that states it.
release() { sed -n 's/^VERSION := //p' "$TOP/userspace/Makefile"; }

# release_time: seconds since 1970: those of the last commit, or of the files of a tarball.
release_time() {
    echo "${SOURCE_DATE_EPOCH:-$(git -C "$TOP" log -1 --format=%ct 2>/dev/null || stat -c %Y "$TOP/Makefile")}"
}

# tarball ASIDE NAME: pack ASIDE/NAME as NAME.tar.xz in the build directory, remove ASIDE and print the tarball's name.
# Equal files give equal tarballs.
tarball() {
    local aside=$1 name=$2
    tar -C "$aside" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w --mtime="@$(release_time)" \
        -cJf "$aside.tar.xz" "$name"
    mv "$aside.tar.xz" "$BUILD/$name.tar.xz"
    rm -rf "$aside"
    echo "$BUILD/$name.tar.xz"
}
