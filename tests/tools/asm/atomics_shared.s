; SPDX-License-Identifier: MIT
clause flow=nbtb_unconditional wait=0 prefetch next=none {
	*U16_TO_U32 r0:t0, r55
	+ICMP.u32.gt.m1 r1:t1, 0x00000004, t
	*NOP
	+BRANCHZ.i16.eq t1.h0, L70
}
clause flow=nbtb_unconditional message=store slot=0 {
	*NOP
	+MOV.i32 r3:t1, zero.w0
	*LSHIFT_OR.i32 t0, r0, #0, 0x00000002
	+STORE.i32.wls t, 0x00000000, @r3
	*NOP
	+JUMP L70
}
L70:
clause flow=nbtb_unconditional wait=0,1,2,3,4,5 prefetch next=barrier {
	*NOP
	+ICMP.i32.m1.eq t1, r0, zero.w0
	*NOP
	+BRANCHZ.i16.eq t1.h0, Le0
}
clause flow=nbtb_unconditional message=store slot=0 wait=0,1,2,3,4,5 {
	*NOP
	+MOV.i32 r2:t1, 0x00000064
	*NOP
	+STORE.i32.wls 0x00000010, 0x00000000, @r2
	*NOP
	+JUMP Le0
}
Le0:
clause message=barrier slot=7 wait=0,7 prefetch {
	*NOP
	+BARRIER
}
clause message=atomic slot=0 wait=0 prefetch {
	*NOP
	+MOV.i32 r4:t1, r0
	*SEG_ADD.wls t0, #0
	+SEG_ADD.wls t1, zero.w0
	*ATOM_C_RETURN.i32.aadd t0, t1, r4
	+ATOM_CX t0, t1, r4, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*LSHIFT_OR.i32 r4:t0, 0x00000001, #0, r0
	+NOP
	*SEG_ADD.wls t0, 0x00000004
	+SEG_ADD.wls t1, 0x00000000
	*ATOM_C_RETURN.i32.aor t0, t1, r4
	+ATOM_CX t0, t1, r4, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*IMUL.i32 r4:t0, r0, 0x00000003
	+NOP
	*SEG_ADD.wls t0, 0x00000008
	+SEG_ADD.wls t1, 0x00000000
	*ATOM_C_RETURN.i32.aumax t0, t1, r4
	+ATOM_CX t0, t1, r4, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*NOP
	+MOV.i32 r2:t1, r0
	*NOP
	+AXCHG.i32.wls 0x0000000c, 0x00000000, @r2
}
clause message=atomic slot=0 wait=0 prefetch {
	*SEG_ADD.wls r2:t0, 0x00000010
	+SEG_ADD.wls r3:t1, 0x00000000
	*NOP
	+IADD.s32 r4:t1, 0xffffffec, r0
	*ATOM_C_RETURN.i32.asmin r2, r3, t1
	+ATOM_CX r2, r3, t1, @r4
}
clause message=atomic slot=0 wait=0,1,2,3,4,5 prefetch {
	*MOV.i32 r2:t0, 0x00000063
	+MOV.i32 r3:t1, 0x00000005
	*NOP
	+ACMPXCHG.i32.wls 0x0000000c, 0x00000000, @r2
}
clause message=barrier slot=7 wait=7 prefetch {
	*NOP
	+BARRIER
}
clause flow=nbtb_unconditional wait=0 prefetch next=none {
	*NOP
	+BRANCHZ.i16.eq r1.h0, L2e0
}
clause message=load slot=0 wait=0 prefetch {
	*LSHIFT_OR.i32 r1:t0, r0, #0, 0x00000002
	+LOAD.i32.wls t, 0x00000000, @r2
}
clause flow=nbtb_unconditional message=store slot=0 {
	*NOP
	+IADD.s32 r1:t1, u0.w0, r1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*NOP
	+STORE.i32 r1, t1, @r2
	*NOP
	+JUMP L2e0
}
L2e0:
clause flow=nbtb_unconditional wait=0 next=none {
	*NOP
	+ICMP.i32.m1.eq t1, r0, 0x00000004
	*NOP
	+BRANCHZ.i16.eq t1.h0, zero.w0
}
clause message=load slot=0 wait=0 prefetch {
	*NOP
	+LOAD.i32.wls 0x00000010, 0x00000000, @r0
}
clause end message=store slot=0 {
	*NOP
	+MOV.i32 t1, 0x00000010
	*NOP
	+IADD.s32 r1:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*NOP
	+STORE.i32 r1, t1, @r0
	*NOP
	+JUMP zero.w0
}
.zero 3
