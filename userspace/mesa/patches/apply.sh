#!/bin/bash
# SPDX-License-Identifier: MIT
#
# apply.sh TREE: apply the patches that the file "series" names, in its order, to the Mesa source in TREE. TREE must not
# have any of them yet. Each patch is tried with --dry-run first, so a patch that does not apply leaves no rejects
# behind; those before it stay applied. Fuzz is not allowed. A moved hunk is, since point releases move lines.
set -e
here=$(cd "$(dirname "$0")" && pwd)
tree=$1
[ -d "$tree" ] || { echo "apply.sh: no such directory: $tree" >&2; exit 1; }

apply() {
    LC_ALL=C patch -d "$tree" -p1 -F0 --force --silent --no-backup-if-mismatch "$@"
}

names=$(grep -v '^#' "$here/series") || { echo "apply.sh: $here/series names no patch" >&2; exit 1; }
for name in $names; do
    if ! output=$(apply --dry-run -i "$here/$name" 2>&1); then
        printf '%s\n' "apply.sh: $name does not apply to $tree:" "$output" >&2
        exit 1
    fi
    apply -i "$here/$name"
done
