; SPDX-License-Identifier: MIT
clause message=varying slot=0 wait=0 td prefetch {
	*FMA.f32 r3:t0, r3, 0x3dcccccd, #0.neg
	+NOP
	*FMA.f32 r4:t0, r4, 0x3dcccccd, #0.neg
	+NOP
	*FMA.f32 r5:t0, r5, 0x3dcccccd, #0.neg
	+LD_VAR_IMM.f32.store.center.v4 0x3dcccccd, index:0, @r6
}
clause message=varying slot=0 wait=0 td prefetch {
	*FMA.f32 r3:t0, r6, 0x3e4ccccd, r3
	+NOP
	*FMA.f32 r4:t0, r7, 0x3e4ccccd, r4
	+NOP
	*FMA.f32 r5:t0, r8, 0x3e4ccccd, r5
	+NOP
	*FMA.f32 r3:t0, r0, 0x3dcccccd, r3
	+NOP
	*FMA.f32 r4:t0, r1, 0x3dcccccd, r4
	+NOP
	*FMA.f32 r0:t0, r0, 0x3dcccccd, r5
	+NOP
	*FMA.f32 t0, r9, 0x3e4ccccd, 0x3dcccccd
	+FADD.f32 r3:t1, r3, r2
	*FMA.f32 r1:t0, r1, 0x3dcccccd, t0
	+LD_VAR_IMM.f16.store.center.v4 0x3e4ccccd, index:1, @r5
}
clause message=varying slot=0 wait=0 td prefetch {
	*NOP
	+FADD.f32 r4:t1, r4, r2
	*FADD.f32 r0:t0, r0, r2
	+FADD.f32 r1:t1, r1, r2
	*FMA.v2f16 r2:t0, r5, 0x00002e66.h00, #0.neg
	+NOP
	*FMA.v2f16 r5:t0, r6, 0x00002e66.h00, #0.neg
	+F16_TO_F32 t1, t0
	*F16_TO_F32 t0, r2.h1
	+FADD.f32 r3:t1, r3, t1
	*F16_TO_F32 t0, r5
	+FADD.f32 r2:t1, r4, t0
	*F16_TO_F32 t0, r5.h1
	+FADD.f32 r0:t1, r0, t0
	*FADD.f32 r1:t0, r1, t0
	+LD_VAR_FLAT_IMM.u32.v4 index:5, @r4
}
clause message=varying slot=0 wait=0,6 td prefetch {
	*FMA.f32 r3:t0, r4, 0x3dcccccd, r3
	+NOP
	*FMA.f32 r2:t0, r5, 0x3dcccccd, r2
	+LD_VAR_IMM.f32.store.centroid.v2 r61, index:4, @r4
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*FMA.f32 r1:t0, r7, 0x3dcccccd, r1
	+NOP
	*FMA.f32 r2:t0, r5, 0x3dcccccd, r2
	+NOP
	*FMA.f32 r5:t0, r5, 0x3dcccccd, r1
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t0, @r60
}
clause end message=blend slot=0 td {
	*FMA.f32 r0:t0, r6, 0x3dcccccd, r0
	+NOP
	*FMA.f32 r3:t0, r4, 0x3dcccccd, r3
	+NOP
	*FMA.f32 r4:t0, r4, 0x3dcccccd, r0
	+NOP
	*MOV.i32 r0:t0, r3
	+MOV.i32 r1:t1, r2
	*MOV.i32 r2:t0, r4
	+MOV.i32 r3:t1, r5
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 3
