/* SPDX-License-Identifier: MIT */
/*
 * Results of a BIN outside of the heap: counters of stream-out, STREAM and STATISTICS queries. They
 * are written when the command is complete, all or none. A BIN that is repeated from its start
 * therefore leaves the same results.
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
