/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#if !defined(__TESSERA_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __TESSERA_TRACE_H__

#include <linux/tracepoint.h>

#include "tessera_device.h"
#include "tessera_fault.h"
#include "tessera_fence.h"
#include "tessera_gem.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_vm.h"

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

DECLARE_EVENT_CLASS(tessera_fence,
	    TP_PROTO(struct tessera_fence *fence, int error),
	    TP_ARGS(fence, error),

	    TP_STRUCT__entry(__field(u64, context)
			     __field(u64, seqno)
			     __field(u64, cmd_va)
			     __field(int, error)
	    ),

	    TP_fast_assign(__entry->context = fence->timeline->context;
			   __entry->seqno = fence->emitted ? fence->base.seqno : 0;
			   __entry->cmd_va = fence->cmd_va;
			   __entry->error = error;
	    ),

	    TP_printk("context=%llu seqno=%llu cmd_va=%#llx error=%d", __entry->context,
		      __entry->seqno, __entry->cmd_va, __entry->error)
);

DEFINE_EVENT(tessera_fence, tessera_job_queue,
	     TP_PROTO(struct tessera_fence *fence, int error),
	     TP_ARGS(fence, error)
);

DEFINE_EVENT(tessera_fence, tessera_fence_emit,
	     TP_PROTO(struct tessera_fence *fence, int error),
	     TP_ARGS(fence, error)
);

DEFINE_EVENT(tessera_fence, tessera_fence_signal,
	     TP_PROTO(struct tessera_fence *fence, int error),
	     TP_ARGS(fence, error)
);

TRACE_EVENT(tessera_bind,
	    TP_PROTO(struct tessera_vm *vm, u64 start, u64 end, u32 ops, int error),
	    TP_ARGS(vm, start, end, ops, error),

	    TP_STRUCT__entry(__field(int, as)
			     __field(u32, ops)
			     __field(u64, start)
			     __field(u64, end)
			     __field(int, error)
	    ),

	    TP_fast_assign(__entry->as = vm->as;
			   __entry->ops = ops;
			   __entry->start = start;
			   __entry->end = end;
			   __entry->error = error;
	    ),

	    TP_printk("as=%d ops=%u start=%#llx end=%#llx error=%d", __entry->as, __entry->ops,
		      __entry->start, __entry->end, __entry->error)
);

TRACE_EVENT(tessera_fault,
	    TP_PROTO(struct tessera_queue *queue, const struct tessera_hw_fault *fault),
	    TP_ARGS(queue, fault),

	    TP_STRUCT__entry(__field(u32, slot)
			     __field(u32, code)
			     __field(u32, access)
			     __field(u32, level)
			     __field(u64, addr)
			     __field(u64, pc)
	    ),

	    TP_fast_assign(__entry->slot = queue->slot;
			   __entry->code = fault->code;
			   __entry->access = fault->access;
			   __entry->level = fault->level;
			   __entry->addr = fault->addr;
			   __entry->pc = fault->pc;
	    ),

	    TP_printk("slot=%u fault=%s addr=%#llx access=%u level=%u packet=%#llx",
		      __entry->slot, tessera_fault_name(__entry->code), __entry->addr,
		      __entry->access, __entry->level, __entry->pc)
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

DECLARE_EVENT_CLASS(tessera_move,
	    TP_PROTO(struct tessera_bo *bo, bool local, int error),
	    TP_ARGS(bo, local, error),

	    TP_STRUCT__entry(__field(u64, size)
			     __field(u32, vm_id)
			     __field(bool, local)
			     __field(int, error)
	    ),

	    TP_fast_assign(__entry->size = bo->base.base.size;
			   __entry->vm_id = bo->vm_id;
			   __entry->local = local;
			   __entry->error = error;
	    ),

	    TP_printk("size=%llu vm=%u to=%s error=%d", __entry->size, __entry->vm_id,
		      __entry->local ? "local" : "system", __entry->error)
);

DEFINE_EVENT(tessera_move, tessera_move_begin,
	     TP_PROTO(struct tessera_bo *bo, bool local, int error),
	     TP_ARGS(bo, local, error)
);

DEFINE_EVENT(tessera_move, tessera_move_release,
	     TP_PROTO(struct tessera_bo *bo, bool local, int error),
	     TP_ARGS(bo, local, error)
);

DEFINE_EVENT(tessera_move, tessera_move_end,
	     TP_PROTO(struct tessera_bo *bo, bool local, int error),
	     TP_ARGS(bo, local, error)
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
