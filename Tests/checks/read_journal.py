#!/usr/bin/env python3
"""Reads a journal with a reader that was written from the pages about its bytes alone, not from the code.

    read_journal.py JOURNAL                                     prints the events, as `chat-journal export` does
    read_journal.py JOURNAL --tool PATH [--damage N] [--seed S] [--scratch DIR]

With `--tool` it prints no events, but compares them with those of `export`, byte for byte. With `--damage` it then
damages N copies of a journal that was closed normally, each at one place, and checks that it and the tool find the damage.

The reader follows Sources/EventJournal/EventJournal.docc/Format.md for the files, and
Sources/ChatDomain/ChatDomain.docc/EventEncoding.md for the events. The JSON form comes from the output of the tool: the
order and names of fields, `imported`, `unknown`, the meaning of erased in the thread of an outward code and in an unknown
kind, years of more than four digits, and the escaped characters. There an agreement only shows that the output has not
changed. The conditions of a valid slot besides its CRC were compared with the tool as well.

The reader checks slots, headers, offsets, lengths, every CRC, the chain, every text, the numbers of events within a
thread, and the order of times. The first fault ends it with exit status 1 and is reported with file, byte and position;
the commits before it are already printed. A torn end, and one invalid slot of `durable`, are not faults, as the format
defines; they are reported on standard error. Memory is bounded by one commit and the number of threads, not by the length
of the journal.
"""

import argparse
import array
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

MAX_COMMIT, MAX_KEPT, MAX_ERASABLE, SECTOR = 67_108_864, 65_000, 1_048_576, 512
M64 = 2**64 - 1


class Fault(Exception):
    """A fault and its place: the file, the byte in it, and the position of the record (None if there is no record)."""

    def __init__(self, file, byte, position, text):
        super().__init__(f"{file}: byte {byte}: position {'none' if position is None else position}: {text}")
        self.file, self.byte, self.position, self.text = file, byte, position, text


def make_tables():
    """Returns the CRC's tables for one byte and for two bytes; the second one halves the number of slow Python steps."""
    one = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)  # 0x1EDC6F41 reflected
        one.append(value)
    two = []
    for word in range(65536):
        crc = one[word & 255] ^ (word >> 8)
        two.append(one[crc & 255] ^ (crc >> 8))
    return one, two


TABLE_OF_ONE, TABLE = make_tables()


def crc32c(data):
    crc, even = 0xFFFFFFFF, len(data) & ~1
    words = array.array("H", bytes(data[:even]))
    if sys.byteorder == "big":
        words.byteswap()
    table = TABLE
    for word in words:
        crc = table[(crc ^ word) & 0xFFFF] ^ (crc >> 16)
    if even != len(data):
        crc = TABLE_OF_ONE[(crc ^ data[even]) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def step(chain, value):
    product = ((chain ^ value) * 0x9E3779B97F4A7C15) & M64
    return product ^ (product >> 32)




def number(data, at, end):
    """Returns a LEB128 number of at most 64 bits in its shortest form, and the offset after it; otherwise ValueError."""
    value = shift = 0
    while True:
        if at >= end:
            raise ValueError("ends inside a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 10 bytes")
    if value > M64:
        raise ValueError("a number of more than 64 bits")
    if byte == 0 and shift:
        raise ValueError("a number not in its shortest form")
    return value, at


# -- The file `durable` ------------------------------------------------------------------------------------------------


class Slot:
    def __init__(self, raw):
        self.sequence, self.position, self.chain, self.id, self.durability, self.closed = struct.unpack("<QQQ16sBB", raw[:42])


def read_slots(directory):
    """Returns the valid slots, the newer one first."""
    try:
        data = (directory / "durable").open("rb").read(1025)
    except OSError as error:
        raise Fault("durable", 0, None, error.strerror)
    slots = []
    for place in (0, 512):
        raw = data[place:place + 64]
        if len(raw) < 64 or crc32c(raw[:60]) != struct.unpack_from("<I", raw, 60)[0]:
            continue
        version, = struct.unpack_from("<H", raw, 42)
        if version > 2:
            raise Fault("durable", place + 42, None, f"a slot of format version {version}")
        slot = Slot(raw)
        if version in (1, 2) and slot.sequence % 2 == (place == 512) and slot.durability < 2 and slot.closed < 2 and not any(raw[44:60]):
            slots.append(slot)
    if not slots:
        raise Fault("durable", 0, None, "no slot is valid")
    if any(slot.id != slots[0].id for slot in slots):
        raise Fault("durable", 512 + 24, None, "the slots are of two journals")
    return sorted(slots, key=lambda slot: -slot.sequence)


def has_writer(directory):
    """Returns whether a writer holds the lock; does not acquire it if the system supports a query."""
    try:
        descriptor = os.open(directory / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False  # a copy without it
    try:
        if hasattr(fcntl, "F_OFD_GETLK"):
            asked = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
            return struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, asked))[0] != fcntl.F_UNLCK
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
    finally:
        os.close(descriptor)


# -- Segments and commits ----------------------------------------------------------------------------------------------


class Reader:
    """Reads a journal's commits. After the last of `records`, `last` and `chain` are those of the journal's end.

    `content` is that of the last record: its salt and erasable part, or the digest of a stub."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.slots = read_slots(self.directory)
        self.live = has_writer(self.directory)
        self.id = self.slots[0].id
        self.last, self.chain, self.notes = 0, 0, []
        if len(self.slots) == 1:
            self.notes.append("durable: one of the slots is not valid")
        for half in struct.unpack(">QQ", self.id):
            self.chain = step(self.chain, half)
        self.promised = {slot.position: slot for slot in self.slots}

    def fault(self, byte, position, text):
        return Fault(self.name, byte, position, text)

    def read(self, byte, count):
        """Returns `count` bytes; fewer only at the end of the file."""
        parts = []
        while count > 0 and (part := os.pread(self.file, count, byte)):
            parts.append(part)
            byte, count = byte + len(part), count - len(part)
        return b"".join(parts)

    def records(self):
        """Yields (position, segment, byte, kept part, erasable part or None for a stub, last position of the commit).

        The records of a commit follow after the whole commit is checked."""
        # `durable` was read before the listing, so that no segment created later is missed.
        self.name = "durable"
        self.check_promise(0, 0)
        names = sorted(name for name in os.listdir(self.directory) if re.fullmatch(r"[0-9]{20}\.segment", name))
        if not names:
            raise Fault(str(self.directory), 0, 1, "no segment exists")
        for index, self.name in enumerate(names):
            if self.live and self.slots[0].durability == 0 and self.last >= self.slots[0].position:
                break
            self.file = os.open(self.directory / self.name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                yield from self.segment(is_last=index == len(names) - 1)
            finally:
                os.close(self.file)
        for slot in self.slots:
            if self.last < slot.position:
                text = f"the journal ends after position {self.last}, and was synced up to {slot.position}"
                raise self.fault(self.end, self.last + 1, text)

    def check_promise(self, position, byte):
        slot = self.promised.get(position)
        if slot and slot.chain != self.chain:
            raise self.fault(byte, position, f"the chain value is {self.chain:016x}, a slot of durable says {slot.chain:016x}")

    def header(self):
        raw, first = self.read(0, 128), self.last + 1
        if raw[:8] != b"CJSEG\r\n\x1a":
            raise self.fault(0, first, "not a segment")
        if len(raw) < 128:
            raise self.fault(len(raw), first, "the file ends inside its header")
        if crc32c(raw[:124]) != struct.unpack_from("<I", raw, 124)[0]:
            raise self.fault(124, first, "the header's CRC is wrong")
        version, reserved, identifier, _, position, chain, synced, salt, rest = struct.unpack_from("<HH16sIQQQ8s60s", raw, 8)
        if version != 1:
            raise self.fault(8, first, f"format version {version}")
        for byte, what, good in (
                (10, "reserved bytes are not zero", reserved == 0), (12, "the id of another journal", identifier == self.id),
                (32, f"the first position is {position}, {first} is next", position == first),
                (0, "the name is not the first position", int(self.name[:20]) == position),
                (40, "the chain value before it is wrong", chain == self.chain),
                (48, f"the synced position is {synced}", synced == position - 1), (64, "reserved bytes are not zero", not any(rest))):
            if not good:
                raise self.fault(byte, first, what)
        return salt

    def segment(self, is_last):
        salt = self.header()
        self.end = 128
        entries = []  # the expected entries of the footer
        while True:
            if self.live and self.slots[0].durability == 0 and self.last >= self.slots[0].position:
                return
            head = self.read(self.end, 40)
            if len(head) == 0 or head[:4] == bytes(4)[:len(head)]:
                if not is_last:
                    raise self.fault(self.end, self.last + 1, "a segment without a footer is followed by another")
                break
            try:
                if self.footer(head, salt, entries, is_last):
                    return
                found = self.commit(head, salt)
            except Fault as fault:
                if not is_last:
                    raise
                if self.live:
                    return  # a commit being written, under `written` only; `records` checks the slots
                self.judge_tail(salt, fault)
                return
            boundaries = [(found[0][0], self.end, 0)] + [(record[0], record[1], len(found) - at) for at, record in enumerate(found)]
            for position, byte, left in boundaries:
                if not entries or byte - entries[-1][1] >= 4096:
                    entries.append((position - int(self.name[:20]), byte, left))
            for position, byte, kept, erasable, original, self.content in found:
                self.chain, self.last = step(self.chain, original), position
                self.check_promise(position, byte)
                yield position, self.name, byte, kept, erasable, found[-1][0]
            self.end += struct.unpack_from("<I", head)[0]
        if self.live and is_last:
            return
        position = self.end
        while part := self.read(position, 1 << 20):
            if any(part):
                byte = position + len(part) - len(part.lstrip(b"\0"))
                fault = self.fault(byte, self.last + 1, "a byte that is not zero after the last commit")
                if not is_last:
                    raise fault
                self.judge_tail(salt, fault)
                return
            position += len(part)

    def footer(self, head, salt, entries, is_last):
        """Returns whether the segment's footer is at `end`; it must be valid, but may be torn in the last segment."""
        first = self.last + 1
        if len(head) < 40 or head[4:8] != bytes(4) or crc32c(salt + head[:36]) != struct.unpack_from("<I", head, 36)[0]:
            return False
        length, _, position, synced, chain, sums, _ = struct.unpack("<IIQQQII", head)
        if (position, synced, chain) != (first, self.last, self.chain):
            raise self.fault(self.end, first, f"the footer says {synced} and {chain:016x}")
        size = os.fstat(self.file).st_size
        beyond = self.end + length
        while part := self.read(beyond, 1 << 20):
            if any(part):
                raise self.fault(beyond, first, "a byte that is not zero after the footer")
            beyond += len(part)
        if is_last:
            return True
        data = self.read(self.end + 40, max(0, length - 40))
        if size != self.end + length:
            raise self.fault(size, self.last, "the segment does not end with its footer")
        if crc32c(data) != sums:
            raise self.fault(self.end + 32, self.last, "the CRC of the footer's entries is wrong")
        if data != b"".join(struct.pack("<III", *entry) for entry in entries) + struct.pack("<I", length):
            raise self.fault(self.end + 40, self.last, "the footer's entries are not those of the records")
        return True

    def commit(self, head, salt):
        """Returns the checked records of the commit at `end`, with their original CRCs."""
        first, start = self.last + 1, self.end
        if len(head) < 40:
            raise self.fault(start, first, "the file ends inside a commit's header")
        length, count, position, synced, chain, sums, framing = struct.unpack("<IIQQQII", head)
        if crc32c(salt + head[:36]) != framing:
            raise self.fault(start + 36, first, "the commit's framing CRC is wrong")
        if not 40 < length <= MAX_COMMIT:
            raise self.fault(start, first, f"a commit of {length} bytes")
        if count == 0:
            raise self.fault(start + 4, first, "a commit without records")
        if position != first:
            raise self.fault(start + 8, first, f"the commit's first position is {position}")
        if synced >= position:
            raise self.fault(start + 16, first, f"the commit says that {synced} was synced before it")
        data = self.read(start, length)
        if len(data) < length:
            raise self.fault(start, first, f"the file ends at {start + len(data)}, inside a commit of {length} bytes")
        at, found, stored, expected = 40, [], bytearray(), self.chain
        for position in range(first, first + count):
            begin = at
            try:
                if length - at < 6:
                    raise ValueError("the commit ends before its last record")
                crc, = struct.unpack_from("<I", data, at)
                kept_count, at = number(data, at + 4, length)
                tag, at = number(data, at, length)
                erasable_count, state = tag >> 2, tag & 3
                if kept_count > MAX_KEPT or erasable_count > MAX_ERASABLE or state and erasable_count:
                    raise ValueError(f"a record of {kept_count} and {erasable_count} bytes, state {state}")
                body = at + kept_count
                at = body + (36 if state else 16 + erasable_count)
                if at > length:
                    raise ValueError("a record that extends beyond its commit")
            except ValueError as error:
                raise self.fault(start + begin, position, str(error))
            if crc32c(data[begin + 4:at]) != crc:
                raise self.fault(start + begin, position, "the record's CRC is wrong")
            stored += data[begin:begin + 4]
            original = struct.unpack_from("<I", data, body + 32)[0] if state else crc
            expected = step(expected, original)
            erasable = None if state else data[body + 16:at]
            content = data[body:body + 32] if state else data[body:at]
            found.append((position, start + begin, data[body - kept_count:body], erasable, original, content))
        if at != length:
            raise self.fault(start + at, first + count - 1, f"{length - at} bytes of the commit belong to no record")
        if crc32c(stored) != sums:
            raise self.fault(start + 32, first, "the CRC over the records' CRCs is wrong")
        if expected != chain:
            raise self.fault(start + 24, first + count - 1, f"the chain value is {expected:016x}, the commit says {chain:016x}")
        return found

    def judge_tail(self, salt, fault):
        """Raises `fault` unless a power failure explains the bytes after `end` (see Format.md on recovery)."""
        size = os.fstat(self.file).st_size
        highest = max([slot.position for slot in self.slots] + [self.attested(salt, size)])
        if self.last < highest:
            raise self.fault(fault.byte, fault.position, f"{fault.text}; and position {highest} was synced")
        head = self.read(self.end, 40)
        covered = 40
        if len(head) == 40 and crc32c(salt + head[:36]) == struct.unpack_from("<I", head, 36)[0]:
            covered = max(40, min(struct.unpack_from("<I", head)[0], MAX_COMMIT))
        if self.end + covered > size:
            torn = True  # the file ends inside the commit
        else:
            begins = [self.end, *range((self.end // SECTOR + 1) * SECTOR, self.end + covered, SECTOR)]
            torn = any(not any(self.read(begin, SECTOR - begin % SECTOR)) for begin in begins)
        if not torn:
            raise fault
        self.notes.append(f"{self.name}: the {size - self.end} bytes from {self.end} on are of a torn commit, after position {self.last}")

    def attested(self, salt, size):
        """Returns the highest synced position in a commit header after `end`; every header with a valid CRC counts."""
        highest, begin = 0, self.end
        while begin < size:
            window = self.read(begin, (1 << 20) + 39)
            at = 0
            while at + 40 <= len(window) and at < 1 << 20:
                nonzero = re.compile(rb"[^\0]").search(window, at)
                if nonzero is None:
                    break
                at = max(at, nonzero.start() - 3)  # a length is not 0
                if at + 40 > len(window):
                    break
                length, count, position, synced = struct.unpack_from("<IIQQ", window, at)
                if 40 < length <= MAX_COMMIT and 0 < count < length and synced < position and synced > highest:
                    if crc32c(salt + window[at:at + 36]) == struct.unpack_from("<I", window, at + 36)[0]:
                        highest = synced
                at += 1
            begin += 1 << 20
        return highest


# -- Events ------------------------------------------------------------------------------------------------------------

# kind: name; fields of the kept part; content; fields of the JSON form in their order
KINDS = {kind: tuple(part.strip().split(" ") if part.strip() else [] for part in row.split("|")) for kind, row in {
    1: "userRegistered | user | username foldKey subject | user username foldKey subject",
    2: "usernameChanged | user | username foldKey | user username foldKey",
    3: "postcodeSet | user thread | postcode | user postcode thread",
    4: "threadOpened | thread by number | name | thread number name by",
    5: "threadJoined | thread user number | | thread number user",
    6: "threadLeft | thread user number | | thread number user",
    7: "messagePosted | thread message author number mentions | body | thread number message author body mentions",
    8: "replyPosted | thread message reply author number mentions | body | thread number message reply author body mentions",
    9: "messageEdited | thread message by number edit mentions | body | thread number message edit by body mentions",
    10: "replyEdited | thread message reply by number edit mentions | body | thread number message reply edit by body mentions",
    11: "messageRetracted | thread message by number | | thread number message by",
    12: "replyRetracted | thread message reply by number | | thread number message reply by",
    13: "threadRead | user thread upTo | | user thread upTo",
    14: "sessionStarted | user session | device | user session device",
    15: "sessionEnded | user session | | user session",
    16: "lost | | | ",
    17: "threadPolicySet | thread by number policy history | | thread number policy history by",
    18: "userInvited | thread user by number | | thread number user by",
    19: "invitationDeclined | thread user number | | thread number user",
    20: "invitationRevoked | thread user by number | | thread number user by",
    21: "roleSet | thread user by number role | | thread number user role by",
    22: "operatorGranted | user | | user",
    23: "operatorRevoked | user | | user",
    24: "messageRemoved | thread message by number | reason | thread number message by reason",
    25: "replyRemoved | thread message reply by number | reason | thread number message reply by reason",
    26: "userMuted | thread user by number until | reason | thread number user by reason until",
    27: "userUnmuted | thread user by number | | thread number user by",
    28: "userBanned | thread user by number until | reason | thread number user by reason until",
    29: "userUnbanned | thread user by number | | thread number user by",
    30: "memberRemoved | thread user by number | reason | thread number user by reason",
    31: "messagePinned | thread message by number | | thread number message by",
    32: "messageUnpinned | thread message by number | | thread number message by",
    33: "threadLocked | thread by number | | thread number by",
    34: "threadUnlocked | thread by number | | thread number by",
    35: "threadClosed | thread by number | | thread number by",
    36: "messageReported | thread message by | reason | thread message by reason",
    37: "replyReported | thread message reply by | reason | thread message reply by reason",
    38: "messageReportsResolved | thread message by | | thread message by",
    39: "replyReportsResolved | thread message reply by | | thread message reply by",
    40: "userBlocked | by user | | user by",
    41: "userUnblocked | by user | | user by",
    42: "custom | thread id by number kind | payload | thread number id kind by payload",
    43: "userErased | user reason | | user reason",
    44: "contentErased | reason ranges | | ranges reason",
    45: "clockCorrected | | | ",
    46: "reactionAdded | thread message reply by number | emoji | thread number message reply by emoji",
    47: "reactionRemoved | thread message reply by number | emoji | thread number message reply by emoji",
    48: "threadMarkedUnread | user thread upTo | | user thread upTo",
    49: "notificationsSet | user thread level until | | user thread level until",
    50: "inboxRead | user upTo | | user upTo",
    51: "threadRenamed | thread by number | name | thread number name by",
    52: "profileSet | user | about | user about",
    53: "directOpened | thread by number people | | thread number people by",
    54: "historyRepaired | from | | from",
}.items()}

LOST, CLOCK_CORRECTED = 16, 45
# The kinds whose byte can have the highest bit set: the kept part then ends with the id of the command.
ONCE = {2, 3, 5, 6, 11, 12, *range(17, 42), 49, 51, 52}
# The kinds that are about a message or, with the flag 32, about a reply.
OF_MESSAGE_OR_REPLY = (46, 47)

# The names of the numbers of a field; `until` is a time, and 0 for none.
NAMES = {"policy": ["open", "inviteOnly", "residents", "listed"], "history": ["all", "sinceJoining"], "role": [None, "member", "moderator", "owner"],
         "level": ["all", "mentions", "none"]}

OUTWARD = re.compile(
    r"(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}|[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY])")
INWARD = re.compile(r"[0-9][ABD-HJLNP-UW-Z]{2}")
DISTRICT_THREAD = bytes.fromhex("00008000806F757477617264")

# The scalars that `export` escapes in addition to json.dumps: categories Cc, Cf, Zl and Zp of Unicode 15, from its output.
# A list instead of unicodedata, because the categories depend on the version of Python.
INVISIBLE = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]")


def quoted(text):
    if text is None:
        return "null"
    return INVISIBLE.sub(lambda found: json.dumps(found.group())[1:-1], json.dumps(text, ensure_ascii=False))


def timestamp(milliseconds):
    """Formats a number of 64 bits by RFC 3339 with three digits, in the proleptic Gregorian calendar."""
    days, rest = divmod(milliseconds, 86_400_000)
    era, day = divmod(days + 719_468, 146_097)  # eras of 400 years that begin on a 1st of March
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    month += 3 if month < 10 else -9
    year += 400 * era + (month <= 2)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return (f"{sign}{abs(year):04}-{month:02}-{day:02}T{rest // 3_600_000:02}:{rest // 60_000 % 60:02}:{rest // 1000 % 60:02}"
            f".{rest % 1000:03}Z")


def uuid(raw):
    digits = raw.hex()
    return f'"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"'


def counted(data, at, end):
    length, at = number(data, at, end)
    if length > end - at:
        raise ValueError("ends inside a counted text")
    return data[at:at + length].decode("utf-8"), at + length


def positions(data, at):
    """Returns ranges of positions, as (first, last), and the offset after them."""
    count, at = number(data, at, len(data))
    ranges, end = [], 0
    for _ in range(count):
        gap, at = number(data, at, len(data))
        length, at = number(data, at, len(data))
        if gap == 0 and ranges or end + gap + 1 + length >= 1 << 63:
            raise ValueError("the ranges of positions touch or are too great")
        ranges.append((end + gap + 1, end + gap + 1 + length))
        end = ranges[-1][1]
    if not ranges:
        raise ValueError("no position")
    return ranges, at


def users(data, at):
    """Returns the ids of the mentioned users or of the people of a direct thread, and the offset after them."""
    count, at = number(data, at, len(data))
    if not 1 <= count <= (len(data) - at) // 16:
        raise ValueError(f"the kept part has no {count} users")
    return [uuid(data[start:start + 16]) for start in range(at, at + 16 * count, 16)], at + 16 * count


def content(names, data, at, end):
    """Returns the fields of the erasable part by name. Bytes after the known fields belong to a later version."""
    if names == ["postcode"]:
        raw = data[at:at + 8][::-1]
        outward, inward = raw[:4].rstrip(b"\0").decode("latin-1"), raw[4:7].decode("latin-1")
        if at + 8 > end or raw[7] or not OUTWARD.fullmatch(outward) or not INWARD.fullmatch(inward):
            raise ValueError("not a postcode")
        return {"postcode": f"{outward} {inward}"}
    if len(names) == 1:
        return {names[0]: data[at:end].decode("utf-8")}
    fields = {}
    for name in names:
        fields[name], at = counted(data, at, end)
    if "subject" in fields:
        fields["subject"] = fields["subject"] or None
    return fields


def event(position, kept, erasable, commit_end):
    """Returns (line, kind, thread, number, recordedAt) of an event; ValueError for invalid bytes."""
    if len(kept) < 8 or kept[0] == 0:
        raise ValueError("the kept part is not that of an event")
    kind, flags, recorded, at = kept[0], kept[1], int.from_bytes(kept[2:8], "little"), 8
    has_once = kind > 127 and kind & 127 in ONCE
    kind = kind & 127 if has_once else kind
    parts = [f'{{"position":{position},"recordedAt":"{timestamp(recorded)}"']
    if flags & 2:
        if len(kept) < 16:
            raise ValueError("the kept part ends inside sentAt")
        parts.append(f'"sentAt":"{timestamp(int.from_bytes(kept[8:16], "little", signed=True))}"')
        at = 16
    if flags & 3:  # sentAt is only set by an import
        parts.append('"imported":true')
    begin, end = 0, None
    if erasable is not None:
        end = len(erasable)
        if flags & 4:
            correlation, begin = counted(erasable, 0, end)
            parts.append(f'"correlation":{quoted(correlation)}')
    place_of_once = len(parts)
    if kind not in KINDS:
        if erasable is None:
            parts.append('"erased":true')
        rest = "null" if erasable is None else f'"{erasable.hex()}"'
        parts.append(f'"unknown":{{"kind":{kind},"kept":"{kept.hex()}","erasable":{rest}}}')
        return ",".join(parts) + f',"commitEnd":{commit_end}}}', kind, None, None, recorded
    (name,), kept_names, content_names, shown = KINDS[kind]
    values, thread, place = {}, None, None
    for field in kept_names:
        if field in ("number", "upTo", "from"):
            place, at = number(kept, at, len(kept))
            values[field] = str(place)
        elif field in NAMES:
            value, at = number(kept, at, len(kept))
            if value >= len(NAMES[field]) or NAMES[field][value] is None:
                raise ValueError(f"no {field} has the number {value}")
            values[field] = quoted(NAMES[field][value])
        elif field == "until":
            value, at = number(kept, at, len(kept))
            if value >= 1 << 48:
                raise ValueError("the end of the sanction is out of range")
            values[field] = f'"{timestamp(value)}"' if value else "null"
        elif field in ("kind", "reason"):
            text, at = counted(kept, at, len(kept))
            values[field] = quoted(text)
        elif field == "ranges":
            ranges, at = positions(kept, at)
            values[field] = "[" + ",".join(f"[{first},{last}]" for first, last in ranges) + "]"
        elif field == "edit" and not flags & 16:
            pass  # an edit of an earlier version has no id
        elif field == "reply" and kind in OF_MESSAGE_OR_REPLY and not flags & 32:
            pass  # it is about a message
        elif field in ("mentions", "people"):
            if flags & 64:
                found, at = users(kept, at)
                values[field] = "[" + ",".join(found) + "]"
        else:
            if at + 16 > len(kept):
                raise ValueError(f"the kept part ends inside {field}")
            values[field] = uuid(kept[at:at + 16])
            if field == "thread":
                thread = kept[at:at + 16]
            at += 16
    if has_once:
        if at + 16 > len(kept):
            raise ValueError("the kept part ends inside the id of the command")
        parts.insert(place_of_once, f'"once":{uuid(kept[at:at + 16])}')
    district = None
    if name == "threadOpened" and thread[4:] == DISTRICT_THREAD:
        code = thread[:4].rstrip(b"\0").decode("latin-1")
        district = code if OUTWARD.fullmatch(code) else None
    if district:
        texts, lost = {"name": district}, flags & 4
    elif erasable is None:
        # The order of an erasure is complete without its erasable part.
        texts, lost = {}, name not in ("userErased", "contentErased") and (content_names or flags & 4)
    else:
        if flags & 8 and content_names:
            later = int.from_bytes(erasable[-4:], "little") if end - begin >= 4 else end
            end -= 4 + later
            if end < begin:
                raise ValueError("the fields of a later version overlap earlier fields")
        texts, lost = content(content_names, erasable, begin, end) if content_names else {}, False
    if erasable is None and lost:
        parts.append('"erased":true')
    for field in content_names:
        values[field] = texts.get(field) or "null" if field == "payload" else quoted(texts.get(field))
    parts.append(f'"{name}":{{' + ",".join(f'"{field}":{values[field]}' for field in shown if field in values) + "}")
    return ",".join(parts) + f',"commitEnd":{commit_end}}}', kind, thread, place if "number" in values else None, recorded


def lines(reader):
    """Yields the lines of all events in order, and checks the rules that an audit of the events alone can check."""
    numbers, latest, previous, knows_all = {}, 0, None, True
    for position, segment, byte, kept, erasable, commit_end in reader.records():
        try:
            line, kind, thread, place, recorded = event(position, kept, erasable, commit_end)
            # A correction of the clock begins a run of times; a lost event may have been one.
            if recorded < latest and kind != CLOCK_CORRECTED and previous != LOST:
                raise ValueError(f"it was recorded {latest - recorded} ms before the previous event")
            knows_all = knows_all and kind in KINDS  # an event of an unknown kind may have a number in any thread
            if place is not None and knows_all and place != numbers.get(thread, 0) + 1:
                raise ValueError(f"its number in the thread is {place}, not {numbers.get(thread, 0) + 1}")
        except ValueError as error:  # also raised for text that is not UTF-8
            raise Fault(segment, byte, position, f"the event is wrong: {error}")
        latest, previous = recorded, kind
        if place is not None:
            numbers[thread] = place
        yield line.encode("utf-8") + b"\n"


# -- The program -------------------------------------------------------------------------------------------------------


def compare(reader, tool):
    """Compares all events with those of `export`; returns their number. SystemExit names the first difference."""
    exported, count = subprocess.Popen([tool, "export", str(reader.directory)], stdout=subprocess.PIPE), 0
    try:
        for count, line in enumerate(lines(reader), 1):
            other = exported.stdout.readline()
            if line != other:
                sys.exit(f"FAILED: event {count}:\n  read     {line[:2000]!r}\n  exported {other[:2000]!r}")
        if other := exported.stdout.readline():
            sys.exit(f"FAILED: `export` continues after the last event: {other[:2000]!r}")
        if status := exported.wait():
            sys.exit(f"FAILED: export ended with status {status}")
        return count
    finally:
        exported.kill()
        exported.communicate()


def commits_of(segment):
    """Returns the commits of a valid segment: (first byte, byte after the last, first position, last position)."""
    data, at, found = segment.read_bytes(), 128, []
    while at + 40 <= len(data) and (length := struct.unpack_from("<I", data, at)[0]):
        count, first = struct.unpack_from("<IQ", data, at + 4)
        found.append((at, at + length, first, first + count - 1))
        at += length
    return found


KINDS_OF_DAMAGE = ["bit", "forged", "cut", "slot"]


def damage(kind, copy, segments, rng):
    """Returns the file of the copy to damage, the byte, and the damaged contents.

    Forged damage corrects the checksums, and therefore hits only fields that another check covers: not the generation,
    the synced position, the salt or reserved bytes."""
    path, commits = rng.choice(segments)
    byte = rng.randrange(commits[-1][1] if rng.random() < 0.8 else 128)
    if kind == "slot":
        path, byte = copy / "durable", rng.choice([0, 512]) + rng.randrange(64)
    elif kind == "forged":
        begin = rng.choice(commits)[0] if rng.random() < 0.7 else 0
        byte = begin + rng.choice([*range(16), *range(24, 36)] if begin else [*range(10), *range(12, 28), *range(32, 56)])
    elif kind == "cut":
        if rng.random() < 0.3:
            path, commits = segments[-1]
            byte = rng.choice(commits)[0]  # no partial commit: only an attested position reveals the cut
        begin = max((commit[0] for commit in commits if commit[0] <= byte), default=None)
        if begin is not None and path != segments[-1][0]:
            byte = max(byte, begin + 4)  # otherwise the damage appears in the next segment
    data = bytearray(path.read_bytes())
    if kind == "cut":
        return path, byte, data[:byte]
    data[byte] ^= 1 << rng.randrange(8)
    if kind == "forged" and begin:
        struct.pack_into("<I", data, begin + 36, crc32c(data[56:64] + data[begin:begin + 36]))
    elif kind == "forged":
        struct.pack_into("<I", data, 124, crc32c(data[:124]))
    return path, byte, data


def try_damage(journal, tool, copy, rng):
    """Damages a copy at one place and checks the results; returns the kind of damage.

    The damage is a flipped bit before the end of a segment, with or without a corrected CRC, or a cut there. The reader
    must find it in the damaged commit (damage of the header: at the first position), after exactly the events before it.
    The tool must export no event; for a sealed segment, which opening does not read, it may export the events before the
    damage, and `verify` must find it. A flipped bit of a slot must have no effect, because the other slot is valid."""
    shutil.copytree(journal, copy)
    segments = [(path, commits) for path in sorted(copy.glob("*.segment")) if (commits := commits_of(path))]
    sound = list(lines(Reader(copy)))
    kind = rng.choice(KINDS_OF_DAMAGE)
    path, byte, data = damage(kind, copy, segments, rng)
    path.write_bytes(data)
    what = f"{kind} at byte {byte} of {path.name}"
    printed, fault = [], None
    try:
        for line in lines(Reader(copy)):
            printed.append(line)
    except Fault as error:
        fault = error
    exported = subprocess.run([tool, "export", str(copy)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if kind == "slot":
        if fault or printed != sound or exported.returncode != 0 or exported.stdout != b"".join(sound):
            sys.exit(f"FAILED: {what} made a difference: {fault or exported.stderr}")
        return kind
    commits = dict(segments)[path]
    hit = next((commit for commit in commits if commit[0] <= byte < commit[1]), None)
    begin, end, first, last = hit or (0, 128, commits[0][2], commits[0][2])
    if fault is None:
        sys.exit(f"FAILED: {what} was not found")
    # A footer has no positions: its range is empty.
    if fault.file != path.name or not begin <= fault.byte <= end or not min(first, last) <= fault.position <= last + 1:
        sys.exit(f"FAILED: {what} was found elsewhere, not in {begin}..<{end}, positions {first}...{last}: {fault}")
    if printed != sound[:first - 1]:
        sys.exit(f"FAILED: {what}: {len(printed)} events were read, but {first - 1} precede the damage")
    if path != max(copy.glob("*.segment")):
        verified = subprocess.run([tool, "verify", str(copy)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if verified.returncode != 1:
            sys.exit(f"FAILED: {what}: verify ended with status {verified.returncode}")
        if not b"".join(sound).startswith(exported.stdout):
            sys.exit(f"FAILED: {what}: export printed other events")
    elif exported.returncode != 1 or exported.stdout:
        sys.exit(f"FAILED: {what}: export ended with status {exported.returncode} and {len(exported.stdout)} bytes")
    return kind


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", type=pathlib.Path, help="the directory of the journal")
    parser.add_argument("--tool", help="the chat-journal binary to compare with")
    parser.add_argument("--damage", type=int, default=0, help="the number of copies to damage; the journal should be small")
    parser.add_argument("--seed", type=int, help="the seed of the damage; default: a new one, printed")
    parser.add_argument("--scratch", type=pathlib.Path, help="the directory in which the copies are created")
    arguments = parser.parse_args()
    if arguments.damage and not arguments.tool:
        parser.error("--damage needs --tool")
    try:
        reader = Reader(arguments.journal)
        if arguments.tool:
            print(f"{compare(reader, arguments.tool):,} events: the reader and `export` print the same bytes", flush=True)
        else:
            sys.stdout.buffer.writelines(lines(reader))
            sys.stdout.buffer.flush()
    except (Fault, OSError) as error:
        sys.stdout.buffer.flush()
        print(error, file=sys.stderr)
        return 1
    for note in reader.notes:
        print(note, file=sys.stderr)
    if arguments.damage:
        if not reader.slots[0].closed or not reader.last or reader.notes:
            sys.exit("FAILED: --damage needs a valid journal with events that was closed normally")
        seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
        print(f"damage: seed {seed}", flush=True)
        rng, done = random.Random(seed), []
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            for run in range(arguments.damage):
                done.append(try_damage(arguments.journal, arguments.tool, pathlib.Path(scratch) / str(run), rng))
                shutil.rmtree(pathlib.Path(scratch) / str(run))
        counts = ", ".join(f"{done.count(kind)} {kind}" for kind in KINDS_OF_DAMAGE)
        print(f"{len(done)} damaged copies: each damage was found at its place, or had no effect in a slot ({counts})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
