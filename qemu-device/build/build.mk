# SPDX-License-Identifier: MIT
#
# What is built outside the tree: host packages, generated headers, QEMU with the device, the kernel
# module, user space. Each script finds out by itself, from hashes, whether there is anything to do.

.PHONY: setup headers qemu update deb dist container fencewatch-tarball kernel-tree
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

fencewatch-tarball: ## kernel/fencewatch alone, as a tarball that needs nothing of the rest; print its name
	@bash qemu-device/build/fencewatch_tarball.sh

update: setup ## look for newer versions of QEMU and of the guest kernel
	@bash qemu-device/build/qemu/update.sh

kernel-tree: setup ## put the driver into a Linux source tree, LINUX=DIR, as drivers/gpu/drm/tessera
	@[ -n '$(LINUX)' ] || { echo 'usage: make kernel-tree LINUX=/src/linux' >&2; exit 2; }
	@bash qemu-device/build/kernel-tree/kernel_tree.sh '$(LINUX)'
