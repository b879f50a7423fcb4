#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rcu.sh DIR: whether the driver in DIR waits, at the end of its exit, for callbacks of RCU that are its own code.
# No test that runs it can tell: the window is one grace period, and nothing shows unless memory is used anew.
cd "$1" || exit 1
callbacks=$(grep -lE '\<call_rcu\(' ./*.c)
[ -n "$callbacks" ] || exit 0
last=$(sed -n '/^static void __exit /,/^}/{s/^\t\([a-z_]*\)(.*/\1/p}' tessera_drv.c | tail -n 1)
[ "$last" = rcu_barrier ] && exit
echo "call_rcu() in $(echo $callbacks), and the last thing the module's exit does is '$last', not rcu_barrier()"
exit 1
