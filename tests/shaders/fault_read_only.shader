# SPDX-License-Identifier: MIT
# [ISA14] a store to a page that may only be read
group 1
buffer constants 16 read-only { u32 1 2 3 4 }
push { u64 &constants+4 }
code assembly
	bad: clause end message=store slot=0 {
		*NOP
		+STORE.i32 u0.w0, u0.w1, @r60
	}
end
expect &constants u32 { u32 1 2 3 4 }
expect fault MMU_PERMISSION { clause &bad tuple 0 add lane 0 warp 0 address &constants+4 }
