; SPDX-License-Identifier: MIT
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0
}
clause wait=0 prefetch {
	*NOP
	+FRCP.f32 t1, r3
	*NOP
	+FMAX.f32 r3:t1, t1, 0xc7000000
}
clause end message=store slot=0 {
	*NOP
	+FMIN.f32 r3:t1, r3, 0x47000000
	*FMA.f32 r0:t0, r0, t1, #0.neg
	+NOP
	*FMA.f32 r1:t0, r1, r3, #0.neg
	+NOP
	*FMA.f32 r2:t0, r2, r3, #0.neg
	+NOP
	*FMA.f32 r0:t0, r0, u0.w0, u0.w1
	+NOP
	*FMA.f32 r1:t0, r1, u1.w0, u1.w1
	+NOP
	*FMA.f32 r2:t0, r2, u2.w0, u2.w1
	+NOP
	*NOP
	+ST_CVT.v4 r58, r59, 0x0105e000, @r0
}
.zero 2
clause message=attribute slot=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:1, @r0
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:2, @r4
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r0:t0, r4, 0x3dcccccd, r0
	+NOP
	*FMA.f32 r1:t0, r5, 0x3dcccccd, r1
	+NOP
	*FMA.f32 r2:t0, r6, 0x3dcccccd, r2
	+NOP
	*NOP
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r4
}
clause end message=store slot=0 {
	*FMA.f32 r3:t0, r7, 0x3dcccccd, r3
	+NOP
	*NOP
	+ST_CVT.v4 r4, r5, r6, @r0
}
.zero 5
