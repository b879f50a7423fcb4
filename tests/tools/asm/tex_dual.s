; SPDX-License-Identifier: MIT
clause message=tex slot=0 wait=0,6 prefetch {
	*NOP
	+TEXC.skip r0, r1, 0xf1e02144, @r0
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*FMA.v2f16 r1:t0, r1, r3, #0.neg
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t0.h1, @r60
}
clause end message=blend slot=0 td {
	*FMA.v2f16 r0:t0, r0, r2, #0.neg
	+NOP
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 6
