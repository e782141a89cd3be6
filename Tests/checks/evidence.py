#!/usr/bin/env python3
"""Checks the evidence of threads with the tool and with verify_proof.py, on a community that it makes.

    evidence.py --tool PATH [--seed S] [--scratch DIR]

The community has an open, a private and an outward code's thread, moderation, read markers, reports, and an erased user.
For each of several selections the program computes the file `evidence` from the journal, with the reader of
read_journal.py, and compares it with the tool's byte by byte. Both verifiers accept it, and print the same events as the
journal has. Both reject each of many wrong directories: an omitted, added, repeated, moved, renumbered or changed record,
another checkpoint, wrong readers, another form. And no text, name, thread or user of another thread occurs in a file, raw
or decoded from base64 or hexadecimal.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import read_journal  # noqa: E402
import verify_proof  # noqa: E402

VERIFIER = pathlib.Path(__file__).with_name("verify_proof.py")


def fail(text):
    sys.exit(f"FAILED: {text}")


class Community:
    """The commands of a small community whose texts and ids occur nowhere else."""

    def __init__(self, rng):
        self.rng, self.commands = rng, []
        self.users = {name: self.id() for name in ("ann", "bob", "cem", "dee", "eve", "fay", "olu")}
        self.open, self.secret, self.code = self.id(), self.id(), "SW1A"

    def id(self):
        return str(uuid.UUID(int=self.rng.getrandbits(128)))

    def text(self, words):
        return words + " " + "".join(self.rng.choices("abcdefghjkmnpqrstuvwxyz", k=16))

    def do(self, command, **fields):
        names = {key: self.users.get(value, value) if isinstance(value, str) else value for key, value in fields.items()}
        self.commands.append(json.dumps({command: names, "correlation": self.text("c")}))

    def post(self, thread, author, words="A message"):
        message = self.id()
        self.do("postMessage", message=message, thread=thread, author=author, body=self.text(words))
        return message

    def write(self):
        for name in self.users:
            self.do("registerUser", user=name, username=self.text(name).replace(" ", "_"), subject=self.text("auth0|"))
        for name, postcode in (("ann", "SW1A 1AA"), ("bob", "SW1A 1AB"), ("eve", "M1 1AE"), ("fay", "M1 1AF")):
            self.do("setPostcode", user=name, postcode=postcode)
        self.do("openThread", thread=self.open, name=self.text("Open"), by="ann")
        self.do("openThread", thread=self.secret, name=self.text("Secret"), by="eve", policy="inviteOnly", history="sinceJoining")
        for name in ("bob", "cem", "dee"):
            self.do("joinThread", user=name, thread=self.open)
        # Eve invites whom she knows.
        hall = self.id()
        self.do("openThread", thread=hall, name=self.text("Hall"), by="eve")
        self.do("joinThread", user="ann", thread=hall)
        self.do("invite", user="ann", thread=self.secret, by="eve")
        self.do("acceptInvitation", user="ann", thread=self.secret)
        self.do("invite", user="fay", thread=self.secret, by="eve")
        self.do("setRole", user="bob", thread=self.open, role="moderator", by="ann")
        places = [(self.open, "ann"), (self.open, "bob"), (self.open, "cem"), (self.open, "dee"), (self.secret, "eve"), (self.secret, "ann"),
                  (self.code, "ann"), (self.code, "bob"), ("M1", "fay"), ("M1", "eve")]
        posts = []
        for turn in range(60):
            # Every selection that is changed has events with content, whatever the seed chooses: the first
            # four and the last four events of a thread can be outside of it.
            if turn in (30, 59):
                for thread, author in ((self.open, "ann"), (self.secret, "eve"), (self.code, "ann")):
                    posts += [(thread, author, self.post(thread, author)) for _ in range(4)]
            thread, author = self.rng.choice(places)
            posts.append((thread, author, self.post(thread, author)))
            if self.rng.random() < 0.4:
                self.do("markRead", user=author, thread=thread, upTo=self.rng.randrange(1, 20))
            if self.rng.random() < 0.4:
                thread, author, message = self.rng.choice(posts)
                self.do("reply", reply=self.id(), message=message, author=author, body=self.text("A reply"))
            if self.rng.random() < 0.3:
                thread, author, message = self.rng.choice(posts)
                self.do("edit", message=message, by=author, body=self.text("An edit"))
            if self.rng.random() < 0.3:
                thread, author, message = self.rng.choice(posts)
                self.do("react", message=message, by=author, emoji=":" + self.text("r").replace(" ", "_") + ":")
            if self.rng.random() < 0.2:
                self.do("startSession", user=author, device=self.text("Device"))
        message = self.post(self.open, "cem")
        self.do("report", message=message, by="dee", reason=self.text("Reported"))
        self.do("report", message=posts[0][2], by=posts[0][1], reason=self.text("Reported"))
        self.do("remove", message=message, by="bob", reason=self.text("Removed"))
        self.do("mute", user="cem", thread=self.open, by="bob", reason=self.text("Muted"))
        self.do("removeMember", user="dee", thread=self.open, by="ann", reason=self.text("Out"))
        self.do("changeUsername", user="ann", username=self.text("anne").replace(" ", "_"))
        self.do("changeUsername", user="fay", username=self.text("faye").replace(" ", "_"))
        self.do("grantOperator", user="olu")
        self.post(self.secret, "eve")
        self.do("joinThread", user="dee", thread=self.open)
        self.do("setPostcode", user="bob", postcode="M1 1AG")
        self.post(self.open, "ann")
        self.post("M1", "fay")
        return "\n".join(self.commands) + "\n"


class Journal:
    """The records of a journal, and the evidence that the format pages give for them."""

    def __init__(self, path):
        reader = read_journal.Reader(path)
        self.records, self.events = {}, {}
        for position, _, _, kept, erasable, _ in reader.records():
            content = reader.content
            self.records[position] = (kept, content if erasable is None else None, content[:16], erasable)
            line, kind, thread, number, _ = read_journal.event(position, kept, erasable, None)
            self.events[position] = (json.loads(line.removesuffix(',"commitEnd":None}') + "}"), kind, thread, number and int(number))
        text = str(uuid.UUID(bytes=bytes(reader.id)))
        self.origin, self.size = f"chat-journal/{text}", len(self.records)
        self.tree = verify_proof.Tree([self.leaf(position) for position in range(1, self.size + 1)])

    def leaf(self, position):
        kept, digest, salt, erasable = self.records[position]
        return verify_proof.leaf_of(kept, digest if erasable is None else verify_proof.sha256(salt + erasable))

    def checkpoint(self, size):
        return f"{self.origin}\n{size}\n{encoded(self.tree.hash(0, size))}\n"

    def record_line(self, position, withheld=False):
        kept, digest, salt, erasable = self.records[position]
        if erasable is None or withheld:
            return f"stub {position} {encoded(kept)} {encoded(digest or verify_proof.sha256(salt + erasable))}"
        return f"record {position} {encoded(kept)} {encoded(salt)} {encoded(erasable)}"

    def parts(self, size, shown, withheld=()):
        """Returns the lines of the parts: these records, and the hashes of the maximal subtrees without one."""
        shown = sorted(shown)

        def lines(begin, end, shown):
            if not shown:
                return [f"hash {begin + 1} {end} {encoded(self.tree.hash(begin, end))}"]
            if end - begin == 1:
                return [self.record_line(end, end in withheld)]
            middle = begin + (1 << (end - begin - 1).bit_length() - 1)
            return (lines(begin, middle, [each for each in shown if each <= middle])
                    + lines(middle, end, [each for each in shown if each > middle]))

        return lines(0, size, shown)

    def numbered(self, thread, first, last):
        return [position for position, event in self.events.items() if event[2:3] == (thread,) and event[3] and first <= position <= last]

    def people(self, positions):
        found = set()
        for position in positions:
            fields = next(value for value in self.events[position][0].values() if isinstance(value, dict))
            found |= {fields[name] for name in ("author", "user", "by") if name in fields}
        return found


def encoded(data):
    return base64.b64encode(data).decode() or "-"


class Verifiers:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.calls = tool, folder, 0

    def run(self, *arguments):
        return subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False)

    def answers(self, directory, checkpoint, *options):
        """Returns the outcomes of the tool and of verify_proof.py."""
        self.calls += 2
        return (self.run(self.tool, "check-evidence", directory, "--checkpoint", checkpoint, *options),
                self.run(sys.executable, VERIFIER, "evidence", directory, "--checkpoint", checkpoint, *options))

    def accept(self, directory, checkpoint):
        outcomes = self.answers(directory, checkpoint)
        for outcome in outcomes:
            if outcome.returncode:
                fail(f"sound evidence is rejected: {outcome.args}: {outcome.stderr}")
        return outcomes

    def reject(self, what, files):
        """Writes the files of a directory, and checks that both verifiers reject it and print nothing of it."""
        directory = self.folder / "wrong"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        for name, content in files.items():
            if callable(content):
                content(directory / name)
            else:
                (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        self.calls += 1
        tool = self.run(self.tool, "check-evidence", directory, "--checkpoint", self.folder / "trusted", "--events")
        # In this process: a start of Python for each wrong directory would take most of the time.
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = verify_proof.main_evidence(
                argparse.Namespace(directory=directory, checkpoint=self.folder / "trusted", events=True))
        for name, status, output, message in (("the tool", tool.returncode, tool.stdout, tool.stderr),
                                              ("verify_proof.py", status, output.getvalue(), errors.getvalue())):
            if status != 1 or output:
                fail(f"{what}: {name} ends with status {status}: {output[:500]}{message}")
            if str(directory) not in message:
                fail(f"{what}: {name} does not name the file: {message}")


def decodings(data):
    """Returns the bytes, and what base64 words and hexadecimal digits in them decode to, one after another."""
    found = [data]
    for word in re.findall(rb"[A-Za-z0-9+/]{4,}={0,2}", data):
        for start in range(4):
            digits = word[start:].rstrip(b"=")
            found.append(base64.b64decode(digits[:len(digits) // 4 * 4]))
            found.append(base64.b64decode(digits + b"A" * (-len(digits) % 4)))
    for word in re.findall(rb"[0-9A-Fa-f]{8,}", data.replace(b"-", b"")):
        found += [bytes.fromhex(word[start:len(word) - (len(word) - start) % 2].decode()) for start in range(2)]
    return b"\0".join(found)


def search(directory, secrets):
    """Checks that none of the secrets, texts or bytes, occurs in a file."""
    for path in sorted(directory.iterdir()):
        data = decodings(path.read_bytes())
        for secret in secrets:
            if secret in data:
                fail(f"{path.name} contains {secret!r}")


def strings(value):
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    return [value] if isinstance(value, str) else []


def secrets_of(journal, shown, readers):
    """Returns the texts and ids of the events that are not shown and that no shown event has."""
    public = {text for position in shown for text in strings(journal.events[position][0])} | set(readers)
    found = set()
    for position, (event, *_) in journal.events.items():
        if position in shown:
            continue
        for text in strings(event):
            # Short texts such as postcodes would be found by accident; kinds and roles are no secrets.
            if text in public or len(text) < 8 or re.fullmatch(r"\d{4}-\d\d-\d\dT.*", text) or text in ("inviteOnly", "moderator", "sinceJoining"):
                continue
            found.add(text.encode())
            if re.fullmatch(r"[0-9a-f-]{36}", text):
                found.add(uuid.UUID(text).bytes)
        # The record as a whole, and its salt.
        kept, digest, salt, erasable = journal.records[position]
        found |= {kept, digest if erasable is None else salt}
    return found


def check_selection(journal, verifiers, path, thread, options, shown, size):
    """Makes evidence with the tool, compares it with the format pages, and lets both verifiers check it."""
    directory = verifiers.folder / "evidence"
    shutil.rmtree(directory, ignore_errors=True)
    outcome = verifiers.run(verifiers.tool, "evidence", path, thread, "--out", directory, *options)
    if outcome.returncode:
        fail(f"evidence of {thread} with {options}: {outcome.stderr}")
    files = {each.name: each.read_text() for each in directory.iterdir()}
    lines = files["evidence"].splitlines()
    readers = [line for line in lines if line.startswith("reader ")]
    expected = ["chat-journal/evidence@v1"] + journal.parts(size, shown) + readers
    if lines != expected or files["checkpoint"] != journal.checkpoint(size) or set(files) != {"README.md", "checkpoint", "evidence"}:
        fail(f"the evidence of {thread} with {options} is not that of the format pages")
    last = max(position for position in shown if journal.events[position][3])
    listed = verifiers.run(verifiers.tool, "readers", path, thread, "--as-of", last, "--json").stdout.splitlines()
    stated = [(each["user"]["id"], each["since"]) for each in map(json.loads, listed)]
    if [(line.split()[1], int(line.split()[2])) for line in readers] != stated:
        fail(f"the readers of {thread} are {stated}")
    (verifiers.folder / "trusted").write_text(journal.checkpoint(size))
    verifiers.accept(directory, verifiers.folder / "trusted")
    tool, python = verifiers.answers(directory, verifiers.folder / "trusted", "--events")
    if [json.loads(line) for line in python.stdout.splitlines()[1:]] != [journal.events[position][0] for position in sorted(shown)]:
        fail(f"verify_proof.py prints other events of {thread}")
    if [line.split()[0] for line in tool.stdout.splitlines() if re.match(r"\d+  ", line)] != [str(each) for each in sorted(shown)]:
        fail(f"the tool prints other events of {thread}: {tool.stdout}")
    search(directory, secrets_of(journal, set(shown), [user for user, _ in stated]))
    if "--with-registrations" not in options:
        search(directory, {name.encode() for event, kind, *_ in journal.events.values() if kind in (1, 2)
                           for name in (event.get("userRegistered") or event["usernameChanged"]).values() if name and len(name) > 3 and "-" not in name})
    return files


def changed(line, index, change):
    """Returns a line with a change of the bytes of one of its words."""
    words = line.split(" ")
    words[index] = encoded(change(base64.b64decode(words[index])))
    return " ".join(words)


def check_wrong(journal, verifiers, files, thread, shown, size, rng):
    """Changes sound evidence in every way that a dishonest host or a damaged disk could, one at a time."""
    lines = files["evidence"].splitlines()
    parts = [line for line in lines[1:] if not line.startswith("reader ")]
    readers = lines[1 + len(parts):]
    events = [position for position in sorted(shown) if journal.events[position][3]]
    registered = sorted(set(shown) - set(events))
    others = [position for position in range(1, size + 1) if position not in shown]

    def reject(what, new, **more):
        verifiers.reject(what, files | {"evidence": "\n".join(new) + "\n"} | more)

    def with_parts(what, new):
        reject(what, [lines[0]] + new + readers)

    def at(position):
        return next(index for index, line in enumerate(lines) if line.split(" ")[:2] in (["record", str(position)], ["stub", str(position)]))

    def replaced(position, line):
        return lines[:at(position)] + [line] + lines[at(position) + 1:]

    def flipped(data):
        return verify_proof.flipped(data, rng)

    whole = [position for position in events if lines[at(position)].startswith("record") and not lines[at(position)].endswith(" -")]
    middle = rng.choice(events[1:-1])
    with_parts("an omitted event", journal.parts(size, set(shown) - {middle}))
    with_parts("the first and a later event omitted", journal.parts(size, set(shown) - {events[0], events[len(events) // 2]}))
    with_parts("no event of a thread", journal.parts(size, registered))
    # The event before the first one or after the last one is a longer selection, which is sound.
    _, _, thread_id, first_number = journal.events[events[0]]
    beside = [(thread_id, first_number - 1), (thread_id, journal.events[events[-1]][3] + 1)]
    for kind in (3, 12, 13, 14, 22, 36, 40, 46, 7):
        if found := [each for each in others if journal.events[each][1] == kind and journal.events[each][2:] not in beside]:
            with_parts(f"another event of the kind {kind}", journal.parts(size, set(shown) | {rng.choice(found)}))
    people = journal.people(events) | {line.split()[1] for line in readers}
    if found := [each for each in others if journal.events[each][1] in (1, 2) and not journal.people([each]) <= people]:
        with_parts("a registration of another user", journal.parts(size, set(shown) | {rng.choice(found)}))
    one, two = sorted(rng.sample(range(1, 1 + len(parts)), 2))
    swapped = lines[:]
    swapped[one], swapped[two] = lines[two], lines[one]
    reject("two swapped lines", swapped)
    first, second = rng.sample(whole, 2)
    moved = lines[:]
    for position, other in ((first, second), (second, first)):
        words = lines[at(other)].split(" ")
        moved[at(position)] = " ".join([words[0], str(position)] + words[2:])
    reject("two events at each other's positions", moved)
    for name in ("checkpoint", "evidence"):
        for what, make in (("a FIFO", os.mkfifo), ("a directory", os.mkdir), ("a device", lambda path: os.symlink("/dev/zero", path))):
            reject(f"{what} in the place of {name}", lines, **{name: make})
    reject("a line without an end", lines, evidence=lambda path: path.write_text(lines[0] + "\n") and os.truncate(path, 1 << 36))
    reject("an omitted line", lines[:one] + lines[one + 1:])
    reject("a line twice", lines[:one] + [lines[one]] + lines[one:])
    reject("a record twice", lines[:at(middle)] + [lines[at(middle)]] + lines[at(middle):])
    position = rng.choice(whole)
    for index, what in ((2, "kept part"), (3, "salt"), (4, "content")):
        reject(f"a changed {what}", replaced(position, changed(lines[at(position)], index, flipped)))
    reject("a longer content", replaced(position, changed(lines[at(position)], 4, lambda data: data + b"!")))
    reject("a shorter salt", replaced(position, changed(lines[at(position)], 3, lambda data: data[:15])))
    stub = journal.record_line(position, withheld=True)
    reject("a changed digest", replaced(position, changed(stub, 3, flipped)))
    hashes = [index for index in range(1, 1 + len(parts)) if lines[index].startswith("hash ")]
    index = rng.choice(hashes)
    reject("a changed hash", lines[:index] + [changed(lines[index], 3, flipped)] + lines[index + 1:])

    def renumbered(kept):  # the number is the last field of a post
        return kept[:-1] + bytes([kept[-1] ^ 1])

    posts = [each for each in whole if journal.events[each][1] in (7, 8)]
    reject("another number", replaced(posts[0], changed(lines[at(posts[0])], 2, renumbered)))
    words = lines[at(position)].split(" ")
    for wrong in (position + 1, position - 1, 0, f"0{position}", f"+{position}", 2**64, 2**70, "", -1):
        reject(f"the position {wrong}", replaced(position, " ".join([words[0], str(wrong)] + words[2:])))
    _, begin, end, hash = lines[index].split(" ")
    for wrong in ((begin, int(end) + 1), (int(begin) + 1, end), (end, begin) if begin != end else (begin, 0), (begin, 2**64 - 1)):
        reject(f"the positions {wrong} of a hash", lines[:index] + [f"hash {wrong[0]} {wrong[1]} {hash}"] + lines[index + 1:])
    if wide := [line for line in parts if line.startswith("hash ") and line.split()[1] != line.split()[2]]:
        _, low, high, _ = wide[0].split()
        low, high = int(low), int(high)
        split = low - 1 + (1 << (high - low).bit_length() - 1)
        halves = [f"hash {low} {split} {encoded(journal.tree.hash(low - 1, split))}", f"hash {split + 1} {high} {encoded(journal.tree.hash(split, high))}"]
        place = lines.index(wide[0])
        reject("two hashes in the place of one", lines[:place] + halves + lines[place + 1:])
    for cut in rng.sample(range(1, len(parts) + 1), 3):
        reject("an end too early", lines[:cut])
    reject("a line after the end", lines[:1 + len(parts)] + [f"hash {size + 1} {size + 1} {hash}"] + readers)

    proven = [line for line in readers if int(line.split()[2]) >= events[0]
              and journal.events[int(line.split()[2])][1] == 5 and int(line.split()[2]) in events]
    if proven:
        place = lines.index(proven[0])
        reject("a missing reader", lines[:place] + lines[place + 1:])
        reject("another join of a reader", lines[:place] + [proven[0][:-1] + str((int(proven[0][-1]) + 1) % 10)] + lines[place + 1:])
    reader = readers[0]
    reject("a reader twice", lines + [reader])
    reject("a reader of later", lines + [f"reader {uuid.UUID(int=rng.getrandbits(128))} {events[-1] + 1}"])
    reject("a reader before a part", lines[:1] + readers + parts)
    for wrong in (reader.upper(), reader + " ", reader.replace(" ", "  "), "reader x 1", "reader", "other words", ""):
        reject(f"the line '{wrong}'", lines + [wrong])

    for what, text in (("title", "\n".join(["chat-journal/evidence@v2"] + lines[1:]) + "\n"), ("lines with CR", "\r\n".join(lines) + "\r\n"),
                       ("nothing", ""), ("zeros", "\0" * 100), ("a long line", lines[0] + "\n" + "record 1 " + "A" * 2_000_000 + "\n"),
                       ("a line without an end", lines[0] + "\n" + "A" * 2_000_000)):
        verifiers.reject(f"another form: {what}", files | {"evidence": text})
    verifiers.reject("not UTF-8", files | {"evidence": files["evidence"].encode()[:-2] + b"\xff\xfe\n"})
    spare = next(line for line in lines if line.endswith("="))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = len(spare.rstrip("=")) - 1
    loose = spare[:last] + letters[letters.index(spare[last]) ^ 1] + spare[last + 1:]
    for wrong in (loose, spare.rstrip("="), spare + "=", spare + " A", spare[:-3] + "\u00e9=="):
        reject("base64 in another form", lines[:lines.index(spare)] + [wrong] + lines[lines.index(spare) + 1:])

    root = files["checkpoint"].splitlines()
    for wrong in ([root[0], str(size - 1), root[2]], [root[0][:-1] + "x", *root[1:]],
                  [*root[:2], encoded(flipped(base64.b64decode(root[2])))], root[:2], []):
        verifiers.reject("another checkpoint", files | {"checkpoint": "\n".join(wrong) + "\n"})
    # The same directory, with a checkpoint of the same size that the auditor got from another history.
    for wrong in ([*root[:2], encoded(flipped(base64.b64decode(root[2])))], [root[0], str(size - 1), root[2]]):
        text = "\n".join(wrong) + "\n"
        (verifiers.folder / "trusted").write_text(text)
        verifiers.reject("a checkpoint that leads elsewhere", files | {"checkpoint": text})
    (verifiers.folder / "trusted").write_text(files["checkpoint"])
    for missing in ("checkpoint", "evidence"):
        verifiers.reject(f"no file {missing}", {name: content for name, content in files.items() if name != missing})

    # What the format allows, because other lines of the output tell it.
    directory = verifiers.folder / "other"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    (directory / "checkpoint").write_text(files["checkpoint"])
    (directory / "evidence").write_text("\n".join([lines[0]] + journal.parts(size, shown, withheld={position}) + readers) + "\n")
    before = sum(bool(journal.events[each][0].get("erased")) for each in shown)
    tool, python = verifiers.accept(directory, verifiers.folder / "trusted")
    if f"withheld: {before + 1}\n" not in tool.stdout or f"; {before + 1} records without content" not in python.stdout:
        fail(f"withheld content is not told: {tool.stdout}{python.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--scratch", type=pathlib.Path)
    arguments = parser.parse_args()
    print(f"evidence: seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        folder = pathlib.Path(scratch)
        verifiers, path, community = Verifiers(arguments.tool, folder), folder / "journal", Community(rng)
        ran = subprocess.run([arguments.tool, "run", path], input=community.write(), capture_output=True, text=True, check=False)
        # A command of the random part may have no effect or be rejected, such as a reply of a muted user.
        if ran.returncode not in (0, 1) or ran.stderr:
            fail(f"the community cannot be made: {ran.stderr}")
        ran = subprocess.run([arguments.tool, "erase", path, "--user", community.users["bob"], "--reason", "user-request"],
                             capture_output=True, text=True, check=False)
        if ran.returncode:
            fail(f"bob cannot be erased: {ran.stderr}")
        journal, selections = Journal(path), 0
        for thread in (community.open, community.secret, "SW1A"):
            id = uuid.UUID(thread).bytes if len(thread) == 36 else thread.encode() + read_journal.DISTRICT_THREAD
            all_ = journal.numbered(id, 1, journal.size)
            ranges = [(1, journal.size, journal.size), (all_[1], journal.size, journal.size), (1, all_[-2], journal.size),
                      (all_[3] + 1, all_[-4], journal.size - 3), (1, all_[len(all_) // 2], all_[len(all_) // 2])]
            for number, (first, last, size) in enumerate(ranges):
                for names in (False, True):
                    events = journal.numbered(id, first, min(last, size))
                    options = ["--from", first] * (first > 1) + ["--to", last] * (last < size) + ["--at", size] * (size < journal.size)
                    shown = set(events)
                    if names:
                        listed = verifiers.run(arguments.tool, "readers", path, thread, "--as-of", events[-1], "--json").stdout.splitlines()
                        people = journal.people(events) | {json.loads(line)["user"]["id"] for line in listed}
                        shown |= {position for position, event in journal.events.items()
                                  if event[1] in (1, 2) and position <= events[-1] and journal.people([position]) <= people}
                    files = check_selection(journal, verifiers, path, thread, options + ["--with-registrations"] * names, shown, size)
                    selections += 1
                    if (number, names) in ((0, True), (3, False)):
                        check_wrong(journal, verifiers, files, thread, shown, size, rng)
        print(f"evidence: {journal.size} events, {selections} selections are as the format pages say, and disclose nothing of other threads; "
              f"both verifiers agree ({verifiers.calls} calls)")


if __name__ == "__main__":
    main()
