#!/usr/bin/env python3
"""Erases a user of a real chat with the tool, and searches every byte of the journal for what they wrote.

    erase.py --tool PATH --data FILE [--user NAME] [--bodies N] [--proofs N] [--seed S] [--scratch DIR]

FILE is a chat in the format of `import`, which may be compressed (.gz). The user is the one with the most messages, or
NAME. The program imports the chat, takes a checkpoint and proofs of N random events, and erases the user. Then none of N
of the user's longest bodies that nobody else wrote is found in any file; the proofs verify against the checkpoint, and
`verify --deep` against the checkpoint too; the events keep their number, their kinds and their times, and all texts of
others; and a second import of the same chat appends and restores nothing. A backup is made before the erasure. With the
ledger of after it, `verify` names what the backup still has, and an opening erases it there too; another backup to the
same place carries the erasure out. Exit status 1 at the first difference.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(tool, *arguments, statuses=(0,)):
    outcome = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    if outcome.returncode not in statuses:
        fail(f"{' '.join(map(str, arguments))}: status {outcome.returncode}: {outcome.stderr[-500:]}")
    return outcome.stdout


def messages(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            user = message["user"]
            yield (user if isinstance(user, str) else user["name"]), message["body"]


def bytes_of(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def events(tool, journal):
    return [json.loads(line) for line in run(tool, "export", journal).splitlines()]


def kind_of(event):
    return next(key for key, value in event.items() if isinstance(value, dict))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--user")
    parser.add_argument("--bodies", type=int, default=1_000)
    parser.add_argument("--proofs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--scratch", type=pathlib.Path)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        check(arguments, rng, pathlib.Path(folder))


def check(arguments, rng, folder):
    tool = arguments.tool
    plain = folder / "chat.jsonl"
    with (gzip.open if arguments.data.suffix == ".gz" else open)(arguments.data, "rb") as source, open(plain, "wb") as copy:
        shutil.copyfileobj(source, copy)
    written = collections.defaultdict(collections.Counter)
    for user, body in messages(plain):
        written[body][user] += 1
    counts = collections.Counter()
    for users in written.values():
        counts.update(users)
    user = arguments.user or counts.most_common(1)[0][0]
    # Texts of others stay, also if they contain the body.
    own = sorted((body for body, users in written.items() if set(users) == {user}), key=len, reverse=True)
    journal = folder / "journal"
    # Replies to unknown messages are rejected.
    run(tool, "import", journal, plain, statuses=(0, 1))
    before = events(tool, journal)
    others = "\n".join(json.dumps(event, ensure_ascii=False) for event in before if user_of(event, before) != user)
    bodies = [body for body in own if len(body) > 12 and json.dumps(body, ensure_ascii=False)[1:-1] not in others][:arguments.bodies]
    if len(bodies) < min(arguments.bodies, counts[user] // 3):
        fail(f"only {len(bodies)} bodies of '{user}' are theirs alone")
    present = b"".join(bytes_of(journal).values())
    missing = [body for body in bodies if body.encode() not in present]
    if missing:
        fail(f"before the erasure {len(missing)} bodies are not in the files, such as {missing[0]!r}")

    checkpoint = folder / "checkpoint"
    checkpoint.write_text(run(tool, "checkpoint", journal))
    chosen = rng.sample(range(1, len(before) + 1), arguments.proofs)
    for position in chosen:
        (folder / f"{position}.tlog-proof").write_text(run(tool, "prove", journal, "--event", position, "--at", len(before)))

    run(tool, "backup", journal, folder / "copy")
    shutil.copytree(folder / "copy", folder / "older")

    erasure = json.loads(run(tool, "erase", journal, "--user", user, "--reason", "user-request", "--json"))
    after = events(tool, journal)
    print(f"erased {sum(last - first + 1 for first, last in erasure['positions'])} events of '{user}' among {len(before)}")

    found = [(body, name) for name, data in bytes_of(journal).items() for body in bodies if body.encode() in data]
    if found:
        fail(f"{len(found)} bodies are still in the files, such as {found[0]}")
    erased = {position for first, last in erasure["positions"] for position in range(first, last + 1)}
    # The order, and then the end of the user's roles.
    order, *ends = after[len(before):] or [{"nothing": {}}]
    if kind_of(order) != "userErased" or not all(ends_role(event, order["userErased"]["user"]) for event in ends):
        fail(f"{len(before)} events became {len(after)}: {[kind_of(event) for event in after[len(before):]]}")
    for old, new in zip(before, after):
        if new["position"] in erased:
            if not new.get("erased") or (kind_of(old), old["recordedAt"]) != (kind_of(new), new["recordedAt"]):
                fail(f"position {new['position']} is not the erased event: {new}")
        elif old != new:
            fail(f"position {new['position']} has changed: {old} became {new}")
    for position in chosen:
        run(tool, "check-proof", folder / f"{position}.tlog-proof", "--checkpoint", checkpoint)
        now = run(tool, "prove", journal, "--event", position, "--at", len(before))
        if now != (folder / f"{position}.tlog-proof").read_text():
            fail(f"the proof of position {position} has changed")
    run(tool, "verify", journal, "--deep", "--expect", checkpoint)

    check_copies(tool, folder, erasure, erased, bodies)

    run(tool, "import", journal, plain, statuses=(0, 1))
    again = events(tool, journal)
    if again != after:
        fail(f"a second import appended {len(again) - len(after)} events: {again[len(after):][:2]}")
    # The import opened the journal again, and wrote a checkpoint of the read models.
    found = [body for body in bodies if any(body.encode() in data for data in bytes_of(journal).values())]
    if found:
        fail(f"a second import restored {len(found)} bodies")
    print(f"erase: {len(bodies)} bodies are gone, {len(chosen)} proofs verify, {len(after) - len(erased)} other events are unchanged")


def check_copies(tool, folder, erasure, erased, bodies):
    """Checks the ledger with a copy of before the erasure, and that a backup carries the erasure out."""
    def left(directory):
        return sum(any(body.encode() in data for data in bytes_of(directory).values()) for body in bodies)

    journal, copy, older = folder / "journal", folder / "copy", folder / "older"
    listed = [json.loads(line) for line in run(tool, "export", journal, "--erasures-after", 0).splitlines()]
    positions = {position for first, last in listed[0]["positions"] for position in range(first, last + 1)}
    if len(listed) != 1 or listed[0]["user"] != erasure["user"] or positions != erased:
        fail(f"export --erasures-after lists {len(listed)} erasures, the first of {len(positions)} events")
    run(tool, "backup", journal, copy)
    run(tool, "verify", copy, "--deep")
    if left(copy):
        fail(f"{left(copy)} bodies are in the copy after the next backup")
    if left(older) != len(bodies):
        fail("the older copy does not have the bodies")
    report = json.loads(run(tool, "verify", older, "--ledger", journal / "ledger", "--json", statuses=(1,)))
    named = {p for finding in report["findings"] for p in range(finding["positions"][0], finding["positions"][1] + 1)}
    if {finding["problem"] for finding in report["findings"]} != {"ledgerContentPresent"} or named != erased:
        fail(f"verify --ledger names {len(named)} of {len(erased)} events")
    shutil.copy(journal / "ledger", older / "ledger")
    if any(not event.get("erased") for event in events(tool, older) if event["position"] in erased):
        fail("a reader of the older copy shows erased content")
    run(tool, "run", older, "/dev/null")
    if left(older):
        fail(f"{left(older)} bodies are in the older copy after its opening")
    run(tool, "verify", older, "--deep", "--ledger", journal / "ledger")
    print(f"ledger: the erasure of {len(erased)} events was repeated in an older copy")


def ends_role(event, user):
    """Whether an event ends a role of a user who is erased, or makes another user their successor."""
    fields = event[kind_of(event)]
    return "roleSet" in event and fields["by"] == user or "operatorRevoked" in event and fields["user"] == user


NAMES = {}


def user_of(event, before):
    """Returns the name of the user of an event, by their registration."""
    if not NAMES:
        for each in before:
            if "userRegistered" in each:
                NAMES[each["userRegistered"]["user"]] = each["userRegistered"]["username"]
    fields = event[kind_of(event)]
    return NAMES.get(fields.get("author") or fields.get("user") or fields.get("by"))


if __name__ == "__main__":
    main()
