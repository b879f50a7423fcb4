# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# KTAP output for shell tests: source it, call check or result for each test, ktap_finish at the end.
#
#   check NAME COMMAND...   run it; passes with status 0. Its output follows as "# ..." when it fails.
#   result STATUS NAME      the same when the status is already known
#   skip NAME REASON        a test that cannot run here
#   note TEXT               a diagnostic line
#   key FILE...             what tells these files from any others, names and contents
#   has_passed KEY          whether a check whose outcome depends on nothing else has passed with them; LONG=1: never
#   passed KEY              it has
#   ktap_finish             print the plan and exit, with status 1 when something failed

ktap_ran=0
ktap_failed=0
echo 'KTAP version 1'

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

result() {
    local status=$1 word=ok
    shift
    ktap_ran=$((ktap_ran + 1))
    if [ "$status" != 0 ]; then
        word='not ok'
        ktap_failed=$((ktap_failed + 1))
    fi
    printf '%s %d - %s\n' "$word" "$ktap_ran" "$*"
}

check() {
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    if [ "$status" != 0 ]; then
        note "status $status from: $*"
        printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
    fi
    result "$status" "$name"
}

skip() {
    ktap_ran=$((ktap_ran + 1))
    printf 'ok %d - %s # SKIP %s\n' "$ktap_ran" "$1" "$2"
}

# A check that reads files and does nothing else need not read them again as long as they are the same.
key() { sha256sum "$@" | sha256sum | cut -c1-32; }
has_passed() { [ -z "${LONG:-}" ] && [ -e "$TSR_BUILD/passed/$1" ]; }
passed() { mkdir -p "$TSR_BUILD/passed" && : >"$TSR_BUILD/passed/$1"; }

ktap_finish() {
    printf '1..%d\n' "$ktap_ran"
    [ "$ktap_failed" = 0 ] && [ "$ktap_ran" != 0 ]
    exit
}
