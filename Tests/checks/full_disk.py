#!/usr/bin/env python3
"""Fills a small file system under `chat-journal run`, frees it again, and checks acknowledged and rejected commands.

    full_disk.py --tool PATH [--sizes 2,3,5] [--seed S] [--rotation] [--tests PACKAGE] [--scratch DIR]

The file systems are a tmpfs of each size in MiB, and an ext4 in a file if loop devices are available. For each file
system and durability:

1. The tool receives posts until it rejects them with `storageFull`. On the full disk, commands that need no space must
   still be answered (a repeated post, a rejection by the rules), and readers in other processes must continue.
2. A ballast file is removed. The same process must accept posts again.
3. The disk is filled a second time and the journal is closed; filled again and the process is killed; opened without
   space.
4. A second ballast file is removed. The tool must accept posts again.

At every stage `events` must print exactly the acknowledged events and no rejected one, and `verify --deep` must find
nothing.

Then a journal of another file system is backed up to each of them. The space does not suffice, so the backup must fail
with an error that says so, and the journal must remain usable. After the ballast is removed, the same command must
complete the copy.

The tool's segments have 128 MiB. On a larger tmpfs, all but 6 MiB are used before the first ballast file is removed, and
one rotation must have occurred before the second. `--rotation` adds sizes that are full just before, at and after the
rotation. `--tests PACKAGE` runs the package's own tests of a small disk (with small segments, so that many rotations
meet a full disk).

The file systems are mounted in a separate mount namespace (`unshare`, as root or with a user namespace) and disappear
with it. If that is not allowed, the program prints SKIPPED and ends with status 0.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import program
from program import Failed, Skipped

INSIDE = "CHATJOURNAL_FULL_DISK_INSIDE"
BALLAST = (0.3, 0.1)  # two files to be removed later, as fractions of the file system
LARGE_BALLAST = (4 << 20, 2 << 20)  # the same in bytes, on a file system with space for a whole segment


def enter_namespace():
    """Starts this program again in a separate mount namespace; returns only inside it."""
    if os.environ.get(INSIDE):
        return
    if not shutil.which("unshare"):
        raise Skipped("no unshare, which is needed to mount a small file system")
    errors = []
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        probe = subprocess.run(words + ["mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()], capture_output=True, check=False)
        if probe.returncode == 0:
            done = subprocess.run(words + [sys.executable] + sys.argv, env={**os.environ, INSIDE: "1"}, check=False)
            sys.exit(done.returncode)
        errors.append(probe.stderr.decode("utf-8", "replace").strip())
    raise Skipped(f"no mount namespace: {'; '.join(errors)}")


class SmallDisk:
    """A mounted file system with ballast files."""

    def __init__(self, kind, mebibytes, scratch):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=scratch))
        self.image, self.is_large = None, mebibytes > 128
        if kind == "ext4":
            self.image = self.path.with_suffix(".image")
            with open(self.image, "wb") as file:
                file.truncate(mebibytes << 20)
            self.call("mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", str(self.image))
            self.call("mount", "-o", "loop", str(self.image), str(self.path))
        else:
            self.call("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(self.path))
        self.ballast = [self.path / f"ballast {number}" for number in range(len(BALLAST))]
        sizes = LARGE_BALLAST if self.is_large else [int((mebibytes << 20) * share) for share in BALLAST]
        for path, size in zip(self.ballast, sizes):
            with open(path, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)

    @staticmethod
    def call(*words):
        try:
            done = subprocess.run(words, capture_output=True, check=False)
        except FileNotFoundError as fault:
            raise Skipped(str(fault)) from fault
        if done.returncode != 0:
            raise Skipped(f"{' '.join(words[:3])}: {done.stderr.decode('utf-8', 'replace').strip()}")

    def remove(self):
        subprocess.run(["umount", str(self.path)], check=True)
        self.path.rmdir()
        if self.image:
            self.image.unlink()


class Run:
    """A process of `run` that receives commands in chunks."""

    def __init__(self, tool, journal, durability, batch):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [tool, "run", journal, "--durability", durability, "--batch", str(batch)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors)

    def ask(self, lines):
        """Returns the answers to lines, in order."""
        def send():
            try:
                self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
                self.process.stdin.flush()
            except BrokenPipeError:
                pass  # reported below, with the tool's error

        # Send in parallel: the tool answers before it has read all lines, and no pipe holds all of them.
        sender = threading.Thread(target=send)
        sender.start()
        answers = []
        for _ in lines:
            line = self.process.stdout.readline()
            if not line.endswith(b"\n"):
                raise Failed(f"the tool ended with status {self.process.wait()} before its last answer: {self.said()}")
            answers.append(json.loads(line))
        sender.join()
        return answers

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def close(self):
        """Ends the input; returns the exit status."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        rest = self.process.stdout.read()
        self.process.stdout.close()
        status = self.process.wait(timeout=120)
        if rest:
            raise Failed(f"answers without a command: {rest[:400]!r}")
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Readers(threading.Thread):
    """Reads the newest messages repeatedly, each time in a new process, while the writer works."""

    def __init__(self, tool, journal, bodies):
        super().__init__()
        self.words = [tool, "timeline", journal, "SW1A", "--limit", "5", "--json"]
        self.bodies, self.failure, self.count, self.over = bodies, None, 0, threading.Event()

    def run(self):
        while not self.over.is_set() and not self.failure:
            done = subprocess.run(self.words, capture_output=True, check=False)
            if done.returncode != 0:
                self.failure = f"timeline ended with status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}"
                break
            for line in done.stdout.splitlines():
                entry = json.loads(line)
                if self.bodies.get(entry["id"]) != entry["body"]:
                    self.failure = f"message {entry['id']} has a body that was never sent"
            self.count += 1
            self.over.wait(0.02)

    def end(self):
        self.over.set()
        self.join()
        if self.failure:
            raise Failed(self.failure)


class Trial:
    """One journal on one small disk."""

    def __init__(self, tool, disk, rng, durability, batch, largest):
        self.tool, self.disk, self.rng, self.durability, self.batch, self.largest = tool, disk, rng, durability, batch, largest
        self.journal = str(disk.path / "journal")
        self.events = []  # acknowledged, in order
        self.bodies = {}  # by message, of all sent messages
        self.posts = []   # (line, answer) of the accepted posts
        self.refused = set()
        self.author = program.identifier(self.rng)
        self.run = Run(tool, self.journal, durability, batch)

    def take(self, answer):
        """Adds the events of an accepted command."""
        if answer["positions"] != [len(self.events) + 1, len(self.events) + len(answer["events"])]:
            raise Failed(f"an answer with the positions {answer['positions']} follows position {len(self.events)}")
        self.events += answer["events"]

    def settle(self):
        for answer in self.run.ask([{"registerUser": {"user": self.author, "username": "Ann"}},
                                    {"setPostcode": {"user": self.author, "postcode": "SW1A 1AA"}}]):
            if "positions" not in answer:
                raise Failed(f"no space for the first commands: {answer}")
            self.take(answer)
        self.post(self.batch)

    def post(self, count, size=None):
        """Posts messages in one chunk; returns the number of rejections, all of them `storageFull`."""
        lines = []
        for _ in range(count):
            body = chr(97 + self.rng.randrange(26)) * (size or self.rng.choice((1, 40, 700, self.rng.randint(1, self.largest))))
            lines.append({"postMessage": {"message": program.identifier(self.rng), "thread": "SW1A", "author": self.author, "body": body}})
            self.bodies[lines[-1]["postMessage"]["message"]] = body
        full = 0
        for line, answer in zip(lines, self.run.ask(lines)):
            if "positions" in answer:
                self.take(answer)
                self.posts.append((line, answer))
            elif answer.get("rejection", {}).get("code") == "storageFull":
                self.refused.add(line["postMessage"]["message"])
                full += 1
            else:
                raise Failed(f"unexpected answer to a post: {json.dumps(answer)[:800]}")
        return full

    def fill(self):
        """Posts until no space is left, not even for a short message."""
        deadline = time.monotonic() + 900
        before = len(self.posts)
        # First the longest messages until one is rejected, because filling a large disk takes long.
        while self.disk.is_large and self.post(self.batch, size=self.largest) == 0:
            pass
        while self.post(self.batch) < self.batch:
            if time.monotonic() > deadline:
                raise Failed("the disk does not become full")
        deadline = time.monotonic() + 60
        while self.post(1, size=1) == 0:
            if time.monotonic() > deadline:
                raise Failed("a full disk still accepts short messages")
        return len(self.posts) - before

    def check_answers_without_space(self):
        """Checks that commands that append nothing are answered normally."""
        line, first = self.rng.choice(self.posts)
        stranger = {"postMessage": {"thread": "SW1A", "author": program.identifier(self.rng), "body": "?"}}
        again, held, refused = self.run.ask([line, {"setPostcode": {"user": self.author, "postcode": "SW1A 1AA"}}, stranger])
        if not again.get("duplicate") or again["positions"] != first["positions"] or again["events"] != first["events"]:
            raise Failed(f"unexpected answer to a repeated post on a full disk: {json.dumps(again)[:800]}")
        if held.get("positions", 0) is not None:
            raise Failed(f"unexpected answer to an unchanged postcode on a full disk: {held}")
        if refused.get("rejection", {}).get("code") != "unknownUser":
            raise Failed(f"unexpected answer to an unknown user's post on a full disk: {refused}")

    def check_files(self, where):
        """Checks that the journal contains exactly the acknowledged events."""
        found = program.events(self.tool, self.journal, where=f"{where}: ")
        if found != self.events:
            at = next((i for i, (a, b) in enumerate(zip(found, self.events)) if a != b), min(len(found), len(self.events)))
            raise Failed(f"{where}: {len(found)} events for {len(self.events)} acknowledged ones, the first difference at {at + 1}: "
                         f"{json.dumps(found[at:at + 1])[:400]} instead of {json.dumps(self.events[at:at + 1])[:400]}")
        for event in found:
            if event.get("messagePosted", {}).get("message") in self.refused:
                raise Failed(f"{where}: a rejected post is at position {event['position']}")
        program.run_tool(self.tool, "verify", self.journal, "--deep", where=f"{where}: ")

    def segments(self):
        """Returns the number of segments."""
        return len(list(pathlib.Path(self.journal).glob("*.segment")))

    def reopen_while_full(self):
        """Opens the journal for writing, possibly without space; returns whether that succeeds.

        After a normal close it must succeed."""
        self.run = Run(self.tool, self.journal, self.durability, self.batch)
        line, first = self.rng.choice(self.posts)
        try:
            again = self.run.ask([line])[0]
        except Failed:
            said = self.run.said()
            if self.run.close() != 1 or "storageFull" not in said:
                raise Failed(f"opening on a full disk failed with another error than storageFull: {said}") from None
            return False
        if not again.get("duplicate") or again["events"] != first["events"]:
            raise Failed(f"unexpected answer to a repeated post after reopening: {json.dumps(again)[:800]}")
        return True

    def end(self):
        if self.run.process.poll() is None:
            self.run.kill()

    def go(self):
        self.settle()
        readers = Readers(self.tool, self.journal, self.bodies)
        readers.start()
        try:
            first = self.fill()
            self.check_answers_without_space()
            seen, deadline = readers.count, time.monotonic() + 60
            while readers.count < seen + 2 and not readers.failure and time.monotonic() < deadline:
                time.sleep(0.02)
            if readers.count < seen + 2 and not readers.failure:
                raise Failed("readers failed while the disk was full")
            self.check_files("full, with the writer alive")
            segments = [self.segments()]
            self.disk.ballast[0].unlink()
            if self.post(1, size=self.largest) or self.post(self.batch, size=100):
                raise Failed("the disk was freed, but posts are still rejected")
            second = self.fill()
            self.check_answers_without_space()
            segments.append(self.segments())
            if self.disk.is_large and segments[-1] != 2:
                raise Failed(f"{segments[-1]} segments instead of 2: one rotation was expected")
        finally:
            readers.end()
        if self.run.close() != 1:
            raise Failed("posts were rejected, but the exit status is not 1")
        self.check_files("full, closed")
        if not self.reopen_while_full():
            raise Failed("a journal that was closed normally does not open without space")
        self.fill()
        self.run.kill()
        self.check_files("full, killed")
        opened = self.reopen_while_full()
        self.run.kill()
        self.check_files("full, opened after the kill")
        self.disk.ballast[1].unlink()
        if not self.reopen_while_full() or self.post(self.batch, size=100):
            raise Failed("the disk was freed, but the journal cannot be written")
        if self.run.close() != 0:
            raise Failed("nothing was rejected, but the exit status is not 0")
        self.check_files("freed, closed")
        rolled = f"in {segments[0]} and {segments[1]} segments, " if self.disk.is_large else ""
        return f"{first} and {second} posts accepted, {rolled}{len(self.refused)} rejected, {readers.count} reads, " \
               f"{'opened' if opened else 'storageFull'} after a kill without space"


class Copying:
    """A journal that is backed up to a small disk."""

    def __init__(self, tool, disk, rng, mebibytes, scratch):
        self.tool, self.disk = tool, disk
        self.home = tempfile.TemporaryDirectory(prefix="journal-", dir=scratch)
        self.source = str(pathlib.Path(self.home.name) / "journal")
        self.copy = str(disk.path / "copy")
        user = "0190a000-0000-7000-8000-0000000000a1"
        self.lines = [{"registerUser": {"user": user, "username": "Ann"}}, {"setPostcode": {"user": user, "postcode": "SW1A 1AA"}}]
        # Larger than the space beside the ballast, smaller than the space without it.
        self.lines += [{"postMessage": {"thread": "SW1A", "author": user, "body": chr(97 + rng.randrange(26)) * 10_000}}
                       for _ in range(int((mebibytes << 20) * 0.75) // 10_100)]

    def call(self, *words, lines=()):
        done = subprocess.run(
            [self.tool, *words], input="".join(json.dumps(line) + "\n" for line in lines).encode(), capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def expect(self, status, *words, lines=()):
        found, output, said = self.call(*words, lines=lines)
        if found != status:
            raise Failed(f"{words[0]} ended with status {found}, expected {status}: {said}")
        return output, said

    def go(self):
        self.expect(0, "run", self.source, lines=self.lines)
        for _ in range(2):
            _, said = self.expect(1, "backup", self.source, self.copy)
            if "storageFull" not in said or self.copy not in said:
                raise Failed(f"unexpected error of a backup to a full disk: {said!r}")
        self.expect(0, "verify", self.source)
        self.expect(0, "run", self.source, lines=self.lines[-1:])
        for path in self.disk.ballast:
            path.unlink()
        self.expect(0, "backup", self.source, self.copy)
        if self.expect(0, "export", self.copy)[0] != self.expect(0, "export", self.source)[0]:
            raise Failed("the copy differs from the journal")
        self.expect(0, "verify", self.copy, "--deep")
        return f"storageFull for a copy of {len(self.lines)} posts, and a complete copy after freeing space"

    def end(self):
        self.home.cleanup()


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--sizes", default="2,3,5", help="sizes of the file systems in MiB, separated by commas; may be empty")
    parser.add_argument("--rotation", action="store_true", help="also use file systems that fill around the rotation to a second segment")
    parser.add_argument("--tests", default=None, metavar="PACKAGE", help="also run the Swift tests of a small disk; they must be built")
    arguments = parser.parse_args()
    try:
        enter_namespace()
    except Skipped as reason:
        print(f"full_disk: SKIPPED: {reason}")
        return 0
    print(f"full_disk: seed {arguments.seed}", flush=True)
    scratch = tempfile.mkdtemp(prefix="full-disk-", dir=arguments.scratch)
    tool = str(pathlib.Path(arguments.tool).resolve())
    sizes = [int(size) for size in arguments.sizes.split(",") if size]
    # Not ext4: its own space would move the rotation.
    trials = [(kind, size, 16_384) for kind in ("tmpfs", "ext4") for size in sizes if kind == "tmpfs" or size <= 128]
    if arguments.rotation:
        # Without the ballast of 6 MiB: full before the end of the first segment, at its end, and in the second one.
        trials += [("tmpfs", size, 16_384) for size in (133, 134, 136)]
    skipped = set()
    for kind, size, largest in trials:
        for work in ("synced", "written", "backup"):
            rng = random.Random(f"{arguments.seed}/{kind}/{size}/{work}")
            batch = 64 if size > 128 else rng.choice((1, 8))
            label = f"{kind} of {size} MiB, {work}" + (f", batch {batch}" if work != "backup" else "")
            if work == "backup" and size > 128:
                continue
            try:
                disk = SmallDisk(kind, size, scratch)
            except Skipped as reason:
                if kind not in skipped:
                    print(f"  SKIPPED {kind}: {reason}", flush=True)
                skipped.add(kind)
                continue
            try:
                trial = Copying(tool, disk, rng, size, scratch) if work == "backup" \
                    else Trial(tool, disk, rng, work, batch, largest)
                print(f"  {label}: {trial.go()}", flush=True)
            except Failed as failure:
                print(f"FAILED seed {arguments.seed}, {label}\n  {failure}")
                return 1
            finally:
                trial.end()
                disk.remove()
    if arguments.tests:
        disk = SmallDisk("tmpfs", 4, scratch)
        done = subprocess.run(
            ["swift", "test", "--skip-build", "--filter", "SmallDiskTests"], cwd=arguments.tests, check=False,
            env={**os.environ, "CHATJOURNAL_SMALL_DISK": str(disk.path)})
        disk.remove()
        if done.returncode != 0:
            print("FAILED: the tests of a small disk")
            return 1
    shutil.rmtree(scratch)
    print("full_disk: every acknowledged event exists, and no rejected one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
