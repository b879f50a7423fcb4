; SPDX-License-Identifier: MIT
; The Mandelbrot set by pixel; push word 0: pixels to numbers. From a public compiler.
clause td prefetch {
	*NOP
	+U16_TO_F32 r1:t1, r59.h1
}
clause flow=nbtb_unconditional td prefetch {
	*NOP
	+FADD.f32 t1, r1, 0x3f000000 /* 0.5 */
	*FMA.f32 r1:t0, t1, u0.w0, u0.w1
	+U16_TO_F32 t1, r59
	*FADD.f32 t0, t1, 0x3f000000 /* 0.5 */
	+MOV.i32 t1, 0xc0000000 /* -2 */
	*FMA.f32 r0:t0, t0, u1.w0, t1
	+NOP
	*NOP
	+MOV.i32 t1, 0xbfc00000 /* -1.5 */
	*FMA.f32 r1:t0, r1, u1.w0, t1
	+NOP
	*MOV.i32 r2:t0, #0
	+MOV.i32 r3:t1, zero.w0
	*NOP
	+MOV.i32 r4:t1, zero.w0
}
L80:
clause flow=nbtb_unconditional td prefetch {
	*FMA.f32 t0, r4, r4, #0.neg
	+NOP
	*FMA.f32 t0, r3, r3, t0
	+NOP
	*FCMP.f32.lt.m1 t0, 0x40800000 /* 4 */, t0
	+BRANCHZ.i16.eq t.h0, Ld0
}
clause flow=nbtb_unconditional wait=6 td next=atest {
	*MOV.i32 r0:t0, r2
	+JUMP L170
}
Ld0:
clause flow=nbtb_unconditional td prefetch {
	*NOP
	+FADD.f32 r5:t1, r3, r3
	*FMA.f32 t0, r3, r3, r0
	+NOP
	*FMA.f32 r3:t0, r4, r4.neg, t0
	+NOP
	*FMA.f32 r4:t0, r5, r4, r1
	+NOP
	*NOP
	+IADD.s32 r2:t1, r2, 0x00000001
	*NOP
	+ICMP.s32.ge.m1 t1, t1, 0x00000100
	*NOP
	+BRANCHZ.i16.eq t1.h0, L150
}
clause flow=nbtb_unconditional wait=6 td next=atest {
	*MOV.i32 r0:t0, r2
	+JUMP L170
}
L150:
clause flow=nbtb_unconditional td next=none {
	*NOP
	+JUMP L80
}
L170:
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*NOP
	+S32_TO_F32 r0:t1, r0
	*FMA.f32 t0, t1, 0x3c800000 /* 0.015625 */, #0.neg
	+NOP
	*FROUND.f32.rtn t0, t0
	+FADD.f32 r1:t1, t0, t.neg
	*FMA.f32 t0, r0, 0x3d800000 /* 0.0625 */, #0.neg
	+FROUND.f32.rtn t1, t
	*FADD.f32 r2:t0, t0, t1.neg
	+MOV.i32 t1, 0x3f800000 /* 1 */
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t1, @r60
}
clause end message=blend slot=0 td {
	*FMA.f32 t0, r0, 0x3b800000 /* 0.00390625 */, #0.neg
	+MOV.i32 r0:t1, r2
	*MOV.i32 r2:t0, t0
	+MOV.i32 r3:t1, 0x3f800000 /* 1 */
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
