#!/bin/bash
# SPDX-License-Identifier: MIT
# The uapi header: what any compiler may do with it, and the same layout for 32- and 64-bit programs.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
header=kernel/include/uapi/drm/tessera_drm.h
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags=(-Ikernel/include/uapi -isystem "$(pkg-config --variable=includedir libdrm)/libdrm")
cat >"$dir/probe.c" <<EOF
#include <drm/tessera_drm.h>
int main(void) { return 0; }
EOF
cp "$dir/probe.c" "$dir/probe.cpp"

warnings=(-Wall -Wextra -Wpadded -Werror)
check "the header is strict C90" gcc -std=c90 -Wpedantic -Wno-long-long "${warnings[@]}" -fsyntax-only \
    "${flags[@]}" "$dir/probe.c"
check "the header is C++17" g++ -std=c++17 -Wpedantic "${warnings[@]}" -fsyntax-only "${flags[@]}" "$dir/probe.cpp"

# layout CFLAGS...: "struct.member offset size" and "struct size" for all structs, and the ioctl numbers, as
# the compiler sees them: they are put into the assembler output as immediate values.
layout() {
    /usr/bin/python3 -B - "$header" >"$dir/layout.c" <<'EOF'
import re, sys
text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
print("#include <stddef.h>\n#include <drm/tessera_drm.h>\n#define SAY(n, v) asm(\"@\" n \" %c0\" : : \"i\"((int)(v)))")
print("void f(void) {")
for name, body in re.findall(r"struct (drm_tessera_\w+) \{(.*?)\n\};", text, flags=re.S):
    print(f'SAY("{name}", sizeof(struct {name}));')
    for member in re.findall(r"(\w+)(?:\[[^]]*\])?;", body):
        print(f'SAY("{name}.{member}", offsetof(struct {name}, {member}));')
for name in re.findall(r"#define (DRM_IOCTL_TESSERA_\w+)", text):
    print(f'SAY("{name}", {name});')
for name in re.findall(r"\b(DRM_IOCTL_TESSERA_\w+)\s*=", text):
    print(f'SAY("{name}", {name});')
print("}")
EOF
    gcc "$@" "${flags[@]}" -S -o - "$dir/layout.c" | sed -n 's/^[[:space:]]*@//p'
}
if echo 'int main(void) { return 0; }' | gcc -m32 -x c -o "$dir/m32" - 2>/dev/null; then
    layout -m64 >"$dir/64"
    layout -m32 >"$dir/32"
    note "$(wc -l <"$dir/64") sizes, offsets and numbers compared"
    [ "$(wc -l <"$dir/64")" -gt 50 ]
    result $? "the header's structs and ioctls were found"
    check "32- and 64-bit programs see the same layout and ioctl numbers" diff "$dir/64" "$dir/32"
else
    skip "32- and 64-bit programs see the same layout and ioctl numbers" "gcc -m32 does not link here"
fi
ktap_finish
