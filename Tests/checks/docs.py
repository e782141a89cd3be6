#!/usr/bin/env python3
"""Builds the DocC documentation of the modules, each warning an error.

The symbols come from a debug build (`swift build`). A link resolves within its own module only: name a symbol of
another module in code voice. With `--output DIR` the archives are kept there; they are never committed. With
`--server` or `--postgres` the modules are those of the trait, from the build in `.build/traits`; without its libraries the
check is SKIPPED.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import symbol_graphs

PACKAGE = symbol_graphs.PACKAGE


def find_docc():
    """Returns the path of `docc`: in the path, beside the compiler, or as Xcode names it; None if absent."""
    if found := shutil.which("docc"):
        return found
    if compiler := shutil.which("swiftc"):
        beside = pathlib.Path(compiler).resolve().parent / "docc"
        if beside.exists():
            return str(beside)
    if shutil.which("xcrun"):
        answer = subprocess.run(["xcrun", "--find", "docc"], capture_output=True, text=True)
        if answer.returncode == 0:
            return answer.stdout.strip()
    return None


def problems(docc, modules, module, scratch, output):
    """Builds the archive of a module; returns the diagnostics, one a line."""
    graphs = scratch / module
    graphs.mkdir()
    modules.extract(module, graphs)
    built = subprocess.run(
        [docc, "convert", str(PACKAGE / "Sources" / module / f"{module}.docc"), "--additional-symbol-graph-dir", str(graphs),
         "--output-path", str(output / f"{module}.doccarchive"), "--fallback-bundle-identifier", f"ChatJournal.{module}",
         "--warnings-as-errors", "--ide-console-output"], capture_output=True, text=True)
    text = (built.stdout + built.stderr).replace(f"{PACKAGE}/", "")
    lines = [line for line in text.splitlines() if "error:" in line or "warning:" in line]
    if built.returncode != 0 and not lines:
        lines = [f"{module}: docc ended with status {built.returncode}: {text.strip()}"]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, help="keep the archives in this directory")
    symbol_graphs.add_trait_options(parser)
    arguments = parser.parse_args()
    if reason := symbol_graphs.missing_for(arguments.trait):
        print(f"docs: SKIPPED: the trait {arguments.trait.title()}: {reason}")
        return 0
    modules = symbol_graphs.of_trait(arguments.trait)
    docc = find_docc()
    if docc is None:
        print("docs: SKIPPED: this toolchain has no docc")
        return 0
    count = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for module in modules.modules:
            for line in problems(docc, modules, module, scratch, arguments.output or scratch):
                print(line)
                count += 1
    print(f"docs: {', '.join(modules.modules)}: " + (f"{count} problems: FAILED" if count else "no warnings"))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
