"""Counts what an export has: what came, what was adapted, and what was left out."""
import collections
import datetime
import json
import sys

from reading import EPOCH

MOST_KINDS = 100
LINES, EXTRAS = ("channels", "joins", "messages", "replies"), ("edits", "mentions", "reactions")
SECTIONS = {"adapted": "adapted", "left out": "leftOut", "warning": "warnings"}


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


class Report:
    """The lines of a history by kind, and what is adapted or left out, each with the place of the first case."""

    def __init__(self):
        self.name = None
        self.counts, self.lines, self.extras = {}, collections.Counter(), collections.Counter()
        self.failure = None

    def count(self, kind, place, number=1):
        """Counts what is adapted or left out. A kind begins with the name of its section."""
        if number > 0:
            # A kind can be a text of the export, so the number of kinds is bounded.
            kind = kind if kind in self.counts or len(self.counts) < MOST_KINDS else "left out: other kinds"
            self.counts.setdefault(kind, [0, place])[0] += number

    def keep(self, line):
        """Counts a line that is printed."""
        answered = "messages" if line.get("replyTo") is None else "replies"
        self.lines["channels" if "policy" in line else "joins" if "join" in line else answered] += 1
        self.extras["edits"] += int("editedAt" in line)
        self.extras["mentions"] += len(line.get("mentions", ()))
        self.extras["reactions"] += sum(len(each["users"]) for each in line.get("reactions", ()))

    def say(self):
        """Prints the counts to standard error."""
        name = self.name
        kept = ", ".join(f"{number} {kind}" for kind, number in sorted(self.lines.items()))
        kept += f", {self.extras['reactions']} reactions" if self.extras["reactions"] else ""
        say(name, f"{sum(self.lines.values())} lines: {kept}" if kept else "0 lines")
        for kind, (number, place) in sorted(self.counts.items()):
            say(name, f"{kind}: {number}, first: {place}")

    def fail(self, failure):
        self.failure = failure
        say(self.name, failure)

    def write(self, path):
        """Writes the counts as JSON."""
        kept = collections.Counter() if self.failure else self.lines + self.extras
        value = {"format": self.name, "failure": self.failure, "lines": sum(kept[kind] for kind in LINES)}
        value["kept"] = {kind: kept[kind] for kind in (*LINES, *EXTRAS)}
        for section, field in SECTIONS.items():
            found = [(kind.partition(": ")[2], counts) for kind, counts in sorted(self.counts.items())
                     if kind.partition(": ")[0] == section]
            value[field] = [{"kind": kind, "count": number, "first": place} for kind, (number, place) in found]
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump(value, file, ensure_ascii=False, indent=2)
            file.write("\n")
