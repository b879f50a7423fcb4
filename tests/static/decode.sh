#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=120
# tsr-decode prints rings, streams and register dumps as it should.
exec /usr/bin/python3 "$(dirname "$0")/../tools/test_decode.py"
