# SPDX-License-Identifier: MIT
# C = A B, 512 x 512, one element for each thread
group 16 16
grid 32 32
buffer a 1048576 { f32 ramp 262144 0 1 mod 7 }
buffer b 1048576 { f32 ramp 262144 0 1 mod 5 }
buffer c 1048576
push { u64 &a &b &c }
code assembly
	clause {
		*LSHIFT_OR.i32 t0, r61, #0, 0xb
		*NOP
		+IADD.s32 r0:t1, u0.w0, t0
		*NOP
		+ICMP.u32.gt t1, u0.w0, t1
		*NOP
		+IADD.s32 r1:t1, u0.w1, t1
	}
	clause {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u1.w0, t0
		*NOP
		+ICMP.u32.gt t1, u1.w0, t1
		*NOP
		+IADD.s32 r3:t1, u1.w1, t1
		*NOP
		+MOV.i32 r4:t1, 0x0
		*NOP
		+MOV.i32 r5:t1, 0x0
	}
	loop: clause flow=nbtb_unconditional message=load slot=0 wait=0 {
		*NOP
		+LOAD.i32 r0, r1, @r6
	}
	clause flow=nbtb_unconditional message=load slot=0 wait=0 {
		*NOP
		+LOAD.i32 r2, r3, @r7
	}
	clause flow=nbtb_unconditional  {
		*FMA.f32 r4:t0, r6, r7, r4
		*NOP
		+IADD.s32 t1, r0, 0x4
		*NOP
		+ICMP.u32.gt t1, r0, t1
		*NOP
		+IADD.s32 r1:t1, r1, t1
		*NOP
		+IADD.s32 r0:t1, r0, 0x4
	}
	clause flow=nbtb_unconditional  {
		*NOP
		+IADD.s32 r8:t1, r2, 0x800
		*NOP
		+ICMP.u32.gt t1, r2, t1
		*NOP
		+IADD.s32 r3:t1, r3, t1
		*NOP
		+MOV.i32 r2:t1, r8
		*NOP
		+IADD.s32 r5:t1, r5, 0x1
		*NOP
		+ICMP.u32.gt.m1 t1, 0x200, t1
		*NOP
		+BRANCHZ.i16.ne t1.h0, loop
	}
	clause flow=nbtb_unconditional  {
		*LSHIFT_OR.i32 t0, r61, #0, 0x9
		+IADD.s32 t1, t, r60
		*LSHIFT_OR.i32 t0, t1, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u2.w0, t0
		*NOP
		+ICMP.u32.gt t1, u2.w0, t1
		*NOP
		+IADD.s32 r3:t1, t1, u2.w1
	}
	clause end message=store slot=0 {
		*NOP
		+STORE.i32 r2, r3, @r4
	}
end
