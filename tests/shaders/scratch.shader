# SPDX-License-Identifier: MIT
# [ISA10] scratch: each thread has its own, by offset and through the window
group 20
grid 2
scratch 32
buffer out 160
push { u64 &out }
code assembly
	; tl[16] = global id; read it back through the address that SEG_ADD makes of 16
	clause message=store slot=0 wait=0 {
		*MOV.i32 t0, 0x10
		*NOP
		+STORE.i32.tl t0, 0x0, @r60
	}
	clause {
		*MOV.i32 t0, 0x10
		*SEG_ADD.tl r0:t0, t0
		+SEG_ADD.tl t1, zero.w0
		*NOP
		+MOV.i32 r1:t1, t1
	}
	clause message=load slot=0 wait=0 {
		*NOP
		+LOAD.i32 r0, r1, @r2
	}
	clause end message=store slot=0 {
		*LSHIFT_OR.i32 t0, r60, #0, 0x2
		*NOP
		+IADD.s32 r6:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i32 r6, t0, @r2
	}
end
expect &out u32 { u32 ramp 40 0 1 }
