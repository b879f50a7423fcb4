; SPDX-License-Identifier: MIT
; A texture in the light of one lamp: ambient, Lambert, Blinn-Phong. From a public compiler.
clause message=varying slot=0 wait=0 prefetch {
	*NOP
	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:1, @r0
}
clause message=varying slot=0 wait=0 prefetch {
	*NOP
	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r4
}
clause prefetch {
	*NOP
	+FADD.f32 r0:t1, u1.w0, r0.neg
	*FMA.f32 t0, t1, t1, #0.neg
	+FADD.f32 r7:t1, u0.w1, r7.neg
	*FMA.f32 t0, t1, t1, t0
	+FADD.f32 r6:t1, u0.w0, r6.neg
	*FMA.f32 t0, t1, t1, t0
	+NOP
	*NOP
	+FRSQ.f32 r8:t1, t0
	*FMA.f32 r0:t0, r0, t1, u2.w1
	+NOP
	*FMA.f32 r7:t0, r7, r8, u2.w0
	+NOP
	*FMA.f32 r6:t0, r6, r8, u1.w1
	+NOP
}
clause prefetch {
	*FMA.f32 t0, r0, r0, #0.neg
	+NOP
	*FMA.f32 r8:t0, r7, r7, t0
	+NOP
	*FMA.f32 t0, r3, r3, #0.neg
	+NOP
	*FMA.f32 r9:t0, r2, r2, t0
	+NOP
	*FMA.f32 t0, r6, r6, r8
	+NOP
	*FMA.f32 t0, r1, r1, r9
	+FRSQ.f32 r8:t1, t0
	*FMA.f32 r0:t0, r0, t1, #0.neg
	+FRSQ.f32 r9:t1, t0
	*FMA.f32 r3:t0, r3, t1, #0.neg
	+NOP
}
clause prefetch {
	*FMA.f32 r0:t0, r3, r0, #0.neg
	+NOP
	*FMA.f32 r7:t0, r7, r8, #0.neg
	+NOP
	*FMA.f32 r2:t0, r2, r9, #0.neg
	+NOP
	*FMA.f32 r0:t0, t0, r7, r0
	+NOP
	*FMA.f32 r6:t0, r6, r8, #0.neg
	+NOP
	*FMA.f32 r1:t0, r1, r9, #0.neg
	+NOP
	*FMA.f32.clamp_0_inf r0:t0, t0, r6, r0
	+FREXPE.f32.log t1, t
	*NOP
	+S32_TO_F32 r6:t1, t1
}
clause message=tex slot=0 wait=0,6 prefetch {
	*FADD_LSCALE.f32 t0, 0xbf800000 /* -1 */, r0
	+FLOGD.f32 t1, r0
	*FMA.f32 r0:t0, t1, t0, r6
	+NOP
	*FMA.f32 t0, r3, u2.w1, #0.neg
	+NOP
	*FMA.f32 r2:t0, r2, u2.w0, t0
	+NOP
	*FMA_RSCALE.f32 r0:t0, 0x42000000 /* 32 */, r0, #0.neg, 0x00000018
	+NOP
	*FMA.f32.clamp_0_inf r1:t0, r1, u1.w1, r2
	+F32_TO_S32 t1, t0
	*NOP
	+FEXP.f32 r0:t1, t1, r0
	*NOP
	+TEXS_2D.f16.skip.computed_lod r4, r5, texture_index:0, sampler_index:0, @r2
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*FMA.f32 r0:t0, 0x3ecccccd /* 0.4 */, r0, #0.neg
	+NOP
	*FMA.f32 r1:t0, 0x3f4ccccd /* 0.8 */, r1, 0x3e4ccccd /* 0.2 */
	+F16_TO_F32 t1, r3
	*FMA.f32 r3:t0, t1, t0, r0
	+NOP
	*NOP
	+F16_TO_F32 t1, r2.h1
	*FMA.f32 r4:t0, t1, r1, r0
	+NOP
	*NOP
	+F16_TO_F32 t1, r2
	*FMA.f32 r0:t0, t1, r1, r0
	+MOV.i32 t1, 0x3f800000 /* 1 */
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t1, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+MOV.i32 r1:t1, r4
	*MOV.i32 r2:t0, r3
	+MOV.i32 r3:t1, 0x3f800000 /* 1 */
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
