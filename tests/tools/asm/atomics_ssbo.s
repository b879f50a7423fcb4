; SPDX-License-Identifier: MIT
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_C1_RETURN.i32.ainc u0.w0, u0.w1
	+ATOM_CX u0.w0, u0.w1, u0.w1, @r0
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aadd r0:t0, r0, r1
	+MOV.i32 t1, 0x00000004
	*NOP
	+IADD.s32 r1:t1, u0.w0, t1
	*MOV.i32 r3:t0, r60
	+ICMP.u32.gt t1, u0.w0, t1
	*MOV.i32 r4:t0, t0
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.aadd r1, t1, t0
	+ATOM_CX r1, t1, t0, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aadd t0, r4, r5
	+NOP
	*NOP
	+IADD.s32 r0:t1, r0, t0
	*NOP
	+MOV.i32 t1, 0x00000008
	*NOP
	+IADD.s32 r1:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*LSHIFT_OR.i32 r4:t0, #0, r60.not, #0
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.aand r1, t1, t0
	+ATOM_CX r1, t1, t0, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aand t0, r4, r5
	+NOP
	*NOP
	+IADD.s32 r0:t1, r0, t0
	*LSHIFT_OR.i32 r1:t0, 0x00000001, #0, r60
	+MOV.i32 t1, 0x0000000c
	*NOP
	+IADD.s32 r2:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.aor r2, t1, r1
	+ATOM_CX r2, t1, r1, @r1
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aor t0, r1, r2
	+IADD.s32 r0:t1, r0, t
	*IMUL.i32 r1:t0, r60, 0x00000007
	+MOV.i32 t1, 0x00000010
	*NOP
	+IADD.s32 r2:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.axor r2, t1, r1
	+ATOM_CX r2, t1, r1, @r1
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.axor t0, r1, r2
	+IADD.s32 r0:t1, r0, t
	*NOP
	+MOV.i32 t1, 0x00000014
	*NOP
	+IADD.s32 r1:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*MOV.i32 r4:t0, r3
	+IADD.s32 r2:t1, t1, u0.w1
	*ATOM_C_RETURN.i32.aumax r1, t1, t0
	+ATOM_CX r1, t1, t0, @r4
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aumax t0, r4, r5
	+IADD.s32 r0:t1, r0, t
	*NOP
	+MOV.i32 t1, 0x00000018
	*NOP
	+IADD.s32 r4:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*MOV.i32 r6:t0, r3
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.aumin r4, t1, t0
	+ATOM_CX r4, t1, t0, @r6
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.aumin t0, r6, r7
	+NOP
	*NOP
	+IADD.s32 r0:t1, r0, t0
	*NOP
	+MOV.i32 t1, 0x0000001c
	*NOP
	+IADD.s32 r4:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 r5:t1, t1, u0.w1
	*NOP
	+AXCHG.i32 r4, t1, @r3
}
clause message=atomic slot=0 wait=0 prefetch {
	*NOP
	+IADD.s32 r0:t1, r0, r3
	*MOV.i32 t0, 0x00000020
	+IADD.s32 r3:t1, 0xfffffffb, r60
	*NOP
	+IADD.s32 r6:t1, u0.w0, t0
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*MOV.i32 r8:t0, r3
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.asmax r6, t1, t0
	+ATOM_CX r6, t1, t0, @r8
}
clause message=atomic slot=0 wait=0 prefetch {
	*MOV.i32 t0, 0x00000024
	+ISUB.s32 r6:t1, 0x00000000, r60
	*NOP
	+IADD.s32 r7:t1, u0.w0, t0
	*ATOM_POST.i32.asmax r3:t0, r8, r9
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C_RETURN.i32.asmin r7, t1, r6
	+ATOM_CX r7, t1, r6, @r6
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_POST.i32.asmin t0, r6, r7
	+IADD.s32 t1, r3, t
	*NOP
	+IADD.s32 r0:t1, r0, t1
	*NOP
	+IADD.s32 t1, 0x00000001, r60
	*MOV.i32 r6:t0, t1
	+MOV.i32 r7:t1, r60
	*NOP
	+ACMPXCHG.i32 r4, r5, @r6
}
clause message=atomic slot=0 wait=0 prefetch {
	*NOP
	+MOV.i32 t1, 0x00000028
	*NOP
	+IADD.s32 r3:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*ATOM_C1_RETURN.i32.adec r3, t1
	+ATOM_CX r3, t1, zero.w1, @r3
}
clause message=atomic slot=0 wait=0 prefetch {
	*ATOM_C1_RETURN.i32.aumax1 r1, r2
	+ATOM_CX r1, r2, zero.w1, @r1
}
clause end message=store slot=0 {
	*NOP
	+IADD.s32 r0:t1, r0, r6
	*LSHIFT_OR.i32 t0, r60, #0, 0x00000002
	+IADD.s32 t1, 0x00000040, t
	*NOP
	+IADD.s32 r1:t1, u0.w0, t1
	*NOP
	+ICMP.u32.gt t1, u0.w0, t1
	*NOP
	+IADD.s32 t1, t1, u0.w1
	*NOP
	+STORE.i32 r1, t1, @r0
}
.zero 3
