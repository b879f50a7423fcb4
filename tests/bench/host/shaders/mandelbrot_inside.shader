# SPDX-License-Identifier: MIT
# Mandelbrot, 1024 x 1024, at most 256 rounds; points of the set alone: 256 rounds each
group 16 16
grid 64 64
buffer out 4194304
push { u64 &out f32 -0.2 0.0001953125 -0.2 0.0001953125 }
code assembly
	; c = origin + (x + 0.5, y + 0.5) * scale
	clause {
		*NOP
		+U32_TO_F32 t1, r60
		*FADD.f32 t0, t1, 0x3f000000
		+U32_TO_F32 r5:t1, r61
		*FMA.f32 r2:t0, t0, u1.w1, u1.w0
		*FADD.f32 t0, r5, 0x3f000000
		+MOV.i32 r7:t1, 0x0
		*FMA.f32 r3:t0, t0, u2.w1, u2.w0
		*NOP
		+MOV.i32 r0:t1, 0x0
		*NOP
		+MOV.i32 r1:t1, 0x0
	}
	loop: clause flow=nbtb_unconditional {
		*FMA.f32 r4:t0, r1, r1, #0.neg
		*FMA.f32 t0, r0, r0, t0
		+FCMP.f32.gt.m1 t1, t, 0x40800000
		*NOP
		+BRANCHZ.i16.ne t1.h0, done
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 t0, r0, r0, r2
		+FADD.f32 t1, r0, r0
		*FMA.f32 r1:t0, t1, r1, r3
		+FADD.f32 r0:t1, t0, r4.neg
		*NOP
		+IADD.s32 r7:t1, r7, 0x1
		*NOP
		+ICMP.u32.gt.m1 t1, 0x100, t1
		*NOP
		+BRANCHZ.i16.ne t1.h0, loop
	}
	done: clause flow=nbtb_unconditional {
		*LSHIFT_OR.i32 t0, r61, #0, 0xa
		+IADD.s32 t1, t, r60
		*LSHIFT_OR.i32 t0, t1, #0, 0x2
		*NOP
		+IADD.s32 r8:t1, u0.w0, t0
	}
	clause end message=store slot=0 {
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i32 r8, t0, @r7
	}
end
