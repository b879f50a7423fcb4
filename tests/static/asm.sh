#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=180
# tsr-as and tsr-dis do what their users expect, on compiled programs too.
exec /usr/bin/python3 "$(dirname "$0")/../tools/test_asm.py"
