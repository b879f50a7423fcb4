; SPDX-License-Identifier: MIT
; Outputs 1 and 2 are attributes 1 and 2.
clause message=attribute slot=0 {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:1, @r0
}
clause message=attribute slot=0 wait=0 {
	*NOP
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r4
}
clause message=store slot=0 wait=0 {
	*NOP
	+ST_CVT.v4 r4, r5, r6, @r0
}
clause message=attribute slot=0 wait=0 {
	*NOP
	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:2, @r0
}
clause message=attribute slot=0 wait=0 {
	*NOP
	+LEA_ATTR_IMM.auto r61, r62, attribute_index:2, @r4
}
clause end message=store slot=0 {
	*NOP
	+ST_CVT.v4 r4, r5, r6, @r0
}
