; SPDX-License-Identifier: MIT
clause message=tex slot=0 prefetch {
	*NOP
	+MOV.i32 r2:t1, 0x0000fe01
	*NOP
	+TEXC.skip r0, r1, 0xf078f800, @r2
}
clause message=tex slot=0 wait=0 td prefetch {
	*NOP
	+MOV.i32 r4:t1, zero.w0
	*NOP
	+TEXC.skip r0, r1, 0xf0586800, @r4
}
clause message=tex slot=0 wait=0,6 td prefetch {
	*FMA.v2f16 r5:t0, r5, 0x00003400.h00, #0.neg
	+NOP
	*FMA.v2f16 t0, r4.h10, 0x00003400.h00, #0.neg
	+NOP
	*FMA.v2f16 r3:t0, r3, 0x00003800.h00, t0
	+MOV.i32 r4:t1, 0x00000000
	*FMA.v2f16 r2:t0, r2, 0x00003800.h00, r5
	+MOV.i32 r5:t1, 0x00000102
	*NOP
	+TEXC.skip r0, r1, 0xf068e800, @r4
}
clause message=atest slot=0 wait=0,6,7 td prefetch {
	*FMA.v2f16 r1:t0, r4.h10, 0x00003400.h00, r3
	+NOP
	[fau=atest_datum]
	*NOP
	+ATEST r60:t1, r60, t0.h1, @r60
}
clause end message=blend slot=0 td {
	*FMA.v2f16 r0:t0, r5, 0x00003400.h00, r2
	+NOP
	*NOP
	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0
}
.zero 5
