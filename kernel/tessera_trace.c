// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

#define CREATE_TRACE_POINTS
#include "tessera_trace.h"
