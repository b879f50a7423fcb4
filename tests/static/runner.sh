#!/bin/bash
# SPDX-License-Identifier: MIT
# The runner's limits of time, and the clock of make check.
exec /usr/bin/python3 -B "$(dirname "$0")/../tools/test_runner.py"
