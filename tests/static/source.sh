#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules that hold for every file of the repository.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

check "licences, sizes and loose ends of all files" /usr/bin/python3 -B tests/static/source.py
if command -v shellcheck >/dev/null; then
    mapfile -d '' -t scripts < <(qemu-device/build/tree.py '*.sh' '.ci/run' '.ci/hooks/*' qemu-device/vm/init)
    check "shellcheck has nothing to say" shellcheck -x -S warning -e SC2034 "${scripts[@]}"
else
    skip "shellcheck has nothing to say" "shellcheck is not installed"
fi
# Words of the field that are none of English: the kernel's name for a file pointer, an opcode, texture and PNG terms,
# workqueues, a device node, a line end in a string that begins with d, syzkaller, vertex formats and numbers of Mesa.
spelling() {
    qemu-device/build/tree.py | grep -zvE '^LICENSES/|\.(png|bin|json)$|^tests/(fuzz/corpus|vectors|tools)/' |
        xargs -0 codespell --quiet-level 3 --ignore-words-list filp,aadd,aand,aer,lod,uint,renderd,paeth,nd,inout,uscaled,wqs,alo,asign
}
if command -v codespell >/dev/null; then
    check "codespell finds no misspelt word" spelling
else
    skip "codespell finds no misspelt word" "codespell is not installed"
fi
compile_python() {
    qemu-device/build/tree.py '*.py' | xargs -0 -r /usr/bin/python3 -B -c '
import sys
for path in sys.argv[1:]:
    compile(open(path).read(), path, "exec")'
}
check "all Python files compile" compile_python
check "links in the documentation lead somewhere" /usr/bin/python3 -B tests/static/links.py
check "facts in the documentation agree with the code" /usr/bin/python3 -B tests/static/facts.py
unnamed() {
    diff <(grep '^[^#].*\.c$' qemu-device/model/manifest | LC_ALL=C sort) \
        <(cd qemu-device/model && find . -name '*.c' -printf '%P\n' | LC_ALL=C sort)
}
check "the model's manifest names every file of it, and no other" unnamed
names=$(qemu-device/build/tree.py | tr '\0' '\n' | cut -d/ -f1 | sort -u | grep -v '^\.' | tr '\n' ' ')
note "top level: $names"
[ "$names" = "Documentation Kbuild LICENSES Makefile README.md kernel qemu-device tests userspace " ]
result $? "nothing else lies at the top level"
ktap_finish
