#!/usr/bin/env python3
"""Checks the converters of `Converters/`.

    converters.py [--tool PATH] [--scratch DIR] [--rounds N] [--seed S] [--mebibytes N]

- Each sample of `Converters/samples` becomes the lines of NAME.jsonl and the counts of NAME.txt beside it, also as a ZIP,
  compressed, a second time, and with `convert.py`. The file of `--report` has the same counts.
- The messages keep the ids that they had before names were told apart (`samples/ids.tsv`), and their users too, except
  those who got ids of their own.
- An earlier export of the same chat has the same people.
- The converter of the page works as it stands there.
- With the tool: each of these files is imported twice. The first import takes every line, the second one adds nothing.
  Each post then has the reactions of its sample.
- Hostile exports end with an error that names the file, or with counts; never with a traceback, and within 768 MiB.
- 100 broken exports are each refused with a place.
- Random changes of the samples do so too, and every line that comes out has the form of the import.
- The memory of a conversion does not grow with the export, and stays below 256 MiB; `--mebibytes` is its length (18).

The seed is printed. The exit status is 1 if there is a difference.
"""
import argparse
import contextlib
import gzip
import importlib
import io
import json
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True

import broken_exports
import large_exports

ROOT = pathlib.Path(__file__).resolve().parents[2] / "Converters"
SAMPLES = ROOT / "samples"
MEMORY = 768 << 20  # of addresses
PEAK = 256 << 20
GROWTH = 4 << 20
BROKEN = 100
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
INPUTS = {
    "slack": ["samples/slack"], "dynamodb": ["samples/dynamodb"],
    "mbox": [f"samples/mbox/{name}.mbox" for name in ("allotments", "munged", "separators")],
    "discord": [f"samples/discord/{name}.json" for name in ("bob", "general", "general-part-2", "old-general", "bridge")]}
# Those who share an id of the source with somebody, and have one of their own.
PEOPLE = {
    "slack": {"B03 dora (IRC)"}, "discord": {"100000000000000050 bob (IRC)"}, "dynamodb": set(),
    "mbox": {"eve@example.org", "bob@mail.example", "dan@mail.example", "garden@lists.example Flo", "gus@mail.example",
             "garden@lists.example Garden"}}
problems = []


def same(what, got, expected):
    if got != expected:
        problems.append(f"{what}\n  expected {str(expected)[:2000]}\n  got      {str(got)[:2000]}")


def convert(name, arguments, cwd=ROOT):
    """Runs a converter; returns its status, its lines and its report."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    words = [str(ROOT / f"{name}.py"), *map(str, arguments)]
    done, peak = large_exports.run(words, capture_output=True, cwd=cwd, preexec_fn=limit, timeout=300)
    same(f"{name} {words[1]}: a peak of {(peak or 0) >> 20} MiB", (peak or 0) <= PEAK, True)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


# Samples


def check_samples(scratch):
    """Compares the lines of each sample, whatever the form in which the export comes."""
    for name, paths in INPUTS.items():
        expected = [(SAMPLES / f"{name}{suffix}").read_text(encoding="utf-8") for suffix in (".jsonl", ".txt")]
        for time in ("first", "second"):
            same(f"{name}, {time} conversion", convert(name, paths), (0, *expected))
        report = scratch / f"{name}.report.json"
        same(f"{name} with convert.py", convert("convert", [*paths, "--report", report]), (0, *expected))
        if report.exists():
            check_report(name, json.loads(report.read_text(encoding="utf-8")), *expected)
        for line in expected[0].splitlines():
            same(f"{name}: the form of {line}", problem_of(line), None)
        check_ids(name, expected[0])
    zips = [zipped(SAMPLES / "slack", scratch / f"{number}.zip", *form) for number, form in enumerate([
        ("",), ("My export/",), ("My export/", "\\")])]
    packed = compressed(SAMPLES / "mbox", scratch / "mbox")
    forms = {
        "slack": [[path] for path in zips], "dynamodb": [[compressed(SAMPLES / "dynamodb", scratch / "dynamodb")]],
        "mbox": [[packed / f"{pathlib.Path(path).name}.gz" for path in INPUTS["mbox"]]]}
    for name, exports in forms.items():
        expected = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8")
        for paths in exports:
            for program in (name, "convert"):
                same(f"{program} of {paths[0]}", convert(program, paths)[:2], (0, expected))
    mixed = ["samples/slack", *INPUTS["mbox"]]
    same("two formats", convert("convert", mixed)[:2], (1, ""))
    same("two exports", convert("convert", ["samples/slack", "samples/slack"])[:2], (1, ""))
    done = convert("slack", ["missing", "--report", scratch / "missing.json"])
    report = json.loads((scratch / "missing.json").read_text(encoding="utf-8"))
    same("the report of a failure", (done[0], f"slack: {report['failure']}\n", report["lines"]), (1, done[2], 0))


def check_report(name, report, lines, said):
    """Compares the file of `--report` with the counts on standard error and with the lines."""
    values = [json.loads(line) for line in lines.splitlines()]
    same(f"{name}: the format and the failure of the report", (report["format"], report["failure"]), (name, None))
    same(f"{name}: the lines of the report", report["lines"], len(values))
    kept = {
        "channels": sum("policy" in value for value in values), "joins": sum("join" in value for value in values),
        "messages": sum("body" in value and value["replyTo"] is None for value in values),
        "replies": sum("body" in value and value["replyTo"] is not None for value in values),
        "edits": sum("editedAt" in value for value in values), "mentions": sum(len(value.get("mentions", ())) for value in values),
        "reactions": sum(len(each["users"]) for value in values for each in value.get("reactions", ()))}
    same(f"{name}: what came, in the report", report["kept"], kept)
    sections = {"adapted": "adapted", "leftOut": "left out", "warnings": "warning"}
    counts = [f"{name}: {title}: {each['kind']}: {each['count']}, first: {each['first']}"
              for field, title in sections.items() for each in report[field]]
    same(f"{name}: what did not come, in the report", counts, said.splitlines()[1:])


def check_ids(name, lines):
    """Compares the ids with those of before."""
    found = {}
    for line in map(json.loads, lines.splitlines()):
        if "body" in line:
            found[line["channel"], line["id"]] = (line["replyTo"] or "", line["user"]["id"])
    rows = [line.split("\t") for line in (SAMPLES / "ids.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    people = set()
    for _, channel, id, reply_to, user in (row for row in rows if row[0] == name):
        same(f"{name}: the message that {channel} {id} answers", found[channel, id][0], reply_to)
        people |= {found[channel, id][1]} - {user}
    same(f"{name}: people with ids of their own", people, PEOPLE[name])


def check_earlier(scratch):
    """Compares the people of an export with those of the exports of the same chat that ended earlier."""
    bridge = json.loads((SAMPLES / "discord/bridge.json").read_text(encoding="utf-8"))
    mails = (SAMPLES / "mbox/munged.mbox").read_text(encoding="utf-8").split("From mboxrd@z")[1:]
    for name, path, number in (("discord", scratch / "bridge.json", len(bridge["messages"])), ("mbox", scratch / "munged.mbox", len(mails))):
        latest = {}
        for end in range(number, 0, -2):
            cut = json.dumps({**bridge, "messages": bridge["messages"][:end]}) if name == "discord" else "From mboxrd@z".join(["", *mails[:end]])
            path.write_text(cut, encoding="utf-8")
            people = {line["id"]: line["user"]["id"] for line in map(json.loads, convert(name, [path])[1].splitlines())}
            latest = latest or people
            same(f"{name}: the people of the first {end} messages", people, {id: latest[id] for id in people})


def zipped(folder, path, root, separator="/"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(folder.rglob("*.json")):
            archive.write(each, (root + each.relative_to(folder).as_posix()).replace("/", separator))
        archive.writestr(f"__MACOSX/{root}channels.json", b"\x00\x05\x16\x07")
    return path


def compressed(folder, copy):
    shutil.copytree(folder, copy)
    for each in [*copy.rglob("data/*.json"), *copy.glob("*.mbox")]:
        each.with_name(f"{each.name}.gz").write_bytes(gzip.compress(each.read_bytes(), mtime=0))
        each.unlink()
    return copy


def problem_of(text):
    """Returns why a line does not have the form of the import; None if it has."""
    line = json.loads(text)
    users = line.get("members", [line.get("user")])
    reactions = line.get("reactions", [])
    if "reactions" in line and not (reactions and sum(len(each["users"]) for each in reactions) <= 10_000):
        return "the number of reactions"
    for each in reactions:
        if set(each) != {"emoji", "users"} or not isinstance(each["emoji"], str) or not each["users"]:
            return f"a reaction is {each}"
    mentions = line.get("mentions", [])
    if "mentions" in line and not (1 <= len(mentions) <= 50):
        return "the number of mentions"
    for user in users + mentions + [user for each in reactions for user in each["users"]]:
        if not isinstance(user, dict) or not {"id", "name"} <= set(user) <= {"id", "name", "subject"}:
            return f"a user is {user}"
        if not all(isinstance(value, str) and value for value in user.values()):
            return f"a user is {user}"
    if not isinstance(line["channel"], str) or not line["channel"]:
        return "no channel"
    if any(not (line.get(name) is None or TIME.fullmatch(line[name])) for name in ("t", "editedAt")):
        return "a time"
    forms = [{"channel", "policy", "members"}, {"t", "channel", "user", "join"}, {"t", "channel", "user", "id", "replyTo", "body"}]
    of_messages = {"editedAt", "reactions", "mentions"}
    if set(line) - of_messages not in forms or set(line) & of_messages and "body" not in line:
        return f"the fields {set(line)}"
    if "body" in line and not (line["body"].strip() and isinstance(line["id"], str) and line["id"]):
        return "an empty body or id"
    return None


def check_example(scratch):
    """Runs the converter of the page, copied from it."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"<!-- example converter -->\n```python\n(.*?)\n```\n", page, re.DOTALL)[1]
    folder = scratch / "example"
    shutil.copytree(ROOT, folder)
    (folder / "rooms.py").write_text(code, encoding="utf-8")
    table = scratch / "rooms.csv"
    table.write_text("time,room,name,text\n2026-03-01T10:00:00Z,tea,Ann,Hello\n,tea,,x\n2026-03-01T09:00:00Z,tea,Bob,\"a, b\"\n")
    done = subprocess.run([sys.executable, "-B", str(folder / "rooms.py"), str(table)], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    same("the example: lines", [(line.get("t"), line.get("body"), line.get("policy")) for line in lines], [
        (None, None, "open"), ("2026-03-01T09:00:00.000Z", "a, b", None), ("2026-03-01T10:00:00.000Z", "Hello", None)])
    same("the example: report", done.stderr, "rooms: 3 lines: 1 channels, 2 messages\n"
         f"rooms: left out: rows that are too short or have no name: 1, first: {table}, row 2\n")


# Imports


def check_imports(tool, scratch):
    """Imports each sample twice."""
    for name in INPUTS:
        lines = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        file, journal = SAMPLES / f"{name}.jsonl", scratch / f"{name}.journal"
        expected = {
            "messages": sum("body" in line and line["replyTo"] is None for line in lines),
            "replies": sum("body" in line and line["replyTo"] is not None for line in lines),
            "edits": sum("editedAt" in line for line in lines), "refused": 0, "unreadable": 0, "lines": len(lines),
            "reactions": sum(sum(counts.values()) for counts in sample_reactions(name, lines).values()), "adapted": 0}
        for time in ("first", "second"):
            done = subprocess.run([tool, "import", str(journal), str(file), "--json"], capture_output=True, text=True)
            totals = json.loads(done.stdout.splitlines()[-1])
            same(f"{name}, {time} import: status", (done.returncode, done.stderr), (0, ""))
            same(f"{name}, {time} import", {key: totals.get(key, 0) for key in expected}, expected)
            head = subprocess.run([tool, "stats", str(journal), "--json"], capture_output=True, text=True).stdout
            expected.update(messages=0, replies=0, edits=0, users=0, threads=0, joins=0, reactions=0)
            if time == "first":
                position = json.loads(head)["position"]
        same(f"{name}: events of the second import", json.loads(head)["position"] - position, 0)
        check_channels(tool, name, journal, lines)
        check_joins(tool, name, journal, lines)
        same(f"{name}: reactions", journal_reactions(tool, journal), sample_reactions(name, lines))
        same(f"{name}: mentions", journal_mentions(tool, journal), {
            line["body"]: len(line["mentions"]) for line in lines if "mentions" in line})
        same(f"{name}: verify", subprocess.run([tool, "verify", str(journal)], capture_output=True).returncode, 0)


def sample_reactions(name, lines):
    """Returns the numbers of users by emoji for each text of a sample that has reactions, read from the sample itself."""
    found = {}
    for path in sorted((SAMPLES / name).glob("**/*.json")) if name in ("slack", "discord") else ():
        content = json.loads(path.read_text(encoding="utf-8"))
        for message in content.get("messages", ()) if isinstance(content, dict) else content:
            users = found.setdefault(message["id"] if name == "discord" else message.get("ts"), {})
            for each in message.get("reactions", ()):
                if name == "discord":
                    emoji = each["emoji"]["name"] if not each["emoji"]["id"] else f":{each['emoji']['name'].lower()}:"
                else:
                    emoji = f":{each['name'].split('::')[0]}:"
                emoji = {"\u2764": "\u2764\ufe0f"}.get(emoji, emoji)
                users.setdefault(emoji, set()).update(user if isinstance(user, str) else user["id"] for user in each["users"])
    texts = {line.get("id"): line.get("body") for line in lines}
    counts = {texts.get(id): {emoji: len(those) for emoji, those in users.items() if those} for id, users in found.items()}
    return {text: by_emoji for text, by_emoji in counts.items() if text and by_emoji}


def journal_reactions(tool, journal):
    """Returns the numbers of users by emoji for each text of a journal that has reactions."""
    posts = []
    for thread in ask(tool, "threads", str(journal)):
        messages = ask(tool, "timeline", str(journal), thread["id"])
        posts += messages + [reply for message in messages for reply in ask(tool, "replies", str(journal), message["id"])]
    counts = {post["body"]: {each["emoji"]: each["count"] for each in post.get("reactions", ())} for post in posts}
    return {text: by_emoji for text, by_emoji in counts.items() if by_emoji}


def journal_mentions(tool, journal):
    """Returns the numbers of mentioned users for each text of a journal that mentions somebody."""
    posted = [event["messagePosted"] for event in ask(tool, "events", str(journal), "--kind", "messagePosted")]
    posted += [event["replyPosted"] for event in ask(tool, "events", str(journal), "--kind", "replyPosted")]
    return {post["body"]: len(post["mentions"]) for post in posted if "mentions" in post}


def ask(tool, *words):
    """Returns the lines of an answer of the tool."""
    done = subprocess.run([tool, *words, "--json"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_channels(tool, name, journal, lines):
    """Compares the policies and the members of the threads with the lines of the channels."""
    policies = {thread["name"]: thread.get("policy", "open") for thread in ask(tool, "threads", str(journal))}
    for line in lines:
        if "policy" not in line:
            continue
        channel = line["channel"]
        same(f"{name}: the policy of {channel}", policies.get(channel), line["policy"])
        authors = {other["user"]["name"] for other in lines if other["channel"] == channel and "user" in other}
        authors |= {user["name"] for other in lines if other["channel"] == channel for each in other.get("reactions", ()) for user in each["users"]}
        authors |= {user["name"] for other in lines if other["channel"] == channel for user in other.get("mentions", ())}
        members = {member["user"]["username"] for member in ask(tool, "members", str(journal), channel)}
        same(f"{name}: the members of {channel}", members, authors | {member["name"] for member in line["members"]})


def check_joins(tool, name, journal, lines):
    """Compares the dates of the joins: who is also a member in the line of the channel has that of the join."""
    dates = [event.get("sentAt") for event in ask(tool, "events", str(journal), "--kind", "threadJoined")]
    seen, joins = set(), []
    for line in lines:
        people = [line["user"]["id"]] if "user" in line else []
        people += [user["id"] for each in line.get("reactions", ()) for user in each["users"]]
        new = {(line["channel"], id) for id in people + [user["id"] for user in line.get("mentions", ())]} - seen
        joins += [line["t"]] if "join" in line and new else []
        seen |= new
    same(f"{name}: dates of joins {joins} among those of the journal", [date for date in joins if date not in dates], [])
    same(f"{name}: members who also have a join", [
        user["id"] for line in lines for user in line.get("members", ()) for other in lines
        if other.get("join") and other["channel"] == line["channel"] and other["user"]["id"] == user["id"]], [])


# Hostile exports


def slack_zip(path, files, patch=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, (bytes, str)) else json.dumps(content))
    if patch:
        path.write_bytes(patch(path.read_bytes()))
    return [path]


def hostile_slack(folder):
    """Yields the name of a case, the arguments, the status and a part of the report."""
    channels = [{"id": "C1", "name": "general", "members": ["U1"]}]
    day = "general/2026-03-01.json"
    message = {"type": "message", "user": "U1", "ts": "1772359200.000100", "text": "Hello"}

    def case(name, status, report, content=None, options=(), patch=None, **files):
        path = folder / f"{name.replace(' ', '-')}.zip"
        given = {"channels.json": channels, **({} if content is None else {day: content}), **files.get("files", {})}
        return name, [*slack_zip(path, given, patch), *options], status, report

    (folder / "text.zip").write_text("no archive")
    yield "a text", [folder / "text.zip"], 1, "not a ZIP"
    yield "a missing file", [folder / "missing.zip"], 1, "missing.zip"
    yield "another archive", slack_zip(folder / "other.zip", {"readme.json": "{}"}), 1, "not an export of Slack"
    yield case("paths", 0, "files that are no day of a channel: 3", [message], files={
        "../../outside/2026-03-01.json": "[]", "/etc/general/2026-03-01.json": "[]", "general/../secret.json": "[]"})
    yield case("a bomb", 1, (f"{day}, byte ", ": the export is longer than --limit"), b"[" + b" " * (96 << 20) + b"]", ["--limit", "0.05"])
    yield case("a value without end", 1, f"{day}, entry 1: not JSON, or too long", b'["' + b"a" * (16 << 20))
    yield case("sizes that lie", 1, f"{day}, byte 0: damaged or incomplete", [message] * 100, patch=lie)
    yield case("a truncated archive", 1, "not a ZIP", [message], patch=lambda data: data[:-30])
    yield case("an encrypted archive", 1, "encrypted", [message], patch=lambda data: mark(data, 8, 1))
    yield case("an unknown compression", 1, "compression", [message], patch=lambda data: mark(data, 10, 99))
    yield case("bytes that are not UTF-8", 1, f"{day}, entry 0 or later: not UTF-8", b'[{"text": "\xff"}]')
    yield case("deep nesting", 1, f"{day}, entry 1: nested too deeply", b"[" * 100_000)
    yield case("an object", 1, f"{day}, entry 0: '{{' where one of [", b'{"a": 1}')
    yield case("half a file", 1, f"{day}, entry 2: not JSON", b'[{"a": 1}, {"b":')
    yield case("missing fields", 0, "entries without an author or a valid ts: 4", [
        {}, {"user": "U1"}, {"ts": "1772359200.000100"}, {"user": 5, "ts": ["1"]}, None, 7, "text", [1], message])
    yield case("an unpaired surrogate", 0, "characters that are not Unicode: 1", b'[' + json.dumps({**message, "text": "\ud800"}).encode() + b']')
    yield case("a long text", 0, "messages of more than 1 MiB: 1", [{**message, "text": "a" * (2 << 20)}])
    yield case("a long text with an emoji", 0, "messages of more than 1 MiB: 1", [{**message, "text": "\U0001f600" + "a" * 3_900_000}])
    yield case("deep blocks", 0, "left out: blocks: 1", json.dumps([{**message, "text": "", "blocks": [{"type": "x"}]}]).replace(
        '{"type": "x"}', '{"elements": [' * 200 + '{"type": "text", "text": "x"}' + "]}" * 200).encode())
    yield case("many types", 0, "left out: other kinds", [{**message, "subtype": f"type {n}"} for n in range(1_000)])
    yield case("control characters", 0, r"entries of the type \x1b[31m: 1", [{**message, "subtype": "\x1b[31m"}])
    yield case("a far time", 0, "1 messages", [{**message, "ts": "99999999999.000000"}])
    react = lambda *reactions: [{**message, "reactions": list(reactions)}]
    yield case("wrong reactions", 0, "left out: reactions: 10", react(
        None, 7, [], {}, {"name": 5, "users": ["U1"]}, {"name": "x"}, {"name": "x", "users": "U1"}, {"name": "", "users": ["U1"]},
        {"name": "x", "users": [None, 7, "", []], "count": -5}, {"name": "::x", "users": ["U1"], "count": True}))
    yield case("many reactions", 0, "left out: reactions: 2000", react({"name": "x", "users": [f"U{n}" for n in range(12_000)], "count": 12_000}))
    yield case("long reactions", 0, "left out: reactions: 500", react({"name": "x", "users": ["U" * 2_000 + str(n) for n in range(500)]}))
    yield case("reactions of no text", 0, "left out: reactions: 1", [{**react({"name": "x", "users": ["U1"]})[0], "text": " "}])
    yield case("a comment on a file", 0, "1 messages", [
        {"type": "message", "subtype": "file_comment", "ts": "1772359200.000100", "text": "Nice", "comment": {"user": "U1"}}])
    yield case("channels with one name", 0, "2 channels", [message], files={
        "groups.json": [{"id": "G1", "name": "General", "members": ["U2"]}]})


def mark(data, offset, value):
    """Sets a field of every entry of a ZIP, in its local and in its central header."""
    for signature, shift in ((b"PK\x03\x04", -2), (b"PK\x01\x02", 0)):
        data = re.sub(
            re.escape(signature) + b".{40}", lambda found: found[0][:offset + shift] + value.to_bytes(2, "little") + found[0][offset + shift + 2:],
            data, flags=re.DOTALL)
    return data


def lie(data):
    """Makes the second entry of a ZIP ten bytes long, in its central header."""
    start = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    return data[:start + 24] + (10).to_bytes(4, "little") + data[start + 28:]


def hostile_discord(folder):
    sample = json.loads((SAMPLES / "discord/general.json").read_text(encoding="utf-8"))

    def case(name, status, report, content):
        path = folder / f"{name.replace(' ', '-')}.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return name, [path], status, report

    text = json.dumps(sample).encode()
    yield case("half a file", 1, "entry 4: not JSON", text[:text.index(b"300000000000000004")])
    yield case("a message too few", 0, "warning: files whose messageCount is not the number of their messages: 1", {**sample, "messageCount": 6})
    yield case("no channel", 1, "no channel with an id", {"messages": []})
    yield case("a list", 1, "'[' where one of {", [1, 2])
    yield case("no messages", 1, "no channel with an id", {"guild": {}})
    yield case("an empty file", 1, "'the end' where one of {", b"")
    yield case("wrong fields", 0, "messages without an id or an author: 2", {**sample, "messages": [
        {"type": "Default", "author": {"id": 5}, "id": "1"}, {"type": "Default"}, None, [], {"type": 5}], "messageCount": 5})
    first = sample["messages"][0]
    yield case("no times", 0, "messages without a valid time: 3", {**sample, "messageCount": 3, "messages": [
        {**first, "id": str(n), "timestamp": time} for n, time in enumerate(["yesterday", "2026-02-30T00:00:00Z", None])]})
    react = lambda *reactions: {**sample, "messageCount": 1, "messages": [{**first, "reactions": list(reactions)}]}
    emoji = {"id": "", "name": "x"}
    yield case("wrong reactions", 0, "left out: reactions: 9", react(
        None, 7, {}, {"emoji": "x", "users": [{"id": "1"}]}, {"emoji": {"id": 5, "name": 5}, "users": [{"id": "1"}]},
        {"emoji": emoji, "users": [None, {}, {"id": 7}, "x"]}, {"emoji": emoji, "users": {"id": "1"}}, {"emoji": emoji}, {"emoji": emoji, "count": -1}))
    hook = {**first, "author": {"id": "9", "name": "ann (IRC)", "discriminator": "0000", "isBot": True}}
    silent = {**hook, "content": "", "id": "2", "author": {**hook["author"], "name": "bob (IRC)"}}
    private = {**sample, "messageCount": 1, "channel": {**sample["channel"], "type": "GuildPrivateThread"}}
    yield case("a silent webhook", 0, '"members": [{"id": "9", "name": "bob (IRC)"}]', {**private, "messages": [silent]})
    yield case("a long line of a webhook", 0, "messages of more than 1 MiB: 1", {**private, "messageCount": 2, "messages": [
        hook, {**silent, "content": "x" * ((1 << 20) - 5_000), "author": {**silent["author"], "name": "b" * 4_000}}]})
    yield case("old reactions", 0, "left out: reactions: 7", react({"emoji": emoji, "count": 7}))
    yield case("many reactions", 0, "left out: reactions: 1", react(
        *({"emoji": {**emoji, "name": f"x{n}"}, "users": [{"id": f"{m}", "name": "a"} for m in range(73)]} for n in range(137))))
    yield case("no zones", 0, "times without a zone, taken as UTC: 1", {
        **sample, "messageCount": 1, "messages": [{**first, "timestamp": "2026-03-01T10:00:00.1234567"}]})


def hostile_dynamodb(folder):
    def case(name, status, report, change, options=()):
        copy = folder / name.replace(" ", "-")
        shutil.copytree(SAMPLES / "dynamodb", copy)
        change(copy, next(copy.glob("Message/**/data/*.json")), next(copy.glob("Message/**/manifest-summary.json")))
        return name, [copy, *options], status, report

    def compress(data, change):
        data.with_name("x.json.gz").write_bytes(change(gzip.compress(data.read_bytes())))
        data.unlink()

    def replace(path, old, new):
        text = path.read_text(encoding="utf-8")
        assert old in text, old
        path.write_text(text.replace(old, new), encoding="utf-8")

    yield case("half a file", 1, "x.json.gz, byte 0: damaged or incomplete", lambda _, data, __: compress(data, lambda packed: packed[:-20]))
    yield case("a flipped bit", 1, "x.json.gz, byte 0: damaged or incomplete", lambda _, data, __: compress(
        data, lambda packed: packed[:40] + bytes([packed[40] ^ 1]) + packed[41:]))
    yield case("a bomb", 1, "line 1: longer than an item", lambda _, data, __: compress(data, lambda _: gzip.compress(bytes(64 << 20))))
    yield case("a bomb of lines", 1, "longer than --limit", lambda _, data, __: compress(
        data, lambda packed: gzip.compress(gzip.decompress(packed) * 50_000, 1)), ["--limit", "0.02"])
    yield case("a missing file", 1, "0 items, but manifest-summary.json has 3", lambda _, data, __: data.unlink())
    yield case("a missing table", 1, "of the table Message", lambda copy, *_: shutil.rmtree(copy / "Message"))
    yield case("two exports", 1, "two exports of the table User", lambda copy, *_: shutil.copytree(copy / "User", copy / "Z"))
    yield case("ION", 1, "DYNAMODB_JSON", lambda _, __, summary: replace(summary, "DYNAMODB_JSON", "ION"))
    yield case("an incremental export", 1, "FULL_EXPORT", lambda _, __, summary: replace(summary, "FULL_EXPORT", "INCREMENTAL_EXPORT"))
    yield case("no JSON", 1, "line 1: not JSON", lambda _, data, __: replace(data, '{"Item"', '{Item'))
    yield case("no items", 1, "line 1: no Item", lambda _, data, __: replace(data, '"Item"', '"Keys"'))
    yield case("not UTF-8", 1, "line 1: not JSON", lambda _, data, __: data.write_bytes(b'{"Item":{"id":{"S":"\xff"}}}\n'))
    yield case("deep nesting", 1, "line 1: not JSON", lambda _, data, __: data.write_bytes(b"[" * 100_000 + b"\n"))
    yield case("a summary of another kind", 1, "of the table Message", lambda _, __, summary: summary.write_text("[]"))
    yield case("no ids", 0, "items without an id: 2", lambda _, data, __: replace(data, '"id"', '"uuid"'))
    yield case("no authors", 0, "items of Message without an author or a thread that exist: 2",
               lambda _, data, __: replace(data, "messageAuthorId", "writer"))
    yield case("no times", 0, "items without a valid createdAt: 2", lambda _, data, __: replace(data, '"createdAt":{"S"', '"createdAt":{"N"'))


def hostile_mbox(folder):
    head = b"From a@b Sun Mar  1 10:00:00 2026\nFrom: Ann <ann@example.org>\nMessage-ID: <1@b>\n"
    date = b"Date: Sun, 1 Mar 2026 10:00:00 +0000\n"

    def case(name, status, report, content):
        path = folder / f"{name.replace(' ', '-')}.mbox"
        path.write_bytes(content)
        return name, [path], status, report

    yield case("no mbox", 1, "no-mbox.mbox, line 1: no line `From", b"Dear list,\n\nhello\n")
    yield case("an empty file", 0, "0 lines", b"\n")
    yield case("lines before", 0, "lines before the first mail: 2", b"Dear list,\n\nhello\n\n" + head + date + b"\nbody\n")
    patch = b"From %040d Mon Sep 17 00:00:00 2001\nFrom: Ann <ann@example.org>\nMessage-ID: <%d@b>\n" + date + b"\nbody\n\n"
    forms = [
        b"a@b Sun Mar  1 10:00:00 2026", b"bob at b  Sun Mar  1 10:00:00 2026", b"- Sun Mar 01 10:00:00 2026", b" Sun Mar  1 10:00:00 2026",
        b"1@xxx Sun Mar 01 10:00:00 +0000 2026", b"a@b Sun Mar  1 10:00:00 2026 +0100", b"a@b Sun, 1 Mar 2026 10:00:00 +0000",
        b"a@b Sun Mar  1 10:00 GMT 2026", b"a@b Sun Mar  1 10:00:00 2026\r", b'"a b"@c Sun Mar  1 10:00:00 2026 remote from d']
    yield case("separators", 0, "10 messages", b"".join(
        b"From %b\nFrom: Ann <ann@example.org>\nMessage-ID: <%d@b>\n%b\nbody\n\n" % (form, number, date) for number, form in enumerate(forms)))
    no_forms = [b"Tuesday 14:00 on, until 7 May 2026.", b"Ann, Sun Mar  1 10:00:00 2026 or so", b"Ann Sun Mar  1 10:00:00", b"" + b"a" * 2_000]
    yield case("no separators", 0, "1 messages", head + date + b"".join(b"\nFrom %b\n" % form for form in no_forms))
    yield case("patches", 0, "2 messages", patch % (1, 1) + patch % (2, 2))
    yield case("an unknown encoding", 0, "texts of an unknown encoding, as UTF-8: 1",
               head + date + b"Content-Type: text/plain; charset=klingon\n\nbody \xff\n")
    yield case("wrong bytes", 0, "bytes that their encoding does not have, as U+FFFD: 1",
               head + date + b"Content-Type: text/plain; charset=utf-8\n\nbody \xff\n")
    yield case("a codec that is no encoding", 0, "texts of an unknown encoding, as UTF-8: 1",
               head + date + b"Content-Type: text/plain; charset=hex\n\nbody\n")
    yield case("a header in an unknown encoding", 0, "1 messages", head + date + b"Subject: =?klingon?Q?x?= =?utf-8?B?!!!?=\n\nbody\n")
    yield case("no zone", 0, "dates without a zone, taken as UTC: 1", head + b"Date: Sun, 1 Mar 2026 10:00:00\n\nbody\n")
    for number, text in enumerate([b"", b"Date: yesterday\n", b"Date: Sun, 31 Feb 2026 10:00:00 +0000\n", b"Date: 1 Jan 99999 1:1:1 +9999\n"]):
        yield case(f"no date {number}", 0, "mails without a valid date: 1", head + text + b"\nbody\n")
    yield case("no author", 0, "mails without an author: 1", b"From a@b Sun Mar  1 10:00:00 2026\nSubject: x\n\nbody\n")
    yield case("an address without a name", 0, "1 messages", head.replace(b"Ann <ann@example.org>", b"@example.org") + date + b"\nbody\n")
    yield case("no text", 0, "messages without text: 1", head + date + b"\n \n")
    yield case("a long mail", 0, "mails of more than 32 MiB or 500,000 lines: 1", head + date + b"\n" + b"a\n" * (2 << 20) + head.replace(b"<1@", b"<2@") + date + b"\nbody\n")
    yield case("many short lines", 0, "1 messages", head + date + b"\n" + b"\n" * 499_000 + b"end\n")
    yield case("a line without end", 0, "the rest of lines of more than 4 MiB: 1", head + date + b"\n" + b"a" * (100 << 20))
    yield case("a long line with an emoji", 0, "texts of more than 4 MiB: 1",
               head + date + b"Content-Type: text/plain; charset=utf-8\n\n" + "\U0001f600".encode() + b"a" * (31 << 20) + b"\nend\n")
    yield case("a long text with an emoji", 0, "texts of more than 4 MiB: 1",
               head + date + b"Content-Type: text/html; charset=utf-8\n\n" + "\U0001f600".encode() + (b"a" * 99 + b"\n") * 320_000)
    yield case("a large image", 0, "1 messages", head + date + b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n" +
               b'<img src=3D"data:image/png;base64,' + (b"A" * 75 + b"=\n") * 100_000 + b'">text\n')
    yield case("a long subject", 0, "headers of more than 16 KiB, cut: 1", head + date + b"Subject: " + b"=?utf-8?Q?a?= " * 300_000 + b"\n\nbody\n")
    yield case("many parameters", 0, "1 messages", head + date + b"Content-Type: text/plain" + b";a=b" * 500_000 + b"\n\nbody\n")
    nested = b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(1_500))
    yield case("deep nesting", 0, "mails that cannot be parsed: 1", head + date + nested + b"\nbody\n")
    yield case("many parts", 0, "1 messages", head + date + b'Content-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n\na\n" * 50_000)
    yield case("NUL bytes", 0, "1 messages", head + date + b"Subject: \x00\x01\n\nbody \x00\n")


def check_hostile(scratch):
    """Runs the hostile cases; returns their number."""
    count = 0
    for name, cases in (("slack", hostile_slack), ("discord", hostile_discord), ("dynamodb", hostile_dynamodb), ("mbox", hostile_mbox)):
        folder = scratch / f"hostile-{name}"
        folder.mkdir()
        for title, arguments, status, report in cases(folder):
            before = set(scratch.iterdir())
            got, lines, said = convert(name, arguments, cwd=folder)
            same(f"{name}, {title}: status", (got, said if got != status else ""), (status, ""))
            for part in [report] if isinstance(report, str) else report:
                same(f"{name}, {title}: {part!r} is in the report", part if part in said + lines else said, part)
            same(f"{name}, {title}: no traceback", "Traceback" in said, False)
            same(f"{name}, {title}: no line after an error", lines if got else "", "")
            same(f"{name}, {title}: the form of the lines", [found for line in lines.split("\n")[:-1] if (found := problem_of(line))], [])
            same(f"{name}, {title}: files", set(scratch.iterdir()), before)
            for path in arguments:
                if isinstance(path, pathlib.Path) and path.is_file():
                    path.unlink()
            count += 1
    return count


def check_broken(scratch, rng):
    """Converts broken exports, with the converter of their format or the one that finds it out."""
    for number, (name, what, arguments, place) in enumerate(broken_exports.cases(rng, SAMPLES, scratch / "broken", BROKEN)):
        program = rng.choice([name, "convert"])
        status, lines, said = convert(program, arguments, cwd=scratch)
        same(f"broken export {number}, {program}, {what}: status and lines", (status, lines), (1, ""))
        is_placed = len(said.splitlines()) == 1 and re.search(f"({place}|, byte 0: )", said) and "Traceback" not in said
        same(f"broken export {number}, {program}, {what}: a place in {said}", bool(is_placed), True)


def check_memory(scratch, size):
    """Compares the peaks of a small and of a large export."""
    for name in INPUTS:
        peaks = []
        for share in (3, 1):
            paths = large_exports.make(name, scratch / f"large-{name}-{share}", size // share)
            words = [str(ROOT / f"{name}.py"), *map(str, paths)]
            done, peak = large_exports.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            same(f"{name}, large: status", (done.returncode, done.stderr if done.returncode else b""), (0, b""))
            shutil.rmtree(scratch / f"large-{name}-{share}")
            if peak is None:
                return print("converters: memory SKIPPED: no /proc/self/status")
            peaks.append(peak)
        print(f"converters: {name}, {(size // 3) >> 20} and {size >> 20} MiB: peaks of {peaks[0] >> 20} and {peaks[1] >> 20} MiB", flush=True)
        same(f"{name}: peaks of {peaks}", peaks[1] <= min(PEAK, peaks[0] + GROWTH), True)


# Random changes


def change_bytes(rng, data):
    """Returns the bytes with a few changes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([0, 1, 1, 2, 8, 200]))
        data[start:end] = rng.choice([b"", rng.randbytes(end - start), rng.randbytes(3), data[start:end] * 2, b'"', b"{", b"]", b"\n"])
    return bytes(data)


def change_value(rng, value):
    """Returns a JSON value in which some parts are other values."""
    if rng.random() < 0.03:
        return rng.choice([None, True, 0, -1, 1.5, 1 << 70, "", " ", "x", "\ud800", "\x00", [], {}, [[]], {"id": "x"}, "2026-01-01T00:00:00Z"])
    if isinstance(value, dict):
        return {key if rng.random() > 0.01 else "x": change_value(rng, part) for key, part in value.items() if rng.random() > 0.02}
    if isinstance(value, list):
        return [change_value(rng, part) for part in value for _ in range(rng.choice([1] * 20 + [0, 2]))]
    return value


def check_random(scratch, rng, rounds):
    """Converts samples with random changes, in this process; returns how many were converted."""
    sys.path.insert(0, str(ROOT))
    converting, reading = importlib.import_module("converting"), importlib.import_module("reading")
    converted = 0
    for name in INPUTS:
        module = importlib.import_module(name)
        for number in range(rounds):
            copy = scratch / "random" / name
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(SAMPLES / name, copy)
            files = sorted(path for path in copy.rglob("*") if path.is_file())
            for path in rng.sample(files, rng.randint(1, min(3, len(files)))):
                if path.suffix == ".json" and rng.random() < 0.7:
                    # DynamoDB has a value in each line.
                    values = [json.loads(line) for line in path.read_text().splitlines()] if "data" in path.parts else [json.loads(path.read_text())]
                    path.write_text("".join(json.dumps(change_value(rng, value)) + "\n" for value in values))
                else:
                    path.write_bytes(change_bytes(rng, path.read_bytes()))
            paths = files if name in ("discord", "mbox") else [copy]
            output = io.BytesIO()
            try:
                conversion = converting.Conversion(1 << 30)
                module.convert(argparse.Namespace(paths=paths, channel=None), conversion)
                with contextlib.redirect_stderr(io.StringIO()):
                    conversion.print(output)
            except reading.Failure:
                continue
            except Exception as error:
                kept = scratch / f"failed-{name}-{number}"
                shutil.copytree(copy, kept)
                problems.append(f"{name}: {kept}: {error!r}")
                continue
            converted += 1
            for line in output.getvalue().decode().split("\n")[:-1]:
                same(f"{name}, round {number}: the form of {line}", problem_of(line), None)
    return converted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="the chat-journal binary")
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=100, help="the random changes of each sample")
    parser.add_argument("--mebibytes", type=int, default=18, help="the length of the large exports")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"converters: seed {arguments.seed}", flush=True)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="converters-", dir=arguments.scratch))
    check_samples(scratch)
    check_earlier(scratch)
    check_example(scratch)
    if arguments.tool:
        check_imports(str(pathlib.Path(arguments.tool).resolve()), scratch)
    hostile, rng = check_hostile(scratch), random.Random(arguments.seed)
    check_broken(scratch, rng)
    check_memory(scratch, arguments.mebibytes << 20)
    converted = check_random(scratch, rng, arguments.rounds)
    print(f"converters: {len(INPUTS)} samples, {hostile} hostile and {BROKEN} broken exports, {converted} of {4 * arguments.rounds} changed samples converted")
    for problem in problems[:20]:
        print(f"FAILED {problem}")
    if not problems:
        shutil.rmtree(scratch)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
