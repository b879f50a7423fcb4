# SPDX-License-Identifier: MIT
# 64 dependent vec4 multiply-adds, 2 sines and 2 powers of 2 for each of 1024 x 1024 pixels
group 16 16
grid 64 64
buffer out 16777216
push { u64 &out f32 0.5 0.25 }
code assembly
	clause {
		*NOP
		+U32_TO_F32 r4:t1, r60
		*FADD.f32 t0, t1, 0x3f000000
		+U32_TO_F32 r1:t1, r61
		*FMA.f32 r0:t0, t0, 0x3a800000, #0.neg
		*FADD.f32 t0, r1, 0x3f000000
		*FMA.f32 r1:t0, t0, 0x3a800000, #0.neg
		*NOP
		+MOV.i32 r3:t1, r0
		*NOP
		+MOV.i32 r2:t1, r1
	}
	clause {
		*NOP
		+MOV.i32 r8:t1, 0x0
	}
	loop: clause flow=nbtb_unconditional  {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional  {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional  {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional  {
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
		*FMA.f32 r0:t0, r0, u1.w0, u1.w1
		*FMA.f32 r1:t0, r1, u1.w0, u1.w1
		*FMA.f32 r2:t0, r2, u1.w0, u1.w1
		*FMA.f32 r3:t0, r3, u1.w0, u1.w1
	}
	clause flow=nbtb_unconditional  {
		*NOP
		+IADD.s32 r8:t1, r8, 0x1
		*NOP
		+ICMP.u32.gt.m1 t1, 0x8, t1
		*NOP
		+BRANCHZ.i16.ne t1.h0, loop
	}
	clause {
		*FMA.f32 r4:t0, r0, 0x40400000, #0.neg
		*FMA.f32 r5:t0, t0, 0x3f22f983, 0x49400000
		*FADD.f32 t0, t0, 0xc9400000
		+FSIN_TABLE.u6 r6:t1, t0
		*FMA.f32 r7:t0, t0, 0xbfc90fdb, r4
		*NOP
		+FCOS_TABLE.u6 r9:t1, r5
	}
	clause {
		*FMA.f32 t0, r7, r7, #0.neg
		*FMA.f32 t0, t0, 0xbf000000, 0x3f800000
		*FMA.f32 t0, t0, r6, #0.neg
		*FMA.f32 t0, r7, r9, t0
		*FMA.f32 r0:t0, t0, 0x3f000000, 0x3f000000
	}
	clause {
		*FMA.f32 r4:t0, r1, 0x40a00000, #0.neg
		*FMA.f32 r5:t0, t0, 0x3f22f983, 0x49400000
		*FADD.f32 t0, t0, 0xc9400000
		+FSIN_TABLE.u6 r6:t1, t0
		*FMA.f32 r7:t0, t0, 0xbfc90fdb, r4
		*NOP
		+FCOS_TABLE.u6 r9:t1, r5
	}
	clause {
		*FMA.f32 t0, r7, r7, #0.neg
		*FMA.f32 t0, t0, 0xbf000000, 0x3f800000
		*FMA.f32 t0, t0, r6, #0.neg
		*FMA.f32 t0, r7, r9, t0
		*FMA.f32 r1:t0, t0, 0x3f000000, 0x3f000000
	}
	clause {
		*FADD.f32 t0, r2, 0xbf800000
		*FMA.f32 r5:t0, t0, 0x4b800000, #0.neg
		*NOP
		+F32_TO_S32 t1, t0
		*NOP
		+FEXP.f32 r2:t1, t1, r5
	}
	clause {
		*FADD.f32 t0, r3, 0xc0000000
		*FMA.f32 r5:t0, t0, 0x4b800000, #0.neg
		*NOP
		+F32_TO_S32 t1, t0
		*NOP
		+FEXP.f32 r3:t1, t1, r5
	}
	clause end message=store slot=0 {
		*LSHIFT_OR.i32 t0, r61, #0, 0xa
		+IADD.s32 t1, t, r60
		*LSHIFT_OR.i32 t0, t1, #0, 0x4
		*NOP
		+IADD.s32 r4:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i128 r4, t0, @r0
	}
end
