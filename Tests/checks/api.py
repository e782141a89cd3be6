#!/usr/bin/env python3
"""Compares the public declarations of the modules with their baseline, Tests/checks/api.txt.

The declarations come from the symbol graphs that the toolchain extracts from a debug build (`swift build`). A line
contains a module, a kind, a name and a declaration. New, changed and missing lines are printed, with status 1. An
intended change updates the baseline with `Tests/checks/api.py --update`, and is described in CHANGELOG.md.

With `--server` or `--postgres` the modules are those of the trait, from the build in `.build/traits`, and the baseline is
Tests/checks/api-server.txt or api-postgres.txt; without the libraries of the trait the check is SKIPPED.
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


def declarations(modules):
    lines = set()
    with tempfile.TemporaryDirectory() as scratch:
        for module in modules.modules:
            modules.extract(module, scratch)
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
    symbol_graphs.add_trait_options(parser)
    arguments = parser.parse_args()
    if reason := symbol_graphs.missing_for(arguments.trait):
        print(f"api: SKIPPED: the trait {arguments.trait.title()}: {reason}")
        return 0
    modules = symbol_graphs.of_trait(arguments.trait, arguments.package)
    baseline = HERE / (f"api-{arguments.trait}.txt" if arguments.trait else "api.txt")
    found = declarations(modules)
    if arguments.update:
        baseline.write_text("\n".join(found) + "\n")
        print(f"api: {len(found)} declarations written to {baseline}")
        return 0
    expected = baseline.read_text().splitlines()
    changes = [line for line in difflib.unified_diff(expected, found, lineterm="", n=0) if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    for change in changes:
        print(change)
    print(f"api: {len(found)} public declarations of {', '.join(modules.modules)}, " + (f"{len(changes)} lines differ from the baseline: FAILED" if changes else "as in the baseline"))
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
