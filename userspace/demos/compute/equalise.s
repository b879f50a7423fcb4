; SPDX-License-Identifier: MIT
; Each sample of a picture becomes scale * (number of texels at most that bright), rounded; alpha
; stays.
;
; push: u0.w0 scale (float), u2 texels (read; whole groups), u4 numbers for the 256 luminances
;       (read), u6 result (written)
; r0 texel, r1 r2 r3 its channels, r4 scale
.local 256, 1, 1

clause slot=0 wait=0 {
	*SHADDXL.u32 t0, u2.w0, r60, shift:2
	+SHADDXH.i32 t1, u2.w1, t
	*MOV.i32 r4, u0.w0
	+LOAD.i32 t0, t1, @r0
}
clause slot=0 {
	+U8_TO_U32 t1, r0.b0
	*SHADDXL.u32 t0, u4.w0, t1, shift:2
	+SHADDXH.i32 t1, u4.w1, t
	+LOAD.i32 t0, t1, @r1
}
clause slot=0 {
	+U8_TO_U32 t1, r0.b1
	*SHADDXL.u32 t0, u4.w0, t1, shift:2
	+SHADDXH.i32 t1, u4.w1, t
	+LOAD.i32 t0, t1, @r2
}
clause slot=0 wait=0 {
	+U8_TO_U32 t1, r0.b2
	*SHADDXL.u32 t0, u4.w0, t1, shift:2
	+SHADDXH.i32 t1, u4.w1, t
	+LOAD.i32 t0, t1, @r3
}
	; 0.5 + scale * number, cut to an integer
clause {
	+U32_TO_F32 t1, r1
	*FMA.f32 r1, t1, r4, 0.5
	+U32_TO_F32 t1, r2
	*FMA.f32 r2, t1, r4, 0.5
	+U32_TO_F32 t1, r3
	*FMA.f32 r3, t1, r4, 0.5
	+F32_TO_U32.rtz r1, r1
	+F32_TO_U32.rtz t1, r2
	*LSHIFT_OR.i32 t0, t1, r1, 0x8
	+F32_TO_U32.rtz t1, r3
	*LSHIFT_OR.i32 r1, t1, t0, 0x10
}
clause slot=0 end {
	*LSHIFT_AND.i32 t0, r0, 0xff000000, 0x0
	*LSHIFT_OR.i32 r1, t0, r1, 0x0
	*SHADDXL.u32 t0, u6.w0, r60, shift:2
	+SHADDXH.i32 t1, u6.w1, t
	+STORE.i32 t0, t1, @r1
}
