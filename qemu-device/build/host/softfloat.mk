# SPDX-License-Identifier: MIT
#
# Compile Berkeley SoftFloat from SOURCE to OUT/libsoftfloat.a; softfloat.sh calls it.
# The 80-bit formats and the versions that take pointers are left out.
files := $(filter-out %M.c,$(filter-out $(SOURCE)/extF80% %extF80.c %ExtF80.c %ExtF80Sig.c,$(wildcard $(SOURCE)/*.c)))
files += $(filter-out $(wildcard $(addprefix $(SOURCE)/8086-SSE/,*xtF80* *[fF]128M*)),$(wildcard $(SOURCE)/8086-SSE/*.c))
files += $(SOURCE)/s_add256M.c $(SOURCE)/s_sub256M.c $(SOURCE)/s_mul128To256M.c $(SOURCE)/s_shiftRightJam256M.c
objects := $(patsubst %.c,$(OUT)/obj/%.o,$(notdir $(sort $(files))))
vpath %.c $(SOURCE) $(SOURCE)/8086-SSE
all: $(OUT)/libsoftfloat.a
$(OUT)/libsoftfloat.a: $(objects)
	ar rcs $@ $^
$(OUT)/obj/%.o: %.c
	gcc -std=gnu99 -O2 -w -DSOFTFLOAT_FAST_INT64 -DSOFTFLOAT_ROUND_ODD -DSOFTFLOAT_FAST_DIV32TO16 \
		-DSOFTFLOAT_FAST_DIV64TO32 \
		-I$(OUT) -I$(SOURCE)/8086-SSE -I$(SOURCE)/include -c -o $@ $<
