#!/usr/bin/env python3
"""Puts a hostile server in the place of a client's server, and checks that `chat-journal chat --lines` loses nothing.

    client_hostile.py --tool PATH [--scratch DIR] [CASE ...]

A proxy stands between a client and a real server. In each case a person writes five messages while the proxy answers as
follows, and then, with the same files, while it passes everything on:

    garbage     random bytes
    html        a page of HTML with the status 200
    body        bodies without an end
    event       a stream with an event without an end
    receipts    receipts of other messages, of positions beyond every journal, and for another number of commands
    journal     a stream of another journal
    back        the server is restored from a backup without messages that the client has seen confirmed

The client ends in order and with an error or without one, never by a signal of its own; its memory stays bounded; each
message that it said to be queued is in its outbox until the server has it, and afterwards once in the journal, in its
place in the sender's order. In the last case the client stops, sends nothing, and sends what waits after --start-over.
Needs a tool that was built with the trait Server.
"""

import json
import pathlib
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import program
from client_kill9 import Client
from program import wait_until
from server_client import Failed, Server, identifier

MEMORY = 160 << 10
"""The most memory of a client, in KiB; an endless body or event is some 60 MB each second."""


class Proxy:
    """Passes requests to a server, or answers them in its place."""

    def __init__(self, server):
        self.port, self.case, self.hits, self.sockets = server.port, None, 0, set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            self.sockets.add(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def use(self, case):
        """Answers as in a case from now on; open connections end."""
        self.case, self.hits = case, 0
        for client in list(self.sockets):
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended

    def serve(self, client):
        try:
            data = b""
            while b"\r\n\r\n" not in data:
                more = client.recv(65536)
                if not more:
                    return
                data += more
            head, body = data.split(b"\r\n\r\n", 1)
            found = re.search(rb"(?i)\r\ncontent-length: ([0-9]+)", head)
            while len(body) < int(found.group(1) if found else 0):
                body += client.recv(65536)
            # One request for each connection, so that each one meets the case.
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"host:"))]
            lines.insert(1, f"Host: 127.0.0.1:{self.port}".encode())
            target = lines[0].split(b" ")[1].decode()
            answer = getattr(self, f"answer_{self.case}", None) if self.case else None
            if answer:
                self.hits += 1
                if answer(client, target, body):
                    return
            self.relay(client, b"\r\n".join(lines + [b"Connection: close"]) + b"\r\n\r\n" + body)
        except OSError:
            pass  # the client or the server has ended the connection
        finally:
            self.sockets.discard(client)
            client.close()

    def relay(self, client, request, change=lambda data: data):
        with socket.create_connection(("127.0.0.1", self.port)) as server:
            server.sendall(request)
            while data := server.recv(65536):
                client.sendall(change(data))

    def answer_garbage(self, client, target, body):
        client.sendall(random.randbytes(random.randrange(1, 4000)))
        return True

    def answer_html(self, client, target, body):
        page = b"<!doctype html><title>Sign in to the network</title>"
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))
        return True

    def endless(self, client, kind, first, more):
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n%s" % (kind, first))
        while True:
            client.sendall(more)

    def answer_body(self, client, target, body):
        if target.startswith("/v1/events"):
            return False
        self.endless(client, b"application/json", b"[", b'{"line":1,"rejection":null},' * 2000)

    def answer_event(self, client, target, body):
        if not target.startswith("/v1/events"):
            return False
        self.endless(client, b"text/event-stream", b"event: message\ndata: ", b"x" * 65536)

    def answer_receipts(self, client, target, body):
        if target != "/v1/commands":
            return False
        count = len(json.loads(body))
        message = lambda: {"messagePosted": {"message": identifier(), "thread": identifier(), "user": identifier(), "body": "x"}}
        answers = [
            [{"line": line, "events": [message()], "positions": [line]} for line in range(1, count + 1)],
            [{"line": line, "events": [message()], "positions": [1 << 63]} for line in range(1, count + 1)],
            [{"line": line, "events": [], "positions": []} for line in range(1, count + 2)],
            [{"line": 1}] * count, [], {},
        ]
        text = json.dumps(answers[self.hits % len(answers)]).encode()
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        return True

    def answer_journal(self, client, target, body):
        if not target.startswith("/v1/events"):
            return False
        other = lambda found: b"id: " + bytes(found.group(1)).translate(bytes.maketrans(b"0123456789abcdef", b"123456789abcdef0"))
        # The number before the position is that of the journal.
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self.port)) as server:
            server.sendall(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: %s\r\n\r\n" % (target.encode(), self.port, self.authorization))
            while data := server.recv(65536):
                client.sendall(re.sub(rb"id: ([0-9a-f]+)", other, data))
        return True


def peak(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+([0-9]+) kB", text)
    return int(found.group(1)) if found else 0


def outbox(client):
    copy = client.copy()
    try:
        return [number for number, in copy.execute("SELECT number FROM outbox WHERE rejection IS NULL ORDER BY number")]
    finally:
        copy.close()


def write(client, thread, rng, count=5):
    """Writes messages; returns their ids."""
    before = len(client.commands)
    messages = [identifier(rng) for _ in range(count)]
    for message in messages:
        client.write({"postMessage": {"message": message, "thread": thread, "body": f"text of {message}"}})
    wait_until("the commands are queued", lambda: len(client.commands) == before + count, pause=0.02)
    return messages


def stop(client):
    """Ends a client in order; it may say that it could not go on."""
    client.process.send_signal(signal.SIGTERM)
    status = client.end()
    if status not in (0, 1):
        raise Failed(f"the client ended with the status {status}: {client.errors()}")


def posted(connection, thread, token):
    """The ids of the messages of a thread, in their order."""
    found, before = [], ""
    while True:
        page = connection.get(f"/v1/threads/{thread}/timeline?limit=200{before}", token)
        found = [post["id"] for post in page["items"]] + found
        if not page.get("older"):
            return found
        before = f"&before={page['older']}"


def check(case, tool, directory, rng):
    server = Server(tool, directory / "server", options=["--limit", "commands=10000"]).start()
    connection = server.connection()
    person = server.person(connection)
    thread = identifier(rng)
    connection.execute({"openThread": {"thread": thread, "name": "Market"}}, person.token)
    proxy = Proxy(server)
    client = Client(tool, proxy, person, directory / "client")
    client.start()
    wait_until("the client signs in", lambda: list((client.directory / "data").rglob("*.chat")) or client.process.poll() is not None, pause=0.02)
    messages = write(client, thread, rng)
    wait_until("the first messages are sent", lambda: len(client.ends) == 5, pause=0.02)
    proxy.authorization = b"Bearer " + person.token.encode()
    proxy.use(case)
    messages += write(client, thread, rng)
    wait_until("the client meets the server", lambda: proxy.hits >= 3 or client.process.poll() is not None, pause=0.02)
    time.sleep(1.5)
    memory = peak(client.process) if client.process.poll() is None else 0
    stop(client)
    if memory > MEMORY:
        raise Failed(f"the client has used {memory} KiB")
    found = posted(connection, thread, person.token)
    lost = [message for message in messages[5:] if message not in found]
    waiting = [client.commands[number]["postMessage"]["message"] for number in outbox(client)]
    if [message for message in lost if message not in waiting]:
        raise Failed(f"neither in the outbox nor in the journal: {lost}, {waiting}")
    if lost and case in ("garbage", "html", "receipts") and lost != messages[5:]:
        raise Failed("some of the messages were sent")
    proxy.use(None)
    client.finish()
    found = posted(connection, thread, person.token)
    if found != messages:
        raise Failed(f"in the journal are {found}, and not {messages}")
    connection.close()
    server.stop()
    return memory


def check_back(tool, directory, rng):
    server = Server(tool, directory / "server", options=["--limit", "commands=10000"]).start()
    connection = server.connection()
    person = server.person(connection)
    thread = identifier(rng)
    connection.execute({"openThread": {"thread": thread, "name": "Market"}}, person.token)
    connection.close()
    server.stop()
    backup = directory / "backup"
    shutil.copytree(server.directory, backup)
    server.start()
    client = Client(tool, server, person, directory / "client")
    client.start()
    wait_until("the client signs in", lambda: list((client.directory / "data").rglob("*.chat")) or client.process.poll() is not None, pause=0.02)
    write(client, thread, rng)
    wait_until("the messages are sent", lambda: len(client.ends) == 5, pause=0.02)
    server.stop()
    shutil.rmtree(server.directory)
    shutil.copytree(backup, server.directory)
    waiting = write(client, thread, rng)
    server.start()
    wait_until("the client stops", lambda: client.process.poll() is not None, pause=0.02)
    status = client.end()
    if status != 1 or not client.errors():
        raise Failed(f"the client ended with the status {status}: {client.errors()}")
    connection = server.connection()
    if posted(connection, thread, person.token):
        raise Failed("messages were sent to a server that was set back")
    if [client.commands[number]["postMessage"]["message"] for number in outbox(client)] != waiting:
        raise Failed("the outbox has changed")
    client.options = ["--start-over"]
    client.finish()
    if posted(connection, thread, person.token) != waiting:
        raise Failed("what waited was not sent after --start-over")
    connection.close()
    server.stop()
    return 0


CASES = ("garbage", "html", "body", "event", "receipts", "journal", "back")


def main():
    parser = program.parser(__doc__, "the chat-journal binary, built with the trait Server")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"default: {' '.join(CASES)}")
    arguments = parser.parse_args()
    for case in arguments.cases or CASES:
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=f"client-hostile-{case}-", dir=arguments.scratch))
        began = time.monotonic()
        try:
            rng = random.Random(case)
            memory = check_back(arguments.tool, scratch, rng) if case == "back" else check(case, arguments.tool, scratch, rng)
        except (Failed, OSError) as failure:
            Server.kill_all()
            print(f"FAILED {case}\n  files: {scratch}\n  {failure!r}", flush=True)
            return 1
        shutil.rmtree(scratch)
        print(f"client_hostile: {case} passed in {time.monotonic() - began:.1f} s, at most {memory >> 10} MiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
