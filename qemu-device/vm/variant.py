# SPDX-License-Identifier: MIT
"""What is different on a kernel of our own (VARIANT=, qemu-device/vm/kernels/), and what counts as its complaint."""

import os
import re

# Lines of the kernel's log that mean trouble. Lockdep, RCU, KASAN, KCSAN, debug objects and DMA-API all begin
# their reports with WARNING or BUG; the rest of the list is for what does not.
KERNEL_TROUBLE = re.compile(
    r"WARNING: |BUG: |BUG \S+ \(|Oops|general protection|kernel BUG|KASAN|UBSAN|ODEBUG|DMA-API: |refcount_t:|"
    r"list_(?:add|del) corruption|Kernel panic|Out of memory:|possible circular locking|"
    r"INFO: (?:task .* blocked|trying to register non-static key|rcu_)|detected stalls on CPUs|"
    r"fencewatch: [A-Z_]+ driver |[1-9]\d* new suspicious memory leaks|Object 0x\S+ \(size|nobody cared")


class Variant:
    """slow: how much longer everything takes than on the stock kernel; mem: MiB more that the kernel wants;
    kernel_args: for its command line; leaks: it finds memory that was lost (kmemleak); counts: what runs (gcov);
    looks: a command that fails in a guest whose kernel does not look for what it was built to find."""

    def __init__(self, slow=1, mem=0, kernel_args="", leaks=False, smp=1, counts=False, looks="true"):
        self.slow, self.mem, self.kernel_args, self.leaks, self.smp = slow, mem, kernel_args, leaks, smp
        self.counts, self.looks = counts, looks


# A job that waits for a slow test must not count as a hang; the tests' own patience grows with it
# (gt_timeout_ms()). Tests about hangs say what they want instead.
PATIENT = "tessera.job_timeout_ms=60000"

VARIANTS = {
    "": Variant(),
    # Lockdep gives up after its first report and KASAN prints only one: run.py boots anew after each.
    "debug": Variant(slow=8, mem=1024, kernel_args=PATIENT, leaks=True, looks="test -w /sys/kernel/debug/kmemleak"),
    # A configuration that is made of what is named (allnoconfig) has KCSAN built in, and switched off. It watches
    # one access in 4001 unless told: too few under TCG, where a processor makes half a million of them a second. One
    # in 199 shows the race of the mutant madvise_unlocked; it is a prime, so that no loop shows it the same ones for ever.
    "race": Variant(slow=8, mem=512, kernel_args=PATIENT + " kcsan.early_enable=1 kcsan.skip_watch=198", smp=2,
                    looks="grep -qx 'enabled: 1' /sys/kernel/debug/kcsan"),
    # KASAN reports each mistake, and a program that is made shorter makes the same one again.
    "kcov": Variant(slow=4, mem=1024, kernel_args="kasan_multi_shot tessera.job_timeout_ms=300",
                    looks="test -w /sys/kernel/debug/kcov"),
    "cover": Variant(slow=3, mem=256, counts=True),
    "igt": Variant(slow=2, kernel_args=PATIENT),
}


def current():
    """The Variant that TSR_VARIANT (set by env.sh) names."""
    return VARIANTS[os.environ.get("TSR_VARIANT", "")]


# The kernel has data races of its own. A report's first line names the two functions, and whose they are.
OTHERS_RACE = re.compile(r"BUG: KCSAN: (?!.*\[tessera\])")


def trouble(text):
    """The lines of a kernel log that mean trouble."""
    return [line for line in text.splitlines() if KERNEL_TROUBLE.search(line) and not OTHERS_RACE.search(line)]


# The last commands of a guest before it is switched off. kmemleak reports what nobody points at in two scans, and
# only if it is older than five seconds.
UNLOAD = "n=0; while ! rmmod tessera; do n=$((n + 1)); [ $n -lt 300 ] || exit 1; usleep 100000; done"
LEAKS = ("cd /sys/kernel/debug; echo scan >kmemleak; sleep 6; echo scan >kmemleak; echo scan >kmemleak; "
         "cat kmemleak")


def last_words(guest):
    """KTAP of the end of a guest: the driver goes, and leaves nothing. (text, problems)"""
    seen = len(guest.console())
    unloaded = guest.run(UNLOAD, 60)
    lines = ["KTAP version 1", "1..2",
             f"{'not ok' if unloaded.status else 'ok'} 1 - [SYS2] the driver unloads"]
    lines += ["# " + line for line in unloaded.stderr.decode(errors="replace").splitlines()[-1:] if unloaded.status]
    leaks = guest.run(LEAKS, 120).stdout.decode(errors="replace") if not unloaded.status else ""
    what = "kmemleak finds nothing that the driver or its users have lost"
    if unloaded.status:
        lines.append(f"ok 2 - {what} # SKIP the driver is still loaded")
    else:
        lines.append(f"{'not ok' if leaks.strip() else 'ok'} 2 - {what}")
        lines += ["# " + line for line in leaks.splitlines()[:60]]
    bad = trouble(guest.console()[seen:])
    return "\n".join(lines), ["the kernel's log has:\n" + "\n".join(bad[:10])] if bad else []
