/* SPDX-License-Identifier: MIT */
#include "compiler/nir/nir_serialize.h"
#include "util/blob.h"
#include "util/disk_cache.h"
#include "util/mesa-sha1.h"
#include "util/u_dynarray.h"

#include "tg_cache.h"
#include "tg_program.h"
#include "tg_screen.h"

static struct disk_cache *get_disk_shader_cache(struct pipe_screen *screen)
{
	return tg_screen(screen)->cache;
}

/* Features decide which caps are claimed, and thereby what NIR Mesa makes of GLSL. */
static bool driver_id(const struct tg_screen *screen, char *out)
{
	const struct drm_tessera_gpu_info *info = tsr_device_info(screen->device);
	uint8_t digest[SHA1_DIGEST_LENGTH];
	struct mesa_sha1 sha;

	_mesa_sha1_init(&sha);
	if (!disk_cache_get_function_identifier(driver_id, &sha))
		return false;
	_mesa_sha1_update(&sha, &info->hw_version, sizeof(info->hw_version));
	_mesa_sha1_update(&sha, &info->features, sizeof(info->features));
	_mesa_sha1_final(&sha, digest);
	_mesa_sha1_format(out, digest);
	return true;
}

void tg_cache_screen_init(struct tg_screen *screen)
{
	char id[SHA1_DIGEST_STRING_LENGTH];

	screen->base.get_disk_shader_cache = get_disk_shader_cache;
	/* what is asked to print shaders has to compile them */
	if (!(screen->debug & TG_DEBUG_SHADERS) && driver_id(screen, id))
		screen->cache = disk_cache_create("tessera", id, 0);
}

void tg_cache_screen_destroy(struct tg_screen *screen)
{
	disk_cache_destroy(screen->cache);
}

void tg_cache_name(const struct tg_screen *screen, struct tg_shader *shader)
{
	struct blob blob;

	if (!screen->cache)
		return;
	blob_init(&blob);
	nir_serialize(&blob, shader->nir, true);
	if (!blob.out_of_memory) {
		_mesa_sha1_compute(blob.data, blob.size, shader->name);
		shader->named = true;
	}
	blob_finish(&blob);
}

static void key_of(const struct tg_screen *screen, const struct tg_shader *shader,
		   const struct tg_key *key, cache_key out)
{
	uint8_t data[SHA1_DIGEST_LENGTH + sizeof(*key)];

	memcpy(data, shader->name, SHA1_DIGEST_LENGTH);
	memcpy(data + SHA1_DIGEST_LENGTH, key, sizeof(*key));
	disk_cache_compute_key(screen->cache, data, sizeof(data), out);
}

/* An entry is the variant as it is in memory, the size of the code, and the code. */
static bool read_entry(const void *data, size_t size, struct tg_variant *v,
		       struct util_dynarray *binary)
{
	const struct tg_key key = v->key;
	struct blob_reader reader;
	struct tg_variant read;
	const void *code;
	uint32_t bytes;
	void *to;

	blob_reader_init(&reader, data, size);
	blob_copy_bytes(&reader, &read, sizeof(read));
	bytes = blob_read_uint32(&reader);
	code = blob_read_bytes(&reader, bytes);
	if (reader.overrun || reader.current != reader.end || memcmp(&read.key, &key, sizeof(key)))
		return false;
	to = bytes ? util_dynarray_grow_bytes(binary, 1, bytes) : NULL;
	if (bytes && !to)
		return false;
	if (bytes)
		memcpy(to, code, bytes);
	*v = read;
	v->code = NULL;
	return true;
}

bool tg_cache_find(struct tg_screen *screen, const struct tg_shader *shader, struct tg_variant *v,
		   struct util_dynarray *binary)
{
	bool found = false;
	cache_key key;
	size_t size;
	void *data;

	if (!screen->cache || !shader->named)
		return false;
	key_of(screen, shader, &v->key, key);
	data = disk_cache_get(screen->cache, key, &size);
	if (data)
		found = read_entry(data, size, v, binary);
	free(data);
	return found;
}

void tg_cache_store(struct tg_screen *screen, const struct tg_shader *shader,
		    const struct tg_variant *v, const struct util_dynarray *binary)
{
	struct tg_variant copy;
	struct blob blob;
	cache_key key;

	if (!screen->cache || !shader->named)
		return;
	memcpy(&copy, v, sizeof(copy));	/* with its padding */
	copy.code = NULL;
	key_of(screen, shader, &v->key, key);
	blob_init(&blob);
	blob_write_bytes(&blob, &copy, sizeof(copy));
	blob_write_uint32(&blob, binary->size);
	blob_write_bytes(&blob, binary->data, binary->size);
	if (!blob.out_of_memory)
		disk_cache_put(screen->cache, key, blob.data, blob.size, NULL);
	blob_finish(&blob);
}
