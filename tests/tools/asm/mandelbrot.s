; SPDX-License-Identifier: MIT
clause flow=nbtb_unconditional td prefetch {
	*FMA.f32 r0:t0, r0, 0x40400000, 0xc00ccccd
	+NOP
	*NOP
	+MOV.i32 r2:t1, zero.w0
	*FMA.f32 r1:t0, r1, 0x40400000, 0xbfc00000
	+MOV.i32 r3:t1, r0
	*NOP
	+MOV.i32 r4:t1, t0
}
L40:
clause flow=nbtb_unconditional td prefetch {
	*NOP
	+FADD.f32 r5:t1, r3, r3
	*FMA.f32 t0, r3, r3, r0
	+NOP
	*FMA.f32 r3:t0, r4, r4.neg, t0
	+NOP
	*FMA.f32 r4:t0, r5, r4, r1
	+NOP
	*FMA.f32 t0, t0, t0, #0.neg
	+NOP
	*FMA.f32 t0, r3, r3, t0
	+NOP
	*FCMP.f32.lt.m1 t0, 0x40800000, t0
	+BRANCHZ.i16.eq t.h0, Lc0
}
clause flow=nbtb_unconditional wait=6 td next=atest {
	*MOV.i32 r0:t0, r2
	+JUMP L140
}
Lc0:
clause flow=nbtb_unconditional td prefetch {
	*NOP
	+IADD.s32 r2:t1, r2, 0x00000001
	*NOP
	+ICMP.s32.ge.m1 t1, t1, 0x00000040
	*NOP
	+BRANCHZ.i16.eq t1.h0, L120
}
clause flow=nbtb_unconditional wait=6 td next=atest {
	*MOV.i32 r0:t0, r2
	+JUMP L140
}
L120:
clause flow=nbtb_unconditional td next=none {
	*NOP
	+JUMP L40
}
L140:
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*NOP
	+MOV.i32 t1, 0x3f800000
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t1, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+S32_TO_F32 t1, r0
	*FMA.f32 r0:t0, t1, 0x3c800000, #0.neg
	+MOV.i32 r1:t1, t
	*MOV.i32 r2:t0, t0
	+MOV.i32 r3:t1, 0x3f800000
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 4
