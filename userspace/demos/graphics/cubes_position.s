; SPDX-License-Identifier: MIT
; Positions: matrices in push words, as cubes.c fills them. From a public compiler.
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v3 r61, r62, attribute_index:0, @r0
}
clause prefetch {
	*FMA.f32 r3:t0, u10.w0, r1, #0.neg
	+NOP
	*FMA.f32 r4:t0, u10.w1, r1, #0.neg
	+NOP
	*FMA.f32 r5:t0, u11.w0, r1, #0.neg
	+NOP
}
clause prefetch {
	*FMA.f32 r1:t0, u11.w1, r1, #0.neg
	+NOP
	*FMA.f32 r3:t0, u8.w0, r0, r3
	+NOP
	*FMA.f32 r4:t0, u8.w1, r0, r4
	+NOP
	*FMA.f32 r5:t0, u9.w0, r0, r5
	+NOP
	*FMA.f32 r0:t0, u9.w1, r0, r1
	+NOP
	*FMA.f32 r1:t0, u12.w0, r2, r3
	+NOP
	*FMA.f32 r3:t0, u12.w1, r2, r4
	+NOP
	*FMA.f32 r4:t0, u13.w0, r2, r5
	+NOP
}
clause prefetch {
	*FMA.f32 r0:t0, u13.w1, r2, r0
	+NOP
	*NOP
	+FADD.f32 r2:t1, r3, u14.w1
	*NOP
	+FADD.f32 r3:t1, r4, u15.w0
	*FMA.f32 r4:t0, u2.w0, r2, #0.neg
	+NOP
	*FMA.f32 r5:t0, u2.w1, r2, #0.neg
	+NOP
	*FMA.f32 r6:t0, u3.w0, r2, #0.neg
	+NOP
	*FMA.f32 r2:t0, u3.w1, r2, #0.neg
	+NOP
	*NOP
	+FADD.f32 r1:t1, r1, u14.w0
}
clause wait=0 prefetch {
	*FMA.f32 r4:t0, u0.w0, r1, r4
	+NOP
	*FMA.f32 r5:t0, u0.w1, r1, r5
	+NOP
	*FMA.f32 r6:t0, u1.w0, r1, r6
	+NOP
	*FMA.f32 r1:t0, u1.w1, r1, r2
	+NOP
	*FMA.f32 r2:t0, u4.w0, r3, r4
	+NOP
	*FMA.f32 r4:t0, u4.w1, r3, r5
	+NOP
	*FMA.f32 r5:t0, u5.w0, r3, r6
	+NOP
	*FMA.f32 r1:t0, u5.w1, r3, r1
	+NOP
}
clause end message=store slot=0 {
	*NOP
	+FADD.f32 r0:t1, r0, u15.w1
	*FMA.f32 r2:t0, u6.w0, t1, r2
	+NOP
	*FMA.f32 r3:t0, u6.w1, r0, r4
	+NOP
	*FMA.f32 r4:t0, u7.w0, r0, r5
	+NOP
	*FMA.f32 r0:t0, u7.w1, r0, r1
	+NOP
	*MOV.i32 r1:t0, r2
	+MOV.i32 r2:t1, r3
	*MOV.i32 r3:t0, r4
	+MOV.i32 r4:t1, r0
	*NOP
	+ST_CVT.v4 r58, r59, 0x0105e000, @r1
}
