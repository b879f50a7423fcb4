# SPDX-License-Identifier: MIT
#
# Guests: boot one, run a command, look inside. All options are make variables and environment:
#   KERNEL=7.3|6.12|trixie-backports another one of Debian's    KERNEL=FILE MODULES= KDIR=    any other one
#   KERNEL=DIR                the kernel that was built in that directory
#   VARIANT=debug|race|cover|igt a kernel of our own
#   DEVICES=n DEVICE_ARGS=vram=64M   the devices
#   QEMU=plugin|build         Debian's QEMU with the device as a plugin, or one built with it inside
#   FRESH=1                   boot the guest even if a saved one could be restored
#   MESA=1                    mount Mesa and GL programs at /mnt, with MESA_PROGRAMS='NAME ...' of the host: CMD='/mnt/run NAME'
#                             and MESA_PACKAGES='kmscube ...' of Debian 13's: CMD='/mnt/debian kmscube'
#   VULKAN=1                  mount Vulkan programs of Debian 13's at /mnt, with our driver: CMD='vkcube --c 300', vkmark, vulkaninfo
#   IOMMU=1 SMP=n MEM=MiB     the machine                      ACCEL=tcg|kvm  QEMU_ARGS= KERNEL_ARGS=
#   FENCEWATCH=1              load the checker of fences (kernel/fencewatch) before the driver; suites fail on its reports
#   DISPLAY_HEADS=n VNC=:7    screens, and who shows them
export MESA_PACKAGES VULKAN_PACKAGES KERNEL MODULES KDIR VARIANT IMAGE QEMU TESSERA_MIRROR TESSERA_SECURITY_MIRROR
export FENCEWATCH
export TSR_FENCEWATCH := $(FENCEWATCH)
export PYTHONDONTWRITEBYTECODE := 1

comma := ,
device_args = $(DEVICE_ARGS)$(if $(DISPLAY_HEADS),$(if $(DEVICE_ARGS),$(comma))heads=$(DISPLAY_HEADS))
qemu_args = $(strip $(QEMU_ARGS) $(if $(VNC),-vnc $(VNC)))
GUEST_OPTIONS = $(if $(DEVICES),--devices $(DEVICES)) $(if $(device_args),--device-args '$(device_args)') \
	$(if $(IOMMU),--iommu) $(if $(SMP),--smp $(SMP)) $(if $(MEM),--mem $(MEM)) $(if $(ACCEL),--accel $(ACCEL)) \
	$(if $(KERNEL_ARGS),--kernel-args '$(KERNEL_ARGS)') $(if $(qemu_args),--qemu-args '$(qemu_args)') \
	$(if $(TIMEOUT),--timeout $(TIMEOUT)) $(if $(V),--console) $(if $(FRESH),--fresh)
# make itself ends with status 2 when the command fails and says "Error N"; guest.py ends with N.
# Sets TSR_QEMU and so on in the shell that runs the rest of the line; builds what is missing.
GUEST_ENV = set -e; env=$$(bash qemu-device/vm/env.sh); set -a; eval "$$env"; TSR_TOP='$(TOP)'; set +a
GUEST = $(PYTHON) qemu-device/vm/guest.py $(GUEST_OPTIONS)

# Sets what the device tests need.
QEMU_ENV = set -e; q=$$(bash qemu-device/build/qemu/qemu.sh); export TSR_QEMU=$$q/qemu-system-x86_64 TSR_QEMU_SHARE=$$q/share

.PHONY: kernel kconfig module userspace mesa vulkan guest-env guest shell gdb run timeline scenario lab contract sched ci
kernel: setup ## fetch the stock guest kernel, or KERNEL=7.3, print its directory
	@bash qemu-device/vm/kernel.sh $(KERNEL)

module: setup ## build the driver for the stock kernel (or KDIR=), print the path of tessera.ko
	@bash qemu-device/vm/module.sh $(KDIR)

userspace: setup ## build libtessera, tools, demos and the guest's test programs
	@bash qemu-device/vm/programs.sh all >/dev/null && echo '$(BUILD)/userspace'

mesa: setup ## build Mesa with a driver for the GPU, or your own checkout MESA_TREE=DIR, print its directory; DIR/tsr-mesa PROGRAM runs a program with it
	@bash userspace/mesa/build.sh

kconfig: ## switch on what a guest needs in the configuration of your own kernel tree, KERNEL=DIR
	@[ -n '$(KERNEL)' ] || { echo 'usage: make kconfig KERNEL=/src/linux' >&2; exit 2; }
	@bash qemu-device/vm/own_tree.sh --configure '$(KERNEL)'

vulkan: setup ## build the experimental Vulkan driver in a Mesa of its own, print its directory; DIR/tsr-vulkan PROGRAM
	@bash userspace/mesa/vulkan.sh

guest-env: setup
	@bash qemu-device/vm/env.sh

# CMD may hold any quotes and dollar signs: it reaches the guest as it is, through the environment.
guest: export TSR_CMD = $(value CMD)
guest: DISPLAY_HEADS := $(or $(DISPLAY_HEADS),$(if $(VULKAN),1))
guest: setup ## run CMD='...' in a guest of its own (restored where it can be, FRESH=1 boots); make fails when it fails
	@[ -n "$$TSR_CMD" ] || { echo "usage: make guest CMD='command'" >&2; exit 2; }
	@$(GUEST_ENV); $(if $(VULKAN),share=$$(bash userspace/mesa/share_vulkan.sh); TSR_CMD="PATH=\$$PATH:/mnt/bin; $$TSR_CMD";) \
		$(if $(MESA),share=$$(bash userspace/mesa/share.sh $(MESA_PROGRAMS));) \
		exec $(GUEST) $(if $(MESA)$(VULKAN),--share "$$share",$(if $(SHARE),--share)) -- "$$TSR_CMD"

timeline: export TSR_CMD = $(value CMD)
timeline: setup ## run CMD='...' in a guest, write what scheduler, fences and GPU did to OUT=timeline.json (Perfetto)
	@[ -n "$$TSR_CMD" ] || { echo "usage: make timeline CMD='command' [OUT=file.json]" >&2; exit 2; }
	@$(GUEST_ENV); exec $(PYTHON) qemu-device/vm/timeline.py --out '$(or $(OUT),timeline.json)' $(GUEST_OPTIONS) -- "$$TSR_CMD"

ci: export TSR_CMD = $(value CMD)
ci: setup ## run CMD='...' in a guest as a CI job wants it: fail on complaints of the kernel, keep console, dumps, timeline in OUT=ci-out
	@[ -n "$$TSR_CMD" ] || { echo "usage: make ci CMD='command' [OUT=directory]" >&2; exit 2; }
	@$(GUEST_ENV); exec $(PYTHON) qemu-device/vm/ci.py --out '$(or $(OUT),ci-out)' $(GUEST_OPTIONS) -- "$$TSR_CMD"

# The table goes to the terminal; a page or a trace comes out as the command's standard output.
scenario: setup ## run a scenario of tsr-sync in a guest with two GPUs: SCENARIO=guilty or =file.sync, HTML=page.html or TRACE=trace.json
	@[ -n '$(SCENARIO)' ] || { echo 'usage: make scenario SCENARIO=NAME|FILE [HTML=FILE | TRACE=FILE]' >&2; exit 2; }
	@$(GUEST_ENV); exec $(PYTHON) qemu-device/vm/scenario.py --scenario '$(SCENARIO)' $(if $(HTML),--html '$(HTML)') \
		$(if $(TRACE),--trace '$(TRACE)') $(GUEST_OPTIONS)

# The name that it had in 1.0. It goes with the next release.
lab:
	@echo 'tessera: make lab LAB= is called make scenario SCENARIO= now' >&2
	@$(MAKE) scenario SCENARIO='$(LAB)'

# module.sh has a DRIVER of its own.
contract: setup ## break DRIVER=tessera|vgem|sw_sync in a guest, show what each party sees: ROW='hang*' HTML=page.html
	@unset DRIVER; $(GUEST_ENV); exec $(PYTHON) qemu-device/vm/contract.py $(if $(DRIVER),--driver '$(DRIVER)') $(if $(ROW),--row '$(ROW)') \
		$(if $(HTML),--html '$(HTML)') $(GUEST_OPTIONS)

# GUESTS=2 runs two guests at a time. SCHED_PATCH changes drm_sched itself, where it is a module.
SCHED_ARGS = --load '$(LOAD)' $(if $(POLICY),--policy '$(POLICY)') $(if $(DEPTH),--depth '$(DEPTH)') $(if $(SLOTS),--slots '$(SLOTS)') \
	$(if $(BACKEND),--backend '$(BACKEND)') $(if $(TIMESLICE),--timeslice '$(TIMESLICE)') $(if $(DELAY),--delay '$(DELAY)') \
	$(if $(SEED),--seed '$(SEED)') $(if $(REALTIME),--realtime '$(REALTIME)') $(if $(SCHED_PATCH),--scheduler '$(abspath $(SCHED_PATCH))') \
	$(if $(MOCK),--mock) $(if $(JSON),--json '$(JSON)') $(if $(HTML),--html '$(HTML)') $(if $(BASE),--base '$(BASE)') \
	$(if $(TOLERANCE),--tolerance '$(TOLERANCE)') $(if $(GUESTS),--jobs '$(GUESTS)')
sched: setup ## compare schedulers under the same load: LOAD=all POLICY=rr,fifo,fair DEPTH=1,4 BACKEND=engine,slot MOCK=1 HTML= JSON= BASE=before.json
	@[ -n '$(LOAD)' ] || { echo 'usage: make sched LOAD=NAME,...|FILE [POLICY=rr,fifo,fair] [DEPTH=1,4] [BACKEND=engine,slot]' >&2; exit 2; }
	@$(GUEST_ENV); exec $(PYTHON) qemu-device/vm/sched_lab.py $(SCHED_ARGS) $(GUEST_OPTIONS)

shell: export TSR_PROGRAMS = $(TESTS)
shell: setup ## an interactive guest with the driver loaded and the checkout in /mnt; TESTS='NAME ...' adds test programs
	@$(GUEST_ENV); exec $(GUEST) --share --shell

# The demo works on a picture that the project has made, or on IMAGE=.
run: IMAGE := $(or $(IMAGE),userspace/demos/photo/photo.png)
DEMO = $(PYTHON) qemu-device/vm/demo.py --image "$$IMAGE" --out '$(BUILD)/run'
run: export TSR_PHASES := $(BUILD)/phases.$(shell echo $$$$)
run: setup ## boot a guest, run the demo on a picture (IMAGE=file.png), show where the result is
	@$(DEMO) --check
	@$(GUEST_ENV); exec $(DEMO) $(GUEST_OPTIONS)

# A command given as CMD starts as soon as gdb is attached and continues the guest.
gdb: export TSR_CMD = $(or $(value CMD),true)
gdb: setup ## gdb on the guest's kernel, with the driver's symbols; CMD='...' runs in the guest meanwhile
	@bash qemu-device/build/host/setup.sh gdb
	@$(GUEST_ENV); exec $(PYTHON) qemu-device/vm/gdb.py --module "$$TSR_MODULE" $(GUEST_OPTIONS) -- "$$TSR_CMD"
