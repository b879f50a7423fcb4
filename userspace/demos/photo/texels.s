; SPDX-License-Identifier: MIT
; The color is the texel of texture 0 at the pixel's own place.
clause {
	*LSHIFT_AND.i32 r8:t0, r59, 0xffff, 0x0.b0
	+NOP
	*RSHIFT_OR.i32 r9:t0, r59, #0, 0x10.b0
	+NOP
	*NOP
	+NOP
}
clause {
	*MOV.i32 r0, 0x0
	+NOP
}
; TEXC: fetch a texel, two dimensions, all four components as floats
clause message=tex slot=0 wait=0,6 {
	*NOP
	+TEXC.skip r8, r9, 0xf4186800, @r0
}
clause message=atest slot=0 wait=0,6,7 td {
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, r60, @r60
}
clause end message=blend slot=0 td {
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
