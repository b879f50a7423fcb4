# SPDX-License-Identifier: MIT
# [CS2] histogram in group memory: atomics, group sync, atomics on the buffer
group 256
grid 3
group-memory 1024
buffer in 3072 { u32 scatter 768 2654435761 24 }
buffer out 1024
push { u64 &in &out }
code assembly
	clause message=store slot=0 wait=0 prefetch {
		*LSHIFT_OR.i32 r1:t0, r55, #0, 0x2
		*NOP
		+MOV.i32 r5:t1, 0x0
		*NOP
		+STORE.i32.wls r1, 0x0, @r5
	}
	clause message=load slot=1 wait=0,1 prefetch {
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
	clause message=barrier slot=7 wait=7 prefetch {
		*NOP
		+BARRIER
	}
	clause message=atomic slot=0 wait=0 prefetch {
		*LSHIFT_OR.i32 t0, r0, #0, 0x2
		*SEG_ADD.wls t0, t0
		+SEG_ADD.wls t1, zero.w0
		*ATOM_C1_RETURN.i32.ainc t0, t1
		+ATOM_CX t0, t1, zero.w1, @r2
	}
	clause message=barrier slot=7 wait=7 prefetch {
		*NOP
		+BARRIER
	}
	clause message=load slot=0 wait=0 prefetch {
		*NOP
		+IADD.s32 r4:t1, u1.w0, r1
		*NOP
		+LOAD.i32.wls r1, zero.w0, @r1
	}
	clause end message=atomic slot=0 {
		*NOP
		+ICMP.u32.gt t1, u1.w0, r4
		*NOP
		+IADD.s32 r2:t1, t1, u1.w1
		*ATOM_C_RETURN.i32.aadd r4, t1, r1
		+ATOM_CX r4, t1, r1, @r1
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
