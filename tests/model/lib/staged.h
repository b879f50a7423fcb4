/* SPDX-License-Identifier: MIT */
/*
 * Draws with GEOMETRY: a machine with a BIN and a RENDER queue, shaders of all stages, a control
 * list that a test fills packet by packet.
 *
 *   staged_start(NULL);
 *   staged_shader(STAGED_VERTEX, text); … staged.geometry.entries = …;
 *   staged_states(); staged_draw(…); ktap_ok(staged_bin());
 *
 * There is one machine, `staged`. Attributes 0 and 1 of vertex n are the eight words from
 * staged_vertex(n) on.
 */
#ifndef TSR_STAGED_H
#define TSR_STAGED_H

#include "bench.h"
#include "device/gpu.h"

#define STAGED_WIDTH 64
#define STAGED_HEIGHT 48
#define STAGED_VERTICES 2048u
#define STAGED_DATA 0x10000000ull		/* read and write; vertices come first */
#define STAGED_INDICES (STAGED_DATA + 0x20000)
#define STAGED_QUERIES (STAGED_DATA + 0x28000)
#define STAGED_COUNTERS (STAGED_DATA + 0x29000)
#define STAGED_FREE (STAGED_DATA + 0x30000)
#define STAGED_OUT (STAGED_DATA + 0x80000)
#define STAGED_OUT_SIZE 0x100000u
#define STAGED_DATA_SIZE 0x180000u
#define STAGED_LIST 0x20000000ull		/* read and execute */
#define STAGED_LIST_SIZE 0x40000
#define STAGED_HEAP 0x40000000ull
#define STAGED_HEAP_SIZE (8u << 20)
#define STAGED_TARGET 0x60000000ull
#define STAGED_TARGET_BYTES (STAGED_WIDTH * STAGED_HEIGHT * 16)

enum staged_stage { STAGED_VERTEX, STAGED_HULL, STAGED_DOMAIN, STAGED_GEOMETRY, STAGED_STAGES };

/* Offsets from STAGED_LIST. */
enum {
	STAGED_AT_FRAME = 0, STAGED_AT_TARGET = 0x100, STAGED_AT_SHADER = 0x200,
	STAGED_AT_DRAW = 0x280, STAGED_AT_VIEWPORT = 0x300, STAGED_AT_BLEND = 0x340,
	STAGED_AT_FRAGMENT = 0x400, STAGED_AT_TABLES = 0x600, STAGED_AT_GEOMETRY = 0x800,
	STAGED_AT_PROGRAM = 0x900,	/* of each stage, 0x80 bytes */
	STAGED_AT_HEADER = 0xc00,	/* likewise */
	STAGED_AT_PUSH = 0xf00, STAGED_AT_TARGETS = 0xf80,
	STAGED_AT_ENTRIES = 0x1000, STAGED_AT_BIN_LIST = 0x2000, STAGED_AT_TILE_LIST = 0x6000,
	STAGED_AT_RENDER_LIST = 0x6100, STAGED_AT_STREAM = 0x6200,
	STAGED_AT_FRAGMENT_CODE = 0x7000,
	STAGED_AT_CODE = 0x8000,	/* of each stage, 0x8000 bytes */
};

enum { STAGED_BIN, STAGED_RENDER };

/* A clause with one message, which the next one waits for. */
#define STAGED_MESSAGE(text) "clause wait=0 {\n*NOP\n+" text "\n}\n"
/* Words from stage I/O memory to registers and back. @word is a stage word. */
#define STAGED_ALD(size, word, registers) \
	STAGED_MESSAGE("ALD" size " r63, r63, " word ", @" registers)
#define STAGED_AST(size, word, registers) \
	STAGED_MESSAGE("AST" size " r63, r63, " word ", @" registers)
#define STAGED_END "clause end wait=0 {\n*NOP\n+NOP\n}\n"

extern struct staged {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[2];
	uint8_t *data, *list, *heap, *target;
	/* Packets that staged_states() writes. */
	struct tsr_frame frame;
	struct tsr_shader_state shader;
	struct tsr_draw_state draw;
	struct tsr_geometry_state geometry;
	struct tsr_stage_header header[STAGED_STAGES];
	struct tsr_stream_entry entry[TSR_STREAM_OUT_ENTRIES_MAX];
	struct tsr_stream_target place[TSR_STREAM_OUT_TARGETS];
	uint32_t push[16];
	/* The list. */
	uint32_t list_bytes, last;	/* offset of the last packet */
	bool slow, reloads;		/* work() in small steps; snapshots are loaded meanwhile */
	uint32_t steps;
} staged;

/* An empty machine: all words mapped, a vertex shader that hands both attributes on. */
void staged_start(const struct tsr_config *config);
void staged_stop(void);
/* The shader of a stage; NULL: there is none. */
void staged_shader(enum staged_stage stage, const char *text);
/* The fragment shader, which else shows 0x80 to 0x8f of the vertices. */
void staged_fragment(const char *text);
/* Write all states, begin a list with them. */
void staged_states(void);
/* At STAGED_LIST + @offset. */
uint64_t *staged_at(unsigned int offset);
/* The memory at @va of STAGED_DATA. */
void *staged_data(uint64_t va);
uint32_t *staged_vertex(unsigned int n);
/* Add packets. */
void staged_packet(const uint64_t *word, unsigned int qwords);
void staged_draw(unsigned int topology, uint32_t count);
void staged_stream_out(bool on);
void staged_query(enum tsr_query kind, unsigned int stream, uint64_t va);
/* Have the list executed; false: it is at fault. */
bool staged_bin(void);
/* Have it executed for @patience ns of processor time; false: it has not ended, and is reset. */
bool staged_bin_ends(uint64_t patience);
/* Have it begun: stop_work_check() of it, which see. */
void staged_stop_work(const char *what, bool endless);
bool staged_render(void);
uint64_t staged_counter(enum tsr_queue_counter id);
/* A 64-bit word of STAGED_DATA. */
uint64_t staged_word(uint64_t va);
/* Floats of 0 to 1 and the like. */
uint32_t staged_bits(float f);

/*
 * Memory of the guest as the last staged_bin() has left it: data, and the heap as far as it is
 * used. Compares with what it was at the last call with @take.
 */
bool staged_same(bool take);

#endif
