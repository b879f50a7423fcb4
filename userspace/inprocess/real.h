/* SPDX-License-Identifier: MIT */
/*
 * libc's functions, past those that interpose.c puts in their place, and system calls for the
 * driver, which must not call its own close() with its lock held.
 */
#ifndef TSR_HOST_REAL_H
#define TSR_HOST_REAL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* REAL(NAME, result, arguments...): libc's function of that name. */
#define REAL(name, result, ...) ({						\
	static _Atomic(void *) real_;						\
	void *at_ = atomic_load(&real_);					\
	if (!at_) {								\
		at_ = dlsym(RTLD_NEXT, #name);					\
		atomic_store(&real_, at_);					\
	}									\
	(result (*)(__VA_ARGS__))at_;						\
})

static inline int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static inline int sys_fcntl(int fd, int command, long arg)
{
	return (int)syscall(SYS_fcntl, fd, command, arg);
}

/* 0 or -1; the inode is that of the file, whatever stat() shows to the program. */
static inline int sys_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static inline ssize_t sys_readlink(const char *path, char *to, size_t size)
{
	return syscall(SYS_readlinkat, AT_FDCWD, path, to, size);
}

#endif
