/* SPDX-License-Identifier: MIT */
/*
 * Parts of 32-bit sources: bytes and halves, extended to what the instruction works on. A template,
 * see alu_path.h.
 *
 * Every part is two shifts: to the left until its highest bit is bit 31, to the right until its
 * lowest is bit 0; the second one extends it with sign or zeros. A selector packs the numbers of
 * those shifts into a word (tsr_part_…), its function applies them (part32, part16, part8).
 */

/*
 * The shift to the left for byte @n or half @n, and the one to the right for all parts of that
 * size.
 */
#define PART_BYTE(n)	(24u - 8u * (n))
#define PART_HALF(n)	(16u - 16u * (n))
#define PART_BYTE_DOWN	24u
#define PART_HALF_DOWN	16u

/* Pack: shifts to the left for up to three elements; or for four, without the last one. */
#define PART_PACK(down, l0, l1)	((l0) | (l1) << 8 | (down) << 24)
#define PART_PACK4(l0, l1, l2, l3) ((l0) | (l1) << 8 | (l2) << 16 | (l3) << 24)

/*
 * One part for a 32-bit instruction, by enum tsr_mod_lane (or lanes, widen, which begin in the same
 * way).
 */
TSR_INLINE uint32_t tsr_part_of_lane(unsigned int lane)
{
	switch (lane) {
	case TSR_LANE_H0:
	case TSR_LANE_H1:
		return PART_PACK(PART_HALF_DOWN, PART_HALF(lane - TSR_LANE_H0), 0);
	case TSR_LANE_B0:
	case TSR_LANE_B1:
	case TSR_LANE_B2:
	case TSR_LANE_B3:
		return PART_PACK(PART_BYTE_DOWN, PART_BYTE(lane - TSR_LANE_B0), 0);
	default:
		return 0;
	}
}

/* Halves @h0 and @h1, bytes @b0 and @b1, for the two 16-bit elements. */
TSR_INLINE uint32_t tsr_part_of_halves(unsigned int h0, unsigned int h1)
{
	return PART_PACK(PART_HALF_DOWN, PART_HALF(h0), PART_HALF(h1));
}

TSR_INLINE uint32_t tsr_part_of_bytes(unsigned int b0, unsigned int b1)
{
	return PART_PACK(PART_BYTE_DOWN, PART_BYTE(b0), PART_BYTE(b1));
}

/* Two parts by enum tsr_mod_swz: h00 … h11, b00 … b33. */
TSR_INLINE uint32_t tsr_part_of_swz(unsigned int swz)
{
	switch (swz) {
	case TSR_SWZ_H00:
		return tsr_part_of_halves(0, 0);
	case TSR_SWZ_H10:
		return tsr_part_of_halves(1, 0);
	case TSR_SWZ_H11:
		return tsr_part_of_halves(1, 1);
	case TSR_SWZ_B00 ... TSR_SWZ_B33:
		/* in the order b00 b10 b20 b30 b01 … */
		return tsr_part_of_bytes((swz - TSR_SWZ_B00) % 4, (swz - TSR_SWZ_B00) / 4);
	default:
		return tsr_part_of_halves(0, 1);
	}
}

/* By enum tsr_mod_lanes, for two elements. */
TSR_INLINE uint32_t tsr_part_of_lanes2(unsigned int lanes)
{
	switch (lanes) {
	case TSR_LANES_H00:
		return tsr_part_of_halves(0, 0);
	case TSR_LANES_H10:
		return tsr_part_of_halves(1, 0);
	case TSR_LANES_H11:
		return tsr_part_of_halves(1, 1);
	case TSR_LANES_B00:
	case TSR_LANES_B11:
	case TSR_LANES_B22:
	case TSR_LANES_B33:
		return tsr_part_of_bytes(lanes - TSR_LANES_B00, lanes - TSR_LANES_B00);
	case TSR_LANES_B01:
		return tsr_part_of_bytes(0, 1);
	case TSR_LANES_B23:
		return tsr_part_of_bytes(2, 3);
	case TSR_LANES_B02:
		return tsr_part_of_bytes(0, 2);
	default:
		return tsr_part_of_halves(0, 1);
	}
}

/* Bytes for the four 8-bit elements. */
TSR_INLINE uint32_t tsr_part_of_4(unsigned int b0, unsigned int b1, unsigned int b2,
				  unsigned int b3)
{
	return PART_PACK4(PART_BYTE(b0), PART_BYTE(b1), PART_BYTE(b2), PART_BYTE(b3));
}

TSR_INLINE uint32_t tsr_part_of_lanes4(unsigned int lanes)
{
	switch (lanes) {
	case TSR_LANES_B0000:
	case TSR_LANES_B1111:
	case TSR_LANES_B2222:
	case TSR_LANES_B3333:
		lanes -= TSR_LANES_B0000;
		return tsr_part_of_4(lanes, lanes, lanes, lanes);
	case TSR_LANES_B0101:
		return tsr_part_of_4(0, 1, 0, 1);
	case TSR_LANES_B2323:
		return tsr_part_of_4(2, 3, 2, 3);
	default:
		return tsr_part_of_4(0, 1, 2, 3);
	}
}

TSR_INLINE uint32_t tsr_part_of_swz4(unsigned int swz)
{
	switch (swz) {
	case TSR_SWZ_B0000:
	case TSR_SWZ_B1111:
	case TSR_SWZ_B2222:
	case TSR_SWZ_B3333:
		swz -= TSR_SWZ_B0000;
		return tsr_part_of_4(swz, swz, swz, swz);
	case TSR_SWZ_B0011:
		return tsr_part_of_4(0, 0, 1, 1);
	case TSR_SWZ_B2233:
		return tsr_part_of_4(2, 2, 3, 3);
	case TSR_SWZ_B1032:
		return tsr_part_of_4(1, 0, 3, 2);
	default:
		return tsr_part_of_4(3, 2, 1, 0);
	}
}

TSR_INLINE uint32_t tsr_part_of_replicate(unsigned int replicate)
{
	if (replicate == TSR_REPLICATE_B0123)
		return tsr_part_of_4(0, 1, 2, 3);
	replicate -= TSR_REPLICATE_B0000;
	return tsr_part_of_4(replicate, replicate, replicate, replicate);
}

/* True if a packed word changes nothing. */
TSR_INLINE bool tsr_part_is_all(uint32_t part)
{
	return !part || part == tsr_part_of_halves(0, 1) || part == tsr_part_of_4(0, 1, 2, 3);
}

/* The part of @x for 32-bit instructions. */
TSR_INLINE vu32 part32u(vu32 x, uint32_t part)
{
	return x << (part & 31) >> (part >> 24);
}

TSR_INLINE vu32 part32s(vu32 x, uint32_t part)
{
	return (vu32)((vs32)(x << (part & 31)) >> (int)(part >> 24));
}

/* Two parts as two 16-bit elements. */
TSR_INLINE vu32 part16u(vu32 x, uint32_t part)
{
	return (x << (part & 31) >> (part >> 24)) | (x << (part >> 8 & 31) >> (part >> 24)) << 16;
}

TSR_INLINE vu32 part16s(vu32 x, uint32_t part)
{
	vs32 lo = (vs32)(x << (part & 31)) >> (int)(part >> 24);
	vs32 hi = (vs32)(x << (part >> 8 & 31)) >> (int)(part >> 24);

	return ((vu32)lo & 0xffff) | (vu32)hi << 16;
}

/* Four bytes as four elements. */
TSR_INLINE vu32 part8(vu32 x, uint32_t part)
{
	vu32 b0 = x << (part & 31) >> 24, b1 = x << (part >> 8 & 31) >> 24;
	vu32 b2 = x << (part >> 16 & 31) >> 24, b3 = x << (part >> 24) >> 24;

	return b0 | b1 << 8 | b2 << 16 | b3 << 24;
}
