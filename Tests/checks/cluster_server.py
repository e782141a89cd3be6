"""Servers of the chat on a cluster under faults: what they answer, and whether their health tells the truth."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

import server_client
from cluster_nodes import Failed, wait_until
from server_client import Connection, Server

# Seconds after which the health must tell of a fault, and of its end.
TRUTH = 10
# A look at the health takes 0.1 s at most; the rest is for a machine that is busy with six servers.
LATENCY = 1.0
# How long a post may take to count as one that did not wait.
QUICK = 1.5


class Watch:
    """Asks a server for its health, five times a second, and keeps the answers."""

    def __init__(self, server):
        self.server, self.samples = server, []  # (when asked, seconds, status, age)
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with Connection(self.server.port, timeout=60) as web:
            while not self.ending.wait(0.2):
                asked = time.monotonic()
                try:
                    answer = web.ask("GET", "/healthz")
                    said = json.loads(answer.body)
                    status, age = (said["status"], said.get("age")) if answer.status == 200 else (said["code"], None)
                except OSError:
                    web.close()
                    status, age = "away", None
                self.samples.append((asked, time.monotonic() - asked, status, age))

    def during(self, since, until):
        return [sample for sample in self.samples if since <= sample[0] <= until]

    def require(self, status, since, until, what):
        """Requires that every answer between two moments has a status."""
        found = self.during(since, until)
        wrong = [sample for sample in found if sample[2] != status]
        if wrong or not found:
            raise Failed(f"the health of {what} is not {status} from {since:.1f} to {until:.1f}: {wrong[:3]} of {len(found)}")

    def first(self, status, since):
        """Returns the seconds until the first answer with a status; None if there is none."""
        return next((sample[0] - since for sample in self.samples if sample[0] >= since and sample[2] == status), None)

    def end(self, what):
        """Ends, and returns the slowest answer in seconds."""
        self.ending.set()
        self.thread.join()
        worst = max((sample[1] for sample in self.samples), default=0.0)
        if worst > LATENCY:
            raise Failed(f"the health of {what} took {worst:.1f} s")
        return worst


class Posting:
    """A person who posts one message after another, each again until it is answered."""

    def __init__(self, server, person, thread="SW1A"):
        self.server, self.person, self.thread_name = server, person, thread
        self.posts = []  # [id, when sent, when answered or None, position]
        self.fault = None
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.guarded, daemon=True)
        self.thread.start()

    def guarded(self):
        try:
            with Connection(self.server.port, timeout=120) as web:
                while not self.ending.wait(0.1):
                    self.post(web)
        except Exception as fault:  # raised again in the main thread
            self.fault = fault

    def post(self, web):
        identifier = server_client.identifier()
        entry = [identifier, time.monotonic(), None, None]
        self.posts.append(entry)
        command = {"postMessage": {"message": identifier, "thread": self.thread_name, "body": f"Milk, please {len(self.posts)}"}}
        while True:
            try:
                answer = web.ask("POST", "/v1/commands", command, self.person.token)
            except OSError:
                web.close()
                answer = None
            if answer is not None and answer.status == 200:
                entry[2:] = time.monotonic(), json.loads(answer.body)["positions"][0]
                return
            if self.ending.wait(0.2):
                return

    def answered(self):
        if self.fault is not None:
            raise self.fault
        return [post for post in self.posts if post[2] is not None]

    def wait_for(self, count):
        """Waits until a number of further messages is answered."""
        target = len(self.answered()) + count

        def arrived():
            if self.server.process.poll() is not None:
                raise Failed(f"the server ended with status {self.server.process.returncode}: {self.server.log_text()[-500:]}")
            return len(self.answered()) >= target
        wait_until(f"{count} more posts", arrived)

    def end(self):
        self.ending.set()
        self.thread.join()
        if self.fault is not None:
            raise self.fault

    def longest_wait(self, since):
        return max((post[2] - post[1] for post in self.answered() if post[2] >= since), default=0.0)

    def check(self, events):
        """Every answered message is in the log exactly once, at its position."""
        places = {}
        for event in events:
            message = event.get("messagePosted", {}).get("message")
            places.setdefault(message, []).append(event["position"])
        wrong = [post for post in self.answered() if places.get(post[0]) != [post[3]]]
        if wrong:
            raise Failed(f"{len(wrong)} answered posts are not in the log once, at their positions: {wrong[:3]}")
        return len(self.answered())

    def require_truth(self, watch, what):
        """Requires that the health says `degraded` while a post has waited for `TRUTH` seconds, and `ok` if none has waited lately."""
        posts = list(self.posts)
        for asked, _, status, age in list(watch.samples):
            lately = [post for post in posts if post[1] <= asked and (post[2] is None or post[2] >= asked - TRUTH)]
            waited = max((min(asked, post[2] or asked) - post[1] for post in lately), default=0.0)
            # Not a post whose answer is on its way: the database answers again, and the health knows first.
            waits = max((asked - post[1] for post in lately if post[2] is None or post[2] > asked + QUICK), default=0.0)
            if waits >= TRUTH and status == "ok" or lately and waited < QUICK and status == "degraded":
                raise Failed(f"the health of {what} is {status} (age {age}) while a post waits for {waits:.1f} s, and {waited:.1f} s lately")


class ClusterServer(Server):
    """A server that gets the password of the database. The nodes must not: they have passwords of their own."""

    password = None

    def start(self, seconds=server_client.PATIENCE):
        os.environ["PGPASSWORD"] = self.password
        try:
            return super().start(seconds)
        finally:
            del os.environ["PGPASSWORD"]


class Servers:
    """A server that writes to the log of a run, and servers that read it, each with a watch of its health."""

    def __init__(self, run, scratch):
        self.run, self.scratch = run, pathlib.Path(scratch)
        self.watches, self.readers = {}, {}
        self.writer = self.server("writer")

    def server(self, name, nodes=None, log=None, options=()):
        server = ClusterServer(self.run.tool.path, self.scratch / name, options)
        server.password = self.run.cluster.password
        server.journal = self.run.cluster.address(log or self.run.address.split("#")[1], nodes)
        return server

    def start(self):
        self.writer.start()
        with self.writer.connection() as web:
            self.person = self.writer.person(web)
            web.execute({"setPostcode": {"postcode": "SW1A 1AA"}}, self.person.token)
        self.watch("writer", self.writer)
        self.posting = Posting(self.writer, self.person)
        return self

    def watch(self, name, server):
        self.watches[name] = Watch(server)

    def read(self, name, nodes=None):
        """Starts a server that reads from some nodes only."""
        reader = self.server(name, nodes)
        reader.own_options = lambda: ["--writer", self.writer.url]
        reader.start()
        self.readers[name] = reader
        self.watch(name, reader)
        return reader

    def finish(self):
        """Ends the servers, and compares; returns (answered, the slowest look at a health)."""
        self.posting.end()
        worst = max(watch.end(name) for name, watch in self.watches.items())
        for reader in self.readers.values():
            reader.stop()
        self.writer.stop()
        answered = self.posting.check(self.run.tool.events(self.run.address))
        self.run.tool.verify(self.run.address)
        return answered, worst


@contextlib.contextmanager
def servers(run):
    with tempfile.TemporaryDirectory() as scratch:
        all = Servers(run, scratch)
        try:
            yield all
        except Exception:
            for name, watch in all.watches.items():
                print(f"--- the slowest health of {name}: {max((each[1] for each in watch.samples), default=0):.3f} s", flush=True)
            for process in list(Server.running):
                print(f"--- the log of {process.directory.name}:\n{process.log_text()[-3000:]}", flush=True)
            raise
        finally:
            Server.kill_all()


# MARK: Parts

def fault(run, name, body):
    """Makes a fault of the cluster while servers are used; returns a row of the table."""
    with servers(run) as all:
        all.start()
        all.read("reader")
        all.posting.wait_for(10)
        began = time.monotonic()
        body(run, run.cluster.leader())
        run.cluster.wait_until_healthy()
        all.posting.wait_for(20)
        healthy = time.monotonic()
        time.sleep(TRUTH + 2)
        all.watches["reader"].require("ok", healthy + TRUTH, time.monotonic(), "the reading server")
        wait = all.posting.longest_wait(began)
        degraded = all.watches["writer"].first("degraded", began)
        all.posting.require_truth(all.watches["writer"], "the writing server")
        answered, worst = all.finish()
    told = "never" if degraded is None else f"after {degraded:.1f} s"
    return f"{name}: {answered} answered, 0 lost, 0 twice; the longest wait {wait:.1f} s; degraded {told}; the slowest health {worst * 1000:.0f} ms"


def frozen(run):
    """Freezes a follower, from which a server reads, and then both: the health tells so, and nothing waits for it."""
    leader = run.cluster.wait_until_healthy()
    followers = [node for node in run.cluster.nodes if node is not leader]
    with servers(run) as all:
        all.start()
        all.read("reader", followers[:1])
        with all.writer.connection() as web:
            leaving = all.writer.person(web)
        all.posting.wait_for(10)
        rows = []
        for number in (1, 2):
            began = time.monotonic()
            for node in followers[:number]:
                node.send(signal.SIGSTOP)
            try:
                if number == 2:
                    # An erasure, which waits for its confirmation.
                    deletion = threading.Thread(target=delete, args=(all.writer, leaving), daemon=True)
                    deletion.start()
                time.sleep(TRUTH + 4)
            finally:
                for node in followers[:number]:
                    node.send(signal.SIGCONT)
            ended = time.monotonic()
            if number == 1:
                all.watches["writer"].require("ok", began, ended, "the writing server")
            else:
                all.watches["writer"].require("degraded", began + TRUTH, ended, "the writing server")
            all.watches["reader"].require("degraded", began + TRUTH, ended, "the server that reads the frozen follower")
            all.posting.wait_for(5)
            told = {name: watch.first("degraded", began) for name, watch in all.watches.items()}
            for name, watch in all.watches.items():
                wait_until(f"the health of the {name} is ok again", lambda: watch.first("ok", ended) is not None, TRUTH)
            rows.append(f"{number} frozen: " + ", ".join(
                f"{name} degraded " + ("never" if at is None else f"after {at:.1f} s") for name, at in sorted(told.items())))
        deletion.join()
        all.posting.require_truth(all.watches["writer"], "the writing server")
        answered, worst = all.finish()
    return f"{answered} answered, 0 lost, 0 twice; {'; '.join(rows)}; the slowest health {worst * 1000:.0f} ms"


def delete(server, person):
    with server.connection() as web:
        web.ask("POST", "/v1/delete-account", {"password": person.password}, person.token)


def delay(run):
    """Holds back what the followers send for two seconds: each answer takes as long, and nothing is lost."""
    leader = run.cluster.wait_until_healthy()
    followers = [node for node in run.cluster.nodes if node is not leader]
    with servers(run) as all:
        all.start()
        all.read("reader")
        all.posting.wait_for(10)
        began = time.monotonic()
        links = [run.cluster.network.delay(node.number, 2) for node in followers]
        try:
            time.sleep(30)
        finally:
            for link in links:
                link.end()
        ended = time.monotonic()
        wait = all.posting.longest_wait(began)
        if wait < 2:
            raise Failed(f"the longest wait is {wait:.1f} s behind a delay of 2 s")
        run.cluster.wait_until_healthy()
        all.posting.wait_for(20)
        time.sleep(TRUTH + 1)
        for name, watch in all.watches.items():
            watch.require("ok", ended + TRUTH, time.monotonic() - 0.3, name)
        all.posting.require_truth(all.watches["writer"], "the writing server")
        answered, worst = all.finish()
    return f"{answered} answered, 0 lost, 0 twice; the longest wait {wait:.1f} s; the slowest health {worst * 1000:.0f} ms"


def full(run):
    """Takes all space of the leader, and then of both followers: posts wait, or another node leads, and nothing is lost."""
    rows = []
    with servers(run) as all:
        all.start()
        all.read("reader")
        for whose in ("leader", "followers"):
            leader = run.cluster.wait_until_healthy()
            nodes = [node for node in run.cluster.nodes if (node is leader) == (whose == "leader")]
            all.posting.wait_for(10)
            began = time.monotonic()
            for node in nodes:
                node.fill()
            try:
                time.sleep(2 * TRUTH)
            finally:
                for node in nodes:
                    node.free()
            run.cluster.wait_until_healthy()
            all.posting.wait_for(20)
            told = all.watches["writer"].first("degraded", began)
            rows.append(f"{whose}: the longest wait {all.posting.longest_wait(began):.1f} s, degraded " + ("never" if told is None else f"after {told:.1f} s"))
        healthy = time.monotonic()
        time.sleep(TRUTH + 2)
        for name, watch in all.watches.items():
            watch.require("ok", healthy + TRUTH, time.monotonic() - 0.3, name)
        all.posting.require_truth(all.watches["writer"], "the writing server")
        answered, worst = all.finish()
    return f"{answered} answered, 0 lost, 0 twice; {'; '.join(rows)}; the slowest health {worst * 1000:.0f} ms"


def taken_port(run):
    """A take-over whose port or accounts are in use ends nobody; one that can start takes over."""
    with servers(run) as all:
        all.start()
        all.posting.wait_for(5)
        second = all.server("second")
        attempts = []
        for code, port, accounts in (("cannotListen", all.writer.port, second.directory), ("accountsInUse", second.port, all.writer.directory)):
            status, output, said = run.tool.ask(
                "serve", second.journal, "--listen", f"127.0.0.1:{port}", "--accounts", str(accounts / "accounts"), "--mail", str(second.mail),
                "--head", str(second.directory / "head"), "--take-over")
            if status != 1 or code not in said or output:
                raise Failed(f"a take-over with {code} ended with status {status}: {output!r} {said}")
            attempts.append(code)
        # A writer that was superseded learns it within some six seconds.
        time.sleep(8)
        if all.writer.process.poll() is not None:
            raise Failed(f"a take-over that failed has ended the server: {all.writer.log_text()[-500:]}")
        all.posting.wait_for(5)
        now = time.monotonic()
        all.watches["writer"].require("ok", now - 8, now - 0.3, "the server that goes on")
        second.options.append("--take-over")
        second.start()
        if (status := all.writer.process.wait(timeout=60)) != 75:
            raise Failed(f"the server that was taken over ended with status {status}: {all.writer.log_text()[-500:]}")
        with second.connection() as web:
            if web.get("/healthz").get("status") != "ok":
                raise Failed("the server that took over is not ok")
        # The process has ended by itself.
        Server.running.discard(all.writer)
        all.posting.ending.set()
        all.posting.thread.join()
        for name, watch in all.watches.items():
            watch.end(name)
        second.stop()
        answered = all.posting.check(run.tool.events(run.address))
    return f"{answered} answered, 0 lost, 0 twice; refused before the take-over: {', '.join(attempts)}"


SAMPLES = """select coalesce(string_agg(encode(v, 'escape'), ' '), '') from pg_stats,
    unnest(histogram_bounds::text::bytea[] || most_common_vals::text::bytea[]) v
    where schemaname = 'chat_journal' and tablename = 'record' and attname = 'record'"""


def samples(run):
    """After an erasure no statement returns the words on any server, not from the statistics of the planner either."""
    leader = run.cluster.wait_until_healthy()
    account = run.account
    writer = run.writer()
    try:
        writer.wait_for_answers(500)
        writer.stop()
    finally:
        writer.kill()
    # After an earlier part, another server may lead by now.
    leader = run.cluster.wait_until_healthy()
    # As autovacuum does by itself. The words are those of `Account.post`.
    leader.sql("analyze chat_journal.record")
    before = "pick up milk" in leader.sql(SAMPLES)
    status, output, said = run.tool.ask("erase", run.address, "--user", account.user, "--reason", "asked")
    if status != 0:
        raise Failed(f"erase ended with status {status}: {output!r} {said}")
    wait_until("followers with everything", lambda: all(
        node.sql("select pg_last_wal_replay_lsn()") == leader.sql("select pg_current_wal_lsn()")
        for node in run.cluster.nodes if node is not leader), 60)
    for node in run.cluster.nodes:
        if "pick up milk" in node.sql(SAMPLES) or "Neighbour" in node.sql(SAMPLES):
            raise Failed(f"the statistics of {node.name} have erased words: {node.sql(SAMPLES)[:300]}")
        # Other parts have logs of their own in the same database, with the same words.
        count = node.sql(f"select count(*) from chat_journal.record r join chat_journal.log l on l.number = r.log "
                         f"where l.name = '{run.address.split('#')[1]}' and position('pick up milk'::bytea in record) > 0")
        if count != "0":
            raise Failed(f"{count} records of {node.name} have erased words")
    if before:
        raise Failed("the statistics had words before the erasure: another erasure may not reach them")
    return f"{len(account.answered)} answered; no erased word in the records and the statistics of {len(run.cluster.nodes)} servers"


def outage(run):
    """Without any server, the writer stops after the documented minute."""
    with servers(run) as all:
        all.start()
        all.posting.wait_for(5)
        began = time.monotonic()
        for node in run.cluster.nodes:
            node.send(signal.SIGSTOP)
        try:
            status = all.writer.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            raise Failed("the writer has not stopped after 120 s without a server") from None
        finally:
            for node in run.cluster.nodes:
                node.send(signal.SIGCONT)
        length = time.monotonic() - began
        said = all.writer.log_text()
        if status != 75 or "unreachable" not in said:
            raise Failed(f"the writer ended with status {status}: {said[-500:]}")
        # The answers in transit take a moment, and closing may wait for clients.
        if not 55 < length < 66:
            raise Failed(f"an outage stopped the writer after {length:.1f} s")
        all.watches["writer"].require("degraded", began + TRUTH, began + 55, "the writing server")
        Server.running.discard(all.writer)
        run.cluster.wait_until_healthy()
        all.writer.start()
        all.posting.wait_for(5)
        # The first watch has ended with its server, or has seen it away.
        answered, worst = all.finish()
    return f"{answered} answered, 0 lost, 0 twice; the writer stopped after {length:.1f} s; the slowest health {worst * 1000:.0f} ms"


PARTS = {"frozen": frozen, "delay": delay, "taken-port": taken_port, "samples": samples, "outage": outage, "full": full}
# Only by name: they take minutes, or small disks.
NAMED = {"outage", "full"}
