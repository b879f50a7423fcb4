/* SPDX-License-Identifier: MIT */
/*
 * The PCI function and the register file as the machine's processor sees them: configuration space,
 * BARs, MSI-X capability, the reset value and the access rule of every register that the
 * description names, and the widths an access may have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "ktap.h"
#include "tsr_desc.c"

#define PCI_CAP_EXPRESS 0x10
#define PCI_CAP_MSIX 0x11

static struct qtest *q;
static struct gpu gpu;

static void test_identification(void)
{
	ktap_eq(gpu_cfg_read(&gpu, 0x00, 2), 0x1234);
	ktap_eq(gpu_cfg_read(&gpu, 0x02, 2), 0x7e55);
	ktap_eq(gpu_cfg_read(&gpu, 0x0a, 2), 0x0302);
	ktap_eq(gpu_cfg_read(&gpu, 0x09, 1), 0);
	ktap_eq(gpu_cfg_read(&gpu, 0x3d, 1), 0); /* no INTx pin */
}

/* The value of a BAR after all ones were written: its size and kind. */
static uint32_t bar_probe(unsigned int n)
{
	uint32_t old = gpu_cfg_read(&gpu, 0x10 + 4 * n, 4), probed;

	gpu_cfg_write(&gpu, 0x10 + 4 * n, 0xffffffff, 4);
	probed = gpu_cfg_read(&gpu, 0x10 + 4 * n, 4);
	gpu_cfg_write(&gpu, 0x10 + 4 * n, old, 4);
	return probed;
}

static void test_bars(void)
{
	ktap_eq(bar_probe(0), 0xfffc0000); /* 256 KiB, memory, 32 bit */
	ktap_eq(bar_probe(1), 0);
	ktap_eq(bar_probe(2), 0xff000000 | 0xc); /* 12 MiB round up to 16, 64 bit, prefetchable */
	ktap_eq(bar_probe(3), 0xffffffff);
	ktap_eq(bar_probe(4), 0xfffff000);
	ktap_eq(bar_probe(5), 0);
}

static void test_msix_capability(void)
{
	unsigned int cap = gpu_cap(&gpu, PCI_CAP_MSIX), n;

	KTAP_REQUIRE(cap != 0);
	ktap_eq(gpu_cfg_read(&gpu, cap + 2, 2) & 0x7ff, 4); /* five vectors */
	ktap_eq(gpu_cfg_read(&gpu, cap + 4, 4) & 7, 4);	    /* table in BAR 4 */
	ktap_eq(gpu_cfg_read(&gpu, cap + 8, 4) & 7, 4);	    /* pending bits too */
	for (n = 0; n < 4; n++)
		ktap_eq(qtest_readl(q, gpu.bar4 + 16 * n + 8), GPU_MSI_DATA(n));
}

static void test_express_capability(void)
{
	unsigned int cap = gpu_cap(&gpu, PCI_CAP_EXPRESS);

	KTAP_REQUIRE(cap != 0);
	ktap_ok(gpu_cfg_read(&gpu, cap + 4, 4) & 1u << 28); /* function-level reset */
}

static uint32_t field(uint32_t reg, uint32_t mask)
{
	return (gpu_read(&gpu, reg) & mask) / (mask & -mask);
}

/* The values the description leaves to the configuration, against this machine's properties. */
static void test_configuration(void)
{
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_FEATURES),
		TSR_FEATURE_LOCAL_MEMORY | TSR_FEATURE_HUGE_PAGES | TSR_FEATURE_COMPRESSED |
		TSR_FEATURE_GEOMETRY | TSR_FEATURE_TAGGED);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_ENGINES), 0x02010102);
	ktap_eq(field(TSR_REG_GPU_SLOTS, TSR_GPU_SLOTS_QUEUES__MASK), 64);
	ktap_ok(field(TSR_REG_GPU_SLOTS, TSR_GPU_SLOTS_ADDRESS_SPACES__MASK) >= 2);
	ktap_ok(field(TSR_REG_GPU_SLOTS, TSR_GPU_SLOTS_ADDRESS_SPACES__MASK) <= 128);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_PAGE_SIZES), 1u << 12 | 1u << 21);
	ktap_eq(field(TSR_REG_GPU_VA, TSR_GPU_VA_BITS__MASK), 48);
	ktap_eq(field(TSR_REG_GPU_VA, TSR_GPU_VA_LEVELS__MASK), 4);
	ktap_eq(field(TSR_REG_GPU_LIMITS, TSR_GPU_LIMITS_PREFETCH_BYTES__MASK), 256);
	ktap_eq(field(TSR_REG_GPU_LIMITS, TSR_GPU_LIMITS_NESTING__MASK), 8);
	ktap_eq(field(TSR_REG_GPU_LIMITS, TSR_GPU_LIMITS_FIFO_DEPTH__MASK), 8);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_LOCAL_SIZE), 12u << 20);
	ktap_eq(field(TSR_REG_GPU_RING_LIMITS, TSR_GPU_RING_LIMITS_MIN_LOG2__MASK), 12);
	ktap_eq(field(TSR_REG_GPU_RING_LIMITS, TSR_GPU_RING_LIMITS_MAX_LOG2__MASK), 20);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_LOOP_LIMIT), 65536);
}

/* Calls @fn for every 32-bit word of every register; returns how many. */
static unsigned int each_word(void (*fn)(const struct tsr_desc_reg *reg, uint32_t offset,
					 bool upper))
{
	unsigned int words = 0;
	uint32_t offset;

	for (offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4) {
		bool upper;
		const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, NULL, NULL, &upper);

		if (reg) {
			fn(reg, offset, upper);
			words++;
		}
	}
	return words;
}

static void expect(const struct tsr_desc_reg *reg, uint32_t offset, const char *when, uint32_t want)
{
	uint32_t got = gpu_read(&gpu, offset);

	if (got != want)
		ktap_fail("%s.%s (0x%05x) %s: expected 0x%08x, got 0x%08x", reg->block->name,
			  reg->name, offset, when, want, got);
}

static void check_reset_value(const struct tsr_desc_reg *reg, uint32_t offset, bool upper)
{
	if (!reg->reset_configured)
		expect(reg, offset, "after reset", upper ? reg->reset >> 32 : reg->reset);
}

static void test_reset_values(void)
{
	/* Blocks times registers, as the description has them: a table that has lost its end would
	 * go unnoticed. */
	ktap_eq(each_word(check_reset_value),
		24 + 64 + 6 * 8 + 256 + 2 * 32 + 128 * 10 + 64 * (40 + 2 * 64) + 34 + 2 + 33 +
			4 * (26 + 3 * 13 + 64));
}

/* Bits of a word that exist. */
static uint32_t word_mask(const struct tsr_desc_reg *reg, bool upper)
{
	uint64_t mask = reg->num_fields ? 0 : ~0ull;
	unsigned int i;

	for (i = 0; i < reg->num_fields; i++)
		mask |= ~0ull >> (63 - reg->fields[i].hi + reg->fields[i].lo) << reg->fields[i].lo;
	return upper ? mask >> 32 : mask;
}

/* A value that any writable register takes: no command, and aligned like an address. */
#define PATTERN 0xa5a5a000u

/* Registers of what this device does not have. */
static bool is_absent(const struct tsr_desc_reg *reg, uint32_t offset)
{
	const uint32_t irq = TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_DISPLAY);

	return !strcmp(reg->block->name, "CHECK") || !strcmp(reg->block->name, "DISPLAY") ||
	       (offset >= irq && offset < irq + TSR_IRQ__STRIDE);
}

static void check_access(const struct tsr_desc_reg *reg, uint32_t offset, bool upper)
{
	uint32_t before = gpu_read(&gpu, offset);

	if (reg->access == TSR_DESC_RW && !strcmp(reg->block->name, "DOORBELL")) {
		gpu_write(&gpu, offset, PATTERN);
		expect(reg, offset, "of a disabled queue", 0);
	} else if (is_absent(reg, offset)) {
		gpu_write(&gpu, offset, PATTERN);
		expect(reg, offset, "of a device without the checker, without heads", 0);
	} else if (reg->access == TSR_DESC_RW) {
		gpu_write(&gpu, offset, PATTERN);
		expect(reg, offset, "after a write", PATTERN & word_mask(reg, upper));
		gpu_write(&gpu, offset, before);
		expect(reg, offset, "written back", before);
	} else if (reg->access == TSR_DESC_RO) {
		gpu_write(&gpu, offset, ~before);
		expect(reg, offset, "after a write", before);
	} else {
		gpu_write(&gpu, offset, 0);
		expect(reg, offset, "which is write-only", 0);
	}
}

static void test_access_rules(void)
{
	each_word(check_access);
	each_word(check_reset_value);
}

static void test_holes(void)
{
	uint32_t offset;
	unsigned int holes = 0;

	for (offset = 0; offset < TSR_REGISTERS_SIZE; offset += 4) {
		/* All of the blocks' surroundings, and samples of the wide empty parts. */
		if (tsr_desc_reg_at(offset, NULL, NULL, NULL) ||
		    (offset >= 0x14000 && offset % 0x1000))
			continue;
		gpu_write(&gpu, offset, 0xffffffff);
		if (gpu_read(&gpu, offset))
			ktap_fail("hole at 0x%05x reads 0x%08x", offset, gpu_read(&gpu, offset));
		holes++;
	}
	ktap_ok(holes > 1000);
	each_word(check_reset_value);
}

static void test_widths(void)
{
	uint32_t reg = TSR_REG_QUEUE_RING_BASE(3);

	/* 64 bits are two words, low first. */
	qtest_writeq(q, gpu.bar0 + reg, 0x0000123456789000ull);
	ktap_eq(gpu_read(&gpu, reg), 0x56789000);
	ktap_eq(gpu_read(&gpu, reg + 4), 0x1234);
	ktap_eq(qtest_readq(q, gpu.bar0 + reg), 0x0000123456789000ull);
	/* Other widths and unaligned accesses are refused: all ones, and no effect. */
	ktap_eq(qtest_read_width(q, gpu.bar0, 1), 0xff);
	ktap_eq(qtest_read_width(q, gpu.bar0, 2), 0xffff);
	ktap_eq(qtest_read_width(q, gpu.bar0 + 2, 4), 0xffffffff);
	qtest_write_width(q, gpu.bar0 + reg, 0, 1);
	qtest_write_width(q, gpu.bar0 + reg, 0, 2);
	qtest_write_width(q, gpu.bar0 + reg + 2, 0, 4);
	ktap_eq(qtest_readq(q, gpu.bar0 + reg), 0x0000123456789000ull);
	qtest_writeq(q, gpu.bar0 + reg, 0);
}

/* The clock is the machine's virtual one, in nanoseconds. */
static void test_timestamp(void)
{
	uint64_t before = gpu_read64(&gpu, TSR_REG_GPU_TIMESTAMP);

	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_TIMESTAMP), before);
	qtest_clock_step(q, 0x123456789aull);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_TIMESTAMP) - before, 0x123456789aull);
}

static void test_reset_command(void)
{
	uint32_t count = gpu_read(&gpu, TSR_REG_GPU_RESET_COUNT);

	gpu_write(&gpu, TSR_REG_SEMAPHORE_VALUE(7), 99);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_GLOBAL), TSR_GLOBAL_IRQ_RESET_DONE);
	gpu_write(&gpu, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	ktap_ok(gpu_wait_reg(&gpu, TSR_REG_GPU_STATUS, TSR_GPU_STATUS_RESET_BUSY__MASK, 0));
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_GLOBAL));
	ktap_eq(gpu_read(&gpu, TSR_REG_SEMAPHORE_VALUE(7)), 0);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_RESET_COUNT), count + 1);
	/* The interrupt block keeps its content through this reset. */
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_GLOBAL)),
		TSR_GLOBAL_IRQ_RESET_DONE);
	gpu_write64(&gpu, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_GLOBAL), TSR_GLOBAL_IRQ_RESET_DONE);
	ktap_eq(gpu_read64(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)), 0);
}

/* Register accesses can be traced, with the names of the description. */
static void test_trace(void)
{
	static const char *const lines[] = {
		"tessera_read gpu: 0x00000 GPU.MAGIC -> 0x41525354",
		"tessera_write gpu: 0x10c1c QUEUE[3].WPTR <- 0x00000007",
		"tessera_write gpu: 0x1fc04 QUEUE[63].RING_BASE.hi <- 0x00001234",
		"tessera_read gpu: 0x03014 SEMAPHORE.VALUE[5] -> 0x00000000",
		"tessera_read gpu: 0x3fffc nothing -> 0x00000000",
	};
	char path[300], text[100000];
	struct qtest *traced;
	struct gpu other;
	unsigned int i;
	FILE *file;

	snprintf(path, sizeof(path), "%s/trace-%d", getenv("TSR_BUILD") ?: "/tmp", (int)getpid());
	traced = qtest_start("-D %s -trace tessera_* -device tessera,addr=4,id=gpu", path);
	gpu_open(&other, traced, 0, 0, 4 << 3);
	gpu_read(&other, TSR_REG_GPU_MAGIC);
	gpu_write(&other, TSR_REG_QUEUE_WPTR(3), 7);
	gpu_write(&other, TSR_REG_QUEUE_RING_BASE(63) + 4, 0x1234);
	gpu_read(&other, TSR_REG_SEMAPHORE_VALUE(5));
	gpu_read(&other, TSR_REGISTERS_SIZE - 4);
	qtest_stop(traced);
	file = fopen(path, "r");
	KTAP_REQUIRE(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(text, lines[i]))
			ktap_fail("'%s' is not in %s", lines[i], path);
	}
	unlink(path);
}

/* A PCI bus without Express: no Express capability, everything else works. */
static void test_conventional_bus(void)
{
	struct qtest *pci;
	struct gpu old;

	if (!strstr(qtest_cmd(q, "{\"execute\":\"qom-list-types\"}"), "\"pcie-pci-bridge\"")) {
		ktap_skip("this QEMU is built without pcie-pci-bridge");
		return;
	}
	pci = qtest_start("-device pcie-pci-bridge,id=b,addr=4 -device tessera,bus=b,addr=1");
	gpu_open_bridge(pci, 4 << 3, 1);
	gpu_open(&old, pci, 0, 1, 1 << 3);
	ktap_eq(gpu_cap(&old, PCI_CAP_EXPRESS), 0);
	ktap_ok(gpu_cap(&old, PCI_CAP_MSIX) != 0);
	ktap_eq(gpu_read(&old, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	qtest_stop(pci);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	q = qtest_start("-device tessera,addr=4,vram=12M");
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_run("[SYS1] PCI identification: 1234:7e55, 3D controller, no INTx",
		 test_identification);
	ktap_run("[SYS1] BARs: registers 256 KiB, local memory 64-bit prefetchable, MSI-X",
		 test_bars);
	ktap_run("[SYS1] MSI-X capability: five vectors in BAR 4", test_msix_capability);
	ktap_run("[SYS1] PCI Express capability with function-level reset",
		 test_express_capability);
	ktap_run("[SYS1] configuration-dependent registers tell the properties",
		 test_configuration);
	ktap_run("[SYS1] every register has its reset value", test_reset_values);
	ktap_run("[SYS1] every register follows its access rule", test_access_rules);
	ktap_run("[SYS1] offsets without a register read 0 and ignore writes", test_holes);
	ktap_run("[SYS1] 64-bit accesses are two words, other widths are refused", test_widths);
	ktap_run("[SYS1] the timestamp counts nanoseconds of virtual time", test_timestamp);
	ktap_run("[SYS7] CONTROL.RESET resets the registers and interrupts", test_reset_command);
	ktap_run("register accesses are traced by name", test_trace);
	ktap_run("[SYS1] the device works on a conventional PCI bus", test_conventional_bus);
	qtest_stop(q);
	return ktap_finish();
}
