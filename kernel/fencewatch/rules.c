// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The rules. Each is a function of a record and an event alone, so that the unit tests can invent
 * both. Which events are shown to a rule is decided in events.c.
 */

#include <linux/time64.h>

#include "fencewatch.h"

/* Adds a report of that fence and returns true. */
static bool report_fence(struct fw_reports *reports, enum fw_rule rule,
			 const struct fw_record *record, s64 a, s64 b)
{
	struct fw_report *report = &reports->list[min(reports->count, FW_REPORTS - 1U)];

	reports->count = min(reports->count + 1, FW_REPORTS + 0U);
	report->rule = rule;
	report->driver = record->driver;
	report->context = record->id;
	report->seqno = record->seqno;
	report->site = 0;
	report->release = 0;
	report->a = a;
	report->b = b;
	report->pid = record->pid;
	report->waiter[0] = 0;
	if (!(record->flags & FW_DESTROYED) && record->awaited)
		strscpy(report->waiter, record->waiter);
	return true;
}

/* Returns true if seqno is before other. The narrow ones wrap. */
static bool before(const struct fw_record *record, u64 seqno, u64 other)
{
	if (record->flags & FW_SEQNO64)
		return seqno < other;
	return (s32)((u32)seqno - (u32)other) < 0;
}

/*
 * A task waits for longer than limit_ms. A container waits for others, which are reported
 * themselves.
 */
bool fw_never_signalled(const struct fw_record *record, const struct fw_event *event,
			unsigned int limit_ms, struct fw_reports *reports)
{
	if (record->flags & (FW_SIGNALLED | FW_DESTROYED | FW_REPORTED | FW_CONTAINER) ||
	    event->signalled)
		return false;
	if (event->driver_flags & FW_DRIVER_SLOW || !record->awaited)
		return false;
	if (event->now - record->awaited < (u64)limit_ms * NSEC_PER_MSEC)
		return false;
	return report_fence(reports, FW_NEVER_SIGNALLED, record, event->now - record->awaited,
			    record->context ? event->now - record->context->last_event : 0);
}

/* The last reference is gone before the fence signalled, though a waiter had asked for that. */
bool fw_destroyed_pending(const struct fw_record *record, const struct fw_event *event,
			  struct fw_reports *reports)
{
	if (record->flags & (FW_SIGNALLED | FW_DESTROYED | FW_CONTAINER) || event->signalled)
		return false;
	if (!event->awaited)
		return false;
	return report_fence(reports, FW_DESTROYED_PENDING, record, event->now - record->born, 0);
}

/*
 * Returns true if record, which signals, is newer than the oldest pending fence of the same
 * context.
 */
bool fw_overtakes(const struct fw_record *oldest, const struct fw_record *record)
{
	/* A fence whose driver has not numbered it yet is not in the order. */
	return oldest != record && oldest->seqno && before(record, oldest->seqno, record->seqno);
}

/*
 * A newer fence of the context signalled before the record's, which is the oldest. Two processors
 * may signal at the same time, so the order of events says nothing within limit_ms, unless both
 * happen on the same processor.
 */
bool fw_out_of_order(const struct fw_record *record, const struct fw_context *context,
		     const struct fw_event *event, unsigned int limit_ms,
		     struct fw_reports *reports)
{
	u64 late = event->now - context->overtaken;

	if (!context->overtaken || event->driver_flags & FW_DRIVER_UNORDERED)
		return false;
	if (late < (u64)limit_ms * NSEC_PER_MSEC &&
	    (!event->signalled || event->cpu != context->cpu))
		return false;
	return report_fence(reports, FW_OUT_OF_ORDER, record, context->newer, late);
}

/* The fence has a smaller number than one of the same context that was initialized before. */
bool fw_seqno_backwards(const struct fw_record *record, const struct fw_context *context,
			u32 driver_flags, struct fw_reports *reports)
{
	if (!context || !context->used || !record->id || !record->seqno ||
	    driver_flags & FW_DRIVER_UNORDERED)
		return false;
	if (!before(record, record->seqno, context->last_seqno))
		return false;
	return report_fence(reports, FW_SEQNO_BACKWARDS, record, context->last_seqno, 0);
}

/*
 * The memory is freed though there are references. The only owner of a fence that nobody waits for
 * may do that.
 */
bool fw_freed_alive(const struct fw_record *record, const struct fw_event *event,
		    struct fw_reports *reports)
{
	if (record->flags & FW_DESTROYED || (!event->awaited && event->references <= 1))
		return false;
	return report_fence(reports, FW_FREED_ALIVE, record, event->references, 0);
}

/* The memory is freed though RCU readers may have seen the fence before its last reference went. */
bool fw_freed_in_grace_period(const struct fw_record *record, const struct fw_event *event,
			      struct fw_reports *reports)
{
	if (!(record->flags & FW_DESTROYED) || event->grace_over ||
	    event->driver_flags & FW_DRIVER_TYPESAFE)
		return false;
	return report_fence(reports, FW_FREED_IN_GRACE_PERIOD, record, 0, 0);
}

/* The error has changed since the fence signalled; who waited has seen another one. */
bool fw_error_late(const struct fw_record *record, const struct fw_event *event,
		   struct fw_reports *reports)
{
	if (!(record->flags & FW_SIGNALLED) || (s16)event->error == record->error)
		return false;
	return report_fence(reports, FW_ERROR_LATE, record, record->error, event->error);
}

/* The fence signals with an error that is no negative errno. */
bool fw_error_odd(const struct fw_record *record, const struct fw_event *event,
		  struct fw_reports *reports)
{
	if (event->error <= 0 && event->error >= -MAX_ERRNO)
		return false;
	return report_fence(reports, FW_ERROR_ODD, record, event->error, 0);
}
