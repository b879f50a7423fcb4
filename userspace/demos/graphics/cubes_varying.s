; SPDX-License-Identifier: MIT
; Place, normal and texture coordinates for cubes.s. From a public compiler.
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v3 r61, r62, attribute_index:0, @r0
}
clause prefetch {
	*FMA.f32 r3:t0, u10.w0, r1, #0.neg
	+NOP
	*FMA.f32 r4:t0, u10.w1, r1, #0.neg
	+NOP
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r1:t0, u11.w0, r1, #0.neg
	+NOP
	*FMA.f32 r3:t0, u8.w0, r0, r3
	+NOP
	*FMA.f32 r4:t0, u8.w1, r0, r4
	+NOP
	*FMA.f32 r0:t0, u9.w0, r0, r1
	+NOP
	*FMA.f32 r1:t0, u12.w0, r2, r3
	+NOP
	*FMA.f32 r3:t0, u12.w1, r2, r4
	+NOP
	*FMA.f32 r0:t0, u13.w0, r2, r0
	+NOP
	*FADD.f32 r2:t0, r3, u14.w1
	+LD_ATTR_IMM.f32.v3 r61, r62, attribute_index:1, @r3
}
clause prefetch {
	*FMA.f32 r6:t0, u10.w0, r4, #0.neg
	+NOP
	*FMA.f32 r7:t0, u10.w1, r4, #0.neg
	+NOP
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r4:t0, u11.w0, r4, #0.neg
	+NOP
	*FMA.f32 r6:t0, u8.w0, r3, r6
	+NOP
	*FMA.f32 r7:t0, u8.w1, r3, r7
	+NOP
	*FMA.f32 r3:t0, u9.w0, r3, r4
	+NOP
	*FMA.f32 r4:t0, u12.w0, r5, r6
	+NOP
	*FMA.f32 r6:t0, u12.w1, r5, r7
	+NOP
	*FMA.f32 t0, u13.w0, r5, r3
	+MOV.i32 r8:t1, r4
	*MOV.i32 r10:t0, t0
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:2, @r3
}
clause message=store slot=0 prefetch {
	*FADD.f32 t0, r0, u15.w0
	+MOV.i32 r7:t1, t
	*NOP
	+MOV.i32 r9:t1, r6
	*NOP
	+ST_CVT.v4 r3, r4, r5, @r7
}
clause message=attribute slot=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v2 r61, r62, attribute_index:2, @r3
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+FADD.f32 t1, r1, u14.w0
	*NOP
	+MOV.i32 r5:t1, t1
	*MOV.i32 r6:t0, r2
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r0
}
clause end message=store slot=0 {
	*NOP
	+ST_CVT.v4 r0, r1, r2, @r3
}
