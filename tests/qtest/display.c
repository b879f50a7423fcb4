/* SPDX-License-Identifier: MIT */
/*
 * Heads of the display controller on QEMU's consoles: what screendump writes against what the
 * planes say, byte for byte; monitors, interrupts, resets, snapshots, unplugging with a picture on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "ktap.h"
#include "tsr_desc.c"

#define WIDTH 320u
#define HEIGHT 200u
#define H_TOTAL 400u
#define V_TOTAL 250u
#define CLOCK_KHZ 6000u /* 60 Hz */
#define PERIOD 16666667u
#define PITCH 1408u
#define BUFFER_VA(n) (0x40000000ull + (n)*0x100000ull)
#define BUFFER_PAGES ((PITCH * HEIGHT + 4095) / 4096)

static struct gpu gpu;
static uint64_t buffer[3]; /* guest-physical */
static uint32_t *pixels[3];
static unsigned int serial;

static uint32_t word(uint32_t seed)
{
	seed = (seed ^ 61) ^ seed >> 16;
	seed *= 9;
	seed ^= seed >> 4;
	seed *= 0x27d4eb2d;
	return seed ^ seed >> 15;
}

static void fill(unsigned int n, uint32_t seed)
{
	for (uint32_t i = 0; i < PITCH / 4 * HEIGHT; i++)
		pixels[n][i] = word(seed * 1000003 + i);
	qtest_write(gpu.q, buffer[n], pixels[n], PITCH * HEIGHT);
}

static void open_device(struct qtest *q)
{
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	for (unsigned int n = 0; n < 3; n++) {
		pixels[n] = pixels[n] ?: malloc(PITCH * HEIGHT);
		buffer[n] = gpu_pages(&gpu, BUFFER_PAGES);
		gpu_map(&gpu, 0, BUFFER_VA(n), buffer[n], BUFFER_PAGES * 4096,
			TSR_PTE_READ__MASK);
		fill(n, n + 1);
	}
	gpu_as_on(&gpu, 0);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), ~0ull);
}

static void set_mode(unsigned int head)
{
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_H(head), WIDTH | H_TOTAL << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_V(head), HEIGHT | V_TOTAL << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_MODE_CLOCK(head), CLOCK_KHZ);
}

static void set_plane(unsigned int head, unsigned int plane, uint64_t addr, int x, int y,
		      uint32_t width, uint32_t height)
{
	gpu_write64(&gpu, TSR_REG_DISPLAY_PLANE_ADDR(head, plane), addr);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_FORMAT(head, plane),
		  TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_CONVERSION_FORMAT__SHIFT |
			  TSR_COMPONENT_ORDER_BGR1);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_PITCH(head, plane), PITCH);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_CONFIG(head, plane), 0xffff0000u);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_POS(head, plane),
		  (uint16_t)x | (uint32_t)(uint16_t)y << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_SIZE(head, plane), width | height << 16);
	gpu_write(&gpu, TSR_REG_DISPLAY_PLANE_SRC(head, plane), 0);
}

static void latch(unsigned int head)
{
	gpu_write(&gpu, TSR_REG_DISPLAY_COMMIT(head), TSR_DISPLAY_COMMIT_LATCH__MASK);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(head)) & TSR_DISPLAY_STATUS_BAD__MASK, 0);
}

static void show(unsigned int head, unsigned int n)
{
	set_mode(head);
	set_plane(head, 0, BUFFER_VA(n), 0, 0, WIDTH, HEIGHT);
	latch(head);
}

/* Interrupts of all heads since the last call. */
static uint64_t events(void)
{
	uint64_t bits = gpu_read64(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_DISPLAY));

	gpu_write64(&gpu, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_DISPLAY), bits);
	return bits;
}

/* The pixels of a screendump: *@width by *@height, red, green, blue. The caller frees them. */
static uint8_t *dump(unsigned int head, unsigned int *width, unsigned int *height)
{
	uint8_t *rgb = NULL;
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/display-%d-%u.ppm", getenv("TSR_BUILD") ?: "/tmp",
		 (int)getpid(), serial++);
	qtest_cmd(gpu.q, "{\"execute\":\"screendump\",\"arguments\":{\"filename\":\"%s\","
			 "\"device\":\"gpu\",\"head\":%u}}", path, head);
	file = fopen(path, "rb");
	if (ktap_ok(file != NULL) && ktap_eq(fscanf(file, "P6 %u %u 255", width, height), 2)) {
		fgetc(file);
		rgb = calloc(*width, 3 * *height);
		ktap_eq(fread(rgb, 3 * *width, *height, file), *height);
	}
	if (file)
		fclose(file);
	unlink(path);
	return rgb;
}

static uint32_t rgb_of(const uint8_t *pixel)
{
	return (uint32_t)pixel[0] << 16 | pixel[1] << 8 | pixel[2];
}

/* Pixels of buffer @n, from its first, at (@x, @y) of the screen. */
struct layer {
	unsigned int n;
	int x, y;
	uint32_t width, height;
};

static void screen_is(unsigned int head, const struct layer *layer, unsigned int layers)
{
	unsigned int width = 0, height = 0, wrong = 0;
	uint8_t *rgb = dump(head, &width, &height);

	if (!ktap_eq(width, WIDTH) || !ktap_eq(height, HEIGHT)) {
		free(rgb);
		return;
	}
	for (int y = 0; y < (int)HEIGHT; y++) {
		for (int x = 0; x < (int)WIDTH; x++) {
			const uint8_t *got = rgb + 3 * (y * (int)WIDTH + x);
			uint32_t want = 0;

			for (unsigned int i = 0; i < layers; i++) {
				const struct layer *l = &layer[i];

				if (x >= l->x && x < l->x + (int)l->width && y >= l->y &&
				    y < l->y + (int)l->height)
					want = pixels[l->n][(y - l->y) * (int)PITCH / 4 + x - l->x];
			}
			if (rgb_of(got) != (want & 0xffffff) && wrong < 3) {
				ktap_fail("(%d, %d): expected %06x, got %02x%02x%02x", x, y,
					  want & 0xffffff, got[0], got[1], got[2]);
				wrong++;
			}
		}
	}
	free(rgb);
}

static void screen_is_buffer(unsigned int head, unsigned int n)
{
	screen_is(head, &(struct layer){ n, 0, 0, WIDTH, HEIGHT }, 1);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Every register of the heads there are: reset value and access rule. */
static unsigned int check_registers(void)
{
	unsigned int words = 0;

	for (uint32_t offset = TSR_DISPLAY__OFFSET; offset < TSR_REGISTERS_SIZE; offset += 4) {
		bool upper;
		const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, NULL, NULL, &upper);
		uint32_t before, mask = 0, got;

		if (!reg || strcmp(reg->block->name, "DISPLAY") ||
		    offset >= TSR_DISPLAY__OFFSET + 2 * TSR_DISPLAY__STRIDE)
			continue;
		words++;
		before = gpu_read(&gpu, offset);
		if (!reg->reset_configured && before != (upper ? reg->reset >> 32 : reg->reset) &&
		    strcmp(reg->name, "STATUS"))
			ktap_fail("%s at 0x%x is 0x%x", reg->name, offset, before);
		for (unsigned int i = 0; i < reg->num_fields; i++)
			mask |= ~0u >> (31 - reg->fields[i].hi + reg->fields[i].lo)
				<< reg->fields[i].lo;
		mask = reg->num_fields ? mask : ~0u;
		if (reg->access == TSR_DESC_WO)
			continue;
		gpu_write(&gpu, offset, 0xa5a5a5a5);
		got = gpu_read(&gpu, offset);
		if (got != (reg->access == TSR_DESC_RW ? 0xa5a5a5a5 & mask : before))
			ktap_fail("%s at 0x%x is 0x%x after a write", reg->name, offset, got);
		gpu_write(&gpu, offset, before);
	}
	return words;
}

static void test_function(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=2");
	unsigned int cap;

	open_device(q);
	ktap_eq(gpu_cfg_read(&gpu, 0x0a, 2), 0x0380);
	cap = gpu_cap(&gpu, 0x11);
	ktap_eq(gpu_cfg_read(&gpu, cap + 2, 2) & 0x7ff, 5); /* six vectors */
	ktap_ok(gpu_read64(&gpu, TSR_REG_GPU_FEATURES) & TSR_FEATURE_DISPLAY);
	for (unsigned int head = 0; head < 2; head++)
		ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_CAPS(head)), 2 | TSR_PLANES << 4);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_CAPS(2)), 0);
	ktap_eq(check_registers(), 2 * (26 + 3 * 13 + 64));
	qtest_stop(q);
}

static void test_screendump(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=1,threads=2");

	open_device(q);
	events();
	show(0, 0);
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	screen_is_buffer(0, 0);
	/* The processor draws without notifying the device. */
	fill(0, 99);
	screen_is_buffer(0, 0);
	/* A flip: nothing before the vertical blank. */
	show(0, 1);
	screen_is_buffer(0, 0);
	ktap_eq(events(), 0);
	qtest_clock_step(q, PERIOD);
	ktap_eq(events(), TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_DISPLAY));
	screen_is_buffer(0, 1);
	/* Planes that stand out of the screen on either side. */
	set_plane(0, 1, BUFFER_VA(0), -40, 150, 100, 100);
	set_plane(0, 2, BUFFER_VA(2), 300, -10, 64, 64);
	latch(0);
	qtest_clock_step(q, PERIOD);
	screen_is(0, (const struct layer[]){ { 1, 0, 0, WIDTH, HEIGHT }, { 0, -40, 150, 100, 100 },
					     { 2, 300, -10, 64, 64 } }, 3);
	qtest_stop(q);
}

static void test_heads(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=2,threads=0");

	open_device(q);
	show(0, 0);
	show(1, 1);
	screen_is_buffer(0, 0);
	screen_is_buffer(1, 1);
	gpu_write(&gpu, TSR_REG_DISPLAY_COMMIT(0), TSR_DISPLAY_COMMIT_DISABLE__MASK);
	screen_is_buffer(1, 1);
	qtest_stop(q);
}

/* A head that is off, a machine that stands: there is always an answer. */
static void test_nothing_comes(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=1");
	unsigned int width = 0, height = 0;
	uint32_t rgb = 0;
	uint8_t *screen;

	open_device(q);
	free(dump(0, &width, &height));
	show(0, 0);
	screen_is_buffer(0, 0);
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	screen_is_buffer(0, 0);
	qtest_cmd(q, "{\"execute\":\"cont\"}");
	/* The function's reset takes the picture, and what was there is not shown again. */
	gpu_cfg_write(&gpu, gpu_cap(&gpu, 0x10) + 8, 0x8000, 2);
	gpu_setup_pci(&gpu);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(0)), TSR_DISPLAY_STATUS_PRESENT__MASK);
	screen = dump(0, &width, &height);
	for (unsigned int i = 0; screen && i < 3 * width * 8; i++)
		rgb |= screen[i];
	ktap_eq(rgb, 0); /* the text is in the middle */
	free(screen);
	qtest_stop(q);
}

static void read_edid(unsigned int head, uint8_t *edid)
{
	for (unsigned int i = 0; i < TSR_EDID_WORDS; i++) {
		uint32_t value = gpu_read(&gpu, TSR_REG_DISPLAY_EDID(head, i));

		memcpy(edid + 4 * i, &value, 4);
	}
}

/* The rules of VESA's E-EDID that every reader relies on; the first detailed timing's size. */
static void check_edid(const uint8_t *edid, unsigned int *width, unsigned int *height)
{
	static const uint8_t header[8] = { 0, 255, 255, 255, 255, 255, 255, 0 };
	const uint8_t *timing = edid + 54;

	ktap_eq(memcmp(edid, header, 8), 0);
	ktap_eq(edid[18], 1); /* version 1 */
	for (unsigned int block = 0; block <= edid[126] && block < 2; block++) {
		uint8_t sum = 0;

		for (unsigned int i = 0; i < 128; i++)
			sum += edid[128 * block + i];
		ktap_eq(sum, 0);
	}
	ktap_ok(timing[0] | timing[1] << 8);
	*width = timing[2] | (timing[4] & 0xf0u) << 4;
	*height = timing[5] | (timing[7] & 0xf0u) << 4;
}

static void test_monitor(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=2,xres=1600,yres=900,"
				      "connected[1]=off");
	unsigned int width, height;
	uint8_t edid[256];

	open_device(q);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(0)), TSR_DISPLAY_STATUS_PRESENT__MASK);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(1)), 0);
	read_edid(0, edid);
	check_edid(edid, &width, &height);
	ktap_eq(width, 1600);
	ktap_eq(height, 900);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_EDID(1, 0)), 0);
	events();
	qtest_cmd(q, "{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"gpu\","
		     "\"property\":\"connected[1]\",\"value\":true}}");
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG << 8);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_DISPLAY));
	read_edid(1, edid);
	check_edid(edid, &width, &height);
	ktap_eq(width, 1600);
	qtest_cmd(q, "{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"gpu\","
		     "\"property\":\"connected[0]\",\"value\":false}}");
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG);
	ktap_eq(gpu_read(&gpu, TSR_REG_DISPLAY_STATUS(0)), 0);
	qtest_stop(q);
}

static void migrated(struct qtest *q)
{
	int left = QTEST_TIMEOUT_MS;

	while (!strstr(qtest_cmd(q, "{\"execute\":\"query-migrate\"}"), "\"completed\""))
		if (!qtest_patience(&left)) {
			ktap_fail("migration takes too long");
			return;
		}
}

/* Saved with a flip on its way; continued by a process whose monitor is another one. */
static void test_snapshot(void)
{
	struct qtest *q = qtest_start("-device tessera,addr=4,id=gpu,heads=1");
	uint64_t frame;
	char path[300];

	snprintf(path, sizeof(path), "%s/display-%d.state", getenv("TSR_BUILD") ?: "/tmp",
		 (int)getpid());
	open_device(q);
	show(0, 0);
	qtest_clock_step(q, 5 * (uint64_t)PERIOD);
	show(0, 1);
	events();
	frame = gpu_read64(&gpu, TSR_REG_DISPLAY_FRAME(0));
	qtest_cmd(q, "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"file:%s\"}}", path);
	migrated(q);
	qtest_stop(q);

	q = qtest_start("-device tessera,addr=4,id=gpu,heads=1,xres=800,yres=600 -incoming defer");
	qtest_cmd(q, "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"file:%s\"}}",
		  path);
	migrated(q);
	gpu_moved(&gpu, q);
	ktap_eq(events(), TSR_DISPLAY_IRQ_HOTPLUG);
	ktap_eq(gpu_read64(&gpu, TSR_REG_DISPLAY_FRAME(0)), frame);
	qtest_clock_step(q, PERIOD);
	ktap_eq(events() & TSR_DISPLAY_IRQ_FLIP, TSR_DISPLAY_IRQ_FLIP);
	screen_is_buffer(0, 1);
	qtest_stop(q);
	unlink(path);
}

/* The function is taken away and comes back while its picture is looked at. */
static void test_unplug(void)
{
	struct qtest *q = qtest_start("-device pcie-root-port,id=rp,addr=5,chassis=1 "
				      "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
				      "-device tessera,bus=rp,id=gpu,heads=1");
	struct gpu port = { .q = q, .devfn = 5 << 3 };
	unsigned int cap, width, height;

	gpu_open_bridge(q, port.devfn, 1);
	cap = gpu_cap(&port, 0x10);
	gpu_cfg_write(&port, cap + 0x18, 0x0100, 2);
	gpu_open(&gpu, q, 0, 1, 0);
	buffer[0] = gpu_pages(&gpu, BUFFER_PAGES);
	gpu_map(&gpu, 0, BUFFER_VA(0), buffer[0], BUFFER_PAGES * 4096, TSR_PTE_READ__MASK);
	fill(0, 5);
	gpu_as_on(&gpu, 0);
	show(0, 0);
	screen_is_buffer(0, 0);
	for (unsigned int i = 0; i < 3; i++) {
		qtest_cmd(q, "{\"execute\":\"device_del\",\"arguments\":{\"id\":\"gpu\"}}");
		gpu_cfg_write(&port, cap + 0x1a, 0x0001, 2);
		gpu_cfg_write(&port, cap + 0x18, 0x0400 | 0x0300, 2);
		qtest_event(q, "DEVICE_DELETED");
		qtest_cmd(q, "{\"execute\":\"device_add\",\"arguments\":{\"driver\":\"tessera\","
			     "\"bus\":\"rp\",\"id\":\"gpu\",\"heads\":1}}");
		gpu_cfg_write(&port, cap + 0x18, 0x0100, 2);
		free(dump(0, &width, &height));
	}
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[DISP1] class 0380, six vectors, registers of the heads", test_function);
	ktap_run("[DISP1] screendump is the scan-out, byte for byte; a flip waits for its blank",
		 test_screendump);
	ktap_run("[DISP1] two heads show two pictures", test_heads);
	ktap_run("screendump of what is off, stands or was reset", test_nothing_comes);
	ktap_run("[DISP1] EDID, monitors that come and go", test_monitor);
	ktap_run("[DISP1] a snapshot with a flip on its way, another monitor", test_snapshot);
	ktap_run("unplugged with a picture on", test_unplug);
	return ktap_finish();
}
