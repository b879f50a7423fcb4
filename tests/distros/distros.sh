#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's first command, and what goes with it, on a Debian on which nothing is installed but git and make. Each
# release gets a fresh root from debootstrap, this checkout and a cache of its own in it; all of that goes afterwards.
# Wants root (or sudo) and 8 GB; twenty minutes each, with LONG=1, which runs `make check` there, an hour.
# DISTROS='trixie' chooses.
# test: TIMEOUT=14400
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

# True if `make run` has left at least four pictures.
pictures() {
    inside "$1" 'find ~/.cache/tessera/build -path "*/run/*.png" -size +1k' || return
    [ "$(wc -l <"$roots/$1.log")" -ge 4 ] || { cat "$roots/$1.log"; return 1; }
}

# The table of steps with their times that `make run` prints at its end.
phases() { sed -n '/^seconds  of a processor/,/^$/p' "$roots/$1.log" | sed 's/^/# /'; }

for release in ${DISTROS:-bookworm trixie}; do
    check "a bare $release can be made" bare "$release"
    check "[SYS8] make run works on a bare $release" inside "$release" 'make run'
    phases "$release"
    check "[SYS8] it has left pictures there" pictures "$release"
    begun=$SECONDS
    check "make guest CMD=true works there" inside "$release" 'make guest CMD=true'
    note "it took $((SECONDS - begun)) s"
    check "[SYS2] the driver builds there for every kernel that is cared for" inside "$release" 'make check-kernels'
    check "a guest with Linux 7.3 runs tsr-info there" inside "$release" 'make guest KERNEL=7.3 CMD=tsr-info'
    check "Mesa is built there, and GL programs draw what they should" inside "$release" 'make check-mesa TESTS=programs'
    [ -z "$LONG" ] || check "[SYS8] make check passes there" inside "$release" 'make check'
    gone "$release"
done
ktap_finish
