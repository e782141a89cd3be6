#!/usr/bin/env python3
"""Imports a chat corpus with the tool and compares every message with the source.

    compare_import.py --corpus FILE.jsonl[.gz] --tool PATH --scratch DIR [--pages N] [--shapes N] [--seed N]

The expected result is computed here, independently of the tool. There are three journals: one with the corpus's own
channels, one in which each excerpt (the part of an id before the colon) is a channel, and one of a damaged corpus, in
which replies stand before their messages or have lost them, bodies are too long, and fields are missing. With --shapes,
only as many, which the seed chooses. In each, these are compared:

- the summary of the import and of its dry run, with the lines that were adapted, and that a dry run writes nothing
- the event at each position; bodies, authors, times, replies and reply counts; every row of every thread; pages in both
  directions; a second import, which must append nothing; `verify`
- every view, now and as of positions and times across the history, in pages of every kind, as the operator and as
  viewers with and without access: with the checkpoint of the import, after some users have left and rejoined, and
  without a checkpoint (compare_questions.py creates the questions, compare_history.py computes the answers)

Each check prints one line. The exit status is 1 if there is a difference.

Ids are never assumed: they are taken from the events and must be the same everywhere.
"""

import argparse
import collections
import concurrent.futures
import gzip
import hashlib
import json
import multiprocessing
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import model
from compare_history import History
from compare_questions import Questions

ALL = "1000000"  # a --limit greater than any thread of the corpus
ACTOR = {"userRegistered": "user", "threadOpened": "by", "threadJoined": "user", "messagePosted": "author", "replyPosted": "author"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Check:
    """Counts comparisons; prints one line per check, and its first few differences."""

    failed, journal = 0, ""

    def __init__(self, name):
        self.name, self.compared, self.wrong, self.shown = name, 0, 0, []

    def same(self, what, got, expected):
        self.compared += 1
        if got != expected:
            self.wrong += 1
            if len(self.shown) < 5:
                self.shown.append(f"    {what}\n      expected {str(expected)[:400]}\n      got      {str(got)[:400]}")

    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            return
        Check.failed += self.wrong > 0
        seconds = time.monotonic() - self.began
        head = f"{'FAILED' if self.wrong else 'ok    '} {self.journal}: {self.name}: "
        lines = [head + f"{self.compared:,} compared, {self.wrong:,} differ ({seconds:.1f} s)", *self.shown]
        sys.stdout.write("\n".join(lines) + "\n")  # one write, because two processes print
        sys.stdout.flush()


def read_corpus(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def milliseconds(time_text):
    """Returns a time of the corpus, in whole seconds, in the form of the tool."""
    return re.sub(r"Z$", ".000Z", time_text)


def arranged(rows, channel_of):
    """Yields (line number, row, whether it has moved) in the order of an import."""
    to_come = {(channel_of(row), row["id"]) for row in rows}
    waiting = collections.defaultdict(list)
    for number, row in enumerate(rows, 1):
        parent = (channel_of(row), row.get("replyTo"))
        if parent in to_come and parent != (channel_of(row), row["id"]):
            waiting[parent].append((number, row))
            continue
        found = [(number, row, False)]
        while found:
            here = found.pop()
            yield here
            key = (channel_of(here[1]), here[1]["id"])
            to_come.discard(key)
            found += [(*each, True) for each in reversed(waiting.pop(key, []))]
    for number, row in sorted(sum(waiting.values(), []), key=lambda each: each[0]):
        yield number, row, True


def split(body):
    """Returns the parts of a body of at most 16,384 bytes, cut after a line end or a space if one is near the limit."""
    rest, parts = body.encode(), []
    while len(rest) > 16_384:
        near = max(rest.rfind(b"\n", 14_336, 16_384), -1) + 1 or rest.rfind(b" ", 14_336, 16_384) + 1
        cut = near or next(cut for cut in range(16_384, 0, -1) if rest[cut] & 0xC0 != 0x80)
        parts.append(rest[:cut].decode())
        rest = rest[cut:]
    return [part for part in [*parts, rest.decode()] if part.strip()]


def damaged(rows, rng):
    """Returns a corpus as other exports are: out of order, with lost messages, long bodies and missing fields."""
    index = {row["id"]: number for number, row in enumerate(rows)}
    keyed = []
    for number, row in enumerate(rows):
        row, key = dict(row), float(number)
        if row["replyTo"] is None:
            del row["replyTo"]
        elif rng.random() < 0.1:
            key = index[row["replyTo"]] - rng.choice([0.5, 0.5, 7.5, 1_000.5])
        if rng.random() < 0.002:
            row["body"] = ((row["body"] + rng.choice([" and so on", "\n", "\U0001f986"])) * rng.randrange(500, 6_000))[:150_000]
        if row["t"] is not None and rng.random() < 0.01:
            row["editedAt"] = "1970-01-01T00:00:00Z"
        if rng.random() > 0.01:
            keyed.append((key, number, row))
    return [row for _, _, row in sorted(keyed, key=lambda each: each[:2])]


class Source:
    """The expected contents of the journal, computed from the corpus alone."""

    def __init__(self, rows, channel_of):
        self.first_spelt, self.user_order = {}, []
        self.root = {}         # corpus id -> corpus id of the message that it replies to (a message: itself)
        self.posts = []        # (corpus id, channel, fold key, body, createdAt or None, root)
        self.by_channel = {}   # channel -> [posts that are messages]
        self.replies = collections.defaultdict(list)  # corpus id of a message -> its replies
        self.speakers = {}     # channel -> fold keys in the order of their first post
        self.steps = []        # the event at each position: (kind, fold key, channel or None, createdAt or None, post or None)
        self.adapted = {}      # kind -> {"count", "line", "example"}
        for number, row, is_moved in arranged(rows, channel_of):
            channel, key, sent = channel_of(row), model.fold_key(row["user"]), row["t"] and milliseconds(row["t"])
            if key not in self.first_spelt:
                self.first_spelt[key] = row["user"].strip()
                self.user_order.append(key)
                self.steps.append(("userRegistered", key, None, sent, None))
            if channel not in self.speakers:
                self.steps.append(("threadOpened", key, channel, sent, None))
            if key not in self.speakers.get(channel, ()):
                self.steps.append(("threadJoined", key, channel, sent, None))
            self.speakers.setdefault(channel, {}).setdefault(key)
            answered = row.get("replyTo")
            root = self.root.get((channel, answered))
            bodies = split(row["body"])
            self.adapt("replyMoved", is_moved and root is not None, number, row["id"])
            self.adapt("replyWithoutMessage", answered is not None and root is None, number, answered)
            self.adapt("bodySplit", len(bodies) > 1, number, row["id"])
            self.adapt("editIgnored", "editedAt" in row, number, row["id"])
            for part, body in enumerate(bodies, 1):
                identifier = row["id"] if part == 1 else f"{row['id']}, part {part}"
                self.root[channel, identifier] = root or identifier
                post = (identifier, channel, key, body, sent, root or identifier)
                self.posts.append(post)
                self.steps.append(("messagePosted" if root is None else "replyPosted", key, channel, sent, post))
                if root is None:
                    self.by_channel.setdefault(channel, []).append(post)
                else:
                    self.replies[channel, root].append(post)

    def adapt(self, kind, happened, number, example):
        if happened:
            lines = self.adapted.setdefault(kind, {"count": 0, "line": number, "example": example})
            lines["count"] += 1
            if number < lines["line"]:
                lines.update(line=number, example=example)


class Journal:
    """An imported journal, its source and its events."""

    def __init__(self, tool, path, source):
        self.tool, self.path, self.source = tool, str(path), source
        self.printed = {}  # query -> digest of its output

    def run(self, *words, status=0):
        """Runs the tool; an unexpected exit status ends the program with the tool's error."""
        done = subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != status:
            said = (done.stderr or done.stdout).decode("utf-8", "replace")[:2000]
            raise RuntimeError(f"FAILED {' '.join(words)}: exit status {done.returncode}, expected {status}: {said}")
        return done.stdout

    def ask(self, command, *words):
        """Returns the rows of a query."""
        return [json.loads(line) for line in self.run(command, self.path, "--json", *words).splitlines()]

    def bring_in(self, corpus, *words):
        """Imports a file; returns the summary."""
        return json.loads(self.run("import", self.path, str(corpus), "--json", "--policy", "open", *words).splitlines()[-1])

    def compare_summary(self, corpus, count):
        """Imports the corpus, after a dry run."""
        source, self.lines = self.source, count
        messages = sum(len(posts) for posts in source.by_channel.values())
        with Check("the summary, and that of a dry run, which writes nothing") as check:
            tried = self.bring_in(corpus, "--dry-run")
            check.same("a dry run creates no journal", pathlib.Path(self.path).exists(), False)
            # Open threads: users leave and join again below.
            summary = self.bring_in(corpus)
            check.same("the dry run", tried, summary)
            check.same("adapted", summary.pop("adapted", {}), source.adapted)
            check.same("summary", summary, {
                "lines": count, "unreadable": 0, "messages": messages, "replies": len(source.posts) - messages, "duplicates": 0,
                "refused": 0, "users": len(source.first_spelt), "threads": len(source.speakers),
                "policies": {"open": len(source.speakers)}})
        print(f"{Check.journal}: {count:,} lines in, {len(source.posts):,} posts, adapted: "
              + (", ".join(f"{kind} {lines['count']:,}" for kind, lines in sorted(source.adapted.items())) or "none"), flush=True)

    def compare(self, stage, questions):
        """Asks the questions of compare_questions.py, and compares the answers with the expected ones."""
        for view in sorted({question.words[0] for question in questions}):
            asked = [question for question in questions if question.words[0] == view]
            refused = sum(question.code is not None for question in asked)
            with Check(f"{stage}: {view}, {len(asked)} questions, {refused} to be rejected") as check:
                for question in asked:
                    command, *words = question.words
                    done = subprocess.run([self.tool, command, self.path, "--json", *words], capture_output=True, check=False)
                    self.judge(check, question, done)

    def judge(self, check, question, done):
        what, said = " ".join(question.words), done.stderr.decode("utf-8", "replace")
        if question.code is not None:
            check.same(what, (done.returncode, done.stdout, said.split(": ")[1:2]), (1, b"", [question.code]))
            return
        check.same(f"{what}: exit status", (done.returncode, said), (0, ""))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        check.same(f"{what}: number of rows", len(rows), len(question.rows))
        for row, expected in zip(rows, question.rows):
            check.same(what, row, expected)
        if "--as-of" in what:  # a later answer must have the same bytes
            digest = hashlib.sha256(done.stdout).digest()
            check.same(f"{what}: the bytes", digest, self.printed.setdefault(question.words, digest))

    def replayed(self):
        """Returns the number of events that an opening replays."""
        metrics = self.run("stats", self.path, "--metrics").decode()
        return int(re.search(r"^chat_events_replayed (\d+)$", metrics, re.MULTILINE).group(1))

    def load_events(self):
        """Reads `export` once: stores the relevant events by kind, and checks the whole sequence."""
        self.users, self.user_of_id = {}, {}   # fold key -> (id, event)
        self.threads = {}                      # name -> (id, event)
        self.joined = collections.defaultdict(dict)  # thread id -> {user id: position}
        self.posted, self.recorded = [], []    # posts in order; recordedAt of each position
        channel_of, steps = {}, self.source.steps  # thread id -> name; expected events
        self.kinds = collections.Counter()
        numbers = collections.Counter()
        previous = ""
        export = subprocess.Popen([self.tool, "export", self.path], stdout=subprocess.PIPE)
        events = subprocess.Popen([self.tool, "events", self.path, "--json"], stdout=subprocess.PIPE)
        with Check("events: the expected event at each position, thread numbers without a gap, export equals events") as check:
            for position, line in enumerate(export.stdout, 1):
                event = json.loads(line)
                # An export has this field in addition to those of `events`.
                check.same(f"a commit ends at or after {position}", event.pop("commitEnd") >= position, True)
                kind = model.kind_of(event)
                payload = event[kind]
                if kind == "userRegistered":
                    check.same(f"fold key at {position}", payload.pop("foldKey"), model.fold_key(payload["username"]))
                self.kinds[kind] += 1
                check.same("position", event["position"], position)
                other = events.stdout.readline()
                check.same(f"export and events at {position}", json.loads(other) if other else None, event)
                if not TIME.fullmatch(event["recordedAt"]) or event["recordedAt"] < previous:
                    check.same(f"recordedAt at {position}", event["recordedAt"], f"a time, at least {previous}")
                previous = event["recordedAt"]
                self.recorded.append(previous)
                if position <= len(steps):
                    actor = payload[ACTOR[kind]] if kind in ACTOR else None
                    channel = payload.get("name") if kind == "threadOpened" else channel_of.get(payload.get("thread"))
                    key = model.fold_key(payload["username"]) if kind == "userRegistered" else self.user_of_id.get(actor)
                    if (kind, key, channel, event.get("sentAt")) != steps[position - 1][:4]:
                        check.same(f"event at {position}", (kind, key, channel, event.get("sentAt")), steps[position - 1][:4])
                if "thread" in payload:
                    numbers[payload["thread"]] += 1
                    check.same(f"thread number at {position}", payload["number"], numbers[payload["thread"]])
                if kind == "userRegistered":
                    key = model.fold_key(payload["username"])
                    check.same(f"username {payload['username']!r} is new", key in self.users, False)
                    self.users[key], self.user_of_id[payload["user"]] = (payload["user"], event), key
                elif kind == "threadOpened":
                    self.threads[payload["name"]] = (payload["thread"], event)
                    channel_of[payload["thread"]] = payload["name"]
                elif kind == "threadJoined":
                    self.joined[payload["thread"]][payload["user"]] = position
                elif kind in ("messagePosted", "replyPosted"):
                    self.posted.append((kind, event))
            check.same("number of events", len(self.recorded), len(steps))
            check.same("events ends where export ends", events.stdout.readline(), b"")
            check.same("export's exit status", export.wait(), 0)
            check.same("events' exit status", events.wait(), 0)
        self.count = sum(self.kinds.values())

    def compare_events(self):
        source = self.source
        messages = sum(len(posts) for posts in source.by_channel.values())
        with Check("counts: messages, replies, users, threads, joins") as check:
            check.same("events by kind", dict(self.kinds), {
                "messagePosted": messages, "replyPosted": len(source.posts) - messages, "userRegistered": len(source.first_spelt),
                "threadOpened": len(source.speakers), "threadJoined": sum(map(len, source.speakers.values()))})
        with Check("users: one for each fold key, in the first spelling, in the order of their first post") as check:
            check.same("order of registration", list(self.users), source.user_order)
            for key, (_, event) in self.users.items():
                check.same(f"user {key}", event["userRegistered"]["username"], source.first_spelt.get(key))
        with Check("threads: opened by the first author, joined by each author before the first post") as check:
            check.same("order of opening", list(self.threads), list(source.speakers))
            for channel, speakers in source.speakers.items():
                identifier, event = self.threads.get(channel, (None, None))
                if identifier is None:
                    check.same(f"thread {channel}", None, "an event")
                    continue
                first = next(iter(speakers))
                check.same(f"{channel} opened by", self.user_of_id.get(event["threadOpened"]["by"]), first)
                joined = [self.user_of_id.get(user) for user in self.joined[identifier]]
                check.same(f"members who joined {channel}", joined, list(speakers))
        self.message_id, self.event_of = {}, {}  # (channel, corpus id) -> id in the journal, event
        seen = set()
        with Check("posts: order, bodies, authors, times, threads and the parent of each reply") as check:
            check.same("number of posts", len(self.posted), len(source.posts))
            for (kind, event), post in zip(self.posted, source.posts):
                corpus_id, channel, key, body, created, root = post
                payload, is_message = event[kind], root == corpus_id
                identifier = payload["message" if kind == "messagePosted" else "reply"]
                self.message_id[channel, corpus_id], self.event_of[channel, corpus_id] = identifier, event
                check.same(f"the id of {corpus_id} repeats", identifier in seen, False)
                seen.add(identifier)
                check.same(corpus_id, (kind, payload["body"], payload["author"], payload["thread"], event.get("sentAt")),
                           ("messagePosted" if is_message else "replyPosted", body, self.users.get(key, (None,))[0],
                            self.threads.get(channel, (None,))[0], created))
                check.same(f"message of {corpus_id}", payload["message"], self.message_id.get((channel, root)))

    def row(self, post):
        """Returns a row of a timeline or of a reply list, from the source and the ids of the events."""
        corpus_id, channel, key, body, created, root = post
        event = self.event_of[channel, corpus_id]
        row = {"position": event["position"], "id": self.message_id[channel, corpus_id],
               "author": {"id": self.users[key][0], "username": self.source.first_spelt[key]}, "body": body,
               "createdAt": created or event["recordedAt"], "editedAt": None, "retracted": False}
        if root == corpus_id:
            row.update(thread=self.threads[channel][0], replyCount=len(self.source.replies.get((channel, corpus_id), ())))
        else:
            row.update(message=self.message_id[channel, root])
        return row

    def compare_timelines(self, pages, rng):
        source = self.source
        self.rows = {channel: [self.row(post) for post in posts] for channel, posts in source.by_channel.items()}
        # The largest threads and a sample of the others.
        sizes = sorted(self.rows, key=lambda channel: -len(self.rows[channel]))
        chosen = sizes[:10] + rng.sample(sizes[10:], min(20, len(sizes[10:])))
        with Check(f"timelines: every row of {len(chosen)} threads of {len(sizes)}") as check:
            for channel in chosen:
                expected = self.rows[channel]
                got = self.ask("timeline", channel, "--limit", ALL)
                check.same(f"rows of {channel}", len(got), len(expected))
                for one, other in zip(got, expected):
                    check.same(f"{channel} at {other['position']}", one, other)
        with Check("the latest 50, by name and by id") as check:
            for channel in rng.sample(sizes, 2):
                for name in (channel, self.threads[channel][0], self.threads[channel][0].upper()):
                    check.same(f"{name}", self.ask("timeline", name), self.rows[channel][-50:])
        with Check("pages: whole threads, forwards and backwards") as check:
            for channel in rng.sample(sizes[1:], 2):
                expected = self.rows[channel]
                size = max(-(-len(expected) // pages), 1)
                for option, step in (("--after", 1), ("--before", -1)):
                    walked, bound = [], None
                    while True:
                        words = ["--limit", str(size)] + ([option, str(bound)] if bound is not None else [])
                        if bound is None and step == 1:
                            words += ["--after", "0"]
                        page = self.ask("timeline", channel, *words)
                        if not page or len(walked) > len(expected):
                            break
                        check.same(f"{channel} {words} is a page", len(page) <= size, True)
                        walked = walked + page if step == 1 else page + walked
                        bound = page[-1]["position"] if step == 1 else page[0]["position"]
                    check.same(f"{channel} {option} in pages of {size}: rows", len(walked), len(expected))
                    for one, other in zip(walked, expected):
                        check.same(f"{channel} {option} at {other['position']}", one, other)
                middle = rng.randrange(len(expected))
                here = expected[middle]["position"]
                for bound in (here - 1, here, here + 1):  # also positions of other events
                    before = [row for row in expected if row["position"] < bound][-7:]
                    after = [row for row in expected if row["position"] > bound][:7]
                    check.same(f"{channel} before {bound}", self.ask("timeline", channel, "--before", str(bound), "--limit", "7"), before)
                    check.same(f"{channel} after {bound}", self.ask("timeline", channel, "--after", str(bound), "--limit", "7"), after)
        with Check("replies: of the messages with most replies and of a sample, whole and in pages") as check:
            answered = sorted(source.replies, key=lambda key: -len(source.replies[key]))
            silent = [(c, post[0]) for c, posts in source.by_channel.items() for post in posts[-1:] if not source.replies.get((c, post[0]))]
            for key in answered[:3] + rng.sample(answered, 4) + silent[:2]:
                expected = [self.row(post) for post in source.replies.get(key, ())]
                identifier = self.message_id[key]
                check.same(f"replies of {key}", self.ask("replies", identifier, "--limit", ALL), expected)
                if len(expected) > 2:
                    bound = str(expected[1]["position"])
                    check.same(f"replies of {key} after {bound}", self.ask("replies", identifier, "--after", bound), expected[2:][:50])
                    check.same(f"replies of {key} before {bound}", self.ask("replies", identifier, "--before", bound), expected[:1])

    def compare_filters(self, rng):
        source = self.source
        with Check("events of one thread, of one user, of one kind, and after a position") as check:
            channel = rng.choice(sorted(self.rows))
            identifier = self.threads[channel][0]
            got = self.ask("events", "--thread", channel)
            check.same(f"numbers of {channel}", [event[model.kind_of(event)]["number"] for event in got], list(range(1, len(got) + 1)))
            check.same(f"posts of {channel}", [event["position"] for event in got if model.kind_of(event) in ("messagePosted", "replyPosted")],
                       [event["position"] for kind, event in self.posted if event[kind]["thread"] == identifier])
            for key in rng.sample(source.user_order, 3):
                got = self.ask("events", f"--user={source.first_spelt[key]}")
                check.same(f"events of {key}", [event["position"] for event in got],
                           [position for position, step in enumerate(source.steps, 1) if step[1] == key])
            got = self.ask("events", "--kind", "threadOpened")
            check.same("threads opened", [event["threadOpened"]["name"] for event in got], list(self.threads))
            got = self.ask("events", "--after", str(self.count - 3))
            check.same("the last three", [event["position"] for event in got], list(range(self.count - 2, self.count + 1)))

    def compare_views(self, rng):
        """Compares every view as of many moments: with the import's checkpoint, after departures, and without a checkpoint."""
        history = History(self.source, self)
        questions = Questions(history, rng)
        checkpoint = pathlib.Path(self.path, "built-in.checkpoint")
        with Check("the import wrote a checkpoint, and opening uses it") as check:
            check.same("the file exists", checkpoint.exists(), True)
            check.same("events replayed", self.replayed(), 0)
        moments = questions.moments(8)
        asked = questions.all(moments, thorough={moments[len(moments) // 2][0]})
        self.compare("now and then", asked + questions.of_people(4) + questions.of_joins(4) + questions.beyond())
        commands = questions.departures(6)
        with Check("users leave, rejoin and mark threads as read") as check:
            lines = "".join(json.dumps({kind: payload}) + "\n" for kind, payload, _, _ in commands)
            done = subprocess.run([self.tool, "run", self.path], input=lines.encode(), capture_output=True, check=False)
            for (kind, payload, key, channel), line in zip(commands, done.stdout.splitlines()):
                event, = json.loads(line).get("events") or [None]
                happened = {"leaveThread": "threadLeft", "joinThread": "threadJoined", "markRead": "threadRead"}[kind]
                check.same(line.decode(), event and (model.kind_of(event), event["position"]), (happened, history.count + 1))
                if check.wrong:
                    return
                history.append(happened, key, channel, event["recordedAt"], payload.get("upTo"))
            check.same("answers", (done.returncode, len(done.stdout.splitlines())), (0, len(commands)))
            check.same("events replayed", self.replayed(), len(commands))
        last = history.count
        moments = [(last, None)] + [(last - back, str(last - back)) for back in (len(commands), len(commands) // 2)]
        self.compare("after that", questions.all(moments) + questions.of_joins(0))
        checkpoint.unlink()
        with Check("without the checkpoint, opening replays the whole journal") as check:
            check.same("events replayed", self.replayed(), last)
        by_view = collections.defaultdict(list)
        for question in questions.all(rng.sample(moments, 1)) + asked:
            if question.code is None and "--as-of" in " ".join(question.words):
                by_view[question.words[0]].append(question)
        self.compare("without a checkpoint", [question for view in by_view.values() for question in rng.sample(view, 2)])

    def compare_again(self, corpus):
        head = self.ask("head")
        with Check("a second import appends nothing") as check:
            check.same("position of the head", [row["position"] for row in head], [self.count])
            for words in (["--dry-run"], [], ["--sort"]):
                summary = self.bring_in(corpus, *words)
                expected = {"lines": self.lines, "unreadable": 0, "messages": 0, "replies": 0, "duplicates": self.lines,
                            "refused": 0, "users": 0, "threads": 0}
                # The threads of an import with --policy open stay open.
                check.same(f"summary {words}", {key: summary.get(key) for key in expected | {"adapted": 0}}, expected | {"adapted": None})
            check.same("head", self.ask("head"), head)
        with Check("verify finds nothing") as check:
            for words in ((), ("--expect", head[0]["head"])):
                reports = self.ask("verify", *words)
                check.same(f"verify {words}", [(row["ok"], row["position"], row["findings"]) for row in reports], [(True, self.count, [])])


CHANNELS = {
    "channels": lambda row: row["channel"], "excerpts": lambda row: row["id"].split(":")[0],
    "damaged": lambda row: row["id"].split(":")[0]}


def compare_journal(work):
    """Imports the corpus into one journal and checks it; returns the number of failed checks.

    Each journal has its own process."""
    name, scratch, rows, seed, arguments = work
    Check.journal, channel_of = name, CHANNELS[name]
    if name == "damaged":
        rows = damaged(rows, random.Random(f"{seed} rows"))
    corpus = scratch / f"{name}.jsonl"
    with corpus.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(dict(row, channel=channel_of(row)), ensure_ascii=False) + "\n")
    source = Source(rows, channel_of)
    journal = Journal(arguments.tool, scratch / name, source)
    journal.compare_summary(corpus, len(rows))
    rng = random.Random(f"{seed} {name}")
    journal.load_events()
    journal.compare_events()
    if not Check.failed:  # the following checks use the ids of these events
        journal.compare_timelines(arguments.pages, rng)
        journal.compare_filters(rng)
        journal.compare_again(corpus)
        journal.compare_views(rng)
    return Check.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, type=pathlib.Path)
    parser.add_argument("--tool", required=True, help="the chat-journal binary")
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help="a directory for the new journals of the corpus")
    parser.add_argument("--pages", type=int, default=7, help="the number of pages of a whole thread")
    parser.add_argument("--shapes", type=int, choices=range(1, len(CHANNELS) + 1), default=len(CHANNELS),
                        help="the number of journals, which the seed chooses; default: all")
    parser.add_argument("--seed", type=int, help="the seed of the samples; default: a new one, printed")
    arguments = parser.parse_args()
    seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
    rows = read_corpus(arguments.corpus)
    print(f"{arguments.corpus.name}: {len(rows):,} lines; --seed {seed}")
    scratch = arguments.scratch / "compare-import"
    if scratch.exists():
        shutil.rmtree(scratch)
    scratch.mkdir(parents=True)
    chosen = random.Random(f"{seed} shapes").sample(sorted(CHANNELS), arguments.shapes)
    work = [(name, scratch, rows, seed, arguments) for name in chosen]
    with concurrent.futures.ProcessPoolExecutor(len(work), multiprocessing.get_context("fork")) as pool:
        failed = sum(pool.map(compare_journal, work))
    if failed:
        print(f"{failed} checks FAILED; the journals are in {scratch}")
        return 1
    shutil.rmtree(scratch)
    print("import: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
