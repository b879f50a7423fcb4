# SPDX-License-Identifier: MIT
#
# What is built outside the tree: host packages, generated headers, QEMU with the device, the kernel
# module, user space. Each script finds out by itself, from hashes, whether there is anything to do.

.PHONY: setup headers qemu update deb dist container export
setup: ## install the Debian packages that are missing
	@bash qemu-device/build/host/setup.sh

headers: setup ## generate the headers of the hardware description, print their directory
	@bash qemu-device/build/host/headers.sh

qemu: setup ## see that there is a QEMU with the device (QEMU=plugin|build), print its directory
	@bash qemu-device/build/qemu/qemu.sh

deb: setup ## Debian packages of library, tools, driver (DKMS) and plugin, print their directory
	@bash qemu-device/build/debian/deb.sh

dist: setup ## all files as a tarball that needs no git, print its name
	@bash qemu-device/build/dist.sh

container: setup ## a container image with device, kernel, guest and tools, print its OCI archive (root)
	@bash qemu-device/build/host/setup.sh debootstrap
	@bash qemu-device/build/container/container.sh

update: setup ## look for newer versions of QEMU and of the guest kernel
	@bash qemu-device/build/qemu/update.sh

export: setup ## write files for another project: TO=kernel-tree|drm-ci|syz|igt|fencewatch|github|gitlab OUT=DIR
	@$(if $(ORIGIN),ORIGIN='$(ORIGIN)') bash qemu-device/build/export.sh '$(TO)' '$(OUT)'
