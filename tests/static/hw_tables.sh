#!/bin/bash
# SPDX-License-Identifier: MIT
# The hardware description is sound, and the tables made from it in Documentation/hw/*.md are up to date.
top=$(cd "$(dirname "$0")/../.." && pwd)
echo 'KTAP version 1'
echo '1..2'

# result NUMBER DESCRIPTION ARGUMENTS...: run the generator, its complaints become comments
result() {
    local number=$1 what=$2 complaints verdict='ok'
    shift 2
    complaints=$(/usr/bin/python3 "$top/Documentation/hw/gen/generate.py" "$@" 2>&1) || verdict='not ok'
    echo "$verdict $number - $what"
    [ -z "$complaints" ] || while IFS= read -r line; do echo "# $line"; done <<<"$complaints"
    [ "$verdict" = 'ok' ]
}

status=0
result 1 'the hardware description obeys its schema' || status=1
result 2 'every table of the programming guide is up to date' --check || status=1
exit $status
