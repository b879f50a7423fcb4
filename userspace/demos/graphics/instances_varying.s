; SPDX-License-Identifier: MIT
; Their color: the normal, turned. From a public compiler.
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:3, @r0
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:2, @r3
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v3 r61, r62, attribute_index:1, @r6
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r2:t0, r2, r7, #0.neg
	+NOP
	*FMA.f32 r1:t0, r1, r7, #0.neg
	+NOP
	*FMA.f32 r0:t0, r0, r7, #0.neg
	+NOP
	*FMA.f32 r2:t0, r5, r6, r2
	+NOP
	*FMA.f32 r1:t0, r4, r6, r1
	+NOP
	*FMA.f32 r0:t0, r3, r6, r0
	+NOP
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:4, @r3
}
clause prefetch {
	*FMA.f32 r2:t0, r5, r8, r2
	+NOP
	*FMA.f32 r1:t0, r4, r8, r1
	+NOP
	*FMA.f32 r0:t0, r3, r8, r0
	+NOP
	*FMA.f32 t0, r2, r2, #0.neg
	+NOP
	*FMA.f32 r3:t0, r1, r1, t0
	+NOP
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r3:t0, r0, r0, r3
	+NOP
	*FMA.f32 r2:t0, r2, 0x3f000000 /* 0.5 */, #0.neg
	+NOP
	*FMA.f32 r1:t0, r1, 0x3f000000 /* 0.5 */, #0.neg
	+NOP
	*FMA.f32 r0:t0, r0, 0x3f000000 /* 0.5 */, #0.neg
	+FRSQ.f32 r3:t1, r3
	*FMA.f32 r2:t0, r2, t1, 0x3f000000 /* 0.5 */
	+NOP
	*FMA.f32 r1:t0, r1, r3, 0x3f000000 /* 0.5 */
	+NOP
	*FMA.f32 r0:t0, r0, r3, 0x3f000000 /* 0.5 */
	+NOP
	*NOP
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r3
}
clause end message=store slot=0 {
	*NOP
	+ST_CVT.v3 r3, r4, r5, @r0
}
