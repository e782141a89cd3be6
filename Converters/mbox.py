#!/usr/bin/env python3
"""Converts mailing lists in mbox form to the lines of `chat-journal import`.

    mbox.py LIST.mbox ... > history.jsonl

Each file is a channel with the name of the file, or part of the channel of `--channel`; a name that ends with `.gz` is
unpacked. README.md beside this file says what is kept.
"""
import codecs
import itertools
import re
import sys

from converting import main, names_of
from mails import MOST_TEXT, PARSING_ERRORS, Mail
from reading import Failure

HELP = "the channel of all files of mails; by default, each file is a channel"
LONGEST_MAIL = 32 << 20  # in bytes
MOST_LINES = 500_000  # of a mail: a parsed line takes much more memory than its bytes
# RFC 4155: the address of the sender and the date of asctime. Some programs add a zone, or write the date of a mail.
MONTH, ZONE = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)", rb"(?:[+-]\d{4}|[A-Z]{1,5})"
DATE = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:%b +\d{1,2}|\d{1,2} +%b)(?: +\d{4})?" % (MONTH, MONTH)
TIME = rb"\d{1,2}:\d\d(?::\d\d)?(?: +%b)*(?: +\d{4})?(?: +%b)?" % (ZONE, ZONE)
SEPARATOR = re.compile(rb'From (?=.* [12]\d{3}\b)(?:\S* +|\S+ at \S+ +|"[^"]*"\S* +)%b +%b(?: +remote from \S+)?\s*' % (DATE, TIME))
LONGEST_SEPARATOR = 1_000
# The first line of a patch of git, which is often sent in the text of a mail.
PATCH = re.compile(rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\s*")
QUOTED = re.compile(rb">+From ")


def is_separator(line):
    return line.startswith(b"From ") and len(line) <= LONGEST_SEPARATOR and bool(SEPARATOR.fullmatch(line))


def lines(stream, place, conversion):
    """Yields each line and its number. A parser of mail takes many times the memory of a long line, so it is cut."""
    for number in itertools.count(1):
        line = rest = stream.readline(MOST_TEXT)
        while len(rest) == MOST_TEXT and not rest.endswith(b"\n"):
            rest = stream.readline(MOST_TEXT)
        if not line:
            return
        if rest is not line:
            conversion.count("left out: the rest of lines of more than 4 MiB", f"{place}, line {number}")
            line += b"\n"
        yield number, line


def mails(stream, place, conversion):
    """Yields the bytes of each mail, without its separator, and the number of its first line."""
    mail, count, start, is_blank, is_patches, stray = None, 0, 0, True, False, None
    for number, line in lines(stream, place, conversion):
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if is_blank and is_separator(line) and (mail is None or is_patches or not PATCH.fullmatch(line)):
            # A file that begins with a patch is a series of patches.
            is_patches = is_patches or mail is None and bool(PATCH.fullmatch(line))
            if mail:
                yield mail, start
            mail, count, start = bytearray(), 0, number
        elif mail is None:
            is_text = int(bool(line.strip()))
            stray = stray or number * is_text
            conversion.count("left out: lines before the first mail", f"{place}, line {number}", is_text)
        else:
            count += 1
            if count > MOST_LINES or len(mail) + len(line) > LONGEST_MAIL:
                kind = "left out: mails of more than 32 MiB or 500,000 lines"
                conversion.count(kind, f"{place}, line {start}", int(bool(mail)))
                mail, count = bytearray(), MOST_LINES
            else:
                mail += line[1:] if line.startswith(b">") and QUOTED.match(line) else line
        is_blank = not line.strip(b"\r\n")
    if mail:
        yield mail, start
    if stray and mail is None:
        raise Failure(f"{place}, line {stray}: no line `From ADDRESS DATE` begins a mail: not an mbox")


def convert(arguments, conversion):
    for path in arguments.paths:
        name = arguments.channel or re.sub(r"(\.gz|\.mbox|\.txt)+$", "", path.name)
        if name not in conversion.channels:
            conversion.channel(name, name)
        with conversion.open_file(path) as stream:
            for data, line in mails(stream, str(path), conversion):
                place = f"{path}, line {line}"
                try:
                    mail = Mail(data, place, conversion)
                except PARSING_ERRORS:
                    conversion.count("left out: mails that cannot be parsed", place)
                    continue
                if not mail.user["id"]:
                    conversion.count("left out: mails without an author", place)
                    continue
                body = conversion.text(place, mail.body, ("attachments", len(mail.files), names_of(mail.files)))
                if mail.reply_to:
                    mail.count("left out: subjects of answers", int(bool(mail.subject)))
                elif mail.subject:
                    mail.count("adapted: subjects, as the first line of their mail")
                    body = f"{mail.subject}\n\n{body}".strip()
                channel = conversion.channels[name][0]
                conversion.message(place, mail.time, channel, mail.person(), mail.id, mail.reply_to, body)


if __name__ == "__main__":
    sys.exit(main("mbox", __doc__, convert, "FILE", several=True, channel=HELP))
