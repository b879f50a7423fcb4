/* SPDX-License-Identifier: MIT */
/* The uapi as tables, which describe.py makes of the description for syzkaller. */
#ifndef TABLE_H
#define TABLE_H

#include <stdint.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Objects that a program creates and refers to by a number. */
enum resource {
	RESOURCE_VM_ID,
	RESOURCE_QUEUE_ID,
	RESOURCE_BO_HANDLE,
	RESOURCE_HEAP_ID,
	RESOURCE_PERFMON_ID,
	RESOURCE_SYNCOBJ,
	RESOURCES
};

enum field_kind {
	FIELD_CONST,		/* @low */
	FIELD_SET,		/* one of @values, or several of them together */
	FIELD_INT,		/* @low, @low + @step, ..., @high */
	FIELD_RESOURCE,		/* of kind @type */
	FIELD_OUT,		/* the kernel writes a new resource of kind @type */
	FIELD_ARRAY,		/* struct drm_tessera_array of elements of @type */
	FIELD_BYTES,		/* size of the buffer of the next field */
	FIELD_BUFFER,		/* memory for the kernel to write */
	FIELD_TEXT,		/* a string */
	FIELD_PAD,		/* nothing */
};

struct field {
	const char *name;
	enum field_kind kind;
	uint8_t bits;
	uint16_t offset;
	uint16_t type;		/* index into types[], or enum resource */
	uint16_t count;
	const uint64_t *values;
	uint64_t low, high, step;
};

struct type {
	const char *name;
	uint16_t size;
	const struct field *field;
	uint16_t fields;
};

struct ioctl_call {
	const char *name;
	unsigned long request;
	uint16_t type;
};

#endif
