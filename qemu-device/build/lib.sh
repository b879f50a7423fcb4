# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What every build script shares: where things live, how to talk, how to publish a result.
#
# A script sources this file first. It may then rely on:
#   TOP     the checkout           CACHE   $TESSERA_CACHE (default ~/.cache/tessera), shared by checkouts
#   BUILD   this checkout's own build directory inside the cache
# Nothing is ever written into the checkout.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
CACHE=${TESSERA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tessera}
mkdir -p "$CACHE"
CACHE=$(cd "$CACHE" && pwd -P)
# distclean removes the cache only if this file says that it is ours; backup tools skip it.
if [ ! -e "$CACHE/CACHEDIR.TAG" ]; then
    printf 'Signature: 8a477f597d28d172789f06886806bc55\n# This directory belongs to Tessera.\n' \
        >"$CACHE/CACHEDIR.TAG"
fi
BUILD=$CACHE/build/$(basename "$TOP" | tr -c "A-Za-z0-9._\n-" _)-$(printf %s "$TOP" | sha256sum | cut -c1-8)
JOBS=${JOBS:-$(nproc)}

# say TEXT...: progress, on stderr, so that stdout stays for results. It takes the place of the line of show_progress.
say() {
    [ ! -t 2 ] || printf '\r\033[K' >&2
    printf 'tessera: %s\n' "$*" >&2
}

# die TEXT...: one clear line, then exit status 1.
die() {
    say "error: $*"
    exit 1
}

# timed NAME COMMAND...: run a program and return its status. If TSR_PHASES names a file, a line is added to it: seconds,
# seconds of processor time, NAME. `make run` prints them at its end.
timed() {
    local name=$1 status=0 start=$EPOCHREALTIME file
    shift
    [ -n "${TSR_PHASES:-}" ] || { "$@"; return; }
    file=$TSR_PHASES.$BASHPID
    mkdir -p "$(dirname "$file")"
    times >"$file"
    "$@" || status=$?
    times >>"$file"     # lines 2 and 4: user and system time of the children so far
    awk -F '[ms ]+' -v name="$name" -v from="${start/,/.}" -v to="${EPOCHREALTIME/,/.}" '
        { sum[NR] = 60 * $1 + $2 + 60 * $3 + $4 }
        END { printf "%.1f %.1f %s\n", to - from, sum[4] - sum[2], name }' "$file" >>"$TSR_PHASES"
    rm -f "$file"
    return "$status"
}

# run_logged NAME COMMAND...: run a long command with its output in a log. On a terminal the last line
# shows as progress; in a pipe all is quiet. On failure the end of the log is printed and the command's
# status returned; the caller says what that means and gives up.
run_logged() {
    local name=$1 log status=0
    shift
    mkdir -p "$CACHE/log"
    log=$CACHE/log/$name.log
    if [ -t 2 ]; then
        timed "$name" "$@" </dev/null 2>&1 | tee "$log" | show_progress || status=${PIPESTATUS[0]}
    else
        timed "$name" "$@" </dev/null >"$log" 2>&1 || status=$?
    fi
    if [ "$status" != 0 ]; then
        tail -n 25 "$log" >&2
        say "$name failed with status $status; the whole log is $log"
    fi
    return "$status"
}

# show_progress: redraw one terminal line with the latest line read, at most ten times a second.
show_progress() {
    local line last=0 now
    while IFS= read -r line; do
        now=${EPOCHREALTIME/[.,]/}
        if [ $((now - last)) -gt 100000 ]; then
            printf '\r\033[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$line" >&2
            last=$now
        fi
    done
    printf '\r\033[K' >&2
}

# hash_files PATH...: one hash over names and contents of all files below the given paths (relative to
# TOP), so equal trees in different checkouts hash equal.
hash_files() {
    (cd "$TOP" && find "$@" -type f ! -name '*.pyc' -print0 2>/dev/null | LC_ALL=C sort -z |
        xargs -0 -r sha256sum) | sha256sum | cut -c1-16
}

# aside_in DIR: make a new directory in DIR to prepare a result in, and print its name. What interrupted
# runs have left there goes away.
aside_in() {
    mkdir -p "$1"
    find "$1" -mindepth 1 -maxdepth 1 -name '.aside.*' -mmin +120 -exec rm -rf {} +
    mktemp -d "$1/.aside.XXXXXX"
}

# publish ASIDE FINAL: make a finished directory visible under its name in one step. When another
# process was faster with the same content, its result stays and ours goes.
publish() {
    chmod 755 "$1"
    if ! mv -T "$1" "$2" 2>/dev/null; then
        [ -e "$2" ] || die "cannot move $1 to $2"
        rm -rf "$1"
    fi
}

# locked FILE COMMAND...: run COMMAND while holding an exclusive lock on FILE.
locked() {
    local file=$1 fd
    shift
    mkdir -p "$(dirname "$file")"
    exec {fd}>"$file"
    if ! flock -n "$fd"; then
        say "waiting for another build that holds $file"
        flock "$fd"
    fi
    "$@"
    exec {fd}>&-
}
