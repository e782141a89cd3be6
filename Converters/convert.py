#!/usr/bin/env python3
"""Converts the export of another chat to the lines of `chat-journal import`, and finds out which format it has.

    convert.py EXPORT ... > history.jsonl

EXPORT is the ZIP or the folder of Slack, the folder of the tables from DynamoDB, or files of DiscordChatExporter or in
mbox form. README.md beside this file says what is kept.
"""
import codecs
import gzip
import sys
import zlib

import discord
import dynamodb
import mbox
import slack
from converting import main
from reading import Failure

FORMATS = {"discord": discord, "dynamodb": dynamodb, "mbox": mbox, "slack": slack}
SEVERAL = {"discord", "mbox"}  # formats of several files
BEGINNING = 1 << 16  # in bytes, of a file that is looked at


def format_of(path):
    """Returns the format of an export by what is in it, not by its name."""
    if path.is_dir():
        if next(path.rglob("manifest-summary.json"), None):
            return "dynamodb"
        if any(next(path.rglob(name), None) for name in slack.LISTS):
            return "slack"
        raise Failure(f"{path}: neither {', '.join(slack.LISTS)} of Slack nor manifest-summary.json of DynamoDB exists")
    try:
        with gzip.open(path) if path.name.endswith(".gz") else open(path, "rb") as stream:
            beginning = stream.read(BEGINNING)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Failure(f"{path}, byte 0: damaged or incomplete: {error}") from None
    if beginning.startswith(b"PK"):
        return "slack"
    beginning = beginning.removeprefix(codecs.BOM_UTF8)
    if beginning.lstrip().startswith(b"{"):
        return "discord"
    if any(mbox.is_separator(line) for line in beginning.splitlines(keepends=True)):
        return "mbox"
    raise Failure(f"{path}, byte 0: not an export of Slack, DiscordChatExporter or DynamoDB, and not an mbox file")


def convert(arguments, conversion):
    formats = [format_of(path) for path in arguments.paths]
    for path, name in zip(arguments.paths, formats):
        if name != formats[0]:
            raise Failure(f"{path}: an export of {name}, but {arguments.paths[0]} is one of {formats[0]}")
    if len(formats) > 1 and formats[0] not in SEVERAL:
        raise Failure(f"{arguments.paths[1]}: a second export; convert one after the other")
    conversion.report.name = formats[0]
    FORMATS[formats[0]].convert(arguments, conversion)


if __name__ == "__main__":
    sys.exit(main("convert", __doc__, convert, "EXPORT", several=True, channel=mbox.HELP))
