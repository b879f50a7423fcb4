#!/bin/bash
# SPDX-License-Identifier: MIT
#
# distclean.sh: remove $TESSERA_CACHE, when it is one of ours.
. "$(dirname "$0")/lib.sh"
grep -q Tessera "$CACHE/CACHEDIR.TAG" || die "$CACHE is not a cache of Tessera: not removed"
say "removing $CACHE"
rm -rf "$CACHE"
