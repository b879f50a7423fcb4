/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_MUTANT_H__
#define __TESSERA_MUTANT_H__

#include <linux/kconfig.h>

/*
 * Mutants: builds of the driver with one mistake that drivers have made, to see
 * that the device's checker or the tests find it (Documentation/driver/mutants.md).
 * `make -C kernel MUTANT=name` or `make module MUTANT=name`; without one this is
 * a constant 0 and nothing of a mistake is in the module.
 */
#define TESSERA_MUTANT(name) __is_defined(TESSERA_MUTANT_##name)

#endif
