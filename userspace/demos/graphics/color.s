; SPDX-License-Identifier: MIT
; The color is varying 0.
clause message=varying slot=0 wait=0,6 td prefetch {
	*NOP
	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, r3, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
