# SPDX-License-Identifier: MIT
"""Tables, pages and comparisons of what sched_lab.py has measured.

A run is what tsr-load has written, with "setup" (sched_lab.py) and "mock" (parse_mock()). Clients of a load keep their order.
"""

import html
import re

STATS = ("min", "avg", "max", "p50", "p95", "p99")
FEW = 4             # clients whose figures are shown one by one

# (row, figure of a client, format). Names are those of the kernel's tests where they have one.
ROWS = (
    ("GPU share, true, %", lambda c: c["share"], "{:.1f}"),
    ("GPU share, as drm_sched sees it, %", lambda c: c.get("charged_share"), "{:.1f}"),
    ("time charged / true", lambda c: c.get("charged_ratio"), "{:.3f}"),
    ("elapsed / ideal", lambda c: c["elapsed_ms"] / c["ideal_ms"] if c["ideal_ms"] else None, "{:.2f}"),
    ("cycle_time us, avg", lambda c: c["cycle_time"]["avg"], "{:.0f}"),
    ("cycle_time us, p95", lambda c: c["cycle_time"]["p95"], "{:.0f}"),
    ("cycle_time us, max", lambda c: c["cycle_time"]["max"], "{:.0f}"),
    ("latency_time us, p50", lambda c: c["latency_time"]["p50"], "{:.0f}"),
    ("latency_time us, p95", lambda c: c["latency_time"]["p95"], "{:.0f}"),
    ("latency_time us, p99", lambda c: c["latency_time"]["p99"], "{:.0f}"),
    ("latency_time us, max", lambda c: c["latency_time"]["max"], "{:.0f}"),
    ("job us, submit to end, p50", lambda c: c.get("job_latency", {}).get("p50"), "{:.0f}"),
    ("job us, submit to end, p99", lambda c: c.get("job_latency", {}).get("p99"), "{:.0f}"),
    ("first job us", lambda c: c["first_us"], "{:.0f}"),
    ("starved us (ready, none on the device)", lambda c: c.get("starved_us"), "{:.0f}"),
)


def setup_name(s):
    """Short and unique among the combinations of one command."""
    if s["backend"] == "slot":
        return "slot" + (f" +{s['delay']}us" if s["delay"] else "")
    name = f"{s['policy']} d{s['depth']}"
    if s["slots"] != 1:
        name += f" s{s['slots']}"
    if s["timeslice"]:
        name += f" t{s['timeslice']}"
    if s["delay"]:
        name += f" +{s['delay']}us"
    return name


# ---- the kernel's own tests ----

MOCK_BEGIN = re.compile(r"mock: drm_sched_scheduler_(\w+)_tests: (.+)$")
MOCK_CLIENT = re.compile(r"(\d+): prio=(\w+) sync=(\d) elapsed_ms=(\d+)ms \(ideal_ms=(\d+)ms\) "
                         r"cycle_time\(min,avg,max\)=(\d+),(\d+),(\d+) us latency_time\(min,avg,max\)=(\d+),(\d+),(\d+) us")
MOCK_DELTA = re.compile(r"avg_max_min_delta\(x100\)=(\d+)")
MOCK_OVERHEAD = re.compile(r"Expected (\d+)us, actual (\d+)us")


def parse_mock(text):
    """What the kernel's tests have printed: a list of {"suite", "case", "clients" ...}."""
    cases = []
    for line in text.splitlines():
        begin = MOCK_BEGIN.search(line)
        if begin:
            cases.append({"suite": begin[1], "case": begin[2], "clients": []})
        client = MOCK_CLIENT.search(line)
        if client and cases:
            n = [int(x) for x in client.groups()[3:]]
            cases[-1]["clients"].append({"prio": client[2], "elapsed_ms": n[0], "ideal_ms": n[1],
                                         "cycle_time": dict(zip(("min", "avg", "max"), n[2:5])),
                                         "latency_time": dict(zip(("min", "avg", "max"), n[5:8]))})
        for key, pattern in (("avg_max_min_delta", MOCK_DELTA), ("actual_us", MOCK_OVERHEAD)):
            found = pattern.search(line)
            if found and cases:
                cases[-1][key] = int(found.groups()[-1])
        if "mock: failed" in line and cases:
            cases[-1]["failed"] = line.split("mock: ")[1]
    return cases


# Suites of the kernel's tests by the jobs that the mock's hardware holds.
MOCK_SUITES = {1: "two_clients_one_credit", 2: "two_clients_two_credits"}


def has_mock(setup):
    """True if the kernel's tests have a suite for this combination, so that running them is of use."""
    return setup.backend == "engine" and setup.depth in MOCK_SUITES


def mock_case(run, load):
    """The case of the kernel's tests that a load repeats, with as many credits; None if there is none."""
    suite = MOCK_SUITES.get(run["depth"])
    for case in run["mock"]:
        if case["case"] == load["title"] and case["suite"] == suite:
            return case
    return None


def mock_figures(run, load):
    """(run, load, client, metric, its figure here, that of the mock)"""
    case = mock_case(run, load) if run["backend"] == "engine" else None
    for client, other in zip(load["clients"], case["clients"] if case else []):
        yield run, load["load"], client["name"], "elapsed_ms", client["elapsed_ms"], other["elapsed_ms"]
        # A submit of a test in the kernel is no ioctl.
        for metric in ("avg", "max") if client["sync"] else ():
            yield run, load["load"], client["name"], f"cycle_time.{metric}", client["cycle_time"][metric], other["cycle_time"][metric]


# Percent by which elapsed and the average of cycle_time may differ from the mock's.
AGREEMENT = 5


def is_as_mock(run, results):
    """True if the mock has the same hardware: one slot with one job, and interrupts in time."""
    s = run["setup"]
    return not results["realtime"] and (s["depth"], s["slots"], s["delay"]) == (1, 1, 0)


def disagreements(results):
    """(how many figures are compared, a line about each that is not the mock's). Of loads that repeat the same case, the closest counts."""
    compared, lines = 0, []
    for run in filter(lambda run: is_as_mock(run, results), results["runs"]):
        cases = {}
        for load in run["loads"]:
            found = [f for f in mock_figures(run, load) if not f[3].endswith(".max")]
            differ = [f for f in found if abs(f[4] - f[5]) > f[5] * AGREEMENT / 100]
            cases.setdefault(load["title"], []).append((len(differ), len(found), differ))
        for _, count, differ in (min(tried, key=lambda t: t[0]) for tried in cases.values()):
            compared += count
            lines += [f"not as the mock: {setup_name(run['setup'])}: {load}: {client}: {metric}: {here:g}, mock {mock:g}"
                      for _, load, client, metric, here, mock in differ]
    return compared, lines


def mock_table(results):
    compared, lines = disagreements(results)
    return "\n".join(mock_rows(results) + [f"{compared - len(lines)} of {compared} figures (elapsed_ms, cycle_time.avg at a depth of one) "
                                          f"are within {AGREEMENT} % of the mock's."])


def mock_rows(results):
    lines = ["Beside the kernel's own tests (tests_scheduler.c), which ran in the same guest:",
             f"  {'':10} {'load':16} {'client':12} {'figure':16} {'here':>10} {'mock':>10}  difference"]
    figures = (f for run in results["runs"] for load in run["loads"] for f in mock_figures(run, load))
    for run, load, client, metric, here, mock in figures:
        part = f"{100 * (here - mock) / mock:+.1f} %" if mock else "-"
        lines.append(f"  {setup_name(run['setup']):10} {load:16} {client:12} {metric:16} {here:10.0f} {mock:10.0f}  {part}")
    return lines


# ---- tables ----


def cell(clients, figure, form):
    """Figures of all clients, or what they span."""
    values = [figure(c) for c in clients]
    if any(v is None for v in values):
        return "-"
    if len(values) > FEW:
        values = [min(values), max(values)]
        return "..".join(form.format(v) for v in values)
    return " / ".join(form.format(v) for v in values)


def loads_of(results):
    """(load of the first run that has it, [(run, that load there)]), in order."""
    names = []
    for run in results["runs"]:
        names += [load["load"] for load in run["loads"] if load["load"] not in names]
    for name in names:
        found = [(run, load) for run in results["runs"] for load in run["loads"] if load["load"] == name]
        yield found[0][1], found


def describe(load):
    if len(load["clients"]) > FEW:
        return f"{len(load['clients'])} clients; of each figure the least and the greatest"
    return ", ".join(f"{c['name']} ({c['prio']}, {c['jobs']} x {c['job_us'] / 1000:g} ms{', sync' if c['sync'] else ''})"
                     for c in load["clients"])


def rows_of(found):
    """(name, [cell for each run]) for the rows that have figures."""
    for name, figure, form in ROWS:
        cells = [cell(load["clients"], figure, form) for _, load in found]
        if any(c != "-" for c in cells):
            yield name, cells


def table(results):
    lines = []
    for load, found in loads_of(results):
        heads = [setup_name(run["setup"]) for run, _ in found]
        rows = [("", heads)] + list(rows_of(found))
        widths = [max(len(cells[i]) for _, cells in rows) for i in range(len(heads))]
        lines += [f"{load['load']}: {load['title']}", f"  {describe(load)}"]
        for name, cells in rows:
            lines.append(f"  {name:38}  " + "  ".join(c.rjust(w) for c, w in zip(cells, widths)))
        lines.append("")
    if results["runs"]:
        run = results["runs"][0]
        clock = f"medians of {results['realtime']} runs by the host's clock" if results["realtime"] else f"seed {results['seed']}"
        lines.append(f"kernel {run['kernel']}, {clock}, one processor. dN: jobs of a queue on its ring. Times in us.")
    return "\n".join(lines)


def failures(results):
    """Expectations that do not hold, and assertions of the kernel's tests that failed."""
    lines = []
    for run in results["runs"]:
        for load in run["loads"]:
            lines += [f"not as expected: {setup_name(run['setup'])}: {load['load']}: expect {e['text']} ({e['left']:g}, {e['right']:g})"
                      for e in load["expectations"] if not e["holds"]]
        lines += [f"mock: {case['case']}: {case['failed']}" for case in run["mock"] if "failed" in case]
    return lines + disagreements(results)[1]


# ---- comparison ----


def figures(client):
    """All numbers of a client that say how it was served, by name."""
    found = {name: client[name] for name in ("elapsed_ms", "share", "busy_us", "first_us", "starved_us", "charged_share",
                                             "charged_ratio") if name in client}
    for name in ("cycle_time", "latency_time", "job_latency"):
        found.update({f"{name}.{s}": client[name][s] for s in STATS if name in client})
    return found


# Differences below these count as none: us, ms, percent of share, part of charged time.
LEAST = {"elapsed_ms": 1, "share": 0.5, "charged_share": 0.5, "charged_ratio": 0.01}
LEAST_US = 50


def moved(name, before, now, tolerance):
    return abs(now - before) > max(LEAST.get(name, LEAST_US), max(abs(before), abs(now)) * tolerance / 100)


def compare(base, results, tolerance):
    """Lines about figures that are not those of base."""
    lines = []
    old = {setup_name(run["setup"]): run for run in base["runs"]}
    for run in results["runs"]:
        name = setup_name(run["setup"])
        before = {load["load"]: load for load in old[name]["loads"]} if name in old else {}
        for load in run["loads"]:
            if load["load"] not in before:
                lines.append(f"new: {name}: {load['load']} is not in the base")
                continue
            for was, client in zip(before[load["load"]]["clients"], load["clients"]):
                was = figures(was)
                lines += [f"moved: {name}: {load['load']}: {client['name']}: {figure}: {was[figure]:g} -> {now:g}"
                          for figure, now in figures(client).items()
                          if figure in was and moved(figure, was[figure], now, tolerance)]
    return lines


def median_of(runs, median):
    """A run with the medians of several."""
    for i, load in enumerate(runs[0]["loads"]):
        for j, client in enumerate(load["clients"]):
            others = [run["loads"][i]["clients"][j] for run in runs]
            for key, value in client.items():
                if isinstance(value, dict):
                    client[key] = {s: median(o[key][s] for o in others) for s in value}
                elif isinstance(value, (int, float)):
                    client[key] = median(o.get(key, value) for o in others)
    return runs[0]


# ---- the page ----

STYLE = """body{font:14px sans-serif;margin:2em;max-width:1300px}table{border-collapse:collapse;margin:.5em 0 1em}
td,th{padding:2px 10px;text-align:right}td:first-child{text-align:left}tr:nth-child(even){background:#f4f4f4}
.bad{color:#b00020}svg{background:#fafafa;border:1px solid #ccc;margin-right:1em}text{font-size:11px}
figure{display:inline-block;margin:0}figcaption{font-size:12px}"""
COLORS = ("#5b8def", "#d9534f", "#3f8f5f", "#c78a1e", "#7d55b5", "#555")
WIDTH, HEIGHT = 300, 120


def share_bars(found):
    """True shares of the clients, a bar for each run."""
    bars, y = [], 0
    for run, load in found:
        x = 90.0
        bars.append(f'<text x="0" y="{y + 12}">{html.escape(setup_name(run["setup"]))}</text>')
        for i, c in enumerate(load["clients"]):
            width = 3 * c["share"]
            bars.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="14" fill="{COLORS[i % len(COLORS)]}">'
                        f'<title>{html.escape(c["name"])} {c["share"]} %</title></rect>')
            x += width
        y += 18
    return f'<figure><svg width="400" height="{y}">{"".join(bars)}</svg><figcaption>GPU share, true</figcaption></figure>'


def progress(run, load):
    """The kernel's pct of each client over time."""
    last = max((c["samples"][-1][0] for c in load["clients"] if c["samples"]), default=0) or 1
    lines = []
    for i, c in enumerate(load["clients"]):
        points = " ".join(f"{WIDTH * at / last:.1f},{HEIGHT - HEIGHT * min(pct, 100) / 100:.1f}" for at, pct, _, _ in c["samples"])
        lines.append(f'<polyline fill="none" stroke="{COLORS[i % len(COLORS)]}" stroke-width="1.5" points="{points}">'
                     f'<title>{html.escape(c["name"])}</title></polyline>')
    return (f'<figure><svg width="{WIDTH}" height="{HEIGHT}">{"".join(lines)}</svg>'
            f'<figcaption>{html.escape(setup_name(run["setup"]))}: pct in {last} ms</figcaption></figure>')


def html_table(rows):
    head, *body = rows
    lines = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in (head[0], *head[1])) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in (name, *cells)) + "</tr>" for name, cells in body]
    return "<table>" + "\n".join(lines) + "</table>"


def page(results, complaints):
    """A page that needs nothing else."""
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Scheduler lab</title><style>{STYLE}</style><h1>Scheduler lab</h1>"]
    parts += [f'<p class="bad">{html.escape(line)}</p>' for line in complaints + failures(results)]
    for load, found in loads_of(results):
        heads = [setup_name(run["setup"]) for run, _ in found]
        parts.append(f"<h2>{html.escape(load['load'])}: {html.escape(load['title'])}</h2><p>{html.escape(describe(load))}</p>")
        parts.append(share_bars(found) + "".join(progress(run, one) for run, one in found))
        parts.append(html_table([("", heads)] + list(rows_of(found))))
    if any(run["mock"] for run in results["runs"]):
        parts.append("<pre>" + html.escape(mock_table(results)) + "</pre>")
    return "\n".join(parts) + "\n</html>\n"
