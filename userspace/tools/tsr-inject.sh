#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tsr-inject: make a Tessera GPU misbehave (Documentation/hw/debug-unit.md), through its driver's debugfs.
set -eu

usage() {
	cat <<'TEXT'
usage: tsr-inject [-d DEVICE] STATEMENT...
       tsr-inject [-d DEVICE]

Hands statements to the device, each a kind of fault and its conditions: tsr-inject 'hang queue=3' 'irq-lost skip=9'.
Without any it prints how many rules are in force and how often each kind of fault has happened.

  -d DEVICE        PCI address (default: the first device that has the window)
  --clear          take away all rules and what they have left standing
  --help, --version

Needs root, and a device with inject-window=on. Status 0, 1 when the device refuses a statement, 2 for bad usage or
when there is no such device.
TEXT
}

fail() {
	status=$1
	shift
	echo "tsr-inject: error: $*" >&2
	exit "$status"
}

device=
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--version) echo "tsr-inject 1.0.0"; exit 0 ;;
	-d)
		[ $# -gt 1 ] || fail 2 "-d needs a value"
		device=$2
		shift 2
		;;
	--clear) set -- clear; break ;;
	--) shift; break ;;
	-*) fail 2 "unknown option $1 (--help lists them)" ;;
	*) break ;;
	esac
done

file=
for dir in "${TSR_DEBUGFS:-/sys/kernel/debug}"/dri/*; do
	[ -e "$dir/inject" ] || continue
	if [ -z "$device" ] || grep -q "dev=$device " "$dir/name"; then
		file=$dir/inject
		break
	fi
done
[ -n "$file" ] || fail 2 "no device${device:+ $device} takes faults: it needs inject-window=on, and this needs root"

if [ $# = 0 ]; then
	cat "$file"
	exit
fi
for statement; do
	printf '%s' "$statement" 2>/dev/null >"$file" ||
		fail 1 "the device refuses '$statement' (Documentation/hw/debug-unit.md says what it takes)"
done
