# SPDX-License-Identifier: MIT
# [PIX7, ISA14] a program of 32 registers names one that it does not have
group 1
registers 32
code assembly
	bad: clause end {
		*MOV.i32 r0:t0, r20
	}
end
expect fault SHADER_ENCODING { clause &bad address &bad }
