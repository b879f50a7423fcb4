/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Packet checks: every reserved bit of every packet, every length, every opcode, levels, classes,
 * values; each with the exact fault record, and that nothing of the packet has happened.
 */
#include <string.h>

#include "ktap.h"
#include "stage.h"
#include "tsr_desc.h"

#define TARGET 0x4000			/* where the packets would write, in STAGE_DATA */

/* A packet that is correct at a level and in a class: what the tests break one bit of. */
struct sample {
	unsigned int qwords;
	bool ring;			/* a ring packet; else it runs in a stream */
	enum tsr_engine_class cls;
	uint64_t word[8];
};

/* A device, one queue of each class, an always empty word at TARGET. */
struct judge {
	struct stage s;
	struct bench_queue q[4];
};

static void begin(struct judge *j)
{
	stage_init(&j->s, NULL);
	for (unsigned int cls = 0; cls < 4; cls++)
		stage_queue(&j->s, &j->q[cls], cls, cls, 0);
}

static void end(struct judge *j)
{
	stage_free(&j->s);
}

/*
 * Run @words in the ring or in a stream of 2 KiB, with a NOP before it, and leave the queue as it
 * is then. Returns its address.
 */
static uint64_t run(struct judge *j, const uint64_t *words, unsigned int qwords, bool ring,
		    enum tsr_engine_class cls)
{
	struct stage_stream stream = stage_stream(&j->s, 0);
	struct bench_queue *q = &j->q[cls];
	uint64_t nop, pc;

	bench_control(q, TSR_QUEUE_OP_RESET);
	bench_enable(q, 0);
	pk_nop(&nop, 1);
	if (ring) {
		bench_emit(q, &nop, 1);
		pc = STAGE_RING + ((uint64_t)cls << 20) + q->wptr;
		bench_emit(q, words, qwords);
		/* Any length that the packet claims is below the write pointer. */
		q->wptr = 2048 + 64;
	} else {
		stage_add(&stream, &nop, 1);
		pc = stage_add(&stream, words, qwords);
		bench_call(q, stream.va, 2048 + 64);
	}
	bench_kick(q);
	ktap_ok(bench_run(j->s.b, 10));
	return pc;
}

static void check(struct judge *j, const uint64_t *words, unsigned int qwords, bool ring,
		  enum tsr_engine_class cls, enum tsr_fault code, unsigned int qword)
{
	struct bench_queue *q = &j->q[cls];
	uint64_t pc = run(j, words, qwords, ring, cls);
	uint32_t fault = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);
	uint32_t unit = bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK);

	ktap_eq(bench_state(q), TSR_QUEUE_STATE_FAULTED);
	if (bench_fault(q) != code ||
	    bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET) != pc + 8 * qword)
		ktap_fail("opcode 0x%x %016llx %s: code 0x%x, qword %lld",
			  (unsigned int)(words[0] & 0xff), (unsigned long long)words[0],
			  ring ? "ring" : "stream", bench_fault(q),
			  (long long)(bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET) - pc) / 8);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_PC__OFFSET), pc);
	ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_HEADER__OFFSET), words[0]);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_RING__MASK), ring);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_DEPTH__MASK), !ring);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_ACCESS__MASK), TSR_ACCESS_NONE);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_LEVEL__MASK), 0);
	ktap_ok(unit == TSR_UNIT_CP || (unit == TSR_UNIT_COPY && code >= TSR_FAULT_BAD_VALUE));
	ktap_eq(bench_queue_reg(q, TSR_QUEUE_FAULT_AS__OFFSET), !ring);
	ktap_eq(bench_queue_reg(q, TSR_QUEUE_FAULT_RPTR__OFFSET), ring ? 8 : 0);
	ktap_eq(bench_queue_reg(q, TSR_QUEUE_RPTR__OFFSET), ring ? 8 : 0);
	ktap_eq(bench_read64(j->s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)), 1u << cls);
	bench_write64(j->s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_FAULT), 1u << cls);
	for (unsigned int i = 0; i < 8; i++)
		ktap_eq(stage_load(&j->s, TARGET + 8 * i), 0);
}

/*
 * Correct packets, one for each opcode that is not refused, and one more for each level a packet
 * may have.
 */
static unsigned int make_samples(struct sample *list)
{
	const uint64_t va = STAGE_DATA + TARGET, stream = STAGE_STREAM + 0x4000;
	struct sample *s = list;
	uint64_t *p;

#define SAMPLE(at_ring, make) do { \
		p = s->word; \
		s->qwords = (make); \
		s->ring = (at_ring); \
		s->cls = TSR_ENGINE_CLASS_COPY; \
		s++; \
	} while (0)
	for (unsigned int ring = 0; ring < 2; ring++) {
		SAMPLE(ring, pk_nop(p, 1));
		SAMPLE(ring, pk_call(p, stream, 64));
		SAMPLE(ring, pk_wait(p, TSR_COMPARE_EQ, true, va, 0));
		SAMPLE(ring, pk_signal(p, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, true, va, 1));
		SAMPLE(ring, pk_fence(p, TSR_EVENT_REACHED, false, va, 1));
		SAMPLE(ring, pk_timestamp(p, TSR_EVENT_REACHED, va));
		SAMPLE(ring, pk_barrier(p, &(struct tsr_barrier) { .wait_writes = true }));
		SAMPLE(ring, pk_counter_begin(p, 1));
		SAMPLE(ring, pk_counter_end(p, va));
		SAMPLE(ring, pk_copy(p, va, STAGE_DATA, 8));
		SAMPLE(ring, pk_fill(p, va, 8, 1));
		SAMPLE(ring, (tsr_pack_copy_rect(p, &(struct tsr_copy_rect) {
			.texel = 4, .src = STAGE_DATA, .dst = va, .src_pitch = 16, .dst_pitch = 16,
			.width = 2, .height = 2 }), TSR_COPY_RECT_QWORDS));
		SAMPLE(ring, (tsr_pack_fill_rect(p, &(struct tsr_fill_rect){ .texel = 4,
									     .dst = va,
									     .pitch = 16,
									     .width = 2,
									     .height = 2,
									     .pattern_lo = 1 }),
			      TSR_FILL_RECT_QWORDS));
	}
	SAMPLE(true, pk_wait_reg(p, TSR_COMPARE_EQ, 0, 0));
	SAMPLE(true, pk_signal_reg(p, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 0, 1));
	SAMPLE(true, pk_tlb(p, TSR_INV_OP_RANGE, 1, va, 4096));
	SAMPLE(false, pk_jump(p, stream, 64));
	SAMPLE(false, pk_return(p));
#undef SAMPLE
	return s - list;
}

/*
 * Which bits a packet defines, from its list of fields (not from the masks the device uses); opcode
 * and length are not looked at. Payload bits of FILL beyond the texel are values, not reserved
 * bits.
 */
static uint64_t defined_bits(uint64_t opcode, unsigned int qword)
{
	const struct tsr_desc_packet *desc = tsr_desc_packets[opcode];
	uint64_t bits = qword ? 0 : 0xffff;

	for (unsigned int i = 0; i < desc->num_fields; i++) {
		const struct tsr_desc_field *f = &desc->fields[i];

		if (f->qword == qword)
			bits |= (UINT64_MAX >> (63 - f->hi)) & ~((1ull << f->lo) - 1);
	}
	return bits;
}

static void reserved_bits(void)
{
	struct sample list[64];
	unsigned int n = make_samples(list), bits = 0;
	struct judge j;

	begin(&j);
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int bit = 0; bit < 64 * list[i].qwords; bit++) {
			uint64_t words[8];

			if (defined_bits(list[i].word[0] & 0xff, bit / 64) >> bit % 64 & 1)
				continue;
			memcpy(words, list[i].word, sizeof(words));
			words[bit / 64] |= 1ull << bit % 64;
			check(&j, words, list[i].qwords, list[i].ring, list[i].cls,
			      TSR_FAULT_RESERVED_BITS, bit / 64);
			bits++;
		}
	}
	ktap_note("%u reserved bits of %u packets", bits, n);
	/* NOP alone has 48 in its header, twice. */
	ktap_ok(bits > 1000);
	end(&j);
}

/* The samples themselves are all right. */
static void samples_are_fine(void)
{
	struct sample list[64];
	unsigned int n = make_samples(list);
	struct stage_stream callee;
	uint64_t p[8];
	struct judge j;

	begin(&j);
	callee = stage_stream(&j.s, 0x4000);
	stage_add(&callee, p, pk_nop(p, 8));
	for (unsigned int i = 0; i < n; i++) {
		struct bench_queue *q = &j.q[list[i].cls];

		memset(j.s.streams, 0, 0x1000);
		memset(bench_ptr(j.s.b, q->ring_bus, q->size), 0, q->size);
		run(&j, list[i].word, list[i].qwords, list[i].ring, list[i].cls);
		/*
		 * A NOP of length 0 follows, at whose header the queue faults. RETURN and JUMP do
		 * not reach it.
		 */
		if (bench_state(q) == TSR_QUEUE_STATE_FAULTED) {
			ktap_eq(bench_fault(q), TSR_FAULT_BAD_LENGTH);
			ktap_eq(bench_queue_reg64(q, TSR_QUEUE_FAULT_HEADER__OFFSET), 0);
		}
		memset(j.s.data, 0, STAGE_DATA_SIZE);
	}
	end(&j);
}

static void unknown_opcodes(void)
{
	struct judge j;
	uint64_t header;

	begin(&j);
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		if (tsr_desc_packets[opcode])
			continue;
		for (unsigned int ring = 0; ring < 2; ring++) {
			header = opcode | 1 << 8;
			check(&j, &header, 1, ring, opcode % 4, TSR_FAULT_UNKNOWN_OPCODE, 0);
			header = UINT64_MAX << 8 | opcode;
			check(&j, &header, 1, ring, opcode % 4, TSR_FAULT_UNKNOWN_OPCODE, 0);
		}
	}
	end(&j);
}

static void lengths(void)
{
	struct sample list[64];
	unsigned int n = make_samples(list);
	struct judge j;

	begin(&j);
	for (unsigned int i = 0; i < n; i++) {
		bool nop = (list[i].word[0] & 0xff) == TSR_OP_NOP;

		for (unsigned int length = 0; length < 256; length++) {
			uint64_t words[8];

			if (length == list[i].qwords || (nop && length))
				continue;
			memcpy(words, list[i].word, sizeof(words));
			words[0] = (words[0] & ~0xff00ull) | length << 8;
			check(&j, words, list[i].qwords, list[i].ring, list[i].cls,
			      TSR_FAULT_BAD_LENGTH, 0);
		}
	}
	end(&j);
}

static void levels(void)
{
	static const uint8_t ring_only[] = { TSR_OP_WAIT_REG, TSR_OP_SIGNAL_REG,
					     TSR_OP_TLB_INVALIDATE };
	static const uint8_t user_only[] = { TSR_OP_JUMP, TSR_OP_RETURN, TSR_OP_BIN, TSR_OP_RENDER,
					     TSR_OP_DISPATCH };
	struct sample list[64];
	unsigned int n = make_samples(list);
	struct judge j;
	uint64_t p[8] = { 0 };

	begin(&j);
	for (unsigned int i = 0; i < n; i++) {
		if (memchr(ring_only, list[i].word[0] & 0xff, sizeof(ring_only)) ||
		    memchr(user_only, list[i].word[0] & 0xff, sizeof(user_only)))
			check(&j, list[i].word, list[i].qwords, !list[i].ring, list[i].cls,
			      TSR_FAULT_PRIVILEGE, 0);
	}
	for (unsigned int i = 0; i < sizeof(user_only); i++) {
		if (user_only[i] < TSR_OP_BIN)
			continue;
		p[0] = user_only[i] | 4 << 8;
		check(&j, p, 4, true, TSR_ENGINE_CLASS_COPY, TSR_FAULT_PRIVILEGE, 0);
	}
	/* The interrupt is the ring's, also when other bits are wrong that come later. */
	pk_fence(p, TSR_EVENT_REACHED, true, STAGE_DATA + TARGET + 4, 1);
	check(&j, p, 3, false, TSR_ENGINE_CLASS_COPY, TSR_FAULT_PRIVILEGE, 0);
	end(&j);
}

/* Engine commands belong to one class. */
static void classes(void)
{
	static const struct {
		uint8_t opcode, qwords, cls;
	} command[] = {
		{ TSR_OP_COPY_LINEAR, 4, TSR_ENGINE_CLASS_COPY },
		{ TSR_OP_COPY_RECT, 6, TSR_ENGINE_CLASS_COPY },
		{ TSR_OP_FILL_LINEAR, 5, TSR_ENGINE_CLASS_COPY },
		{ TSR_OP_FILL_RECT, 6, TSR_ENGINE_CLASS_COPY },
		{ TSR_OP_BIN, 4, TSR_ENGINE_CLASS_BIN },
		{ TSR_OP_RENDER, 4, TSR_ENGINE_CLASS_RENDER },
		{ TSR_OP_DISPATCH, 4, TSR_ENGINE_CLASS_COMPUTE },
		{ TSR_OP_DISPATCH_INDIRECT, 3, TSR_ENGINE_CLASS_COMPUTE },
	};
	struct judge j;

	begin(&j);
	for (unsigned int i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
		for (unsigned int cls = 0; cls < 4; cls++) {
			uint64_t p[8] = { command[i].opcode | command[i].qwords << 8 };

			if (cls != command[i].cls)
				check(&j, p, 8, false, cls, TSR_FAULT_WRONG_CLASS, 0);
		}
	}
	end(&j);
}

/* Values of the command processor's own packets. Those of the engine have tests of their own. */
static void values(void)
{
	const uint64_t va = STAGE_DATA + TARGET, stream = STAGE_STREAM + 0x4000;
	struct judge j;
	uint64_t p[8];

	begin(&j);
#define WRONG(at_ring, make, code, qword) do { \
		unsigned int n = (make); \
		check(&j, p, n, at_ring, TSR_ENGINE_CLASS_RENDER, TSR_FAULT_##code, qword); \
	} while (0)
	for (unsigned int ring = 0; ring < 2; ring++) {
		WRONG(ring, pk_call(p, stream + 32, 64), ALIGNMENT, 1);
		WRONG(ring, pk_call(p, stream + 1, 0), ALIGNMENT, 1);
		WRONG(ring, pk_call(p, stream, 0), BAD_VALUE, 2);
		WRONG(ring, pk_call(p, stream, TSR_STREAM_SIZE_MAX + 8), BAD_VALUE, 2);
		WRONG(ring, pk_call(p, stream, 60), ALIGNMENT, 2);
		WRONG(ring, pk_wait(p, 3, true, va, 0), BAD_VALUE, 0);
		WRONG(ring, pk_wait(p, 0, true, va + 4, 0), ALIGNMENT, 1);
		WRONG(ring, pk_wait(p, 0, false, va + 2, 0), ALIGNMENT, 1);
		WRONG(ring, pk_wait(p, 0, false, va, 1ull << 32), BAD_VALUE, 2);
		WRONG(ring, pk_signal(p, 0, 0, true, va + 4, 1), ALIGNMENT, 1);
		WRONG(ring, pk_signal(p, 1, 3, false, va + 1, 1), ALIGNMENT, 1);
		WRONG(ring, pk_signal(p, 0, 0, false, va, 1ull << 63), BAD_VALUE, 2);
		WRONG(ring, pk_fence(p, 2, false, va + 4, 1), ALIGNMENT, 1);
		WRONG(ring, pk_timestamp(p, 0, va + 4), ALIGNMENT, 1);
		WRONG(ring, pk_counter_end(p, va + 1), ALIGNMENT, 1);
	}
	WRONG(false, pk_jump(p, stream + 8, 64), ALIGNMENT, 1);
	WRONG(false, pk_jump(p, stream, 0), BAD_VALUE, 2);
	WRONG(false, pk_jump(p, stream, 12), ALIGNMENT, 2);
	WRONG(true, pk_wait_reg(p, 3, 0, 0), BAD_VALUE, 0);
	WRONG(true, pk_wait_reg(p, 0, TSR_SEMAPHORES_MAX, 0), BAD_VALUE, 0);
	WRONG(true, pk_signal_reg(p, 0, 0, 0xffff, 0), BAD_VALUE, 0);
	WRONG(true, pk_tlb(p, 3, 0, 0, 0), BAD_VALUE, 0);
	WRONG(true, pk_tlb(p, TSR_INV_OP_ALL, TSR_ADDRESS_SPACES_MAX, 0, 0), BAD_VALUE, 0);
	WRONG(true, pk_tlb(p, TSR_INV_OP_ALL, 1, 4096, 0), BAD_VALUE, 1);
	WRONG(true, pk_tlb(p, TSR_INV_OP_ALL, 1, 0, 1), BAD_VALUE, 2);
	WRONG(true, pk_tlb(p, TSR_INV_OP_NONE, 1, 1, 1), BAD_VALUE, 1);
#undef WRONG
	end(&j);
}

/*
 * The order of the checks: a packet wrong in all ways shows the first, then the next as each is put
 * right.
 */
static void order(void)
{
	uint64_t p[255] = { 0x7f };
	struct judge j;

	begin(&j);
	check(&j, p, 8, false, TSR_ENGINE_CLASS_BIN, TSR_FAULT_UNKNOWN_OPCODE, 0);
	p[0] = TSR_OP_TLB_INVALIDATE | 9 << 8 | 3 << 16 | 1ull << 63;
	p[1] = 1;
	check(&j, p, 8, false, TSR_ENGINE_CLASS_BIN, TSR_FAULT_BAD_LENGTH, 0);
	p[0] = TSR_OP_TLB_INVALIDATE | 3 << 8 | 3 << 16 | 1ull << 63;
	check(&j, p, 8, false, TSR_ENGINE_CLASS_BIN, TSR_FAULT_PRIVILEGE, 0);
	check(&j, p, 8, true, TSR_ENGINE_CLASS_BIN, TSR_FAULT_RESERVED_BITS, 0);
	p[0] &= ~(1ull << 63);
	check(&j, p, 8, true, TSR_ENGINE_CLASS_BIN, TSR_FAULT_BAD_VALUE, 0);
	p[0] = TSR_OP_RENDER | 4 << 8 | 1ull << 16;
	check(&j, p, 8, true, TSR_ENGINE_CLASS_BIN, TSR_FAULT_PRIVILEGE, 0);
	check(&j, p, 8, false, TSR_ENGINE_CLASS_BIN, TSR_FAULT_WRONG_CLASS, 0);
	check(&j, p, 8, false, TSR_ENGINE_CLASS_RENDER, TSR_FAULT_RESERVED_BITS, 0);
	end(&j);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP3] one correct packet of each kind", samples_are_fine);
	ktap_run("[CP3] every reserved bit of every packet faults", reserved_bits);
	ktap_run("[CP3] every opcode that is not defined faults", unknown_opcodes);
	ktap_run("[CP3] every wrong length of every packet faults", lengths);
	ktap_run(
		"[CP3] [SYS6] ring packets and fields fault in streams, stream packets in the ring",
		levels);
	ktap_run("[CP3] engine commands of another class", classes);
	ktap_run("[CP3] values out of range and addresses out of line", values);
	ktap_run("[CP3] the order of the checks", order);
	return ktap_finish();
}
