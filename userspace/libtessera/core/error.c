// SPDX-License-Identifier: MIT
/*
 * Error messages. The last one is kept per thread, like errno, so that threads that share an object
 * do not see each other's failures and functions without an object can explain theirs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define MESSAGE_SIZE 320

static _Thread_local char message[MESSAGE_SIZE];

uint32_t tsr_library_version(void)
{
	return TSR_LIBRARY_VERSION;
}

const char *tsr_error_message(void)
{
	return message;
}

int tsr_fail(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	return -error;
}

int tsr_fail_ioctl(int error, const char *format, ...)
{
	size_t length;
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	length = strlen(message);
	snprintf(message + length, sizeof(message) - length, ": %s", tsr_error_string(error));
	return -error;
}

/* Texts of errnos for which the C library's text is misleading or too short. */
static const struct {
	int error;
	const char *text;
} meanings[] = {
	{ 0, "no error" },
	{ ENODEV, "no such device, or it was unplugged (ENODEV)" },
	{ EIO, "the device is wedged: its reset failed (EIO)" },
	{ EFAULT, "memory that is not mapped, not permitted or refused by the bus (EFAULT)" },
	{ EINVAL, "malformed argument, packet or command stream (EINVAL)" },
	{ ETIMEDOUT, "the job made no progress and was stopped (ETIMEDOUT)" },
	{ ETIME, "the deadline passed (ETIME)" },
	{ ECANCELED, "the queue or VM is banned, or the job was cancelled (ECANCELED)" },
	{ ENOSPC, "no room: hardware slots, local memory, addresses or heap (ENOSPC)" },
	{ ENOENT, "no object with that handle, id or name (ENOENT)" },
	{ E2BIG, "data that this kernel does not know, or too long (E2BIG)" },
	{ EACCES, "permission denied (EACCES)" },
	{ EPERM, "not allowed for this object (EPERM)" },
	{ EBUSY, "in use (EBUSY)" },
	{ ENOMEM, "out of memory (ENOMEM)" },
	{ EOPNOTSUPP, "not implemented by this version (EOPNOTSUPP)" },
	{ EPROTONOSUPPORT, "unknown version of the device (EPROTONOSUPPORT)" },
};

const char *tsr_error_string(int error)
{
	const char *text;
	size_t i;

	if (error < 0)
		error = error == INT_MIN ? INT_MAX : -error;
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].error == error)
			return meanings[i].text;
	}
	text = strerrordesc_np(error);
	return text ? text : "unknown error";
}
