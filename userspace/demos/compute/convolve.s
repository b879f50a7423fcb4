; SPDX-License-Identifier: MIT
; A 5 x 5 convolution of a picture that is framed by two texels on each side: 0.5 plus the sum of
; weight * sample, row by row and from left to right, limited to 0 and 255 and cut to an integer;
; alpha stays.
;
; push: u0.w0 bytes from row to row of the input, u0.w1 of the result, u2 input (read), u4 result
;       (written)
; uniform buffer 0: the 25 weights
;
; r0 offset of the row's weights, r1 rows left, r2 r3 address of the row, r4 to r8 its texels, r9
; to r13 its weights, r14 r15 r48 sums of red, green and blue, r49 the texel in the middle
.local 16, 4, 1

clause {
	*IMUL.i32 t0, r61, u0.w0
	*SHADDXL.u32 t0, u2.w0, t0, shift:0
	+SHADDXH.i32 t1, u2.w1, t
	*SHADDXL.u32 r2, t0, r60, shift:2
	+SHADDXH.i32 r3, t1, t
	*MOV.i32 r0, #0
	+MOV.i32 r1, 0x5
	*MOV.i32 r14, 0.5
	+MOV.i32 r15, 0.5
	*MOV.i32 r48, 0.5
}
row: clause slot=0 {
	+LOAD.i128 r2, r3, @r4
}
clause slot=0 {
	*SHADDXL.u32 t0, r2, 0x10, shift:0
	+SHADDXH.i32 t1, r3, t
	+LOAD.i32 t0, t1, @r8
}
clause slot=0 {
	+LOAD.i128.ubo r0, zero.w0, @r9
}
clause slot=0 wait=0 {
	+IADD.u32 t1, r0, 0x10
	+LOAD.i32.ubo t1, zero.w0, @r13
}
clause {
	+U8_TO_F32 t1, r4.b0
	*FMA.f32 r14, t1, r9, r14
	+U8_TO_F32 t1, r4.b1
	*FMA.f32 r15, t1, r9, r15
	+U8_TO_F32 t1, r4.b2
	*FMA.f32 r48, t1, r9, r48
	+U8_TO_F32 t1, r5.b0
	*FMA.f32 r14, t1, r10, r14
	+U8_TO_F32 t1, r5.b1
	*FMA.f32 r15, t1, r10, r15
	+U8_TO_F32 t1, r5.b2
	*FMA.f32 r48, t1, r10, r48
	+U8_TO_F32 t1, r6.b0
	*FMA.f32 r14, t1, r11, r14
}
clause {
	+U8_TO_F32 t1, r6.b1
	*FMA.f32 r15, t1, r11, r15
	+U8_TO_F32 t1, r6.b2
	*FMA.f32 r48, t1, r11, r48
	+U8_TO_F32 t1, r7.b0
	*FMA.f32 r14, t1, r12, r14
	+U8_TO_F32 t1, r7.b1
	*FMA.f32 r15, t1, r12, r15
	+U8_TO_F32 t1, r7.b2
	*FMA.f32 r48, t1, r12, r48
	+U8_TO_F32 t1, r8.b0
	*FMA.f32 r14, t1, r13, r14
	+U8_TO_F32 t1, r8.b1
	*FMA.f32 r15, t1, r13, r15
}
	; the end of the row; of the third one, the texel in the middle is kept
clause {
	+U8_TO_F32 t1, r8.b2
	*FMA.f32 r48, t1, r13, r48
	*CSEL.i32.eq r49, r1, 0x3, r6, r49
	+IADD.s32 r1, r1, -1
	*SHADDXL.u32 r2, r2, u0.w0, shift:0
	+SHADDXH.i32 r3, r3, t
	+IADD.u32 r0, r0, 0x14
	+BRANCHZ.i32.ne r1, row
}
clause {
	+FMIN.f32 t1, r14, 255.0
	+F32_TO_U32.rtz r14, t1
	+FMIN.f32 t1, r15, 255.0
	+F32_TO_U32.rtz t1, t1
	*LSHIFT_OR.i32 r14, t1, r14, 0x8
	+FMIN.f32 t1, r48, 255.0
	+F32_TO_U32.rtz t1, t1
	*LSHIFT_OR.i32 r14, t1, r14, 0x10
}
clause slot=0 end {
	*LSHIFT_AND.i32 t0, r49, 0xff000000, 0x0
	*LSHIFT_OR.i32 r14, t0, r14, 0x0
	*IMUL.i32 t0, r61, u0.w1
	*SHADDXL.u32 t0, u4.w0, t0, shift:0
	+SHADDXH.i32 t1, u4.w1, t
	*SHADDXL.u32 t0, t0, r60, shift:2
	+SHADDXH.i32 t1, t1, t
	+STORE.i32 t0, t1, @r14
}
