#!/usr/bin/env python3
"""Measures the WebSockets of `chat-journal serve`: posts and deliveries per second, delays, memory, idle connections.

    socket_load.py --tool PATH [--scratch DIR] [--sockets 1000] [--seconds 5] [--rates 50,200] [--idle 10000] [--idle-seconds 60]

A few accounts have all the sockets, in threads of 10: each post is delivered 10 times. The clients are processes with
epoll on the same machine, and take their part of its time. First posts at steady rates (the delay of a delivery is from the
send of the post to the arrival of its event at another socket, and includes the client's own time), then as many as possible,
in batches; then idle sockets, whose pings are answered and which must all be connected at the end. Use a release build
and a quiet machine; the load average and the processor time of both sides are printed.
"""

import argparse
import multiprocessing
import os
import pathlib
import resource
import select
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from socket_client import PING, PONG, TEXT, Failed, Server, WebSocket, frame

ACCOUNTS, GROUP = 10, 10
NOW = time.monotonic_ns
BODY = b'"body":"@'


class Worker:
    """Sockets of one process."""

    def __init__(self, port, places):
        self.epoll, self.sockets, self.buffers, self.places = select.epoll(), {}, {}, {}
        self.delays, self.deliveries, self.answers, self.pongs, self.lost = [], 0, 0, 0, 0
        for token, thread in places:
            web_socket = WebSocket(port, token=token, timeout=120)
            web_socket.hello()
            if thread:
                if "following" not in web_socket.ask({"id": 0, "follow": {"thread": thread}}):
                    raise Failed("the thread cannot be followed")
            # From here on this process answers pings itself.
            web_socket.answers_pings = False
            number = web_socket.socket.fileno()
            self.sockets[number], self.buffers[number], self.places[number] = web_socket, web_socket.buffer, thread
            web_socket.buffer = b""
            self.epoll.register(number, select.EPOLLIN)
        self.order, self.next, self.batch = list(self.sockets), 0, 0

    def receive(self, timeout):
        for number, _ in self.epoll.poll(timeout, 512):
            try:
                data = self.sockets[number].socket.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                self.lost += 1
                self.epoll.unregister(number)
                continue
            now, buffer, start = NOW(), self.buffers[number] + data, 0
            while len(buffer) - start >= 2:
                length, head = buffer[start + 1], 2
                if length == 126:
                    length, head = int.from_bytes(buffer[start + 2:start + 4], "big"), 4
                elif length == 127:
                    length, head = int.from_bytes(buffer[start + 2:start + 10], "big"), 10
                end = start + head + length
                if len(buffer) < end:
                    break
                opcode = buffer[start] & 15
                if opcode == TEXT:
                    if buffer.startswith(b'{"follow"', start + head):
                        self.deliveries += 1
                        at = buffer.find(BODY, start + head, end) + len(BODY)
                        self.delays.append(now - int(buffer[at:buffer.index(b'"', at)]))
                    else:
                        self.answers += 1
                        if b'"rejection"' in buffer[start:end] or b'"problem"' in buffer[start:end]:
                            raise Failed(f"a post was not accepted: {buffer[start:end]!r}")
                        if self.batch:
                            self.post(number, self.batch)
                elif opcode == PING:
                    self.sockets[number].send(frame(PONG, buffer[start + head:end]))
                elif opcode == PONG:
                    self.pongs += 1
                start = end
            self.buffers[number] = buffer[start:]

    def post(self, number, count=1):
        command = b'{"postMessage":{"thread":"%s","body":"@%d"}}' % (self.places[number].encode(), NOW())
        text = b"[" + b",".join([command] * count) + b"]" if count > 1 else command
        self.sockets[number].send(frame(TEXT, b'{"id":1,"commands":' + text + b"}"))

    def steady(self, rate, seconds):
        """Posts at a steady rate, from each socket in turn."""
        start, sent = time.monotonic(), 0
        while (elapsed := time.monotonic() - start) < seconds:
            while sent < elapsed * rate:
                # Sockets of different threads follow each other.
                self.next = (self.next + GROUP + 1) % len(self.order)
                self.post(self.order[self.next])
                sent += 1
            self.receive(min(0.01, max(0.0, (sent + 1) / rate - (time.monotonic() - start))))
        return sent

    def flood(self, writers, batch, seconds):
        """Posts batches from some sockets, each as soon as the one before is answered."""
        self.batch = batch
        for number in self.order[:writers * GROUP:GROUP]:
            self.post(number, batch)
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            self.receive(0.01)
        self.batch = 0
        return 0

    def drain(self, seconds=3):
        """Receives what is on its way."""
        quiet = time.monotonic()
        while time.monotonic() - quiet < seconds:
            before = self.deliveries
            self.receive(0.05)
            if self.deliveries != before:
                quiet = time.monotonic()

    def idle(self, seconds):
        """Answers pings, and then asks each socket for a pong."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.receive(1)
        for number in self.order:
            try:
                self.sockets[number].send(frame(PING, b"there?"))
            except OSError:
                pass
        deadline = time.monotonic() + 60
        while self.pongs + self.lost < len(self.order) and time.monotonic() < deadline:
            self.receive(0.1)
        return self.pongs


def work(port, places, pipe):
    """Runs the orders of the main process."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        worker = Worker(port, places)
        pipe.send("ready")
        while order := pipe.recv():
            name, *values = order
            worker.delays, worker.deliveries, worker.answers = [], 0, 0
            start = time.monotonic()
            result = getattr(worker, name)(*values)
            during, answers, taken = worker.deliveries, worker.answers, time.monotonic() - start
            if name != "idle":
                worker.drain()
            pipe.send((result, during, answers, taken, worker.delays, worker.deliveries, worker.lost))
    except BaseException as error:  # reported by the main process
        pipe.send(error)
        raise


class Fleet:
    """Worker processes that share the sockets."""

    def __init__(self, server, places, processes):
        self.pipes, self.processes = [], []
        for index in range(processes):
            here, there = multiprocessing.Pipe()
            process = multiprocessing.Process(target=work, args=(server.port, places[index::processes], there), daemon=True)
            process.start()
            self.pipes.append(here)
            self.processes.append(process)
        self.receive()

    def receive(self):
        results = [pipe.recv() for pipe in self.pipes]
        for result in results:
            if isinstance(result, BaseException):
                raise Failed(f"a worker failed: {type(result).__name__}: {result}")
        return results

    def order(self, *order):
        for pipe in self.pipes:
            pipe.send(order)
        return self.receive()

    def end(self):
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join()


def percentile(values, part):
    return values[min(len(values) - 1, int(len(values) * part))] / 1e6 if values else float("nan")


def processor_time(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(server, name, act, posts_of):
    before = processor_time(server)
    results = act()
    taken = max(result[3] for result in results)
    delays = sorted(delay for result in results for delay in result[4])
    during, deliveries, posts = sum(result[1] for result in results), sum(result[5] for result in results), posts_of(results)
    if deliveries % GROUP or any(result[6] for result in results):
        raise Failed(f"{name}: {deliveries} deliveries of posts to {GROUP} sockets each, {sum(result[6] for result in results)} sockets lost")
    print(f"{name}: {posts / taken:.0f} posts/s, {during / taken:.0f} deliveries/s; delay p50 {percentile(delays, 0.5):.1f} ms, "
          f"p99 {percentile(delays, 0.99):.1f} ms, longest {percentile(delays, 1):.1f} ms; server {processor_time(server) - before:.1f} s of processor time; "
          f"load average {os.getloadavg()[0]:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the chat-journal binary, a release build with the trait Server")
    parser.add_argument("--scratch", default=None)
    parser.add_argument("--sockets", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rates", default="20,100,200", help="posts per second")
    parser.add_argument("--writers", type=int, default=8, help="the sockets that post batches at once")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--idle", type=int, default=10_000, help="the number of idle sockets; 0 for none")
    parser.add_argument("--idle-seconds", type=float, default=60, help="600 in the long form")
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="socket-load-", dir=arguments.scratch))
    tool = str(pathlib.Path(arguments.tool).resolve())
    with Server(tool, scratch) as server:
        people = server.people_named(*(f"Loud {number}" for number in range(ACCOUNTS)), postcode=None)
        opened = server.post("/v1/commands", [{"openThread": {"name": f"Thread {number}", "policy": "open"}}
                                              for number in range(arguments.sockets // GROUP)], people[0].token)
        threads = [answer["events"][0]["threadOpened"]["thread"] for answer in opened]
        for person in people[1:]:
            server.post("/v1/commands", [{"joinThread": {"thread": thread}} for thread in threads], person.token)
        places = [(people[(index + member) % ACCOUNTS].token, thread) for index, thread in enumerate(threads) for member in range(GROUP)]
        before = server.memory()
        fleet = Fleet(server, places, arguments.processes)
        time.sleep(1)
        print(f"memory: {(server.memory() - before) / len(places):.1f} KiB for each of {len(places)} sockets that follow a thread "
              f"(VmRSS {before} to {server.memory()} KiB)", flush=True)
        for rate in (float(text) for text in arguments.rates.split(",")):
            report(server, f"steady {rate:.0f}/s", lambda: fleet.order("steady", rate / arguments.processes, arguments.seconds),
                   lambda results: sum(result[0] for result in results))
        report(server, f"batches of {arguments.batch} by {arguments.writers} sockets",
               lambda: fleet.order("flood", arguments.writers // arguments.processes, arguments.batch, arguments.seconds),
               lambda results: sum(result[2] for result in results) * arguments.batch)
        fleet.end()
        if arguments.idle:
            # Of the same accounts; the sockets of before are gone.
            before, start = server.memory(), time.monotonic()
            fleet = Fleet(server, [(people[number % ACCOUNTS].token, None) for number in range(arguments.idle)], 4)
            taken, used, after = time.monotonic() - start, processor_time(server), server.memory()
            results = fleet.order("idle", arguments.idle_seconds)
            connected = sum(result[0] for result in results)
            print(f"idle: {arguments.idle} sockets in {taken:.1f} s, {(after - before) / arguments.idle:.1f} KiB more each (VmRSS {before} to {after} KiB); "
                  f"{connected} connected after {arguments.idle_seconds:.0f} s, which took {processor_time(server) - used:.1f} s of the server's time")
            if connected != arguments.idle:
                raise Failed(f"{arguments.idle - connected} of {arguments.idle} idle sockets are gone")
            fleet.end()
    shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        print(f"FAILED: {error}")
        sys.exit(1)
