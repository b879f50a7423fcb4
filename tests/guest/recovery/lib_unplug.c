// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=32M */
/*
 * The device goes away under libtessera and under the photo demo: errors that say so, no crash, no
 * wait without end, nothing half-written. It comes back after each test.
 */
#include "gt_main.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lt.h"

#define OUT "/tmp/lib_unplug/out.png"

static void unplug(void)
{
	char path[300];

	gt_sysfs(0, "remove", path, sizeof(path));
	ktap_eq(gt_write_file(path, "1"), 0);
}

/* Back again, and usable: nodes appear a moment later. */
static bool plug(void)
{
	struct tsr_device *device;
	unsigned int i;

	ktap_eq(gt_write_file("/sys/bus/pci/rescan", "1"), 0);
	for (i = 0; i < 1000; i++) {
		if (!tsr_device_open(NULL, &device)) {
			tsr_device_unref(device);
			return true;
		}
		usleep(5000);
	}
	ktap_fail("the device does not come back: %s", tsr_error_message());
	return false;
}

struct waiter {
	struct tsr_sync *sync;
	int result;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->result = tsr_sync_finish(waiter->sync, 0, LT_LONG);
	return NULL;
}

static void check_gone(struct lt *t)
{
	struct drm_tessera_gpu_state state;
	struct tsr_queue *queue;
	struct tsr_alloc alloc;
	struct tsr_bo *bo;

	ktap_eq(tsr_device_get_state(t->device, &state, sizeof(state)), -ENODEV);
	ktap_ok(strstr(tsr_error_message(), "unplugged"));
	ktap_eq(tsr_bo_create(t->device, 4096, 0, NULL, &bo), -ENODEV);
	ktap_ok(LT_OK(tsr_queue_create(t->vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue)));
	ktap_eq(tsr_queue_id(queue), 0);
	ktap_ok(strstr(tsr_error_message(), "unplugged"));
	tsr_queue_unref(queue);
	ktap_eq(tsr_pool_alloc(t->data, 1 << 20, 0, &alloc), -ENODEV);
	tsr_cmd_nop(t->stream, 1);
	ktap_eq(tsr_queue_run(t->queue, t->stream, t->sync, 0), -ENODEV);
	ktap_ok(strstr(tsr_error_message(), "unplugged"));
}

/* A thread in a wait on a job that never ends; local memory mapped; then everything is dropped. */
static void test_library(void)
{
	struct lt t = lt_open();
	struct tsr_alloc word = lt_data(&t, 4, 0);
	struct waiter waiter = { NULL, 1 };
	struct tsr_bo *local;
	pthread_t thread;
	void *map;

	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 4096, DRM_TESSERA_BO_LOCAL, NULL, &local)));
	KTAP_REQUIRE(LT_OK(tsr_bo_map(local, &map)));
	KTAP_REQUIRE(LT_OK(tsr_sync_create(t.device, 0, &waiter.sync)));
	tsr_cmd_wait32(t.stream, word.va, TSR_COMPARE_EQ, 1);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(t.queue, t.stream, waiter.sync, 0)));
	ktap_eq(pthread_create(&thread, NULL, wait_in_thread, &waiter), 0);
	usleep(50000);
	unplug();
	pthread_join(thread, NULL);
	ktap_eq(waiter.result, -ENODEV);
	tsr_stream_reset(t.stream);
	check_gone(&t);
	*(volatile uint32_t *)word.cpu = 5;
	ktap_eq(*(volatile uint32_t *)word.cpu, 5);
	*(volatile uint32_t *)map = 1;
	tsr_pool_free(t.data, &word);
	tsr_bo_unref(local);
	tsr_sync_unref(waiter.sync);
	lt_close(&t);
	plug();
}

/* photo, with the device going after @ms; its exit status, what it said in @text. */
static int photo_with_unplug(unsigned int ms, char *text, size_t size)
{
	size_t length;
	FILE *f;
	int status;

	f = popen("exec photo /usr/share/tessera/photo.png " OUT " 2>&1 >/dev/null", "r");
	if (!f)
		return -1;
	usleep(ms * 1000);
	unplug();
	length = fread(text, 1, size - 1, f);
	text[length] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* At many moments of its life: it is done and right, or says why not and leaves nothing. */
static void test_photo(void)
{
	unsigned int ms, good = 0, bad = 0;
	char text[1000];
	int status;

	for (ms = 0; ms <= 350 && !ktap.bad; ms += 35) {
		KTAP_REQUIRE(system("rm -rf /tmp/lib_unplug; mkdir /tmp/lib_unplug") == 0);
		status = photo_with_unplug(ms, text, sizeof(text));
		if (status == 0) {
			good++;
			ktap_ok(!access(OUT, R_OK));
			ktap_eq(text[0], 0);
		} else {
			bad++;
			ktap_eq(status, 1);
			ktap_ok(!strncmp(text, "photo: ", 7));
			ktap_eq(strcspn(text, "\n") + 1, strlen(text));
			ktap_eq(system("test -z \"$(ls -A /tmp/lib_unplug)\""), 0);
		}
		if (ktap.bad)
			ktap_note("after %u ms: status %d: %s", ms, status, text);
		if (!plug())
			return;
	}
	ktap_note("%u runs were done in time, %u said why not", good, bad);
	/* the first run has no device to begin with */
	ktap_ok(bad > 0);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS4] libtessera when the device is unplugged", test_library);
	ktap_run("[SYS8] photo when the device is unplugged, at any moment", test_photo);
	return gt_finish();
}
