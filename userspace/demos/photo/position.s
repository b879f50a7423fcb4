; SPDX-License-Identifier: MIT
; The position is attribute 0.
clause message=attribute slot=0 wait=0 {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0
}
clause end message=store slot=0 {
	*NOP
	+ST_CVT.v4 r58, r59, 0x0105e000, @r0
}
