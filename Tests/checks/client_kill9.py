#!/usr/bin/env python3
"""Kills `chat-journal serve` and `chat-journal chat --lines` at random moments with SIGKILL, and checks what remains.

    client_kill9.py --tool PATH [--runs 10] [--people 3] [--seed S] [--scratch DIR]

In each run people write to two threads, each with a client process of their own. The server and the clients are killed in
between and started again; commands are written while the server is away too. Then no process is killed any more, until no
command waits. Afterwards:

    - every command that a client said was queued is confirmed or rejected, and none waits in an outbox;
    - every command with an id that was not rejected is in the journal exactly once, and no rejected one is;
    - the posts of a person stand in each thread in the order in which they were written;
    - a level of notifications is the one that was set last;
    - each outbox has what was said to be rejected, and nothing else.

The clients read no lists, so their copies have no posts: ClientSimulationTests compares copies with their server.

The commands follow from the seed, which is printed; what a kill interrupts does not. A failure keeps the scratch directory.
Needs a tool that was built with the trait Server.
"""

import json
import os
import pathlib
import queue
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import program
from server_client import Failed, PASSWORD, PATIENCE, Server, identifier


class Client:
    """The client process of a person, which is started and killed; its files stay."""

    def __init__(self, tool, server, person, directory):
        self.tool, self.server, self.person, self.directory = tool, server, person, pathlib.Path(directory)
        self.directory.mkdir(mode=0o700)
        self.process = self.reader = None
        # Of each start.
        self.options = []
        # The commands by the number of their item, in the order in which they were written, and how each has ended.
        self.commands, self.ends, self.states = {}, {}, queue.SimpleQueue()

    def start(self):
        environment = {**os.environ, "CHATJOURNAL_PASSWORD": PASSWORD}
        with open(self.directory / "errors", "ab") as errors:
            self.process = subprocess.Popen(
                [self.tool, "chat", self.server.url, "--lines", "--email", self.person.email, "--data", str(self.directory / "data"),
                 *self.options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment)
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def read(self, lines):
        for text in lines:
            try:
                line = json.loads(text)
            except ValueError:
                continue  # the last line of a process that was killed
            if "error" in line or ("rejection" in line and "item" not in line):
                self.states.put(f"a line was refused: {line}")
            elif "item" in line:
                if line["state"] == "queued":
                    self.commands[line["item"]] = line["command"]
                elif line["state"] in ("confirmed", "rejected", "withdrawn"):
                    self.ends[line["item"]] = line["state"]

    def write(self, command):
        """Passes a command to the process, if there is one."""
        if self.process is None:
            return
        try:
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has stopped, or was killed: what it has not said to be queued is not promised

    def kill(self):
        if self.process is None:
            return
        self.process.kill()
        self.end()

    def end(self):
        status = self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process = None
        return status

    def finish(self):
        """Sends what waits; the process ends when nothing does."""
        self.start()
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the outbox of {self.person.name} is not sent: {self.errors()}") from None
        status = self.end()
        if status not in (0, 1):
            raise Failed(f"the client of {self.person.name} ended with the status {status}: {self.errors()}")

    def errors(self):
        return (self.directory / "errors").read_text(errors="replace")[-1000:]

    def copy(self):
        """The file of the local copy."""
        found = list((self.directory / "data").rglob("*.chat"))
        if len(found) != 1:
            raise Failed(f"{self.person.name} has {len(found)} copies")
        return sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True)


class Writer:
    """Makes the commands of a person, all of which have ids where they can."""

    def __init__(self, rng, threads):
        self.rng, self.threads, self.posts, self.count = rng, threads, [], 0

    def next(self):
        rng, dice = self.rng, self.rng.random()
        thread = rng.choice(self.threads)
        self.count += 1
        body = f"text {self.count}"
        if dice < 0.12:
            return {"setNotifications": {"thread": thread, "level": rng.choice(["all", "mentions", "none"])}}
        if dice < 0.20 and self.posts:
            return {"edit": {"message": rng.choice(self.posts), "edit": identifier(rng), "body": body}}
        if dice < 0.35 and self.posts:
            return {"reply": {"reply": identifier(rng), "message": rng.choice(self.posts), "body": body}}
        if dice < 0.40:
            return {"postMessage": {"message": identifier(rng), "thread": thread, "body": " "}}  # is rejected
        self.posts.append(identifier(rng))
        return {"postMessage": {"message": self.posts[-1], "thread": thread, "body": body}}


def created(command):
    """Returns the id that a command makes; None if it makes none."""
    (name, fields), = ((name, fields) for name, fields in command.items() if isinstance(fields, dict))
    return fields.get({"postMessage": "message", "reply": "reply", "edit": "edit"}.get(name, ""))


def run(tool, directory, rng, people_count):
    server = Server(tool, directory / "server", options=["--limit", "commands=10000"]).start()
    connection = server.connection()
    people = [server.person(connection) for _ in range(people_count)]
    threads = []
    for number in range(2):
        threads.append(identifier(rng))
        connection.execute({"openThread": {"thread": threads[-1], "name": f"Thread {number}"}}, people[0].token)
        for person in people[1:]:
            connection.execute({"joinThread": {"thread": threads[-1]}}, person.token)
    connection.close()
    clients = [Client(tool, server, person, directory / f"client{number}") for number, person in enumerate(people)]
    writers = [Writer(rng, threads) for _ in people]
    for client in clients:
        client.start()
    # A client signs in before it works offline.
    deadline = time.monotonic() + PATIENCE
    while not all(list((client.directory / "data").rglob("*.chat")) for client in clients):
        if time.monotonic() > deadline or any(client.process.poll() is not None for client in clients):
            raise Failed(f"the clients do not sign in: {[client.errors() for client in clients]}")
        time.sleep(0.02)
    kills = {"server": 0, "client": 0}
    for _ in range(rng.randrange(8, 16)):
        for client, writer in zip(clients, writers):
            for _ in range(rng.choice((0, 1, 3, 20))):
                client.write(writer.next())
        time.sleep(rng.uniform(0, 0.12))
        victim = rng.randrange(-1, people_count)
        if victim < 0:
            if server.process:
                server.kill()
                server.process = None
                kills["server"] += 1
            else:
                server.start()
        elif clients[victim].process is None:
            clients[victim].start()
        else:
            clients[victim].kill()
            kills["client"] += 1
    if not server.process:
        server.start()
    for client in clients:
        client.kill()
        client.finish()
    connection = server.connection()
    for client in clients:
        check_outbox(client)
    connection.close()
    server.stop()
    check_journal(server, clients)
    return kills, sum(len(client.commands) for client in clients)


def check_journal(server, clients):
    """Compares the journal with what each client has said of its commands."""
    made = {}
    levels = {}
    for event in server.events():
        for kind, fields in event.items():
            if not isinstance(fields, dict):
                continue
            key = {"messagePosted": "message", "replyPosted": "reply", "messageEdited": "edit", "replyEdited": "edit"}.get(kind)
            if key:
                made.setdefault(fields[key], []).append(event["position"])
            if kind == "notificationsSet":
                levels[fields["user"], fields["thread"]] = fields["level"]
    for client in clients:
        name = client.person.name
        while not client.states.empty():
            raise Failed(f"{name}: {client.states.get()}")
        last, set_levels = {}, {}
        for item, command in sorted(client.commands.items()):
            end, key = client.ends.get(item), created(command)
            positions = made.pop(key, []) if key else []
            # The end of a command that was confirmed before a kill was perhaps not said.
            if end == "rejected" and positions or end != "rejected" and key and len(positions) != 1:
                raise Failed(f"{name}: {command} has ended with {end}, and is in the journal {len(positions)} times")
            thread = command.get("postMessage", {}).get("thread")
            if positions and thread:
                if positions[0] < last.get(thread, 0):
                    raise Failed(f"{name}: {command} is before an earlier command")
                last[thread] = positions[0]
            if "setNotifications" in command and end != "rejected":
                set_levels[command["setNotifications"]["thread"]] = command["setNotifications"]["level"]
        for thread, level in set_levels.items():
            if levels.get((client.person.id, thread), "all") != level:
                raise Failed(f"{name}: the level of {thread} is {levels.get((client.person.id, thread))}, not {level}")
    left = [key for key, positions in made.items() if len(positions) > 1]
    if left:
        raise Failed(f"in the journal more than once: {left[:3]}")


def check_outbox(client):
    """Compares the outbox of a client with what was said."""
    copy = client.copy()
    waiting = [number for number, rejection in copy.execute("SELECT number, rejection FROM outbox") if rejection is None]
    rejected = {number for number, in copy.execute("SELECT number FROM outbox WHERE rejection IS NOT NULL")}
    if waiting:
        raise Failed(f"{client.person.name}: {len(waiting)} commands wait")
    said = {item for item, end in client.ends.items() if end == "rejected"}
    if rejected != said:
        raise Failed(f"{client.person.name}: rejected are {sorted(rejected)}, and said to be {sorted(said)}")
    copy.close()


def main():
    parser = program.parser(__doc__, "the chat-journal binary, built with the trait Server")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--people", type=int, default=3)
    arguments = parser.parse_args()
    print(f"client_kill9: {arguments.runs} runs, seed {arguments.seed}", flush=True)
    began, kills, commands = time.monotonic(), {"server": 0, "client": 0}, 0
    for number in range(arguments.runs):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="client-kill9-", dir=arguments.scratch))
        try:
            killed, count = run(arguments.tool, scratch, random.Random(f"{arguments.seed}/{number}"), arguments.people)
        except (Failed, OSError, sqlite3.Error) as failure:
            Server.kill_all()
            print(f"FAILED run {number}, seed {arguments.seed}\n  files: {scratch}\n  {failure!r}", flush=True)
            return 1
        shutil.rmtree(scratch)
        kills = {side: kills[side] + killed[side] for side in kills}
        commands += count
        if (number + 1) % 20 == 0:
            print(f"client_kill9: {number + 1} runs in {time.monotonic() - began:.0f} s", flush=True)
    print(f"client_kill9: {arguments.runs} runs passed in {time.monotonic() - began:.0f} s: {commands} commands, "
          f"{kills['server']} kills of the server and {kills['client']} of clients", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
