# SPDX-License-Identifier: MIT
# [PIX4, ISA12] divergence: each thread runs a loop as often as its id says, and all meet behind it
group 50
buffer out 200
push { u64 &out }
code assembly
	clause flow=nbtb_unconditional {
		*MOV.i32 r0:t0, r60
		*NOP
		+MOV.i32 r1:t1, 0x0
	}
	loop: clause flow=nbtb_unconditional {
		*NOP
		+ICMP.i32.eq.m1 t1, r0, 0x0
		*NOP
		+BRANCHZ.i16.ne t1.h0, done
	}
	clause flow=nbtb_unconditional {
		*NOP
		+IADD.s32 r1:t1, r1, r0
		*NOP
		+IADD.s32 r0:t1, r0, -1
		*NOP
		+JUMP loop
	}
	done: clause flow=nbtb_unconditional {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
	}
	clause end message=store slot=0 {
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i32 r2, t0, @r1
	}
end
# i (i + 1) / 2
expect &out u32 {
	u32 0 1 3 6 10 15 21 28 36 45 55 66 78 91 105 120 136 153 171 190 210 231 253 276 300
	325 351 378 406 435 465 496 528 561 595 630 666 703 741 780 820 861 903 946 990
	1035 1081 1128 1176 1225
}
