#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boot a guest with Tessera devices and run commands in it.

As a module:

    from guest import Guest
    with Guest(devices=2) as g:
        result = g.run("tsr-info")      # .status .stdout .stderr
        g.qmp("stop")

As a command (`make guest`, `make shell`, `make gdb` use it; --help lists the options):

    guest.py [options] -- COMMAND

What to boot comes from the environment (TSR_QEMU, TSR_QEMU_SHARE, TSR_KERNEL, TSR_INITRD, TSR_VARIANT); where
that is not set, `make guest-env` builds it and tells. On a slow variant of the kernel the guest gets more memory,
and all limits of time are longer (variant.py). What the kernels of a script's guests complain of is appended to
the file TSR_TROUBLE, when that is set. With TSR_FENCEWATCH the checker kernel/fencewatch is loaded before the driver.

Host and guest talk through three virtio-serial ports, see qemu-device/vm/init for the protocol. The
console is a file of its own, so the output of commands arrives byte for byte.
"""

import argparse
import base64
import collections
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gather  # noqa: E402
import kvm  # noqa: E402
import limits  # noqa: E402
import saved  # noqa: E402
import tsc  # noqa: E402
import variant  # noqa: E402

TOP = os.environ.get("TSR_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOT_LIMIT = 60         # seconds from QEMU's start to "ready", see limits.py
KVM_BOOT_LIMIT = 20     # the same before KVM is given up
BUG_LIMIT = 5           # until the contract checker has judged all it suspects
FENCE_LIMIT = 60        # until fencewatch reports a fence that a task waits for
RUN_LIMIT = 600         # of one command, unless the caller says

Result = collections.namedtuple("Result", "status stdout stderr")


class GuestError(Exception):
    """The guest did not boot, died, or did not answer in time. The text ends with the console's last lines."""


def environment():
    """The paths of what to boot; built by make when the caller has not done so."""
    names = ("TSR_QEMU", "TSR_QEMU_SHARE", "TSR_KERNEL", "TSR_INITRD")
    if not all(os.environ.get(n) for n in names):
        out = subprocess.run(["make", "-s", "-C", TOP, "guest-env"], stdout=subprocess.PIPE, text=True)
        if out.returncode:
            raise GuestError("what the guest needs cannot be built (see above)")
        for line in out.stdout.splitlines():
            name, _, value = line.partition("=")
            os.environ[name] = "".join(shlex.split(value))
    return {n: os.environ[n] for n in names}


class Guest:
    """A running guest. Use it in a with statement; leaving that ends QEMU whatever happened.

    devices       number of tessera devices, each behind a PCIe root port (ids gpu0, gpu1 ..., ports rp0 ...)
    device_args   properties of all of them, "vram=64M,queues=8"; a list gives each device its own
    iommu         put a vIOMMU in front: intel-iommu in the guest, DMA translated, never passed through
    smp, mem      CPUs, MiB of memory
    accel         "auto" (KVM when it works here, else TCG), "kvm", "tcg"
    one_thread    with TCG, all CPUs take turns in one thread of QEMU. With a thread for each, a CPU can execute what
                  another CPU has already replaced in the kernel's text (int3)
    share         directory to mount by 9p at /mnt (True: the checkout); blocks snapshots and migration
    load          False: boot without loading tessera.ko
    incoming      a migration URI: QEMU waits for the state there instead of booting
    fresh         False: a guest saved before it loaded the driver may be restored instead of booted, where there is
                  one of the same kernel, machine and devices, and is saved where there is none. `restored` says
                  whether it was. The programs and the driver are today's, time and randomness its own
    qemu_args, kernel_args, kernel, initrd    further arguments (lists or strings), other files
    console       what to do with the console: None keeps it for error messages, a file gets a copy
    """

    def __init__(self, devices=1, device_args="", iommu=False, smp=1, mem=1024, accel="auto", share=None,
                 one_thread=False, load=True, incoming=None, qemu_args=(), kernel_args="", kernel=None, initrd=None, console=None,
                 boot_limit=BOOT_LIMIT, fresh=True):
        self.env = environment()
        self.variant = variant.current()
        self.devices, self.device_args, self.iommu = devices, device_args, iommu
        smp, mem = max(smp, self.variant.smp), mem + self.variant.mem
        self.smp, self.mem, self.share, self.load, self.incoming = smp, mem, share, load, incoming
        self.qemu_args = shlex.split(qemu_args) if isinstance(qemu_args, str) else list(qemu_args)
        self.kernel_args = kernel_args if isinstance(kernel_args, str) else " ".join(kernel_args)
        self.kernel_args = f"{self.variant.kernel_args} {self.kernel_args}".strip()
        self.console_copy = console
        self.boot_limit = boot_limit * self.variant.slow
        self.kernel = kernel or self.env["TSR_KERNEL"]
        self.initrd = initrd or self.env["TSR_INITRD"]
        self.own_boot = bool(kernel or initrd)
        self.fresh, self.held, self.restored = fresh, False, False
        self.one_thread = one_thread
        if not os.path.exists(self.kernel):
            raise GuestError(f"there is no kernel {self.kernel}")
        self.accel, self.accel_reason = kvm.choose(accel, self.env["TSR_QEMU"])
        self.process = None
        self.bugs_seen = 0
        self.dies = False           # its kernel is meant to: what it says is no complaint
        self.qemu_said = b""        # what QEMU itself printed (traces, warnings), once it has ended
        self.dir = None
        self.number = 0

    # ---- the machine -------------------------------------------------------------------------------

    def _device_options(self):
        if self.incoming is None and not self._has_tessera():
            if self.devices:
                raise GuestError("this QEMU has no tessera device (qemu-device/pci was not there when it was "
                                 "built); --devices 0 boots without one")
        args = []
        for i in range(self.devices):
            extra = self.device_args if isinstance(self.device_args, str) else self.device_args[i]
            if os.environ.get("TSR_CHECK") and "check=" not in extra:
                extra = f"{extra},check=on".lstrip(",")
            args += ["-device", f"pcie-root-port,id=rp{i},chassis={i + 1},slot={i + 1}",
                     "-device", f"tessera,id=gpu{i},bus=rp{i}" + ("," + extra if extra else "")]
        return args

    def _has_tessera(self):
        marker = os.path.join(os.path.dirname(self.env["TSR_QEMU"]), "no-device")
        return not os.path.exists(marker)

    def _kernel_options(self):
        append = ["console=ttyS0", "panic=-1", f"tsr.devices={self.devices}"]
        append.append("loglevel=7" if self.console_copy else "loglevel=5")
        if self.accel == "tcg":
            # Calibration and mitigations cost a second of boot under TCG and mean nothing there.
            append += ["tsc=reliable", "mitigations=off", "no_timer_check"]
            khz = tsc.khz()
            if khz and "-icount" not in self.qemu_args:
                append.append(f"tsc_early_khz={khz}")
        if self.iommu:
            append += ["intel_iommu=on", "iommu=nopt"]
        if self.share:
            append.append("tsr.share=checkout")
        if not self.load:
            append.append("tsr.noload")
        if os.environ.get("TSR_FENCEWATCH"):
            append += ["tsr.fencewatch", f"fencewatch.pending_ms={FENCE_LIMIT * self.variant.slow * 1000}"]
        if self.held:
            append.append("tsr.hold")
        return " ".join(append + [self.kernel_args]).strip()

    def command(self, serial, interactive=False):
        """QEMU's argument vector. serial: the chardev backend of the console."""
        cpu = "host" if self.accel == "kvm" else "max"
        accel = f"{self.accel},thread=single" if self.one_thread and self.accel == "tcg" else self.accel
        args = [self.env["TSR_QEMU"], "-L", self.env["TSR_QEMU_SHARE"], "-nodefaults", "-no-user-config",
                "-display", "none", "-no-reboot", "-M", "q35", "-accel", accel, "-cpu", cpu,
                "-smp", str(self.smp), "-m", str(self.mem),
                "-kernel", self.kernel, "-initrd", os.environ["TSR_BASE"] if self.held else self.initrd,
                "-chardev", serial + ",id=console", "-serial", "chardev:console",
                "-object", "rng-random,filename=/dev/urandom,id=rng", "-device", "virtio-rng-pci,rng=rng"]
        append = self._kernel_options()
        if self.iommu:
            args += ["-device", "intel-iommu"]
        if self.share:
            path = TOP if self.share is True else self.share
            args += ["-virtfs", f"local,path={path},mount_tag=checkout,security_model=none,multidevs=remap"]
        if interactive:
            size = shutil.get_terminal_size()
            append += f" tsr.shell tsr.cols={size.columns} tsr.rows={size.lines}"
        if self.incoming is not None:
            args += ["-incoming", self.incoming]
        return args + ["-append", append] + self._device_options() + self.qemu_args

    # ---- start and end -----------------------------------------------------------------------------

    def start(self):
        """Boot (or wait for the incoming state); return when commands can be run."""
        if self._may_be_held() and self._start_held():
            return self
        for last in (False, True):
            try:
                self._boot()
                break
            except GuestError:
                again = not last and self._has_run_old_text()
                self.stop(heard=not again)
                if not again:
                    raise
            print("tessera: QEMU has executed kernel text that was replaced already; booting the guest again", file=sys.stderr)
        return self

    def _boot(self):
        """Boot. If KVM does not work, and nobody asked for it, by TCG."""
        limit = min(self.boot_limit, KVM_BOOT_LIMIT) if self.accel == "kvm" else self.boot_limit
        try:
            self._launch()
            self._wait_ready(limit)
        except GuestError:
            if self.accel != "kvm" or self.accel_reason == "asked for":
                raise
            self.stop()
            print("tessera: the guest does not come up with KVM on this host; TCG from now on", file=sys.stderr)
            kvm.remember_useless("a guest did not come up with it")
            self.accel, self.accel_reason = "tcg", "KVM failed"
            self._launch()
            self._wait_ready(self.boot_limit)

    def _has_run_old_text(self):
        """True if the guest died of a fault of TCG. Linux replaces its own text while it runs (static keys, trace points)
        with a breakpoint in between. A store first drops the translations of its page, and then writes. If the host lets the
        thread wait between the two, another CPU's thread translates the old byte, and meets the breakpoint for ever."""
        return self.accel == "tcg" and self.smp > 1 and "Oops: int3" in self.console()

    # ---- saved guests ------------------------------------------------------------------------------

    def _may_be_held(self):
        """Whether a saved guest can stand for this one: nothing of it may be the caller's own but what is hashed, and
        nobody may want to see it boot."""
        return (not self.fresh and self.accel == "tcg" and self.incoming is None and not self.qemu_args
                and not self.own_boot and not self.console_copy and not self.share
                and all(os.path.exists(os.environ.get(n, "")) for n in ("TSR_BASE", "TSR_PAYLOAD")))

    def _start_held(self):
        """Restore the guest, or boot it as far as it can be saved and save it; then let it go on. False when that does
        not work: a guest has to be booted in one go."""
        self.held = True
        path = saved.name(self.command("file"), os.environ["TSR_BASE"], self.kernel)
        self.restored = saved.find(path)
        try:
            self._launch(["-incoming", f"file:{path}"] if self.restored else [])
            if self.restored:
                self._greet()
                self.wait_restored()
            else:
                self._expect("hold", self.boot_limit)
                self._greet()
                self._save_held(path)
            self.sockets["ctl"].sendall(b"go\n")
            self._expect("clock", self.boot_limit)
            self.sockets["ctl"].sendall(saved.time_and_seed())
            self._expect("ready", self.boot_limit)
            return True
        except (GuestError, OSError) as e:
            what = "restored" if self.restored else "saved"
            print(f"tessera: the guest cannot be {what} ({str(e).splitlines()[0]}); booting", file=sys.stderr)
            self.stop(heard=not self._has_run_old_text())
            saved.discard(path)
            self.held = self.restored = False
            return False

    def _save_held(self, path):
        """Save the waiting guest, unless its kernel has complained, and let it run on."""
        if variant.trouble(self.console()):
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        aside = f"{path}.{os.getpid()}"
        try:
            self.save(aside)
            saved.publish(aside, path)
        finally:
            saved.discard(aside)
        self.qmp("cont")

    def _launch(self, more=()):
        self.dir = tempfile.mkdtemp(prefix="tessera-guest-")
        self.console_path = os.path.join(self.dir, "console")
        self.log_path = os.path.join(self.dir, "qemu.log")
        ours, theirs = {}, {}
        args = ["-device", "virtio-serial-pci,id=tessera-serial"] + list(more)
        if self.held:
            payload = os.environ["TSR_PAYLOAD"].replace(",", ",,")
            # The last address, so that the devices have the addresses they have without it
            args += ["-drive", f"if=none,id=payload,format=raw,read-only=on,file={payload}",
                     "-device", "virtio-blk-pci,drive=payload,serial=tessera-payload,addr=0x1e"]
        for name in ("ctl", "out", "err", "qmp"):
            ours[name], theirs[name] = socket.socketpair()
            args += ["-chardev", f"socket,id={name},fd={theirs[name].fileno()}"]
            if name == "qmp":
                args += ["-mon", "chardev=qmp,mode=control"]
            else:
                args += ["-device", f"virtserialport,chardev={name},name=tessera.{name}"]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                self.command(f"file,path={self.console_path}") + args, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, pass_fds=[s.fileno() for s in theirs.values()], start_new_session=True)
        for s in theirs.values():
            s.close()
        self.sockets = ours
        self.buffers = {name: bytearray() for name in ours}
        self.console_shown = 0

    def _wait_ready(self, limit):
        if self.incoming is not None:
            self._greet()
            return
        self._expect("ready", limit)
        self._greet()

    def _expect(self, word, limit):
        """Wait until the guest says that it is ready, or holds."""
        line = self._control_line(limit, "the guest did not get ready")
        if line != word:
            self._fail(line.replace("failed ", "", 1))

    def _fail(self, text):
        self._show_console()
        raise GuestError(f"{text}\n{self.tail()}")

    def tail(self, lines=30):
        """The end of the console (from the kernel's complaint on, if it is near) and what QEMU itself said."""
        text = []
        for title, path in (("console", self.console_path), ("QEMU", self.log_path)):
            try:
                with open(path, "rb") as f:
                    last = f.read().decode(errors="replace").replace("\r", "").splitlines()[-120:]
                trouble = [i for i, line in enumerate(last) if variant.KERNEL_TROUBLE.search(line)]
                last = last[min(trouble[0] if trouble else len(last), max(len(last) - lines, 0)):]
            except OSError:
                last = []
            if last:
                text += [f"--- {title}, last lines ---"] + last
        return "\n".join(text)

    def console(self):
        """Everything the console has shown so far, as text; nothing if QEMU did not even open it."""
        if not os.path.exists(self.console_path):
            return ""
        with open(self.console_path, "rb") as f:
            return f.read().decode(errors="replace").replace("\r", "")

    def stop(self, heard=True):
        """End QEMU, politely first, and remove what belonged to it. Without heard, its kernel's complaints are no trouble."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self._hand_over()
            self._leave("ctl", b"off\n")
        self.process.wait()
        self._show_console()
        if os.environ.get("TSR_TROUBLE"):
            with open(os.environ["TSR_TROUBLE"], "a") as f:
                said = [] if self.dies or not heard else variant.trouble(self.console())
                f.writelines(line + "\n" for line in said + self._new_bugs())
        with open(self.log_path, "rb") as f:
            self.qemu_said = f.read()
        for s in self.sockets.values():
            s.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        self.process = None

    def _hand_over(self):
        """Take what a cover kernel has counted, if anybody wants it and the guest still answers."""
        if os.environ.get("TSR_COVER") and self.variant.counts and hasattr(self, "qmp_file"):
            try:
                gather.gather(self, os.environ["TSR_COVER"])
            except (GuestError, OSError) as e:
                print(f"tessera: what a guest has counted is lost: {str(e).splitlines()[0]}", file=sys.stderr)

    def quit(self):
        """Have QEMU end without the guest's help, where nothing that the guest wrote outlives it."""
        if self.held and self.alive():
            self._leave("qmp", b'{"execute": "quit"}\n')

    def _leave(self, port, message):
        """Ask guest or QEMU to end; end QEMU when that takes too long."""
        try:
            self.sockets[port].sendall(message)
            self.process.wait(3 * self.variant.slow)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()

    def alive(self):
        """Whether QEMU still runs."""
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """End QEMU at once, as a crash of the host would."""
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    # ---- talking to the guest ----------------------------------------------------------------------

    def _show_console(self):
        """Copy what the console has gained to console_copy."""
        if not self.console_copy or not os.path.exists(self.console_path):
            return
        with open(self.console_path, "rb") as f:
            f.seek(self.console_shown)
            new = f.read()
        self.console_shown += len(new)
        self.console_copy.write(new.decode(errors="replace").replace("\r", ""))
        self.console_copy.flush()

    def _pump(self, limit, sinks):
        """Wait for input and put it into the buffers or, for names in sinks, hand it on. Returns why the limit has
        expired, or None. An end of file on ctl means that QEMU is gone."""
        with selectors.DefaultSelector() as sel:
            for name in ("ctl", "out", "err"):
                sel.register(self.sockets[name], selectors.EVENT_READ, name)
            for key, _ in sel.select(limit.slice()):
                self._receive(key.data, sinks)
        self._show_console()
        return limit.expired()

    def _receive(self, name, sinks):
        data = self.sockets[name].recv(1 << 16)
        if not data and name == "ctl":
            status = self.process.wait()
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            what = "the guest's kernel panicked" if "Kernel panic" in self.console() else f"QEMU {how}"
            self._fail(what)
        if name in sinks:
            sinks[name](data)
        else:
            self.buffers[name] += data

    def _control_line(self, seconds, what, sinks=None):
        limit = limits.Limit(seconds, self.process.pid)
        while b"\n" not in self.buffers["ctl"]:
            expired = self._pump(limit, sinks or {})
            if expired:
                self._fail(f"{what} {expired}")
        line, _, rest = bytes(self.buffers["ctl"]).partition(b"\n")
        self.buffers["ctl"] = bytearray(rest)
        return line.decode(errors="replace").strip()

    def _drain(self, sinks):
        """Output written before the exit line is in the sockets by now: take it."""
        for name in ("out", "err"):
            while True:
                try:
                    data = self.sockets[name].recv(1 << 16, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    break
                if not data:
                    break
                sinks[name](data)

    def start_command(self, text):
        """Start a shell command and return at once; finish_command() gets its result."""
        self.number += 1
        encoded = base64.b64encode(text.encode()).decode()
        self.sockets["ctl"].sendall(f"run {self.number} {encoded}\n".encode())

    def finish_command(self, timeout=RUN_LIMIT, stdout=None, stderr=None):
        """Wait for the running command. stdout, stderr: callables for its output as it comes."""
        timeout *= self.variant.slow
        out, err = bytearray(), bytearray()
        sinks = {"out": stdout or out.extend, "err": stderr or err.extend}
        for name, sink in sinks.items():
            if self.buffers[name]:
                sink(bytes(self.buffers[name]))
                self.buffers[name].clear()
        line = self._control_line(timeout, "the command did not end", sinks)
        self._drain(sinks)
        word, number, status = line.split()
        if word != "exit" or int(number) != self.number:
            self._fail(f"the guest answered '{line}' instead of the exit status")
        return Result(int(status), bytes(out), bytes(err))

    def run(self, text, timeout=RUN_LIMIT, stdout=None, stderr=None):
        """Run a shell command in the guest; its Result. GuestError when the guest dies or time is over."""
        self.start_command(text)
        return self.finish_command(timeout, stdout, stderr)

    def run_on_console(self, text, timeout=RUN_LIMIT):
        """The same for a command that sends the machine to sleep; its Result has what both outputs were.

        After waking up, virtio_console of Linux 7.3 (and some before) does not learn that the host is there, and what is
        written to a port waits for ever. So the output comes by the console, from which the kernel's messages are
        kept meanwhile. A guest that cannot be talked to afterwards is switched off."""
        seen = len(self.console())
        self.start_command("read -r level rest </proc/sys/kernel/printk; dmesg -n 1; "
                           f"({text}) >/dev/console 2>&1; echo tsr-status $? >/dev/console; dmesg -n $level")
        limit = limits.Limit(timeout * self.variant.slow, self.process.pid)
        while True:
            output, end, status = self.console()[seen:].partition("tsr-status ")
            if "\n" in status:
                break
            if not self.alive() or limit.expired():
                self._fail("the command on the console did not end" + (f": {output[-2000:]}" if end == "" else ""))
            time.sleep(0.05)
        try:
            self.finish_command(5)
        except GuestError:
            self.kill()
        return Result(int(status.split()[0]), output.encode(), b"")

    # ---- talking to QEMU ---------------------------------------------------------------------------

    def _greet(self):
        self.qmp_file = self.sockets["qmp"].makefile("rb")
        self.events = []
        self.sockets["qmp"].settimeout(60)
        self._qmp_line()
        self.qmp("qmp_capabilities")

    def _qmp_line(self):
        line = self.qmp_file.readline()
        if not line:
            self._fail("QEMU closed its monitor")
        return json.loads(line)

    def qmp(self, command, **arguments):
        """A QMP command; its return value. Names with dashes: pass _ for -."""
        message = {"execute": command, "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}}
        self.sockets["qmp"].sendall(json.dumps(message).encode() + b"\n")
        while True:
            answer = self._qmp_line()
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise GuestError(f"QMP {command}: {answer['error']['desc']}")
            else:
                return answer["return"]

    def hmp(self, line):
        """A command of QEMU's human monitor; its output."""
        return self.qmp("human-monitor-command", command_line=line)

    def _new_bugs(self):
        """What the contract checkers of the devices have said since the last call."""
        with open(self.log_path, errors="replace") as f:
            lines = [line.strip() for line in f if "driver bug " in line]
        new, self.bugs_seen = lines[self.bugs_seen:], len(lines)
        return new

    def driver_bugs(self):
        """What the contract checkers of the devices have found since the last call, as lines. A suspicion gets
        the time it needs to become one or to go away."""
        pending, deadline = True, time.monotonic() + BUG_LIMIT
        while pending and time.monotonic() < deadline:
            pending = False
            for i in range(self.devices):
                try:
                    path = f"/machine/peripheral/gpu{i}"
                    pending |= self.qmp("qom-get", path=path, property="check-pending") > 0
                except GuestError:
                    continue            # it has been unplugged
            if pending:
                time.sleep(0.1)
        return self._new_bugs()

    def wait_event(self, name, timeout=60):
        """The next QMP event of that name."""
        deadline = time.monotonic() + timeout
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event
            if time.monotonic() > deadline:
                self._fail(f"QEMU did not report {name} within {timeout} s")
            self.qmp("query-status")
            time.sleep(0.02)

    def save(self, path, timeout=120):
        """Stop the guest and write its state to a file (migrate file:)."""
        self.qmp("stop")
        self.qmp("migrate", uri=f"file:{path}")
        self._migrated(timeout)

    def _migrated(self, timeout):
        deadline = time.monotonic() + timeout
        while True:
            info = self.qmp("query-migrate")
            if info.get("status") == "completed":
                return
            if info.get("status") == "failed":
                self._fail(f"migration failed: {info.get('error-desc', 'no reason given')}")
            if time.monotonic() > deadline:
                self._fail(f"migration did not complete within {timeout} s")
            time.sleep(0.02)

    def wait_restored(self, timeout=120):
        """With incoming=: wait until the state is loaded, then let the guest go on."""
        deadline = time.monotonic() + timeout
        while self.qmp("query-status")["status"] == "inmigrate":
            if time.monotonic() > deadline:
                self._fail(f"the state was not loaded within {timeout} s")
            time.sleep(0.02)
        self.qmp("cont")


# ---- the command -----------------------------------------------------------------------------------


def interactive(guest):
    """`make shell`: QEMU in the foreground, the console on the terminal."""
    args = guest.command("stdio,mux=on,signal=off", interactive=True) + ["-mon", "chardev=console,mode=readline"]
    print(f"tessera: {guest.accel} ({guest.accel_reason}); Ctrl-A X kills the guest, Ctrl-A C is QEMU's monitor",
          file=sys.stderr)
    return subprocess.call(args)


def write_through(fd):
    """A sink that writes everything to a file descriptor."""
    def sink(data):
        while data:
            data = data[os.write(fd, data):]
    return sink


def parse(argv):
    p = argparse.ArgumentParser(prog="guest.py", description="Run a command in a fresh guest; its output and "
                                "exit status are passed through (status 125: the guest itself failed).")
    p.add_argument("--devices", type=int, default=1, help="tessera devices (default 1)")
    p.add_argument("--device-args", default="", help="properties of the devices: vram=64M,queues=8")
    p.add_argument("--iommu", action="store_true", help="put the devices behind an intel-iommu")
    p.add_argument("--smp", type=int, default=1, help="CPUs (default 1, the fastest under TCG)")
    p.add_argument("--mem", type=int, default=1024, help="MiB of memory (default 1024)")
    p.add_argument("--accel", choices=("auto", "kvm", "tcg"), default="auto")
    p.add_argument("--share", nargs="?", const=True, help="mount a directory (the checkout) at /mnt by 9p")
    p.add_argument("--no-load", action="store_true", help="do not load tessera.ko")
    p.add_argument("--kernel-args", default="", help="added to the kernel's command line")
    p.add_argument("--qemu-args", default="", help="added to QEMU's command line")
    p.add_argument("--timeout", type=float, default=RUN_LIMIT, help="seconds the command may take")
    p.add_argument("--console", action="store_true", help="copy the guest's console to stderr")
    p.add_argument("--shell", action="store_true", help="an interactive shell instead of a command")
    p.add_argument("--fresh", action="store_true", help="boot the guest, do not restore it")
    p.add_argument("--quiet", action="store_true", help="do not say which accelerator runs")
    p.add_argument("command", nargs="*", help="shell command for the guest")
    args = p.parse_args(argv)
    if not args.shell and not args.command:
        p.error("a command is needed (or --shell)")
    return args


def guest_from(args, kernel_args=""):
    """A Guest as the parsed command line describes it."""
    return Guest(devices=args.devices, device_args=args.device_args, iommu=args.iommu, smp=args.smp, mem=args.mem,
                 accel=args.accel, share=args.share, load=not args.no_load,
                 kernel_args=f"{args.kernel_args} {kernel_args}".strip(), qemu_args=args.qemu_args,
                 console=sys.stderr if args.console else None, fresh=args.fresh)


def main(argv):
    args = parse(argv)
    try:
        guest = guest_from(args)
        if args.shell:
            return interactive(guest)
        with guest:
            if not args.quiet:
                how = "restored, " if guest.restored else ""
                print(f"tessera: guest runs with {guest.accel} ({how}{guest.accel_reason})", file=sys.stderr)
            status = guest.run(" ".join(args.command), args.timeout, write_through(1), write_through(2)).status
            guest.quit()
        write_through(2)(guest.qemu_said)
        return status
    except GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
