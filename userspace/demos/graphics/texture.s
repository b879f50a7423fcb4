; SPDX-License-Identifier: MIT
; The color is texture 0 at varying 0.
clause message=vartex slot=0 wait=0,6 prefetch {
	*NOP
	+VAR_TEX.f16.store.center.skip.computed_lod varying_index:0, texture_index:0, @r0
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, r1.h1, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
