/* SPDX-License-Identifier: MIT */
/*
 * Table-driven negative tests: a call that works, and rows that each spoil one field of it in
 * place.
 *
 * gt_bad_rows() first makes sure the unspoiled call works when asked to, then for each row stores
 * the bad value, calls, expects exactly the row's errno, and puts the old value back. All
 * structures the call reads live in the test's memory, so a row can aim at an element of an array
 * as well as at the top level.
 */
#ifndef GT_BAD_H
#define GT_BAD_H

#include "gt.h"

#include <errno.h>
#include <string.h>

#include "ktap.h"

/* One spoiled field. */
struct gt_bad {
	const char *name;	/* "field = value" */
	void *field;
	size_t size;		/* of the field, at most 8 */
	uint64_t value;
	int want;		/* positive errno */
};

#define GT_BAD(field_, value_, errno_) \
	{ .name = #field_ " = " #value_, .field = &(field_), .size = sizeof(field_), \
	  .value = (uint64_t)(value_), .want = (errno_) }

/* One ioctl as it should be called. */
struct gt_call {
	const char *name;	/* "VM_BIND" */
	int fd;
	unsigned long request;
	void *arg;
	size_t size;		/* of *arg, at most 128 */
};

#define GT_CALL(fd_, name_, arg_) \
	((struct gt_call){ .name = #name_, .fd = (fd_), .request = DRM_IOCTL_TESSERA_##name_, \
			   .arg = &(arg_), .size = sizeof(arg_) })

/* gt_call(): issue it with *arg kept as it was, whatever the kernel writes back. */
static int gt_call(const struct gt_call *call)
{
	char saved[128];
	int ret;

	memcpy(saved, call->arg, call->size);
	ret = gt_ioctl(call->fd, call->request, call->arg);
	memcpy(call->arg, saved, call->size);
	return ret;
}

static void gt_bad_row(const struct gt_call *call, const struct gt_bad *row)
{
	char old[8], name[200];

	snprintf(name, sizeof(name), "[SYS3] %s with %s fails with %s", call->name, row->name,
		 strerrorname_np(row->want));
	if (!ktap_wanted(name))
		return;
	memcpy(old, row->field, row->size);
	memcpy(row->field, &row->value, row->size);
	ktap_eq(gt_call(call), -row->want);
	memcpy(row->field, old, row->size);
	ktap_result(name);
}

static void gt_bad_rows(const struct gt_call *call, const struct gt_bad *rows, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		gt_bad_row(call, &rows[i]);
}

#define GT_BAD_ROWS(call, rows) gt_bad_rows(call, rows, GT_ARRAY_SIZE(rows))

/* gt_bad_bits(): each bit of a 32-bit flag word that is not in @known must be EINVAL on its own. */
__attribute__((unused)) static void gt_bad_bits(const struct gt_call *call, const char *field,
						uint32_t *word, uint32_t known)
{
	uint32_t old = *word;
	unsigned int bit;
	char name[200];

	snprintf(name, sizeof(name), "[SYS3] %s refuses every unknown bit of %s with EINVAL",
		 call->name, field);
	if (!ktap_wanted(name))
		return;
	for (bit = 0; bit < 32; bit++) {
		if (known >> bit & 1)
			continue;
		*word = old | 1u << bit;
		if (!ktap_eq(gt_call(call), -EINVAL))
			ktap_note("bit %u", bit);
	}
	*word = old;
	ktap_result(name);
}

/*
 * gt_bad_array(): what holds for every extensible array (§ drm_tessera_array). @array is part of a
 * call that works with it, @first the size of the first version of an element, @limit the largest
 * count.
 */
__attribute__((unused)) static void gt_bad_array(const struct gt_call *call, const char *field,
						 struct drm_tessera_array *array, uint32_t first,
						 uint32_t limit)
{
	struct drm_tessera_array good = *array;
	uint32_t wide = first + 8;
	char name[200], *copy = calloc(good.count, wide);
	uint32_t i;

	ktap_eq(gt_call(call), 0);
	array->stride = first - 8;
	ktap_eq(gt_call(call), -EINVAL);
	array->stride = 0;
	ktap_eq(gt_call(call), -EINVAL);
	array->stride = DRM_TESSERA_STRIDE_MAX + 8;
	ktap_eq(gt_call(call), -EINVAL);
	array->stride = UINT32_MAX & ~7u;
	ktap_eq(gt_call(call), -EINVAL);
	*array = good;
	array->count = limit + 1;
	ktap_eq(gt_call(call), -EINVAL);
	array->count = UINT32_MAX;
	ktap_eq(gt_call(call), -EINVAL);
	array->stride = UINT32_MAX & ~7u;
	ktap_eq(gt_call(call), -EINVAL);
	*array = good;
	array->ptr = 8;
	ktap_eq(gt_call(call), -EFAULT);
	array->ptr = 1ULL << 63;
	ktap_eq(gt_call(call), -EFAULT);
	snprintf(name, sizeof(name), "[SYS3] %s: stride, count and pointer of %s are checked",
		 call->name, field);
	*array = good;
	ktap_result(name);

	for (i = 0; i < good.count; i++)
		memcpy(copy + (size_t)i * wide,
		       (char *)(uintptr_t)good.ptr + (size_t)i * good.stride, first);
	array->ptr = gt_ptr(copy);
	array->stride = wide;
	ktap_eq(gt_call(call), 0);
	copy[(size_t)good.count * wide - 1] = 1;
	ktap_eq(gt_call(call), -E2BIG);
	*array = good;
	free(copy);
	snprintf(name, sizeof(name), "[SYS3] %s: longer elements of %s must have a zero tail",
		 call->name, field);
	ktap_result(name);
}

/*
 * gt_bad_sync(): every field of a sync element. @sync is a binary one inside a call that works;
 * @wait: it is waited for.
 */
__attribute__((unused)) static void gt_bad_sync(const struct gt_call *call,
						struct drm_tessera_sync *sync, bool wait,
						uint32_t unsubmitted)
{
	struct drm_tessera_sync good = *sync;
	const struct gt_bad rows[] = {
		GT_BAD(sync->type, 2, EINVAL),
		GT_BAD(sync->type, UINT32_MAX, EINVAL),
		GT_BAD(sync->handle, 0, ENOENT),
		GT_BAD(sync->handle, good.handle + 65536, ENOENT),
		GT_BAD(sync->point, 1, EINVAL),
		GT_BAD(sync->flags, 1, EINVAL),
		GT_BAD(sync->flags, 1u << 31, EINVAL),
		GT_BAD(sync->pad, 1, EINVAL),
		GT_BAD(sync->type, DRM_TESSERA_SYNC_TIMELINE, EINVAL),	/* with point 0 */
	};
	struct gt_call named = *call;
	char name[80];

	snprintf(name, sizeof(name), "%s %s", call->name, wait ? "wait" : "signal");
	named.name = name;
	GT_BAD_ROWS(&named, rows);
	if (wait) {
		const struct gt_bad row = GT_BAD(sync->handle, unsubmitted, EINVAL);

		gt_bad_row(&named, &row);
		*sync = gt_point(unsubmitted, 5);
		ktap_eq(gt_call(&named), -EINVAL);
		*sync = good;
		ktap_result(
			"[SYS3] wait for a timeline point nobody has submitted fails with EINVAL");
	}
}

#endif /* GT_BAD_H */
