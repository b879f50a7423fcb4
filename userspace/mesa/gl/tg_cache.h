/* SPDX-License-Identifier: MIT */
/*
 * The disk cache. Mesa's front end keeps the NIR of linked GLSL programs there, and the driver the
 * machine code of each variant. All of it depends on the driver's build and on the device's
 * features, so both are part of every key.
 */
#ifndef TG_CACHE_H
#define TG_CACHE_H

#include <stdbool.h>

struct tg_screen;
struct tg_shader;
struct tg_variant;
struct util_dynarray;

/* tg_cache_screen_init(): open the cache, if there is one. screen->device is open. */
void tg_cache_screen_init(struct tg_screen *screen);
void tg_cache_screen_destroy(struct tg_screen *screen);

/* tg_cache_name(): remember what the shader's NIR is called in the cache. */
void tg_cache_name(const struct tg_screen *screen, struct tg_shader *shader);

/*
 * tg_cache_find(): fill in a variant, but for its code, and append the code to an empty array. The
 * key is set. Returns false, with nothing changed, if the cache does not have the variant.
 */
bool tg_cache_find(struct tg_screen *screen, const struct tg_shader *shader,
		   struct tg_variant *variant, struct util_dynarray *binary);

/* tg_cache_store(): store a variant that was compiled. */
void tg_cache_store(struct tg_screen *screen, const struct tg_shader *shader,
		    const struct tg_variant *variant, const struct util_dynarray *binary);

#endif
