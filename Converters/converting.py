"""Collects the lines of a history, sorts them on disk, and counts what is adapted or left out."""
import argparse
import collections
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import sqlite3
import sys

from reading import EPOCH, Bounded, Budget, Failure, JSONText

LONGEST_LINE = 1 << 20  # in bytes, of the import
MEMBERS_A_LINE = 500
REACTIONS_A_LINE = 10_000  # users of all reactions, of the import
MENTIONS_A_LINE = 50
OUTWARD_CODE = re.compile(r"[A-Za-z]{1,2}[0-9][0-9A-Za-z]?")


def written(time):
    """Returns a time in the form of the import; None if it is unknown or has no year of four digits."""
    try:
        moment = None if time is None else EPOCH.replace(tzinfo=None) + datetime.timedelta(milliseconds=time)
        return moment and moment.isoformat(timespec="milliseconds") + "Z"
    except OverflowError:
        return None


def say(name, text):
    """Prints a line to standard error, without control characters."""
    print(f"{name}: {''.join(each if each.isprintable() else ascii(each)[1:-1] for each in text)}", file=sys.stderr)


class Conversion:
    """The lines of a history, and the counts of what is adapted or left out."""

    def __init__(self, limit, prefix=""):
        self.budget, self.prefix = Budget(limit), prefix
        self.database = sqlite3.connect("")  # a temporary file, which SQLite removes
        self.database.execute("CREATE TABLE lines (rank, time, number INTEGER PRIMARY KEY, digest UNIQUE, line)")
        self.taken, self.channels, self.latest, self.counts = {}, {}, {}, {}

    def open(self, stream, place):
        return io.BufferedReader(Bounded(self.budget, stream, place), 1 << 16)

    def open_file(self, path):
        """Opens a file, unpacked if its name ends with `.gz`."""
        return self.open(gzip.open(path) if path.name.endswith(".gz") else open(path, "rb"), str(path))

    def json(self, stream, place):
        return JSONText(self.open(stream, place), place)

    def count(self, kind, place, number=1):
        """Counts what is adapted or left out."""
        if number > 0:
            # A kind can be a text of the export, so the number of kinds is bounded.
            kind = kind if kind in self.counts or len(self.counts) < 100 else "left out: other kinds"
            self.counts.setdefault(kind, [0, place])[0] += number

    def channel(self, key, name, policy=None, is_district=False):
        """Names a channel of the source. No two channels get one name, and only a district that of its thread."""
        if not is_district:
            name = self.prefix + (name if name.strip() else key)
            if OUTWARD_CODE.fullmatch(name.replace(" ", "")):
                name = f"#{name}"
        while self.taken.setdefault(name.casefold().strip(), key) != key:
            name = f"{name} {key}"
        self.channels[key] = (name, policy, {})
        return name

    def member(self, key, user):
        """Adds a member to a channel with a policy."""
        self.channels[key][2].setdefault(user["id"], user)

    def join(self, place, time, channel, user):
        self.add(place, time, {"t": written(time), "channel": channel, "user": user, "join": True})

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
        line = json.dumps(value, ensure_ascii=False)
        if any("\ud800" <= character <= "\udfff" for character in line):
            self.count("adapted: texts with characters that are not Unicode", place)
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if len(encoded := line.encode()) > LONGEST_LINE:
            return self.count("left out: messages of more than 1 MiB", place)
        # A line without a time stays after the one before it in its channel.
        order = self.latest[value["channel"]] = self.latest.get(value["channel"], -1 << 62) if time is None else time
        row = (rank, order, hashlib.sha256(encoded).digest(), line)
        insertion = "INSERT OR IGNORE INTO lines (rank, time, digest, line) VALUES (?, ?, ?, ?)"
        if self.database.execute(insertion, row).rowcount == 0:
            self.count("adapted: lines that are in the export twice", place)

    def print(self, name, output):
        """Prints the channels, then all lines by time, and the counts to standard error."""
        for channel, policy, members in self.channels.values():
            users = list(members.values())
            for first in range(0, max(1, len(users)), MEMBERS_A_LINE) if policy else ():
                some = users[first:first + MEMBERS_A_LINE]
                self.add(channel, 0, {"channel": channel, "policy": policy, "members": some}, rank=0)
        kinds, reactions = collections.Counter(), 0
        for (line,) in self.database.execute("SELECT line FROM lines ORDER BY rank, time, number"):
            output.write(line.encode() + b"\n")
            value = json.loads(line)
            answered = "messages" if value.get("replyTo") is None else "replies"
            reactions += sum(len(each["users"]) for each in value.get("reactions", ()))
            kinds["channels" if "policy" in value else "joins" if "join" in value else answered] += 1
        output.flush()
        kept = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        kept += f", {reactions} reactions" if reactions else ""
        report = [f"{sum(kinds.values())} lines: {kept}"] if kinds else ["0 lines"]
        report += [f"{kind}: {number}, first: {place}" for kind, (number, place) in sorted(self.counts.items())]
        for line in report:
            say(name, line)


def main(name, description, convert, argument, several=False, **options):
    """Parses the arguments, converts, and prints the lines. Nothing is printed unless the whole export was read."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=pathlib.Path, nargs="+" if several else 1, metavar=argument)
    for option, help in options.items():
        parser.add_argument(f"--{option}", help=help)
    parser.add_argument("--prefix", default="", help="a text before the name of each channel that is no district")
    parser.add_argument(
        "--limit", type=float, default=64, metavar="GIB", help="the longest export, unpacked (default: 64)")
    arguments = parser.parse_args()
    try:
        conversion = Conversion(int(arguments.limit * (1 << 30)), arguments.prefix)
        convert(arguments, conversion)
        conversion.print(name, sys.stdout.buffer)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Failure, OSError, sqlite3.Error) as failure:
        say(name, str(failure))
        return 1
    return 0
