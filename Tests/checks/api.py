#!/usr/bin/env python3
"""Compares the public declarations of the products with their baseline, Tests/checks/api.txt.

The declarations come from the symbol graphs that the toolchain extracts from a debug build (`swift build`). A line
contains a module, a kind, a name and a declaration. New, changed and missing lines are printed, with status 1. An
intended change updates the baseline with `Tests/checks/api.py --update`, and is described in CHANGELOG.md.
"""
import argparse
import difflib
import json
import os
import pathlib
import sys
import tempfile

import symbol_graphs

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "api.txt"


def declarations(package):
    lines = set()
    with tempfile.TemporaryDirectory() as scratch:
        for module in symbol_graphs.MODULES:
            symbol_graphs.extract(package, module, scratch)
        for file in os.listdir(scratch):
            module = file.split(".")[0].split("@")[0]
            with open(os.path.join(scratch, file)) as text:
                graph = json.load(text)
            for symbol in graph["symbols"]:
                fragments = symbol.get("declarationFragments") or []
                declaration = " ".join("".join(part["spelling"] for part in fragments).split())
                lines.add(f'{module} | {symbol["kind"]["identifier"].removeprefix("swift.")} | '
                          f'{".".join(symbol["pathComponents"])} | {declaration}')
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=HERE.parent.parent, type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write the baseline")
    arguments = parser.parse_args()
    found = declarations(arguments.package)
    if arguments.update:
        BASELINE.write_text("\n".join(found) + "\n")
        print(f"api: {len(found)} declarations written to {BASELINE}")
        return 0
    expected = BASELINE.read_text().splitlines()
    changes = [line for line in difflib.unified_diff(expected, found, lineterm="", n=0) if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    for change in changes:
        print(change)
    print(f"api: {len(found)} public declarations, " + (f"{len(changes)} lines differ from the baseline: FAILED" if changes else "as in the baseline"))
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
