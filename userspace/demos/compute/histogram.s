; SPDX-License-Identifier: MIT
; Counts of the 256 luminances of a picture. A group of 256 threads counts its 256 texels in group
; memory, then thread n adds count n to the picture's.
;
; push: u0.w0 texels, u2 texels (read; whole groups), u4 counts (added to)
; r0 texel, r1 offset of the thread's count, r2 luminance, r4 count, r6 the bin of threads beyond
; the last texel
.local 256, 1, 1
.group_memory 1040

clause slot=0 {
	*LSHIFT_OR.i32 r1, r55, #0, 0x2
	+MOV.i32 r5, 0
	*MOV.i32 r6, 0x100
	+STORE.i32.wls t0, 0, @r5
}
clause slot=0 wait=0 {
	*SHADDXL.u32 t0, u2.w0, r60, shift:2
	+SHADDXH.i32 t1, u2.w1, t
	+LOAD.i32 t0, t1, @r0
}
	; all counts are 0 from here on
clause slot=7 wait=7 {
	+BARRIER
}
	; luminance: (77 R + 150 G + 29 B + 128) / 256
clause {
	+U8_TO_U32 t1, r0.b0
	*IMUL.i32 t0, t1, 77
	+U8_TO_U32 t1, r0.b1
	*IMUL.i32 t0, t1, 150
	+IADD.u32 t1, t0, 128
	+IADD.u32 r3, t0, t1
	+U8_TO_U32 t1, r0.b2
	*IMUL.i32 t0, t1, 29
	+IADD.u32 t1, t, r3
	*RSHIFT_OR.i32 r2, t1, #0, 0x8
}
clause slot=0 wait=0 {
	*CSEL.u32.gt t0, u0.w0, r60, r2, r6
	*LSHIFT_OR.i32 t0, t0, #0, 0x2
	*SEG_ADD.wls t0, t0
	+SEG_ADD.wls t1, zero.w0
	*ATOM_C1.i32.ainc t0, t1
	+ATOM_CX t0, t1, zero.w0, @r4
}
	; all texels are counted from here on
clause slot=7 wait=7 {
	+BARRIER
}
clause slot=0 wait=0 {
	+LOAD.i32.wls r1, zero.w0, @r4
}
clause slot=0 end {
	*SHADDXL.u32 t0, u4.w0, r55, shift:2
	+SHADDXH.i32 t1, u4.w1, t
	*ATOM_C.i32.aadd t0, t1, r4
	+ATOM_CX t0, t1, r4, @r4
}
