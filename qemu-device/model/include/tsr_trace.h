/* SPDX-License-Identifier: MIT */
/*
 * Trace points: what tsr_host_ops.trace() is told, and what its arguments mean.
 *
 * In: calls from wherever the event happens, some under the device's lock, from any thread. Out:
 * nothing may be called back. The list is a macro so that a host can make its own table of names:
 * X(name, "arg arg …").
 */
#ifndef TSR_TRACE_H
#define TSR_TRACE_H

#define TSR_TRACE__TABLE(X) \
	X(DOORBELL, "queue wptr") \
	X(STATE, "queue old new") \
	X(SLICE_BEGIN, "queue class engine") \
	X(SLICE_END, "queue reason cycles") \
	X(PACKET, "queue pc header depth") \
	X(COMMAND_DONE, "queue pc header") \
	X(EVENT, "queue opcode addr value") \
	X(INTERRUPT, "class bits") \
	X(FAULT, "queue code addr pc") \
	X(INVALIDATE, "as op va size") \
	X(RESET, "count") \
	X(WATCHDOG, "queue progress") \
	X(INJECT, "kind rule queue addr") \
	X(CHECK, "kind queue addr was")

enum tsr_trace {
#define TSR_TRACE__VALUE(name, args) TSR_TRACE_##name,
	TSR_TRACE__TABLE(TSR_TRACE__VALUE)
#undef TSR_TRACE__VALUE
	TSR_TRACE__COUNT
};

#endif
