; SPDX-License-Identifier: MIT
; Three components of a color, alpha is 1. From a public compiler.
clause message=atest slot=0 wait=0 td prefetch {
	*NOP
	+MOV.i32 t1, 0x3f800000 /* 1 */
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t1, @r60
}
clause message=varying slot=0 wait=0,6,7 td prefetch {
	*NOP
	+LD_VAR_IMM.f32.store.center.v3 zero.w1, index:0, @r0
}
clause end message=blend slot=0 td {
	*NOP
	+MOV.i32 r3:t1, 0x3f800000 /* 1 */
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
