#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make everything that is derived from the hardware description in Documentation/hw/*.xml.

Exit status: 0 done, 1 the description is wrong or (--check) a table is stale, 2 bad usage.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True      # the source tree stays clean
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import ctext            # noqa: E402
import description      # noqa: E402
import docs             # noqa: E402
import emit_desc        # noqa: E402
import emit_isa         # noqa: E402
import emit_packets     # noqa: E402
import emit_regs        # noqa: E402
import isa_description  # noqa: E402
import isa_validate     # noqa: E402
import output           # noqa: E402
import validate         # noqa: E402
import xmltree          # noqa: E402


def load(directory):
    """Read and validate the description; returns it and the text of every generated file."""
    loader = description.Loader()
    loaded = loader.load(directory)
    loader.complaints.raise_if_any()
    validate.check(loaded, loader.complaints)
    if loader.isa_roots:
        loaded.isa = isa_description.Loader(loader.complaints).load(loader.isa_roots)
        loaded.isa.files = [os.path.basename(root.file) for root in loader.isa_roots]
        loader.complaints.raise_if_any()
        isa_validate.check(loaded.isa, loader.complaints)
    loader.complaints.raise_if_any()
    symbols = ctext.Symbols(loader.complaints)
    regs, enums = emit_regs.emit(loaded, symbols)
    files = {"tsr_regs.h": regs, "tsr_enums.h": enums,
             "tsr_packets.h": emit_packets.emit(loaded, symbols),
             "tsr_desc.h": emit_desc.emit_header(loaded),
             "tsr_desc.c": emit_desc.emit_source(loaded)}
    if loaded.isa:
        files["tsr_isa.h"] = emit_isa.emit_header(loaded, symbols)
        files["tsr_isa.c"] = emit_isa.emit_source(loaded)
    loader.complaints.raise_if_any()
    return loaded, files


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="generate.py", description="Generate headers, decoder tables and documentation tables from the "
        "hardware description (*.xml).",
        epilog="With no action the description is only validated.")
    parser.add_argument("--source", metavar="DIR", default=os.path.dirname(HERE),
                        help="directory of the *.xml files (default: %(default)s)")
    parser.add_argument("--out", metavar="DIR",
                        help="write tsr_regs.h, tsr_enums.h, tsr_packets.h, tsr_desc.[hc] and tsr_isa.[hc] into DIR; files "
                        "whose content does not change keep their time stamps")
    parser.add_argument("--export", metavar="DIR",
                        help="write what a kernel tree needs, tsr_regs.h and tsr_packets.h, into DIR "
                        "(for an in-tree build: drivers/gpu/drm/tessera)")
    parser.add_argument("--docs", action="store_true",
                        help="rewrite the generated tables inside the *.md pages next to the description")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; fail when a table inside the *.md pages is stale or missing")
    parser.add_argument("--pages", metavar="DIR",
                        help="directory of the *.md pages for --docs and --check (default: that of --source)")
    return parser.parse_args(argv)


def main(argv):
    options = arguments(argv)
    try:
        loaded, files = load(options.source)
        for name, text in files.items():
            if options.out:
                output.write_if_changed(os.path.join(options.out, name), text)
            if options.export and name in ("tsr_regs.h", "tsr_packets.h"):
                output.write_if_changed(os.path.join(options.export, name), text)
        pages = options.pages or options.source
        if options.docs:
            docs.rewrite(loaded, pages)
        if options.check:
            docs.check(loaded, pages)
    except xmltree.DescriptionError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
