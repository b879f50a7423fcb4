# SPDX-License-Identifier: MIT
# [MEM6] a load behind the end of a buffer faults in the thread that does it
group 48
buffer in 80
push { u64 &in }
code assembly
	bad: clause end message=load slot=0 {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+LOAD.i32 r2, t0, @r0
	}
end
# 80 bytes are 20 threads; the buffer ends at most 48 bytes before its page, which are 12 more
expect fault MMU_UNMAPPED { clause &bad tuple 3 add lane 0 warp 2 group 0 0 0 }
