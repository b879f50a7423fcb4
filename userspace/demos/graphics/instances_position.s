; SPDX-License-Identifier: MIT
; Positions of instances: a matrix for each in attributes 2 to 5. From a public compiler.
clause message=attribute slot=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:3, @r0
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_IMM.f32.v3 r61, r62, attribute_index:0, @r4
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r0:t0, r0, r5, #0.neg
	+NOP
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:2, @r7
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r1:t0, r1, r5, #0.neg
	+NOP
	*FMA.f32 r2:t0, r2, r5, #0.neg
	+NOP
	*FMA.f32 r3:t0, r3, r5, #0.neg
	+NOP
	*FMA.f32 r0:t0, r7, r4, r0
	+NOP
	*FMA.f32 r1:t0, r8, r4, r1
	+NOP
	*FMA.f32 r2:t0, r9, r4, r2
	+NOP
	*FMA.f32 r3:t0, r10, r4, r3
	+NOP
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:4, @r7
}
clause message=attribute slot=0 wait=0 prefetch {
	*FMA.f32 r0:t0, r7, r6, r0
	+NOP
	*FMA.f32 r1:t0, r8, r6, r1
	+NOP
	*FMA.f32 r2:t0, r9, r6, r2
	+NOP
	*FMA.f32 r3:t0, r10, r6, r3
	+NOP
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:5, @r4
}
clause prefetch {
	*NOP
	+FADD.f32 r0:t1, r0, r4
	*NOP
	+FADD.f32 r1:t1, r1, r5
	*FMA.f32 r4:t0, u2.w0, t1, #0.neg
	+NOP
	*FMA.f32 r5:t0, u2.w1, r1, #0.neg
	+FADD.f32 r2:t1, r2, r6
	*FMA.f32 r6:t0, u3.w0, r1, #0.neg
	+NOP
}
clause wait=0 prefetch {
	*FMA.f32 r1:t0, u3.w1, r1, #0.neg
	+NOP
	*FMA.f32 r4:t0, u0.w0, r0, r4
	+NOP
	*FMA.f32 r5:t0, u0.w1, r0, r5
	+NOP
	*FMA.f32 r6:t0, u1.w0, r0, r6
	+NOP
	*FMA.f32 r0:t0, u1.w1, r0, r1
	+NOP
	*FMA.f32 r1:t0, u4.w0, r2, r4
	+NOP
	*FMA.f32 r4:t0, u4.w1, r2, r5
	+NOP
	*FMA.f32 r5:t0, u5.w0, r2, r6
	+NOP
}
clause end message=store slot=0 {
	*FMA.f32 r0:t0, u5.w1, r2, r0
	+NOP
	*NOP
	+FADD.f32 r3:t1, r3, r7
	*FMA.f32 r1:t0, u6.w0, t1, r1
	+NOP
	*FMA.f32 r2:t0, u6.w1, r3, r4
	+NOP
	*FMA.f32 r4:t0, u7.w0, r3, r5
	+NOP
	*FMA.f32 t0, u7.w1, r3, r0
	+NOP
	*MOV.i32 r3:t0, r4
	+MOV.i32 r4:t1, t0
	*NOP
	+ST_CVT.v4 r58, r59, 0x0105e000, @r1
}
