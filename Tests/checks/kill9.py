#!/usr/bin/env python3
"""Kills `chat-journal run` at random moments with SIGKILL and checks the remaining journal.

    kill9.py --tool PATH [--runs 200] [--seed S] [--fresh 10] [--batch N] [--scratch DIR]

Each run pipes generated commands into the tool and kills it: some milliseconds after the start, or after a number of
answers. The journal must then contain exactly the events of a prefix of the commands, as computed by the independent
rules of model.py: no position is missing, no commit is partial, and no event is unexpected. Every printed answer must be
correct, and its events must be in the journal as printed. The next run continues with the same journal and first repeats
all commands without an answer. After every `--fresh` runs the journal is closed normally and verified, and a new one is
created. Durability alternates between journals; batch sizes vary unless one is given.

The seed determines the commands, together with the commands that each kill interrupts. The moment of a kill is random,
but the machine determines what it interrupts. A failure prints the run and the path of the journal, which is kept.
"""

import collections
import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import model
import program
import random_commands
from program import Failed

BODIES = ["Could someone pick up milk?", "Left it on the step \U0001F95B", "Dzi\u0119ki!", "\u001b[31mnot red\u001b[0m",
          "x" * 700, "long " * 900, "one\ntwo", "\u05e9\u05dc\u05d5\u05dd", "?"]


class Generator(random_commands.Community):
    """Generates posts, and the random commands of random_commands.py, each with a correlation id."""

    def __init__(self, rng, state):
        super().__init__(rng)
        self.state = state

    def next(self):
        name, fields = model.command_of(super().next())
        places = [(thread, user) for thread, found in self.state.threads.items() if not (found["locked"] or found["closed"]) for user in found["members"]]
        if places and self.rng.random() < 0.6:
            thread, user = self.rng.choice(places)
            name, fields = "postMessage", {"message": program.identifier(self.rng), "thread": thread, "author": user, "body": self.rng.choice(BODIES)}
        line = {name: fields, "correlation": program.identifier(self.rng)}
        self.state.execute(line)
        return line


class JournalUnderTest:
    """One journal over several runs: its confirmed events, and the state that follows from them."""

    def __init__(self, tool, path, durability):
        self.tool, self.path, self.durability = tool, str(path), durability
        self.state = model.Model()
        self.thread_ids = {}
        self.raw = []         # the lines of `events --json`, confirmed
        self.unanswered = []  # sent or to be repeated, without an answer

    def ask(self, *words):
        return subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def run(self, rng, batch, kill):
        """Sends commands until `kill(answers so far, seconds)` returns true. If `kill` is None, sends the unanswered
        commands and a few more, then ends the input. Returns the sent commands and the answers."""
        command = [self.tool, "run", self.path, "--durability", self.durability, "--batch", str(batch)]
        resent, generator = self.unanswered, Generator(rng, copy.deepcopy(self.state))
        sent, answers, faults, stop = [], [], [], threading.Event()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

            def feed():
                waiting = collections.deque(resent)
                try:
                    while not stop.is_set() and len(sent) < 20_000:
                        chunk = []
                        for _ in range(rng.choice((1, 1, 3, 16, 64))):
                            if waiting:
                                chunk.append(waiting.popleft())
                                generator.state.execute(chunk[-1])
                            else:
                                chunk.append(generator.next())
                        sent.extend(chunk)
                        process.stdin.write("".join(json.dumps(line) + "\n" for line in chunk).encode())
                        process.stdin.flush()
                        if kill is None and not waiting:
                            break
                    if kill is None:
                        process.stdin.close()
                except BrokenPipeError:
                    pass  # killed while writing: commands that were not read remain unanswered
                except Exception as fault:  # a fault of this program: raised again in the main thread
                    faults.append(fault)

            def collect():
                for line in process.stdout:
                    answers.append(line)

            began = time.monotonic()
            threads = [threading.Thread(target=feed), threading.Thread(target=collect)]
            for thread in threads:
                thread.start()
            while kill is not None and process.poll() is None and not kill(len(answers), time.monotonic() - began):
                time.sleep(0.0005)
            early = kill is not None and process.poll() is not None
            if kill is not None and not early:
                process.kill()
            status = process.wait(timeout=600)
            stop.set()
            for thread in threads:
                thread.join()
            if process.stdin and not process.stdin.closed:
                try:
                    process.stdin.close()
                except BrokenPipeError:
                    pass  # the killed process can no longer read the flushed bytes
            process.stdout.close()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")
        if faults:
            raise faults[0]
        if early:
            raise Failed(f"the tool ended without a kill, with status {status}: {said}")
        if kill is None and status not in (0, 1):
            raise Failed(f"the tool ended with status {status}: {said}")
        # The kill may cut the last line: it is an answer only with its newline.
        return sent, [json.loads(line) for line in answers if line.endswith(b"\n")], status

    def exported(self, may_be_absent):
        done = self.ask("events", self.path, "--json")
        if done.returncode != 0:
            if may_be_absent:
                return []
            raise Failed(f"events ended with status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
        return done.stdout.decode("utf-8").splitlines()

    def check(self, sent, answers):
        """Compares the journal with the commands sent and the answers printed; returns the number of new events."""
        raw = self.exported(may_be_absent=not answers and not self.raw)
        if raw[:len(self.raw)] != self.raw:
            at = next((i for i, (a, b) in enumerate(zip(raw, self.raw)) if a != b), min(len(raw), len(self.raw)))
            raise Failed(f"a confirmed event has changed at position {at + 1}: {self.raw[at:at + 1]} became {raw[at:at + 1]}")
        events = [json.loads(line) for line in raw]
        for number, event in enumerate(events[len(self.raw):], len(self.raw) + 1):
            if event["position"] != number:
                raise Failed(f"position {number} is missing: found {event['position']}")
        if len(answers) > len(sent):
            raise Failed(f"{len(answers)} answers to {len(sent)} commands")
        state, applied = self.state, 0
        for index, line in enumerate(sent):
            if index >= len(answers) and state.position == len(events):
                break
            before = state.position
            outcome = state.execute(line)
            where = f"command {index + 1} {json.dumps(line)[:400]}"
            if state.position > before:
                found = events[before:state.position]
                if len(found) < state.position - before:
                    what = "answered, but" if index < len(answers) else "a partial commit:"
                    raise Failed(f"{where}: {what} {len(found)} of {state.position - before} events are in the journal")
                wrong = model.event_differences(outcome.events, found, self.thread_ids)
                wrong += random_commands.correlation_differences(line, outcome, {"events": found})
                if wrong:
                    raise Failed(f"{where}: {'; '.join(wrong)}")
            if index < len(answers):
                answer = answers[index]
                wrong = model.differences(outcome, answer, self.thread_ids)
                if answer.get("line") != index + 1:
                    wrong.append(f"the answer is for line {answer.get('line')}")
                # The answer to a repeated command hides what this sender did not send.
                if outcome.positions and not outcome.duplicate and not wrong:
                    first, last = outcome.positions
                    expected = events[first - 1:last]
                    if answer["events"] != expected:
                        printed, kept = json.dumps(answer["events"])[:800], json.dumps(expected)[:800]
                        wrong.append(f"printed {printed}, in the journal {kept}")
                if wrong:
                    raise Failed(f"{where}: {'; '.join(wrong)}")
            applied = index + 1
        if state.position != len(events):
            raise Failed(f"{len(events)} events in the journal, but all {applied} commands produce {state.position}")
        new = len(raw) - len(self.raw)
        self.raw, self.unanswered = raw, sent[len(answers):] + self.unanswered[len(sent):]
        return new

    def verify(self):
        if not self.raw and not pathlib.Path(self.path).exists():
            return
        done = self.ask("verify", self.path, "--json")
        try:
            report = json.loads(done.stdout)
        except ValueError:
            report = None
        if not self.raw and report is None:
            return  # killed before the journal existed; the next run must create it
        if done.returncode != 0 or report is None or not report["ok"] or report["position"] != len(self.raw):
            raise Failed(f"verify at {len(self.raw)} ended with status {done.returncode}: {done.stdout!r} {done.stderr!r}")


def moment(rng):
    """Returns when to kill: (a phrase, a function of the answers so far and the seconds since the start)."""
    if rng.random() < 0.5:
        seconds = rng.uniform(0, 0.15)
        return f"{seconds * 1000:.1f} ms after the start", lambda answers, elapsed: elapsed >= seconds
    wanted = rng.choice((1, 2, rng.randrange(3, 60), rng.randrange(60, 1500)))
    return f"after {wanted} answers", lambda answers, elapsed: answers >= wanted or elapsed > 5


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--fresh", type=int, default=10, help="kills per journal")
    parser.add_argument("--batch", type=int, default=None, help="default: 1, 8 or 64 at random")
    arguments = parser.parse_args()
    print(f"kill9: {arguments.runs} runs, seed {arguments.seed}", flush=True)
    scratch = tempfile.mkdtemp(prefix="kill9-", dir=arguments.scratch)
    totals = collections.Counter()
    under_test = None

    def close_in_order(rng):
        sent, answers, status = under_test.run(rng, 1, None)
        if len(answers) != len(sent):
            raise Failed(f"{len(sent)} commands up to the end of the input, {len(answers)} answers")
        refused = any("rejection" in answer for answer in answers)
        if status != (1 if refused else 0):
            raise Failed(f"exit status {status}, but {'a' if refused else 'no'} command was rejected")
        totals["events"] += under_test.check(sent, answers)
        totals["answers"] += len(answers)
        under_test.verify()
        subprocess.run(["rm", "-r", "--", under_test.path], check=True)

    try:
        for run in range(arguments.runs):
            rng = random.Random(f"{arguments.seed}/{run}")
            if run % arguments.fresh == 0:
                if under_test:
                    close_in_order(rng)
                durability = ("written", "synced")[run // arguments.fresh % 2]
                under_test = JournalUnderTest(arguments.tool, pathlib.Path(scratch) / f"journal-{run}", durability)
            batch = arguments.batch or rng.choice((1, 8, 64))
            text, kill = moment(rng)
            label = f"run {run}: {under_test.durability}, batch {batch}, killed {text}"
            sent, answers, _ = under_test.run(rng, batch, kill)
            new = under_test.check(sent, answers)
            under_test.verify()
            totals.update(answers=len(answers), events=new, unanswered=len(under_test.unanswered))
            totals["runs " + under_test.durability] += 1
            totals["kills between commands and answers"] += bool(under_test.unanswered)
        label = "the last journal, closed normally"
        if under_test:
            close_in_order(random.Random(f"{arguments.seed}/end"))
    except Failed as failure:
        print(f"FAILED seed {arguments.seed}, {label}\n  journal: {under_test.path}\n  {failure}")
        return 1
    os.rmdir(scratch)
    print("kill9: no difference; " + ", ".join(f"{count} {what}" for what, count in sorted(totals.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
