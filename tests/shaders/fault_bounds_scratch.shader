# SPDX-License-Identifier: MIT
# [ISA14] a load beyond a thread's scratch is a SHADER_BOUNDS fault
group 16
scratch 16
code assembly
	bad: clause end message=load slot=0 {
		*LSHIFT_OR.i32 t0, r55, #0, 0x2
		*NOP
		+LOAD.i32.tl t0, 0x0, @r0
	}
end
expect fault SHADER_BOUNDS { clause &bad tuple 1 add lane 4 warp 0 address 0x2000000000000010 }
