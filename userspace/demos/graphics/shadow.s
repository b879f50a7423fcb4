; SPDX-License-Identifier: MIT
; Varying 0: a color. Varying 1: where the fragment is for the lamp, x, y and depth. Texture 0: what
; the lamp sees, compared with that depth. What the lamp does not see gets 3/8 of its light.
clause message=varying slot=0 {
	*NOP
	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0
}
clause message=varying slot=0 wait=0 {
	*NOP
	+LD_VAR_IMM.f32.store.center.v3 zero.w1, index:1, @r4
}
; texture 0, sampler 0, 2D, shadow, level 0, 32-bit float, red alone
clause message=tex slot=0 wait=0,6 {
	*NOP
	+TEXC.skip r4, r5, 0x14697800, @r6
}
clause message=atest slot=0 wait=0,6,7 td {
	*FMA.f32 t0, r6, 0x3f200000 /* 0.625 */, 0x3ec00000 /* 0.375 */
	+NOP
	*FMA.f32 r0:t0, r0, t0, #0.neg
	+MOV.i32 r7:t1, t0
	*FMA.f32 r1:t0, r1, t1, #0.neg
	+NOP
	*FMA.f32 r2:t0, r2, r7, #0.neg
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, r3, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
