; SPDX-License-Identifier: MIT
clause message=atest slot=0 wait=0 td prefetch {
	*NOP
	+MOV.i32 t1, 0x3f800000
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t1, @r60
}
clause message=z_stencil slot=0 wait=0 td prefetch {
	*NOP
	+LD_VAR_SPECIAL.frag_z.clobber.f32.center zero.w1, @r2
}
clause message=z_stencil slot=0 wait=0,6,7 td prefetch {
	*FMA.f32 t0, r2, 0x3e800000, #0.neg
	+NOP
	*FMA.f32 t0, r0, 0x3f000000, t0
	+ZS_EMIT.z t, 0x3f000000, r60, @r60
}
clause end message=blend slot=0 td {
	*MOV.i32 r2:t0, #0
	+MOV.i32 r3:t1, 0x3f800000
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 5
