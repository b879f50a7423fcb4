#!/bin/bash
# SPDX-License-Identifier: MIT
#
# toolchain.sh: what Debian 13's kernels are built with, for hosts that are older: gcc 14 and pahole, unpacked in
# the cache, run with their own C library. Prints the directory:
#   DIR/bin/gcc-14, DIR/bin/pahole
#   DIR/run PROGRAM ARGS...   runs the unpacked PROGRAM.elf, as PROGRAM, with Debian 13's loader and libraries
#
# Assembler and linker are the host's. The compiler is for kernels, not for programs: it has no C library to link to.
. "$(dirname "$0")/../lib.sh"
APT_ALSO=kernels
. "$TOP/qemu-device/build/debian/apt.sh"

DIR=$CACHE/toolchain-trixie
COMPILER=(gcc-14-x86-64-linux-gnu cpp-14-x86-64-linux-gnu libgcc-14-dev pahole)
LIBRARIES=(libc6 libgcc-s1 libstdc++6 libgmp10 libisl23 libmpc3 libmpfr6 zlib1g libzstd1 libelf1t64 libdw1t64 libbpf1
    liblzma5 libbz2-1.0 libssl3t64)

# wrap ROOT PROGRAM: PROGRAM becomes PROGRAM.elf, and a script that runs it.
wrap() {
    mv "$1/$2" "$1/$2.elf"
    printf '#!/bin/sh\nexec "%s/run" "$0" "$@"\n' "$DIR" >"$1/$2"
    chmod 755 "$1/$2"
}

fetch() {
    local root program lib=usr/lib/x86_64-linux-gnu
    [ ! -x "$DIR/run" ] || return 0
    apt_ready
    say "fetching Debian 13's compiler, 45 MB"
    root=$(aside_in "$CACHE/fetch")
    apt_fetch "$root" "${COMPILER[@]/%//trixie}" "${LIBRARIES[@]/%//trixie}"
    rm -rf "${root:?}"/usr/share "$root"/usr/bin/*{lto-dump,gcov,cpp}* "$root"/usr/libexec/gcc/*/14/lto{1,-wrapper} \
        "$root"/usr/lib/gcc/*/14/*san*
    for program in usr/bin/x86_64-linux-gnu-gcc-14 usr/bin/pahole usr/libexec/gcc/x86_64-linux-gnu/14/{cc1,collect2}; do
        wrap "$root" "$program"
    done
    mkdir "$root/bin"
    ln -s ../usr/bin/x86_64-linux-gnu-gcc-14 "$root/bin/gcc-14"
    ln -s ../usr/bin/pahole "$root/bin/pahole"
    cat >"$root/run" <<END
#!/bin/sh
# run PROGRAM ARGS...: see toolchain.sh
program=\$1
shift
exec "$DIR/$lib/ld-linux-x86-64.so.2" --library-path "$DIR/$lib" --argv0 "\$program" "\$(readlink -f "\$program").elf" "\$@"
END
    chmod 755 "$root/run"
    publish "$root" "$DIR"
}

[ -x "$DIR/run" ] || locked "$CACHE/toolchain.lock" fetch
echo "$DIR"
