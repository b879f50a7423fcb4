// SPDX-License-Identifier: MIT
/*
 * Device core dumps of the kernel driver: <drm/tessera_dump.h> says how they are laid out. Nothing
 * in a file is believed: sections are cut where the file ends, elements may be longer or shorter
 * than known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <drm/tessera_dump.h>

#include <tessera/decode.h>
#include "tsr_desc.h"

/* A dump as it is printed. */
struct dump {
	FILE *out;
	struct tessera_dump_header header;
	struct tessera_dump_job job;
	unsigned long errors;
};

static const char *name_of(const char *which, uint32_t value)
{
	const struct tsr_desc_enum *e = tsr_desc_find_enum(which);
	uint32_t i;

	for (i = 0; e && i < e->num_values; i++) {
		if (e->values[i].value == value)
			return e->values[i].name;
	}
	return "unknown";
}

/* Element @i of a section, truncated or zero-extended to the known size. False after the last. */
static bool element(const struct tessera_dump_section *section, const uint8_t *bytes, uint64_t i,
		    void *out, size_t known)
{
	if (section->stride < 4 || i >= section->size / section->stride)
		return false;
	memset(out, 0, known);
	memcpy(out, bytes + i * section->stride,
	       section->stride < known ? section->stride : known);
	return true;
}

static void print_job(struct dump *dump, const struct tessera_dump_section *section,
		      const uint8_t *bytes)
{
	struct tessera_dump_job *job = &dump->job;

	if (!element(section, bytes, 0, job, sizeof(*job)))
		return;
	fprintf(dump->out, "job %" PRIu64 " of queue %u: %s, slot %u, address space %u, error %s\n",
		(uint64_t)job->seqno, job->queue_id, name_of("ENGINE_CLASS", job->engine_class),
		job->slot, job->address_space, strerrorname_np((int)job->error) ?: "unknown");
	fprintf(dump->out, "  jobs up to %" PRIu64 " were done, the write pointer was 0x%x\n",
		(uint64_t)job->done, job->wptr);
	if (job->fault_code)
		fprintf(dump->out, "  fault %s at 0x%" PRIx64 ", packet at 0x%" PRIx64 "\n",
			name_of("FAULT", job->fault_code), (uint64_t)job->fault_va,
			(uint64_t)job->fault_packet_va);
}

static void print_registers(struct dump *dump, const struct tessera_dump_section *section,
			    const uint8_t *bytes)
{
	uint64_t count = section->stride ? section->size / section->stride : 0, i;
	struct tsr_decode_register *words = calloc(count ? count : 1, sizeof(*words));
	struct tessera_dump_register reg;

	if (!words) {
		dump->errors++;
		return;
	}
	for (i = 0; element(section, bytes, i, &reg, sizeof(reg)); i++) {
		words[i].offset = reg.offset;
		words[i].value = reg.value;
	}
	fputs("registers:\n", dump->out);
	dump->errors += tsr_decode_registers(dump->out, words, i, 0);
	free(words);
}

/* Words of a dump are not what the decoder complains about: the job did fail. */
static void print_stream(struct dump *dump, const struct tessera_dump_section *section,
			 const uint8_t *bytes, bool ring)
{
	const struct tsr_decode_options options = {
		.base = section->address,
		.flags = ring ? TSR_DECODE_RING : 0,
		.engine_class = ring ? TSR_DECODE_ANY_CLASS : (int)dump->job.engine_class,
	};

	fprintf(dump->out, "%s at 0x%" PRIx64 ":\n", ring ? "ring" : "stream",
		(uint64_t)section->address);
	tsr_decode_stream(dump->out, bytes, section->size, &options);
}

static void print_mappings(struct dump *dump, const struct tessera_dump_section *section,
			   const uint8_t *bytes)
{
	struct tessera_dump_mapping map;
	uint64_t i;

	fputs("mappings:\n", dump->out);
	for (i = 0; element(section, bytes, i, &map, sizeof(map)); i++) {
		fprintf(dump->out, "  0x%012" PRIx64 "-0x%012" PRIx64 " bits 0x%" PRIx64,
			(uint64_t)map.va, (uint64_t)(map.va + map.size), (uint64_t)map.entry_bits);
		if (map.bo_size)
			fprintf(dump->out, " offset 0x%" PRIx64 " of a BO of 0x%" PRIx64,
				(uint64_t)map.bo_offset, (uint64_t)map.bo_size);
		fputc('\n', dump->out);
	}
}

/* The instruction and the thread, if a program was at fault. */
static void print_queue(struct dump *dump, const struct tessera_dump_section *section,
			const uint8_t *bytes)
{
	struct drm_tessera_queue_get_state state;

	if (!element(section, bytes, 0, &state, sizeof(state)))
		return;
	fprintf(dump->out, "queue %u: %" PRIu64 " jobs completed, affected by %u resets\n",
		state.queue_id, (uint64_t)state.jobs_completed, state.reset_count);
	if (state.fault_flags & DRM_TESSERA_QUEUE_FAULT_PROGRAM)
		fprintf(dump->out, "  program: clause 0x%" PRIx64 " tuple %u %s, lane %u of warp %u"
			" of group %u,%u,%u on core %u\n", (uint64_t)state.fault_clause_va,
			state.fault_tuple,
			state.fault_flags & DRM_TESSERA_QUEUE_FAULT_ADD ? "ADD" : "FMA",
			state.fault_lane, state.fault_warp, state.fault_group[0],
			state.fault_group[1], state.fault_group[2], state.fault_core);
}

static void print_faults(struct dump *dump, const struct tessera_dump_section *section,
			 const uint8_t *bytes)
{
	static const char * const reasons[] = {
		[DRM_TESSERA_FAULT_NOT_MAPPED] = "not mapped",
		[DRM_TESSERA_FAULT_PERMISSION] = "not permitted",
		[DRM_TESSERA_FAULT_PAGE_TABLE] = "malformed entry",
		[DRM_TESSERA_FAULT_WALK_BUS] = "page table out of reach",
		[DRM_TESSERA_FAULT_BUS] = "refused by the bus",
		[DRM_TESSERA_FAULT_ADDRESS] = "beyond the MMU",
	};
	struct drm_tessera_fault fault;
	uint64_t i;

	fputs("faults of the VM:\n", dump->out);
	for (i = 0; element(section, bytes, i, &fault, sizeof(fault)); i++) {
		const char *reason = fault.reason < sizeof(reasons) / sizeof(reasons[0]) ?
				     reasons[fault.reason] : "unknown";
		const char *access = fault.access == DRM_TESSERA_BIND_WRITE ? "write" :
				     fault.access == DRM_TESSERA_BIND_EXEC ? "execute" : "read";

		fprintf(dump->out, "  %" PRIu64 ".%09" PRIu64 " s queue %u: %s of 0x%" PRIx64
			": %s, level %u\n", (uint64_t)(fault.timestamp_ns / 1000000000),
			(uint64_t)(fault.timestamp_ns % 1000000000), fault.queue_id, access,
			(uint64_t)fault.va, reason, fault.level);
	}
}

static void print_section(struct dump *dump, const struct tessera_dump_section *section,
			  const uint8_t *bytes)
{
	switch (section->type) {
	case TESSERA_DUMP_JOB:
		print_job(dump, section, bytes);
		break;
	case TESSERA_DUMP_REGISTERS:
		print_registers(dump, section, bytes);
		break;
	case TESSERA_DUMP_RING:
	case TESSERA_DUMP_STREAM:
		print_stream(dump, section, bytes, section->type == TESSERA_DUMP_RING);
		break;
	case TESSERA_DUMP_MAPPINGS:
		print_mappings(dump, section, bytes);
		break;
	case TESSERA_DUMP_QUEUE:
		print_queue(dump, section, bytes);
		break;
	case TESSERA_DUMP_FAULTS:
		print_faults(dump, section, bytes);
		break;
	default:
		fprintf(dump->out, "section of unknown type %u, %" PRIu64 " bytes\n", section->type,
			(uint64_t)section->size);
	}
}

/* Every section that is in the file, the last one as far as it is. */
static void print_sections(struct dump *dump, const uint8_t *bytes, size_t size)
{
	struct tessera_dump_section section;
	size_t at = sizeof(dump->header);

	while (size - at >= sizeof(section)) {
		memcpy(&section, bytes + at, sizeof(section));
		at += sizeof(section);
		if (section.size > size - at) {
			fprintf(dump->out, "error: a section of %" PRIu64 " bytes is cut off\n",
				(uint64_t)section.size);
			dump->errors++;
			section.size = size - at;
		}
		print_section(dump, &section, bytes + at);
		section.size = (section.size + 7) & ~7ULL;
		at += section.size < size - at ? section.size : size - at;
	}
	if (at != size) {
		fputs("error: bytes behind the last section\n", dump->out);
		dump->errors++;
	}
}

unsigned long tsr_decode_dump(FILE *out, const void *bytes, size_t size)
{
	struct dump dump = { .out = out };

	if (size < sizeof(dump.header))
		return 1;
	memcpy(&dump.header, bytes, sizeof(dump.header));
	if (dump.header.magic != TESSERA_DUMP_MAGIC || dump.header.version != TESSERA_DUMP_VERSION)
		return 1;

	fprintf(out, "dump of hardware %u.%u, taken at %" PRIu64 ".%09" PRIu64 " s%s\n",
		dump.header.hw_version >> 16, dump.header.hw_version & 0xffff,
		(uint64_t)(dump.header.time_ns / 1000000000),
		(uint64_t)(dump.header.time_ns % 1000000000),
		dump.header.flags & TESSERA_DUMP_TRUNCATED ? ", not everything fitted" : "");
	if (dump.header.size != size) {
		fprintf(out, "error: the dump has %zu bytes, it says %" PRIu64 "\n", size,
			(uint64_t)dump.header.size);
		dump.errors++;
	}
	print_sections(&dump, bytes, size);
	return dump.errors;
}
