# SPDX-License-Identifier: MIT
# [MEM6] uniform buffers: words beyond the entries read 0, and so does a buffer that is not there
group 16
buffer table 48 { u32 ramp 12 100 1 }
buffer out 128
uniforms 1 &table 32
push { u64 &out }
code assembly
	; r1 = word i of buffer 1, r2 = word i of buffer 5
	clause {
		*LSHIFT_OR.i32 r0:t0, r60, #0, 0x2
		*NOP
		+MOV.i32 r3:t1, 0x1
		*NOP
		+MOV.i32 r4:t1, 0x5
	}
	clause message=attribute slot=0 {
		*NOP
		+LOAD.i32.ubo r0, r3, @r1
	}
	clause message=attribute slot=0 wait=0 {
		*NOP
		+LOAD.i32.ubo r0, r4, @r2
	}
	clause end message=store slot=0 {
		*LSHIFT_OR.i32 t0, r60, #0, 0x3
		*NOP
		+IADD.s32 r6:t1, u0.w0, t0
		*MOV.i32 t0, u0.w1
		*NOP
		+STORE.i64 r6, t0, @r1
	}
end
# 8 words are in its two entries of 16 bytes; the other 4 of the buffer are not
expect &out u32 { u32 100 0 101 0 102 0 103 0 104 0 105 0 106 0 107 0 zero 64 }
