; SPDX-License-Identifier: MIT
; A spark to be drawn: its place becomes the position.
clause wait=0 {
	*NOP
	+ALD.v4 r61, r62, 0x80, @r0
}
clause wait=0 {
	*NOP
	+ALD.v4 r61, r62, 0x90, @r4
}
clause {
	*MOV.i32 r2, 0x3f000000
	+NOP
	*MOV.i32 r3, 0x3f800000
	+NOP
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r0
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x880, @r4
}
clause end wait=0 {
	*NOP
	+NOP
}
