#!/usr/bin/env python3
"""Makes faults of a machine under `chat-journal serve`, and looks at what is lost, what the log says and whether the health is true.

    server_faults.py --tool PATH [--seed S] [--scratch DIR] [--seconds S] [ROW ...]

Each row has a server of its own, a person who posts all the time, and a look at `/healthz` five times a second, each by a new connection.
It prints what was acknowledged, refused and lost, what the health was before, during and after the fault, the seconds until the
health told of it and of its end, and how often the log has which line. The rows, all by default:

    descriptors     `ulimit -n` of 64 and of 256, and more connections than that: idle ones, which come again and again, then streams
    full-journal    no space on the file system of the journal
    full-accounts   no space on the file system of the accounts
    full-mail       no space on the file system of the mail directory
    moved-journal   the directory of the journal is renamed; removed-journal: it is removed
    moved-accounts  the directory of the accounts is renamed, and named as before again; removed-accounts: it is removed
    moved-mail      the mail directory is renamed, and named as before again
    clock           the clock of the server is stepped: less than a day, more than a day, ten years, and back
    drain           SIGTERM while 200 clients read a byte a second, or nothing, follow, or have sent half a body
    second          second servers with the same journal, accounts and port
    postgres        PostgreSQL, for one server without a cluster, is frozen, and stopped and started; needs a tool with the trait Postgres

`--seconds` is the length of a fault; an outage of PostgreSQL is four times as long. The small file systems are mounted in a mount
namespace of their own. Without the right to do so these rows are SKIPPED, like those whose programs are missing.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import full_disk
import program
import server_client
from ports import free_port
from program import Failed, Skipped
from server_client import Connection, PASSWORD, Server, Stream

# Seconds after which the health must tell of a fault, and of its end.
TRUTH = 10
# A look at the health takes 0.1 s at most; the rest is for a machine that is busy.
LATENCY = 1.0
# The longest time from SIGTERM to the end: *HTTP* of ChatServer.md, and a second for a busy machine.
DRAIN = 20 + 1
# The most seconds in which posts are acknowledged after the journal's files were removed: *When the journal stops*.
UNNOTICED = 1 + 1


class Health(threading.Thread):
    """Looks at the health of a server five times a second, each time by a new connection."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.samples, self.ending = server, [], threading.Event()
        self.start()

    def look(self):
        asked = time.monotonic()
        try:
            with Connection(self.server.port, timeout=10) as web:
                answer = web.ask("GET", "/healthz")
            said = json.loads(answer.body)
            found = (said["status"], said.get("warnings", [])) if answer.status == 200 else (said["code"], [])
        except OSError:
            found = ("away", [])
        self.samples.append((asked, time.monotonic() - asked, *found))

    def run(self):
        while not self.ending.wait(0.2):
            self.look()

    def wait_for(self, what, since, seconds=TRUTH):
        """Waits until the health is `what`, a status or a warning; "well" is `ok` without a warning. Returns the seconds since a moment."""
        def fits(sample):
            return sample[2] == "ok" and not sample[3] if what == "well" else what == sample[2] or what in sample[3]
        while True:
            for sample in list(self.samples):
                if sample[0] >= since and fits(sample):
                    return sample[0] - since
            if time.monotonic() > since + seconds:
                raise Failed(f"the health was not {what} within {seconds} s: {self.samples[-3:]}")
            time.sleep(0.05)

    def between(self, since, until):
        """Returns the different answers between two moments, as one text."""
        found = []
        for sample in self.samples:
            text = sample[2] + (f" {'+'.join(sample[3])}" if sample[3] else "")
            if since <= sample[0] <= until and text not in found:
                found.append(text)
        return ", ".join(found) or "not asked"

    def end(self, allows_silence=False):
        """Ends; returns the slowest answer in seconds."""
        self.ending.set()
        self.join()
        slowest = max((sample[1] for sample in self.samples if sample[2] != "away" or not allows_silence), default=0.0)
        if slowest > LATENCY:
            raise Failed(f"a look at the health took {slowest:.1f} s")
        return slowest


class Poster(threading.Thread):
    """A person who posts one message after another; each is sent once."""

    def __init__(self, server, token, size=40, pause=0.05):
        super().__init__(daemon=True)
        self.server, self.token, self.size, self.pause = server, token, size, pause
        self.acknowledged = []  # (message, position, when)
        self.refused, self.fault = collections.Counter(), None
        self.ending = threading.Event()
        self.start()

    def run(self):
        web = Connection(self.server.port, timeout=120)
        while not self.ending.wait(self.pause):
            message = server_client.identifier()
            command = {"postMessage": {"message": message, "thread": "SW1A", "body": "x" * self.size}}
            try:
                answer = web.ask("POST", "/v1/commands", command, self.token)
                said = json.loads(answer.body)
                if answer.status != 200:
                    self.refused[f"{answer.status} {said['code']}"] += 1
                elif "rejection" in said:
                    self.refused[said["rejection"]["code"]] += 1
                else:
                    self.acknowledged.append((message, said["positions"][0], time.monotonic()))
            except OSError:
                web.close()
                self.refused["unanswered"] += 1
            except Exception as fault:  # raised again in the main thread
                self.fault = fault
                return
        web.close()

    def wait_for(self, count, seconds=30):
        """Waits until a number of further messages is acknowledged."""
        target, deadline = len(self.acknowledged) + count, time.monotonic() + seconds
        while len(self.acknowledged) < target:
            if self.fault or time.monotonic() > deadline:
                raise Failed(f"of {count} posts {len(self.acknowledged) - target + count} were acknowledged in {seconds} s: {self.refused} {self.fault!r}")
            time.sleep(0.02)

    def since(self, moment):
        return [post for post in self.acknowledged if post[2] > moment]

    def end(self):
        self.ending.set()
        self.join()
        if self.fault:
            raise self.fault


class Scene:
    """A server, a person who posts, and the health, around one fault."""

    def __init__(self, row, name, server=None, tool=None, size=40, options=()):
        self.row, self.name = row, name
        self.server = server or Server(tool or row.tool, row.scratch / name, options)
        self.notes, self.ended, self.again = [], None, None

    def __enter__(self):
        self.server.start()
        with self.server.connection() as web:
            self.person = self.server.person(web)
            web.execute({"setPostcode": {"postcode": "SW1A 1AA"}}, self.person.token)
        self.health = Health(self.server)
        self.poster = Poster(self.server, self.person.token)
        self.poster.wait_for(5)
        self.health.wait_for("well", time.monotonic())
        self.began = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        self.health.ending.set()
        self.poster.ending.set()
        if kind:
            print(f"--- the log of {self.name}:\n{self.server.log_text()[-3000:]}", flush=True)
        if self.server.process.poll() is None:
            self.server.kill()

    def ask(self, method, target, body=None, token=None, timeout=30):
        """Asks by a connection of its own; returns (status, code or None)."""
        with self.server.connection(timeout=timeout) as web:
            answer = web.ask(method, target, body, token, headers=self.server.from_elsewhere())
        said = json.loads(answer.body) if answer.body else {}
        return answer.status, said.get("code") if isinstance(said, dict) else None

    def sign_in(self):
        return self.ask("POST", "/v1/sign-in", {"email": self.person.email, "password": PASSWORD})

    def ask_for_code(self):
        """Asks for a code of an address without an account, which writes as much as one with an account."""
        return self.ask("POST", "/v1/forgot-password", {"email": f"{self.row.rng.getrandbits(64):x}@example.org"})

    def require_reads(self):
        for target in ("/v1/me", "/v1/threads/SW1A/timeline?limit=5"):
            found = self.ask("GET", target, token=self.person.token)
            if found[0] != 200:
                raise Failed(f"GET {target} during the fault: {found}")

    def log_events(self):
        events = collections.Counter()
        for line in self.server.log_text().splitlines():
            try:
                said = json.loads(line)
                events[" ".join(str(said[key]) for key in ("event", "status", "warnings", "code") if key in said)] += 1
            except ValueError:
                events[line[:160]] += 1
        for routine in ("listening", "closed"):
            del events[routine]
        return events

    def check(self, events, but=()):
        """Every acknowledged message is in the journal once, at its position; returns the number of others."""
        places = collections.defaultdict(list)
        for event in events:
            if message := event.get("messagePosted", {}).get("message"):
                places[message].append(event["position"])
        lost = [post for post in self.poster.acknowledged if post not in but and places.get(post[0]) != [post[1]]]
        if lost:
            raise Failed(f"{len(lost)} acknowledged posts are not in the journal once, at their positions: {lost[:3]}")

    def end_fault(self, end):
        """Ends the fault, and waits until the health tells of it."""
        end()
        self.ended = time.monotonic()
        self.again = self.health.wait_for("well", self.ended)

    def wait_for_end(self, seconds):
        """Waits until the server has ended; returns its status."""
        try:
            status = self.server.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"the server has not ended in {seconds} s") from None
        self.ended = time.monotonic()
        Server.running.discard(self.server)
        return status

    def finish(self, told, again=None, journal=True, lost=()):
        """Ends the server, if it has not ended, compares, and prints the row. `told` is a text, or seconds."""
        runs = self.server in Server.running
        ended, again = self.ended or time.monotonic(), self.again if again is None else again
        told = told if isinstance(told, str) else f"{told:.1f} s"
        self.poster.end()
        slowest = self.health.end(not runs)
        if runs:
            self.server.stop()
        if journal:
            self.check(self.server.events(), but=lost)
            self.server.verify()
        after = self.health.between(ended + (again or 0), time.monotonic())
        lines = ", ".join(f"{count} x {event}" for event, count in self.log_events().items()) or "nothing"
        refused = ", ".join(f"{count} x {code}" for code, count in self.poster.refused.items()) or "none"
        print(f"{self.name}: {len(self.poster.acknowledged)} acknowledged, {len(lost)} lost, refused: {refused}\n"
              f"    health: before well; during {self.health.between(self.began, ended + (again or 0))}; after {after}\n"
              f"    told after {told}; well again after {'never: it ends' if again is None else f'{again:.1f} s'}; the slowest look {slowest * 1000:.0f} ms\n"
              f"    log: {lines}" + "".join(f"\n    {note}" for note in self.notes), flush=True)


class Row:
    """What the rows share."""

    def __init__(self, tool, scratch, rng, length):
        self.tool, self.scratch, self.rng, self.length = tool, scratch, rng, length

    # MARK: Descriptors

    def descriptors(self):
        for limit in (64, 256):
            self.descriptors_of(limit)

    def descriptors_of(self, limit):
        tool = self.scratch / f"limited-{limit}"
        tool.write_text(f'#!/bin/sh\nulimit -n {limit}\nexec "{self.tool}" "$@"\n')
        tool.chmod(0o755)
        with Scene(self, f"descriptors {limit}", tool=str(tool)) as scene:
            port = scene.server.port
            before, began = processor_seconds(scene.server), time.monotonic()
            held, served, told, asking, longest = [], collections.Counter(), None, None, 0.0
            # Idle connections, of which the server ends some: others come at once.
            while time.monotonic() < began + self.length or asking:
                held = [each for each in held if is_open(each)]
                while len(held) < 3 * limit:
                    held.append(connect(port))
                # A newcomer who is told to come later comes until it is answered.
                asking = asking or time.monotonic()
                status = scene.ask("GET", "/v1/me", token=scene.person.token, timeout=5)[0]
                served[status] += 1
                longest = max(longest, time.monotonic() - asking)
                if status == 200:
                    asking = None
                elif longest > TRUTH:
                    raise Failed(f"a newcomer is not served within {TRUTH} s: {served}")
                time.sleep(0.1)
            spent = (processor_seconds(scene.server) - before) / (time.monotonic() - began)
            told = scene.health.wait_for("connectionsFull", began)
            scene.notes.append(f"idle: {3 * limit} connections; newcomers were answered {dict(served)}, each with 200 after {longest:.1f} s at most; {spent:.2f} of a processor")
            if set(served) - {200, 503}:
                raise Failed(f"newcomers are answered {served}")
            for each in held:
                each.close()
            scene.health.wait_for("well", time.monotonic())
            # Streams, which are never idle, take all connections; the health is answered all the same.
            began, streams = time.monotonic(), []
            for _ in range(limit):
                stream = Stream(port, scene.person.token, connect=False)
                stream.connect(timeout=5)
                streams.append(stream)
            before, start = processor_seconds(scene.server), time.monotonic()
            answers = collections.Counter()
            while time.monotonic() < start + self.length:
                answers[" ".join(map(str, filter(None, scene.ask("GET", "/v1/me", token=scene.person.token, timeout=5))))] += 1
                time.sleep(0.2)
            spent = max(spent, (processor_seconds(scene.server) - before) / (time.monotonic() - start))
            scene.health.wait_for("connectionsFull", began)
            open_streams = 0
            for stream in streams:
                while stream.answer is None and stream.read(1):
                    pass
                open_streams += stream.answer is not None and stream.answer.status == 200
                stream.close()
            if open_streams < 8:
                raise Failed(f"only {open_streams} streams are open")
            scene.notes.append(f"streams: {open_streams} of {limit} are open; newcomers were answered {dict(answers)}")
            if spent > 0.7:
                raise Failed(f"the server took {spent:.2f} of a processor while connections waited")
            scene.end_fault(lambda: None)
            scene.poster.wait_for(5)
            if (found := scene.ask("GET", "/v1/me", token=scene.person.token))[0] != 200:
                raise Failed(f"after the close a newcomer is answered {found}")
            scene.finish(told)

    # MARK: Full disks

    @contextlib.contextmanager
    def small_disk(self, mebibytes=8):
        if not os.environ.get(full_disk.INSIDE):
            raise Skipped("a small file system cannot be mounted")
        disk = full_disk.SmallDisk("tmpfs", mebibytes, self.scratch)
        try:
            yield disk
        finally:
            Server.kill_all()
            disk.remove()

    def full_journal(self):
        with self.small_disk(4) as disk:
            server = Server(self.tool, self.scratch / "full-journal")
            server.journal = str(disk.path / "journal")
            with Scene(self, "full-journal", server) as scene:
                scene.poster.size, scene.poster.pause = 12_000, 0.01
                began = time.monotonic()
                fill(disk.path)
                told = scene.health.wait_for("storageFull", began, seconds=60)
                full = scene.began = next(sample[0] for sample in scene.health.samples if "storageFull" in sample[3])
                first = next(iter(scene.poster.refused), None)
                while time.monotonic() < full + self.length:
                    scene.require_reads()
                    time.sleep(0.5)
                require_status(scene, "degraded", full + 0.5, time.monotonic() - 0.5)
                if first != "storageFull":
                    raise Failed(f"posts on a full disk are answered {scene.poster.refused}")
                scene.end_fault(disk.ballast[0].unlink)
                scene.poster.size = 40
                scene.poster.wait_for(5)
                scene.finish(f"{told:.1f} s of posting")

    def full_accounts(self):
        with self.small_disk() as disk:
            server = Server(self.tool, self.scratch / "full-accounts")
            server.own_options = lambda: ["--accounts", str(disk.path / "accounts"), "--mail", str(server.mail)]
            with Scene(self, "full-accounts", server) as scene:
                began = time.monotonic()
                fill(disk.path)
                # The write-ahead log has pages that are used again.
                answers = collections.Counter()
                while answers[503, "storageFull"] == 0 and time.monotonic() < began + 60:
                    answers[scene.ask_for_code()] += 1
                told = scene.health.wait_for("accountsFull", time.monotonic())
                full = time.monotonic()
                while time.monotonic() < full + self.length:
                    scene.require_reads()
                    answers[scene.ask_for_code()] += 1
                    time.sleep(0.5)
                scene.poster.wait_for(3)
                require_status(scene, "degraded", full + 0.5, time.monotonic() - 0.5)
                if set(answers) - {(202, None), (503, "storageFull")}:
                    raise Failed(f"requests for codes on a full disk are answered {answers}")
                scene.end_fault(disk.ballast[0].unlink)
                if (found := scene.sign_in())[0] != 200:
                    raise Failed(f"with space again a sign-in is {found}")
                scene.notes.append(f"requests for codes: {dict(answers)}")
                scene.finish(told)

    def full_mail(self):
        with self.small_disk(2) as disk:
            server = Server(self.tool, self.scratch / "full-mail")
            server.mail = disk.path / "mail"
            server.mail.mkdir(mode=0o700)
            self.lose_mail("full-mail", server, lambda: fill(disk.path), disk.ballast[0].unlink)

    def moved_mail(self):
        server = Server(self.tool, self.scratch / "moved-mail")
        elsewhere = server.directory / "elsewhere"
        self.lose_mail("moved-mail", server, lambda: server.mail.rename(elsewhere), lambda: elsewhere.rename(server.mail))

    def lose_mail(self, name, server, begin, end):
        with Scene(self, name, server) as scene:
            began = time.monotonic()
            begin()
            answer = scene.ask("POST", "/v1/forgot-password", {"email": scene.person.email})
            told = scene.health.wait_for("mailFailed", began)
            scene.require_reads()
            time.sleep(self.length)
            scene.end_fault(end)
            scene.ask("POST", "/v1/forgot-password", {"email": scene.person.email})
            server.code(scene.person.email, seconds=10)
            scene.notes.append(f"a request for a code meanwhile was answered {answer}")
            scene.finish(told)

    # MARK: Removed directories

    def moved_journal(self):
        self.lose_journal("moved-journal", lambda path: path.rename(path.with_name("elsewhere")))

    def removed_journal(self):
        self.lose_journal("removed-journal", shutil.rmtree)

    def lose_journal(self, name, lose):
        with Scene(self, name) as scene:
            scene.poster.pause = 0.01
            scene.poster.wait_for(20)
            began = time.monotonic()
            lose(pathlib.Path(scene.server.journal))
            gone = time.monotonic()
            told = scene.health.wait_for("storage", began)
            status = scene.wait_for_end(DRAIN)
            scene.poster.end()
            if status != 75 or "notFound" not in scene.server.log_text():
                raise Failed(f"the server ended with the status {status}: {scene.server.log_text()[-500:]}")
            late = scene.poster.since(gone)
            unnoticed = late[-1][2] - gone if late else 0
            if unnoticed > UNNOTICED:
                raise Failed(f"posts were acknowledged {unnoticed:.1f} s after the journal was gone")
            elsewhere = pathlib.Path(scene.server.journal).with_name("elsewhere")
            if elsewhere.exists():
                scene.server.journal = str(elsewhere)
            scene.notes.append(f"acknowledged after the loss: {len(late)}, the last one {unnoticed:.2f} s later; the server ended with 75 after {scene.ended - gone:.1f} s")
            scene.finish(told, journal=elsewhere.exists(), lost=[] if elsewhere.exists() else late)

    def moved_accounts(self):
        self.lose_accounts("moved-accounts", True)

    def removed_accounts(self):
        self.lose_accounts("removed-accounts", False)

    def lose_accounts(self, name, comes_back):
        server = Server(self.tool, self.scratch / name)
        home, elsewhere = server.directory / "home", server.directory / "elsewhere"
        home.mkdir()
        server.own_options = lambda: ["--accounts", str(home / "accounts"), "--mail", str(server.mail)]
        with Scene(self, name, server) as scene:
            began = time.monotonic()
            home.rename(elsewhere) if comes_back else shutil.rmtree(home)
            told = scene.health.wait_for("accountsFailed", began)
            answers = collections.Counter(scene.sign_in() for _ in range(3))
            answers[scene.ask("POST", "/v1/sign-up", {"username": "Somebody", "email": "some@example.org", "password": PASSWORD})] += 1
            if set(answers) != {(500, "storage")}:
                raise Failed(f"without the file of the accounts a write is answered {answers}")
            scene.require_reads()
            scene.poster.wait_for(3)
            time.sleep(self.length / 2)
            require_status(scene, "degraded", began + told + 0.3, time.monotonic() - 0.3)
            scene.notes.append(f"sign-ins and sign-ups meanwhile: {dict(answers)}")
            if comes_back:
                scene.end_fault(lambda: elsewhere.rename(home))
                if (found := scene.sign_in())[0] != 200:
                    raise Failed(f"with its file again a sign-in is {found}")
            else:
                server.process.send_signal(signal.SIGTERM)
                scene.notes.append(f"SIGTERM ended it with the status {scene.wait_for_end(DRAIN)}")
            scene.finish(told)

    # MARK: The clock

    def clock(self):
        clock = Clock(self)
        with Scene(self, "clock", tool=clock.tool) as scene:
            stream = Stream(scene.server.port, scene.person.token).opened()
            # Less than a day is believed, more than a day is not: *When the clock was wrong*.
            day, steps = 86_400, []
            for step, is_believed in ((day - 600, True), (-(day - 600), True), (day + 600, False), (-(day + 600), False), (10 * 365 * day, False), (-10 * 365 * day, False)):
                since = time.monotonic()
                clock.set(step)
                time.sleep(1.5)
                before = len(scene.poster.acknowledged)
                told = "" if is_believed else f", told after {scene.health.wait_for('clockStepped', since):.1f} s"
                time.sleep(self.length / 4)
                count = len(scene.poster.acknowledged) - before
                if is_believed != (count > 0):
                    raise Failed(f"{count} posts were acknowledged at a step of {step} s")
                # A clock that is not believed ends no session and makes none that lasts for years.
                scene.require_reads()
                with scene.server.connection() as web:
                    token = scene.server.sign_in(web, server_client.Person(scene.person.name, scene.person.email), scene.server.from_elsewhere())
                clock.set(0)
                back = time.monotonic()
                # Less than a day ahead, the times stand still until the clock has caught up.
                again = scene.health.wait_for("well" if step < 0 and not steps else "ok", back)
                while any("clockStepped" in sample[3] for sample in scene.health.samples if sample[0] > back + 1):
                    raise Failed("the clock is right again, and the health does not know it")
                scene.poster.wait_for(3)
                for each in (scene.person.token, token):
                    if (found := scene.ask("GET", "/v1/me", token=each))[0] != 200:
                        raise Failed(f"after a step of {step} s and back a session is {found}")
                arrived, sent = stream.count, scene.poster.acknowledged[-1][1]
                stream.wait(lambda stream: any(event["position"] >= sent for event in stream.events()[-50:]), 10, "an event after a step of the clock")
                steps.append(f"{step:+} s: {count} posts{told}, sessions and sign-ins go on, ok after {again:.1f} s, {stream.count - arrived} events followed")
            stream.close()
            scene.notes += steps
            scene.finish("see below", 0)
            times = [event["recordedAt"] for event in scene.server.events()]
            if times != sorted(times):
                raise Failed("the recorded times decrease")

    # MARK: The end

    def drain(self):
        with Scene(self, "drain") as scene:
            port, token = scene.server.port, scene.person.token
            with scene.server.connection() as web:
                for _ in range(30):
                    web.execute({"postMessage": {"thread": "SW1A", "body": "y" * 16_000}}, token)
            head = lambda method, target, *more: "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}", *more]).encode() + b"\r\n\r\n"
            upgrade = head("GET", "/v1/socket", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + "A" * 22 + "==")
            body = head("POST", "/v1/commands", "Content-Type: application/json", "Content-Length: 1000") + b'{"postMessage":'
            kinds = {"read a byte a second": [head("GET", "/v1/threads/SW1A/timeline?limit=200") * 4] * 60, "read nothing": [head("GET", "/v1/threads/SW1A/timeline?limit=200") * 4] * 60,
                     "streams": [head("GET", "/v1/events")] * 30, "sockets": [upgrade] * 30, "half bodies": [body] * 20}
            clients = {kind: [connect(port, 4_096, data) for data in requests] for kind, requests in kinds.items()}
            slow = threading.Event()

            def read_slowly():
                while not slow.wait(1):
                    for each in clients["read a byte a second"]:
                        try:
                            each.recv(1)
                        except OSError:
                            pass  # nothing has come, or the server has ended the connection
            for each in clients["read a byte a second"]:
                each.setblocking(False)
            reader = threading.Thread(target=read_slowly, daemon=True)
            reader.start()
            time.sleep(3)
            began = time.monotonic()
            scene.server.process.send_signal(signal.SIGTERM)
            status = scene.wait_for_end(60)
            length = scene.ended - began
            slow.set()
            reader.join()
            if status != 0 or length > DRAIN:
                raise Failed(f"the server ended with the status {status} after {length:.1f} s")
            for group in clients.values():
                for each in group:
                    each.close()
            scene.notes.append(", ".join(f"{len(group)} {kind}" for kind, group in clients.items()) + f": ended with 0 after {length:.1f} s")
            scene.finish("SIGTERM")

    def second(self):
        with Scene(self, "second") as scene:
            first, found = scene.server, {}
            for code, journal, accounts, port in (("locked", first.journal, None, None), ("accountsInUse", None, first.directory / "accounts", None),
                                                  ("cannotListen", None, None, first.port)):
                home = self.scratch / f"second-{code}"
                home.mkdir()
                began = time.monotonic()
                done = subprocess.run(
                    [self.tool, "serve", journal or str(home / "journal"), "--listen", f"127.0.0.1:{port or free_port()}", "--accounts", str(accounts or home / "accounts"),
                     "--head", str(home / "head"), "--mail", str(first.mail)], capture_output=True, timeout=60, check=False)
                said = done.stderr.decode("utf-8", "replace")
                if done.returncode != 1 or code not in said or done.stdout:
                    raise Failed(f"a second server ended with the status {done.returncode} instead of 1 with {code}: {said}")
                found[code] = f"status 1 after {time.monotonic() - began:.1f} s"
                scene.poster.wait_for(5)
                scene.require_reads()
                if scene.sign_in()[0] != 200:
                    raise Failed(f"after a second server with {code}, nobody can sign in")
            require_status(scene, "ok", scene.began, time.monotonic() - 0.3)
            scene.notes.append(", ".join(f"{code}: {what}" for code, what in found.items()))
            scene.finish("nothing to tell", 0)

    # MARK: PostgreSQL

    def postgres(self):
        database = Database(self)
        try:
            server = Server(self.tool, self.scratch / "postgres")
            server.journal = database.start()
            with Scene(self, "postgres", server) as scene:
                length = 4 * self.length
                for name, begin, end in (("frozen", database.freeze, database.thaw), ("stopped", database.stop, database.start)):
                    began = time.monotonic()
                    begin()
                    told = scene.health.wait_for("degraded", began)
                    # A text that only the database has is shown when the outage has ended.
                    found = []
                    reader = threading.Thread(target=lambda: found.append(scene.ask("GET", "/v1/threads/SW1A/timeline?limit=5", token=scene.person.token, timeout=length + 30)))
                    reader.start()
                    time.sleep(max(0, began + length - time.monotonic()))
                    require_status(scene, "degraded", began + TRUTH, time.monotonic() - 0.5)
                    scene.end_fault(end)
                    reader.join()
                    if found != [(200, None)]:
                        raise Failed(f"a page that was asked for during the outage: {found}")
                    scene.poster.wait_for(5)
                    scene.notes.append(f"{name} for {scene.ended - began:.0f} s: degraded after {told:.1f} s, ok {scene.again:.1f} s after its end")
                scene.finish("see below")
        finally:
            Server.kill_all()
            database.remove()


# MARK: Support

def connect(port, buffer=None, data=b""):
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(10)
    client.connect(("127.0.0.1", port))
    if data:
        client.sendall(data)
    return client


def is_open(client):
    """Whether the server has not ended a connection; closes it otherwise."""
    client.setblocking(False)
    try:
        if client.recv(1) != b"":
            return True
    except BlockingIOError:
        return True
    except OSError:
        pass  # ended too
    client.close()
    return False


def fill(path):
    """Takes the rest of a small file system."""
    with open(path / "filling", "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass  # full


def processor_seconds(server):
    """Returns the time that the processors have given to a server."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def require_status(scene, status, since, until):
    wrong = [sample for sample in scene.health.samples if since <= sample[0] <= until and sample[2] != status]
    if wrong:
        raise Failed(f"the health is not {status} in {len(wrong)} looks: {wrong[:3]}")


class Clock:
    """A clock of one process, which is ahead of that of the machine by as many seconds as a file says."""

    SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long long *offset;
__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
    void *found = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) offset = found;
    close(file);
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
    return result;
}
int gettimeofday(struct timeval *time, void *zone) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    time->tv_sec = found.tv_sec;
    time->tv_usec = found.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *result) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (result) *result = found.tv_sec;
    return found.tv_sec;
}
/* The system waits by its own clock. */
int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    static int (*wait)(sem_t *, const struct timespec *);
    if (!wait) wait = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec real = *until;
    if (offset) real.tv_sec -= *offset;
    return wait(semaphore, &real);
}
"""

    def __init__(self, row):
        compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
        if sys.platform != "linux" or compiler is None:
            raise Skipped("a clock of one process needs Linux and a C compiler")
        self.file = row.scratch / "offset"
        self.set(0)
        source, library = row.scratch / "clock.c", row.scratch / "clock.so"
        source.write_text(self.SOURCE)
        done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"the clock cannot be compiled: {done.stderr[-300:]}")
        tool = row.scratch / "with-clock"
        tool.write_text(f'#!/bin/sh\nCLOCK_OFFSET="{self.file}" LD_PRELOAD="{library}" exec "{row.tool}" "$@"\n')
        tool.chmod(0o755)
        self.tool = str(tool)

    def set(self, seconds):
        """Steps the clock to so many seconds ahead of the machine's."""
        mode = "r+b" if self.file.exists() else "wb"
        with open(self.file, mode, buffering=0) as file:
            file.write(seconds.to_bytes(8, "little", signed=True))


class Database:
    """One PostgreSQL, without a cluster."""

    def __init__(self, row):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        program = str(found[-1]) if found else shutil.which("postgres")
        if not program:
            raise Skipped("PostgreSQL is missing")
        self.programs = pathlib.Path(program).resolve().parent
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="database-"))
        # PostgreSQL does not run as root.
        self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []
        self.port, self.process = free_port(), None
        try:
            if os.getuid() == 0:
                shutil.chown(self.home, "postgres", "postgres")
            subprocess.run([*self.user, self.programs / "initdb", "-D", self.home / "data", "-A", "trust", "-U", "chat", "-E", "UTF8", "--locale=C"],
                           cwd=self.home, check=True, capture_output=True)
        except (LookupError, subprocess.CalledProcessError, OSError) as fault:
            self.remove()
            raise Skipped(f"PostgreSQL cannot be made: {getattr(fault, 'stderr', None) or fault}") from fault

    def start(self):
        """Starts it, and returns the address of a log."""
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.user, self.programs / "postgres", "-D", self.home / "data", "-k", self.home, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"],
                cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while subprocess.run([self.programs / "pg_isready", "-h", "127.0.0.1", "-p", str(self.port)], capture_output=True, check=False).returncode != 0:
            if time.monotonic() > deadline:
                raise Failed(f"PostgreSQL does not start: {(self.home / 'log').read_text()[-1000:]}")
            time.sleep(0.1)
        return f"postgresql://chat@127.0.0.1:{self.port}/postgres#talk"

    def everything(self):
        """Returns the first process and all of its children."""
        first = self.process.pid
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def send(self, number):
        for process in self.everything():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass  # it has just ended

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)

    def stop(self):
        # SIGQUIT ends it at once, as a crash does.
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=60)

    def remove(self):
        if self.process and self.process.poll() is None:
            self.thaw()
            self.stop()
        shutil.rmtree(self.home, ignore_errors=True)


ROWS = ("descriptors", "full-journal", "full-accounts", "full-mail", "moved-journal", "removed-journal", "moved-accounts", "removed-accounts", "moved-mail",
        "clock", "drain", "second", "postgres")


def main():
    arguments = program.parse_server(__doc__, "row", ROWS, seconds=(12.0, "the length of a fault"))
    # The program starts again in a namespace of its own.
    sys.argv += ["--seed", str(arguments.seed)]
    try:
        full_disk.enter_namespace()
    except Skipped as reason:
        print(f"server_faults: without small file systems: {reason}", flush=True)
    server_client.raise_open_files_limit()
    # The order decides nothing, so it is another one each time.
    random.Random(arguments.seed).shuffle(arguments.names)

    def check(name, home, rng):
        home.mkdir()
        getattr(Row(arguments.tool, home, rng, arguments.seconds), name.replace("-", "_"))()

    return program.run_checks("server_faults", arguments, check, Server.kill_all)


if __name__ == "__main__":
    sys.exit(main())
