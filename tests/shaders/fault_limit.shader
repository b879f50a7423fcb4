# SPDX-License-Identifier: MIT
# [ISA14] an endless loop ends where CLAUSE_LIMIT says
group 48
clause-limit 1000
code assembly
	loop: clause flow=nbtb_unconditional {
		*NOP
		+IADD.s32 r0:t1, r0, 0x1
		*NOP
		+JUMP loop
	}
end
expect fault SHADER_LIMIT { clause &loop address &loop }
