#!/usr/bin/env python3
"""Compares the table of emoji of ChatDomain with Unicode's emoji-test.txt.

    emoji_table.py [--file FILE] [--write]

FILE is by default that of Debian's package unicode-data; if it does not exist, this prints SKIPPED. Exit status 1 if the table
differs. --write replaces the table: a later version of Unicode accepts more emoji, and must accept all of before.
"""

import argparse
import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "ChatDomain" / "Text" / "Emoji+Table.swift"
FILE = "/usr/share/unicode/emoji/emoji-test.txt"
TONES = range(0x1F3FB, 0x1F400)
COLUMNS = 120

# The notice is a condition of the licence of Unicode's data files.
SOURCE = '''// Written by Tests/checks/emoji_table.py from emoji-test.txt of Unicode {version}, of which it has the fully-qualified
// sequences in another form. That file has this notice:
//
// Copyright © 1991-{year} Unicode, Inc. All rights reserved. Distributed under the Terms of Use in
// https://www.unicode.org/copyright.html.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy of the Unicode data files and any
// associated documentation (the "Data Files") or Unicode software and any associated documentation (the "Software")
// to deal in the Data Files or Software without restriction, including without limitation the rights to use, copy,
// modify, merge, publish, distribute, and/or sell copies of the Data Files or Software, and to permit persons to whom
// the Data Files or Software are furnished to do so, provided that either (a) this copyright and permission notice
// appear with all copies of the Data Files or Software, or (b) this copyright and permission notice appear in
// associated Documentation.
//
// THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
// LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF THIRD PARTY
// RIGHTS. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY
// SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
// WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE
// OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.
//
// Except as contained in this notice, the name of a copyright holder shall not be used in advertising or otherwise to
// promote the sale, use or other dealings in these Data Files or Software without prior written authorization of the
// copyright holder.

extension Emoji {{
    /// The version of Unicode whose emoji are accepted.
    public static let unicodeVersion = "{version}"

    /// The fully-qualified sequences, separated by white space.
    ///
    /// One with skin tones stands for all that differ from it in them: its first tone is 🏻, and a second
    /// one 🏻 if it is the same, or else 🏼.
    static let table = """
{lines}
        """
}}
'''


def sequences(text):
    """Returns the fully-qualified sequences of emoji-test.txt, each as its code points."""
    lines = [line.partition("#")[0].partition(";") for line in text.splitlines()]
    return [tuple(int(point, 16) for point in points.split()) for points, _, status in lines if status.strip() == "fully-qualified"]


def representative(sequence):
    """Returns the sequence with its first tone as the lightest one, and every other one as the second lightest."""
    first = next((point for point in sequence if point in TONES), None)
    return tuple((TONES[0] if point == first else TONES[1]) if point in TONES else point for point in sequence)


def expanded(sequence):
    """Returns the sequences for which one of the table stands."""
    tones = {point for point in sequence if point in TONES}
    if not tones:
        return {sequence}
    pairs = [(first, second) for first in TONES for second in TONES if len(tones) == 1 or first != second]
    return {tuple({TONES[0]: first, TONES[1]: second}.get(point, point) for point in sequence) for first, second in pairs}


def source(text):
    """Returns the Swift source of the table, or ends the program if the file is not of the form that the source has."""
    listed = sequences(text)
    table = list(dict.fromkeys(map(representative, listed)))
    if set().union(*map(expanded, table)) != set(listed):
        sys.exit("FAILED: a sequence of the file does not exist in all skin tones")
    if len({tuple(point for point in sequence if point != 0xFE0F) for sequence in listed}) != len(listed):
        sys.exit("FAILED: two sequences of the file differ only in U+FE0F")
    lines = [" " * 8]
    for sequence in table:
        word = "".join(map(chr, sequence))
        # Code points, each of which is at most one column of an editor that draws none of them together.
        if len(lines[-1]) + 1 + len(word) > COLUMNS:
            lines.append(" " * 8)
        lines[-1] += word if lines[-1].isspace() else " " + word
    version = re.search(r"^# Version: (\S+)$", text, re.MULTILINE).group(1)
    year = re.search(r"^# © (\d+) Unicode", text, re.MULTILINE).group(1)
    return SOURCE.format(version=version, year=year, lines="\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=pathlib.Path, default=pathlib.Path(FILE))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not arguments.file.exists():
        print(f"SKIPPED: {arguments.file} does not exist (Debian's package unicode-data)")
        return 0
    expected = source(arguments.file.read_text(encoding="utf-8"))
    if arguments.write:
        TABLE.write_text(expected, encoding="utf-8")
    elif not TABLE.exists() or TABLE.read_text(encoding="utf-8") != expected:
        print(f"FAILED: {TABLE.name} is not what --write makes of {arguments.file}")
        return 1
    print(f"{len(sequences(arguments.file.read_text(encoding='utf-8')))} emoji, in a table of {expected.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
