// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * tsr-top: shows who uses the GPU, how much and of what, and what the device says of itself.
 */
#include "gt_main.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 16];

/* The output of a command; its exit status. */
static int output(const char *command)
{
	FILE *pipe = popen(command, "r");
	size_t n;

	if (!pipe)
		gt_die("%s does not start", command);
	n = fread(text, 1, sizeof(text) - 1, pipe);
	text[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

/* Copies of one job: enough that it is about the engine, and not about how slow the kernel is. */
#define COPIES 64

/* A process that keeps the copy engine busy. */
static pid_t start_load(void)
{
	pid_t pid = fork();
	struct gt_ctx c;

	if (pid)
		return pid;
	c = gt_ctx();
	for (;;) {
		struct gt_cs cs = gt_stream(&c, 8 * COPIES);

		for (int i = 0; i < COPIES; i++)
			GT_EMIT(&cs, copy_linear, .src = gt_data_va(0),
				.dst = gt_data_va(GT_DATA_SIZE / 2), .size = GT_DATA_SIZE / 2);
		gt_run(&c, &cs);
	}
}

static void load_is_shown(void)
{
	double bin, render, compute, copy, mcycles;
	unsigned long total, resident;
	char name[32], device[32], *line, want[32];
	double gpu_copy = -1;
	pid_t pid = start_load();
	int got;

	gt_sleep_ms(500);
	ktap_eq(output("tsr-top -b -n 1 -d 1"), 0);
	snprintf(want, sizeof(want), "\n%7d  ", pid);
	line = strstr(text, want);
	if (!ktap_ok(line != NULL)) {
		ktap_note("%s", text);
		goto out;
	}
	got = sscanf(line, "%*d %31s %31s %lf%% %lf%% %lf%% %lf%% %lf %lu %lu", name, device, &bin,
		     &render, &compute, &copy, &mcycles, &total, &resident);
	ktap_eq(got, 9);
	ktap_ok(!strcmp(name, "gpu_top"));
	if (!ktap_ok(copy > 1 && copy <= 101 && bin == 0 && render == 0 && compute == 0))
		ktap_note("%s", text);
	ktap_ok(mcycles > 0);
	ktap_ok(total >= (GT_CMD_SIZE + GT_DATA_SIZE) >> 10 && resident > 0 && resident <= total);
	snprintf(want, sizeof(want), "GPU %.20s  bin", device);
	line = strstr(text, want);
	KTAP_REQUIRE(line != NULL);
	ktap_eq(sscanf(strstr(line, "  copy "), "  copy %lf%%", &gpu_copy), 1);
	ktap_ok(gpu_copy > 1 && gpu_copy <= 101);
	ktap_ok(strstr(line, " doorbells/s ") != NULL && !strstr(line, " 0 doorbells/s"));
out:
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void idle_is_shown(void)
{
	unsigned int tables = 0;
	const char *line;

	ktap_eq(output("tsr-top -b -n 3 -d 0.2"), 0);
	for (line = text; (line = strstr(line, "    PID  COMMAND")); line++)
		tables++;
	ktap_eq(tables, 3);
	ktap_ok(strstr(text, "GPU 0000:") && strstr(text, "copy 0.0%") != NULL);
}

static void usage(void)
{
	ktap_eq(output("tsr-top -n 0 2>/dev/null"), 2);
	ktap_eq(output("tsr-top -d x 2>/dev/null"), 2);
	ktap_eq(output("tsr-top more 2>/dev/null"), 2);
	ktap_eq(output("tsr-top -h"), 0);
	ktap_ok(strstr(text, "usage: tsr-top") == text);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS9] tsr-top shows a busy process and its GPU", load_is_shown);
	ktap_run("[SYS9] tsr-top shows an idle GPU as often as asked", idle_is_shown);
	ktap_run("[SYS9] tsr-top says what it does not understand", usage);
	return gt_finish();
}
