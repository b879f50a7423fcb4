# SPDX-License-Identifier: MIT
# [ISA14] an instruction word that encodes nothing faults where it stands, and nothing of its clause happens
group 1
buffer out 16
push { u64 &out }
code assembly
	first: clause message=store slot=0 wait=0 {
		*NOP
		+STORE.i32 u0.w0, u0.w1, @r60
	}
	bad: clause unchecked end {
		*NOP
		*.word 0x7fffff
	}
end
expect fault SHADER_ENCODING { clause &bad tuple 1 fma address &bad }
