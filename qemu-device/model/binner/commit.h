/* SPDX-License-Identifier: MIT */
/*
 * What a BIN leaves in memory besides the heap: counters of stream-out, STREAM and STATISTICS
 * queries. All of it is written when the command is complete, all or nothing, so that a BIN that
 * begins again leaves what one that did not would have.
 */
#ifndef TSR_BINNER_COMMIT_H
#define TSR_BINNER_COMMIT_H

#include "engine.h"

struct tsr_binning;

/*
 * The draw that ends: what it has counted is added to its STATISTICS query when the command is
 * complete; at once if the command has TSR_BIN_SUMS others already.
 */
enum tsr_step tsr_bin_add_statistics(struct tsr_binning *bin, struct tsr_mem *mem);
/* _DONE: everything is in memory; else nothing. With @check: only find out whether it can be. */
enum tsr_step tsr_bin_commit(struct tsr_binning *bin, struct tsr_mem *mem, bool check);

#endif
