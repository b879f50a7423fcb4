#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=120
"""TESSERA_DEBUG: each word does what its name says, on a program that makes one mistake, under tsr-host."""

import os
import subprocess
import sys
import tempfile

from tap import Tap

TOP = os.environ["TSR_TOP"]
BUILD = os.environ["TSR_BUILD"]
LIB = os.path.join(BUILD, "userspace", "lib")

# The program: its argument is the mistake. It says what the submission returned, and whether the job was done by then.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <tessera/cmd.h>

int main(int argc, char **argv)
{
	const char *mistake = argc > 1 ? argv[1] : "";
	struct tsr_device *device;
	struct tsr_stream *stream;
	struct tsr_submit *submit;
	struct tsr_queue *queue;
	struct tsr_alloc data, between;
	struct tsr_pool *pool;
	struct tsr_sync *done;
	struct tsr_vm *vm;
	int ret, status = 0;

	if (tsr_device_open(NULL, &device) || tsr_vm_create(device, &vm) || tsr_sync_create(device, 0, &done) ||
	    tsr_pool_create(vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE |
			    (strcmp(mistake, "exec") ? DRM_TESSERA_BIND_EXEC : 0), &pool) ||
	    tsr_queue_create(vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0, &queue) ||
	    tsr_pool_alloc(pool, 64 << 20, 0, &data) || tsr_stream_create(pool, 128, &stream) ||
	    tsr_submit_create(device, &submit))
		return 2;
	/* two pieces of a stream: another allocation lies between them */
	tsr_cmd_nop(stream, 12);
	if (tsr_pool_alloc(pool, 64, 0, &between))
		return 2;
	tsr_cmd_fill(stream, strcmp(mistake, "address") ? data.va : 0x700000000000, 64 << 20, "abcd", 4);
	if (!strcmp(mistake, "packet"))
		*tsr_stream_emit(stream, 1) = 0x1ee;
	if (!strcmp(mistake, "stream"))
		ret = tsr_submit_job(submit, queue, 0x700000000000, 64);
	else
		ret = tsr_submit_stream(submit, queue, stream);
	if (!ret)
		ret = tsr_submit_signal(submit, 0, done, 0);
	if (!ret)
		ret = tsr_submit_flush(submit);
	printf("%d ", ret);
	if (!ret && !tsr_sync_get_status(done, 0, &status))
		printf("%s", status ? "done" : "pending");
	puts(ret ? tsr_error_message() : "");
	fflush(stdout);
	if (!ret)
		tsr_sync_finish(done, 0, TSR_DEADLINE_NEVER);
	return 0;
}
"""

tap = Tap()


def run(debug, mistake="", library=LIB):
    done = subprocess.run([os.path.join(BUILD, "userspace", "bin", "tsr-host"), program, mistake], text=True, capture_output=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=library, **({} if debug is None else {"TESSERA_DEBUG": debug})))
    tap.eq(done.returncode, 0, f"status with {debug} and {mistake}")
    return done.stdout.strip(), done.stderr


with tempfile.TemporaryDirectory(prefix="tessera-debug-") as scratch:
    program = os.path.join(scratch, "program")
    hw = subprocess.run(["bash", f"{TOP}/qemu-device/build/host/headers.sh"], check=True, capture_output=True, text=True).stdout.strip()
    drm = subprocess.run(["pkg-config", "--cflags", "libdrm"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o", program, f"-I{TOP}/userspace/libtessera/include",
                    f"-I{TOP}/kernel/include/uapi", f"-I{hw}", *drm, f"-L{LIB}", "-ltessera"], input=PROGRAM, text=True, check=True)

    with tap.test("[SYS5] without it nothing is said, refused or waited for"):
        for mistake in ("", "packet", "address", "exec"):
            for debug in (None, ""):
                out, err = run(debug, mistake)
                tap.eq(err, "", f"what is said of '{mistake}'")
                tap.eq(out.split()[0], "0", "the submission")

    with tap.test("[SYS5] sync: a submission returns when its jobs are done, and says which have failed"):
        tap.eq(run("sync"), ("0 done", ""))
        out, err = run("sync", "address")
        tap.eq(out, "0 done")
        tap.ok("sync: job 0 of 1 on queue 1 failed: memory that is not mapped" in err, err)
        tap.ok(len(err.splitlines()) == 1, err)

    with tap.test("[SYS5] dump: the packets of all pieces are printed, and nothing else is different"):
        out, err = run("dump")
        tap.eq(out.split()[0], "0")
        for word in ("job 0 of 1 on queue 1 (class ", "NOP", "JUMP", "FILL_LINEAR", "SIZE=0x4000000"):
            tap.ok(word in err, f"'{word}' in {err}")
        alone = os.path.join(scratch, "lib")
        os.mkdir(alone)
        os.symlink(os.path.join(LIB, "libtessera.so.1"), os.path.join(alone, "libtessera.so.1"))
        out, err = run("dump", "", alone)
        tap.ok("packets are not decoded" in err and ": 00000000000" in err, f"without libtessera-asm: {err}")

    with tap.test("[SYS5] validate: what the device would refuse is refused before it is submitted"):
        tap.eq(run("validate")[1], "")
        for mistake, says in (("packet", "packet at 0x"), ("stream", "is not mapped in its VM"), ("exec", "mapped with READ and EXEC")):
            out, err = run("validate", mistake)
            tap.ok(out.startswith("-22 job 0: ") and says in out, out)
            tap.eq(err, "libtessera: validate: " + out.removeprefix("-22 ") + "\n")

    with tap.test("[SYS5] several words at once; one that is none is named"):
        out, err = run("sync,validate,dump")
        tap.eq(out, "0 done")
        tap.ok("FILL_LINEAR" in err, err)
        out, err = run("sink,validate,,SYNC")
        for word in ("sink", "SYNC"):
            tap.ok(f"TESSERA_DEBUG: '{word}' is unknown, expected sync, dump or validate" in err, err)
        tap.eq(len(err.splitlines()), 2, "lines")

sys.exit(tap.finish())
