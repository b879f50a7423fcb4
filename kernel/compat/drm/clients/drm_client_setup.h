/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
/* Before 6.14 there is no such header; tessera_compat.h has what stands in it. */
