# SPDX-License-Identifier: MIT
# [CS1] registers at entry: local, group and global ids of a 3D dispatch with odd sizes
group 3 5 2
grid 2 1 2 indirect
buffer out 3840
push { u64 &out }
code assembly
	; thread number = ((gz * 10 + z) * 5 + y) * 6 + gx * 3 + x, 32 bytes each
	clause prefetch {
		*IMUL.i32 t0, r62, 0x5
		+IADD.s32 t1, t, r61
		*IMUL.i32 t0, t1, 0x6
		+IADD.s32 t1, t, r60
		*LSHIFT_OR.i32 r0:t0, t1, #0, 0x5
		*NOP
		+IADD.s32 r0:t1, t0, u0.w0
		*NOP
		+IADD.s32 r2:t1, t1, 0x10
	}
	clause message=store slot=0 {
		*MOV.i32 r4:t0, r55
		+MOV.i32 r5:t1, r56
		*MOV.i32 r6:t0, r57
		+MOV.i32 r7:t1, r58
		*MOV.i32 r1:t0, u0.w1
		*NOP
		+STORE.i128 r0, t0, @r4
	}
	clause end message=store slot=0 {
		*MOV.i32 r8:t0, r59
		+MOV.i32 r9:t1, r60
		*MOV.i32 r10:t0, r61
		+MOV.i32 r11:t1, r62
		*NOP
		+STORE.i128 r2, r1, @r8
	}
end
# local x and y, local z, group x y z, global x y z: threads (0,0,0), (2,4,1) of group (0,0,0); (1,2,0) of group (1,0,0); the last of group (1,0,1)
expect &out u32 { u32 zero 32 }
expect &out+1792 u32 { u32 0x00040002 1 0 0 0 2 4 1 }
expect &out+512 u32 { u32 0x00020001 0 1 0 0 4 2 0 }
expect &out+3808 u32 { u32 0x00040002 1 1 0 1 5 4 3 }
