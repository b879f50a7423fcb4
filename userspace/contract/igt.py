#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make export TO=igt OUT=DIR`: write the recovery contract as one test for IGT, DIR/drm_contract.c.

    igt.py HW-INCLUDE OUT.c

The test has the table, the rules, the actors and the adapters of this directory, and nothing of them outside of it: the
driver's interface and the packets that its adapter needs are copied, too. Each row is a subtest.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
HEADERS = "driver.h", "contract.h"
SOURCES = "rules.c", "fence.c", "system.c", "monitor.c", "actor.c", "vgem.c", "sw_sync.c", "tessera.c", "run.c"
ENUMS = "tsr_compare", "tsr_event"
PACKETS = "wait", "fence", "barrier", "copy_linear", "fill_linear", "bin", "list_halt", "frame"
OURS = re.compile(r'^#include (?:"(?:contract|driver|tsr_packets|tsr_regs)\.h"|<drm/tessera_drm\.h>|<(?:drm|xf86drm)\.h>)\n', re.M)
SYSTEM = re.compile(r"^#include <(.*)>\n", re.M)
GUARD = re.compile(r"^#(?:ifndef|define) \w+_H_?\n|^#endif /\* \w+_H_? \*/\n", re.M)
LICENSE = re.compile(r"\A(?://|/\*) SPDX-License-Identifier: .*\n")

HEAD = """\
/* SPDX-License-Identifier: MIT */
/*
 * Copyright 2026 The Tessera authors
 *
 * Made by `make export TO=igt` of Tessera from the files of its userspace/contract. The parts begin
 * with the names of these files.
 */
"""

MAIN = """\
/* ---- the test ---- */

/**
 * TEST: drm contract
 * Category: Core
 * Description: Break a GPU on purpose and compare what the culprit, bystanders, newcomers and
 *		monitors see with what the kernel's documentation promises.
 * Mega feature: General Core features
 * Sub-category: DRM
 * Test category: GEM_Legacy
 */
IGT_TEST_DESCRIPTION("Break a GPU on purpose and compare what each party sees with what the "
		     "kernel's documentation promises.");

static const struct contract_driver *const contract_drivers[] = {
	&tessera_driver, &vgem_driver, &sw_sync_driver,
};

/* The first device that there is an adapter for, or that of --driver. */
static const struct contract_driver *find_contract_driver(const char *name, char *node, size_t size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(contract_drivers); i++) {
		const struct contract_driver *d = contract_drivers[i];

		if (name && strcmp(name, d->name))
			continue;
		snprintf(node, size, "%s", "/sys/kernel/debug/sync/sw_sync");
		if (d == &sw_sync_driver ? !access(node, R_OK | W_OK) : system_node(d->name, node, size))
			return d;
	}
	return NULL;
}

/* A row without a fault is a row that the adapter cannot provoke. */
static void check_row(const struct contract_driver *d, const char *node, const struct row *row)
{
	unsigned int violated = 0;
	struct result result;

	run_row(d, node, row, true, &result);
	igt_require_f(!*result.why, "%s\\n", result.why);
	for (unsigned int c = 0; c < COLUMNS; c++) {
		const struct cell *cell = &result.cell[c];

		if (cell->verdict != VIOLATED)
			continue;
		violated++;
		igt_warn("%s violated: column %s (%s): %s, must be %s\\n", cell->rule,
			 columns[c].id, columns[c].text, cell->got, row->want[c]);
	}
	igt_assert_f(!violated, "%u cells are not as the contract says\\n", violated);
}

static const char *driver_name;

static int parse_option(int option, int index, void *data)
{
	driver_name = optarg;
	return IGT_OPT_HANDLER_SUCCESS;
}

static const struct option long_options[] = {
	{ "driver", required_argument, NULL, 'D' },
	{ }
};

int igt_main_args("", long_options, "  --driver NAME\\ttessera, vgem or sw_sync\\n", parse_option, NULL)
{
	static const struct contract_driver *d;
	static char node[64];

	igt_fixture() {
		d = find_contract_driver(driver_name, node, sizeof(node));
		igt_require_f(d, "there is no device with an adapter\\n");
		signal(SIGPIPE, SIG_IGN);
		/* The rows look for the device's node, since some take it away for a while. */
		system_find(node);
		if (d != &sw_sync_driver)
			node[0] = 0;
	}

	for (unsigned int i = 0; i < ARRAY_SIZE(contract_rows); i++) {
		igt_describe_f("%s", contract_rows[i].text);
		igt_subtest(contract_rows[i].name)
			check_row(d, node, &contract_rows[i]);
	}
}
"""


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def own_names(text):
    """Names that a file keeps to itself: functions, variables, and tags of structures."""
    names = set(re.findall(r"^static (?:const |volatile )*(?:struct |unsigned |enum )?(?:\w+ )+?[*]*(?:const |volatile )*(\w+)"
                           r"(?:\(|\[| =|;|,)", text, re.M))
    names |= set(re.findall(r"^static .*?\*volatile (\w+);", text, re.M))
    names |= set(re.findall(r"^struct (\w+) \{", text, re.M))
    return names | set(re.findall(r"^#define (\w+)", text, re.M))


def renamed(text, names, stem):
    """The file with a prefix before each of the names where they are no members, labels or parts of strings."""
    word = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.>])(?:' + "|".join(sorted(names)) + r")\b" if names else r"\Z.")

    def change(m):
        return m.group() if m.group().startswith('"') else f"{stem}_{m.group()}" if m.group().islower() else \
            f"{stem.upper()}_{m.group()}"
    return word.sub(change, text)


def sources():
    """(name, text) of each file, without what two of them call by the same name."""
    texts = {name: read("userspace", "contract", name) for name in SOURCES}
    own = {name: own_names(text) for name, text in texts.items()}
    for name, text in texts.items():
        others = set().union(*(names for other, names in own.items() if other != name))
        yield name, renamed(text, own[name] & others, name.partition(".")[0])


def packets(hw):
    """The packets of tsr_packets.h that the adapter writes, and the values that they have."""
    with open(os.path.join(hw, "tsr_packets.h"), encoding="utf-8") as f:
        text = f.read()
    parts = ["#define TSR_PACK_ASSERT(condition) ((void)(condition))\n"]
    for name in PACKETS:
        upper = name.upper()
        parts += re.findall(rf"^#define TSR_(?:OP_{upper}|{upper}_QWORDS)\t.*\n", text, re.M)
        parts += [m.group() + "\n" for m in re.finditer(rf"^struct tsr_{name} \{{\n.*?^\}};\n", text, re.M | re.S)]
        parts += [m.group() + "\n" for m in re.finditer(rf"^static inline void tsr_pack_{name}\(.*?^\}}\n", text, re.M | re.S)]
    parts += [re.search(r"^static inline uint8_t tsr_packet_qwords\(.*?^\}\n", text, re.M | re.S).group() + "\n"]
    with open(os.path.join(hw, "tsr_enums.h"), encoding="utf-8") as f:
        enums = f.read()
    for name in ENUMS:
        parts += [m.group() + "\n" for m in re.finditer(rf"^enum {name} \{{\n.*?^\}};\n", enums, re.M | re.S)]
    return "".join(parts)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def table():
    """rows.tsv as an array of struct row."""
    lines = [line.split("\t") for line in read("userspace", "contract", "rows.tsv").splitlines() if line and line[0] != "#"]
    out = ["static const struct row contract_rows[] = {"]
    for name, job, script, *wanted, text in lines[1:]:
        out += [f"\t{{ {quoted(name)}, {quoted(job)}, {quoted(script)},", f"\t  {quoted(text)},", "\t  {"]
        out += [f"\t\t[{column.upper()}] = {quoted(value)}," for column, value in zip(lines[0][3:-1], wanted)]
        out += ["\t  } },"]
    return "\n".join(out + ["};", ""])


def kinds():
    """kind_of(), which rows.c has beside the parser of rows.tsv."""
    return re.search(r"^int kind_of\(.*?^\}\n", read("userspace", "contract", "rows.c"), re.M | re.S).group()


def part(name, text):
    text = GUARD.sub("", SYSTEM.sub("", OURS.sub("", LICENSE.sub("", text)))).strip()
    text = re.sub(r"\n{3,}", "\n\n", text)
    return f"/* ---- {name} ---- */\n\n{text}\n\n"


def whole(hw):
    files = [(name, read("userspace", "contract", name)) for name in HEADERS] + list(sources())
    system = sorted({h for _, text in files for h in SYSTEM.findall(OURS.sub("", text))})
    parts = [HEAD, '#include "igt_core.h"\n', "".join(f"#include <{h}>\n" for h in system), "#include <xf86drm.h>\n\n"]
    parts += [part("tessera_drm.h", read("kernel", "include", "uapi", "drm", "tessera_drm.h").replace('#include "drm.h"\n', ""))]
    parts += [part("tsr_packets.h", packets(hw))]
    parts += [part(name, text) for name, text in files[:2]]
    parts += [part("rows.tsv", table()), part("rows.c", kinds())]
    parts += [part(name, text) for name, text in files[2:]]
    return "".join(parts) + MAIN


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    out = sys.argv[2]
    with open(out + ".new", "w", encoding="utf-8") as f:
        f.write(whole(sys.argv[1]))
    os.rename(out + ".new", out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
