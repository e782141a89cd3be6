#!/usr/bin/env python3
"""Writes to a log in a PostgreSQL cluster while its nodes fail, and checks that nothing is lost and nothing is there twice.

    postgres_cluster.py --tool PATH [--runs N] [--seed S] [--rate R] [--keep] [FAULT ...]
    postgres_cluster.py --command COMMAND

Starts three etcd and three PostgreSQL under Patroni with the configuration of JournalPostgres.docc/OperatingACluster.md, each node
in a network namespace of its own where root can make one, otherwise all on 127.0.0.1. The faults, all by default:

    kill        SIGKILL of the leading PostgreSQL and of its Patroni
    crash       SIGKILL of the leading PostgreSQL alone, which Patroni starts again
    follower    SIGKILL of everything on a follower, which starts again later
    patroni     SIGKILL of the leader's Patroni alone, until another node leads
    freeze      SIGSTOP of the leader (PostgreSQL and Patroni), until another node leads; then SIGCONT
    cut         the leader is cut off from the other nodes, until another one leads; clients still reach it
    cut-all     the leader is cut off from the other nodes and from the clients
    all         SIGKILL of everything on all nodes, then a new start
    switchover  an operator makes another node the leader
    take-over   SIGSTOP of a writer; a second one takes over; the first one continues and must end with `superseded`
    flip        a bit is flipped in a data file of a stopped follower and of the stopped leader: reading is an error

With servers (`chat-journal serve`), which need a tool with the trait Server, one that writes and one that reads, each asked for its
health five times a second:

    frozen      SIGSTOP of the follower from which a server reads, then of both, beside an erasure
    delay       what the followers send arrives two seconds late; needs network namespaces
    taken-port  a server with `--take-over` whose port, and one whose accounts are in use, then one that can start
    samples     after an erasure, the statistics of no server have the words
    outage      SIGSTOP of all nodes, until the writer stops; only by name
    full        no space on the disk of the leader, then of both followers; only by name, because all nodes then have small disks

The health answers within a second (0.1 s on a machine of its own), says `degraded` while a post has waited for 10 s, and `ok` if none
has waited in the last 10 s. `--serve` makes the first faults with servers too, in the place of `chat-journal run`.

In each run a writer posts messages through `chat-journal run`, several at a time. If it ends with an error, another one
repeats what was not answered, under the same ids. Before the fault and after it a second writer is refused with `locked`,
and a reader follows the log (`events --follow`). Afterwards every answered message must be in the log exactly once, at its
position, the positions without a gap; the follower must have shown the same events and no other ones; and
`verify --deep` must find nothing. The time without writes is the longest time between two answers.

With `--command` a shell runs the command once the cluster is healthy, with the address of a log in CLUSTER_ADDRESS, for
example to measure or to try something by hand (`--command bash`).

Needs PostgreSQL, etcd and Patroni 4.1. Root installs what is missing, unless CHATJOURNAL_INSTALL=0; otherwise the check is
SKIPPED. A failure keeps the directory of the cluster, with all logs.
"""

import argparse
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import cluster_flip
import cluster_server
import full_disk
import server_client
from cluster_nodes import Cluster, Failed, wait_until
from cluster_programs import Missing, Programs
from cluster_writer import Account, Follower, Tool, Writer

# Seconds with two servers that accept writes: the new leader, and the old one, which does not know of it.
TWO_LEADERS = 5


class Run:
    """One run: a log of its own, a writer, and what it was answered."""

    def __init__(self, cluster, tool, log, rng, rate):
        self.cluster, self.tool, self.rng, self.rate = cluster, tool, rng, rate
        self.address = cluster.address(log)
        self.account = Account(rng)
        self.ends = []

    def writer(self, account=None, **how):
        return Writer(self.tool.path, self.address, self.tool.environment, account or self.account, rate=self.rate, **how)

    def check(self, *accounts):
        """Compares the log with all answers; returns its events."""
        events = self.tool.events(self.address)
        known = set()
        for account in accounts:
            account.check(events)
            known |= account.ids.keys()
        if unknown := [event for event in events if "messagePosted" in event and event["messagePosted"]["message"] not in known]:
            raise Failed(f"{len(unknown)} messages were never sent: {unknown[:2]}")
        self.tool.verify(self.address)
        return events

    def fail(self, fault):
        """Runs a fault during writes; returns (answers, seconds without writes)."""
        writer, follower = self.writer(), None
        try:
            writer.wait_for_answers(300)
            follower = Follower(self.tool, self.address)
            self.tool.refuse_second(self.address)
            time.sleep(self.rng.uniform(0, 1))
            began = time.monotonic()
            fault(self, self.cluster.leader())
            writer.wait_for_answers(300)
            self.cluster.wait_until_healthy()
            self.tool.refuse_second(self.address)
            writer.wait_for_answers(300)
            writer.stop()
            follower.check(self.check(self.account))
        finally:
            writer.kill()
            if follower is not None:
                follower.kill()
        self.ends = writer.ends
        return len(self.account.answered), self.account.longest_pause(began)


def wait_for_another(run, leader):
    wait_until("another leader", lambda: run.cluster.leader() not in (None, leader))
    time.sleep(TWO_LEADERS)


def kill(run, leader):
    leader.kill_patroni()
    leader.kill_postmaster()
    wait_for_another(run, leader)
    leader.start()


def crash(run, leader):
    leader.kill_postmaster()


def follower(run, leader):
    node = run.rng.choice([node for node in run.cluster.nodes if node is not leader])
    node.kill_all()
    time.sleep(5)
    node.start()


def patroni(run, leader):
    leader.kill_patroni()
    wait_for_another(run, leader)
    leader.start()


def freeze(run, leader):
    leader.send(signal.SIGSTOP)
    try:
        wait_for_another(run, leader)
    finally:
        leader.send(signal.SIGCONT)


def cut(run, leader, clients=False):
    run.cluster.network.cut(leader.number, clients)
    try:
        wait_for_another(run, leader)
    finally:
        run.cluster.network.heal(leader.number)


def cut_all(run, leader):
    cut(run, leader, clients=True)


def all_nodes(run, leader):
    for node in run.cluster.nodes:
        node.kill_all()
    for node in run.cluster.nodes:
        node.start()


def switchover(run, leader):
    # The answer may come later than the new leader.
    leader.rest("/switchover", {"leader": leader.name})
    wait_until("another leader", lambda: run.cluster.leader() not in (None, leader))


def take_over(run):
    """Returns (answers, seconds from the start of the second writer to its first answer)."""
    second_account = Account(run.rng)
    first = run.writer(restarts=False)
    second = None
    try:
        first.wait_for_answers(300)
        run.tool.refuse_second(run.address)
        first.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        second = run.writer(second_account, options=("--take-over",))
        second.wait_for_answers(300)
        first.process.send_signal(signal.SIGCONT)
        wait_until("the end of the first writer", lambda: not first.thread.is_alive())
        first.check_fault()
        if not first.ends or "superseded" not in first.ends[-1]:
            raise Failed(f"the first writer did not end with superseded: {first.ends}")
        second.wait_for_answers(300)
        second.stop()
    finally:
        first.kill()
        if second is not None:
            second.kill()
    run.ends = first.ends + second.ends
    events = run.check(run.account, second_account)
    begins = second_account.answered[0]
    late = [event for event in events[begins:] if event.get("messagePosted", {}).get("message") in run.account.ids]
    if late:
        raise Failed(f"the first writer appended {len(late)} events after the second one had begun at {begins}: {late[:2]}")
    return len(run.account.answered) + len(second_account.answered), second_account.times[0] - began


FAULTS = {"kill": kill, "crash": crash, "follower": follower, "patroni": patroni, "freeze": freeze, "cut": cut, "cut-all": cut_all,
          "all": all_nodes, "switchover": switchover}
NAMES = (*FAULTS, "take-over", "flip", *(name for name in cluster_server.PARTS if name not in cluster_server.NAMED))


def check(cluster, tool, name, arguments):
    if name in ("cut", "cut-all", "delay") and not cluster.network.can_cut:
        print(f"{name}: SKIPPED: needs network namespaces", flush=True)
        return
    answers, pauses, ends = 0, [], {}
    for number in range(1, arguments.runs + 1):
        run = Run(cluster, tool, f"{name}-{number}", random.Random(f"{arguments.seed}/{name}/{number}"), arguments.rate)
        try:
            cluster.wait_until_healthy()
            if arguments.serve and name in FAULTS:
                print(f"{cluster_server.fault(run, name, FAULTS[name])}, run {number}", flush=True)
                continue
            if name in cluster_server.PARTS:
                began = time.monotonic()
                said = cluster_server.PARTS[name](run)
                print(f"{name}, run {number}: {said}, in {time.monotonic() - began:.0f} s", flush=True)
                continue
            if name == "flip":
                print(f"flip, run {number}: {cluster_flip.check(run)}", flush=True)
                continue
            answered, pause = take_over(run) if name == "take-over" else run.fail(FAULTS[name])
        except (Failed, server_client.Failed) as failure:
            raise Failed(f"{name}, run {number}: {failure}") from failure
        answers += answered
        pauses.append(pause)
        for end in run.ends:
            # The last line, without the address.
            end = end.splitlines()[-1].split(" (postgres://")[0]
            ends[end] = ends.get(end, 0) + 1
        print(f"{name}, run {number}: {answered} answered, {pause:.1f} s without writes, the writer ended {len(run.ends)} times", flush=True)
    if pauses:
        print(f"{name}: {len(pauses)} runs, {answers} answered, 0 lost, 0 twice; without writes {statistics.median(pauses):.1f} s in the "
              f"median, {max(pauses):.1f} s at worst", flush=True)
    for end, count in sorted(ends.items()):
        print(f"    the writer ended {count} times with: {end}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"default: {' '.join(NAMES)}; also {' '.join(sorted(cluster_server.NAMED))}")
    parser.add_argument("--tool", help="the chat-journal binary, built with the trait Postgres")
    parser.add_argument("--command", help="run this instead of faults")
    parser.add_argument("--runs", type=int, default=1, help="runs of each fault")
    parser.add_argument("--serve", action="store_true", help="make the faults of the cluster with servers in the place of a writer")
    parser.add_argument("--rate", type=int, default=200, help="messages a second, at most")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    parser.add_argument("--keep", action="store_true", help="keep the directory of the cluster")
    arguments = parser.parse_args()
    if unknown := set(arguments.faults) - {*NAMES, *cluster_server.NAMED}:
        parser.error(f"unknown faults: {', '.join(sorted(unknown))}")
    if (arguments.tool is None) == (arguments.command is None):
        parser.error("either --tool or --command")
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    disk_size = None
    if "full" in arguments.faults:
        try:
            full_disk.enter_namespace()
        except full_disk.Skipped as reason:
            print(f"postgres_cluster: SKIPPED: {reason}")
            return 0
        disk_size = 512
    # In /tmp: the user of PostgreSQL must be able to enter it, and the path of a socket has at most 107 bytes.
    directory = pathlib.Path(tempfile.mkdtemp(prefix="postgres-cluster-", dir="/tmp"))
    directory.chmod(0o755)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    try:
        programs = Programs(directory)
    except Missing as missing:
        print(f"postgres_cluster: SKIPPED: {missing}")
        return 0
    cluster, keep = Cluster(programs, directory, disk_size=disk_size), True
    try:
        print(f"postgres_cluster: seed {arguments.seed}, directory {directory}", flush=True)
        cluster.start()
        if arguments.command:
            environment = {**os.environ, "PGPASSWORD": cluster.password, "CLUSTER_ADDRESS": cluster.address("main")}
            keep = arguments.keep
            return subprocess.run(arguments.command, shell=True, env=environment, check=False).returncode
        for name in arguments.faults or NAMES:
            check(cluster, Tool(arguments.tool, cluster.password), name, arguments)
        keep = arguments.keep
    except Failed as failure:
        print(f"FAILED seed {arguments.seed}, directory {directory}\n  {failure}", flush=True)
        return 1
    finally:
        cluster.close(keep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
