"""Every limit of the server at its product at once: what one user and one address can make it hold, over every transport.

Idle connections come through a trusted proxy, and some hold heads. One user has WebSockets with as many follows as the server
grants, and streams, another one WebSockets whose answers nobody reads, a third one exports, bodies that do not end, and lists
that nobody reads, compressed and not, and a fourth one sends large bodies without a command. A bystander talks all the time.
The share scales all numbers; 1 is the documented limits themselves. Then many requests are sent at once, by many connections,
and the health is asked for beside them.
"""

import json
import pathlib
import select
import socket
import struct
import threading
import time

from server_client import PASSWORD, PATIENCE, Connection, Failed, Server, identifier

# How much the resident memory may grow above the server without a connection, and above it ten seconds after the close.
GROWTH, REST = 256 * 1000 * 1000, 64 * 1000 * 1000
IDLE, HEADS, SOCKETS, STREAMS = 5_000, 200, 900, 124
UNREAD, EXPORTS, BODIES, LISTS, REFUSERS = 1_000, 24, 30, 200, 32
# Connections that send hundreds of requests at once, and the median of a look at the health beside them: it is 5 ms on a quiet machine.
PIPELINES, LOOK = 64, 0.25
FOLLOWS = 16


def frame(payload, final=True):
    """A masked text frame; a mask of zeros leaves the payload as it is."""
    length = len(payload)
    head = bytes([0x81 if final else 0x01])
    if length < 126:
        head += bytes([0x80 | length])
    elif length < 1 << 16:
        head += bytes([0x80 | 126]) + struct.pack(">H", length)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", length)
    return head + b"\0\0\0\0" + payload


def compact(value):
    """JSON without the escapes that it does not need."""
    return json.dumps(value, ensure_ascii=False).encode()


class Raw:
    """A connection that is written without waiting, and read only where the check says so."""

    def __init__(self, port, buffer=4_096):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.rest = b""

    def send(self, data):
        """Sends as much as the server takes now, of what is left of the last call and of the data."""
        self.rest += data
        self.socket.setblocking(False)
        try:
            while self.rest:
                self.rest = self.rest[self.socket.send(self.rest[:1 << 18]):]
        except OSError:
            # The system takes no more, or the server has ended the connection, which is a limit too.
            pass
        self.socket.settimeout(PATIENCE)

    def take(self):
        """Reads what has come, and forgets it; returns the number of bytes."""
        self.socket.setblocking(False)
        try:
            return len(self.socket.recv(1 << 18))
        except BlockingIOError:
            return 0
        finally:
            self.socket.settimeout(PATIENCE)

    def wait(self, event, seconds):
        poll = select.poll()
        poll.register(self.socket, event)
        poll.poll(max(0, seconds) * 1_000)

    def head(self):
        data = b""
        while b"\r\n\r\n" not in data:
            found = self.socket.recv(1)
            if not found:
                raise Failed(f"the connection ended in a head: {data!r}")
            data += found
        return data

    def message(self):
        """Reads the next message of a WebSocket; pings are passed over."""
        while True:
            opcode, length = self.exactly(2)
            if length >= 126:
                length = int.from_bytes(self.exactly(2 if length == 126 else 8), "big")
            payload = self.exactly(length)
            if opcode & 15 == 1:
                return json.loads(payload)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            found = self.socket.recv(count - len(data))
            if not found:
                raise Failed("the connection ended in a frame")
            data += found
        return data


class Limits:
    def __init__(self, server, rng, share, seconds):
        self.server, self.rng, self.share, self.seconds = server, rng, share, seconds
        self.held, self.counts = [], {}

    def number(self, whole):
        return max(2, round(whole * self.share))

    def lines(self, method, target, token, *more):
        own = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}", f"Authorization: Bearer {token}"]
        return "\r\n".join([*own, *more]).encode() + b"\r\n\r\n"

    def raw(self, data=b""):
        connection = Raw(self.server.port)
        self.held.append(connection)
        connection.send(data)
        return connection

    def open_socket(self, token):
        connection = self.raw(self.lines("GET", "/v1/socket", token, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                                         "Sec-WebSocket-Key: " + "A" * 22 + "=="))
        if b" 101 " not in connection.head():
            return None
        connection.message()
        return connection

    def follow(self, connection):
        """Follows until the server refuses; returns the number of follows."""
        for number in range(FOLLOWS):
            connection.send(frame(json.dumps({"id": number, "follow": {"thread": self.thread}}).encode()))
            # Events of the follows before can come first.
            while "id" not in (answer := connection.message()):
                pass
            if "problem" in answer:
                return number
        return FOLLOWS

    def prepare(self, web):
        self.mallory, self.mike, self.nina, self.olga, self.ann = (self.server.person(web) for _ in range(5))
        self.thread = identifier(self.rng)
        web.execute({"openThread": {"thread": self.thread, "name": "Weeds", "policy": "open"}}, self.mallory.token)
        for person in (self.mike, self.nina, self.ann):
            web.execute({"joinThread": {"thread": self.thread}}, person.token)
        # Sent again, a batch is answered with what it has made, and makes nothing.
        words = [f"weed{number}" for number in range(1_000)]
        text = lambda count: " ".join(self.rng.choice(words) for _ in range(count // 8))
        batch = lambda count, body: [{"postMessage": {"thread": self.thread, "message": identifier(self.rng), "body": body()}} for _ in range(count)]
        # Of the first one, the answer is six times as long as the batch: each character is escaped.
        self.batches = {}
        for person in (self.mallory, self.mike):
            self.batches[person] = [batch(60, lambda: "weed" + "\x7f" * 15_996), batch(45, lambda: text(16_000)), batch(200, lambda: text(1_500)), batch(20, lambda: text(2_000))]
            for commands in self.batches[person]:
                if any("rejection" in answer for answer in web.post("/v1/commands", compact(commands), person.token)):
                    raise Failed("a post of the preparation is rejected")
        # What the store keeps of lists that were read once is no memory of a connection.
        for _ in range(3):
            web.get(f"/v1/threads/{self.thread}/timeline?limit=200", self.mike.token)
            web.ask("POST", "/v1/me/export", {"password": PASSWORD}, self.mike.token)

    def hold_everything(self):
        (token, other), number = (self.mallory.token, self.nina.token), self.number
        for _ in range(number(IDLE)):
            self.raw()
        for index in range(number(HEADS)):
            self.raw(b"GET /v1/me HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: %s\r\n" % (line, b"y" * (index % 150)) for line in range(90)))
        sockets = [(self.open_socket(token), self.batches[self.mallory]) for _ in range(number(SOCKETS))]
        follows = sum(self.follow(connection) for connection, _ in sockets if connection)
        for _ in range(number(STREAMS)):
            self.raw(self.lines("GET", f"/v1/events?thread={self.thread}", token))
        sockets += [(self.open_socket(self.mike.token), self.batches[self.mike]) for _ in range(number(UNREAD))]
        sockets = [(connection, batches) for connection, batches in sockets if connection]
        # Answers that nobody reads, of one socket after another: messages that wait would end each other's sockets.
        deadline = time.monotonic() + self.seconds
        for connection, batches in reversed(sockets):
            if time.monotonic() > deadline or self.peak - self.before > GROWTH:
                break
            connection.send(frame(compact({"id": 0, "commands": batches[0]})))
            end = time.monotonic() + 5
            while connection.rest and time.monotonic() < end:
                connection.wait(select.POLLOUT, 0.1)
                connection.send(b"")
            connection.wait(select.POLLIN, end - time.monotonic())
        password = json.dumps({"password": PASSWORD}).encode()
        for _ in range(number(EXPORTS)):
            self.raw(self.lines("POST", "/v1/me/export", other, "Content-Type: application/json", f"Content-Length: {len(password)}") + password)
        for _ in range(number(BODIES)):
            self.raw(self.lines("POST", "/v1/commands", other, "Content-Type: application/json", f"Content-Length: {1 << 20}") + b" " * ((1 << 20) - 1))
        lists = [self.raw(self.lines("GET", f"/v1/threads/{self.thread}/timeline?limit=200", other, *(["Accept-Encoding: gzip"] if index % 2 else [])) * 8)
                 for index in range(number(LISTS))]
        self.counts = {"idle connections": number(IDLE), "heads": number(HEADS), "sockets": len(sockets), "follows": follows, "streams": number(STREAMS),
                       "exports": number(EXPORTS), "bodies": number(BODIES), "lists": len(lists)}
        self.counts["refused bodies"] = self.send_refused_bodies(number(REFUSERS))
        # Then answers of all at once, and some messages that do not end.
        deadline, rounds = time.monotonic() + self.seconds, 0
        while time.monotonic() < deadline and self.peak - self.before <= GROWTH:
            for index, (connection, batches) in enumerate(sockets):
                if connection.rest:
                    connection.send(b"")
                elif index % 10 == 9:
                    connection.send(frame(b'{"id":1' + b" " * 1_000_000, final=False) if rounds == 0 else b"")
                else:
                    commands = self.rng.choice(batches)
                    connection.send(frame(compact({"id": rounds, "commands": commands})))
            for connection in lists:
                connection.send(b"")
            rounds += 1
            time.sleep(0.05)

    def send_refused_bodies(self, count):
        """Sends bodies of many small values, of which none is a command; returns their number."""
        length = (1 << 20) - 100
        bodies = [b'{"x":[' + (value * (length // len(value)))[:-1] + b"]}" for value in (b"1,", b'"",', b"{},", b"[[[1]]],")]
        answers, deadline = [], time.monotonic() + self.seconds

        def send():
            with Connection(self.server.port) as web:
                for body in bodies:
                    if time.monotonic() < deadline:
                        answers.append(web.ask("POST", "/v1/commands", body, self.olga.token).status)

        threads = [threading.Thread(target=send) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if set(answers) - {400, 503}:
            raise Failed(f"bodies without a command were answered {set(answers)}")
        return len(answers)

    def watch(self):
        while not self.ends.wait(0.05):
            self.peak = max(self.peak, self.server.memory() << 10)

    def talk(self):
        """The bystander, who posts into the thread that the others follow."""
        try:
            with Connection(self.server.port) as web:
                while not self.ends.is_set():
                    begin = time.monotonic()
                    web.execute({"postMessage": {"thread": self.thread, "body": "At noon."}}, self.ann.token)
                    web.get("/v1/me", self.ann.token)
                    self.times.append(time.monotonic() - begin)
                    self.ends.wait(0.1)
        except Exception as fault:  # raised again in the main thread
            self.fault = fault

    def run(self):
        with self.server.connection() as web:
            self.prepare(web)
        time.sleep(1)
        self.before = self.peak = self.server.memory() << 10
        self.ends, self.times, self.fault = threading.Event(), [], None
        threads = [threading.Thread(target=self.watch), threading.Thread(target=self.talk)]
        for thread in threads:
            thread.start()
        try:
            self.hold_everything()
        finally:
            self.ends.set()
            for thread in threads:
                thread.join()
        for connection in self.held:
            connection.socket.close()
        closed = time.monotonic()
        self.held = []
        grown = self.peak - self.before
        rest = grown
        while time.monotonic() - closed < 10:
            time.sleep(0.25)
            rest = (self.server.memory() << 10) - self.before
        print(f"limits: share {self.share:g}: " + ", ".join(f"{count} {what}" for what, count in self.counts.items())
              + f"; {self.before / 1e6:.0f} MB without a connection, {grown / 1e6:+.0f} MB at most, {rest / 1e6:+.0f} MB ten seconds after the close; "
              f"a bystander posted {len(self.times)} times, median {sorted(self.times)[len(self.times) // 2] * 1000 if self.times else 0:.0f} ms", flush=True)
        if self.fault or not self.times:
            raise Failed(f"a bystander was disturbed: {self.fault!r}")
        if grown > GROWTH or rest > REST:
            raise Failed(f"the memory grew by {grown / 1e6:.0f} MB, of at most {GROWTH / 1e6:.0f}; ten seconds after the close it is {rest / 1e6:.0f} MB above, of at most {REST / 1e6:.0f}")


def take_turns(server):
    """Many requests that are sent at once, by many connections, do not keep others waiting."""
    for name, line in (("health", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), ("wrong host", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")):
        senders = [Raw(server.port, buffer=1 << 18) for _ in range(PIPELINES)]
        ends, times, taken, fault = threading.Event(), [], 0, None

        def send():
            nonlocal taken, fault
            try:
                while not ends.is_set():
                    for sender in senders:
                        sender.send(b"" if sender.rest else line * 400)
                        taken += sender.take()
            except OSError as failure:  # raised again in the main thread
                fault = failure

        thread = threading.Thread(target=send)
        thread.start()
        for _ in range(20):
            begin = time.monotonic()
            with Connection(server.port) as web:
                web.get("/healthz")
            times.append(time.monotonic() - begin)
            time.sleep(0.05)
        ends.set()
        thread.join()
        for sender in senders:
            sender.socket.close()
        if fault or taken < 1 << 20:
            raise Failed(f"requests that were sent at once ({name}) have {taken} bytes of answers: {fault!r}")
        median = sorted(times)[len(times) // 2]
        print(f"limits: beside {PIPELINES} connections with requests at once ({name}, {taken / 1e6:.0f} MB of answers) a look at the health takes "
              f"{median * 1000:.0f} ms", flush=True)
        if median > LOOK:
            raise Failed(f"beside requests that were sent at once ({name}) a look at the health takes {median:.2f} s, of at most {LOOK}")


def check(tool, scratch, rng, share, seconds):
    with Server(tool, pathlib.Path(scratch)) as server:
        Limits(server, rng, share, seconds).run()
        take_turns(server)
