; SPDX-License-Identifier: MIT
; Prefix sum of 256 numbers by a group of 256 threads, and their total.
;
; push: u2 numbers (read), u4 sums (written), u6 totals, one for each group (written)
;
; Eight steps; in step i each thread adds what stands 2^i places before its own number. Group
; memory holds 256 zeroes and then the numbers, so that nobody has to ask whether there is
; something before. Two barriers a step: nobody loads before all have stored, and nobody stores
; again before all have loaded.
;
; r0 sum, r1 offset of the thread's number, r2 distance in bytes (negative), r3 what stands there,
; r4 steps left
.local 256, 1, 1
.group_memory 2048

	; the zeroes
clause slot=0 {
	*LSHIFT_OR.i32 r1, r55, 0x400, 0x2
	*MOV.i32 r2, -4
	+MOV.i32 r5, 0
	*LSHIFT_OR.i32 t0, r55, #0, 0x2
	+MOV.i32 r4, 0x8
	+STORE.i32.wls t0, zero.w0, @r5
}
	; the thread's number
clause slot=0 wait=0 {
	*SHADDXL.u32 t0, u2.w0, r60, shift:2
	+SHADDXH.i32 t1, u2.w1, t
	+LOAD.i32 t0, t1, @r0
}
step: clause slot=0 wait=0 {
	+STORE.i32.wls r1, zero.w0, @r0
}
clause slot=7 wait=7 {
	+BARRIER
}
clause slot=0 wait=0 {
	+IADD.s32 t1, r1, r2
	+LOAD.i32.wls t1, zero.w0, @r3
}
clause slot=7 wait=7 {
	+BARRIER
}
clause {
	*LSHIFT_OR.i32 r2, r2, #0, 0x1
	+IADD.u32 r0, r0, r3
	+IADD.s32 r4:t1, r4, -1
	+BRANCHZ.i32.ne t1, step
}
clause slot=0 {
	*SHADDXL.u32 t0, u4.w0, r60, shift:2
	+SHADDXH.i32 t1, u4.w1, t
	+STORE.i32 t0, t1, @r0
}
	; the last thread has the total; the others end here
clause {
	+IADD.s32 t1, r55, -255
	+BRANCHZ.i32.ne t1, zero.w0
}
clause slot=0 end {
	*SHADDXL.u32 t0, u6.w0, r57, shift:2
	+SHADDXH.i32 t1, u6.w1, t
	+STORE.i32 t0, t1, @r0
}
