#!/bin/bash
# SPDX-License-Identifier: MIT
# The recovery contract's table, rules and page agree.
exec /usr/bin/python3 -B "$(dirname "$0")/contract.py"
