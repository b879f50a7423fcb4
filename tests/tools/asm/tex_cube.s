; SPDX-License-Identifier: MIT
clause prefetch {
	*CUBEFACE1 r2:t0, 0xbe99999a, r0, r1
	+CUBEFACE2 r3:t1, t
	*NOP
	+NOP
}
clause prefetch {
	*NOP
	+FRCP.f32 t1, r2
	*FMA.f32 r2:t0, t1, 0x3f000000, #0.neg
	+CUBE_SSEL t1, r1, 0xbe99999a, r3
	*FMA.f32.clamp_0_1 r4:t0, t0, t1, 0x3f000000
	+NOP
	*NOP
	+CUBE_TSEL t1, r0, r1, r3
	*FMA.f32.clamp_0_1 r2:t0, r2, t1, 0x3f000000
	+NOP
	*FMA.f32 r1:t0, r1, 0x40000000, 0xbf800000
	+NOP
	*FMA.f32 r0:t0, r0, 0x40000000, 0xbf800000
	+NOP
	*NOP
	+MUX.i32.bit r3:t1, r4, r3, 0x1fffffff
}
clause message=tex slot=0 prefetch {
	*CUBEFACE1 t0, r0, r1, 0x3f333333
	+CUBEFACE2 r5:t1, t
	*NOP
	+FRCP.f32 t1, t0
	*FMA.f32 r4:t0, t1, 0x3f000000, #0.neg
	+CUBE_TSEL t1, r1, 0x3f333333, r5
	*FMA.f32.clamp_0_1 r1:t0, t0, t1, 0x3f000000
	+NOP
	*NOP
	+CUBE_SSEL t1, 0x3f333333, r0, r5
	*FMA.f32.clamp_0_1 r0:t0, r4, t1, 0x3f000000
	+NOP
	*MOV.i32 t0, 0x00000100
	+MOV.i32 r6:t1, t
	*NOP
	+TEXC.skip r3, r2, 0xf0407800, @r6
}
clause message=tex slot=0 wait=0,6 prefetch {
	*NOP
	+TEXS_CUBE.f16.skip r0, r1, r5, sampler_index:0, texture_index:0, @r0
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*NOP
	+FADD.v2f16 t1, r1, r7
	*FMA.v2f16 r1:t0, 0x00003800.h00, t1, #0.neg
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t0.h1, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+FADD.v2f16 t1, r0, r6
	*FMA.v2f16 r0:t0, 0x00003800.h00, t1, #0.neg
	+NOP
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 5
