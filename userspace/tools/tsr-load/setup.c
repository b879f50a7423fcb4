// SPDX-License-Identifier: MIT
/* How the machine schedules, from module parameters. */
#include <stdlib.h>
#include <string.h>

#include <sys/utsname.h>

#include "load.h"

#define SCHED "/sys/module/gpu_sched/parameters/"
#define DRIVER "/sys/module/tessera/parameters/"

/* A parameter as text; false if there is none. */
static bool parameter(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	bool good = f && fgets(text, size, f);

	if (f)
		fclose(f);
	if (good)
		text[strcspn(text, "\n")] = 0;
	return good;
}

static unsigned int number(const char *path)
{
	char text[32];

	return parameter(path, text, sizeof(text)) ? strtoul(text, NULL, 10) : 0;
}

void setup_read(struct setup *setup)
{
	char text[32];
	struct utsname name;

	memset(setup, 0, sizeof(*setup));
	setup->has_policy = parameter(SCHED "sched_policy", text, sizeof(text));
	if (setup->has_policy)
		setup->policy = strtoul(text, NULL, 10) % POLICIES;
	if (!parameter(DRIVER "sched", setup->backend, sizeof(setup->backend)))
		strcpy(setup->backend, "none");
	setup->slots = number(DRIVER "sched_slots");
	setup->depth = number(DRIVER "sched_depth");
	setup->timeslice = number(DRIVER "sched_timeslice");
	if (!uname(&name))
		snprintf(setup->release, sizeof(setup->release), "%s", name.release);
}
