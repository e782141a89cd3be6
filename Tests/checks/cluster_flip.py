"""Flips a bit in a data file of a stopped node: reading the log there is an error, or shows the same events."""

import json

from cluster_nodes import Failed, wait_until

PAGE_SIZE = 8192
# What an error says of such a page: PostgreSQL, or the check of the record.
WORDS = ("invalid page", "checksum", "damaged")


def check(run):
    """Flips a bit of a follower, then one of the leader; returns what the errors were."""
    writer = run.writer()
    try:
        writer.wait_for_answers(2000)
        writer.stop()
    finally:
        writer.kill()
    events = run.check(run.account)
    return f"follower: {flip_of_follower(run, events)}; leader: {flip_of_leader(run, events)}"


def flip_of_follower(run, events):
    cluster = run.cluster
    leader = cluster.leader()
    follower = next(node for node in cluster.nodes if node is not leader)
    page = some_page(run, leader)
    leader.sql("checkpoint")
    wait_until("a follower with everything", lambda: leader.sql("select pg_current_wal_lsn()") == follower.sql("select pg_last_wal_replay_lsn()"))
    follower.sql("checkpoint")
    follower.patroni.terminate()  # stops PostgreSQL as well
    follower.patroni.wait()
    follower.patroni = None
    wait_until("the end of the follower", lambda: follower.postmaster() is None)
    flip(run.rng, follower, *page)
    follower.start()
    cluster.wait_until_healthy()
    error = must_fail(run, follower, events)
    repair(cluster, follower)
    must_be_equal(run, follower, events)
    return error


def flip_of_leader(run, events):
    cluster = run.cluster
    leader = cluster.leader()
    page = some_page(run, leader)
    leader.sql("checkpoint")
    # No other node may lead meanwhile.
    others = [node for node in cluster.nodes if node is not leader]
    for node in others:
        node.kill_patroni()
    leader.kill_patroni()
    leader.run(f"{cluster.programs.postgres}/pg_ctl", "-D", str(leader.data), "-m", "fast", "-w", "stop")
    flip(run.rng, leader, *page)
    leader.run(f"{cluster.programs.postgres}/pg_ctl", "-D", str(leader.data), "-w", "-l", str(leader.directory / "alone.log"), "start")
    error = must_fail(run, leader, events)
    status, output, said = run.tool.ask("run", cluster.address(run.address.split("#")[1], [leader]), "/dev/null")
    if status != 1 or output or not any(word in said for word in WORDS):
        raise Failed(f"a writer on the damaged leader ended with status {status}: {output!r} {said}")
    leader.run(f"{cluster.programs.postgres}/pg_ctl", "-D", str(leader.data), "-m", "fast", "-w", "stop")
    for node in others:
        node.start()
    wait_until("another leader", lambda: cluster.leader() in others)
    leader.start()
    cluster.wait_until_healthy()
    repair(cluster, leader)
    must_be_equal(run, leader, events)
    must_be_equal(run, cluster.leader(), events)
    return error


def some_page(run, leader):
    """Returns the file of the table of records, below the directory of the data, and the number of a page of the log."""
    name = run.address.split("#")[1]
    # Nothing changes the page afterwards. After the next checkpoint the WAL would have a copy of a changed page, and repair it.
    leader.sql("vacuum (freeze) chat_journal.record")
    path = leader.sql("select pg_relation_filepath('chat_journal.record')")
    pages = leader.sql("select distinct (r.ctid::text::point)[0]::int from chat_journal.record r "
                       f"join chat_journal.log l on l.number = r.log where l.name = '{name}'").split()
    return path, int(run.rng.choice(sorted(pages)))


def flip(rng, node, path, number):
    """Flips a bit of a page, in the part that has rows."""
    with open(node.data / path, "r+b") as file:
        file.seek(number * PAGE_SIZE)
        page = file.read(PAGE_SIZE)
        # The rows are at the end of a page, and begin where its bytes 14 and 15 say.
        place = rng.randrange(int.from_bytes(page[14:16], "little"), PAGE_SIZE)
        file.seek(number * PAGE_SIZE + place)
        file.write(bytes([page[place] ^ 1 << rng.randrange(8)]))


def must_fail(run, node, events):
    """Reads the log on one node: an error, and before it nothing but the true events. Returns the error."""
    address = run.cluster.address(run.address.split("#")[1], [node])
    status, output, said = run.tool.ask("events", address, "--json")
    shown = [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]
    if shown != events[:len(shown)]:
        raise Failed(f"other events are shown of the damaged {node.name}")
    if status != 1 or not any(word in said for word in WORDS):
        raise Failed(f"events of the damaged {node.name} ended with status {status} after {len(shown)} of {len(events)} events: {said}")
    status, output, verified = run.tool.ask("verify", address, "--deep")
    if status != 1:
        raise Failed(f"verify of the damaged {node.name} ended with status {status}: {output!r} {verified}")
    return said.split(" (postgres://")[0]


def repair(cluster, node):
    """Copies a damaged node again from the leader, as the operator's page says."""
    damaged = wait_until("the damaged node runs", node.postmaster)
    wait_until("the order to copy", lambda: node.rest("/reinitialize", {"force": True}))
    wait_until("the new copy", lambda: node.postmaster() not in (None, damaged))
    cluster.wait_until_healthy()


def must_be_equal(run, node, events):
    status, output, said = run.tool.ask("events", run.cluster.address(run.address.split("#")[1], [node]), "--json")
    if status != 0 or [json.loads(line) for line in output.splitlines()] != events:
        raise Failed(f"{node.name} has other events after its repair: status {status}, {said}")
