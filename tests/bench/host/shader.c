/* SPDX-License-Identifier: MIT */
/*
 * A shader core as a whole, on one processor unless it says otherwise: how long one instruction
 * takes for one thread, beside a native loop of vector instructions; loads between arithmetic;
 * divergence; two worker threads beside one (by the clock, the others in time of the processor);
 * decoding. The kernels are in shaders/. TSR_HOST_SIMD=avx2: what is not beside a native loop, on
 * narrower vectors than the host has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "kernel.h"
#include "simd/simd.h"

#define RUNS		7
#define FMA_ROUNDS	32.0		/* of fma.shader, 64 instructions each */
#define FMA_OPS		(FMA_ROUNDS * 64)
#define MIXED_OPS	(32.0 * 22)	/* of mixed.shader */
#define STRAIGHT_CLAUSES 800.0		/* of straight.shader */
#define NATIVE_FLOATS	16384		/* as many as fma.shader has threads */
#define NATIVE_CHAINS	8		/* independent ones, as fma.shader's registers */

/* One pass of the native loop: the work of fma.shader, FMA_ROUNDS times 64 for each float. */
typedef void native_fn(float *data);

#if defined(__x86_64__)
#include <immintrin.h>

/* A loop of vectors of one type. The accumulators stay in registers. */
#define NATIVE(name, isa, vector, lanes, load, store, fmadd, set)			\
__attribute__((target(isa)))								\
static void name(float *data)								\
{											\
	const vector a = set(0.999f), b = set(0.5f);					\
											\
	for (unsigned int i = 0; i < NATIVE_FLOATS; i += lanes * NATIVE_CHAINS) {	\
		vector r[NATIVE_CHAINS];						\
											\
		for (unsigned int k = 0; k < NATIVE_CHAINS; k++)			\
			r[k] = load(data + i + k * lanes);				\
		for (unsigned int n = 0; n < (unsigned int)FMA_OPS; n++) {		\
			_Pragma("GCC unroll 8")						\
			for (unsigned int k = 0; k < NATIVE_CHAINS; k++)		\
				r[k] = fmadd(r[k], a, b);				\
		}									\
		for (unsigned int k = 0; k < NATIVE_CHAINS; k++)			\
			store(data + i + k * lanes, r[k]);				\
	}										\
}

NATIVE(native_avx2, "avx2,fma", __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps,
       _mm256_set1_ps)
NATIVE(native_avx512, "avx512f", __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps,
       _mm512_set1_ps)
#endif

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double *values)
{
	qsort(values, RUNS, sizeof(values[0]), ascending);
	return values[RUNS / 2];
}

struct native {
	native_fn *fn;
	float *data;
};

static void run_native(void *arg, unsigned int count)
{
	struct native *native = arg;

	while (count--)
		native->fn(native->data);
}

/* A kernel's time for one instruction of one thread beside the native loop's, on one SIMD path. */
static void beside_native(const char *kernel_name, double ops, const char *simd, native_fn *fn)
{
	static float data[NATIVE_FLOATS];
	struct native native = { fn, data };
	double ours[RUNS], ratio[RUNS];
	struct kernel kernel;
	char name[80];

	kernel_open(&kernel, kernel_name, 0, simd);
	ops *= kernel_threads(&kernel);
	kernel_run(&kernel, 1);
	run_native(&native, 1);
	for (unsigned int i = 0; i < RUNS; i++) {
		double theirs = figure_cpu_once(run_native, &native, 4) / (FMA_OPS * NATIVE_FLOATS);

		ours[i] = figure_cpu_once(kernel_run, &kernel, 4) / ops;
		ratio[i] = theirs / ours[i];
	}
	snprintf(name, sizeof(name), "shader_%s_%s", kernel_name, simd);
	figure_print(name, middle(ours), "ns/lane");
	snprintf(name, sizeof(name), "shader_%s_%s_to_native", kernel_name, simd);
	figure_print(name, middle(ratio), "ratio");
	kernel_close(&kernel);
}

static void arithmetic(void)
{
#if defined(__x86_64__)
	static const struct {
		const char *simd;
		native_fn *fn;
	} paths[] = { { "avx2", native_avx2 }, { "avx512", native_avx512 } };

	for (unsigned int i = 0; i < 2; i++) {
		if (!tsr_simd_named(paths[i].simd))
			continue;
		beside_native("fma", FMA_OPS, paths[i].simd, paths[i].fn);
		beside_native("mixed", MIXED_OPS, paths[i].simd, paths[i].fn);
	}
#endif
}

/* All rounds that the threads of a Mandelbrot kernel have done. */
static double rounds(struct kernel *kernel)
{
	const uint32_t *out = kernel_buffer(kernel, "out");
	double sum = 0;

	for (unsigned int i = 0; i < 1024 * 1024; i++)
		sum += out[i];
	return sum;
}

/* Rounds of active lanes in a second, where neighbors diverge and where they do not. */
static void divergence(void)
{
	struct kernel apart, together;
	double ratio[RUNS], a[RUNS], t[RUNS], n_apart, n_together;

	kernel_open(&apart, "mandelbrot", 0, getenv("TSR_HOST_SIMD"));
	kernel_open(&together, "mandelbrot_inside", 0, getenv("TSR_HOST_SIMD"));
	kernel_run(&apart, 1);
	kernel_run(&together, 1);
	n_apart = rounds(&apart);
	n_together = rounds(&together);
	for (unsigned int i = 0; i < RUNS; i++) {
		a[i] = n_apart / figure_cpu_once(kernel_run, &apart, 1);
		t[i] = n_together / figure_cpu_once(kernel_run, &together, 1);
		ratio[i] = a[i] / t[i];
	}
	figure_print("shader_mandelbrot_coherent", middle(t), "Grounds/s");
	figure_print("shader_mandelbrot_divergent", middle(a), "Grounds/s");
	figure_print("shader_divergent_to_coherent", middle(ratio), "ratio");
	kernel_close(&apart);
	kernel_close(&together);
}

/* Many runs a sample: a host wakes the second processor late while it has little to do. */
static void two_threads(void)
{
	struct kernel one, two;
	double ratio[RUNS];

	kernel_open(&one, "mandelbrot", 1, getenv("TSR_HOST_SIMD"));
	kernel_open(&two, "mandelbrot", 2, getenv("TSR_HOST_SIMD"));
	kernel_run(&one, 1);
	kernel_run(&two, 16);
	for (unsigned int i = 0; i < RUNS; i++) {
		double alone = figure_once(kernel_run, &one, 16);

		ratio[i] = alone / figure_once(kernel_run, &two, 16);
	}
	figure_print("shader_two_threads_to_one", middle(ratio), "ratio");
	kernel_close(&one);
	kernel_close(&two);
}

/*
 * Decoding: a program of many clauses that are executed once, after its address space has been
 * invalidated, less the same with all clauses cached.
 */
static void decoding(void)
{
	struct kernel kernel;
	double cost[RUNS];

	kernel_open(&kernel, "straight", 0, getenv("TSR_HOST_SIMD"));
	kernel_run(&kernel, 1);
	for (unsigned int i = 0; i < RUNS; i++) {
		double cached = figure_cpu_once(kernel_run, &kernel, 16), all = 0;

		for (unsigned int n = 0; n < 16; n++) {
			bench_invalidate_all(&kernel.machine->user);
			all += figure_cpu_once(kernel_run, &kernel, 1);
		}
		cost[i] = all / 16 - cached;
	}
	figure_print("shader_decode_clause", middle(cost) / 1e3 / STRAIGHT_CLAUSES, "us");
	kernel_close(&kernel);
}

int main(void)
{
	arithmetic();
	divergence();
	two_threads();
	decoding();
	return 0;
}
