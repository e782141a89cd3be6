"""A writer of a log in a cluster: posts messages through `chat-journal run`, and repeats what was not answered."""

import collections
import json
import os
import subprocess
import tempfile
import threading
import time

import program
from cluster_nodes import Failed, wait_until


class Account:
    """The commands of one writer: which were sent, and the position of each answer."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []     # the commands, in order
        self.ids = {}       # the id of a message: the index of its command
        self.answered = {}  # the index of a command: the position of its event, None without an event
        self.times = []     # when each answer arrived
        user = program.identifier(self.rng)
        self.lines.append({"registerUser": {"user": user, "username": f"Neighbour {user[:13]}"}})
        self.lines.append({"setPostcode": {"user": user, "postcode": "SW1A 1AA"}})
        self.user = user

    def post(self):
        """Returns the index of a new command."""
        identifier = program.identifier(self.rng)
        self.ids[identifier] = len(self.lines)
        body = "Could someone pick up milk? " * self.rng.choice((1, 1, 2, 4, 60))
        self.lines.append({"postMessage": {"message": identifier, "thread": "SW1A", "author": self.user, "body": body}})
        return len(self.lines) - 1

    def take(self, index, answer):
        if "positions" not in answer:
            raise Failed(f"unexpected answer to {json.dumps(self.lines[index])[:200]}: {json.dumps(answer)[:400]}")
        position = answer["positions"][0] if answer["positions"] else None
        if index in self.answered and self.answered[index] != position and position is not None:
            raise Failed(f"command {index} was answered at position {self.answered[index]}, and again at {position}")
        self.answered[index] = position
        self.times.append(time.monotonic())

    def longest_pause(self, since):
        """Returns the longest time between two answers after a moment; the first counts from the moment."""
        later = [since] + [moment for moment in self.times if moment > since]
        return max((after - before for before, after in zip(later, later[1:])), default=0.0)

    def check(self, events):
        """Compares all events of a log with the answers; returns (lost, twice)."""
        places = {}
        twice = 0
        for number, event in enumerate(events, 1):
            if event["position"] != number:
                raise Failed(f"position {number} is missing: found {event['position']}")
            message = event.get("messagePosted", {}).get("message")
            if message in self.ids:
                twice += message in places
                places[message] = number
        lost = [identifier for identifier, index in self.ids.items() if index in self.answered
                and places.get(identifier) != self.answered[index]]
        if lost or twice:
            raise Failed(f"{len(lost)} answered messages are not at their positions, {twice} messages are there twice: {lost[:5]}")
        return len(lost), twice


class Writer:
    """Processes of `chat-journal run`, one after another: a new one repeats what the last one has not answered."""

    def __init__(self, tool, address, environment, account, options=(), restarts=True, rate=400, window=64):
        self.command = [tool, "run", address, "--batch", "64", *options]
        self.environment, self.account = environment, account
        self.restarts, self.rate, self.window = restarts, rate, window
        self.process = None
        self.ends = []          # the standard error of each process that ended by itself
        self.fault = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.guarded)
        self.thread.start()

    def guarded(self):
        try:
            while not self.one_process() and self.restarts:
                time.sleep(0.2)
        except Exception as fault:  # raised again in the main thread, by `check_fault`
            self.fault = fault

    def one_process(self):
        """Runs one process to its end; returns whether it ended because it was asked to."""
        waiting = collections.deque(index for index in range(len(self.account.lines)) if index not in self.account.answered)
        sent, answers, ended = [], 0, threading.Event()
        room = threading.Semaphore(self.window)
        with tempfile.TemporaryFile() as errors:
            self.process = process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                      stderr=errors)

            def feed():
                # The process is asked to end by the end of its input, when everything is answered.
                try:
                    while not ended.is_set() and (waiting or not self.stopping.is_set()):
                        chunk = self.account.rng.choice((1, 1, 2, 4, 16))
                        indexes = []
                        while len(indexes) < chunk and not ended.is_set() and room.acquire(timeout=1):
                            indexes.append(waiting.popleft() if waiting else self.account.post())
                        sent.extend(indexes)
                        process.stdin.write(b"".join(json.dumps(self.account.lines[index]).encode() + b"\n" for index in indexes))
                        process.stdin.flush()
                        time.sleep(len(indexes) / self.rate)
                    process.stdin.close()
                except BrokenPipeError:
                    pass  # the process has ended: what it has not answered is repeated

            feeder = threading.Thread(target=feed)
            feeder.start()
            try:
                for line in process.stdout:
                    if not line.endswith(b"\n"):
                        break  # cut off: not an answer
                    answer = json.loads(line)
                    if answer["line"] != answers + 1:
                        raise Failed(f"the answer to line {answers + 1} says line {answer['line']}")
                    self.account.take(sent[answers], answer)
                    answers += 1
                    room.release()
            finally:
                ended.set()
                feeder.join()
                try:
                    process.stdin.close()
                except BrokenPipeError:
                    pass  # it ended with input that it had not read
                process.stdout.close()
                status = process.wait()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")
        if status == 0:
            if answers != len(sent) or not self.stopping.is_set():
                raise Failed(f"the writer ended with status 0 after {answers} answers to {len(sent)} commands: {said}")
            return True
        if status != 1 or not said.strip():
            raise Failed(f"the writer ended with status {status}: {said}")
        self.ends.append(said.strip())
        return False

    def check_fault(self):
        if self.fault is not None:
            raise self.fault

    def wait_for_answers(self, count):
        """Waits until a number of further answers has arrived."""
        target = len(self.account.times) + count

        def arrived():
            self.check_fault()
            if not self.thread.is_alive():
                raise Failed(f"the writer has ended: {self.ends}")
            return len(self.account.times) >= target
        wait_until(f"{count} more answers; the processes of the writer ended with {self.ends[-3:]}", arrived)

    def stop(self):
        """Ends the writer after everything is answered."""
        self.stopping.set()
        wait_until(f"the end of the writer, whose processes ended with {self.ends[-3:]}", lambda: not self.thread.is_alive())
        self.check_fault()

    def kill(self):
        """Ends the writer at once; does nothing if it has ended."""
        self.restarts = False
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self.thread.join()


class Follower:
    """A process of `chat-journal events --follow`, whose output is kept in a file."""

    def __init__(self, tool, address):
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([tool.path, "events", address, "--json", "--follow"], env=tool.environment, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=self.errors)

    @staticmethod
    def text(file):
        """Reads a file from its beginning. The process writes at the position of the same file, which must not move."""
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)

    def lines(self):
        return [line for line in self.text(self.output).splitlines(keepends=True) if line.endswith(b"\n")]

    def check(self, events):
        """Waits until every event was shown, and compares."""
        def has_ended_or_shown_all():
            return self.process.poll() is not None or len(self.lines()) >= len(events)
        wait_until("all events at the follower", has_ended_or_shown_all)
        shown = [json.loads(line) for line in self.lines()]
        if shown != events:
            errors = self.text(self.errors).decode()
            raise Failed(f"the follower has shown {len(shown)} events of {len(events)}, or other ones: {errors}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.errors.close()


class Tool:
    def __init__(self, path, password):
        self.path = os.path.abspath(path)
        self.environment = {**os.environ, "PGPASSWORD": password}

    def ask(self, *words):
        """Runs the tool; returns (status, output, errors)."""
        done = subprocess.run([self.path, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=600)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()

    def events(self, address):
        status, output, errors = self.ask("events", address, "--json")
        if status != 0:
            raise Failed(f"events ended with status {status}: {errors}")
        return [json.loads(line) for line in output.splitlines()]

    def verify(self, address):
        status, output, errors = self.ask("verify", address, "--deep")
        if status != 0:
            raise Failed(f"verify ended with status {status}: {output.decode('utf-8', 'replace')} {errors}")

    def refuse_second(self, address):
        """Tries to open a log for writing while another writer has it."""
        status, output, errors = self.ask("run", address, os.devnull)
        if status != 1 or "locked" not in errors or output:
            raise Failed(f"a second writer ended with status {status}: {output!r} {errors}")
