"""Reads the files, the JSON and the times of an export. Memory is bounded, whatever the files hold."""
import datetime
import io
import json
import re
import zipfile
import zlib

LONGEST_VALUE = 4 << 20  # in characters, of one value in a file of JSON
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(Z)|([+-])(\d\d):?(\d\d))?", re.ASCII)


class Failure(Exception):
    """An export that cannot be converted. The message names the file and the place."""


def field(entry, name, kind=str):
    """Returns a field of an object, or the empty value of its kind if it is missing or of another kind."""
    value = entry.get(name) if isinstance(entry, dict) else None
    return value if isinstance(value, kind) and not isinstance(value, bool) else kind()


def milliseconds(moment):
    """Returns the milliseconds since 1970 of a `datetime` with a zone."""
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)


def time_of(text):
    """Returns the milliseconds since 1970 of an ISO-8601 text and whether it has a zone; None if it is no time."""
    match = ISO.fullmatch(text)
    if not match:
        return None, True
    *parts, fraction, utc, sign, hours, minutes = match.groups()
    try:
        moment = datetime.datetime(*(int(part or 0) for part in parts), tzinfo=datetime.timezone.utc)
    except ValueError:
        return None, True
    offset = int(f"{sign}1") * (int(hours) * 60 + int(minutes)) * 60_000 if sign else 0
    return milliseconds(moment) + int((fraction or "0").ljust(3, "0")[:3]) - offset, bool(utc or sign)


class Budget:
    """The number of bytes that may still be read from an export, unpacked."""

    def __init__(self, limit):
        self.left = limit


class Bounded(io.RawIOBase):
    """The unpacked bytes of a file, within a budget. Every problem is a Failure that names the file."""

    def __init__(self, budget, stream, place):
        self.budget, self.stream, self.place, self.count = budget, stream, place, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        try:
            read = self.stream.read(len(buffer))
        except (OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile) as error:
            raise Failure(f"{self.place}, byte {self.count}: damaged or incomplete: {error}") from None
        self.count += len(read)
        self.budget.left -= len(read)
        if self.budget.left < 0:
            raise Failure(f"{self.place}, byte {self.count}: the export is longer than --limit allows, unpacked")
        buffer[:len(read)] = read
        return len(read)


class JSONText:
    """Reads a text of JSON value by value. Memory holds one value."""

    DECODER, WHITE = json.JSONDecoder(), re.compile(r"[ \t\r\n]*")

    def __init__(self, stream, place):
        self.stream = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="\n")
        self.name, self.buffer, self.position, self.number = place, "", 0, 0

    @property
    def place(self):
        return f"{self.name}, entry {self.number}"

    def fill(self):
        try:
            more = self.stream.read(max(1 << 16, len(self.buffer) - self.position))
        except UnicodeDecodeError:
            raise Failure(f"{self.place} or later: not UTF-8") from None
        self.buffer, self.position = self.buffer[self.position:] + more, 0
        return bool(more)

    def peek(self):
        """Returns the next character that is not white space; the empty text at the end."""
        while True:
            self.position = self.WHITE.match(self.buffer, self.position).end()
            if self.position < len(self.buffer) or not self.fill():
                return self.buffer[self.position:self.position + 1]

    def take(self, characters):
        found = self.peek()
        if not found or found not in characters:
            raise Failure(f"{self.place}: {found or 'the end'!r} where one of {characters} is expected")
        self.position += 1
        return found

    def end(self):
        """Reads to the end, where the sum of the file is checked, and allows only white space."""
        if self.peek():
            raise Failure(f"{self.place}: {self.peek()!r} after the end of the text")

    def value(self):
        self.peek()
        while True:
            try:
                value, end = self.DECODER.raw_decode(self.buffer, self.position)
                # A number at the end of the buffer may go on.
                if end < len(self.buffer) or not self.fill():
                    self.position = min(end, len(self.buffer))
                    return value
            except RecursionError:
                raise Failure(f"{self.place}: nested too deeply") from None
            except ValueError as error:
                if len(self.buffer) - self.position > LONGEST_VALUE or not self.fill():
                    raise Failure(f"{self.place}: not JSON, or too long: {str(error)[:80]}") from None

    def items(self):
        """Yields the values of an array."""
        self.take("[")
        if self.peek() == "]":
            self.position += 1
            return
        while True:
            self.number += 1
            yield self.value()
            if self.take(",]") == "]":
                return

    def keys(self):
        """Yields the keys of an object; the caller reads the value of each one."""
        self.take("{")
        if self.peek() == "}":
            self.position += 1
            return
        while True:
            key = self.value()
            self.take(":")
            yield key
            if self.take(",}") == "}":
                return
