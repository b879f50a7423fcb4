; SPDX-License-Identifier: MIT
; One element of C = A * B for each thread: a chain of fused multiply-adds over k, four steps at a
; time.
;
; push: u0.w0 columns of A, u0.w1 bytes from row to row of A, u1.w0 of B and C, u2 A (read), u4 B
;       (read), u6 C (written)
; r0 r1 address in A, r2 r3 in B, r4 to r7 of A, r8 to r11 of B, r12 sum, r13 columns of A left
.local 16, 16, 1

clause {
	*IMUL.i32 t0, r61, u0.w1
	+MOV.i32 r13, u0.w0
	*SHADDXL.u32 r0, u2.w0, t0, shift:0
	+SHADDXH.i32 r1, u2.w1, t
	*SHADDXL.u32 r2, u4.w0, r60, shift:2
	+SHADDXH.i32 r3, u4.w1, t
	*MOV.i32 r12, #0
}
four: clause slot=0 {
	+LOAD.i128 r0, r1, @r4
}
clause slot=0 {
	+LOAD.i32 r2, r3, @r8
	*SHADDXL.u32 r2, r2, u1.w0, shift:0
	+SHADDXH.i32 r3, r3, t
	*NOP
}
clause slot=0 {
	+LOAD.i32 r2, r3, @r9
	*SHADDXL.u32 r2, r2, u1.w0, shift:0
	+SHADDXH.i32 r3, r3, t
	*NOP
}
clause slot=0 {
	+LOAD.i32 r2, r3, @r10
	*SHADDXL.u32 r2, r2, u1.w0, shift:0
	+SHADDXH.i32 r3, r3, t
	*NOP
}
clause slot=0 wait=0 {
	+LOAD.i32 r2, r3, @r11
	*SHADDXL.u32 r2, r2, u1.w0, shift:0
	+SHADDXH.i32 r3, r3, t
	*NOP
}
clause {
	*FMA.f32 t0, r4, r8, r12
	*FMA.f32 t0, r5, r9, t0
	+IADD.s32 r13, r13, -4
	*FMA.f32 t0, r6, r10, t0
	*FMA.f32 r12, r7, r11, t0
	*SHADDXL.u32 r0, r0, 0x10, shift:0
	+SHADDXH.i32 r1, r1, t
	+BRANCHZ.i32.ne r13, four
}
clause slot=0 end {
	*IMUL.i32 t0, r61, u1.w0
	*SHADDXL.u32 t0, u6.w0, t0, shift:0
	+SHADDXH.i32 t1, u6.w1, t
	*SHADDXL.u32 t0, t0, r60, shift:2
	+SHADDXH.i32 t1, t1, t
	+STORE.i32 t0, t1, @r12
}
