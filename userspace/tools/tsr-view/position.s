; SPDX-License-Identifier: MIT
; Clip coordinates: the matrix of push words 0 to 15, column by column, times attribute 0.
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0
}
clause prefetch {
	*FMA.f32 r4:t0, u2.w0, r1, #0.neg
	+NOP
	*FMA.f32 r5:t0, u2.w1, r1, #0.neg
	+NOP
	*FMA.f32 r6:t0, u3.w0, r1, #0.neg
	+NOP
	*FMA.f32 r7:t0, u3.w1, r1, #0.neg
	+NOP
}
clause prefetch {
	*FMA.f32 r4:t0, u0.w0, r0, r4
	+NOP
	*FMA.f32 r5:t0, u0.w1, r0, r5
	+NOP
	*FMA.f32 r6:t0, u1.w0, r0, r6
	+NOP
	*FMA.f32 r7:t0, u1.w1, r0, r7
	+NOP
}
clause prefetch {
	*FMA.f32 r4:t0, u4.w0, r2, r4
	+NOP
	*FMA.f32 r5:t0, u4.w1, r2, r5
	+NOP
	*FMA.f32 r6:t0, u5.w0, r2, r6
	+NOP
	*FMA.f32 r7:t0, u5.w1, r2, r7
	+NOP
}
clause prefetch {
	*NOP
	+FADD.f32 r0:t1, r4, u6.w0
	*NOP
	+FADD.f32 r1:t1, r5, u6.w1
	*NOP
	+FADD.f32 r2:t1, r6, u7.w0
	*NOP
	+FADD.f32 r3:t1, r7, u7.w1
}
clause end message=store slot=0 {
	*NOP
	+ST_CVT.v4 r58, r59, 0x0105e000, @r0
}
