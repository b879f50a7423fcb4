; SPDX-License-Identifier: MIT
; A point becomes a square of two triangles, 3/256 to each side of it.
clause {
	*RSHIFT_AND.i32 r52, r0, 0xff, #0
	+NOP
}
clause wait=0 {
	*NOP
	+ALD.v4 r61, r52, 0x4070, @r8
}
clause wait=0 {
	*NOP
	+ALD.v4 r61, r52, 0x4080, @r12
}
clause {
	*FADD.f32 r16, r8, 0xbc400000
	+NOP
	*FADD.f32 r17, r8, 0x3c400000
	+NOP
	*FADD.f32 r18, r9, 0xbc400000
	+NOP
	*FADD.f32 r19, r9, 0x3c400000
	+NOP
}
clause {
	*MOV.i32 r8, r16
	+NOP
	*MOV.i32 r9, r18
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r8
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x880, @r12
}
clause wait=0 {
	*NOP
	+EMIT
}
clause {
	*MOV.i32 r8, r17
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r8
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x880, @r12
}
clause wait=0 {
	*NOP
	+EMIT
}
clause {
	*MOV.i32 r8, r16
	+NOP
	*MOV.i32 r9, r19
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r8
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x880, @r12
}
clause wait=0 {
	*NOP
	+EMIT
}
clause {
	*MOV.i32 r8, r17
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r8
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x880, @r12
}
clause wait=0 {
	*NOP
	+EMIT
}
clause end wait=0 {
	*NOP
	+NOP
}
