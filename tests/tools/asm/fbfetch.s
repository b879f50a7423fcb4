; SPDX-License-Identifier: MIT
clause message=tile slot=0 wait=0,6 td prefetch {
	*NOP
	+MOV.i32 t1, u0.w0
	*NOP
	+LD_TILE.v4 0xff000000, r60, t1, @r2
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*FMA.f32 r1:t0, r3, 0x3f000000, r1
	+NOP
	*FMA.f32 r3:t0, r5, 0x3f000000, 0x3f000000
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t0, @r60
}
clause end message=blend slot=0 td {
	*FMA.f32 t0, r4, 0x3f000000, #0.neg
	+NOP
	*FMA.f32 r0:t0, r2, 0x3f000000, r0
	+MOV.i32 r2:t1, t0
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 5
