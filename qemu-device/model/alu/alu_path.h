/* SPDX-License-Identifier: MIT */
/*
 * The frame of the arithmetic templates: vector types of one SIMD path, and the loops around an
 * expression.
 *
 * A file for one path (simd/) defines TSR_ALU_SSE2, TSR_ALU_AVX2 or TSR_ALU_AVX512, includes this
 * header first and the templates after it, and ends with TSR_ALU_PATH_END. Everything between is
 * compiled for that path's instructions, without flags from the build system. Vectors are the
 * compilers' vector types, so the baseline compiles for any architecture; what has no operator may
 * use intrinsics under #ifdef TSR_ALU_….
 *
 * Templates see:
 *	vu32 vs32 vf32 vu16 vs16 vu8 vs8 vf64 vs64	vectors of TSR_VECTOR_BYTES bytes
 *	vf32_half vs32_half			vectors of half as many bytes
 *	TSR_PATH_NAME(x)			x_sse2, x_avx2 or x_avx512
 *	TSR_PATH_STRING				"sse2", "avx2" or "avx512"
 *	TSR_ALU_OP(name, sources, expression)	a function for tsr_uop.fn, see below
 *
 * All templates of a path are one translation unit, so they must not define the same name.
 *
 * Multiplications are never contracted with additions behind the source's back.
 */
#ifndef TSR_SHADER_ALU_PATH_H
#define TSR_SHADER_ALU_PATH_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "alu_set.h"
#include "tsr_regs.h"

#if defined(TSR_ALU_AVX512)
#define TSR_VECTOR_BYTES 64
#define TSR_PATH_NAME(x) x##_avx512
#define TSR_PATH_STRING "avx512"
#define TSR_TARGET_ "avx2,fma,f16c,avx512f,avx512cd,avx512dq,avx512bw,avx512vl"
#elif defined(TSR_ALU_AVX2)
#define TSR_VECTOR_BYTES 32
#define TSR_PATH_NAME(x) x##_avx2
#define TSR_PATH_STRING "avx2"
#define TSR_TARGET_ "avx2,fma,f16c"
#elif defined(TSR_ALU_SSE2)
#define TSR_VECTOR_BYTES 16
#define TSR_PATH_NAME(x) x##_sse2
#define TSR_PATH_STRING "sse2"
#else
#error "no path"
#endif

#define TSR_PRAGMA_(x) _Pragma(#x)
#if !defined(TSR_TARGET_)
#define TSR_ALU_PATH_END
#elif defined(__clang__)
#define TSR_TARGET_BEGIN_(t) \
	TSR_PRAGMA_(clang attribute push(__attribute__((target(t))), apply_to = function))
TSR_TARGET_BEGIN_(TSR_TARGET_)
#define TSR_ALU_PATH_END _Pragma("clang attribute pop")
#else
#define TSR_TARGET_BEGIN_(t) TSR_PRAGMA_(GCC target(t))
TSR_TARGET_BEGIN_(TSR_TARGET_)
#define TSR_ALU_PATH_END
#endif

/* Loops stay loops where sanitizers put checks around each access: compiling would take minutes. */
#ifdef __clang__
#define TSR_UNROLL _Pragma("unroll")
#define TSR_UNROLL_NOT _Pragma("nounroll")
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TSR_UNROLL _Pragma("GCC unroll 1")
#define TSR_UNROLL_NOT _Pragma("GCC unroll 1")
#else
#define TSR_UNROLL _Pragma("GCC unroll 16")
#define TSR_UNROLL_NOT _Pragma("GCC unroll 1")
#endif

typedef uint32_t vu32 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef int32_t vs32 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef float vf32 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef uint16_t vu16 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef int16_t vs16 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef uint8_t vu8 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef int8_t vs8 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef double vf64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef int64_t vs64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef float vf32_half __attribute__((vector_size(TSR_VECTOR_BYTES / 2)));
typedef int32_t vs32_half __attribute__((vector_size(TSR_VECTOR_BYTES / 2)));
/* the type of memory accesses: lanes are written and read as other types too */
typedef uint32_t tsr_vector_in_memory __attribute__((vector_size(TSR_VECTOR_BYTES), may_alias));

/* A vector of the path is a chunk of a warp's 16 words. */
#define TSR_CHUNKS (64 / TSR_VECTOR_BYTES)
#define TSR_CHUNK_LANES (TSR_VECTOR_BYTES / 4)

/* Checked for bad addresses, but not for undefined arithmetic: compilers would take minutes. */
#define TSR_UNCHECKED_ __attribute__((no_sanitize("undefined")))
#define TSR_INLINE static inline __attribute__((always_inline, unused)) TSR_UNCHECKED_

TSR_INLINE vu32 tsr_splat(uint32_t x)
{
	return (vu32){0} + x;
}

TSR_INLINE vs32 tsr_pick(vs32 mask, vs32 yes, vs32 no)
{
	return (yes & mask) | (no & ~mask);
}

TSR_INLINE vs32 tsr_smaller(vs32 a, vs32 b)
{
	return tsr_pick(a < b, a, b);
}

TSR_INLINE vs32 tsr_larger(vs32 a, vs32 b)
{
	return tsr_pick(a > b, a, b);
}

/* Where an operand's vectors are: warp w's is at base + w * stride bytes. */
struct tsr_alu_vectors {
	char *base;
	size_t stride;
};

TSR_INLINE struct tsr_alu_vectors tsr_alu_vectors(const struct tsr_alu_state *state,
						  struct tsr_operand o)
{
	return (struct tsr_alu_vectors){ (char *)(state->space[o.space] + o.index),
					 o.step * sizeof(union tsr_lanes) };
}

/* Vectors of an operand for which each warp has its own vector. */
TSR_INLINE struct tsr_alu_vectors tsr_alu_own_vectors(const struct tsr_alu_state *state,
						      struct tsr_operand o)
{
	char *base = (char *)(state->space[o.space] + o.index);

	/* one register for each operand, or the function has to save some */
	__asm__("" : "+r" (base));
	return (struct tsr_alu_vectors){ base, sizeof(union tsr_lanes) };
}

TSR_INLINE vu32 tsr_alu_get(struct tsr_alu_vectors v, unsigned int warp, unsigned int chunk)
{
	return *(const tsr_vector_in_memory *)(v.base + warp * v.stride + chunk * TSR_VECTOR_BYTES);
}

TSR_INLINE void tsr_alu_put(struct tsr_alu_vectors v, unsigned int warp, unsigned int chunk, vu32 x)
{
	*(tsr_vector_in_memory *)(v.base + warp * v.stride + chunk * TSR_VECTOR_BYTES) = x;
}

/* x in the lanes of @mask (all ones or zero), the others as they are */
TSR_INLINE void tsr_alu_put_masked(struct tsr_alu_vectors v, unsigned int warp, unsigned int chunk,
				   vu32 x, vu32 mask)
{
	vu32 old = tsr_alu_get(v, warp, chunk);

	tsr_alu_put(v, warp, chunk, old ^ ((old ^ x) & mask));
}

TSR_INLINE vu32 tsr_alu_mask(const struct tsr_alu_state *state, unsigned int warp,
			     unsigned int chunk)
{
	return *(const tsr_vector_in_memory *)((const char *)&state->mask[warp] +
					       chunk * TSR_VECTOR_BYTES);
}

/* The vector of one warp, and how a function without TSR_ALU_OP's loops stores a chunk. */
TSR_INLINE union tsr_lanes *tsr_alu_warp(struct tsr_alu_vectors v, unsigned int warp)
{
	return (union tsr_lanes *)(v.base + warp * v.stride);
}

TSR_INLINE void tsr_alu_put_chosen(const struct tsr_uop *uop, const struct tsr_alu_state *state,
				   struct tsr_alu_vectors to, unsigned int warp, unsigned int chunk,
				   vu32 x)
{
	if (state->full || uop->dst_kind == TSR_DST_ALL)
		tsr_alu_put(to, warp, chunk, x);
	else
		tsr_alu_put_masked(to, warp, chunk, x, tsr_alu_mask(state, warp, chunk));
}

/*
 * The numbers a selector left for its function, in registers during the loops: stores could change
 * them.
 */
struct tsr_alu_consts {
	uint32_t keep[4], flip[4], param[4];
};

TSR_INLINE struct tsr_alu_consts tsr_alu_consts(const struct tsr_uop *uop)
{
	struct tsr_alu_consts k;

	for (unsigned int i = 0; i < 4; i++) {
		k.keep[i] = uop->keep[i];
		k.flip[i] = uop->flip[i];
		k.param[i] = uop->param[i];
	}
	return k;
}

/* Source @n of the template's chunk: absolute value and negation as the selector said. */
#define TSR_SIGNS(n, x) (((x) & k.keep[n]) ^ k.flip[n])

/* The loops of TSR_ALU_OP: over @count warps, which is warp @which the @i-th time. */
#define TSR_ALU_LOOP_(count, which, unroll, sources, put, ...)					\
	for (unsigned int i = 0; i < (count); i++) {						\
		const unsigned int warp = (which);						\
												\
		unroll										\
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {			\
			const vu32 a = (sources) > 0 ? tsr_alu_get(at0, warp, chunk) : (vu32){0}; \
			const vu32 b = (sources) > 1 ? tsr_alu_get(at1, warp, chunk) : (vu32){0}; \
			const vu32 c = (sources) > 2 ? tsr_alu_get(at2, warp, chunk) : (vu32){0}; \
			const vu32 d = (sources) > 3 ? tsr_alu_get(at3, warp, chunk) : (vu32){0}; \
			const vu32 result = (vu32)(__VA_ARGS__);				\
												\
			(void)a, (void)b, (void)c, (void)d;					\
			put;									\
		}										\
	}

/*
 * A micro-op whose lanes do not see each other. The last argument is an expression: the result of
 * a chunk from a, b, c, d, the chunks of its sources (vu32), and k (struct tsr_alu_consts). All
 * sources of a chunk are read before it is written, so the destination may be one of them.
 * TSR_ALU_OP_ takes its operands from where it is told: those of a pair's ADD instruction from
 * uop->pair.
 *
 * What runs nearly always has no loop: whole bundles with all lanes active and operands of which
 * each warp has its own vector. The second version takes other operands, the third is for some
 * warps or lanes. The baseline does with less code: one version for all whole bundles.
 */
#define TSR_ALU_OP(name, sources, ...)								\
	TSR_ALU_OP_(name, sources, uop->src[0], uop->src[1], uop->src[2], uop->src[3], __VA_ARGS__)

#define TSR_ALU_OP_(name, sources, s0, s1, s2, s3, ...)						\
TSR_OUT_OF_LINE_ static void name##_some(const struct tsr_uop *uop,				\
					 struct tsr_alu_state *state)				\
{												\
	TSR_ALU_OPERANDS_(tsr_alu_vectors, s0, s1, s2, s3);					\
	const unsigned int warps = state->warps;						\
	const vu32 all = tsr_splat(state->full || uop->dst_kind == TSR_DST_ALL ? ~0u : 0);	\
												\
	TSR_ALU_LOOP_(warps, state->warp[i], TSR_UNROLL_NOT, sources,				\
		      tsr_alu_put_masked(to, warp, chunk, result,				\
					 tsr_alu_mask(state, warp, chunk) | all),		\
		      __VA_ARGS__)								\
}												\
												\
TSR_ALU_OP_FULL_(name, sources, s0, s1, s2, s3, __VA_ARGS__)					\
												\
TSR_UNCHECKED_ static void name(const struct tsr_uop *uop, struct tsr_alu_state *state)		\
{												\
	if (state->warps != TSR_BUNDLE_WARPS || !state->full)					\
		return name##_some(uop, state);							\
	TSR_ALU_IF_STRIDES_(name##_whole)							\
	TSR_ALU_OPERANDS_(TSR_ALU_FULL_VECTORS_, s0, s1, s2, s3);				\
												\
	TSR_UNROLL_WARPS_									\
	TSR_ALU_LOOP_(TSR_BUNDLE_WARPS, i, TSR_UNROLL, sources,					\
		      tsr_alu_put(to, warp, chunk, result), __VA_ARGS__)			\
}

#if TSR_VECTOR_BYTES == 16
#define TSR_ALU_OP_FULL_(name, sources, s0, s1, s2, s3, ...)
#define TSR_ALU_IF_STRIDES_(whole)
#define TSR_ALU_FULL_VECTORS_ tsr_alu_vectors
#define TSR_UNROLL_WARPS_ TSR_UNROLL_NOT
#else
#define TSR_ALU_OP_FULL_(name, sources, s0, s1, s2, s3, ...)					\
TSR_OUT_OF_LINE_ static void name##_whole(const struct tsr_uop *uop,				\
					  struct tsr_alu_state *state)				\
{												\
	TSR_ALU_OPERANDS_(tsr_alu_vectors, s0, s1, s2, s3);					\
												\
	TSR_UNROLL_NOT										\
	TSR_ALU_LOOP_(TSR_BUNDLE_WARPS, i, TSR_UNROLL, sources,					\
		      tsr_alu_put(to, warp, chunk, result), __VA_ARGS__)			\
}
#define TSR_ALU_IF_STRIDES_(whole)								\
	if (uop->strides)									\
		return whole(uop, state);
#define TSR_ALU_FULL_VECTORS_ tsr_alu_own_vectors
#define TSR_UNROLL_WARPS_ TSR_UNROLL
#endif

/* Not inlined, and called as it is declared: GCC would load its operands in the caller. */
#ifdef __clang__
#define TSR_OUT_OF_LINE_ __attribute__((noinline)) TSR_UNCHECKED_
#else
#define TSR_OUT_OF_LINE_ __attribute__((noipa)) TSR_UNCHECKED_
#endif

#define TSR_ALU_OPERANDS_(vectors, s0, s1, s2, s3)						\
	const struct tsr_alu_consts k = tsr_alu_consts(uop);					\
	const struct tsr_alu_vectors to = vectors(state, uop->dst);				\
	const struct tsr_alu_vectors at0 = vectors(state, s0);					\
	const struct tsr_alu_vectors at1 = vectors(state, s1);					\
	const struct tsr_alu_vectors at2 = vectors(state, s2);					\
	const struct tsr_alu_vectors at3 = vectors(state, s3);					\
												\
	(void)k, (void)at0, (void)at1, (void)at2, (void)at3

#endif
