# SPDX-License-Identifier: MIT
#
# Tessera: a GPU that is a QEMU PCI device, its Linux DRM driver, its user space. `make help` lists the
# targets. Nothing is built in this directory: everything goes to $TESSERA_CACHE (~/.cache/tessera).

# Kbuild reads a directory's Kbuild file first, so `make -C /lib/modules/.../build M=$PWD` never comes here.
MAKEFLAGS += --no-print-directory --no-builtin-rules
SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:

TOP := $(CURDIR)
# This checkout's own directory in $TESSERA_CACHE (~/.cache/tessera).
BUILD := $(shell . qemu-device/build/lib.sh && echo $$BUILD)
PYTHON := /usr/bin/python3

include qemu-device/build/build.mk
include qemu-device/vm/runner.mk
-include tests/lib/tests.mk

.PHONY: help clean distclean
help: ## what can be made
	@echo 'Tessera: make TARGET [VARIABLE=value ...]'
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16 | sed 's/^/  /'
	@echo '  check-NAME      one suite of tests; tests/README.md lists them'
	@echo 'Guests take KERNEL= MODULES= KDIR= DEVICES= DEVICE_ARGS= IOMMU=1 FENCEWATCH=1 SMP= MEM= ACCEL= QEMU= FRESH=1 DISPLAY_HEADS= VNC= QEMU_ARGS= KERNEL_ARGS=;'
	@echo 'see Documentation/guide/.'

clean: ## remove this checkout's build directory (downloads and QEMU stay)
	rm -rf '$(BUILD)'

distclean: ## remove the whole cache, downloads, QEMU and all checkouts' builds
	@bash qemu-device/build/distclean.sh
