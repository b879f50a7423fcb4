# SPDX-License-Identifier: MIT
#
# Tests. Each target prints KTAP while it runs and ends with "N passed, N failed, N skipped".
#   TESTS='name pattern*'   only these programs        LONG=1   ten times the time limits, all cases
#   WITH='debug-short ...'  suites that make check runs besides its own
export TSR_TOP := $(TOP)
export TSR_BUILD := $(BUILD)
export LONG TESSERA_CACHE
export PYTHONPATH := $(TOP)/tests/lib:$(TOP)/qemu-device/vm
export TSR_GUEST = $(PYTHON) $(TOP)/qemu-device/vm/guest.py --quiet
ifndef LONG
export TSR_QUICK := 1
endif

JOBS ?= $(shell nproc)
SUITES := static kernels model user qtest guest
# programs of the host: $(PROGRAMS) SET SUITE... builds those that TESTS names
PROGRAMS = ONLY='$(TESTS)' JOBS=$(JOBS) bash qemu-device/build/host.sh
# In the suites the device watches the driver and fails the test during which it has found something.
CHECKED = TSR_CHECK=1
RUN = $(PYTHON) tests/lib/run.py --only '$(TESTS)' --jobs $(JOBS)
# A run of chosen tests says nothing about coverage.
RESULTS = $(BUILD)/results$(if $(TESTS),-partial)
# names(DIR): the C programs of a directory of tests
names = $(basename $(notdir $(wildcard tests/$(1)/*.c)))
# Programs that say TSAN=0 have nothing to do with threads and are not run under TSan.
tsan_names := $(basename $(notdir $(shell grep -L 'test:.* TSAN=0' $(wildcard tests/model/*.c) /dev/null)))
# programs(LABEL,DIR,SET): arguments for run.py, LABEL:PROGRAM=SOURCE
programs = $(foreach n,$(call names,$(2)),$(1):$(BUILD)/$(3)/tests/$(2)/$(n)=tests/$(2)/$(n).c)

.PHONY: check-window check-mutants check-mutants-short check-kernel-tree check-kselftest check-distros check-mesa check-mesa-guest
.PHONY: check check-all check-static check-kernels check-model check-user check-qtest check-guest check-guest-short check-debug check-debug-short check-igt check-race check-coverage fuzz fuzz-isa bench bench-guest coverage
check: setup ## all tests on the stock kernel; the last line is the sum
	@$(PYTHON) tests/lib/check.py $(SUITES) coverage $(WITH)

check-all: ## make check, and what takes hours: debug kernels, races, IGT, windows, broken drivers, an hour of fuzzing
	@$(MAKE) check FUZZ_TOTAL=$(or $(FUZZ_TOTAL),3600) WITH='debug race igt window mutants kernel-tree kselftest distros $(WITH)'

check-static: setup ## compiler warnings, sparse, checkpatch, kernel-doc, headers, stale tables, shellcheck ...
	@$(RUN) --suite static --results $(RESULTS)/static.ktap $(wildcard tests/static/*.sh)

check-kernels: setup ## the driver against the headers of every kernel that is cared for, without a warning
	@$(RUN) --suite kernels --results $(RESULTS)/kernels.ktap $(wildcard tests/kernels/*.sh)

# Seconds of each fuzz target in check-model: FUZZ_SECONDS, its share of FUZZ_TOTAL, or little.
FUZZ_EACH = $(or $(FUZZ_SECONDS),$(if $(FUZZ_TOTAL),$(shell echo $$(($(FUZZ_TOTAL) / $(words $(call names,fuzz))))),5))
check-model: setup ## the model library in process, under ASan+UBSan and TSan, its arithmetic, a short fuzz run
	@$(PROGRAMS) asan model fuzz
	@$(PROGRAMS) tsan model
	@$(PROGRAMS) plain numeric
	@TSR_FUZZ_SECONDS=$(FUZZ_EACH) TSR_FUZZ_SEED=$(or $(FUZZ_SEED),1) $(RUN) --suite model --results $(RESULTS)/model.ktap \
		$(call programs,model-asan,model,asan) \
		$(filter $(foreach n,$(tsan_names),%/$(n).c),$(call programs,model-tsan,model,tsan)) \
		$(call programs,numeric,numeric,plain) \
		$(call programs,fuzz,fuzz,asan)

check-user: setup ## libtessera on the host: on a fake kernel, and on the model; under ASan+UBSan; programs under tsr-host
	@bash qemu-device/build/setup.sh libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
	@$(PROGRAMS) asan user draw
	@bash qemu-device/vm/programs.sh
	@$(RUN) --suite user --results $(RESULTS)/user.ktap $(call programs,user,user,asan) $(call programs,draw,draw,asan) \
		$(wildcard tests/user/*.py)

# GL programs of our own (tests/mesa), glmark2's scenes, and of piglit's those in tests/mesa/piglit.txt.
check-mesa: setup ## OpenGL programs by Mesa on the device in their own process; PIGLIT='PATTERN ...' others of piglit's; GLMARK2=rates; FUZZ='FIRST COUNT' scenes by chance; DEQP=DIR (a build of VK-GL-CTS), DEQP_PART=20
	@bash qemu-device/build/setup.sh libegl-dev libgles-dev libgl-dev libgbm-dev
	@bash qemu-device/vm/programs.sh
	@TSR_MESA=$$(bash userspace/mesa/build.sh); export TSR_MESA TSR_PIGLIT='$(PIGLIT)' TSR_GLMARK2='$(GLMARK2)' TSR_FUZZ_SCENES='$(FUZZ)' \
		TSR_DEQP='$(abspath $(DEQP))' TSR_DEQP_PART='$(DEQP_PART)'; \
		$(RUN) --suite mesa --results $(BUILD)/results-mesa/mesa$(if $(TESTS),-partial).ktap $(wildcard tests/mesa/*.py)

# With the libraries of piglit's programs, which are not packaged with what they need.
check-mesa-guest: export MESA_PACKAGES := kmscube weston glmark2-es2-drm libwaffle-1-0 libgl1 libxkbcommon0 libx11-6
check-mesa-guest: setup ## GL programs on the kernel's driver in guests: kmscube, weston, glmark2 on a screen, ours and piglit's; GLMARK2=rates
	@$(GUEST_ENV); TSR_MESA_SHARE=$$(bash userspace/mesa/share.sh); export TSR_MESA_SHARE TSR_GLMARK2='$(GLMARK2)'; \
		$(RUN) --suite mesa-guest --results $(BUILD)/results-mesa/guest$(if $(TESTS),-partial).ktap $(wildcard tests/mesa/guest/*.py)

check-qtest: setup ## the QEMU device without a guest
	@$(PROGRAMS) guest qtest
	@$(QEMU_ENV); $(RUN) --suite qtest --results $(RESULTS)/qtest.ktap \
		$(call programs,qtest,qtest,guest) $(wildcard tests/qtest/*.py)

# It runs on the host's Xvfb; QEMU's windows are fetched once, 140 MB.
check-window: setup ## QEMU's own windows, on an X server without a screen: part of check-all
	@bash qemu-device/build/setup.sh xvfb
	@q=$$(bash qemu-device/build/gui.sh) || exit; export TSR_WINDOW_QEMU=$$q/qemu-system-x86_64; \
		$(RUN) --suite window --results $(BUILD)/results-debug/window.ktap $(wildcard tests/window/*.py)

# Guests wait a part of their time, for the host's disk and for what they test.
check-guest: setup ## the driver and its user space in a booted guest
	@$(GUEST_ENV); $(CHECKED) $(RUN) --jobs $$(($(JOBS) + 1)) --suite guest --results $(RESULTS)/guest.ktap \
		$(GUEST_PROGRAMS)

# What is about the kernel's interfaces, and the faults under load, on the other kernel.
check-guest-short: ## the part of check-guest that is about the kernel, on another one: KERNEL=6.12
	@$(MAKE) check-guest KERNEL=$(or $(KERNEL),6.12) TESTS='drm_core ioctl_* syncobjs timeline prime interop bind_order \
		madvise races hang recovery suspend hotplug pci_errors faults_load'

# The same on kernels of our own (qemu-device/vm/kernels/), with the tests that only they can run.
GUEST_PROGRAMS = $(foreach n,$(call names,guest),guest:$(n)=tests/guest/$(n).c) \
	$(addprefix guest-script:,$(wildcard tests/guest/*.sh tests/guest/*.py))
DEBUG_PROGRAMS = $(foreach n,$(call names,debug),debug:$(n)=tests/debug/$(n).c) \
	$(addprefix debug-script:,$(wildcard tests/debug/*.py))
check-debug: export VARIANT := debug
check-debug: setup ## the guest suite on a kernel with KASAN, lockdep, kmemleak ... (built once), and KUnit
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite debug --results $(BUILD)/results-debug/debug$(if $(TESTS),-partial).ktap $(DEBUG_PROGRAMS) $(GUEST_PROGRAMS)

# Drivers with one mistake each: the device's checker or the suite must notice it.
check-mutants: setup ## build broken drivers, demand that each is noticed: MUTANTS='doorbell* none' VARIANT=debug
	@$(GUEST_ENV); TSR_MUTANTS='$(MUTANTS)' $(RUN) --suite mutants --results $(BUILD)/results-debug/mutants.ktap tests/lib/mutants.py

check-mutants-short: setup ## a few of them; part of `make check WITH=mutants-short`
	@$(MAKE) check-mutants MUTANTS='none doorbell_first invalidate_early unmap_forgotten pad_ignored'

# Both work on a copy of Debian's linux-source-7.3.
check-kernel-tree: setup ## the driver inside a kernel tree: compiled for x86-64 and arm64, with W=1 and sparse
	@$(RUN) --suite kernel-tree --results $(BUILD)/results-debug/kernel-tree.ktap tests/tree/kernel_tree.sh

check-kselftest: export SELFTESTS := $(SELFTESTS)
check-kselftest: setup ## the guest suite as kernel selftests, by run_kselftest.sh: SELFTESTS='ioctl_* hang'
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite kselftest --results $(BUILD)/results-debug/kselftest.ktap tests/tree/kselftest.py

check-distros: export DISTROS := $(DISTROS)
check-distros: setup ## make run, check-kernels and a guest with Linux 7.3 on bare Debian systems: DISTROS='bookworm trixie' (root)
	@bash qemu-device/build/setup.sh debootstrap lintian
	@$(RUN) --suite distros --results $(BUILD)/results-debug/distros.ktap tests/distros/distros.sh tests/distros/packages.sh

# What finds most in little time; `make check WITH=debug-short` adds it to everything else.
check-debug-short: ## the part of check-debug that is about the driver's interface, memory and locks
	@$(MAKE) check-debug TESTS='kunit fail_nth heap_refill fuzz_ioctls ioctl_* races prime'

check-igt: export VARIANT := $(or $(VARIANT),igt)
check-igt: export IGT_TESTS := $(IGT_TESTS)
check-igt: export TSR_IGT_PROGRAMS := $(IGT_PROGRAMS)
check-igt: export TSR_IGT_LONG := $(LONG)
check-igt: setup ## IGT's generic tests on a kernel with SW_SYNC and lockdep: Debian's build of them, or IGT_TESTS=DIR (IGT_PROGRAMS=, LONG=1 for all)
	@$(GUEST_ENV); TSR_IGT=$$(bash tests/igt/share.sh); export TSR_IGT; \
		$(RUN) --suite igt --results $(BUILD)/results-debug/igt.ktap igt-script:tests/igt/igt.py igt-script:tests/igt/gputop.py

# Faults while eight processes work: `make check` has 120 of them.
SOAK := vram=32M,inject-window=on,heads=1
.PHONY: soak replay
soak: setup ## FAULTS=10000 faults under load, chosen by SEED=1
	@$(GUEST_ENV); $(GUEST) --device-args '$(SOAK)' --timeout $(or $(TIMEOUT),172800) \
		--kernel-args 'tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000' -- \
		'faults_load $(or $(FAULTS),10000) $(or $(SEED),1)'

replay: setup ## FAULTS=120 faults under load by SEED=1, independent of the host; TWICE=1 compares two runs
	@$(GUEST_ENV); $(PYTHON) tests/lib/replay.py --faults $(or $(FAULTS),120) --seed $(or $(SEED),1) $(if $(TWICE),--twice)

check-race: export VARIANT := race
check-race: setup ## the guest suite on a kernel with KCSAN and two processors
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite race --results $(BUILD)/results-debug/race$(if $(TESTS),-partial).ktap $(GUEST_PROGRAMS)

# What the guests of a cover kernel have counted; a run of all programs begins anew, a run of some adds to it.
COVER := $(BUILD)/cover
.PHONY: check-cover cover-page
check-cover: export VARIANT := cover
check-cover: setup ## the guest suite on a kernel that counts what of the driver runs (GCOV): 90 % of its lines, 70 % of its branches
	@$(if $(TESTS),,rm -rf '$(COVER)')
	@$(GUEST_ENV); status=0; export TSR_COVER='$(COVER)'; $(RUN) --suite cover --results $(BUILD)/results-debug/cover$(if $(TESTS),-partial).ktap \
		$(DEBUG_PROGRAMS) $(GUEST_PROGRAMS) || status=1; $(PYTHON) tests/lib/gcov.py --dumps '$(COVER)'; exit $$status

cover-page: ## make Documentation/driver/coverage.md from what the last check-cover has counted
	@$(PYTHON) tests/lib/gcov.py --dumps '$(COVER)' --page Documentation/driver/coverage.md

check-coverage: setup ## whether Documentation/coverage.md is what the last results show
	@$(PYTHON) tests/lib/coverage.py --results $(BUILD)/results --compare Documentation/coverage.md

# What tests know of compressed blocks: computed again, and compared with decoders that others have written.
.PHONY: vectors-check
vectors-check: setup ## the texels of compressed blocks (tests/blocks) once more, from our reference and from others' decoders
	@bash qemu-device/build/setup.sh libegl-mesa0 libgl1-mesa-dri libsquish0 astcenc python3-pil
	@mkdir -p '$(BUILD)/blocks' && $(CC) -O1 -o '$(BUILD)/blocks/dump' tests/blocks/dump.c
	@$(PYTHON) tests/blocks/vectors.py '$(BUILD)/blocks/dump'

fuzz: setup ## fuzz the model longer: SECONDS=600 per target
	@$(PROGRAMS) asan fuzz
	@TSR_FUZZ_SECONDS=$(or $(SECONDS),600) LONG=1 $(RUN) --suite fuzz --results $(RESULTS)/fuzz.ktap \
		$(call programs,fuzz,fuzz,asan)

fuzz-isa: setup ## fuzz the instruction decoder with libFuzzer (needs clang): SECONDS=600, prints the lines reached
	@SECONDS_TO_RUN=$(or $(SECONDS),600) bash tests/lib/fuzz_isa.sh

# The disk the figures are compared with: virtio-blk in front of nothing, so a read costs what the bus costs.
BENCH_DISK := -drive if=none,id=bench,driver=null-co,read-zeroes=on,size=64M -device virtio-blk-pci,drive=bench
bench: setup ## benchmarks, of the model alone and in the guest, one line per figure: name value unit
	@bash qemu-device/build/setup.sh libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
	@$(PROGRAMS) plain bench/host
	@for b in $(call names,bench/host); do '$(BUILD)'/plain/tests/bench/host/$$b || exit; done
	@$(GUEST_ENV); $(GUEST) --qemu-args '$(BENCH_DISK)' -- 'for b in $(call names,bench); do $$b || exit; done'
	@$(GUEST_ENV); $(GUEST) --device-args check=on --qemu-args '$(BENCH_DISK)' -- 'latency | sed s/^/checked_/'

# llvmpipe's compiler wants a processor that it knows by name.
bench-guest: setup ## the GPU against llvmpipe in the guest, on the same scenes: SCENES='fill_flat tri_small'
	@bash qemu-device/build/setup.sh libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
	@$(GUEST_ENV); $(PROGRAMS) guest bench/gl; \
		bash tests/bench/gl/share.sh '$(BUILD)/bench-gl/share' '$(BUILD)/guest/tests/bench/gl/gfx_guest'; \
		$(GUEST) --mem $(or $(MEM),2048) --qemu-args '-cpu Haswell-noTSX' \
			--share '$(BUILD)/bench-gl/share' -- '/mnt/run $(SCENES)'

compare-disasm: userspace ## compare tsr-dis with Mesa's disassembly: DIR= holds NAME.bin and NAME.disasm
	@LD_LIBRARY_PATH='$(BUILD)/userspace/lib' $(PYTHON) tests/tools/compare_disasm.py \
		--tool '$(BUILD)/userspace/bin/tsr-dis' '$(or $(DIR),$(error say DIR=))'

# Compiled shaders with the results they should have, e.g. from another compiler. More options of tsr-run: OPTIONS=
.PHONY: vectors
vectors: setup ## run shader vectors below VECTORS=DIR on the model (TIMING=late THREADS=2 SIMD=avx2, or ALL=1)
	@[ -n '$(VECTORS)' ] || { echo 'usage: make vectors VECTORS=DIR [TIMING=early|late] [THREADS=N] [SIMD=PATH] [ALL=1]' >&2; exit 2; }
	@$(MAKE) -s -j$(JOBS) -C userspace O='$(BUILD)/userspace' HW="$$(bash qemu-device/build/headers.sh)" \
		'$(BUILD)/userspace/bin/tsr-run'
	@LD_LIBRARY_PATH='$(BUILD)/userspace/lib' $(PYTHON) -B tests/lib/vectors.py --tool '$(BUILD)/userspace/bin/tsr-run' \
		--jobs $(JOBS) '$(VECTORS)' -- $(if $(TIMING),--timing $(TIMING)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(SIMD),--simd $(SIMD)) $(if $(ALL),--all) $(OPTIONS)

coverage: ## make Documentation/coverage.md from the results of the last make check
	@$(PYTHON) tests/lib/coverage.py --results $(BUILD)/results --out Documentation/coverage.md

# Works in $(BUILD)/mutate, with build directories of its own.
.PHONY: mutate mutate-driver
mutate: setup ## break N=20 random lines of the model (ONLY='mmu* tile/*.c:12'), count how many its tests notice
	@HW="$$(bash qemu-device/build/headers.sh)" SOFTFLOAT="$$(bash qemu-device/build/softfloat.sh)" $(PYTHON) -B tests/lib/mutate.py --count $(or $(N),20) \
		--only '$(or $(ONLY),*)' --dir '$(BUILD)/mutate' --jobs $(JOBS) $(if $(SEED),--seed $(SEED)) $(if $(TESTS),--programs '$(TESTS)')

mutate-driver: setup ## break N=12 random lines of the driver (ONLY='tessera_vm*'), count how many the guest suite notices
	@$(GUEST_ENV); $(PYTHON) tests/lib/mutate_driver.py --count $(or $(N),12) --only '$(or $(ONLY),*)' \
		--dir '$(BUILD)/mutate-driver' $(if $(SEED),--seed $(SEED)) $(if $(TESTS),--programs '$(TESTS)')
