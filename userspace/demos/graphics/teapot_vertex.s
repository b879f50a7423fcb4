; SPDX-License-Identifier: MIT
; A control point: attribute 0 is its place, which becomes the "position" of attribute space.
clause wait=0 {
	*NOP
	+ALD.v4 r61, r62, 0x80, @r0
}
clause wait=0 {
	*NOP
	+AST.v4 r61, r62, 0x870, @r0
}
clause end wait=0 {
	*NOP
	+NOP
}
