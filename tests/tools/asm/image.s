; SPDX-License-Identifier: MIT
clause message=attribute slot=0 wait=0 prefetch {
	*MKVEC.v2i16 r0:t0, r60, r61
	+LD_ATTR_TEX.f32.v4 t, zero.w0, zero.w0, @r1
}
clause message=attribute slot=0 wait=0 prefetch {
	*MOV.i32 r7:t0, r3
	+ISUB.s32 r5:t1, 0x0000000f, r60
	*MOV.i32 r8:t0, r2
	+ISUB.s32 t1, 0x0000000f, r61
	*MOV.i32 r9:t0, r1
	+MKVEC.v2i16 t1, r5, t1
	*DTSEL_IMM.attribute_1 t0, t1
	+LEA_ATTR_TEX.f32 t, 0x00000000, 0x00000001, @r1
}
clause message=store slot=0 wait=0 prefetch {
	*NOP
	+MOV.i32 r10:t1, r4
	*NOP
	+ST_CVT.v4 r1, r2, r3, @r7
}
clause message=attribute slot=0 wait=0 prefetch {
	*NOP
	+LD_ATTR_TEX.u32.v4 r0, 0x00000000, 0x00000002, @r1
}
clause message=attribute slot=0 wait=0 prefetch {
	*DTSEL_IMM.attribute_1 t0, r0
	+LEA_ATTR_TEX.u32 t, 0x00000000, 0x00000002, @r2
}
clause end message=store slot=0 {
	*NOP
	+IADD.s32 r1:t1, r1, u0.w0
	*NOP
	+ST_CVT r2, r3, r4, @r1
}
.zero 6
