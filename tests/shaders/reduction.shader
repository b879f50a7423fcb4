# SPDX-License-Identifier: MIT
# [CS2, PIX4] a sum as a tree in group memory: half of the threads work in each round, all meet at the group sync
group 64
grid 3
group-memory 256
buffer in 768 { f32 ramp 192 0 1 }
buffer out 12
push { u64 &in &out }
code assembly
	clause message=load slot=0 wait=0 {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+LOAD.i32 r2, t0, @r1
	}
	clause message=store slot=0 wait=0 {
		*LSHIFT_OR.i32 r3:t0, r55, #0, 0x2
		*NOP
		+MOV.i32 r4:t1, 0x40
		*NOP
		+STORE.i32.wls r3, 0x0, @r1
	}
	loop: clause flow=nbtb_unconditional message=barrier slot=7 wait=7 {
		*NOP
		+BARRIER
	}
	clause flow=nbtb_unconditional  {
		*RSHIFT_OR.i32 r4:t0, r4, #0, 0x1
		*NOP
		+ICMP.u32.gt.m1 t1, t0, r55
		*NOP
		+BRANCHZ.i16.eq t1.h0, skip
	}
	clause flow=nbtb_unconditional message=load slot=0 {
		*LSHIFT_OR.i32 t0, r4, #0, 0x2
		+IADD.s32 r5:t1, t, r3
		*NOP
		+LOAD.i32.wls t1, zero.w0, @r6
	}
	clause flow=nbtb_unconditional message=load slot=0 wait=0 {
		*NOP
		+LOAD.i32.wls r3, zero.w0, @r7
	}
	clause flow=nbtb_unconditional message=store slot=0 wait=0 {
		*FADD.f32 r7:t0, r6, r7
		*NOP
		+STORE.i32.wls r3, 0x0, @r7
	}
	skip: clause flow=nbtb_unconditional  {
		*NOP
		+ICMP.u32.gt.m1 t1, r4, 0x1
		*NOP
		+BRANCHZ.i16.ne t1.h0, loop
	}
	clause flow=nbtb_unconditional  {
		*NOP
		+ICMP.i32.eq.m1 t1, r55, 0x0
		*NOP
		+BRANCHZ.i16.eq t1.h0, done
	}
	clause flow=nbtb_unconditional message=store slot=0 wait=0 {
		*LSHIFT_OR.i32 t0, r57, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u1.w0, t0
		*MOV.i32 t0, u1.w1
		*NOP
		+STORE.i32 r2, t0, @r7
	}
	done: clause end {
		*NOP
	}
end
# 64 numbers from 0, 64 and 128 on
expect &out f32 { f32 2016 6112 10208 }
