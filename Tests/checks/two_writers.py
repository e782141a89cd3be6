#!/usr/bin/env python3
"""Starts several writers on one journal at the same time: one gets the journal, the others change nothing.

    two_writers.py --tool PATH [--rounds 60] [--kills 60] [--writers 2] [--seed S] [--scratch DIR]

Each round starts several processes of `chat-journal run` at the same time, each with a post of its own, on a new journal
or on that of the previous round. Exactly one may answer. Each other process must end with status 1, print no answer, and
print `locked` on standard error. Afterwards the journal must contain the events of the winners' answers, and `verify`
must find nothing. The winner's open files of the journal must be closed on exec (checked on systems with /proc).

Then a writer is killed with SIGKILL at work, and another one is started at once: it must get the journal.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import program
from program import Failed

CLOSE_ON_EXEC = 0o2000000


class Writer:
    """A process of `run` with some lines of input; its standard input stays open until `end` or `kill`."""

    def __init__(self, tool, journal, durability, lines):
        self.errors = tempfile.TemporaryFile()
        reading, writing = os.pipe()
        # Written before the start, so that the process has its input at once.
        os.write(writing, "".join(json.dumps(line) + "\n" for line in lines).encode())
        self.expected = len(lines)
        self.process = subprocess.Popen(
            [tool, "run", journal, "--durability", durability], stdin=reading, stdout=subprocess.PIPE, stderr=self.errors)
        os.close(reading)
        self.input = writing

    def answers(self):
        """Returns the answers to the sent lines; None if the process ends without an answer."""
        lines = []
        while len(lines) < self.expected:
            line = self.process.stdout.readline()
            if not line:
                if lines:
                    raise Failed(f"a writer ended after {len(lines)} of {self.expected} answers: {self.end()}")
                return None
            lines.append(json.loads(line))
        return lines

    def inherited(self):
        """Returns the paths of open files that a program started by the process would inherit."""
        found = []
        try:
            for number in os.listdir(f"/proc/{self.process.pid}/fd"):
                path = os.readlink(f"/proc/{self.process.pid}/fd/{number}")
                with open(f"/proc/{self.process.pid}/fdinfo/{number}") as file:
                    flags = next(int(line.split()[1], 8) for line in file if line.startswith("flags:"))
                if int(number) > 2 and path.startswith("/") and not flags & CLOSE_ON_EXEC:
                    found.append(path)
        except FileNotFoundError:
            pass  # a system without this form of /proc
        return found

    def end(self):
        """Ends the input; returns (status, rest of standard output, standard error)."""
        if self.input is not None:
            os.close(self.input)
            self.input = None
        rest = self.process.stdout.read()
        self.process.stdout.close()
        status = self.process.wait(timeout=60)
        self.errors.seek(0)
        return status, rest, self.errors.read().decode("utf-8", "replace")

    def kill(self):
        self.process.kill()
        self.process.wait()
        os.close(self.input)
        self.process.stdout.close()


class Contest:
    def __init__(self, tool, rng, scratch):
        self.tool, self.rng, self.scratch = tool, rng, scratch
        self.number = 0
        self.begin()

    def begin(self):
        self.number += 1
        self.journal = str(pathlib.Path(self.scratch) / f"journal-{self.number}")
        self.durability = self.rng.choice(("synced", "written"))
        self.events = []

    def lines(self, posts):
        """Returns commands: a new user with a number of posts."""
        user = program.identifier(self.rng)
        return [{"registerUser": {"user": user, "username": f"Neighbour {user[:13]}"}},
                {"setPostcode": {"user": user, "postcode": "SW1A 1AA"}}] + [
                    {"postMessage": {"message": program.identifier(self.rng), "thread": "SW1A", "author": user, "body": f"{user} {number}"}}
                    for number in range(posts)]

    def take(self, answers):
        for answer in answers:
            if "positions" not in answer:
                raise Failed(f"unexpected answer to a command: {json.dumps(answer)[:800]}")
            if answer["positions"] != [len(self.events) + 1, len(self.events) + len(answer["events"])]:
                raise Failed(f"the positions {answer['positions']} follow position {len(self.events)}")
            self.events += answer["events"]

    def check_files(self, may_hold_more=False):
        found = program.events(self.tool, self.journal)
        if found[:len(self.events)] != self.events or (not may_hold_more and len(found) != len(self.events)):
            raise Failed(f"{len(found)} events in the journal, {len(self.events)} acknowledged ones, or different ones")
        self.events = found
        program.run_tool(self.tool, "verify", self.journal)

    def round(self, count):
        """Starts `count` writers at once; returns the number of the winner."""
        writers = [Writer(self.tool, self.journal, self.durability, self.lines(2)) for _ in range(count)]
        try:
            ended = {}
            deadline = time.monotonic() + 60
            # The losers end; the winner waits for more input.
            while len(ended) < count - 1 and time.monotonic() < deadline:
                for number, writer in enumerate(writers):
                    if number not in ended and writer.process.poll() is not None:
                        ended[number] = writer.process.returncode
                time.sleep(0.0005)
            winners = [number for number in range(count) if number not in ended]
            if len(winners) != 1:
                said = [writer.end() for number, writer in enumerate(writers) if number in ended]
                raise Failed(f"{len(winners)} of {count} writers have the journal; the others: {said}")
            for number in ended:
                status, printed, said = writers[number].end()
                if status != 1 or printed or "locked" not in said:
                    raise Failed(f"a loser ended with status {status}, output {printed!r} and error {said!r}")
            winner = writers[winners[0]]
            answers = winner.answers()
            if answers is None:
                raise Failed(f"no writer got the journal: {winner.end()}")
            self.take(answers)
            if winner.inherited():
                raise Failed(f"not closed on exec: {winner.inherited()}")
            self.check_files()
            status, printed, said = winner.end()
            if status != 0 or printed:
                raise Failed(f"the winner ended with status {status}, output {printed!r} and error {said!r}")
            self.check_files()
            return winners[0]
        finally:
            for writer in writers:
                if writer.process.poll() is None:
                    writer.process.kill()
                    writer.process.wait()

    def kill(self):
        """Kills a writer at work and starts another one at once; returns whether the first had work left."""
        posts = self.rng.randrange(1, 120)
        first = Writer(self.tool, self.journal, self.durability, self.lines(posts))
        # Kill it after an answer, because then it certainly has the journal.
        line = first.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise Failed(f"the first writer gave no answer: {first.end()}")
        self.take([json.loads(line)])
        time.sleep(self.rng.choice((0, 0, 0.001, 0.005)))
        first.kill()
        second = Writer(self.tool, self.journal, self.durability, self.lines(1))
        answers = second.answers()
        if answers is None:
            raise Failed(f"the lock of a killed writer is still held: {second.end()}")
        status, printed, said = second.end()
        if status != 0 or printed:
            raise Failed(f"the second writer ended with status {status}, output {printed!r} and error {said!r}")
        before = len(self.events)
        self.check_files(may_hold_more=True)
        told = [event for answer in answers for event in answer["events"]]
        if self.events[-len(told):] != told:
            raise Failed("the journal does not end with the events of the second writer's answers")
        return len(self.events) - len(told) < before + 2 + posts


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="rounds of writers that start together")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--writers", type=int, default=None, help="writers per round; default: 2 to 4 at random")
    arguments = parser.parse_args()
    print(f"two_writers: {arguments.rounds} rounds, {arguments.kills} kills, seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    scratch = tempfile.mkdtemp(prefix="two-writers-", dir=arguments.scratch)
    contest, winners, label = Contest(arguments.tool, rng, scratch), set(), ""
    try:
        for number in range(arguments.rounds):
            label = f"round {number}"
            if number and rng.random() < 0.5:
                contest.begin()
            winners.add(contest.round(arguments.writers or rng.choice((2, 2, 3, 4))))
        interrupted = 0
        for number in range(arguments.kills):
            label = f"kill {number}"
            interrupted += contest.kill()
    except Failed as failure:
        print(f"FAILED seed {arguments.seed}, {label}\n  journal: {contest.journal}\n  {failure}")
        return 1
    subprocess.run(["rm", "-r", "--", scratch], check=True)
    print(f"two_writers: one writer in each round, the others changed nothing; winners by number {sorted(winners)}; {interrupted} "
          "kills at work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
