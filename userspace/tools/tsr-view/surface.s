; SPDX-License-Identifier: MIT
; A surface in the light of one lamp far away, from both sides:
; texture 0 at varying 1, times the base color, times (ambient + diffuse * |normal * lamp|).
; Push words: 0 to 2 where the lamp is, 4 ambient, 5 diffuse, 6 to 9 the base color. Varying 0 is the normal.
clause message=varying slot=0 wait=0 prefetch {
	*NOP
	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0
}
clause message=vartex slot=0 wait=0,6 prefetch {
	*NOP
	+VAR_TEX.f32.store.center.skip.computed_lod varying_index:1, texture_index:0, @r4
}
clause prefetch {
	*FMA.f32 t0, r0, r0, 0x1e3ce508 /* 1e-20: a normal may be 0 */
	+NOP
	*FMA.f32 t0, r1, r1, t0
	+NOP
	*FMA.f32 r3:t0, r2, r2, t0
	+NOP
	*FMA.f32 t0, r0, u0.w0, #0.neg
	+NOP
	*FMA.f32 t0, r1, u0.w1, t0
	+NOP
	*FMA.f32 r0:t0, r2, u1.w0, t0
	+FRSQ.f32 r1:t1, r3
	*FMA.f32 r0:t0, t0, t1, #0.neg
	+NOP
}
clause prefetch {
	*NOP
	+FADD.f32 r0:t1, r0.abs, zero.w0
	*FMA.f32.clamp_0_1 r0:t0, t1, u2.w1, u2.w0
	+NOP
	*FMA.f32 r4:t0, r4, u3.w0, #0.neg
	+NOP
	*FMA.f32 r5:t0, r5, u3.w1, #0.neg
	+NOP
	*FMA.f32 r6:t0, r6, u4.w0, #0.neg
	+NOP
	*FMA.f32 r3:t0, r7, u4.w1, #0.neg
	+NOP
}
clause prefetch {
	*FMA.f32 t0, r4, r0, #0.neg
	+MOV.i32 r4:t1, r0
	*MOV.i32 r0:t0, t0
	+NOP
	*FMA.f32 r1:t0, r5, r4, #0.neg
	+NOP
	*FMA.f32 r2:t0, r6, r4, #0.neg
	+NOP
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, r3, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
