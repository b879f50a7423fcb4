/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#if !defined(__FENCEWATCH_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __FENCEWATCH_TRACE_H__

#include <linux/tracepoint.h>

#undef TRACE_SYSTEM
#define TRACE_SYSTEM fencewatch
#define TRACE_INCLUDE_FILE fencewatch_trace

TRACE_EVENT(fencewatch_report,
	    TP_PROTO(const char *rule, const char *driver, u64 context, u64 seqno,
		     const char *text),
	    TP_ARGS(rule, driver, context, seqno, text),

	    TP_STRUCT__entry(__string(rule, rule)
			     __string(driver, driver)
			     __field(u64, context)
			     __field(u64, seqno)
			     __string(text, text)
	    ),

	    TP_fast_assign(__assign_str(rule);
			   __assign_str(driver);
			   __entry->context = context;
			   __entry->seqno = seqno;
			   __assign_str(text);
	    ),

	    TP_printk("rule=%s driver=%s context=%llu seqno=%llu %s", __get_str(rule),
		      __get_str(driver), __entry->context, __entry->seqno, __get_str(text))
);

#endif /* __FENCEWATCH_TRACE_H__ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
