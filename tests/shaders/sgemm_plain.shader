# SPDX-License-Identifier: MIT
# [CS1] a tile of C = A B: two loads in a loop; 16 x 16 elements of 512 x 512 matrices
group 16 16
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
# sums of small integers: exact in any order
expect &c+0 f32 { f32 3053 3066 3074 3072 3065 3053 3066 3074 3072 3065 3053 3066 3074 3072 3065 3053 }
expect &c+2048 f32 { f32 3074 3068 3057 3066 3075 3074 3068 3057 3066 3075 3074 3068 3057 3066 3075 3074 }
expect &c+14336 f32 { f32 3053 3066 3074 3072 3065 3053 3066 3074 3072 3065 3053 3066 3074 3072 3065 3053 }
expect &c+30720 f32 { f32 3074 3068 3057 3066 3075 3074 3068 3057 3066 3075 3074 3068 3057 3066 3075 3074 }
