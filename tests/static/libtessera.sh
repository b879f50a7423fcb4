#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
# libtessera as a stranger gets it: installed somewhere, found with pkg-config, used by C and C++.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hw=$(bash qemu-device/build/headers.sh)
include=userspace/libtessera/include

install() { make -s -C userspace O="$TSR_BUILD/static-userspace" HW="$hw" install "$@"; }
check "the library installs below DESTDIR" install PREFIX="/opt/${dir##*/}" DESTDIR="$dir/root"
check "and only there" test -f "$dir/root/opt/${dir##*/}/lib/libtessera.so.0" -a ! -e "/opt/${dir##*/}"
prefix=$dir/usr
check "the library installs below PREFIX" install PREFIX="$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra cflags <<<"$(pkg-config --cflags libtessera)"
read -ra libs <<<"$(pkg-config --libs libtessera)"
drm=$(pkg-config --variable=includedir libdrm)/libdrm

# What the headers declare and nothing else is exported, with a version.
sed 's,/\*.*\*/,,' "$include"/*.h | tr '\n' ' ' | sed 's,/\*[^*]*\(\*[^/][^*]*\)*\*/,,g' |
    grep -o '\btsr_[a-z0-9_]*(' | tr -d '(' | sort -u >"$dir/declared"
nm -D --defined-only "$prefix/lib/libtessera.so" | sed -n 's/.* T \(tsr_[a-z0-9_]*\)@@LIBTESSERA_0$/\1/p' |
    sort >"$dir/exported"
check "the headers' functions are exported, nothing else is" diff "$dir/declared" "$dir/exported"
check "the library has all it needs" sh -c "! ldd -r '$prefix/lib/libtessera.so' 2>&1 | grep undefined"

for header in "$include"/*.h; do
    name=${header##*/}
    echo "#include <$name>" | tee "$dir/probe.c" >"$dir/probe.cpp"
    check "$name stands alone in C11" gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${cflags[@]}" \
        -isystem "$drm" "$dir/probe.c"
    check "$name stands alone in C++17" g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "${cflags[@]}" \
        -isystem "$drm" "$dir/probe.cpp"
done

# The guide's program, word for word.
sed -n '/^[`]\{3\}c$/,/^[`]\{3\}$/p' Documentation/guide/libtessera.md | sed '/^[`]\{3\}/d' >"$dir/program.c"
check "the guide's program is the one in demos/hello" diff <(tail -n +3 userspace/demos/hello/hello.c) "$dir/program.c"
sed -n '/^[`]\{3\}c$/,/^[`]\{3\}$/p' Documentation/guide/compute.md | sed '/^[`]\{3\}/d' >"$dir/compute.c"
check "the compute guide's program is the one in demos/square" diff <(tail -n +3 userspace/demos/square/square.c) "$dir/compute.c"
# its shader stands on the page twice: as text, and as a string of the program
shader() { sed -n 's/^\t"\(.*\)\\n"[;]*$/\1/p' "$dir/compute.c"; }
check "the compute guide explains the shader that it runs" diff <(shader) \
    <(sed -n '/^    \.local/,/^$/s/^    //p' Documentation/guide/compute.md)
sed -n '/^[`]\{3\}c$/,/^[`]\{3\}$/p' Documentation/guide/graphics.md | sed '/^[`]\{3\}/d' >"$dir/graphics.c"
check "the graphics guide's program is the one in demos/triangle" diff <(tail -n +3 userspace/demos/triangle/triangle.c) "$dir/graphics.c"
check "the graphics guide's program builds" gcc -Wall -Wextra -Werror "${cflags[@]}" "$dir/graphics.c" -o "$dir/graphics" "${libs[@]}"
check "the compute guide's program builds" gcc -Wall -Wextra -Werror "${cflags[@]}" "$dir/compute.c" -o "$dir/compute" "${libs[@]}"
check "the guide's program builds with the shared library" gcc -Wall -Wextra -Werror "${cflags[@]}" \
    "$dir/program.c" -o "$dir/program" "${libs[@]}"
check "the guide's program builds with the static library" gcc -Wall -Wextra -Werror "${cflags[@]}" \
    "$dir/program.c" -o "$dir/program-static" "$prefix/lib/libtessera.a" -ldrm -pthread
no_device() { ! "$1" >"$dir/out" 2>&1 && grep -q 'no Tessera GPU found' "$dir/out"; }
if ! "$prefix/bin/tsr-info" --json 2>/dev/null | grep -q render_node; then
    check "without a GPU it says so" no_device "$dir/program-static"
else
    skip "without a GPU it says so" "this machine has one"
fi

# What is installed to be run: each tells what it is, and what it is for.
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
