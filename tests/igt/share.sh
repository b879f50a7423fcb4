#!/bin/bash
# SPDX-License-Identifier: MIT
#
# share.sh: what a guest mounts to run IGT's generic tests; prints its directory:
#   DIR/tests/NAME   the programs, and the tool gputop     DIR/lib/   their libraries, the loader among them
#   DIR/run NAME     starts one
#
# IGT_TESTS=DIR names the tests of an IGT that was built on this host (its build directory's tests/, or
# /usr/libexec/igt-gpu-tools). Without it they come from Debian, which has them since 2025 ($RELEASE), with that
# release's own libraries.
RELEASE=forky
APT_ALSO=$RELEASE
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"

INSTALLED=usr/libexec/igt-gpu-tools
SHARE=$BUILD/igt/share

# Everything a package of $RELEASE needs on a system that has nothing yet, as PACKAGE/RELEASE.
closure() {
    apt-get install --print-uris -y --no-install-recommends -t "$RELEASE" \
        -o Dir::State::status=/dev/null -o Debug::NoLocking=1 "$@" |
        sed -n "s|^'.*/\([^_/]*\)_[^/]*' .*|\1/$RELEASE|p"
}

# Only libraries of it are of use: no program runs but the tests.
fetch() {
    local aside packages
    [ ! -e "$fetched" ] || return 0
    packages=$(closure igt-gpu-tools-tests | grep -E '^(lib|zlib1g|igt-gpu-tools)') ||
        die "Debian $RELEASE has no package igt-gpu-tools-tests that can be had: set IGT_TESTS="
    say "fetching Debian's IGT and its libraries, 30 MB"
    aside=$(aside_in "$CACHE/igt")
    # shellcheck disable=SC2086  # one word for each package
    apt_fetch "$aside" $packages
    publish "$aside" "$fetched"
}

from_debian() {
    local version
    apt_ready
    version=$(apt-cache madison igt-gpu-tools-tests | awk '{ print $3; exit }')
    [ -n "$version" ] || die "Debian $RELEASE has no package igt-gpu-tools-tests: set IGT_TESTS="
    fetched=$CACHE/igt/$version
    locked "$CACHE/igt.lock" fetch
    cp "$fetched/$INSTALLED"/[a-z]* "$SHARE/tests/" 2>/dev/null || true        # not its directories
    cp "$fetched/usr/bin/gputop" "$SHARE/tests/"
    find "$fetched"/usr/lib/*-linux-gnu -maxdepth 1 -name '*.so*' -exec cp -Lt "$SHARE/lib" {} +
}

from_host() {
    local file
    [ -x "$IGT_TESTS/core_auth" ] || die "IGT_TESTS=$IGT_TESTS: there is no program core_auth"
    for file in "$IGT_TESTS"/*; do
        if [ -f "$file" ] && [ -x "$file" ]; then
            cp "$file" "$SHARE/tests/"
        fi
    done
    file=$(dirname "$IGT_TESTS")/tools/gputop      # beside the tests of a build; an installed one is in PATH
    [ -x "$file" ] || file=$(command -v gputop || true)
    [ ! -x "$file" ] || cp "$file" "$SHARE/tests/"
    ldd "$SHARE"/tests/* 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/.*:$" { next } $1 ~ "^/" { print $1 }' |
        sort -u | while IFS= read -r file; do
            cp -L "$file" "$SHARE/lib/"
        done
}

rm -rf "$SHARE"
mkdir -p "$SHARE/tests" "$SHARE/lib"
if [ -n "${IGT_TESTS:-}" ]; then
    from_host
else
    from_debian
fi
"$TOP/tests/igt/contract.sh" "$SHARE"
cat >"$SHARE/run" <<'EOF2'
#!/bin/sh
here=${0%/*}
name=$1
shift
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/tests/$name" "$@"
EOF2
chmod +x "$SHARE/run"
echo "$SHARE"
