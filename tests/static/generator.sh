#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=120
# The generator of headers, decoder tables and documentation tables does what it says.
exec /usr/bin/python3 "$(dirname "$0")/../gen/test_generate.py"
