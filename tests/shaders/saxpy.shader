# SPDX-License-Identifier: MIT
# [CS1] saxpy: y = 2.5 x + y, 80 threads of 2 groups, the last warp of a group partly empty
group 40
grid 2
buffer x 320 { f32 ramp 80 0 1 }
buffer y 320 { f32 ramp 80 -7 0.5 }
push { u64 &x &y f32 2.5 }
code assembly
	; r0 = 4 * global id; r2:r3 = &x[i], r4:r5 = &y[i]
	clause message=load slot=0 wait=0 {
		*LSHIFT_OR.i32 r0:t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*NOP
		+ICMP.u32.gt t1, u0.w0, t1
		*NOP
		+IADD.s32 r3:t1, t1, u0.w1
		*NOP
		+LOAD.i32 r2, t1, @r6
	}
	clause message=load slot=0 wait=0 {
		*NOP
		+IADD.s32 r4:t1, u1.w0, r0
		*NOP
		+ICMP.u32.gt t1, u1.w0, t1
		*NOP
		+IADD.s32 r5:t1, t1, u1.w1
		*NOP
		+LOAD.i32 r4, t1, @r7
	}
	clause end message=store slot=0 {
		*FMA.f32 r7:t0, u2.w0, r6, r7
		+NOP
		*NOP
		+STORE.i32 r4, r5, @r7
	}
end
# 2.5 i + (-7 + 0.5 i)
expect &y f32 { f32 ramp 80 -7 3 }
expect &x f32 { f32 ramp 80 0 1 }
