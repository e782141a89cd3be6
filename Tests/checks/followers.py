#!/usr/bin/env python3
"""Runs many processes that follow a writer, and compares their output with the remaining journal.

    followers.py --tool PATH [--followers 24] [--seconds 4] [--kills 3] [--command WORDS] [--seed S] [--scratch DIR]

One process of `chat-journal run` receives posts of known text while the followers print events: with `events JOURNAL
--json --after P --follow` if the tool supports it, otherwise with repeated `events JOURNAL --json --after P` (`--command`
replaces the words after the tool; `{journal}` and `{after}` are substituted, and a command that ends is started again).
The writer is killed with SIGKILL every few seconds and started again; the last one is closed normally. Then:

- The output of each follower is a prefix of the output of `events --json`: in order, without a gap, a repetition or a
  partial line, and without an event that is not in the journal after the kills.
- Every follower has reached the end.
- Every answer that the writers printed is in the journal as printed.

The test runs once for each durability.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import program
from program import Failed, identifier


class Follower(threading.Thread):
    """The output of consecutive processes; each continues after the last position of the previous one."""

    def __init__(self, words, journal):
        super().__init__()
        self.words, self.journal = words, journal
        self.lines, self.after, self.starts = [], 0, 0
        self.failure, self.over, self.process = None, threading.Event(), None

    def run(self):
        while not self.over.is_set() and not self.failure:
            words = [word.replace("{journal}", self.journal).replace("{after}", str(self.after)) for word in self.words]
            with tempfile.TemporaryFile() as errors:
                self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
                self.starts += 1
                for line in self.process.stdout:
                    if not line.endswith(b"\n"):
                        break  # a partial line of a killed process
                    self.lines.append(line)
                    position = json.loads(line)["position"]
                    if position != self.after + 1:
                        self.failure = f"position {position} follows {self.after}"
                        self.process.kill()
                    self.after = position
                self.process.stdout.close()
                status = self.process.wait()
                errors.seek(0)
                said = errors.read().decode("utf-8", "replace")
            if status != 0 and not self.over.is_set() and not self.failure:
                self.failure = f"a follower at position {self.after} ended with status {status}: {said}"
            self.over.wait(0.005)

    def end(self):
        self.over.set()
        while self.is_alive():
            if self.process and self.process.poll() is None:
                self.process.kill()
            self.join(timeout=0.05)


class Writer:
    """A process of `run` with a thread that sends its input; ends by a kill or at the end of the input."""

    def __init__(self, tool, journal, durability, rng):
        # A new conversation, because lines of the previous one may be lost with the writer.
        self.rng, self.source, self.answers, self.sent = rng, conversation(rng), [], 0
        self.over = threading.Event()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [tool, "run", journal, "--durability", durability, "--batch", str(rng.choice((1, 4, 32)))], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors)
        self.threads = [threading.Thread(target=self.feed), threading.Thread(target=self.collect)]
        for thread in self.threads:
            thread.start()

    def feed(self):
        try:
            while not self.over.is_set():
                # Stay close to the answers, so that the journal stays small.
                if self.sent - len(self.answers) < 64:
                    chunk = [next(self.source) for _ in range(self.rng.choice((1, 1, 3, 20)))]
                    self.sent += len(chunk)
                    self.process.stdin.write("".join(json.dumps(line) + "\n" for line in chunk).encode())
                    self.process.stdin.flush()
                self.over.wait(0.01)
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # killed

    def collect(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.answers.append(json.loads(line))

    def end(self, kill):
        if self.process.poll() is not None:
            raise Failed(f"the writer ended without a kill, with status {self.process.returncode}: {self.said()}")
        if kill:
            self.process.kill()
        self.over.set()
        for thread in self.threads:
            thread.join()
        status = self.process.wait(timeout=120)
        wrong = [answer for answer in self.answers if "positions" not in answer]
        if wrong:
            raise Failed(f"unexpected answer to a command: {json.dumps(wrong[0])[:800]}")
        if not kill and (status != 0 or len(self.answers) != self.sent):
            raise Failed(f"the writer ended with status {status} and {len(self.answers)} answers to {self.sent} lines: {self.said()}")
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # the killed process can no longer read the flushed bytes
        self.process.stdout.close()
        return [event for answer in self.answers for event in answer["events"]]

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")


def conversation(rng):
    """Yields commands without end: an occasional new user, and numbered posts."""
    number = 0
    while True:
        user = identifier(rng)
        yield {"registerUser": {"user": user, "username": f"Neighbour {user[:13]}"}}
        yield {"setPostcode": {"user": user, "postcode": "SW1A 1AA"}}
        for _ in range(rng.randrange(5, 200)):
            number += 1
            yield {"postMessage": {"message": identifier(rng), "thread": "SW1A", "author": user,
                                   "body": f"{number} " + "\u00e9" * rng.choice((0, 10, 300))}}


def trial(tool, words, journal, durability, count, seconds, kills, rng):
    """Tests one journal; returns a summary."""
    answered = []
    followers = [Follower(words, journal) for _ in range(count)]
    # A reader needs an existing journal.
    first = Writer(tool, journal, durability, rng)
    deadline = time.monotonic() + 60
    while not first.answers and time.monotonic() < deadline:
        time.sleep(0.005)
    try:
        for follower in followers:
            follower.start()
        writer = first
        for kill in range(kills + 1):
            time.sleep(seconds * rng.uniform(0.5, 1.5) / (kills + 1))
            answered += writer.end(kill=kill < kills)
            if kill < kills:
                writer = Writer(tool, journal, durability, rng)
        exported = program.run_tool(tool, "events", journal, "--json").splitlines(keepends=True)
        deadline = time.monotonic() + 120
        while any(follower.after < len(exported) and not follower.failure for follower in followers) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        for follower in followers:
            if follower.is_alive():
                follower.end()
        if writer.process.poll() is None:
            writer.process.kill()
    for number, follower in enumerate(followers):
        if follower.failure:
            raise Failed(f"follower {number}: {follower.failure}")
        if follower.lines != exported[:len(follower.lines)]:
            at = next(i for i, line in enumerate(follower.lines) if [line] != exported[i:i + 1])
            raise Failed(f"follower {number} printed {follower.lines[at]!r} at {at + 1}, but the journal has {exported[at:at + 1]!r}")
        if len(follower.lines) != len(exported):
            raise Failed(f"follower {number} has reached {len(follower.lines)} of {len(exported)}")
    events = [json.loads(line) for line in exported]
    for event in answered:
        if event["position"] > len(events) or events[event["position"] - 1] != event:
            raise Failed(f"acknowledged, but not in the journal: {json.dumps(event)[:400]}")
    program.run_tool(tool, "verify", journal, "--deep")
    return f"{len(exported)} events, {len(answered)} of them acknowledged, {sum(follower.starts for follower in followers)} follower processes"


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--followers", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=4, help="duration of writing, for each durability")
    parser.add_argument("--kills", type=int, default=3, help="kills of the writer, for each durability")
    parser.add_argument("--command", default=None, help="the command of a follower, with {journal} and {after}")
    arguments = parser.parse_args()
    command = arguments.command
    if command is None:
        told = subprocess.run([arguments.tool, "events", "--help"], capture_output=True, check=True).stdout
        command = "events {journal} --json --after {after}" + (" --follow" if b"--follow" in told else "")
    print(f"followers: {arguments.followers} of {command!r}, seed {arguments.seed}", flush=True)
    scratch = tempfile.mkdtemp(prefix="followers-", dir=arguments.scratch)
    for durability in ("synced", "written"):
        journal = str(pathlib.Path(scratch) / f"journal-{durability}")
        try:
            done = trial(
                arguments.tool, [arguments.tool] + command.split(), journal, durability, arguments.followers, arguments.seconds,
                arguments.kills, random.Random(f"{arguments.seed}/{durability}"))
        except Failed as failure:
            print(f"FAILED seed {arguments.seed}, {durability}\n  journal: {journal}\n  {failure}")
            return 1
        print(f"  {durability}: {done}", flush=True)
    subprocess.run(["rm", "-r", "--", scratch], check=True)
    print("followers: each printed the complete journal, and nothing else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
