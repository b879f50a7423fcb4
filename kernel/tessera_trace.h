/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#if !defined(__TESSERA_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __TESSERA_TRACE_H__

#include <linux/tracepoint.h>

#include "tessera_device.h"
#include "tessera_fence.h"
#include "tessera_gem.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_sched.h"

#undef TRACE_SYSTEM
#define TRACE_SYSTEM tessera
#define TRACE_INCLUDE_FILE tessera_trace

TRACE_EVENT(tessera_job_run,
	    TP_PROTO(struct tessera_queue *queue, struct tessera_job *job),
	    TP_ARGS(queue, job),

	    TP_STRUCT__entry(__field(u32, slot)
			     __field(u32, cmd_size)
			     __field(u64, cmd_va)
			     __field(u64, seqno)
	    ),

	    TP_fast_assign(__entry->slot = queue->slot;
			   __entry->cmd_size = job->cmd_size;
			   __entry->cmd_va = job->cmd_va;
			   __entry->seqno = job->done->base.seqno;
	    ),

	    TP_printk("slot=%u seqno=%llu cmd_va=%#llx cmd_size=%u",
		      __entry->slot, __entry->seqno, __entry->cmd_va, __entry->cmd_size)
);

TRACE_EVENT(tessera_queue_ban,
	    TP_PROTO(struct tessera_queue *queue, int error),
	    TP_ARGS(queue, error),

	    TP_STRUCT__entry(__field(u32, slot)
			     __field(u32, fault_code)
			     __field(u64, fault_pc)
			     __field(int, error)
	    ),

	    TP_fast_assign(__entry->slot = queue->slot;
			   __entry->fault_code = queue->fault.code;
			   __entry->fault_pc = queue->fault.pc;
			   __entry->error = error;
	    ),

	    TP_printk("slot=%u error=%d fault=%#x packet=%#llx",
		      __entry->slot, __entry->error, __entry->fault_code, __entry->fault_pc)
);

TRACE_EVENT(tessera_bo_purge,
	    TP_PROTO(struct tessera_bo *bo),
	    TP_ARGS(bo),

	    TP_STRUCT__entry(__field(u64, size)
			     __field(u32, vm_id)
	    ),

	    TP_fast_assign(__entry->size = bo->base.base.size;
			   __entry->vm_id = bo->vm_id;
	    ),

	    TP_printk("size=%llu vm=%u", __entry->size, __entry->vm_id)
);

TRACE_EVENT(tessera_device_reset,
	    TP_PROTO(struct tessera_device *tdev, unsigned int rung),
	    TP_ARGS(tdev, rung),

	    TP_STRUCT__entry(__string(dev, dev_name(tdev->drm.dev))
			     __field(u32, rung)
	    ),

	    TP_fast_assign(__assign_str(dev);
			   __entry->rung = rung;
	    ),

	    TP_printk("dev=%s rung=%s", __get_str(dev),
		      __entry->rung == TESSERA_RUNG_DEVICE ? "device" : "function")
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
