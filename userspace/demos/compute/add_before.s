; SPDX-License-Identifier: MIT
; The last step of a prefix sum of many groups: to all numbers but those of the first group, add
; the total of the groups before.
;
; push: u2 sums of the groups' totals (read), u4 sums within the groups (changed)
; r0 total before, r1 sum, r2 r3 address of the sum
.local 256, 1, 1

clause slot=0 {
	*SHADDXL.u32 t0, u2.w0, r57, shift:2
	+SHADDXH.i32 t1, u2.w1, t
	+LOAD.i32 t0, t1, @r0
}
	; group n of the dispatch works on the numbers of group n + 1
clause slot=0 wait=0 {
	+IADD.u32 t1, r60, 0x100
	*SHADDXL.u32 r2:t0, u4.w0, t1, shift:2
	+SHADDXH.i32 r3:t1, u4.w1, t
	+LOAD.i32 t0, t1, @r1
}
clause slot=0 end {
	+IADD.u32 r0, r0, r1
	*NOP
	+STORE.i32 r2, r3, @r0
}
