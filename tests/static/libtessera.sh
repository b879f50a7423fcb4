#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
# The libraries as a stranger gets them: installed somewhere, found with pkg-config, used by C and C++.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hw=$(bash qemu-device/build/host/headers.sh)
include=userspace/libtessera/include/tessera
libraries="libtessera libtessera-gfx libtessera-asm"

install() { make -s -C userspace O="$TSR_BUILD/static-userspace" HW="$hw" install "$@"; }
check "the library installs below DESTDIR" install PREFIX="/opt/${dir##*/}" DESTDIR="$dir/root"
check "and only there" test -f "$dir/root/opt/${dir##*/}/lib/libtessera.so.1" -a ! -e "/opt/${dir##*/}"
prefix=$dir/usr
check "the library installs below PREFIX" install PREFIX="$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra cflags <<<"$(pkg-config --cflags libtessera)"
flags() { pkg-config --cflags --libs "$@"; }
drm=$(pkg-config --variable=includedir libdrm)/libdrm

# A library exports exactly the declarations of its headers, with its version, and private names for the libraries above
# it.
of_libtessera="tessera cmd layout" of_libtessera_gfx="compute image gfx" of_libtessera_asm="asm decode"
declared() {
    local name of="of_${1//-/_}"
    for name in ${!of}; do cat "$include/$name.h"; done | sed 's,/\*.*\*/,,' | tr '\n' ' ' |
        sed 's,/\*[^*]*\(\*[^/][^*]*\)*\*/,,g' | grep -o '\btsr_[a-z0-9_]*(' | tr -d '(' | sort -u
}
exported() {
    nm -D --defined-only "$prefix/lib/$1.so" | sed -n "s/.* T \(tsr_[a-z0-9_]*\)@@$2\$/\1/p" | sort
}
for name in $libraries; do
    node=${name^^}
    check "$name exports what its headers declare" diff <(declared "$name") <(exported "$name" "${node//-/_}_1")
    check "$name exports nothing else" [ -z "$(nm -D --defined-only "$prefix/lib/$name.so" |
        grep -v ' A LIB\| T tsr_[a-z0-9_]*@@LIBTESSERA_\(1\|GFX_1\|ASM_1\|PRIVATE_1_0\)$')" ]
    check "$name has all it needs" sh -c "! LD_LIBRARY_PATH='$prefix/lib' ldd -r '$prefix/lib/$name.so' 2>&1 | grep undefined"
done
for name in $libraries; do declared "$name"; done >"$dir/declared"

for header in "$include"/*.h; do
    name=${header##*/}
    echo "#include <tessera/$name>" | tee "$dir/probe.c" >"$dir/probe.cpp"
    check "$name stands alone in C11" gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${cflags[@]}" \
        -isystem "$drm" "$dir/probe.c"
    check "$name stands alone in C++17" g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "${cflags[@]}" \
        -isystem "$drm" "$dir/probe.cpp"
done

# Public headers include only those generated headers that programs need, and no registers.
registers() { ! cat "$include"/*.h | grep '^#include "tsr_regs.h"\|^#include "tsr_packets.h"'; }
check "public headers include nothing of the device's registers" registers

# program PAGE HEADING: the C program of a section.
program() {
    sed -n "/^## $2\$/,/^## /p" "Documentation/guide/$1.md" | sed -n '/^[`]\{3\}c$/,/^[`]\{3\}$/p' | sed '/^[`]\{3\}/d'
}
# The guides' programs, word for word.
program libtessera "A first program" >"$dir/program.c"
check "the guide's program is the one in demos/hello" diff <(tail -n +3 userspace/demos/hello/hello.c) "$dir/program.c"
program libtessera "A first compute program" >"$dir/compute.c"
check "the compute guide's program is the one in demos/square" diff <(tail -n +3 userspace/demos/square/square.c) "$dir/compute.c"
# its shader stands on the page twice: as text, and as a string of the program
shader() { sed -n 's/^\t"\(.*\)\\n"[;]*$/\1/p' "$dir/compute.c"; }
check "the compute guide explains the shader that it runs" diff <(shader) \
    <(sed -n '/^    \.local/,/^$/s/^    //p' Documentation/guide/libtessera.md)
sed -n '/^[`]\{3\}c$/,/^[`]\{3\}$/p' Documentation/guide/graphics.md | sed '/^[`]\{3\}/d' >"$dir/graphics.c"
check "the graphics guide's program is the one in demos/triangle" diff <(tail -n +3 userspace/demos/triangle/triangle.c) "$dir/graphics.c"
# With nothing but what pkg-config says of the library a program is for.
builds() {
    local source=$1 out=$2
    shift 2
    read -ra all <<<"$(flags "$@")"
    gcc -Wall -Wextra -Werror "$source" -o "$out" "${all[@]}"
}
check "the graphics guide's program builds" builds "$dir/graphics.c" "$dir/graphics" libtessera-gfx
check "the compute guide's program builds" builds "$dir/compute.c" "$dir/compute" libtessera-gfx
check "the guide's program builds with the shared library" builds "$dir/program.c" "$dir/program" libtessera
check "the guide's program builds with the static library" gcc -Wall -Wextra -Werror "${cflags[@]}" \
    "$dir/program.c" -o "$dir/program-static" "$prefix/lib/libtessera.a" -ldrm -pthread
check "a program that draws builds with the static libraries" gcc -Wall -Wextra -Werror "${cflags[@]}" \
    "$dir/graphics.c" -o "$dir/graphics-static" "$prefix"/lib/libtessera{-gfx,-asm,}.a -ldrm -pthread
needs() { [ "$(objdump -p "$1" | sed -n 's/.*NEEDED *\(libtessera.*\)/\1/p' | tr '\n' ' ')" = "$2" ]; }
check "a program of the core needs the core alone" needs "$dir/program" "libtessera.so.1 "
no_device() { ! "$1" >"$dir/out" 2>&1 && grep -q 'no Tessera GPU found' "$dir/out"; }
if ! "$prefix/bin/tsr-info" --json 2>/dev/null | grep -q render_node; then
    check "without a GPU it says so" no_device "$dir/program-static"
else
    skip "without a GPU it says so" "this machine has one"
fi

# Each installed program has --help and --version.
options() {
    local tool bad=
    for tool in "$prefix"/bin/tsr-*; do
        "$tool" --help </dev/null 2>/dev/null | grep -qi "usage: *${tool##*/}" || bad+=" ${tool##*/} --help;"
        "$tool" --version </dev/null 2>/dev/null | grep -q "^${tool##*/}.* [0-9]\+\.[0-9]\+" || bad+=" ${tool##*/} --version;"
    done
    [ -z "$bad" ] || { echo "not answered:$bad"; return 1; }
}
check "every tool has --help and --version" env LD_LIBRARY_PATH="$prefix/lib" bash -c "$(declare -p prefix); $(declare -f options); options"
check "the labs are installed where tsr-sync looks for them" test -f "$prefix/share/tessera/never.sync"

# Every function of the public headers has a comment that names it or its group.
undocumented() {
    local f missing=
    while read -r f; do
        grep -q "^ \* $f()\|^/\* $f()\|, $f()" "$include"/*.h || missing+=" $f"
    done < <(grep -v '_ref$\|_unref$\|_destroy$' "$dir/declared")
    [ -z "$missing" ] || { echo "no description of:$missing"; return 1; }
}
check "every public function is described" undocumented
ktap_finish
