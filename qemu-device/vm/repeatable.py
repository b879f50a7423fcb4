# SPDX-License-Identifier: MIT
"""A guest that depends on the host as little as QEMU can.

One processor that counts instructions instead of time, a GPU without threads of its own (deterministic=on), random
numbers from a seed, a clock that begins in 2026, and one command that is there from the start. Time passes by
instructions while the processor works, by modelled cycles while the GPU does, and at once while both are idle. The host
must not write to the guest while the command runs. Devices serve the guest's requests where it makes them, in its thread.
"""

import base64

from guest import Guest


class Repeatable(Guest):
    """shift: an instruction takes 2^shift ns. The command's result is that of finish_command()."""

    def __init__(self, command, seed=1, shift=0, device_args="", kernel_args="", **more):
        text = base64.b64encode(command.encode()).decode()
        super().__init__(device_args=f"{device_args},deterministic=on,seed={seed}".lstrip(","), accel="tcg",
                         qemu_args=["-icount", f"shift={shift},sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm",
                                    "-seed", str(seed), "-global", "virtio-serial-pci.ioeventfd=off"],
                         kernel_args=f"{kernel_args} tsr.run={text}".strip(), boot_limit=600, **more)

    def command(self, serial, interactive=False):
        """No randomness of the host's."""
        args = super().command(serial, interactive)
        i = args.index("-object")
        del args[i:i + 4]
        return args

    def _launch(self, more=()):
        super()._launch(more)
        self.number = 1         # of the command that is there from the start
