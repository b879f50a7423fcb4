; SPDX-License-Identifier: MIT
; How often z * z + c can be repeated until |z| > 2, for each texel of a picture.
;
; push: u0.w0 the limit, u0.w1 bytes from row to row, u1.w0 step from texel to texel (float),
;       u2.w0 left edge, u2.w1 top edge (floats), u4 the numbers (written)
;
; Threads that are done wait at the end for those of their warp that are not.
;
; r0 x, r1 y, r2 n, r3 r4 c, r5 step, r6 4.0, r7 limit, r8 x * x, r9 y * y, r10 x * y
.local 16, 4, 1

clause {
	*MOV.i32 r5:t0, u1.w0
	+U32_TO_F32 t1, r60
	*FMA.f32 r3, t1, t0, u2.w0
	+U32_TO_F32 t1, r61
	*FMA.f32 r4, t1, r5, u2.w1
	*MOV.i32 r0, #0
	+MOV.i32 r6, 4.0
	*MOV.i32 r1, #0
	+MOV.i32 r7, u0.w0
	*MOV.i32 r2, #0
}
again: clause flow=nbtb_unconditional {
	*FMA.f32 r8, r0, r0, #0
	*FMA.f32 r9:t0, r1, r1, #0
	*FMA.f32 r10, r0, r1, #0
	+FADD.f32 t1, r8, t0
	+BRANCH.f32.lt r6, t1, done
}
clause flow=nbtb_unconditional {
	*FMA.f32 r1, r10, 2.0, r4
	*NOP
	+FADD.f32 t1, r8, r9.neg
	*FADD.f32 r0, t1, r3
	+IADD.u32 r2:t1, r2, 0x1
	+BRANCH.u32.lt t1, r7, again
}
done: clause slot=0 end {
	*IMUL.i32 t0, r61, u0.w1
	*SHADDXL.u32 t0, u4.w0, t0, shift:0
	+SHADDXH.i32 t1, u4.w1, t
	*SHADDXL.u32 t0, t0, r60, shift:2
	+SHADDXH.i32 t1, t1, t
	+STORE.i32 t0, t1, @r2
}
