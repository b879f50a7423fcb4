/* SPDX-License-Identifier: MIT */
/*
 * An adapter: eight functions by which drm-contract makes a driver do some work, and makes it fail.
 * Documentation/guide/contract.md explains how to write one.
 *
 * Each actor is a process that opens the device for itself, so an adapter may keep its state in
 * static variables. Only tend() is called from a second thread.
 */
#ifndef CONTRACT_DRIVER_H
#define CONTRACT_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

enum job_kind {
	JOB_OK,		/* ends at once */
	JOB_LONG,	/* lasts until tend() is told to finish it, and shows progress */
	JOB_GATE,	/* as JOB_LONG, but does nothing that an injected fault could hit */
	JOB_NEVER,	/* never ends and shows no progress */
	JOB_FAULT,	/* accesses memory that it must not access */
	JOB_MALFORMED,	/* is no valid command */
	JOB_BIN,	/* needs more memory than its tiler heap has */
};

/* The robustness query of a context. */
enum context_flags {
	CONTEXT_GUILTY = 1,	/* one of its jobs was at fault; it takes no more */
	CONTEXT_INNOCENT = 2,	/* lost work to another one's fault */
};

struct context_state {
	int error;		/* of the query, -EOPNOTSUPP if the driver has none */
	unsigned int flags;	/* enum context_flags */
	int runs;		/* how often the last JOB_OK of the context ran, -1 if unknown */
};

struct contract_driver {
	const char *name;	/* of the DRM driver */
	/* There are fences, but no engine that a reset could be about, and no contexts. */
	bool fences_only;

	/* open(): open @node; 0 or -errno. A process does this once. */
	int (*open)(const char *node);

	/* context_new(): NULL with errno set if it fails. Jobs of a context run in order. */
	void *(*context_new)(void);

	/* job(): submit one; its fence as a sync file, or -errno. -EOPNOTSUPP: not possible here */
	int (*job)(void *context, enum job_kind kind);

	/*
	 * tend(): called every few milliseconds while a JOB_LONG or JOB_GATE may run. Lets it
	 * proceed by one step, or to its end if @finish. Returns how many steps it has done.
	 */
	uint64_t (*tend)(void *context, bool finish);

	/* state(): NULL if the driver has no such query. Called before another job is submitted. */
	void (*state)(void *context, struct context_state *state);

	/* page(): memory of the device that is mapped into the process, or NULL. */
	volatile uint32_t *(*page)(void *context);

	/*
	 * provoke(): make a fault happen to the jobs of @context that follow; @script is the third
	 * column of rows.tsv. 0, -errno, or -EOPNOTSUPP if the driver cannot make it happen. The
	 * script "clear" ends all faults; @context is NULL then.
	 */
	int (*provoke)(void *context, const char *script);

	/* close(): close what open() has opened. */
	void (*close)(void);
};

extern const struct contract_driver tessera_driver, vgem_driver, sw_sync_driver;

#endif /* CONTRACT_DRIVER_H */
