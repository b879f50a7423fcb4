#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""The scheduler lab: loads are read and refused, policies differ as they should, the digits repeat, and a scheduler with a mistake is seen."""

import contextlib
import io
import json
import os
import shlex
import sys
import tempfile

import sched_lab
import sched_report
from guest import TOP, Guest
from tap import Tap

SHORT = """title Normal priority and low priority, for less than a second
duration 400ms
client normal job=8ms
client low priority=low job=8ms
expect fair normal.share > 80
expect fair low.share > 5
"""
PATCH = os.path.join(TOP, "tests", "sched", "equal_weights.patch")
REFUSED = (
    ("client a", "expected job=TIME"), ("", "expected a client"), ("client 1a job=1ms", "expected: client NAME"), ("frob", "no statement of that name"),
    ("client a job=1ms\nclient a job=1ms", "already a client of that name"), ("client a job=0ms", "out of its range: job=0ms"),
    ("client a job=2s", "out of its range"), ("client a job=1ms jobs=0", "out of its range: jobs=0"), ("client a job=1ms priority=top", "priority=top"),
    ("client a job=1ms after=b", "after=b"), ("client a job=1ms count=129", "count=129"), ("client a job=1us", "too many cycles"),
    ("client a job=1us cycles=8000 jobs=100", "too many jobs"), ("duration 0s\nclient a job=1ms", "expected: duration TIME"),
    ("client a job=1ms frob", "expected KEY=VALUE or sync: frob"), ("client a job=1ms\nexpect fair a.share", "expected: expect"),
    ("client a job=1ms\nexpect fast a.share > 1", "expected: expect"), ("client a job=1ms\nexpect fair a.frob > 1", "CLIENT.METRIC: a.frob"),
    ("client a job=1ms\nclient b job=1ms after=a cycles=2000", "has fewer cycles"), ("client a job=1ms " + "sync " * 20, "too many words"),
)

tap = Tap()


def lab(directory, name, *options):
    """(status of make sched, what it has measured, that as text)."""
    if os.environ.get("TSR_VARIANT"):
        tap.skip("figures are those of a kernel without checks")
    load, path, tables = os.path.join(directory, "short.load"), os.path.join(directory, name), io.StringIO()
    with open(load, "w", encoding="utf-8") as f:
        f.write(SHORT)
    with contextlib.redirect_stdout(tables):
        status = sched_lab.main(["--load", load, "--policy", "fair", "--json", path, *options])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    results = json.loads(text)
    if not results["runs"]:
        tap.skip("this kernel has no policy FAIR")
    if status:
        tap.note(tables.getvalue())
    return status, results, text


def drm_sched_is_module():
    with open(os.path.join(os.environ["TSR_KDIR"], ".config"), encoding="utf-8") as f:
        return "CONFIG_DRM_SCHED=m\n" in f


def client(results, name):
    return next(c for c in results["runs"][0]["loads"][0]["clients"] if c["name"] == name)


def check_files():
    """In an ordinary guest: every load that comes with the tool is read, and every mistake named with its line."""
    with Guest(fresh=False) as g:
        with tap.test("every load of the tool can be read"):
            done = g.run("tsr-load --check " + " ".join(sched_lab.GROUPS["all"]))
            tap.eq((done.status, done.stderr), (0, b""), "tsr-load --check")
        with tap.test("a load that makes no sense is refused with its line"):
            for text, says in REFUSED:
                done = g.run(f"printf '%s\\n' {shlex.quote(text)} >/tmp/x.load; tsr-load --check /tmp/x.load")
                tap.eq(done.status, 2, f"status of {text!r}")
                tap.ok("/tmp/x.load:" in done.stderr.decode() and says in done.stderr.decode(), f"{says!r} in {done.stderr.decode()!r}")
            tap.eq(g.run("tsr-load").status, 2, "status without a load")
            tap.eq(g.run("tsr-load nothing").status, 2, "status without such a load")


def check_figures(results):
    """FAIR: a job of the low client for eight of the other, which begins. The charged time is that of the engine."""
    normal, low = (client(results, name) for name in ("normal", "low"))
    tap.ok(6 < normal["share"] / low["share"] < 9, f"shares {normal['share']}, {low['share']}")
    for c in (normal, low):
        tap.eq(c["cycles"], 50, "cycles")
        tap.ok(abs(c["busy_us"] - 4e5) < 500, f"{c['name']} was on the engine for {c['busy_us']} us of 400000")
        tap.ok(0.99 < c["charged_ratio"] < 1.05, f"charged {c['charged_ratio']} of the true time")
    tap.ok(abs(normal["share"] + low["share"] - 100) < 0.1, "shares do not add up")


def made_up(figures):
    """Results of one case of the kernel's tests, which loads of one client have repeated with these elapsed times. The mock took 1000 ms."""
    def clients(ms):
        return [{"name": "a", "sync": False, "elapsed_ms": ms}]
    loads = [{"load": f"load{i}", "title": "case", "clients": clients(ms)} for i, ms in enumerate(figures)]
    return {"realtime": 0, "runs": [{"backend": "engine", "depth": 1, "loads": loads, "setup": sched_lab.Setup("engine", "fair", 1, 1, 0, 0)._asdict(),
                                     "mock": [{"suite": sched_report.MOCK_SUITES[1], "case": "case", "clients": clients(1000)}]}]}


with tempfile.TemporaryDirectory() as d:
    check_files()
    with tap.test("figures that are not the mock's are named, unless another load of the case has them"):
        tap.eq(sched_report.disagreements(made_up([1049]))[1], [], "within 5 %")
        tap.eq(sched_report.disagreements(made_up([1051]))[1], ["not as the mock: fair d1: load0: a: elapsed_ms: 1051, mock 1000"], "beyond 5 %")
        tap.eq(sched_report.disagreements(made_up([900, 1000])), (1, []), "the closest load of two")
    with tap.test("the policy FAIR serves clients by their priorities"):
        status, first, text = lab(d, "first.json")
        tap.eq(status, 0, "status")
        check_figures(first)
    with tap.test("the same command gives the same digits, also if the device never runs ahead of the clock"):
        status, again, text_again = lab(d, "again.json", "--base", os.path.join(d, "first.json"), "--device-args", "x-lead=0")
        tap.eq(status, 0, "status")
        tap.eq(sched_report.compare(first, again, 0), [], "differences")
        tap.ok(text == text_again, "two runs differ in a digit")
    with tap.test("a scheduler whose priorities weigh the same is seen"):
        if not drm_sched_is_module():
            tap.skip("drm_sched is built into this kernel")
        status, equal, _ = lab(d, "equal.json", "--scheduler", PATCH, "--base", os.path.join(d, "first.json"))
        tap.eq(status, 1, "status")
        tap.ok(sched_report.failures(equal), "all expectations hold")
        tap.ok(sched_report.compare(first, equal, 2), "no figure has moved")
        tap.ok(abs(client(equal, "low")["share"] - 50) < 5, "share of the low client")

sys.exit(tap.finish())
