; SPDX-License-Identifier: MIT
; A spark a 1/64 of a second later. Attribute 0: place and speed, attribute 1: its color.
clause wait=0 {
	*NOP
	+ALD.v4 r61, r62, 0x80, @r0
}
clause wait=0 {
	*NOP
	+ALD.v4 r61, r62, 0x90, @r4
}
clause {
	*FADD.f32 r3, r3, 0xbd000000 /* 2 a second */
	+NOP
	*FMA.f32 r0, r2, 0x3c800000, r0
	+NOP
	*NOP
	+NOP
	*FMA.f32 r1, r3, 0x3c800000, r1
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
