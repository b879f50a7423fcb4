/* SPDX-License-Identifier: MIT */
/* Work on blocks: the template. See fine.h. */

typedef uint8_t bytes __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef float depth_in_memory __attribute__((vector_size(TSR_VECTOR_BYTES), aligned(4)));

#define LANES (TSR_VECTOR_BYTES / 4)
#define DOUBLES (TSR_VECTOR_BYTES / 8)
#define PIXELS 64
/* Pixels of a row of quads: what follows is 2 rows further down. */
#define BAND 16

static const int32_t band_x[BAND] = { 0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7 };
static const int32_t band_y[BAND] = { 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1 };

/* One bit for each lane of @m: its sign. */
TSR_INLINE uint64_t mask_bits(vs32 m)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_movepi32_mask((__m512i)m);
#elif defined(TSR_ALU_AVX2)
	return (unsigned int)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
	return (unsigned int)_mm_movemask_ps((__m128)m);
#else
	uint64_t bits = 0;

	for (unsigned int i = 0; i < LANES; i++)
		bits |= (uint64_t)(m[i] < 0) << i;
	return bits;
#endif
}

/* All ones in the lanes whose bit of @bits is set. */
TSR_INLINE vs32 bits_mask(uint64_t bits)
{
#if defined(TSR_ALU_AVX512)
	return (vs32)_mm512_movm_epi32((__mmask16)bits);
#else
	vs32 weight;

	for (unsigned int i = 0; i < LANES; i++)
		weight[i] = 1 << i;
	return (((vs32){0} + (int32_t)bits) & weight) == weight;
#endif
}

TSR_INLINE vs32 load_s32(const int32_t *from)
{
	vs32 v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static TSR_UNCHECKED_ uint64_t edges(const struct tsr_fine_edge *edge, unsigned int count)
{
	uint64_t all = UINT64_MAX;

	for (unsigned int e = 0; e < count; e++) {
		vs32 value[BAND / LANES];
		uint64_t bits = 0;

		for (unsigned int v = 0; v < BAND / LANES; v++)
			value[v] = edge[e].c + edge[e].a * load_s32(band_x + v * LANES) +
				   edge[e].b * load_s32(band_y + v * LANES);
		TSR_UNROLL
		for (unsigned int v = 0; v < PIXELS / LANES; v++) {
			/* beyond the block's last row this may overflow, and is of no account */
			bits |= mask_bits(value[v % (BAND / LANES)]) << v * LANES;
			value[v % (BAND / LANES)] =
				(vs32)((vu32)value[v % (BAND / LANES)] + 2 * (uint32_t)edge[e].b);
		}
		all &= ~bits;
	}
	return all;
}

/* Pixels of @mask from number @p on, as many as a row of quads has. */
TSR_INLINE uint64_t band_of(uint64_t mask, unsigned int p)
{
	return mask >> p & ((1ull << BAND) - 1);
}

/* NAME(): *@t, at least @low and at most @high; what is no number is @low. */
#define LIMIT(name, f64, s64)									\
	TSR_INLINE void name(f64 *t, double low, double high)					\
	{											\
		const f64 least = (f64){ 0 } + low, most = (f64){ 0 } + high;			\
		s64 in = *t > least;								\
												\
		*t = (f64)(((s64)*t & in) | ((s64)least & ~in));				\
		in = *t < most;									\
		*t = (f64)(((s64)*t & in) | ((s64)most & ~in));					\
	}

/* The instructions take the second of two where these are equal, or one is no number. */
#define LIMIT_X86(name, f64, bits, type)							\
	TSR_INLINE void name(f64 *t, double low, double high)					\
	{											\
		const f64 least = (f64){ 0 } + low, most = (f64){ 0 } + high;			\
												\
		*t = (f64)_mm##bits##_max_pd((type)*t, (type)least);				\
		*t = (f64)_mm##bits##_min_pd((type)*t, (type)most);				\
	}

#if defined(TSR_ALU_AVX512)
LIMIT_X86(limit_depth, vf64, 512, __m512d)
#elif defined(TSR_ALU_AVX2)
LIMIT_X86(limit_depth, vf64, 256, __m256d)
#elif defined(__SSE2__)
LIMIT_X86(limit_depth, vf64, , __m128d)
#else
LIMIT(limit_depth, vf64, vs64)
#endif

/*
 * NAME(): @depth as it is stored, limited by @limit. Adding and subtracting the shifter leaves the
 * nearest integer, of a tie the even one.
 */
#define FINISH(name, f64, limit, f32)								\
	TSR_INLINE f32 name(const f64 *depth, double low, double high, double scale)		\
	{											\
		const double shifter = 0x1.8p52;						\
		f64 t = *depth;									\
												\
		limit(&t, low, high);								\
		if (scale != 0)									\
			t = (t * scale + shifter) - shifter;					\
		return __builtin_convertvector(t, f32);						\
	}

FINISH(finish_depth, vf64, limit_depth, vf32_half)

/*
 * Both functions of a depth in the first row of quads of a block: integers, as what places add to
 * them. It makes no difference how they are added up.
 */
struct depth_band {
	vf64 e0[BAND / DOUBLES], e1[BAND / DOUBLES];
};

TSR_INLINE void begin_depth(const struct tsr_fine_depth *d, struct depth_band *band)
{
	TSR_UNROLL
	for (unsigned int v = 0; v < BAND / DOUBLES; v++) {
		vf64 px = { 0 }, py = { 0 };

		for (unsigned int i = 0; i < DOUBLES; i++) {
			px[i] = band_x[v * DOUBLES + i];
			py[i] = band_y[v * DOUBLES + i];
		}
		band->e0[v] = d->c[0] + d->a[0] * px + d->b[0] * py;
		band->e1[v] = d->c[1] + d->a[1] * px + d->b[1] * py;
	}
}

/* Depths of vector @v of the row of quads that is (@x, @y) pixels away. */
TSR_INLINE vf32_half depths_of(const struct tsr_fine_depth *d, const struct depth_band *band,
			       double x, double y, unsigned int v)
{
	const double more0 = d->a[0] * x + d->b[0] * y, more1 = d->a[1] * x + d->b[1] * y;
	vf64 t = d->base + ((band->e0[v] + more0) * d->k[0] + (band->e1[v] + more1) * d->k[1]);

	return finish_depth(&t, d->low, d->high, d->scale);
}

static TSR_UNCHECKED_ void depth(const struct tsr_fine_depth *d, uint64_t mask, float *z)
{
	struct depth_band band;

	begin_depth(d, &band);
	for (unsigned int p = 0; p < PIXELS; p += BAND) {
		if (!band_of(mask, p))
			continue;
		TSR_UNROLL
		for (unsigned int v = 0; v < BAND / DOUBLES; v++) {
			vf32_half half = depths_of(d, &band, 0, p / 8, v);

			memcpy(z + p + v * DOUBLES, &half, sizeof(half));
		}
	}
}

TSR_INLINE vf32 load_f32(const float *from)
{
	return *(const depth_in_memory *)from;
}

#define COMPARE(op)										\
	for (unsigned int p = 0; p < PIXELS; p += BAND) {					\
		if (!band_of(mask, p))								\
			continue;								\
		TSR_UNROLL									\
		for (unsigned int i = p; i < p + BAND; i += LANES)				\
			bits |= mask_bits(load_f32(z + i) op load_f32(stored + i)) << i;	\
	}											\
	break

static TSR_UNCHECKED_ uint64_t compare(const float *z, const float *stored, unsigned int function,
				       uint64_t mask)
{
	uint64_t bits = 0;

	switch (function) {
	case TSR_COMPARE_FUNCTION_NEVER:
		break;
	case TSR_COMPARE_FUNCTION_LESS:
		COMPARE(<);
	case TSR_COMPARE_FUNCTION_EQUAL:
		COMPARE(==);
	case TSR_COMPARE_FUNCTION_LEQUAL:
		COMPARE(<=);
	case TSR_COMPARE_FUNCTION_GREATER:
		COMPARE(>);
	case TSR_COMPARE_FUNCTION_NOT_EQUAL:
		COMPARE(!=);
	case TSR_COMPARE_FUNCTION_GEQUAL:
		COMPARE(>=);
	default:
		bits = UINT64_MAX;
	}
	return bits & mask;
}

static TSR_UNCHECKED_ void store_depth(const float *z, float *stored, uint64_t mask)
{
	for (unsigned int p = 0; p < PIXELS; p += BAND) {
		if (!band_of(mask, p))
			continue;
		TSR_UNROLL
		for (unsigned int i = p; i < p + BAND; i += LANES) {
			vs32 keep = ~bits_mask(mask >> i);
			vs32 old = (vs32)load_f32(stored + i), new = (vs32)load_f32(z + i);

			*(depth_in_memory *)(stored + i) = (vf32)((old & keep) | (new & ~keep));
		}
	}
}

static TSR_UNCHECKED_ void bounds(const float *stored, unsigned int count, float *low, float *high)
{
	vf32 least = load_f32(stored), most = least;

	for (unsigned int i = LANES; i < count; i += LANES) {
		vf32 s = load_f32(stored + i);
		vs32 less = s < least, more = s > most;

		least = (vf32)(((vs32)s & less) | ((vs32)least & ~less));
		most = (vf32)(((vs32)s & more) | ((vs32)most & ~more));
	}
	*low = least[0];
	*high = most[0];
	for (unsigned int i = 1; i < LANES; i++) {
		*low = least[i] < *low ? least[i] : *low;
		*high = most[i] > *high ? most[i] : *high;
	}
}

/* Lines that are written as a whole are not fetched, so vectors of a line take half the time. */
static TSR_UNCHECKED_ void rows(uint8_t *to, size_t to_pitch, const uint8_t *from,
				size_t from_pitch, size_t len, unsigned int count)
{
	for (; count; count--, to += to_pitch, from += from_pitch) {
		size_t at = 0;

		TSR_UNROLL_NOT
		for (; at + TSR_VECTOR_BYTES <= len; at += TSR_VECTOR_BYTES) {
			bytes v;

			memcpy(&v, from + at, sizeof(v));
			memcpy(to + at, &v, sizeof(v));
		}
		tsr_access_copy(to + at, from + at, len - at);
	}
}
