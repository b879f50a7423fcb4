/* SPDX-License-Identifier: MIT */
/* The state of a running program: files of the device, objects in them, memory. */
#ifndef WORLD_H
#define WORLD_H

#include <stdarg.h>
#include <stddef.h>

#include "call.h"
#include "program.h"
#include "table.h"

#define WORLD_RESOURCES	8	/* of each kind; a new one replaces the oldest */
#define WORLD_BUFFER	4096	/* bytes that the kernel may write */
#define WORLD_MAPS	4
#define WORLD_MEMORY	16384	/* bytes of arrays of a call */

struct world {
	int file[2];		/* the second one is opened on request; -1 without it */
	unsigned int turn;	/* file[turn] is used */
	FILE *text;		/* the calls as C, or NULL */
	const struct call *call;
	unsigned int choices;	/* bytes of @call that were used */
	bool injected;		/* there may be rules of fault injection */
	uint32_t resource[RESOURCES][WORLD_RESOURCES];
	unsigned int resources[RESOURCES];	/* that were created */
	uint32_t streams;	/* BO with command streams, see streams.h; 0 without one */
	void *map[WORLD_MAPS];
	uint8_t *buffer;	/* WORLD_BUFFER bytes */
	uint8_t memory[WORLD_MEMORY];
	size_t memory_used;
};

/* world.c. There is one world at a time. */
struct world *world_open(FILE *text);	/* NULL if there is no device */
void world_close(struct world *w);
int world_file(const struct world *w);
void *take_memory(struct world *w, size_t size);	/* NULL if there is none left */
const char *resource_name(enum resource kind);
/* Bind the BO with command streams in a new VM, so that jobs find some. */
void bind_streams(struct world *w, uint32_t vm);

/* call.c */
uint8_t choose(struct world *w);
/* A resource, or a value that is none. *@index: its index in w->resource, or -1. */
uint32_t choose_resource(struct world *w, enum resource kind, int *index);
int keep_resource(struct world *w, enum resource kind, uint32_t value);
__attribute__((format(printf, 2, 3)))
void say(struct world *w, const char *format, ...);
/* Write the text to its file before the kernel can end the machine. */
static inline void flush(struct world *w)
{
	if (w->text)
		fflush(w->text);
}

/* action.c: what is no ioctl of the driver's. */
unsigned int actions_known(void);
const char *action_name(unsigned int which);
uint32_t action_uses(unsigned int which);	/* bits of enum resource */
void action_run(struct world *w, unsigned int which);

#endif
