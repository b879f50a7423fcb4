# SPDX-License-Identifier: MIT
# [CS3] histogram: atomic increments of 256 words, words and bins by many threads at once
group 256
grid 3
buffer in 3072 { u32 scatter 768 2654435761 24 }
buffer out 1024
push { u64 &in &out }
code assembly
	clause message=load slot=0 wait=0 prefetch {
		*LSHIFT_OR.i32 t0, r58, #0, 0x7
		+IADD.s32 t1, t, r57
		*LSHIFT_OR.i32 t0, t1, r55, 0x8
		*LSHIFT_OR.i32 t0, t0, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*NOP
		+ICMP.u32.gt t1, u0.w0, t1
		*NOP
		+IADD.s32 t1, t1, u0.w1
		*NOP
		+LOAD.i32 r2, t1, @r0
	}
	clause end message=atomic slot=0 {
		*LSHIFT_OR.i32 t0, r0, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u1.w0, t0
		*NOP
		+ICMP.u32.gt t1, u1.w0, t1
		*NOP
		+IADD.s32 r3:t1, t1, u1.w1
		*ATOM_C1_RETURN.i32.ainc r2, t1
		+ATOM_CX r2, t1, r4, @r4
	}
end
# counted by a program of another language
expect &out u32 { u32
	4 3 2 4 3 3 3 2 4 3 3 3 3 4 2 3 3 3 3 3 2 4 3 3 4 2 4 3 2 3 3 3
	3 3 3 3 3 3 3 3 3 2 4 2 3 4 3 4 2 3 3 3 3 3 3 3 3 2 4 3 4 3 2 4
	2 3 3 3 3 3 3 3 3 3 3 3 3 2 3 4 2 4 3 3 4 2 3 3 3 3 3 2 4 3 3 3
	3 3 2 3 3 3 4 2 3 4 3 3 3 3 3 3 2 4 2 4 3 3 3 2 4 3 3 3 3 3 3 3
	3 3 3 3 2 3 4 2 4 2 4 3 2 3 3 4 3 3 2 4 3 3 3 3 3 2 3 3 3 4 3 4
	2 3 3 3 3 3 2 3 4 2 4 3 3 3 2 3 3 3 3 3 4 3 3 3 3 3 3 2 3 3 3 4
	2 4 3 2 3 3 3 3 3 3 3 3 4 3 3 3 2 3 3 3 3 3 4 2 3 3 4 3 3 2 3 4
	2 4 2 4 3 2 3 3 3 3 3 3 3 3 3 3 3 4 2 3 3 3 4 2 4 2 3 3 3 3 3 3
}
