# SPDX-License-Identifier: MIT
#
# Tests. Each target prints KTAP while it runs and ends with "N passed, N failed, N skipped".
#   TESTS='name pattern*'   only these programs        LONG=1   ten times the time limits, all cases
#   SHARD=2/5   the second of five parts of each suite, which five machines can run
#   WITH='debug-short ...'  suites that make check runs besides its own
#   OPTIONAL='fuzz-short ...', MINUTES=60   the same for as long as there is time
export TSR_TOP := $(TOP)
export TSR_BUILD := $(BUILD)
export LONG TESSERA_CACHE
export PYTHONPATH := $(TOP)/tests/lib:$(TOP)/qemu-device/vm:$(TOP)/qemu-device/build
export TSR_GUEST = $(PYTHON) $(TOP)/qemu-device/vm/guest.py --quiet
ifndef LONG
export TSR_QUICK := 1
endif

JOBS ?= $(shell nproc)
SUITES := static kernels model user qtest guest
# programs of the host: $(PROGRAMS) SET SUITE... builds those that TESTS names
PROGRAMS = ONLY='$(TESTS)' JOBS=$(JOBS) bash qemu-device/build/host/host.sh
# In the suites the device watches the driver and fails the test during which it has found something.
CHECKED = TSR_CHECK=1
RUN = $(PYTHON) tests/lib/run.py --only '$(TESTS)' $(if $(SHARD),--shard '$(SHARD)') --jobs $(JOBS)
# A run of chosen tests says nothing about coverage.
RESULTS = $(BUILD)/results$(if $(TESTS),-partial)$(if $(SHARD),-shard-$(subst /,-of-,$(SHARD)))
# sources(DIR): the C programs of a directory of tests, which may have folders; names(DIR): their names
sources = $(filter-out tests/$(1)/lib/%,$(wildcard tests/$(1)/*.c $(if $(filter model guest,$(1)),tests/$(1)/*/*.c)))
names = $(basename $(notdir $(call sources,$(1))))
# Programs that say TSAN=0 have nothing to do with threads and are not run under TSan.
tsan_names := $(basename $(notdir $(shell grep -L 'test:.* TSAN=0' $(call sources,model) /dev/null)))
# Suites run every program of the guest; `make guest` builds the one that CMD names.
check-% soak replay bench: export TSR_PROGRAMS := all
# programs(LABEL,DIR,SET): arguments for run.py, LABEL:PROGRAM=SOURCE
programs = $(foreach s,$(call sources,$(2)),$(1):$(BUILD)/$(3)/tests/$(2)/$(basename $(notdir $(s)))=$(s))

.PHONY: check-window check-mutants check-mutants-short check-contract check-contract-same check-fencewatch check-kernel-tree check-dist check-kselftest check-distros check-mesa check-mesa-guest
.PHONY: check check-all check-static check-kernels check-model check-user check-qtest check-guest check-guest-short check-debug check-debug-short check-igt check-race check-coverage fuzz bench coverage exercise
check: setup ## all tests on the stock kernel; the last line is the sum
	@TSR_CHECK_MINUTES='$(MINUTES)' TSR_RESULTS='$(RESULTS)' $(PYTHON) tests/lib/check.py $(SUITES) \
		$(WITH) $(if $(SHARD),,coverage) --optional $(OPTIONAL)

check-all: ## make check, and what takes hours: debug kernels, races, IGT, GL, windows, broken drivers, an hour of fuzzing
	@$(MAKE) check SECONDS=$(or $(SECONDS),3600) \
		WITH='guest-engine debug debug-engine race race-engine igt window mutants kernel-tree mesa-tree dist kselftest distros mesa mesa-guest fuzz-short fuzz-engine fuzz-kernel $(WITH)'

# check-static: compiler warnings, sparse, checkpatch, kernel-doc, headers, stale tables, shellcheck ...
check-static: setup
	@$(RUN) --suite static --results $(RESULTS)/static.ktap $(wildcard tests/static/*.sh)

# check-kernels: the driver against the headers of every kernel that is cared for, without a warning
check-kernels: setup
	@$(RUN) --suite kernels --results $(RESULTS)/kernels.ktap $(wildcard tests/kernels/*.sh)

# check-model: the model library in process, under ASan+UBSan and TSan, its arithmetic, a short fuzz run
check-model: setup
	@$(PROGRAMS) asan model fuzz
	@$(PROGRAMS) tsan model
	@$(PROGRAMS) plain numeric
	@TSR_FUZZ_SECONDS=5 TSR_FUZZ_SEED=$(or $(FUZZ_SEED),1) $(RUN) --suite model --results $(RESULTS)/model.ktap \
		$(call programs,model-asan,model,asan) \
		$(filter $(foreach n,$(tsan_names),%/$(n).c),$(call programs,model-tsan,model,tsan)) \
		$(call programs,numeric,numeric,plain) \
		$(call programs,fuzz,fuzz,asan)

# check-user: libtessera on the host: on a fake kernel, and on the model; under ASan+UBSan; programs under tsr-host
check-user: setup
	@bash qemu-device/build/host/setup.sh libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
	@$(PROGRAMS) asan user draw
	@bash qemu-device/vm/programs.sh all >/dev/null
	@$(RUN) --suite user --results $(RESULTS)/user.ktap $(call programs,user,user,asan) $(call programs,draw,draw,asan) \
		$(wildcard tests/user/*.py)

# GL programs of our own (tests/mesa), glmark2's scenes, and of piglit's those in tests/mesa/piglit.txt.
# check-mesa: OpenGL programs by Mesa on the device in their own process; PIGLIT='PATTERN ...' others of piglit's; GLMARK2=rates; FUZZ='FIRST COUNT' scenes by chance; WINDOWS='NAME ...' these programs with windows, their pictures kept, or WINDOWS=rates; DEQP=DIR (a build of VK-GL-CTS), DEQP_PART=20
check-mesa: setup
	@bash qemu-device/build/host/setup.sh libegl-dev libgles-dev libgl-dev libgbm-dev
	@bash qemu-device/vm/programs.sh all >/dev/null
	@TSR_MESA=$$(bash userspace/mesa/build.sh); export TSR_MESA TSR_PIGLIT='$(PIGLIT)' TSR_GLMARK2='$(GLMARK2)' TSR_FUZZ_SCENES='$(FUZZ)' TSR_WINDOWS='$(WINDOWS)' \
		TSR_DEQP='$(abspath $(DEQP))' TSR_DEQP_PART='$(DEQP_PART)'; \
		$(RUN) --suite mesa --results $(BUILD)/results-mesa/mesa$(if $(TESTS),-partial).ktap $(wildcard tests/mesa/*.py)

# check-vulkan: Vulkan programs on the device in their own process: ours with the validation layers, pictures of vkcube and vkmark (PICTURES='NAME ...' these, both pictures kept), MESA=1 a compositor with OpenGL; DEQP=DIR (a build of VK-GL-CTS), DEQP_PART=50, DEQP_CASES='PATTERN ...'
.PHONY: check-vulkan
check-vulkan: setup
	@bash qemu-device/build/host/setup.sh libvulkan-dev vulkan-tools vulkan-validationlayers
	@bash qemu-device/vm/programs.sh all >/dev/null
	@TSR_VULKAN=$$(bash userspace/mesa/vulkan.sh); TSR_GLSLANG=$$(bash tests/vulkan/glslang.sh); export TSR_VULKAN TSR_GLSLANG TSR_PICTURES='$(PICTURES)' \
			TSR_DEQP='$(abspath $(DEQP))' TSR_DEQP_PART='$(DEQP_PART)' TSR_DEQP_CASES='$(DEQP_CASES)'; \
		$(if $(MESA),TSR_MESA=$$(bash userspace/mesa/build.sh); export TSR_MESA;) \
		$(RUN) --suite vulkan --results $(BUILD)/results-mesa/vulkan$(if $(TESTS),-partial).ktap $(wildcard tests/vulkan/*.py)

# check-vulkan-guest: Vulkan programs on the kernel's driver in guests: ours (VULKAN_PROGRAMS='NAME ...' these), vkcube and vkmark on a screen, a compositor that draws with Vulkan (MESA=1 its buffers by GBM)
.PHONY: check-vulkan-guest
check-vulkan-guest: export VULKAN_PACKAGES := coreutils vulkan-tools vkmark mesa-vulkan-drivers vulkan-validationlayers xvfb weston cage
check-vulkan-guest: setup
	@bash qemu-device/build/host/setup.sh libvulkan-dev
	@$(GUEST_ENV); $(if $(MESA),VULKAN_MESA=$$(bash userspace/mesa/build.sh); export VULKAN_MESA;) TSR_VULKAN_SHARE=$$(bash userspace/mesa/share_vulkan.sh); TSR_GLSLANG=$$(bash tests/vulkan/glslang.sh); \
		export TSR_VULKAN_SHARE TSR_GLSLANG TSR_VULKAN_PROGRAMS='$(VULKAN_PROGRAMS)'; \
		$(RUN) --suite vulkan-guest --results $(BUILD)/results-mesa/vulkan-guest$(if $(TESTS),-partial).ktap $(wildcard tests/vulkan/guest/*.py)

# With the libraries of piglit's programs, which are not packaged with what they need.
check-mesa-guest: export MESA_PACKAGES := kmscube weston xwayland mesa-utils-bin coreutils glmark2-es2-drm libwaffle-1-0 libgl1 libxkbcommon0 libx11-6
# check-mesa-guest: GL programs on the kernel's driver in guests: kmscube, weston, glmark2 and windows on a screen, ours and piglit's; GLMARK2=rates, WINDOWS=rates
check-mesa-guest: setup
	@$(GUEST_ENV); TSR_MESA_SHARE=$$(bash userspace/mesa/share.sh); export TSR_MESA_SHARE TSR_GLMARK2='$(GLMARK2)' TSR_WINDOWS='$(WINDOWS)'; \
		$(RUN) --suite mesa-guest --results $(BUILD)/results-mesa/guest$(if $(TESTS),-partial).ktap $(wildcard tests/mesa/guest/*.py)

# check-qtest: the QEMU device without a guest
check-qtest: setup
	@$(PROGRAMS) guest qtest
	@$(QEMU_ENV); $(RUN) --suite qtest --results $(RESULTS)/qtest.ktap \
		$(call programs,qtest,qtest,guest) $(wildcard tests/qtest/*.py)

# It runs on the host's Xvfb; QEMU's windows are fetched once, 140 MB.
# check-window: QEMU's own windows, on an X server without a screen: part of check-all
check-window: setup
	@bash qemu-device/build/host/setup.sh xvfb
	@q=$$(bash qemu-device/build/qemu/gui.sh) || exit; export TSR_WINDOW_QEMU=$$q/qemu-system-x86_64; \
		$(RUN) --suite window --results $(BUILD)/results-debug/window.ktap $(wildcard tests/window/*.py)

# Guests wait a part of their time, for the host's disk and for what they test.
check-guest: export SCHED := $(SCHED)
# check-guest: the driver and its user space in a booted guest; SCHED=engine: with the other submission backend
check-guest: setup
	@$(GUEST_ENV); $(CHECKED) $(RUN) --jobs $$(($(JOBS) + 1)) --suite guest --results $(RESULTS)/guest.ktap \
		$(GUEST_PROGRAMS) $(ENGINE_PROGRAMS)

# Tests of the kernel's interfaces, and the faults under load, on the other kernel.
# check-guest-short: the part of check-guest that is about the kernel, on another one: KERNEL=6.12
check-guest-short:
	@$(MAKE) check-guest KERNEL=$(or $(KERNEL),6.12) TESTS='drm_core ioctl_* syncobjs timeline prime interop bind_order \
		madvise races hang recovery suspend hotplug pci_errors faults_load'

# check-guest on kernels of our own (qemu-device/vm/kernels/), with the tests that only they can run.
GUEST_PROGRAMS = $(foreach s,$(call sources,guest),guest:$(basename $(notdir $(s)))=$(s)) \
	$(addprefix guest-script:,$(wildcard tests/guest/scripts/*.sh tests/guest/scripts/*.py))
# A few programs once more with the driver's other submission backend; SCHED=engine runs all of them with it.
ENGINE_PROGRAMS = $(foreach n,ioctl_submit syncobjs isolation,guest-engine:$(n)=$(wildcard tests/guest/*/$(n).c))
DEBUG_PROGRAMS = $(foreach n,$(call names,debug),debug:$(n)=tests/debug/$(n).c) \
	$(addprefix debug-script:,$(wildcard tests/debug/*.py))
# check-guest-engine, check-debug-engine, check-race-engine: these suites with the other submission backend, for check-all
.PHONY: check-guest-engine check-debug-engine check-race-engine
check-guest-engine check-debug-engine check-race-engine: check-%-engine:
	@$(MAKE) check-$* SCHED=engine RESULTS='$(BUILD)/results-engine'

check-debug: export VARIANT := debug
check-debug: export SCHED := $(SCHED)
# check-debug: the guest suite on a kernel with KASAN, lockdep, kmemleak ... (built once), and KUnit
check-debug: setup
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite debug --results $(BUILD)/results-debug/debug$(if $(SCHED),-$(SCHED))$(if $(TESTS),-partial).ktap $(DEBUG_PROGRAMS) $(GUEST_PROGRAMS)

# Drivers with one mistake each: the device's checker or the suite must notice it.
# check-mutants: build broken drivers, demand that each is noticed: MUTANTS='doorbell* none' VARIANT=debug
check-mutants: setup
	@$(GUEST_ENV); TSR_MUTANTS='$(MUTANTS)' $(RUN) --suite mutants --results $(BUILD)/results-debug/mutants.ktap tests/lib/mutants.py

# check-contract: the mutants that userspace/contract/shown.tsv names turn the cells red that it names: MUTANTS='error_lost'
check-contract: setup
	@$(GUEST_ENV); TSR_MUTANTS='$(MUTANTS)' $(RUN) --suite contract --results $(BUILD)/results-debug/contract.ktap tests/lib/contract_shown.py

# check-contract-same: the contract's table is the same with an IOMMU, two devices, under load, and three times in a row: MACHINES='plain iommu' KERNEL=6.12
check-contract-same: setup
	@$(GUEST_ENV); TSR_MACHINES='$(MACHINES)' TSR_RUNS='$(RUNS)' $(RUN) --suite contract-same --results $(BUILD)/results-debug/contract-same.ktap tests/lib/contract_same.py

# check-mutants-short: a few of them; part of `make check WITH=mutants-short`
check-mutants-short: setup
	@$(MAKE) check-mutants MUTANTS='none doorbell_first invalidate_early unmap_forgotten pad_ignored'

# The first call puts the bug into a copy of the driver; HINT=1..3 prints hints, AGAIN=1 begins anew.
exercise: export TSR_PROGRAMS := checked recovery
exercise: setup ## repair a driver with one known bug: N=1, 2 or 3, HINT=1 for a hint
	@[ -n '$(N)' ] || { echo 'usage: make exercise N=1|2|3 [HINT=1..3] [AGAIN=1]' >&2; exit 2; }
	@$(GUEST_ENV); $(PYTHON) tests/lib/exercise.py '$(N)' $(if $(HINT),--hint '$(HINT)') $(if $(AGAIN),--again)

# Both work on a copy of Debian's linux-source-7.3.
# check-fencewatch: what fencewatch says about other drivers under IGT's programs for them: DRIVERS='virtio_gpu vgem' VARIANT=igt (for vkms, sw_sync)
check-fencewatch: export DRIVERS := $(DRIVERS)
check-fencewatch: setup
	@$(GUEST_ENV); TSR_IGT=$$(bash tests/igt/share.sh); export TSR_IGT; \
		$(RUN) --suite fencewatch --results $(BUILD)/results-debug/fencewatch.ktap tests/fencewatch/others.py

# check-kernel-tree: the driver inside a kernel tree: compiled for x86-64 and arm64, with W=1 and sparse; a guest with a tree of one's own
check-kernel-tree: setup
	@$(RUN) --suite kernel-tree --results $(BUILD)/results-debug/kernel-tree.ktap tests/tree/kernel_tree.sh tests/tree/own_tree.sh tests/tree/drm_ci.sh

# check-mesa-tree: a Mesa checkout of one's own (MESA_TREE=): built, run, built again after a change
.PHONY: check-mesa-tree
check-mesa-tree: setup
	@bash qemu-device/build/host/setup.sh libegl-dev
	@bash qemu-device/vm/programs.sh all >/dev/null
	@$(RUN) --suite mesa-tree --results $(BUILD)/results-debug/mesa-tree.ktap tests/tree/mesa_tree.sh

# check-dist: the tarball of make dist, its own static and user checks without git and network
check-dist: setup
	@$(RUN) --suite dist --results $(BUILD)/results-debug/dist.ktap tests/tree/dist.sh

check-kselftest: export SELFTESTS := $(SELFTESTS)
# check-kselftest: the guest suite as kernel selftests, by run_kselftest.sh: SELFTESTS='ioctl_* hang'
check-kselftest: setup
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite kselftest --results $(BUILD)/results-debug/kselftest$(if $(SELFTESTS),-partial).ktap tree:tests/tree/kselftest.py

check-distros: export DISTROS := $(DISTROS)
# check-distros: make run, check-kernels and a guest with Linux 7.3 on bare Debian systems, packages, CI recipes, the container: DISTROS='bookworm trixie' (root)
check-distros: setup
	@bash qemu-device/build/host/setup.sh debootstrap lintian
	@$(RUN) --suite distros --results $(BUILD)/results-debug/distros.ktap tests/distros/distros.sh tests/distros/packages.sh tests/distros/recipes.sh tests/distros/container.sh tests/distros/fencewatch.sh

# Tests that find most in little time. `make check WITH=debug-short` adds them to everything else.
# check-debug-short: the part of check-debug that is about the driver's interface, memory and locks
check-debug-short:
	@$(MAKE) check-debug TESTS='kunit fail_nth heap_refill fuzz_ioctls ioctl_* races prime'

check-igt: export VARIANT := $(or $(VARIANT),igt)
check-igt: export IGT_TESTS := $(IGT_TESTS)
check-igt: export TSR_IGT_PROGRAMS := $(IGT_PROGRAMS)
check-igt: export TSR_IGT_LONG := $(LONG)
check-igt: export TSR_IGT_XFAILS := $(abspath $(IGT_XFAILS))
# check-igt: IGT's generic tests on a kernel with SW_SYNC and lockdep: Debian's build of them, or IGT_TESTS=DIR (IGT_PROGRAMS=, LONG=1 for all; IGT_XFAILS=DIR with the expectations of drm-ci)
check-igt: setup
	@$(GUEST_ENV); TSR_IGT=$$(bash tests/igt/share.sh); export TSR_IGT; \
		$(RUN) --suite igt --results $(BUILD)/results-debug/igt.ktap igt-script:tests/igt/igt.py igt-script:tests/igt/gputop.py

# Faults while eight processes work: `make check` has 120 of them.
SOAK := vram=32M,inject-window=on,heads=1
.PHONY: soak replay
# soak: FAULTS=10000 faults under load, chosen by SEED=1
soak: setup
	@$(GUEST_ENV); $(GUEST) --device-args '$(SOAK)' --timeout $(or $(TIMEOUT),172800) \
		--kernel-args 'tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000' -- \
		'faults_load $(or $(FAULTS),10000) $(or $(SEED),1)'

# replay: FAULTS=120 faults under load by SEED=1, independent of the host; TWICE=1 compares two runs
replay: setup
	@$(GUEST_ENV); $(PYTHON) tests/lib/replay.py --faults $(or $(FAULTS),120) --seed $(or $(SEED),1) $(if $(TWICE),--twice)

check-race: export VARIANT := race
check-race: export SCHED := $(SCHED)
# check-race: the guest suite on a kernel with KCSAN and two processors
check-race: setup
	@$(GUEST_ENV); $(CHECKED) $(RUN) --suite race --results $(BUILD)/results-debug/race$(if $(SCHED),-$(SCHED))$(if $(TESTS),-partial).ktap $(GUEST_PROGRAMS)

# Counts of the guests of a cover kernel. A run of all programs deletes them first, a run of some adds to them.
COVER := $(BUILD)/cover
.PHONY: check-cover cover-page
check-cover: export VARIANT := cover
# check-cover: the guest suite on a kernel that counts what of the driver runs (GCOV): 90 % of its lines, 70 % of its branches
check-cover: setup
	@$(if $(TESTS),,rm -rf '$(COVER)')
	@$(GUEST_ENV); status=0; export TSR_COVER='$(COVER)'; $(RUN) --suite cover --results $(BUILD)/results-debug/cover$(if $(TESTS),-partial).ktap \
		$(DEBUG_PROGRAMS) $(GUEST_PROGRAMS) || status=1; $(PYTHON) tests/lib/gcov.py --dumps '$(COVER)'; exit $$status

# cover-page: put into Documentation/status/coverage.md what the last check-cover has counted
cover-page:
	@$(PYTHON) tests/lib/gcov.py --dumps '$(COVER)' --page Documentation/status/coverage.md

# Rows that a suite of make check-all proves; check-all compares the page after it.
check-coverage coverage: ALSO := --also $(BUILD)/results-debug/kselftest.ktap
# check-coverage: whether Documentation/status/coverage.md is what the last results show
check-coverage: setup
	@$(PYTHON) tests/lib/coverage.py --results $(BUILD)/results $(ALSO) --compare Documentation/status/coverage.md

# Compute the expected texels of compressed blocks again, and compare them with the decoders of others.
.PHONY: vectors-check
# vectors-check: the texels of compressed blocks (tests/blocks) once more, from our reference and from others' decoders
vectors-check: setup
	@bash qemu-device/build/host/setup.sh libegl-mesa0 libgl1-mesa-dri libsquish0 astcenc python3-pil
	@mkdir -p '$(BUILD)/blocks' && $(CC) -O1 -o '$(BUILD)/blocks/dump' tests/blocks/dump.c
	@$(PYTHON) tests/blocks/vectors.py '$(BUILD)/blocks/dump'

# With ENGINE= the inputs that were found stay in the build directory, and the next run goes on with them.
fuzz: setup ## fuzz the model longer: SECONDS=600 per target, ENGINE=libfuzzer|msan|afl|qemu with coverage feedback
ifdef ENGINE
	@bash qemu-device/build/host/setup.sh clang $(if $(filter afl,$(ENGINE)),afl++)
	@SECONDS_TO_RUN=$(or $(SECONDS),600) bash tests/fuzz/engine/$(if $(filter qemu,$(ENGINE)),qemu.sh,run.sh '$(ENGINE)' $(TESTS))
else
	@$(PROGRAMS) asan fuzz
	@TSR_FUZZ_SECONDS=$(or $(SECONDS),600) LONG=1 $(RUN) --suite fuzz --results $(RESULTS)/fuzz.ktap \
		$(call programs,fuzz,fuzz,asan)
endif

# The corpus stays in OUT, so a later run goes on where this one ended.
.PHONY: fuzz-kernel check-fuzz-kernel
fuzz-kernel check-fuzz-kernel: export VARIANT := kcov
fuzz-kernel check-fuzz-kernel: export TSR_PROGRAMS := kcov_ioctls
fuzz-kernel: setup ## fuzz the driver in guests with coverage feedback: SECONDS=3600 SEED=1 GUESTS=N OUT=DIR for corpus and finds, BLIND=1 MUTANT=NAME
	@$(GUEST_ENV); exec $(PYTHON) tests/fuzz/kernel/fuzz_kernel.py --out '$(or $(OUT),$(BUILD)/fuzz-kernel)' \
		$(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(GUESTS),--guests $(GUESTS)) $(if $(BLIND),--blind) $(if $(MUTANT),--mutant '$(MUTANT)')

# check-fuzz-kernel: make fuzz-kernel finds a planted bug in ten minutes, and nothing in the driver in one
check-fuzz-kernel: setup
	@$(GUEST_ENV); $(RUN) --suite fuzz-kernel --results $(BUILD)/results-debug/fuzz-kernel.ktap tests/fuzz/kernel/planted.py

# All targets share SECONDS; as many run at a time as there are processors.
# check-fuzz-short: fuzz the model for SECONDS in all
check-fuzz-short: setup
	@$(PROGRAMS) asan fuzz
	@TSR_FUZZ_SECONDS=$$(($(or $(SECONDS),600) * $(JOBS) / $(words $(call names,fuzz)))) $(if $(FUZZ_SEED),TSR_FUZZ_SEED=$(FUZZ_SEED)) LONG=1 $(RUN) --suite fuzz \
		--results $(BUILD)/results-debug/fuzz.ktap $(call programs,fuzz,fuzz,asan)

# check-fuzz-engine: the targets for libFuzzer, built as OSS-Fuzz does it (tests/fuzz/engine/build.sh): each runs from its seeds
.PHONY: check-fuzz-engine
check-fuzz-engine: setup
	@bash qemu-device/build/host/setup.sh clang
	@$(RUN) --suite fuzz-engine --results $(BUILD)/results-debug/fuzz-engine.ktap tests/fuzz/engine/engine.sh

# The disk the figures are compared with: virtio-blk in front of nothing, so a read costs what the bus costs.
BENCH_DISK := -drive if=none,id=bench,driver=null-co,read-zeroes=on,size=64M -device virtio-blk-pci,drive=bench
# The peer is llvmpipe of Debian 13's Mesa on every host. OPS=1 (or OPS='PATTERN ...'): only operations of GL.
BENCH_COMPARE = $(PYTHON) tests/bench/compare.py --peer "$$(bash tests/bench/peer.sh)" --threads '$(THREADS)'
BENCH_OPS = mesa=$$(bash userspace/mesa/build.sh) && bash qemu-device/vm/programs.sh all >/dev/null && mkdir -p '$(BUILD)/bench' && \
	cc -O2 -Wall -Wextra -o '$(BUILD)/bench/ops' tests/bench/ops/*.c -lEGL -lGLESv2 && \
	$(BENCH_COMPARE) --ops '$(BUILD)/bench/ops' --only '$(if $(filter-out 1,$(OPS)),$(OPS),*)' \
		--ours "$(BUILD)/userspace/bin/tsr-host $$mesa/tsr-mesa"
# llvmpipe's compiler needs a processor that it knows by name.
BENCH_GUEST = $(GUEST_ENV); $(PROGRAMS) guest bench/gl; \
	bash tests/bench/gl/share.sh '$(BUILD)/bench-gl/share' '$(BUILD)/guest/tests/bench/gl/gfx_guest'; \
	$(GUEST) --mem $(or $(MEM),2048) --qemu-args '-cpu Haswell-noTSX' \
		--share '$(BUILD)/bench-gl/share' -- '/mnt/run $(filter-out all,$(SCENES))'
BENCH_HOST = for b in $(filter-out gfx,$(call names,bench/host)); do '$(BUILD)'/plain/tests/bench/host/$$b || exit; done
bench: setup ## benchmarks of model, guest and GL against llvmpipe: THREADS='1 4', OPS=1 GL operations alone, SCENES=all|'NAME ...' in a guest, SUBMITS=1 cost of fencewatch and of the backend engine
	@bash qemu-device/build/host/setup.sh libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri
ifdef SCENES
	@$(BENCH_GUEST)
else ifdef OPS
	@$(BENCH_OPS)
else ifdef SUBMITS
	@$(GUEST_ENV); $(PYTHON) tests/bench/submits.py $(if $(PAIRS),--pairs '$(PAIRS)') $(if $(DRIVER_KO),--driver '$(DRIVER_KO)')
else
	@$(PROGRAMS) plain bench/host
	@$(BENCH_HOST)
	@$(BENCH_COMPARE) --gfx '$(BUILD)/plain/tests/bench/host/gfx'
	@$(BENCH_OPS)
	@$(GUEST_ENV); $(GUEST) --qemu-args '$(BENCH_DISK)' -- 'for b in $(filter-out residency,$(call names,bench)); do $$b || exit; done'
	@$(GUEST_ENV); $(GUEST) --device-args vram=64M --mem 2048 -- residency
	@$(GUEST_ENV); $(GUEST) --device-args check=on --qemu-args '$(BENCH_DISK)' -- 'latency | sed s/^/checked_/'
endif

# compare-disasm: compare tsr-dis with Mesa's disassembly: DIR= holds NAME.bin and NAME.disasm
compare-disasm: userspace
	@LD_LIBRARY_PATH='$(BUILD)/userspace/lib' $(PYTHON) tests/tools/compare_disasm.py \
		--tool '$(BUILD)/userspace/bin/tsr-dis' '$(or $(DIR),$(error say DIR=))'

# Compiled shaders with the results they should have, e.g. from another compiler. More options of tsr-run: OPTIONS=
.PHONY: check-vectors
# check-vectors: run shader vectors below VECTORS=DIR on the model (TIMING=late THREADS=2 SIMD=avx2, or ALL=1)
check-vectors: setup
	@[ -n '$(VECTORS)' ] || { echo 'usage: make check-vectors VECTORS=DIR [TIMING=early|late] [THREADS=N] [SIMD=PATH] [ALL=1]' >&2; exit 2; }
	@$(MAKE) -s -j$(JOBS) -C userspace O='$(BUILD)/userspace' HW="$$(bash qemu-device/build/host/headers.sh)" \
		'$(BUILD)/userspace/bin/tsr-run'
	@LD_LIBRARY_PATH='$(BUILD)/userspace/lib' $(PYTHON) -B tests/lib/vectors.py --tool '$(BUILD)/userspace/bin/tsr-run' \
		--jobs $(JOBS) '$(VECTORS)' -- $(if $(TIMING),--timing $(TIMING)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(SIMD),--simd $(SIMD)) $(if $(ALL),--all) $(OPTIONS)

# coverage: make Documentation/status/coverage.md from the results of the last make check
coverage:
	@$(PYTHON) tests/lib/coverage.py --results $(BUILD)/results $(ALSO) --out Documentation/status/coverage.md
