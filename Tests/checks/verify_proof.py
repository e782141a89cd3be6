#!/usr/bin/env python3
"""Verifies checkpoints and proofs with a verifier that was written from the format pages alone, not from the code.

    verify_proof.py proof PROOF --checkpoint FILE [--record FILE]     verifies one proof, of either kind
    verify_proof.py evidence DIR --checkpoint FILE [--events]         verifies the evidence of a thread
    verify_proof.py tiles DIR [--index N] [--old SIZE]                checks a directory of tiles, and proves from it alone
    verify_proof.py journal JOURNAL... --tool PATH [--proofs N] [--flips N] [--seed S] [--gopath DIR] [--scratch DIR]

The second form prints what the evidence shows, and with --events the events. The decoder of events is that of
read_journal.py, which was written from EventEncoding.md.

The third form checks that the tiles have the root of the directory's checkpoint, and the entries, if any, the leaves. It
then proves that the entry with an index is in the tree, or that the tree begins with that of an earlier size.

The last form reads each journal with the reader of read_journal.py and computes the tree. It compares with it the file
`tree`, if one exists, the checkpoints of the tool at random sizes, and the tiles of the tool, which it writes in two runs. It
verifies N random inclusion proofs and N consistency proofs of the tool, and disclosed records, and computes the same proofs
from the tiles. It then flips one random bit of the decoded index, sizes or hashes of each proof, `--flips` times, and
malforms texts, and checks that this verifier rejects each, and the tool a sample.

If Go and the package `golang.org/x/mod` exist (Debian: golang-go and golang-golang-x-mod-dev), Go's own `sumdb/note` and
`sumdb/tlog` verify the same checkpoints and proofs, with signatures of a key made for the run, reject the same flips, and
compute the same proofs from the tiles; otherwise this part prints SKIPPED. Only Python's standard library is used.
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import read_journal  # noqa: E402


class Invalid(Exception):
    """The reason why a text or a proof is rejected."""


# -- Hashes ------------------------------------------------------------------------------------------------------------


def sha256(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha256(b"\1" + left + right)


def leaf_of(kept, digest):
    return sha256(b"\0\1" + kept + digest)


class Tree:
    """The hashes of all complete subtrees, by level; `hash` returns that of any range that a proof needs."""

    def __init__(self, leaves):
        self.levels = [leaves]
        while len(self.levels[-1]) > 1:
            below = self.levels[-1]
            self.levels.append([node(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)])

    def hash(self, begin, end):
        """Returns the tree hash of the leaves from `begin` to before `end`."""
        count = end - begin
        if count == 0:
            return sha256(b"")
        level = count.bit_length() - 1
        if count == 1 << level and begin % count == 0:
            return self.levels[level][begin >> level]
        middle = begin + split(count)
        return node(self.hash(begin, middle), self.hash(middle, end))


def split(count):
    """Returns the number of leaves of the left subtree."""
    return 1 << (count - 1).bit_length() - 1


def inclusion_path(index, begin, end, hash):
    """RFC 6962 section 2.1.1."""
    if end - begin == 1:
        return []
    middle = begin + split(end - begin)
    if index < middle:
        return inclusion_path(index, begin, middle, hash) + [hash(middle, end)]
    return inclusion_path(index, middle, end, hash) + [hash(begin, middle)]


def consistency_path(old, begin, end, hash):
    """RFC 6962 section 2.1.2; `begin` is 0 at first."""
    if old == end:
        return [] if begin == 0 else [hash(begin, end)]
    middle = begin + split(end - begin)
    if old <= middle:
        return consistency_path(old, begin, middle, hash) + [hash(middle, end)]
    return consistency_path(old, middle, end, hash) + [hash(begin, middle)]


# -- Texts -------------------------------------------------------------------------------------------------------------


def decoded(text):
    """Returns the bytes of canonical base64."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Invalid(str(error))
    if base64.b64encode(data).decode() != text:
        raise Invalid(f"not canonical base64: {text}")
    return data


def hash_of(text):
    data = decoded(text)
    if len(data) != 32:
        raise Invalid(f"a hash of {len(data)} bytes")
    return data


def number_of(text):
    if not re.fullmatch(r"0|[1-9][0-9]*", text, re.ASCII) or int(text) >= 2**64:
        raise Invalid(f"not a number: {text}")
    return int(text)


def lines_of(text):
    if not text.endswith("\n") or re.search(r"[\0-\x09\x0b-\x1f]", text):
        raise Invalid("no line feed at the end, or a control character")
    return text[:-1].split("\n")


def after(word, line):
    if not line.startswith(word + " "):
        raise Invalid(f"'{word}' is expected: {line}")
    return line[len(word) + 1:]


class Checkpoint:
    def __init__(self, lines):
        if len(lines) < 3 or not lines[0]:
            raise Invalid("a checkpoint has three lines")
        self.origin, self.size, self.root = lines[0], number_of(lines[1]), hash_of(lines[2])
        if self.size == 0 and self.root != sha256(b""):
            raise Invalid("the root of size 0")
        rest = lines[3:]
        if "" in rest:
            signatures = rest[rest.index("") + 1:]
            rest = rest[:rest.index("")]
            if not signatures:
                raise Invalid("no signature after the empty line")
            for line in signatures:
                match = re.fullmatch("\u2014 ([^ +]+) ([^ ]+)", line)
                if not match or len(decoded(match.group(2))) <= 4:
                    raise Invalid(f"not a signature: {line}")
        if any(line.startswith("\u2014 ") for line in rest):
            raise Invalid("no empty line before the signatures")

    def __eq__(self, other):
        return (self.origin, self.size, self.root) == (other.origin, other.size, other.root)

    def text(self):
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def hashes_and_checkpoint(lines):
    if "" not in lines:
        raise Invalid("no empty line after the hashes")
    end = lines.index("")
    if end > 64:
        raise Invalid("too many hashes")
    return [hash_of(line) for line in lines[:end]], Checkpoint(lines[end + 1:])


class Inclusion:
    def __init__(self, text):
        lines = lines_of(text)
        if lines.pop(0) != "c2sp.org/tlog-proof@v1":
            raise Invalid("not a tlog-proof")
        self.extra = None
        if lines and lines[0].startswith("extra"):
            self.extra = decoded(after("extra", lines.pop(0)))
        if not lines:
            raise Invalid("no index")
        self.index = number_of(after("index", lines.pop(0)))
        self.hashes, self.head = hashes_and_checkpoint(lines)

    def verify(self, leaf):
        """RFC 9162 section 2.1.3.2."""
        fn, sn, r = self.index, self.head.size - 1, leaf
        if fn > sn:
            raise Invalid("the index is not in the tree")
        for p in self.hashes:
            if sn == 0:
                raise Invalid("too many hashes")
            if fn & 1 or fn == sn:
                r = node(p, r)
                while not fn & 1 and fn:
                    fn, sn = fn >> 1, sn >> 1
            else:
                r = node(r, p)
            fn, sn = fn >> 1, sn >> 1
        if sn:
            raise Invalid("too few hashes")
        if r != self.head.root:
            raise Invalid("another root")


class Consistency:
    def __init__(self, text):
        lines = lines_of(text)
        self.old = number_of(after("old", lines.pop(0)))
        self.hashes, self.head = hashes_and_checkpoint(lines)

    def verify(self, old):
        """RFC 9162 section 2.1.4.2, with the sizes that it leaves to the caller."""
        first, second, path = self.old, self.head.size, list(self.hashes)
        if old.origin != self.head.origin or old.size != first or first > second:
            raise Invalid("other sizes or another origin")
        if first in (0, second):
            if path or first == second and old.root != self.head.root:
                raise Invalid("hashes without need, or two roots of one size")
            return
        if first & (first - 1) == 0:
            path.insert(0, old.root)
        if not path:
            raise Invalid("no hashes")
        fn, sn = first - 1, second - 1
        while fn & 1:
            fn, sn = fn >> 1, sn >> 1
        fr = sr = path[0]
        for c in path[1:]:
            if sn == 0:
                raise Invalid("too many hashes")
            if fn & 1 or fn == sn:
                fr, sr = node(c, fr), node(c, sr)
                while not fn & 1 and fn:
                    fn, sn = fn >> 1, sn >> 1
            else:
                sr = node(sr, c)
            fn, sn = fn >> 1, sn >> 1
        if sn or fr != old.root or sr != self.head.root:
            raise Invalid("other roots, or too few hashes")


class Record:
    def __init__(self, text):
        lines = lines_of(text)
        if lines.pop(0) != "chat-journal/record@v1":
            raise Invalid("not a record")
        words = [line.split(" ", 1)[0] for line in lines]
        parts = []
        for line, word in zip(lines, words):
            parts.append(b"" if line == word else decoded(after(word, line)))
            if line != word and not parts[-1]:
                raise Invalid("a space and no bytes")
        if words == ["kept", "digest"] and len(parts[1]) == 32:
            self.kept, self.digest, self.erasable = parts[0], parts[1], None
        elif words == ["kept", "salt", "erasable"] and len(parts[1]) == 16:
            self.kept, self.digest, self.erasable = parts[0], sha256(parts[1] + parts[2]), parts[2]
        else:
            raise Invalid("other lines than those of a record")

    def leaf(self):
        return leaf_of(self.kept, self.digest)


class Tiles:
    """A directory of C2SP tlog-tiles."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.head = Checkpoint(lines_of((self.directory / "checkpoint").read_bytes().decode()))
        self.known = {}

    def path(self, level, index, width):
        groups = [f"{index % 1000:03}"]
        while index >= 1000:
            index //= 1000
            groups.insert(0, f"x{index % 1000:03}")
        return self.directory / "tile" / str(level) / ("/".join(groups) + ("" if width == 256 else f".p/{width}"))

    def bytes(self, level, index, count):
        """Returns the bytes of a tile with the first `count` items of 256, or with all of them."""
        for width in {count: None, 256: None}:
            path = self.path(level, index, width)
            if path.is_file():
                return path.read_bytes()
        raise Invalid(f"{self.path(level, index, count)} is missing")

    def tile(self, level, index):
        """Returns the hashes of a tile that belong to the tree."""
        count = min(256, (self.head.size >> 8 * level) - 256 * index)
        if (level, index) not in self.known:
            data = self.bytes(level, index, count)
            if len(data) < 32 * count or len(data) % 32:
                raise Invalid(f"{self.path(level, index, count)} has {len(data)} bytes")
            self.known[level, index] = [data[32 * at:32 * at + 32] for at in range(count)]
        return self.known[level, index]

    def hash(self, begin, end):
        """Returns the tree hash of the leaves from `begin` to before `end`, from the tiles."""
        count = end - begin
        if count == 0:
            return sha256(b"")
        height = count.bit_length() - 1
        if count == 1 << height and height % 8 == 0:
            index = begin >> height
            return self.tile(height // 8, index >> 8)[index & 255]
        middle = begin + split(count)
        return node(self.hash(begin, middle), self.hash(middle, end))

    def check(self):
        """Checks all tiles; returns the number of tiles and of entries."""
        if self.hash(0, self.head.size) != self.head.root:
            raise Invalid("the tiles have another root")
        tiles = entries = 0
        for level in range(8):
            count = self.head.size >> 8 * level
            for index in range((count + 255) // 256):
                tiles += 1
                for at, hash in enumerate(self.tile(level, index)):
                    if level and Tree(self.tile(level - 1, 256 * index + at)).hash(0, 256) != hash:
                        raise Invalid(f"hash {at} of tile {index} of level {level} is not that of the tile below")
        if (self.directory / "tile" / "entries").is_dir():
            for index in range((self.head.size + 255) // 256):
                hashes, data = self.tile(0, index), self.bytes("entries", index, min(256, self.head.size - 256 * index))
                for hash in hashes:
                    length = int.from_bytes(data[:2], "big")
                    entry, data = data[2:2 + length], data[2 + length:]
                    if entry[:1] != b"\1" or sha256(b"\0" + entry) != hash:
                        raise Invalid(f"an entry of bundle {index} is not that of its leaf")
                    entries += 1
        return tiles, entries


def verify(proof_text, checkpoint_text, record_text=None):
    """Verifies a proof of either kind against a trusted checkpoint; returns a sentence, or raises Invalid."""
    trusted = Checkpoint(lines_of(checkpoint_text))
    if proof_text.startswith("old "):
        proof = Consistency(proof_text)
        proof.verify(trusted)
        return f"the tree of size {proof.head.size} begins with that of size {proof.old}"
    proof = Inclusion(proof_text)
    if proof.head != trusted:
        raise Invalid("another checkpoint")
    leaf = Record(record_text).leaf() if record_text is not None else proof.extra
    if leaf is None:
        raise Invalid("neither a record nor a leaf")
    proof.verify(leaf)
    return f"the leaf {leaf.hex()} is at position {proof.index + 1} of the tree of size {proof.head.size}"


# -- Evidence ----------------------------------------------------------------------------------------------------------


class Cover:
    """Folds the parts of a pruned tree, from left to right, to its root. Needs memory for one hash a level."""

    def __init__(self, size):
        self.size, self.nodes = size, []
        # What is expected next, last first: the range of a subtree, or None to join two nodes.
        self.steps = [(0, size)] if size else []

    def add(self, begin, end, hash, is_record):
        if not self.steps:
            raise Invalid("a part after the end of the tree")
        low, high = self.steps.pop()
        if begin != low or not begin < end <= high:
            raise Invalid(f"the part after position {low} is missing or is not a subtree")
        while (low, high) != (begin, end):
            middle = low + (1 << (high - low - 1).bit_length() - 1) if high - low > 1 else low
            if end > middle:
                raise Invalid(f"positions {begin + 1} to {end} are no subtree")
            self.steps += [None, (middle, high)]
            high = middle
        self.nodes.append((hash, is_record))
        while self.steps and self.steps[-1] is None:
            self.steps.pop()
            (right, right_shows), (left, left_shows) = self.nodes.pop(), self.nodes.pop()
            if not left_shows and not right_shows:
                raise Invalid("two hashes in the place of one")
            self.nodes.append((node(left, right), True))

    def root(self):
        if self.steps:
            raise Invalid("parts of the tree are missing at the end")
        return self.nodes[0][0]


def word_bytes(word):
    """Returns the bytes of a word of a part: canonical base64, and a hyphen for no bytes."""
    if word == "-":
        return b""
    if not word:
        raise Invalid("an empty word")
    return decoded(word)


class Evidence:
    """The events of one thread, as the lines of a file `evidence` show them."""

    def __init__(self, head):
        self.head, self.cover = head, Cover(head.size)
        self.thread = self.first_number = self.last_number = self.first = self.last = None
        self.withheld = self.registrations = 0
        self.users, self.registered, self.joined, self.readers = set(), set(), {}, {}

    def add(self, text):
        """Adds a line; returns the event's JSON, or None."""
        words = text.split(" ")
        if words[0] == "reader" and len(words) == 3:
            if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", words[1], re.ASCII) or words[1] in self.readers:
                raise Invalid(f"not an id, or twice: {words[1]}")
            self.readers[words[1]] = number_of(words[2])
            return None
        if self.readers:
            raise Invalid("a part after the readers")
        if words[0] == "hash" and len(words) == 4:
            self.cover.add(number_of(words[1]) - 1, number_of(words[2]), hash_of(words[3]), False)
            return None
        if words[0] == "record" and len(words) == 5:
            kept, salt, erasable = map(word_bytes, words[2:])
            if len(salt) != 16 or len(erasable) > read_journal.MAX_ERASABLE:
                raise Invalid("the salt has 16 bytes, and the erasable part at most 1 MiB")
            digest = sha256(salt + erasable)
        elif words[0] == "stub" and len(words) == 4:
            kept, digest, erasable = word_bytes(words[2]), hash_of(words[3]), None
        else:
            raise Invalid("neither a record nor a hash")
        if len(kept) > read_journal.MAX_KEPT:
            raise Invalid("the kept part is too long")
        position = number_of(words[1])
        self.cover.add(position - 1, position, leaf_of(kept, digest), True)
        return self.record(position, kept, erasable)

    def record(self, position, kept, erasable):
        try:
            line, kind, thread, number, _ = read_journal.event(position, kept, erasable, None)
        except ValueError as error:  # also raised for text that is not UTF-8
            raise Invalid(f"position {position} is no event: {error}")
        line = line.removesuffix(',"commitEnd":None}') + "}"
        shown = json.loads(line)
        self.withheld += shown.get("erased", False)
        fields = shown[read_journal.KINDS[kind][0][0]] if kind in read_journal.KINDS else {}
        users = [fields[name] for name in ("author", "user", "by") if name in fields]
        if kind in (1, 2):
            self.registrations += 1
            self.registered |= set(users)
            return line
        if thread is None or number is None:
            raise Invalid(f"position {position} is neither an event with a number in a thread nor a registration")
        number = int(number)
        if self.thread not in (None, thread):
            raise Invalid(f"position {position} is of another thread")
        if number < 1 or self.last_number is not None and number != self.last_number + 1:
            raise Invalid(f"position {position} has the number {number} in the thread, after number {self.last_number}")
        self.thread, self.last, self.last_number = thread, position, number
        self.first, self.first_number = self.first or position, self.first_number or number
        self.users |= set(users)
        if kind == 5:
            self.joined[users[0]] = position
        elif kind in (6, 30):
            self.joined.pop(users[0], None)
        return line

    def verify(self):
        if self.cover.root() != self.head.root:
            raise Invalid("the records and hashes lead to another root than that of the checkpoint")
        if self.thread is None:
            raise Invalid("no record is an event of a thread")
        for user, since in self.joined.items():
            if self.readers.get(user) != since:
                raise Invalid(f"{user} joined at position {since}, and is not among the readers since then")
        for user, since in self.readers.items():
            if not 1 <= since <= self.last:
                raise Invalid(f"the reader {user} since position {since}, which is not up to the last event")
        strangers = self.registered - self.users - set(self.readers)
        if strangers:
            raise Invalid(f"a registration of {min(strangers)}, whom neither an event nor a reader names")

    def report(self):
        start = "they begin with the thread's first event" if self.first_number == 1 else f"nothing is shown before number {self.first_number}"
        proven = sum(self.joined.get(user) == since for user, since in self.readers.items())
        return (f"thread {read_journal.uuid(self.thread)[1:-1]}: events number {self.first_number} to {self.last_number}, none missing, at positions "
                f"{self.first} to {self.last} of the tree of size {self.head.size} of {printable(self.head.origin)}; {start}; "
                f"{self.withheld} records without content; {self.registrations} registrations and changes of usernames; "
                f"{proven} readers proven by their join, {len(self.readers) - proven} stated by the host only")


def printable(text):
    """Returns text from outside without control characters."""
    return json.dumps(text)[1:-1]


def verify_evidence(directory, trusted, body):
    """Verifies the files of a directory; returns the evidence, or raises Invalid with the file and the line."""
    try:
        with open_regular(directory / "checkpoint") as file:
            checkpoint = Checkpoint(lines_of(text_of(file)))
        if checkpoint != trusted:
            raise Invalid("another checkpoint than that of --checkpoint")
    except Invalid as error:
        raise Invalid(f"checkpoint: {error}")
    evidence, count = Evidence(trusted), 0
    limit = (read_journal.MAX_KEPT + read_journal.MAX_ERASABLE) // 3 * 4 + 256
    with open_regular(directory / "evidence") as file:
        try:
            while raw := file.readline(limit + 2):
                count += 1
                if len(raw) > limit + 1 or not raw.endswith(b"\n"):
                    raise Invalid("the line is too long, or has no line feed")
                text = raw[:-1].decode("ascii")
                if count == 1 and text != "chat-journal/evidence@v1":
                    raise Invalid("the title is expected")
                if count > 1 and (line := evidence.add(text)):
                    body(line)
            evidence.verify()
        except (Invalid, UnicodeDecodeError) as error:
            raise Invalid(f"evidence: line {count}: {error}")
    return evidence


def open_regular(path):
    """Opens a file of a directory from outside: a FIFO could wait for ever, and a device have no end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Invalid(f"{path} is not a regular file")
    return open(descriptor, "rb")


def text_of(file):
    raw = file.read((1 << 20) + 1)
    if len(raw) > 1 << 20:
        raise Invalid("the file is too long")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("the file is not UTF-8")


def main_evidence(arguments):
    try:
        with open(arguments.checkpoint, "rb") as file:
            trusted = Checkpoint(lines_of(text_of(file)))
        print(verify_evidence(arguments.directory, trusted, lambda line: None).report())
        if arguments.events:
            # Verified again: an event may be printed only if the whole directory is sound.
            verify_evidence(arguments.directory, trusted, print)
    except (Invalid, OSError) as error:
        print(f"{arguments.directory}: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


def prove_from_tiles(tiles, index, old):
    """Proves an entry, and an earlier size, from the tiles, and prints what is proved."""
    if index is not None:
        if not 0 <= index < tiles.head.size:
            raise Invalid(f"the tree has the indices from 0 to {tiles.head.size - 1}")
        proof = Inclusion.__new__(Inclusion)
        proof.index, proof.head, proof.hashes = index, tiles.head, inclusion_path(index, 0, tiles.head.size, tiles.hash)
        leaf = tiles.hash(index, index + 1)
        proof.verify(leaf)
        print(f"index {index} has the leaf {leaf.hex()}")
    if old is not None:
        if not 0 <= old <= tiles.head.size:
            raise Invalid(f"the tree has the sizes from 0 to {tiles.head.size}")
        earlier = Checkpoint([tiles.head.origin, str(old), base64.b64encode(tiles.hash(0, old)).decode()])
        proof = Consistency.__new__(Consistency)
        proof.old, proof.head, proof.hashes = old, tiles.head, consistency_path(old, 0, tiles.head.size, tiles.hash) if old else []
        proof.verify(earlier)
        print(f"the tree begins with the tree of the checkpoint\n{earlier.text()}", end="")


# -- The comparison with the tool --------------------------------------------------------------------------------------


def flipped(data, rng):
    data = bytearray(data)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def flip(text, rng):
    """Returns a proof's text with one bit of the index, the earlier size, a size or a hash flipped."""
    lines = text.split("\n")
    # The later size of a consistency proof is bound by the later checkpoint alone.
    names = "old " if text.startswith("old ") else "(index )?"
    numbers = [at for at, line in enumerate(lines) if re.fullmatch(names + "[0-9]+", line)]
    hashes = [at for at, line in enumerate(lines) if len(line) == 44 and line.endswith("=")]
    at = rng.choice(numbers + hashes)
    if at in hashes:
        lines[at] = base64.b64encode(flipped(base64.b64decode(lines[at]), rng)).decode()
    else:
        word, _, number = lines[at].rpartition(" ")
        lines[at] = f"{word}{' ' if word else ''}{int(number) ^ 1 << rng.randrange(24)}"
    return "\n".join(lines)


def malformed(text, rng):
    """Returns a text that says the same in another form."""
    lines = text.split("\n")
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    hashes = [at for at, line in enumerate(lines) if len(line) == 44 and line.endswith("=")]
    at = rng.choice(hashes)
    kind = rng.randrange(6)
    if kind == 0:  # the unused bits of the last digit
        lines[at] = lines[at][:42] + digits[digits.index(lines[at][42]) ^ rng.randrange(1, 4)] + "="
    elif kind == 1:
        lines[at] = lines[at].rstrip("=")
    elif kind == 2:
        lines[at] += rng.choice([" ", "\r", "=", "AAAA"])
    elif kind == 3:
        at = next(at for at, line in enumerate(lines) if re.fullmatch(r"[0-9]+", line))
        lines[at] = rng.choice(["0", "+", " "]) + lines[at]
    elif kind == 4:
        return text.rstrip("\n")
    else:
        lines[at] = lines[at][:20] + rng.choice(" \n") + lines[at][20:]
    return "\n".join(lines)


class Tool:
    def __init__(self, path, journal):
        self.path, self.journal, self.calls = path, str(journal), 0

    def run(self, *arguments):
        self.calls += 1
        return subprocess.run([self.path, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def output(self, *arguments):
        ran = self.run(*arguments)
        if ran.returncode:
            sys.exit(f"FAILED: {arguments}: status {ran.returncode}: {ran.stderr}")
        return ran.stdout


def check_tree_file(journal, reader, tree, size, heads):
    """Compares the file `tree` with the records; returns its number of pages, or None if it does not exist."""
    if not (journal / "tree").is_file():
        return None
    data = (journal / "tree").read_bytes()
    header = b"CJTRE\r\n\x1a" + struct.pack("<HBB", 1, 8, 16) + reader.id
    if data[:32] != header + struct.pack("<I", read_journal.crc32c(header)):
        sys.exit("FAILED: the header of the file tree")
    pages = (len(data) - 32) // 8212
    # A close does not wait for pages that are missing at the end.
    if len(data) != 32 + 8212 * pages or pages > size >> 16:
        sys.exit(f"FAILED: the file tree has {len(data)} bytes for {size} records")
    for page in range(pages):
        start = 32 + 8212 * page
        for at in range(256):
            begin = page * 65_536 + at * 256
            if data[start + 32 * at:start + 32 * at + 32] != tree.hash(begin, begin + 256):
                sys.exit(f"FAILED: hash {at} of page {page} of the file tree")
        position, chain, crc = struct.unpack_from("<QQI", data, start + 8192)
        if position < (page + 1) * 65_536 or heads.get(position) != chain:
            sys.exit(f"FAILED: the head of page {page} of the file tree")
        if crc != read_journal.crc32c(data[start - 4:start + 8208]):
            sys.exit(f"FAILED: the CRC of page {page} of the file tree")
    return pages


def compare(journal, arguments, rng, scratch):
    reader = read_journal.Reader(journal)
    leaves, model, heads = [], [], {}
    for _, _, _, kept, erasable, end in reader.records():
        heads[end] = reader.chain
        digest = reader.content if erasable is None else sha256(reader.content)
        leaves.append(leaf_of(kept, digest))
        model.append((kept, erasable))
    tree, size = Tree(leaves), len(leaves)
    text = reader.id.hex()
    origin = "chat-journal/" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
    tool = Tool(arguments.tool, journal)
    pages = check_tree_file(journal, reader, tree, size, heads)

    def head(at):
        return f"{origin}\n{at}\n{base64.b64encode(tree.hash(0, at)).decode()}\n"

    for at in sorted({0, 1, size} | {rng.randrange(size + 1) for _ in range(8)}):
        if tool.output("checkpoint", tool.journal, "--at", at) != head(at):
            sys.exit(f"FAILED: the checkpoint of size {at} is not that of the records")
    if tool.output("checkpoint", tool.journal) != head(size):
        sys.exit("FAILED: the checkpoint is not that of the records")

    # Two runs, of the second half in the second one: a copy is cut there by `backup`.
    half = scratch / "half"
    tool.output("backup", tool.journal, half, "--up-to", size // 2)
    directory = scratch / "tiles"
    for source in (half, tool.journal):
        ran = tool.run("tiles", source, directory, "--entries")
        if ran.returncode or not ran.stderr.startswith("warning: "):
            sys.exit(f"FAILED: tiles: status {ran.returncode}: {ran.stderr}")
    tiles = Tiles(directory)
    count, entries = tiles.check()
    if tiles.head.text() != head(size) or entries != size:
        sys.exit("FAILED: the tiles are not those of the records")

    proofs = []  # (proof, trusted checkpoint, record or None)
    for number in range(arguments.proofs):
        at = rng.randrange(1, size + 1)
        index = rng.randrange(at)
        file = scratch / "record"
        file.unlink(missing_ok=True)
        options = ["--entry", file] + (["--without-content"] if number % 3 == 0 else [])
        proof = tool.output("prove", tool.journal, "--event", index + 1, "--at", at, *options)
        record = file.read_text()
        if Record(record).kept != model[index][0] or number % 3 and Record(record).erasable != model[index][1]:
            sys.exit(f"FAILED: the record of position {index + 1} is another one")
        proofs.append((proof, head(at), record))
        old = rng.choice([1, at, rng.randrange(1, at + 1), rng.randrange(1, at + 1), 1 << rng.randrange(at.bit_length())])
        # A proof from size 0 has no hashes and binds nothing.
        old = 0 if number == 0 else old
        proofs.append((tool.output("prove", tool.journal, "--from", old, "--at", at), head(old), None))
    flips = []
    for proof, checkpoint, record in proofs:
        verify(proof, checkpoint, record)
        if record:
            verify(proof, checkpoint)
            parsed = Inclusion(proof)
            expected = inclusion_path(parsed.index, 0, parsed.head.size, tiles.hash)
        else:
            parsed = Consistency(proof)
            expected = consistency_path(parsed.old, 0, parsed.head.size, tiles.hash) if parsed.old else []
        if parsed.hashes != expected:
            sys.exit(f"FAILED: the tiles give another proof than the tool:\n{proof}")
        if not proof.startswith("old 0\n"):
            flips += [(flip(proof, rng), checkpoint, record) for _ in range(arguments.flips)]
    count_of_flips = len(flips)
    for _ in range(count_of_flips // 4):
        proof, checkpoint, record = rng.choice(proofs)
        flips.append((malformed(proof, rng), checkpoint, record))
    for proof, checkpoint, record in flips:
        try:
            verify(proof, checkpoint, record)
        except Invalid:
            continue
        sys.exit(f"FAILED: a wrong proof was accepted:\n{proof}\nfor\n{checkpoint}")

    def checked(proof, checkpoint, record):
        paths = [scratch / "proof", scratch / "checkpoint", scratch / "record"]
        for path, content in zip(paths, (proof, checkpoint, record or "")):
            path.write_bytes(content.encode())
        return tool.run("check-proof", paths[0], "--checkpoint", paths[1], *(["--event", paths[2]] if record else []))

    for sample, status in ((proofs, 0), (flips, 1)):
        for case in rng.sample(sample, min(len(sample), arguments.sample)):
            ran = checked(*case)
            if ran.returncode != status or (ran.stdout == "") != (status == 1):
                sys.exit(f"FAILED: check-proof ended with status {ran.returncode}: {ran.stderr}\n{case[0]}")
    pages = "no file tree" if pages is None else f"{pages} pages of the file tree"
    print(f"{size:,} records: the checkpoints, {pages} and {count} tiles are those of the records; {len(proofs)} proofs are accepted and "
          f"follow from the tiles; {count_of_flips} with a flipped bit, and {len(flips) - count_of_flips} in another form, are rejected; the "
          f"tool agrees on a sample ({tool.calls} calls)", flush=True)
    return proofs, flips, directory


# -- Go ----------------------------------------------------------------------------------------------------------------


def missing_for_go(path):
    """Returns what is missing for a run of Go with its packages below `path`, or None."""
    if not shutil.which("go"):
        return "Go is missing (Debian: golang-go)"
    if not (path / "src" / "golang.org" / "x" / "mod" / "sumdb" / "note").is_dir():
        return f"golang.org/x/mod is missing in {path} (Debian: golang-golang-x-mod-dev)"
    return None


def compare_with_go(path, proofs, flips, tiles, scratch):
    reason = missing_for_go(path)
    if reason:
        print(f"SKIPPED: the comparison with Go's sumdb: {reason}")
        return
    cases = []
    for accept, sample in ((True, proofs), (False, flips)):
        for proof, checkpoint, record in sample:
            try:
                parsed = Consistency(proof) if proof.startswith("old ") else Inclusion(proof)
            except Invalid:
                continue  # another form: Go's packages have no parser of proofs
            case = {"accept": accept, "checkpoint": checkpoint, "later": parsed.head.text(),
                    "hashes": [base64.b64encode(hash).decode() for hash in parsed.hashes]}
            if isinstance(parsed, Inclusion):
                case |= {"index": parsed.index, "leaf": base64.b64encode(Record(record).leaf()).decode()}
            elif 0 in (parsed.old, Checkpoint(lines_of(checkpoint)).size):
                continue  # Go's CheckTree has no proof from size 0
            else:
                case |= {"old": parsed.old}
            cases.append(case)
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": str(path), "GOCACHE": str(scratch / "go-cache"), "GOFLAGS": "",
                                "CGO_ENABLED": "0"}
    program = pathlib.Path(__file__).with_name("verify_proof.go")
    ran = subprocess.run(["go", "run", str(program), str(tiles)], input=json.dumps(cases), env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if ran.returncode:
        sys.exit(f"FAILED: Go disagrees: {ran.stdout}{ran.stderr}")
    print(ran.stdout, end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("proof", help="verify one proof")
    one.add_argument("proof", type=pathlib.Path)
    one.add_argument("--checkpoint", type=pathlib.Path, required=True)
    one.add_argument("--record", type=pathlib.Path)
    thread = commands.add_parser("evidence", help="verify the evidence of a thread")
    thread.add_argument("directory", type=pathlib.Path)
    thread.add_argument("--checkpoint", type=pathlib.Path, required=True)
    thread.add_argument("--events", action="store_true", help="also print the events")
    tiles = commands.add_parser("tiles", help="check a directory of tiles")
    tiles.add_argument("directory", type=pathlib.Path)
    tiles.add_argument("--index", type=int, help="prove that the entry with this index, from 0, is in the tree")
    tiles.add_argument("--old", type=int, help="print the root of this earlier size, and prove that the tree begins with it")
    all_ = commands.add_parser("journal", help="compare the tool with the records of journals")
    all_.add_argument("journal", type=pathlib.Path, nargs="+")
    all_.add_argument("--tool", required=True)
    all_.add_argument("--proofs", type=int, default=40)
    all_.add_argument("--flips", type=int, default=25, help="the number of flips of each proof")
    all_.add_argument("--sample", type=int, default=40, help="the number of proofs and flips that the tool checks")
    all_.add_argument("--seed", type=int)
    all_.add_argument("--gopath", type=pathlib.Path, default="/usr/share/gocode", help="the directory with src/golang.org/x/mod")
    all_.add_argument("--scratch", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "evidence":
        return main_evidence(arguments)
    if arguments.command == "proof":
        try:
            record = arguments.record.read_bytes().decode() if arguments.record else None
            print(verify(arguments.proof.read_bytes().decode(), arguments.checkpoint.read_bytes().decode(), record))
        except (Invalid, UnicodeDecodeError) as error:
            print(f"{arguments.proof}: {error}", file=sys.stderr)
            return 1
        return 0
    if arguments.command == "tiles":
        try:
            tiles = Tiles(arguments.directory)
            count, entries = tiles.check()
            print(f"{count} tiles have the root of the checkpoint of size {tiles.head.size}; {entries} entries have its leaves")
            prove_from_tiles(tiles, arguments.index, arguments.old)
        except (Invalid, OSError, UnicodeDecodeError) as error:
            print(f"{arguments.directory}: {error}", file=sys.stderr)
            return 1
        return 0
    seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
    print(f"proofs: seed {seed}", flush=True)
    rng = random.Random(seed)
    for journal in arguments.journal:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            proofs, flips, tiles = compare(journal, arguments, rng, pathlib.Path(scratch))
            compare_with_go(arguments.gopath, proofs, flips, tiles, pathlib.Path(scratch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
