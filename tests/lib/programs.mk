# SPDX-License-Identifier: MIT
#
# Build the test programs of one suite. Used by the scripts, not by hand:
#
#   make -f tests/lib/programs.mk BUILD=DIR HW=DIR [SOFTFLOAT=DIR] SUITE
#
# SUITE is model-asan, model-tsan, numeric (which needs SOFTFLOAT, see qemu-device/build/softfloat.sh), user, draw, qtest, guest, debug, bench, bench-gl, bench-host, fuzz or mutate; programs land in BUILD/SUITE/bin/.
# Every tests/DIR/NAME.c is a program; every .c in tests/DIR/lib/ is linked into each of them. ONLY='PATTERN ...' builds those of such names.

# Compilers move: a warning is an error in CI only.
CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra $(if $(CI),-Werror) -pthread -D_GNU_SOURCE
# the model with the generated tables it needs
model_sources := $(addprefix qemu-device/model/,$(shell grep '^[^\#].*\.c$$' qemu-device/model/manifest)) $(HW)/tsr_desc.c $(HW)/tsr_isa.c

# Engines can be run on a mock of the memory they work on: see tests/lib/mock_mem.h.
mock_sources := tests/lib/mock_mem.c tests/lib/copy_ref.c
mock_libs := -Wl,--wrap=tsr_mem_map,--wrap=tsr_mem_bad_packet

# Memory can run out: see tests/lib/fail_alloc.h.
alloc_sources := tests/lib/fail_alloc.c
alloc_libs := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc

# A machine around the model: see userspace/host/bench.h.
bench_sources := userspace/host/bench.c

# Shaders of tests are text: libtessera's assembler and disassembler.
asm_sources := $(wildcard userspace/libtessera/asm*.c userspace/libtessera/disasm*.c)
asm_flags := -Iuserspace/libtessera/include
# What reads and runs shader files, for the programs that do it in process.
shader_sources := $(asm_sources) $(filter-out %/main.c,$(wildcard userspace/tools/tsr-run/*.c))
shader_flags := $(asm_flags) -Iuserspace/tools/tsr-run
# What runs captured jobs again.
replay_sources := userspace/tools/tsr-replay/replay.c
replay_flags := -Iuserspace/tools/tsr-replay

# The variants: directory of the programs, compiler flags, what is linked in, libraries.
model-asan.dir := model
model-asan.flags := -fsanitize=address,undefined -fno-sanitize-recover=all -Iqemu-device/model $(shader_flags) $(replay_flags)
model-asan.sources := $(model_sources) $(shader_sources) $(replay_sources) $(mock_sources) $(alloc_sources) $(bench_sources)
model-asan.libs := $(mock_libs) $(alloc_libs) -lm

model-tsan.dir := model
model-tsan.flags := -fsanitize=thread -Iqemu-device/model $(shader_flags) $(replay_flags)
model-tsan.sources := $(model_sources) $(shader_sources) $(replay_sources) $(mock_sources) $(alloc_sources) $(bench_sources)
model-tsan.libs := $(mock_libs) $(alloc_libs) -lm
# run.py does not run what has nothing to do with threads
model-tsan.not := $(basename $(notdir $(shell grep -l 'test:.* TSAN=0' $(wildcard tests/model/*.c) /dev/null)))

# Arithmetic on millions of values, compared with Berkeley SoftFloat: no sanitizers, they are too slow.
numeric.dir := numeric
numeric.flags := -O2 -Iqemu-device/model $(if $(SOFTFLOAT),-I$(SOFTFLOAT)/include)
numeric.sources := $(model_sources)
numeric.libs := $(if $(SOFTFLOAT),$(SOFTFLOAT)/libsoftfloat.a) -lm

fuzz.dir := fuzz
fuzz_main := tests/lib/fuzz_main.c
fuzz.flags := -fsanitize=address,undefined -fno-sanitize-recover=all -Iqemu-device/model -Itests/model/lib $(asm_flags) \
	-Ikernel/include/uapi $(shell pkg-config --cflags libdrm)
fuzz.sources := $(model_sources) tests/model/lib/units.c tests/model/lib/front.c tests/model/lib/stop_work.c $(mock_sources) $(bench_sources) $(wildcard userspace/libtessera/decode*.c) \
	$(asm_sources) $(fuzz_main)
fuzz.libs := $(mock_libs) -lm

# libtessera in process, on a kernel that tests/user/lib plays
user.dir := user
user.flags := -fsanitize=address,undefined -fno-sanitize-recover=all -Iuserspace/libtessera \
	-Iuserspace/libtessera/include -Ikernel/include/uapi $(shell pkg-config --cflags libdrm)
user.sources := $(wildcard userspace/libtessera/*.c) $(alloc_sources) $(HW)/tsr_desc.c $(HW)/tsr_isa.c
user.libs := $(alloc_libs) $(shell pkg-config --libs libdrm)

# programs that draw: libtessera on the model, with a driver that needs no kernel (userspace/host/hostdrm.h)
library_flags := -Iuserspace/libtessera/include -Ikernel/include/uapi $(shell pkg-config --cflags libdrm) -Itests/vectors
library_sources := $(wildcard userspace/libtessera/*.c) userspace/host/hostdrm.c
draw.dir := draw
draw.flags := -fsanitize=address,undefined -fno-sanitize-recover=all -Iqemu-device/model -Iuserspace/libtessera \
	-Itests/bench/host/lib $(library_flags)
draw.sources := $(model_sources) $(bench_sources) $(library_sources) tests/bench/host/lib/gles.c \
	$(wildcard tests/bench/host/lib/glscene*.c)
draw.libs := $(shell pkg-config --libs libdrm) -lEGL -lGLESv2 -lm

qtest.dir := qtest
qtest.flags :=
qtest.sources :=
qtest.libs := -lm

guest.dir := guest
guest.flags := -Iuserspace/libtessera/include -Ikernel/include/uapi $(shell pkg-config --cflags libdrm libpng)
guest.sources :=
guest.libs := $(if $(wildcard $(BUILD)/userspace/lib/libtessera.so),-L$(BUILD)/userspace/lib -ltessera) \
	$(shell pkg-config --libs libdrm libpng) -lm

# what only makes sense on a kernel of our own: raw ioctls like the guest tests
debug.dir := debug
debug.flags := $(guest.flags) -Itests/guest/lib
debug.sources := $(wildcard tests/guest/lib/*.c)
debug.libs := $(guest.libs)

bench.dir := bench
# benchmarks speak to the driver as guest tests do
bench.flags := $(guest.flags) -O2 -Itests/guest/lib
bench.sources := $(wildcard tests/guest/lib/*.c)
bench.libs := $(guest.libs)

# what is compared with Mesa's llvmpipe in the guest
bench-gl.dir := bench/gl
bench-gl.flags := $(guest.flags) -O2 -Itests/bench/lib -Itests/bench/host/lib -Itests/vectors
bench-gl.sources := $(wildcard tests/bench/lib/*.c) tests/bench/host/lib/gles.c $(wildcard tests/bench/host/lib/glscene*.c)
bench-gl.libs := $(guest.libs) -lEGL -lGLESv2

# figures of the model alone, on the host
bench-host.dir := bench/host
bench-host.flags := -O2 -Iqemu-device/model -Iuserspace/libtessera -Itests/bench/lib -Itests/model/lib $(shader_flags) $(library_flags)
bench-host.sources := $(addprefix tests/model/lib/,units.c front.c tiles.c stage.c shade.c endless.c) $(filter-out $(asm_sources),$(shader_sources)) $(library_sources) \
	$(bench_sources) $(wildcard tests/bench/lib/*.c)
# the model is optimised as QEMU's device is, see qemu-device/pci/meson.build: as a whole, once for all programs
bench-host.objects := $(BUILD)/bench-host/obj/model.o
$(BUILD)/bench-host/obj/qemu-device/model/%.o: bench-host.flags += -O3 -flto=auto
$(bench-host.objects): $(patsubst %.c,$(BUILD)/bench-host/obj/%.o,$(model_sources))
	@$(CC) -O3 -flto=auto -r -flinker-output=nolto-rel -o $@ $^
# EGL and GLES: for what is compared with Mesa's llvmpipe
bench-host.libs := $(shell pkg-config --libs libdrm) -lEGL -lGLESv2 -lm

# suite(NAME): the rules of one variant.
define suite
$(1).bin := $$(BUILD)/$(1)/bin
$(1).programs := $$(filter-out $$($(1).not),$$(basename $$(notdir $$(wildcard tests/$$($(1).dir)/*.c))))
$(1).wanted := $$(if $$(ONLY),$$(filter $$(basename $$(notdir $$(wildcard $$(addprefix tests/$$($(1).dir)/,$$(addsuffix .c,$$(ONLY)))))),$$($(1).programs)),$$($(1).programs))
$(1).common := $$(patsubst %.c,$$(BUILD)/$(1)/obj/%.o,$$(wildcard tests/$$($(1).dir)/lib/*.c) $$($(1).sources)) $$($(1).objects)

$(1): $$(addprefix $$($(1).bin)/,$$($(1).wanted))
	@mkdir -p $$($(1).bin)
	@cd $$($(1).bin) && rm -f $$(filter-out $$($(1).programs),$$(notdir $$(wildcard $$($(1).bin)/*))) ''

$$(BUILD)/$(1)/obj/%.o: %.c
	@mkdir -p $$(@D)
	@$$(CC) $$(CFLAGS) $$($(1).flags) -Itests/lib -Iuserspace/host -Itests/$$($(1).dir)/lib -I$$(HW) -MMD -MP -c -o $$@ $$<

$$($(1).bin)/%: $$(BUILD)/$(1)/obj/tests/$$($(1).dir)/%.o $$($(1).common)
	@mkdir -p $$(@D)
	@$$(CC) $$(CFLAGS) $$($(1).flags) -Wl,--as-needed -o $$@ $$^ $$($(1).libs)
endef
$(foreach s,model-asan model-tsan numeric user draw fuzz qtest guest debug bench bench-gl bench-host,$(eval $(call suite,$(s))))

# What tests/lib/mutate.py judges mutants with: the programs of four suites, without sanitizers and debug information, on one library of
# all that they share, so that a mutant costs a few objects and one link. bin/DIR/NAME is tests/DIR/NAME.c. SANITIZE=FLAGS adds to them.
mutate.dirs := model numeric draw fuzz
mutate.flags := -g0 -fPIC -Wno-maybe-uninitialized $(SANITIZE) -Iqemu-device/model $(addprefix -I,$(foreach d,$(mutate.dirs),$(wildcard tests/$(d)/lib))) \
	-Itests/bench/host/lib -Iuserspace/libtessera $(shader_flags) $(replay_flags) $(library_flags) $(if $(SOFTFLOAT),-I$(SOFTFLOAT)/include)
mutate.sources := $(sort $(filter-out $(fuzz_main),$(foreach s,model-asan draw fuzz,$($(s).sources))) $(foreach d,$(mutate.dirs),$(wildcard tests/$(d)/lib/*.c)))
mutate.libs := $(mock_libs) $(alloc_libs) $(draw.libs)
mutate.programs := $(foreach d,$(mutate.dirs),$(patsubst tests/$(d)/%.c,$(BUILD)/mutate/bin/$(d)/%,$(wildcard tests/$(d)/*.c)))

mutate: $(mutate.programs)

$(BUILD)/mutate/obj/%.o: %.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(mutate.flags) -Itests/lib -Iuserspace/host -I$(HW) -MMD -MP -c -o $@ $<

# Functions alone are bound to the library's own: its checks (tests/*/lib) count in the program's `ktap`, not in one that nobody prints.
$(BUILD)/mutate/libmodel.so: $(patsubst %.c,$(BUILD)/mutate/obj/%.o,$(mutate.sources)) tests/lib/programs.mk
	@$(CC) $(CFLAGS) $(SANITIZE) -shared -Wl,-Bsymbolic-functions -o $@ $(filter %.o,$^) $(mutate.libs)

# a fuzz target's main()
$(filter $(BUILD)/mutate/bin/fuzz/%,$(mutate.programs)): $(BUILD)/mutate/obj/$(fuzz_main:.c=.o)
# the library is found, not watched: what a program does with it does not change when a line of it does
$(BUILD)/mutate/bin/%: $(BUILD)/mutate/obj/tests/%.o | $(BUILD)/mutate/libmodel.so
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(SANITIZE) -Wl,-rpath,$(BUILD)/mutate -o $@ $^ -L$(BUILD)/mutate -lmodel $(numeric.libs) $(mutate.libs)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: model-asan model-tsan numeric user draw fuzz qtest guest debug bench bench-gl bench-host mutate
