# SPDX-License-Identifier: MIT
# Independent multiply-adds: 32 rounds of 64, in 8 registers
group 256
grid 64
buffer out 65536
push { u64 &out f32 0.999 0.5 }
code assembly
	clause {
		*MOV.i32 r0:t0, r60
		*MOV.i32 r1:t0, r60
		*MOV.i32 r2:t0, r60
		*MOV.i32 r3:t0, r60
		*MOV.i32 r4:t0, r60
		*MOV.i32 r5:t0, r60
		*MOV.i32 r6:t0, r60
		*MOV.i32 r7:t0, r60
	}
	clause {
		*NOP
		+MOV.i32 r8:t1, 0x0
	}
	loop: clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r4:t0, r4, u1.w0, u1.w1
		*FMA.f32 r5:t0, r5, u1.w0, u1.w1
		*FMA.f32 r6:t0, r6, u1.w0, u1.w1
		*FMA.f32 r7:t0, r7, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional {
		*NOP
		+IADD.s32 r8:t1, r8, 0x1
		*NOP
		+ICMP.u32.gt.m1 t1, 0x20, t1
		*NOP
		+BRANCHZ.i16.ne t1.h0, loop
	}
	clause {
		*FADD.f32 t0, r0, r1
		*FADD.f32 t0, t0, r2
		*FADD.f32 t0, t0, r3
		*FADD.f32 t0, t0, r4
		*FADD.f32 t0, t0, r5
		*FADD.f32 t0, t0, r6
		*FADD.f32 r0:t0, t0, r7
	}
	clause prefetch {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r2:t1, u0.w0, t0
	}
	clause end message=store slot=0 {
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i32 r2, t0, @r0
	}
end
