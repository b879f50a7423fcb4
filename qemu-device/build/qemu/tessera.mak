# SPDX-License-Identifier: MIT
#
# What this QEMU consists of: a q35 machine, the virtio devices the guest runner uses, an IOMMU, ports to
# plug behind, and descriptions of monitors. Copied to configs/devices/x86_64-softmmu/ of QEMU's tree.
CONFIG_PCI_DEVICES=n
CONFIG_Q35=y
CONFIG_I440FX=n
CONFIG_ISAPC=n
CONFIG_MICROVM=n
CONFIG_VTD=y
CONFIG_PCIE_PORT=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_RNG=y
CONFIG_ISA_DEBUG=y
CONFIG_PCI_BRIDGE=y
CONFIG_EDID=y
CONFIG_PCIE_PCI_BRIDGE=y
