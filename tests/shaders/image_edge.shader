# SPDX-License-Identifier: MIT
# [MEM6] 48 threads store to an image of 20 texels: what lies behind it keeps its contents
group 48
buffer image 256 at 0x10000000 { u32 fill 64 0x77 }
# attribute 0: R32UI of buffer 0, alpha 1
buffer attributes 8 { u64 0x21404000 }
# rows of 80 bytes, texels of 4, 20 by 1 by 1
buffer buffers 32 { u64 0x10000005 0x10000000004 0x130020 80 }
table attributes &attributes 1
table attribute-buffers &buffers 2
code assembly
	clause message=attribute slot=0 wait=0 {
		*DTSEL_IMM.attribute_1 t0, r60
		+LEA_ATTR_TEX.u32 r60, zero.w0, zero.w0, @r4
	}
	clause end message=store slot=0 {
		*NOP
		+ST_CVT r4, r5, r6, @r60
	}
end
expect &image u32 { u32 ramp 20 0 1 fill 44 0x77 }
