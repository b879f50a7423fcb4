#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules that hold for every file of the repository.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

check "licences, sizes and loose ends of all files" /usr/bin/python3 -B tests/static/source.py
if command -v shellcheck >/dev/null; then
    mapfile -t scripts < <(git ls-files '*.sh' '.ci/run' qemu-device/vm/init)
    check "shellcheck has nothing to say" shellcheck -x -S warning -e SC2034 "${scripts[@]}"
else
    skip "shellcheck has nothing to say" "shellcheck is not installed"
fi
# Words of the field that are none of English: the kernel's name for a file pointer, an opcode, texture and PNG terms,
# workqueues, a device node, a line end in a string that begins with d, syzkaller, vertex formats of Mesa.
spelling() {
    git ls-files -z | grep -zvE '^LICENSES/|\.(png|bin|json)$|^tests/(fuzz/corpus|vectors|tools)/' |
        xargs -0 codespell --quiet-level 3 --ignore-words-list filp,aadd,aand,aer,lod,uint,renderd,paeth,nd,inout,uscaled,wqs
}
if command -v codespell >/dev/null; then
    check "codespell finds no misspelt word" spelling
else
    skip "codespell finds no misspelt word" "codespell is not installed"
fi
compile_python() {
    git ls-files -z '*.py' | xargs -0 -r /usr/bin/python3 -B -c '
import sys
for path in sys.argv[1:]:
    compile(open(path).read(), path, "exec")'
}
check "all Python files compile" compile_python
check "links in the documentation lead somewhere" /usr/bin/python3 -B tests/static/links.py
check "the guide's words are the field's" /usr/bin/python3 -B tests/static/words.py
check "what is called an equivalent mutant is one that can be made" /usr/bin/python3 -B tests/static/equivalent.py
unnamed() {
    diff <(grep '^[^#].*\.c$' qemu-device/model/manifest | LC_ALL=C sort) \
        <(cd qemu-device/model && git ls-files '*.c' | LC_ALL=C sort)
}
check "the model's manifest names every file of it, and no other" unnamed
# The arrows of the model run one way: what stands below names nothing of the device, and the device nothing of the
# test bench, which it calls through hooks.h.
upward() {
    ! git grep -n '#include "\(gpu\|[a-z]*/.*\)\.h"' -- qemu-device/model/{counters,irq,timer,stream,hooks}.[ch] &&
        ! git grep -nE '#include "(gpu|irq|regs|state|timer|(binner|command|copy|display|shader|testbench|tile)/.*)\.h"' \
            -- qemu-device/model/memory &&
        ! git grep -n '#include "testbench/' -- qemu-device/model ':!qemu-device/model/testbench'
}
check "the lower halls of the model name nothing of the upper ones" upward
names=$(git ls-files | cut -d/ -f1 | sort -u | grep -v '^\.' | tr '\n' ' ')
note "top level: $names"
[ "$names" = "Documentation Kbuild LICENSES Makefile README.md kernel qemu-device tests userspace " ]
result $? "nothing else lies at the top level"
ktap_finish
