# SPDX-License-Identifier: MIT
# [CS4] an append buffer: 1000 threads draw places from a counter, no two the same one, and store there
group 125
grid 8
buffer counter 4
buffer list 4000
push { u64 &counter &list }
code assembly
	clause message=atomic slot=0 wait=0 {
		*MOV.i32 r6:t0, 0xabcd
		+NOP
		*ATOM_C1_RETURN.i32.ainc u0.w0, u0.w1
		+ATOM_CX u0.w0, u0.w1, r4, @r4
	}
	clause end message=store slot=0 {
		*LSHIFT_OR.i32 t0, r4, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u1.w0, t0
		*NOP
		+ICMP.u32.gt t1, u1.w0, t1
		*NOP
		+IADD.s32 t1, t1, u1.w1
		*NOP
		+STORE.i32 r2, t1, @r6
	}
end
expect &counter u32 { u32 1000 }
expect &list u32 { u32 fill 1000 0xabcd }
