; SPDX-License-Identifier: MIT
; Control point n is vertex n of the patch. All factors are push word 20: by how far away it is.
clause {
	*LSHIFT_OR.i32 r14, r55, #0, 0xa
	+NOP
	*MOV.i32 r15, 0x50000000
	+NOP
}
clause {
	*NOP
	+IADD.u32 r14, r14, 0x70
}
clause wait=0 {
	*NOP
	+LOAD.i128 r14, r15, @r0
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r0
}
clause {
	*MOV.i32 r8, u10.w0
	+NOP
	*MOV.i32 r9, u10.w0
	+NOP
	*MOV.i32 r10, u10.w0
	+NOP
	*MOV.i32 r11, u10.w0
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x1800, @r8
}
clause wait=0 {
	*NOP
	+AST.v2 r61, r62, 0x1810, @r8
}
clause end wait=0 {
	*NOP
	+NOP
}
