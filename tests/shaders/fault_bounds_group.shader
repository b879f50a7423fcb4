# SPDX-License-Identifier: MIT
# [ISA14] a store beyond the group's memory is a SHADER_BOUNDS fault with the window's address
group 32
group-memory 112
code assembly
	bad: clause end message=store slot=0 {
		*LSHIFT_OR.i32 t0, r55, #0, 0x2
		*NOP
		+STORE.i32.wls t0, 0x0, @r55
	}
end
# 112 bytes are 28 threads: lane 12 of warp 1
expect fault SHADER_BOUNDS { clause &bad tuple 1 add lane 12 warp 1 address 0x1000000000000070 }
