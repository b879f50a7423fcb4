// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 DEVICE_ARGS=vram=32M
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=4000
 */
/*
 * The device goes away while programs run on it, and comes back. In the boot of hotplug.c, since
 * what goes wrong here leaves no device to test.
 */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

#include "ct.h"

#define ENDLESS "again: clause { +JUMP again\n }\n"

static char slot[64];		/* 0000:01:00.0 */

static int driver_write(const char *leaf)
{
	return gt_driver_write(leaf, slot);
}

static bool computes(void)
{
	uint64_t until = gt_now_ns() + 5000000000ULL;
	char path[64];
	struct ct c;
	struct tsr_alloc data;
	struct tsr_storage storage;
	struct tsr_dispatch_info d = { .groups = { 2 }, .storage = &storage, .storage_count = 1 };
	bool good;

	while (!gt_node_path(0, true, path, sizeof(path)) && gt_now_ns() < until)
		gt_sleep_ms(5);
	c = ct_open();
	data = lt_data(&c.lt, 128 * 4, 0);
	storage = ct_storage(&data, 4);
	d.shader = ct_program(&c, "work", CT_WORK);
	good = ct_run(&c, &d) == 0 && ((uint32_t *)data.cpu)[127] == ct_work(0, 127, 1);
	tsr_shader_unref(d.shader);
	ct_close(&c);
	return good;
}

/* Unbind with an endless program on the engine and another one waiting. */
static void unbind_running(void)
{
	struct tsr_dispatch_info d = { .groups = { 40 } };
	struct tsr_sync *syncs[2];
	struct tsr_queue *second;
	struct ct c = ct_open();
	unsigned int i;

	d.shader = ct_program(&c, "endless", ENDLESS);
	LT_OK(tsr_queue_create(c.lt.vm, DRM_TESSERA_ENGINE_COMPUTE, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &second));
	for (i = 0; i < 2; i++)
		LT_OK(tsr_sync_create(c.lt.device, 0, &syncs[i]));
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(tsr_queue_run(c.queue, c.lt.stream, syncs[0], 0));
	LT_OK(tsr_queue_run(second, c.lt.stream, syncs[1], 0));
	ktap_eq(tsr_sync_wait(syncs[0], 0, tsr_deadline(100000000)), -ETIME);
	ktap_eq(driver_write("unbind"), 0);
	for (i = 0; i < 2; i++)
		ktap_eq(tsr_sync_finish(syncs[i], 0, tsr_deadline(1000000000)), -ENODEV);
	/* what is left in user space can be dropped, and nothing new be done */
	ktap_eq(tsr_queue_run(c.queue, c.lt.stream, NULL, 0), -ENODEV);
	for (i = 0; i < 2; i++)
		tsr_sync_unref(syncs[i]);
	tsr_queue_unref(second);
	tsr_shader_unref(d.shader);
	ct_close(&c);
	ktap_eq(driver_write("bind"), 0);
	ktap_ok(computes());
}

/* A reset of the PCI function takes the program with it; the queue is to blame for nothing. */
static void reset_running(void)
{
	struct tsr_dispatch_info d = { .groups = { 40 } };
	struct drm_tessera_queue_get_state state;
	struct ct c = ct_open();
	struct tsr_sync *sync;
	char path[300];

	d.shader = ct_program(&c, "endless", ENDLESS);
	LT_OK(tsr_sync_create(c.lt.device, 0, &sync));
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(tsr_queue_run(c.queue, c.lt.stream, sync, 0));
	ktap_eq(tsr_sync_wait(sync, 0, tsr_deadline(100000000)), -ETIME);
	gt_sysfs(0, "reset", path, sizeof(path));
	ktap_eq(gt_write_file(path, "1"), 0);
	ktap_eq(tsr_sync_finish(sync, 0, LT_LONG), -ECANCELED);
	state = ct_state(&c);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_INNOCENT);
	tsr_sync_unref(sync);
	tsr_shader_unref(d.shader);
	ct_close(&c);
	ktap_ok(computes());
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	gt_pci_slot(slot, sizeof(slot));
	ktap_run("[SYS7] unbound while programs run: ENODEV, and everything works again",
		 unbind_running);
	ktap_run("[SYS7] reset while a program runs: its queue is innocent and goes on",
		 reset_running);
	return gt_finish();
}
