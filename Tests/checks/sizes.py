#!/usr/bin/env python3
"""Prints the size of each module of Sources: files, code lines, public types, and switches over all kinds.

    sizes.py [--package .]

A code line has something besides blanks and comments. Public types are those of the baselines of api.py. A switch over all
kinds has no default and names 30 or more kinds of events or commands: each is a place that a new kind has to be added to.
"""

import argparse
import collections
import pathlib
import re

TYPES = {"struct", "enum", "class", "actor", "protocol"}


def code_lines(text):
    """Counts the lines of Swift with something besides blanks and comments."""
    count = depth = 0
    in_text = False
    for line in text.split("\n"):
        position, has_code = 0, False
        while position < len(line):
            pair = line[position:position + 2]
            if depth:
                step = {"*/": -1, "/*": 1}.get(pair, 0)
                depth += step
                position += 2 if step else 1
                continue
            if line.startswith('"""', position):
                in_text, has_code = not in_text, True
                position += 3
                continue
            if not in_text and pair == "//":
                break
            if not in_text and pair == "/*":
                depth += 1
                position += 2
                continue
            if not in_text and line[position] == '"':
                position += 1
                while position < len(line) and line[position] != '"':
                    position += 2 if line[position] == "\\" else 1
            has_code = has_code or not line[position:position + 1].isspace()
            position += 1
        count += has_code
    return count


def kinds(sources, file, enumeration):
    """Returns the names of the cases of an enumeration."""
    text = (sources / file).read_text()
    body = text[text.index(f"enum {enumeration}"):]
    lines = re.findall(r"^    case (\w+(?:, \w+)*)", body[:body.index("\n}")], re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


def switches(text, names):
    """Counts the switches without a default that name 30 or more of the names."""
    found = 0
    for start in re.finditer(r"^( *)[^\n/]*\bswitch\b[^\n]*\{$", text, re.MULTILINE):
        end = re.compile(rf"^{start[1]}\}}", re.MULTILINE).search(text, start.end())
        body = text[start.end():end.start() if end else None]
        if not re.search(r"^ *default\b", body, re.MULTILINE) and len(set(re.findall(r"\.(\w+)", body)) & names) >= 30:
            found += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=".", help="the package's directory")
    arguments = parser.parse_args()
    package = pathlib.Path(arguments.package)
    sources = package / "Sources"
    names = kinds(sources, "ChatDomain/Events/EventKind.swift", "EventKind")
    commands = kinds(sources, "ChatDomain/Commands/CommandForm.swift", "CommandKind")
    files, lines, exhaustive, public = (collections.Counter() for _ in range(4))
    for path in sorted(sources.rglob("*.swift")):
        module, text = path.relative_to(sources).parts[0], path.read_text()
        files[module] += 1
        lines[module] += code_lines(text)
        exhaustive[module] += max(switches(text, names), switches(text, commands))
    for baseline in ("api.txt", "api-server.txt", "api-postgres.txt"):
        for line in (package / "Tests/checks" / baseline).read_text().splitlines():
            module, kind = (line.split(" | ") + [""])[:2]
            public[module] += kind in TYPES
    print(f"{'module':18}{'files':>7}{'code lines':>12}{'public types':>14}{'switches':>10}")
    for module in sorted(files, key=lambda module: -lines[module]):
        print(f"{module:18}{files[module]:7}{lines[module]:12}{public[module]:14}{exhaustive[module]:10}")
    print(f"{'all':18}{files.total():7}{lines.total():12}{public.total():14}{exhaustive.total():10}")


if __name__ == "__main__":
    main()
