/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=300 */
/*
 * Memory of the host: what a queue keeps of a command that is half done and not on its engine has
 * the bound TSR_SLOT_BYTES, whatever the guest has made of it. All slots but one are suspended in
 * the midst of the worst that we know: programs that never end and fill every warp, with as much
 * shared memory as there is and messages that are stored, frames with as many tiles as the heap has
 * room for, tile buffers that are full, with many states and programs at hand. The two that have
 * been suspended last stay next to their engine, as they are. Counted in bytes that are allocated.
 */
#include "allocated.h"
#include "endless.h"
#include "device/gpu.h"
#include "ktap.h"
#include "tiles.h"

#define AT(offset) (BINNER_FRAME + (offset))
#define PROGRAM AT(0x4000)		/* SHADER_PROGRAM */
#define STATE AT(0x4100)		/* COMPUTE_STATE */
#define PUSH AT(0x4200)
#define BLENDS AT(0x4300)
#define SHORT AT(0x4340)			/* SHADER_PROGRAM of one that ends */
#define BIN_FRAME AT(0x4400)
#define DISPATCH AT(0x4500)
#define BIN AT(0x4580)
#define GEOMETRY AT(0x4600)
#define HEADER AT(0x4680)
#define CODE AT(0x5000)
#define SHORT_CODE AT(0x5800)
#define STATES 20

/* A clause that writes two registers: a program of 32 has all of them to keep. */
#define WRITES(a, b) \
	"clause {\n	*MOV.i32 r" #a ", u0.w0\n	+MOV.i32 r" #b ", u0.w1\n" \
	"	*NOP\n	+NOP\n}\n"

static uint64_t *words(struct tiles *t, uint64_t va)
{
	return (uint64_t *)(void *)(t->f->list + (va - BINNER_LIST));
}

/* A program without an end, which is that of all stages, and what refers to it. */
static void programs(struct tiles *t)
{
	static const char text[] =
		"clause wait=0,6 {\n	*MOV.i32 r8, u0.w0\n	+MOV.i32 r9, u0.w1\n"
		"	*NOP\n	+NOP\n}\n"
		WRITES(0, 1) WRITES(2, 3) WRITES(4, 5) WRITES(6, 7) WRITES(10, 11)
		WRITES(12, 13) WRITES(14, 15)
		"clause slot=0 wait=0 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"clause slot=1 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"clause slot=2 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"clause slot=3 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"clause slot=4 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"clause slot=5 {\n	*NOP\n	+LOAD.i128 r8, r9, @r4\n}\n"
		"loop: clause flow=nbtb_unconditional { +JUMP loop }\n";

	tiles_program(t, CODE, text);
	tiles_program(t, SHORT_CODE, TILES_FINISH);
	tsr_pack_shader_program(words(t, SHORT), &(struct tsr_shader_program){
		.code = SHORT_CODE });
	*words(t, PUSH) = BINNER_DATA;
	tsr_pack_shader_program(words(t, PROGRAM), &(struct tsr_shader_program){
		.code = CODE, .push = PUSH, .push_words = 2, .header = HEADER });
	tsr_pack_stage_header(words(t, HEADER), &(struct tsr_stage_header){
		.omap_0 = UINT64_MAX, .threads = 32, .input = 2, .max_vertices = 16 });
	tsr_pack_geometry_state(words(t, GEOMETRY), &(struct tsr_geometry_state){
		.hull = PROGRAM, .domain = PROGRAM, .geometry = PROGRAM, .patch_points = 1,
		.primitives = 2 });
	tsr_pack_blend(words(t, BLENDS), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA32F << 12 });
	tsr_pack_compute_state(words(t, STATE), &(struct tsr_compute_state){
		.code = CODE, .local_x = 1024, .local_y = 1, .local_z = 1,
		.group_memory = 32768, .push = PUSH, .push_words = 2 });
	tsr_pack_dispatch(words(t, DISPATCH), &(struct tsr_dispatch){
		.state = STATE, .groups_x = TSR_GROUPS_MAX, .groups_y = 1, .groups_z = 1 });
}

/* A frame of sixteen tiles that are as large as they can be, and fill the tile buffer. */
static struct tiles *scene(const struct tsr_config *config)
{
	struct tiles *t = tiles_new(256, 256, config);
	struct tsr_frame large;

	t->f->frame.tile_shift = TSR_TILE_SHIFT_MAX;
	t->f->frame.targets = 2;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32F, 16);
	tiles_target(t, 1, TSR_PIXEL_FORMAT_RGBA32F, 16);
	_Static_assert(40u << 2 * TSR_TILE_SHIFT_MAX <= TSR_TILE_BUFFER_BYTES &&
		       56u << 2 * TSR_TILE_SHIFT_MAX > TSR_TILE_BUFFER_BYTES, "most targets");
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	programs(t);
	t->f->frame.heap_size = BINNER_HEAP_SIZE / 4;
	t->f->position = endless_corner;
	t->f->shader = (struct tsr_shader_state){ .position = PROGRAM, .fragment = PROGRAM };
	t->f->draw.blends = BLENDS;
	t->f->draw.blend_count = 1;
	binner_again(t->f);
	for (unsigned int i = 0; i < STATES; i++) {
		t->f->shader.fragment = i + 1 < STATES ? SHORT : PROGRAM;
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * 200);
	}
	ktap_ok(binner_bin(t->f));
	/* what BIN is suspended in has all stages */
	t->f->list_bytes = 0;
	t->f->shader.geometry = GEOMETRY;
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_PATCHES, 200);
	binner_packet(t->f, (uint64_t[]){ TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8 }, 1);
	large = t->f->frame;
	large.heap = BINNER_HEAP + BINNER_HEAP_SIZE / 4;
	large.heap_size = BINNER_HEAP_SIZE * 3 / 4;
	large.width = 8192;
	large.height = 4096;
	large.tile_shift = TSR_TILE_SHIFT_MIN;
	tsr_pack_frame(words(t, BIN_FRAME), &large);
	tsr_pack_bin(words(t, BIN), &(struct tsr_bin){
		.list = BINNER_LIST, .size = t->f->list_bytes, .frame = BIN_FRAME });
	return t;
}

/* Begin, and stop in the midst of it. */
static void half_done(struct tiles *t, struct bench_queue *q, enum tsr_engine_class cls)
{
	switch (cls) {
	case TSR_ENGINE_CLASS_BIN:
		bench_call(q, BIN, TSR_BIN_QWORDS * 8);
		break;
	case TSR_ENGINE_CLASS_COMPUTE:
		bench_call(q, DISPATCH, TSR_DISPATCH_QWORDS * 8);
		break;
	default:
		t->queue = *q;
		tiles_submit(t);
		*q = t->queue;
		break;
	}
	bench_kick(q);
	for (unsigned int i = 0; i < 8 * t->f->b->config.cores; i++)
		tsr_gpu_run(t->f->b->gpu, 30000);
	bench_control(q, TSR_QUEUE_OP_SUSPEND);
	if (!ktap_eq(bench_state(q), TSR_QUEUE_STATE_SUSPENDED))
		ktap_note("class %u: fault %u at %llx", cls, bench_fault(q),
			  (unsigned long long)bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET));
}

static void test_slots(unsigned int cores, unsigned int count)
{
	static const enum tsr_engine_class classes[] = {
		TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER, TSR_ENGINE_CLASS_COMPUTE,
	};
	/* a deterministic device has as many contexts as cores, like one with as many threads */
	const struct tsr_config config = {
		.cores = cores, .late_messages = true, .no_inline = true, .deterministic = true,
	};
	struct tiles *t = scene(&config);
	size_t most[4] = { 0 }, before = 0, first = 0;

	for (unsigned int i = 0; i < count; i++) {
		const enum tsr_engine_class cls = classes[i % 3];
		struct bench_queue q;

		bench_queue_init(&q, i + 1, cls, TSR_PRIORITY_NORMAL, &t->f->as,
				 TILES_RING + 0x10000 * (i + 1), 12, &t->f->as);
		before = allocated();
		half_done(t, &q, cls);
		/*
		 * The first queue of each class allocates the memory of the thread, too, and two
		 * are next to their engine. From the fourth on, the one two before it is evicted.
		 */
		if (i >= 9 && allocated() > before && allocated() - before > most[cls])
			most[cls] = allocated() - before;
		first = i == 8 ? allocated() : first;
	}
	ktap_note("%u cores: KiB of a slot in BIN %zu, RENDER %zu, COMPUTE %zu", cores,
		  most[TSR_ENGINE_CLASS_BIN] >> 10, most[TSR_ENGINE_CLASS_RENDER] >> 10,
		  most[TSR_ENGINE_CLASS_COMPUTE] >> 10);
	for (unsigned int i = 0; i < 3; i++)
		ktap_ok(most[classes[i]] && most[classes[i]] <= TSR_SLOT_BYTES(cores));
	ktap_ok(allocated() - first <= (count - 9) * (uint64_t)TSR_SLOT_BYTES(cores));
	tiles_free(t);
}

static void test_all(void)
{
	test_slots(1, TSR_QUEUES_MAX - 1);
}

static void test_cores(void)
{
	test_slots(2, 18);
	test_slots(8, 12);
	test_slots(16, 12);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("slots in the midst of the worst there is", test_all);
	ktap_run("and so with more cores", test_cores);
	return ktap_finish();
}
