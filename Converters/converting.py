"""Collects the lines of a history in a database on disk, sorts them, and names their people and channels."""
import argparse
import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import sqlite3
import sys

from reading import Bounded, Budget, Failure, JSONText
from reporting import Report, written
from storing import FIRST, TABLES, Table, clean

LONGEST_LINE = 1 << 20  # in bytes, of the import
MEMBERS_A_LINE = 500
REACTIONS_A_LINE = 10_000  # users of all reactions, of the import
MENTIONS_A_LINE = 50
OUTWARD_CODE = re.compile(r"[A-Za-z]{1,2}[0-9][0-9A-Za-z]?")


def names_of(names, what="file"):
    """Returns the text that stands for files, such as `[photo.jpg]`."""
    return "\n".join(f"[{' '.join(name.split()) or what}]" for name in names)


class Conversion:
    """The lines of a history. Memory holds its channels, but no users and no messages.

    A user is `{"id", "name"}`, with `subject` if the export has one. Where one id of the source stands for several
    people, a user also has `own`, the id of this person unless the first person of the source id keeps that id.
    """

    def __init__(self, limit, prefix=""):
        self.budget, self.prefix, self.report = Budget(limit), prefix, Report()
        self.database = sqlite3.connect("", isolation_level=None)  # a temporary file, which SQLite removes
        self.database.executescript(TABLES)
        self.taken, self.channels, self.latest, self.number = {}, {}, {}, 0
        self.count, self.first = self.report.count, functools.lru_cache(4096)(self.find_first)

    def open(self, stream, place):
        return io.BufferedReader(Bounded(self.budget, stream, place), 1 << 16)

    def open_file(self, path):
        """Opens a file, unpacked if its name ends with `.gz`."""
        return self.open(gzip.open(path) if path.name.endswith(".gz") else open(path, "rb"), str(path))

    def json(self, stream, place):
        return JSONText(self.open(stream, place), place)

    def table(self, name):
        return Table(self.database, name)

    def channel(self, key, name, policy=None, is_district=False):
        """Names a channel of the source. No two channels get one name, and only a district that of its thread."""
        if not is_district:
            name = self.prefix + (name if name.strip() else key)
            if OUTWARD_CODE.fullmatch(name.replace(" ", "")):
                name = f"#{name}"
        while self.taken.setdefault(name.casefold().strip(), key) != key:
            name = f"{name} {key}"
        self.channels[key] = (name, policy)
        return name

    def member(self, key, user):
        """Adds a member to a channel with a policy. A join of the member has the date, and stands for it."""
        user = dict(user)
        own = user.pop("own", "")
        row = clean(key), clean(user["id"]), clean(own), json.dumps(user)
        self.database.execute("INSERT OR IGNORE INTO members (channel, id, own, user) VALUES (?, ?, ?, ?)", row)

    def join(self, place, time, channel, user):
        self.database.execute("INSERT OR IGNORE INTO joins VALUES (?, ?)", (clean(channel), clean(user["id"])))
        self.add(place, time, {"t": written(time), "channel": channel, "user": user, "join": True})

    def text(self, place, text, *others):
        """Returns the text of a message; without one, that of what it has in its place, such as names of files.

        The others are tuples: what they are, their number, and their text.
        """
        parts = []
        for what, number, other in others:
            stands = bool(number and other.strip() and not text.strip())
            kind = f"adapted: {what}, as the text of their message" if stands else f"left out: {what}"
            self.count(kind, place, number)
            parts += [other] * stands
        return "\n".join(parts) or text

    def message(self, place, time, channel, user, id, reply_to, body, edited=None, reactions=(), mentions=()):
        """Adds a message. Reactions are pairs of an emoji and its users, of which the import takes a bounded number."""
        users_of, left, taken = {}, REACTIONS_A_LINE, []
        for emoji, users in reactions:
            for each in users:
                users_of.setdefault(emoji, {}).setdefault(each["id"], each)
        for emoji, users in users_of.items():
            if some := list(users.values())[:left]:
                taken.append({"emoji": emoji, "users": some})
                left -= len(some)
        lost = sum(map(len, users_of.values()))
        line = {"t": written(time), "channel": channel, "user": user, "id": id, "replyTo": reply_to, "body": body}
        if edited is not None:
            line["editedAt"] = written(edited)
        if mentioned := list({each["id"]: each for each in mentions}.values()):
            line["mentions"] = mentioned[:MENTIONS_A_LINE]
            self.count("left out: mentions", place, max(0, len(mentioned) - MENTIONS_A_LINE))
        longer = {**line, "reactions": taken}
        if taken and body.strip() and len(json.dumps(longer, ensure_ascii=False).encode("utf-8", "surrogatepass")) <= LONGEST_LINE:
            line = longer
            lost -= REACTIONS_A_LINE - left
        self.count("left out: reactions", place, lost)
        if not body.strip():
            return self.count("left out: messages without text", place)
        self.add(place, time, line)

    def add(self, place, time, value, rank=1):
        own, more = None, 0
        if "own" in value.get("user", ()):
            value["user"] = dict(value["user"], id=clean(value["user"]["id"]))
            own = clean(value["user"].pop("own"))
            more = len(own.encode()) if own != value["user"]["id"] else 0
        line = json.dumps(value, ensure_ascii=False)
        if any("\ud800" <= character <= "\udfff" for character in line):
            self.count("adapted: texts with characters that are not Unicode", place)
            line = clean(line)
        if len(encoded := line.encode()) + more > LONGEST_LINE:
            return self.count("left out: messages of more than 1 MiB", place)
        # A line without a time stays after the one before it in its channel.
        order = self.latest[value["channel"]] = self.latest.get(value["channel"], -1 << 62) if time is None else time
        self.number += 1
        row = (rank, order, self.number, hashlib.sha256(encoded).digest(), line, own)
        if self.database.execute("INSERT OR IGNORE INTO lines VALUES (?, ?, ?, ?, ?, ?)", row).rowcount == 0:
            return self.count("adapted: lines that are in the export twice", place)
        if own is not None:
            insertion = """INSERT INTO people VALUES (?, ?, ?, ?, ?) ON CONFLICT (source, own) DO UPDATE
                SET time = excluded.time, number = excluded.number, place = excluded.place WHERE excluded.time < time"""
            self.database.execute(insertion, (value["user"]["id"], own, order, self.number, place))

    def find_first(self, source):
        found = self.database.execute(FIRST, (source,)).fetchone()
        return found and found[0]

    def person(self, user, own):
        """Gives a user of a source id with several people an id of their own, unless it is the first of them."""
        if own and self.first(user["id"]) not in (None, own):
            user["id"] = own if own != user["id"] else f"{own} {user['name']}"
        return user

    def add_channels(self):
        """Adds the lines of the channels with a policy, and their members who have no line of a join."""
        for key, (channel, policy) in self.channels.items():
            members = self.database.execute(
                """SELECT user, own FROM members WHERE channel = ? AND NOT EXISTS (
                    SELECT 1 FROM joins WHERE joins.channel = ? AND joins.id = members.id) ORDER BY number""",
                (clean(key), clean(channel)))
            is_first = True
            while policy and ((some := members.fetchmany(MEMBERS_A_LINE)) or is_first):
                users = [self.person(json.loads(user), own) for user, own in some]
                self.add(channel, 0, {"channel": channel, "policy": policy, "members": users}, rank=0)
                is_first = False

    def print(self, output):
        """Prints the channels, then all lines by time, and the counts to standard error."""
        self.add_channels()
        several = "SELECT source, own, place FROM people WHERE source IN (SELECT source FROM people WHERE own != source)"
        for source, own, place in self.database.execute(several + " ORDER BY time, number"):
            self.count("adapted: names under one id, as people of their own", place, int(own != self.first(source)))
        for line, own in self.database.execute("SELECT line, own FROM lines ORDER BY rank, time, number"):
            value = json.loads(line)
            if own and own != self.first(value["user"]["id"]):
                self.person(value["user"], own)
                line = json.dumps(value, ensure_ascii=False)
            output.write(line.encode() + b"\n")
            self.report.keep(value)
        output.flush()
        self.report.say()


def main(name, description, convert, argument, several=False, **options):
    """Parses the arguments, converts, and prints the lines. Nothing is printed unless the whole export was read."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=pathlib.Path, nargs="+" if several else 1, metavar=argument)
    for option, help in options.items():
        parser.add_argument(f"--{option}", help=help)
    parser.add_argument("--prefix", default="", help="a text before the name of each channel that is no district")
    parser.add_argument(
        "--limit", type=float, default=64, metavar="GIB", help="the longest export, unpacked (default: 64)")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write what came and what did not, as JSON")
    arguments = parser.parse_args()
    conversion = Conversion(int(arguments.limit * (1 << 30)), arguments.prefix)
    conversion.report.name = name
    try:
        convert(arguments, conversion)
        conversion.print(sys.stdout.buffer)
    except (Failure, OSError, sqlite3.Error, MemoryError) as failure:
        conversion.report.fail(str(failure) or "the export needs more memory than there is")
        if isinstance(failure, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if arguments.report:
        try:
            conversion.report.write(arguments.report)
        except OSError as failure:
            conversion.report.fail(str(failure))
    return 1 if conversion.report.failure else 0
