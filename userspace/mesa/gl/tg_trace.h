/* SPDX-License-Identifier: MIT */
#ifndef TG_TRACE_H
#define TG_TRACE_H

#include "tg_batch.h"
#include "tg_frame.h"

/* tg_trace_lists(): print a batch's lists on standard error, before it is submitted. */
void tg_trace_lists(struct tg_batch *batch, const struct tg_frame *frame);

#endif
