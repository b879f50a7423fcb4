// SPDX-License-Identifier: MIT
#include "gt.h"

#include "world.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <drm.h>
#include <drm/tessera_drm.h>

#include "kernel_table.h"

/* ---- Choices --------------------------------------------------------------------------------- */

/* Values that upset arithmetic. */
static const uint64_t odd[] = {
	0, 1, 3, 7, 8, 63, 64, 0xfff, 0x1000, 0x1001, 0x1fffff, INT32_MAX, 1ULL << 31, UINT32_MAX,
	1ULL << 32, 1ULL << 47, 1ULL << 57, INT64_MAX, 1ULL << 63, UINT64_MAX - 0xfff, UINT64_MAX,
};

uint8_t choose(struct world *w)
{
	return w->choices < CHOICE_BYTES ? w->call->choice[w->choices++] : 0;
}

/* One byte in 25 asks for a value that does not belong there. */
#define ODD 246

static uint64_t odd_value(struct world *w)
{
	return odd[choose(w) % COUNT(odd)];
}

uint32_t choose_resource(struct world *w, enum resource kind, int *index)
{
	const uint8_t c = choose(w);
	unsigned int known = w->resources[kind];

	*index = -1;
	if (c >= ODD)
		return odd_value(w);
	if (!known || c >= 240)
		return 0;
	if (known > WORLD_RESOURCES)
		known = WORLD_RESOURCES;
	/* the newest first */
	*index = (w->resources[kind] - 1 - c % known) % WORLD_RESOURCES;
	return w->resource[kind][*index];
}

int keep_resource(struct world *w, enum resource kind, uint32_t value)
{
	const int index = w->resources[kind]++ % WORLD_RESOURCES;

	w->resource[kind][index] = value;
	return index;
}

static uint64_t choose_set(struct world *w, const struct field *f)
{
	const uint8_t c = choose(w);
	uint64_t value = 0;

	if (c < 192)
		return f->values[c % f->count];
	for (unsigned int i = 0, bits = choose(w); i < f->count; i++)
		value |= bits >> i & 1 ? f->values[i] : 0;
	return value;
}

/* ---- Structures ------------------------------------------------------------------------------ */

static void store(void *at, unsigned int bits, uint64_t value)
{
	memcpy(at, &value, bits / 8);	/* x86-64 is little-endian */
}

__attribute__((format(printf, 2, 3)))
void say(struct world *w, const char *format, ...)
{
	va_list args;

	if (!w->text)
		return;
	va_start(args, format);
	vfprintf(w->text, format, args);
	va_end(args);
}

static void fill(struct world *w, const struct type *type, uint8_t *at);

/* Elements of arrays are structures or numbers; the arguments of ioctls are structures. */
static bool is_struct(const struct type *type)
{
	return type->fields > 1;
}

static void fill_array(struct world *w, const struct field *f, uint8_t *at)
{
	const struct type *element = &types[f->type];
	const uint8_t c = choose(w);
	struct drm_tessera_array array = { .count = c % 4, .stride = element->size };
	uint8_t *memory = take_memory(w, (size_t)array.count * element->size);
	const uint32_t count = memory ? array.count : 0;

	say(w, "{ .ptr = (uintptr_t)(%s%s[]){ ", is_struct(element) ? "struct " : "",
	    is_struct(element) ? element->name : element->size == 8 ? "uint64_t" : "uint32_t");
	for (uint32_t i = 0; i < count; i++) {
		fill(w, element, memory + i * element->size);
		say(w, "%s", is_struct(element) ? ", " : "");
	}
	array.ptr = (uintptr_t)memory;
	array.count = c >= ODD ? (uint32_t)odd_value(w) : count;
	if (c == 255)
		array.stride = odd_value(w);
	say(w, "%s}, .count = 0x%x, .stride = %u }",
	    count ? "" : is_struct(element) ? "{ 0 } " : "0 ", array.count, array.stride);
	memcpy(at, &array, sizeof(array));
}

static uint64_t scalar(struct world *w, const struct field *f)
{
	uint8_t c;

	switch (f->kind) {
	case FIELD_CONST:
		return choose(w) >= ODD ? odd_value(w) : f->low;
	case FIELD_SET:
		return choose(w) >= ODD ? odd_value(w) : choose_set(w, f);
	case FIELD_INT:
		c = choose(w);
		return c >= ODD ? odd_value(w)
				: f->low + c % ((f->high - f->low) / f->step + 1) * f->step;
	case FIELD_BYTES:
		c = choose(w);
		return c >= ODD ? (uint32_t)odd_value(w) & 0xfff : c < 128 ? WORLD_BUFFER : 8 * c;
	case FIELD_BUFFER:
		return choose(w) >= ODD ? odd_value(w) : (uintptr_t)w->buffer;
	case FIELD_TEXT:
		return choose(w) >= ODD ? odd_value(w) : (uintptr_t)"fuzz";
	default:
		return 0;
	}
}

static void fill_field(struct world *w, const struct field *f, uint8_t *at)
{
	uint64_t value;
	int index = -1;

	if (f->kind == FIELD_ARRAY) {
		fill_array(w, f, at);
		say(w, ", ");
		return;
	}
	if (f->kind == FIELD_RESOURCE)
		value = choose_resource(w, f->type, &index);
	else
		value = scalar(w, f);
	if (f->bits < 64)
		value &= (1ULL << f->bits) - 1;
	if (index >= 0)
		say(w, "%s[%d], ", resource_name(f->type), index);
	else if (value && value == (uintptr_t)w->buffer)
		say(w, "(uintptr_t)buffer, ");
	else if (f->kind == FIELD_TEXT && value == (uintptr_t)"fuzz")
		say(w, "(uintptr_t)\"fuzz\", ");
	else
		say(w, "0x%llx, ", (unsigned long long)value);
	store(at, f->bits, value);
}

static void fill(struct world *w, const struct type *type, uint8_t *at)
{
	say(w, "%s", is_struct(type) ? "{ " : "");
	for (unsigned int i = 0; i < type->fields; i++) {
		const struct field *f = &type->field[i];

		if (f->kind == FIELD_PAD || f->kind == FIELD_OUT)
			continue;
		if (is_struct(type))
			say(w, ".%s = ", f->name);
		fill_field(w, f, at + f->offset);
	}
	say(w, "%s", is_struct(type) ? "}" : "");
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A BO larger than the guest would end in the OOM killer. */
static void bound_size(struct world *w, unsigned long request, void *arg)
{
	struct drm_tessera_bo_create *create = arg;

	if (request != DRM_IOCTL_TESSERA_BO_CREATE || create->size <= 0x400000 ||
	    create->size >= 1ULL << 40)
		return;
	create->size = 0x400000;
	say(w, "\targ.size = 0x400000;\n");
}

/* A job has ended when the next call is made, or not. */
static void wait_for_device(struct world *w, unsigned long request)
{
	if (request != DRM_IOCTL_TESSERA_SUBMIT || choose(w) % 2)
		return;
	say(w, "\tgt_sleep_ms(2);\n");
	gt_sleep_ms(2);
}

static void run_ioctl(struct world *w, const struct ioctl_call *call)
{
	const struct type *type = &types[call->type];
	const bool ours = strncmp(type->name, "drm_", 4) == 0;
	uint64_t arg[24] = { 0 };
	int ret;

	say(w, "\t{\n\tstruct %s arg = ", ours ? type->name : "drm_syncobj_create");
	fill(w, type, (uint8_t *)arg);
	say(w, ";\n");
	bound_size(w, call->request, arg);
	say(w, "\tCALL(0x%lx, &arg);\n", call->request);
	flush(w);
	do {
		ret = ioctl(world_file(w), call->request, arg);
	} while (ret && errno == EINTR);
	for (unsigned int i = 0; i < type->fields && !ret; i++) {
		const struct field *f = &type->field[i];
		uint32_t value;

		if (f->kind != FIELD_OUT)
			continue;
		memcpy(&value, (uint8_t *)arg + f->offset, sizeof(value));
		say(w, "\t%s[%d] = arg.%s;\n", resource_name(f->type),
		    keep_resource(w, f->type, value), f->name);
		if (f->type == RESOURCE_VM_ID)
			bind_streams(w, value);
	}
	if (!ret)
		wait_for_device(w, call->request);
	say(w, "\t}\n");
}

unsigned int calls_known(void)
{
	return COUNT(ioctls) + actions_known();
}

const char *call_name(unsigned int which)
{
	return which < COUNT(ioctls) ? ioctls[which].name : action_name(which - COUNT(ioctls));
}

static uint32_t resources_of(const struct type *type, enum field_kind kind)
{
	uint32_t found = 0;

	for (unsigned int i = 0; i < type->fields; i++) {
		const struct field *f = &type->field[i];

		if (f->kind == kind)
			found |= 1u << f->type;
		else if (f->kind == FIELD_ARRAY)
			found |= resources_of(&types[f->type], kind);
	}
	return found;
}

uint32_t call_uses(unsigned int which)
{
	if (which >= COUNT(ioctls))
		return action_uses(which - COUNT(ioctls));
	return resources_of(&types[ioctls[which].type], FIELD_RESOURCE);
}

uint32_t call_creates(unsigned int which)
{
	return which < COUNT(ioctls) ? resources_of(&types[ioctls[which].type], FIELD_OUT) : 0;
}

int call_find(const char *name)
{
	for (unsigned int i = 0; i < calls_known(); i++)
		if (!strcmp(call_name(i), name))
			return i;
	return -1;
}

bool program_run(struct program *p, FILE *text)
{
	struct world *w = world_open(text);

	if (!w)
		return false;
	for (unsigned int i = 0; i < p->calls; i++) {
		const unsigned int which = p->call[i].which;

		w->call = &p->call[i];
		w->choices = 0;
		w->memory_used = 0;
		say(w, "\t/* %s */\n", call_name(which));
		if (which < COUNT(ioctls))
			run_ioctl(w, &ioctls[which]);
		else
			action_run(w, which - COUNT(ioctls));
		p->call[i].used = w->choices;
	}
	world_close(w);
	return true;
}
