# SPDX-License-Identifier: MIT
# y = 2 x + y, 16 Mi floats, one for each thread
group 256
grid 256 256
buffer x 67108864 { f32 ramp 16777216 0 1 mod 1024 }
buffer y 67108864 { f32 ramp 16777216 0 1 mod 7 }
push { u64 &x &y f32 2 }
code assembly
	clause message=load slot=0 wait=0 prefetch {
		*LSHIFT_OR.i32 t0, r57, r55, 0x8
		*LSHIFT_OR.i32 t0, r58, t0, 0x10
		*LSHIFT_OR.i32 r0:t0, t0, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
		*NOP
		+ICMP.u32.gt t1, u0.w0, t1
		*NOP
		+IADD.s32 t1, t1, u0.w1
		*NOP
		+LOAD.i32 r2, t1, @r6
	}
	clause message=load slot=0 wait=0 prefetch {
		*NOP
		+IADD.s32 r2:t1, u1.w0, r0
		*NOP
		+ICMP.u32.gt t1, u1.w0, t1
		*NOP
		+IADD.s32 r3:t1, t1, u1.w1
		*NOP
		+LOAD.i32 r2, t1, @r7
	}
	clause end message=store slot=0 {
		*FMA.f32 r7:t0, u2.w0, r6, r7
		*NOP
		+STORE.i32 r2, r3, @r7
	}
end
