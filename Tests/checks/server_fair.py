"""How long others wait while one user does as much as they may, over each transport and for each limit of a user.

Four others post 20 times a second, together, into a thread of their own. The one who does much is another process, with a lower
priority, because its work would be on another machine. Each act takes turns with silence; the figure is the median of others'
posts during the act by that in the silences before and after it.
"""

import multiprocessing
import os
import pathlib
import random
import select
import statistics
import time

from server_client import PASSWORD, Connection, Server, identifier
from server_limits import Raw, compact, frame

OTHERS, PAUSE = 4, 0.05


class Flood:
    """Connections that are written as fast as the server takes it; what it answers is read and dropped."""

    def __init__(self, port):
        self.port, self.connections, self.sent, self.received, self.ended = port, [], 0, 0, 0

    def add(self, head, make):
        """Adds a connection. `make` returns the next bytes to send; nothing more, if it is None."""
        connection = Raw(self.port, 1 << 16)
        connection.send(head)
        self.connections.append((connection, make))
        return connection

    def run(self, ends):
        poll = select.epoll()
        made = {}
        for connection, make in self.connections:
            connection.socket.setblocking(False)
            poll.register(connection.socket, select.POLLIN | (select.POLLOUT if make else 0))
            made[connection.socket.fileno()] = (connection, make)
        while not ends.is_set():
            for descriptor, events in poll.poll(0.2):
                connection, make = made[descriptor]
                try:
                    if events & select.POLLIN:
                        count = len(connection.socket.recv(1 << 18))
                        self.received += count
                        if count == 0:
                            raise OSError("ended")
                    if events & select.POLLOUT:
                        if not connection.rest:
                            connection.rest = make()
                        count = connection.socket.send(connection.rest[:1 << 17])
                        connection.rest = connection.rest[count:]
                        self.sent += count
                except BlockingIOError:
                    pass
                except OSError:
                    self.ended += 1
                    poll.unregister(connection.socket)


def request(port, method, target, token, body=None):
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}"]
    if body is None:
        return ("\r\n".join(lines) + "\r\n\r\n").encode()
    data = compact(body)
    return ("\r\n".join([*lines, "Content-Type: application/json", f"Content-Length: {len(data)}"]) + "\r\n\r\n").encode() + data


def upgrade(port, token):
    return (f"GET /v1/socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {'A' * 22}==\r\nAuthorization: Bearer {token}\r\n\r\n").encode()


class Fair:
    def __init__(self, server, rng, seconds):
        self.server, self.rng, self.seconds = server, rng, seconds

    def prepare(self, web):
        self.mallory, self.friend, *self.others = (self.server.person(web) for _ in range(2 + OTHERS))
        self.weeds, self.garden = identifier(self.rng), identifier(self.rng)
        web.execute({"openThread": {"thread": self.weeds, "name": "Weeds", "policy": "open"}}, self.mallory.token)
        web.execute({"openThread": {"thread": self.garden, "name": "Garden", "policy": "open"}}, self.others[0].token)
        web.execute({"joinThread": {"thread": self.weeds}}, self.friend.token)
        for person in [*self.others[1:], self.mallory]:
            web.execute({"joinThread": {"thread": self.garden}}, person.token)
        for _ in range(5):
            web.post("/v1/commands", [self.post(self.weeds, 300) for _ in range(1_000)], self.mallory.token)
            time.sleep(0.2)

    def post(self, thread, count=60):
        return {"postMessage": {"thread": thread, "message": identifier(self.rng), "body": "weed " * (count // 5)}}

    def acts(self):
        """Each act: a function that fills a flood."""
        token, port = self.mallory.token, self.server.port

        def commands(flood, make, connections=32):
            for _ in range(connections):
                flood.add(b"", lambda: request(port, "POST", "/v1/commands", token, make()))

        def sockets(flood, make, connections=8):
            for _ in range(connections):
                flood.add(upgrade(port, token), lambda: frame(compact({"id": 1, "commands": make()})))

        def queries(flood, target, connections=16):
            for _ in range(connections):
                flood.add(b"", lambda: request(port, "GET", target, token) * 8)

        def follow(flood, follows, streams, thread):
            for _ in range(follows // 16):
                connection = flood.add(upgrade(port, token), None)
                connection.head()
                connection.send(b"".join(frame(compact({"id": number, "follow": {"thread": thread}})) for number in range(16)))
            for _ in range(streams):
                flood.add(request(port, "GET", f"/v1/events?thread={thread}", token), None)

        muted = lambda: [{act: {"thread": self.weeds, "user": self.friend.id}} for act in ("mute", "unmute")] * 10
        invited = lambda: [{"openThread": {"name": "Bed", "policy": "inviteOnly"}}]
        return {
            "posts, 32 connections": lambda flood: commands(flood, lambda: self.post(self.weeds)),
            "batches of 1,000, 8 sockets": lambda flood: sockets(flood, lambda: [self.post(self.weeds) for _ in range(1_000)]),
            "batches into others' thread": lambda flood: sockets(flood, lambda: [self.post(self.garden) for _ in range(1_000)]),
            "long posts, 8 sockets": lambda flood: sockets(flood, lambda: [self.post(self.weeds, 16_000) for _ in range(50)]),
            "threads": lambda flood: commands(flood, lambda: {"openThread": {"name": "Bed", "policy": "open"}}),
            "threads by batches": lambda flood: sockets(flood, invited),
            "sanctions": lambda flood: sockets(flood, muted),
            "queries: latest 200": lambda flood: queries(flood, f"/v1/threads/{self.weeds}/timeline?limit=200"),
            "queries: members, inbox": lambda flood: [queries(flood, target, 8) for target in (f"/v1/threads/{self.weeds}/members?limit=200", "/v1/me/inbox?limit=200")],
            "1,008 follows, 12 streams and posts": lambda flood: [follow(flood, 1_008, 12, self.weeds), sockets(flood, lambda: [self.post(self.weeds) for _ in range(100)])],
            "32 exports at once": lambda flood: [flood.add(request(port, "POST", "/v1/me/export", token, {"password": PASSWORD}), None) for _ in range(32)],
            "requests without a session": lambda flood: [flood.add(b"", lambda: request(port, "GET", "/v1/me", "wrong") * 16) for _ in range(32)],
        }

    def median(self, seconds):
        """Others post for some seconds; returns the median in ms, and the number of posts."""
        times, end, number = [], time.monotonic() + seconds, 0
        while time.monotonic() < end:
            web, person = self.webs[number % OTHERS], self.others[number % OTHERS]
            begin = time.perf_counter()
            web.execute(self.post(self.garden), person.token)
            times.append(time.perf_counter() - begin)
            number += 1
            time.sleep(PAUSE)
        return statistics.median(times) * 1_000, len(times)

    def measure(self, name, fill):
        ends, begun, figures = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue()

        def flood():
            os.nice(10)
            # The others go on with the ids of the generator.
            self.rng = random.Random(f"{self.rng.random()}/{name}")
            made = Flood(self.server.port)
            fill(made)
            begun.set()
            made.run(ends)
            figures.put((made.sent, made.received, made.ended))

        before, _ = self.median(self.seconds)
        process = multiprocessing.get_context("fork").Process(target=flood)
        process.start()
        try:
            begun.wait(60)
            during, count = self.median(self.seconds)
        finally:
            ends.set()
            sent, received, ended = figures.get(timeout=60)
            process.join()
        time.sleep(2)
        after, _ = self.median(self.seconds)
        alone = (before + after) / 2
        print(f"fair: {name:38} {alone:7.2f} ms alone, {during:8.2f} ms during ({count} posts): {during / alone:5.1f} times; "
              f"{sent / self.seconds / 1e6:.2f} MB/s sent, {received / self.seconds / 1e6:.2f} received, {ended} connections ended", flush=True)

    def run(self):
        with self.server.connection() as web:
            self.prepare(web)
        self.webs = [Connection(self.server.port) for _ in range(OTHERS)]
        for name, fill in self.acts().items():
            self.measure(name, fill)


def measure(tool, scratch, rng, seconds):
    with Server(tool, pathlib.Path(scratch)) as server:
        Fair(server, rng, seconds).run()
