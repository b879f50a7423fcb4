# SPDX-License-Identifier: MIT
# [ISA14] a misaligned store faults with clause, tuple, lane and address; earlier clauses have happened
group 16
buffer out 64
buffer odd 64
push { u64 &out &odd }
code assembly
	clause message=store slot=0 wait=0 {
		*LSHIFT_OR.i32 r0:t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i32 r2, t0, @r60
	}
	; lane 5 stores to odd + 5 * 4 + 2
	clause prefetch {
		*NOP
		+ICMP.i32.eq.i1 t1, r60, 0x5
		*LSHIFT_OR.i32 t0, t1, r0, 0x1
		*NOP
		+IADD.s32 r4:t1, u1.w0, t0
	}
	bad: clause end message=store slot=0 {
		*MOV.i32 t0, u1.w1
		*NOP
		+STORE.i32 r4, t0, @r60
	}
end
expect &out u32 { u32 ramp 16 0 1 }
expect fault SHADER_ALIGNMENT { clause &bad tuple 1 add lane 5 warp 0 group 0 0 0 address &odd+22 }
