#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""The labs of tsr-sync go as they say, and every ioctl that is about fences appears in one of them."""

import glob
import html.parser
import json
import os
import re
import sys

from guest import TOP, Guest
from tap import Tap

LABS = sorted(glob.glob(os.path.join(TOP, "userspace", "tools", "tsr-sync", "*.sync")))
NAMES = [os.path.basename(path)[:-len(".sync")] for path in LABS]
tap = Tap()
seen = set()            # names of ioctls that the labs have made


def kernel_headers():
    """include/uapi of the kernel that runs: beside its build directory's Makefile, or of what that one includes."""
    kdir = os.environ["TSR_KDIR"]
    with open(os.path.join(kdir, "Makefile")) as f:
        included = re.search(r"^include (\S+)/Makefile$", f.read(), re.M)
    return os.path.join(included[1] if included else kdir, "include", "uapi")


def sync_ioctls():
    """What the kernel has of them: syncobjs, sync files, fences of dma-bufs, and ours that take syncobjs."""
    uapi = kernel_headers()
    names = set()
    for file, pattern in (("drm/drm.h", r"^#define (DRM_IOCTL_SYNCOBJ_\w+)"), ("linux/sync_file.h", r"^#define (SYNC_IOC_(?!MAGIC)\w+)"),
                          ("linux/dma-buf.h", r"^#define (DMA_BUF_IOCTL_\w*SYNC\w*)")):
        with open(os.path.join(uapi, file)) as f:
            names |= set(re.findall(pattern, f.read(), re.M))
    with open(os.path.join(TOP, "kernel/include/uapi/drm/tessera_drm.h")) as f:
        text = f.read()
    for struct, body in re.findall(r"^struct drm_tessera_(\w+) \{(.*?)^\};", text, re.M | re.S):
        if "struct drm_tessera_sync array" in body:
            names.add("DRM_IOCTL_TESSERA_" + {"job": "submit"}.get(struct, struct).upper())
    return names


class Page(html.parser.HTMLParser):
    """What of a page matters: its tags, and whether it fetches anything."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.fetches = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetches += [v for k, v in attrs if k in ("src", "href")]


def spans(trace):
    return {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}


def check_outputs(g):
    """The trace and the page of a lab whose order is known: no jobs that begin before what they wait for is done."""
    trace = json.loads(g.run("cat /tmp/guilty.json").stdout)
    bars = spans(trace)
    for name in ("bad-va", "bad-word"):
        tap.ok(bars[name]["ts"] + bars[name]["dur"] <= bars["waits"]["ts"], f"{name} is over before its fence's waiter begins")
    tap.eq((bars["bad-va"]["args"]["error"], bars["bad-word"]["args"]["error"]), ("EFAULT", "EINVAL"), "errors in the trace")
    flows = [e["ph"] for e in trace["traceEvents"] if e["ph"] in "sf"]
    tap.ok(flows.count("s") == flows.count("f") >= 2, f"arrows for fences: {flows}")
    page = Page(g.run("cat /tmp/guilty.html").stdout.decode())
    tap.eq(page.fetches, [], "what the page fetches")
    tap.ok(page.tags.count("svg") == page.tags.count("table") == 1 and page.tags.count("rect") >= 8, page.tags)


def run_lab(g, name):
    files = f"--html /tmp/{name}.html --trace /tmp/{name}.json --ioctls /tmp/{name}.ioctls"
    done = g.run(f"tsr-sync {files} {name}", 120)
    if done.status == 77:
        tap.skip(done.stderr.decode())
    tap.eq(done.status, 0, "status")
    if done.status:
        tap.note((done.stderr + done.stdout).decode())
    seen.update(line.split()[0] for line in g.run(f"cat /tmp/{name}.ioctls").stdout.decode().splitlines())


def broken(g, text, status, says):
    done = g.run(f"tsr-sync -q - <<'END'\n{text}\nEND\n", 90)
    tap.eq(done.status, status, f"status of {text!r}")
    tap.ok(says in done.stderr.decode(), f"{says!r} in {done.stderr.decode()!r}")


with Guest(devices=2, device_args="inject-window=on,copy-engines=1", kernel_args="tessera.job_timeout_ms=1000") as g:
    for lab in NAMES:
        with tap.test(f"[SYS6] the lab {lab}"):
            run_lab(g, lab)
    with tap.test("[SYS6] the trace and the page show the order and the errors"):
        check_outputs(g)
    with tap.test("a scenario that goes another way fails, and says where"):
        broken(g, "queue q\njob a queue=q takes=5ms\njob b queue=q\norder b.done < a.done", 1, "-:4: order b.done < a.done: a.done happened")
        broken(g, "queue q\njob a queue=q fault", 1, "carries EFAULT, which the scenario does not expect")
        broken(g, "queue q\njob a queue=q\nerror a EFAULT", 1, "-:3: error a EFAULT: the fence of job a carries 0, expected EFAULT")
        broken(g, "syncobj s\nwait s timeout=1ms", 1, "-:2: wait s timeout=1ms: it gives EINVAL, expected 0")
        broken(g, "queue q\njob a queue=q write=b", 2, "there is no buffer 'b'")
    with tap.test("what makes no sense is refused with its line"):
        for text, says in (("frob", "there is no statement 'frob'"), ("queue 1q", "expected a name"), ("job a", "expected a queue"),
                           ("queue q\nqueue q", "has been used already"), ("sleep 5", "expected: sleep TIME"), ("", "there is none"),
                           ("syncobj s => EWHAT", "expected the name of an error"), ("device d vgem\nqueue q on=d", "has no queues"),
                           ("wait nothing", "there is no syncobj 'nothing'"), ("queue q priority=top", "expected low, normal")):
            broken(g, text, 2, says)

with tap.test("[SYS6] every ioctl that is about fences appears in a lab"):
    tap.ok(len(NAMES) >= 6, NAMES)
    if any(name not in seen for name in sync_ioctls()):
        tap.fail("in no lab: " + " ".join(sorted(sync_ioctls() - seen)))

sys.exit(tap.finish())
