#!/usr/bin/env python3
"""Checks `chat-journal chat` from outside: the mode of lines, and the screen in panes of tmux.

    terminal.py --tool PATH [--scratch DIR] [CHECK ...]

Starts the server itself. The checks, all by default:

    lines    commands as lines of JSON: each is in the journal once and in order, while the server and the client are killed
    reading  queries and threads that are followed as lines of JSON, and the bot of the documentation
    unusable copies that are damaged, of another format, unreadable or removed: each message names the file and the way out, and
             neither --start-over nor --sign-out needs a copy that opens; what waits is sent
    screen   two people in two panes of 80 by 24: one offline for ten messages, one killed with messages that wait; hostile
             texts, other sizes, no colours, signing up and out. SKIPPED without tmux
    taken    what an event takes away is in no file of a copy that has the event: the bytes are searched after SIGKILL, and after
             the next start, without the server. SKIPPED without tmux

`--show` prints the last screens.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from program import expect
from server_client import PASSWORD, Failed, Server, identifier

# How long a screen may take: a failure, not a slow machine, is the reason to wait so long.
PATIENCE = 120


class Lines:
    """A process of `chat-journal chat URL --lines` of a person."""

    def __init__(self, tool, server, person, folder, *options):
        password = folder / "password"
        password.write_text(person.password + "\n")
        command = [tool, "chat", server.url, "--lines", "--data", str(folder / "data"), "--email", person.email,
                   "--password-file", str(password), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.found = []

    def write(self, *commands):
        for command in commands:
            self.process.stdin.write((command if isinstance(command, str) else json.dumps(command)) + "\n")
        self.process.stdin.flush()

    def wait(self, condition, what):
        """Reads lines of the output until one meets a condition, and returns it."""
        for line in self.process.stdout:
            self.found.append(json.loads(line))
            if condition(self.found[-1]):
                return self.found[-1]
        raise Failed(f"the output ended without {what}: {self.found[-3:]} {self.process.stderr.read()}")

    def end(self, status=0):
        """Ends the input, and waits for the process."""
        self.process.stdin.close()
        self.found += [json.loads(line) for line in self.process.stdout]
        self.process.wait()
        error = self.process.stderr.read()
        expect(self.process.returncode == status, f"status {self.process.returncode}, not {status}: {self.found[-3:]} {error}")
        return self.found

    def kill(self):
        self.process.kill()
        self.process.wait()


def states(found, item):
    return [line["state"] for line in found if line.get("item") == item]


def post(text):
    return {"postMessage": {"thread": "SW1A", "body": text}}


def bodies(server, connection, token):
    """The bodies of the thread, oldest first."""
    return [entry["body"] for entry in connection.get("/v1/threads/SW1A/timeline?limit=200", token)["items"]]


def lines(tool, scratch):
    with Server(tool, scratch) as server, server.connection() as connection:
        ann = server.person(connection, "Ann")
        folder = scratch / "ann"
        folder.mkdir()
        # A wrong line has its number, a rejected command its code; the rest is sent.
        client = Lines(tool, server, ann, folder)
        client.write({"setPostcode": {"postcode": "SW1A 1AA"}}, "{", post("one"), post(""), {"withdraw": 77},
                     {"postMessage": {"thread": "SW1A", "author": "01900000-0000-7000-8000-000000000001", "body": "as another"}}, post("two"))
        found = client.end(status=1)
        expect({line["line"] for line in found if "error" in line} == {2, 5}, f"the wrong lines: {found}")
        expect([line["line"] for line in found if "rejection" in line and "item" not in line] == [6], f"another user's command: {found}")
        rejected = [line for line in found if line.get("state") == "rejected"]
        expect([line["rejection"]["code"] for line in rejected] == ["invalidBody"], f"a rejection: {found}")
        confirmed = [line for line in found if line.get("state") == "confirmed"]
        expect(len(confirmed) == 3 and all(line["receipt"]["events"] for line in confirmed), f"receipts: {found}")
        expect(any(line.get("connection") == "connected" for line in found), f"the connection: {found}")
        expect(states(found, confirmed[0]["item"]) == ["queued", "sending", "confirmed"], f"the order of the changes: {found}")
        expect(bodies(server, connection, ann.token) == ["one", "two"], "the thread after the first lines")
        expect((folder / "data").stat().st_mode & 0o777 == 0o700, "the directory's mode")
        for path in (folder / "data").iterdir():
            expect(path.stat().st_mode & 0o777 == 0o600, f"the mode of {path}")
        # What was rejected stays until it is withdrawn. No password is needed any more.
        (folder / "password").unlink()
        client = Lines(tool, server, ann, folder)
        client.wait(lambda line: line.get("state") == "rejected", "the rejection of the earlier run")
        client.write({"withdraw": rejected[0]["item"]})
        found = client.end()
        expect(states(found, rejected[0]["item"]) == ["rejected", "withdrawn"], f"a withdrawal: {found}")
        # The input can end before anything else is done: what was withdrawn is said, and what waits is sent.
        client = Lines(tool, server, ann, folder)
        client.write(post(""))
        rejected = [line for line in client.end(status=1) if line.get("state") == "rejected"]
        client = Lines(tool, server, ann, folder)
        client.write({"withdraw": rejected[0]["item"]})
        found = client.end()
        expect(states(found, rejected[0]["item"])[-1:] == ["withdrawn"], f"a withdrawal at the end of the input: {found}")
        # Without the server; killed; with the server again.
        server.stop()
        client = Lines(tool, server, ann, folder)
        texts = [f"offline {number}" for number in range(10)]
        client.write(*map(post, texts))
        client.wait(lambda line: line.get("line") == 10, "the tenth queued message")
        expect(any(line.get("connection") == "waiting" and "unreachable" in line["problem"] for line in client.found)
               or client.wait(lambda line: line.get("connection") == "waiting", "the reason"), "the reason")
        client.kill()
        server.start()
        client = Lines(tool, server, ann, folder)
        client.write(post("last"))
        found = client.end()
        expect([line["state"] for line in found if "item" in line].count("confirmed") == 11, f"all are sent: {found}")
        expect(bodies(server, connection, ann.token) == ["one", "two", *texts, "last"], "the messages, once and in order")
        # A signal ends it in order; what waits stays in the outbox.
        server.stop()
        client = Lines(tool, server, ann, folder)
        client.write(post("after the signal"))
        client.wait(lambda line: line.get("state") == "queued", "the queued message")
        client.process.send_signal(signal.SIGTERM)
        client.end(status=1)
        server.start()
        client = Lines(tool, server, ann, folder)
        client.end()
        expect(bodies(server, connection, ann.token)[-1] == "after the signal", "the message of before the signal")
        # A session that has ended is an error, and the next start signs in.
        connection.post("/v1/sign-out-everywhere", token=ann.token, status=204)
        client = Lines(tool, server, ann, folder)
        client.process.wait()
        expect(client.process.returncode == 1 and "signedOut" in client.process.stderr.read(), "the ended session")
        client = Lines(tool, server, ann, folder)
        client.write(post("again"))
        client.end()
        expect(bodies(server, connection, server.sign_in(connection, ann))[-1] == "again", "the message after the new sign-in")
        # What was rejected is not lost without a word.
        client = Lines(tool, server, ann, folder)
        client.write(post(""))
        client.end(status=1)
        command = [tool, "chat", server.url, "--data", str(folder / "data"), "--sign-out"]
        out = subprocess.run(command, capture_output=True, text=True)
        expect(out.returncode == 1 and "0 waiting and 1 rejected are lost" in out.stderr, f"the sign-out with a rejected message: {out.stderr}")
        out = subprocess.run([*command, "--start-over"], capture_output=True, text=True)
        expect(out.returncode != 0 and "exclude each other" in out.stderr, f"the sign-out that starts over: {out.stderr}")
        # Another user may not read the directory.
        (folder / "data").chmod(0o755)
        out = subprocess.run(command, capture_output=True, text=True)
        expect(out.returncode == 1 and "chmod 700" in out.stderr, f"a directory that others can read: {out.stderr}")
        (folder / "data").chmod(0o700)
        out = subprocess.run([*command, "--discard-outbox"], capture_output=True, text=True)
        expect(out.returncode == 0 and list((folder / "data").iterdir()) == [], f"the sign-out: {out.stderr}")
        print("lines: 15 commands, once and in order, with a wrong line, a rejection, a kill, a signal and an ended session")


def reading(tool, scratch):
    with Server(tool, scratch) as server, server.connection() as connection:
        people = [server.person(connection, name) for name in ("Ann", "Bob")]
        ann, bob = people
        for person in people:
            connection.execute({"setPostcode": {"postcode": "SW1A 1AA"}}, person.token)
        first, secret = identifier(random), identifier(random)
        connection.execute({"postMessage": {"message": first, "thread": "SW1A", "body": "one"}}, bob.token)
        connection.execute({"openThread": {"thread": secret, "name": "Secret", "policy": "inviteOnly"}}, bob.token)
        (scratch / "ann").mkdir()
        client = Lines(tool, server, ann, scratch / "ann")
        # Each query by its name, each wrong one with its place.
        wrong = [{"timeline": {}}, {"timeline": {"thread": "SW1A", "limit": 0}}, {"timeline": {"thread": "SW1A", "page": 1}},
                 {"timeline": {"thread": "SW1A", "before": 2, "after": 1}}, {"timeline": {"thread": ["SW1A"]}}, {"timeline": {"thread": "N1", "at": "2026-11-21T05:03:12Z"}},
                 {"follow": {}}, {"follow": {"thread": "SW1A", "after": 3}}, {"read": {"thread": secret}}, {"timelines": {"thread": "SW1A"}},
                 {"timeline": {"thread": secret}}, {"replies": {"message": secret}}]
        client.write({"timeline": {"thread": "SW1A", "limit": 5}}, {"threads": {}}, {"inbox": {"limit": 1}}, {"user": {}}, {"replies": {"message": first}}, *wrong)
        client.wait(lambda line: line.get("line") == 5 + len(wrong), "the last answer")
        answers = {line["line"]: line for line in client.found if "line" in line}
        expect([post["body"] for post in answers[1]["timeline"]["items"]] == ["one"], f"the timeline: {answers[1]}")
        expect([thread["name"] for thread in answers[2]["threads"]["items"]] == ["SW1A"], f"the threads: {answers[2]}")
        expect(answers[3]["inbox"]["items"] == [] and answers[4]["user"]["id"] == ann.id and answers[5]["replies"]["items"] == [], f"the answers: {answers}")
        expect(all("error" in answers[number] for number in range(6, 6 + len(wrong))), f"the wrong lines: {answers}")
        expect("timeline.limit" in answers[7]["error"]["message"] and answers[16]["error"]["code"] == "notFound", f"the errors: {answers[7]} {answers[16]}")
        # A thread that is followed: new messages, changes, and the end of the access.
        client.write({"follow": {"thread": secret}}, {"follow": {"thread": "SW1A"}}, {"read": {"thread": "SW1A"}})
        client.wait(lambda line: line.get("error") and line.get("thread") == secret, "the end of what Ann may not follow")
        client.wait(lambda line: line.get("state") == "confirmed", "the marker")
        connection.execute({"postMessage": {"thread": "SW1A", "body": "two"}}, bob.token)
        client.wait(lambda line: line.get("post", {}).get("body") == "two", "a new message")
        connection.execute({"edit": {"message": first, "body": "one, edited"}}, bob.token)
        client.wait(lambda line: line.get("post", {}).get("body") == "one, edited", "a changed message")
        # What came while the server was away comes once.
        server.kill()
        server.start()
        with server.connection() as again:
            again.execute({"postMessage": {"thread": "SW1A", "body": "three"}}, bob.token)
            client.wait(lambda line: line.get("post", {}).get("body") == "three", "a message after a restart")
            client.write({"unfollow": {"thread": "SW1A"}}, {"timeline": {"thread": "SW1A"}})
            client.wait(lambda line: "timeline" in line, "the last timeline")
            again.execute({"postMessage": {"thread": "SW1A", "body": "four"}}, bob.token)
            client.write({"read": {"thread": "SW1A"}})
            found = client.end(status=1)
            expect([line["post"]["body"] for line in found if "post" in line] == ["two", "one, edited", "three"], "what was followed")
            # The bot of the documentation, by its own account, answers once.
            page = (pathlib.Path(__file__).parents[2] / "Sources/Chat/Chat.docc/CommandLineTool.md").read_text()
            bot = pathlib.Path(__file__).parents[2] / "Examples/bot.py"
            body = bot.read_text().split("\n\n", 1)[1]
            expect(all("    " + line in page for line in body.splitlines() if line), "the documentation has another bot")
            command = [sys.executable, str(bot), "SW1A", tool, "chat", server.url, "--lines", "--data", str(scratch / "ann/data")]
            with subprocess.Popen(command) as running:
                question = identifier(random)
                deadline = time.monotonic() + PATIENCE
                replies = []
                again.execute({"postMessage": {"message": question, "thread": "SW1A", "body": "WHAT TIME IS IT?"}}, bob.token)
                while not replies and time.monotonic() < deadline:
                    time.sleep(0.2)
                    replies = again.get(f"/v1/messages/{question}/replies", bob.token)["items"]
                    # Before it follows the thread, the bot hears nothing: the question is asked again.
                    if not replies and int(time.monotonic()) % 5 == 0:
                        question = identifier(random)
                        again.execute({"postMessage": {"message": question, "thread": "SW1A", "body": "What time is it?"}}, bob.token)
                running.terminate()
            expect(len(replies) == 1 and replies[0]["body"].startswith("It is ") and replies[0]["author"]["id"] == ann.id, f"the bot's answer: {replies}")
        print("reading: 5 queries, 12 wrong lines, a thread that is followed over a restart, and the bot")


def unusable(tool, scratch):
    with Server(tool, scratch) as server, server.connection() as connection:
        ann = server.person(connection, "Ann")
        folder = scratch / "ann"
        folder.mkdir()
        data = folder / "data"

        def start(*options, status=0):
            client = Lines(tool, server, ann, folder, *options)
            client.process.stdin.close()
            client.found += [json.loads(line) for line in client.process.stdout]
            client.process.wait()
            error = client.process.stderr.read()
            expect(client.process.returncode == status, f"status {client.process.returncode}, not {status}: {error}")
            return client.found, error

        def write(*texts):
            """Writes without the server, which is started again."""
            server.stop()
            client = Lines(tool, server, ann, folder)
            client.write(*map(post, texts))
            client.wait(lambda line: line.get("line") == len(texts), "the last queued message")
            client.process.send_signal(signal.SIGTERM)
            client.end(status=1)
            server.start()

        client = Lines(tool, server, ann, folder)
        client.write({"setPostcode": {"postcode": "SW1A 1AA"}}, post("one"))
        client.end()
        (copy,) = data.glob("*.chat")
        # What waits in a sound copy, and in one of which nothing but the outbox and the owner can be read.
        write("two", "three")
        found, error = start("--start-over")
        expect("moved to the new copy: 2." in error, f"a sound copy: {error}")
        expect(bodies(server, connection, ann.token) == ["one", "two", "three"], f"the messages of a sound copy: {found}")
        write("four", "five")
        with sqlite3.connect(copy) as file:
            pages = [row[0] for row in file.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name IN ('users', 'posts', 'ranges', 'answers')")]
            size = file.execute("PRAGMA page_size").fetchone()[0]
        file.close()
        with open(copy, "r+b") as file:
            for page in filter(None, pages):
                file.seek((page - 1) * size)
                file.write(b"\xff" * size)
        found, error = start(status=1)
        expect(f"{copy} is damaged." in error and "--start-over" in error, f"a damaged copy: {error} {found[-3:]}")
        found, error = start("--start-over")
        expect("moved to the new copy: 2." in error, f"the damaged copy: {error}")
        expect(bodies(server, connection, ann.token)[-2:] == ["four", "five"], f"the messages of a damaged copy: {found}")
        # Something else with the name of the copy is kept under another one.
        for contents in (b"Dear diary", b"SQLite format 3\0" + b"\0" * 5_000):
            copy.write_bytes(contents)
            found, error = start(status=1)
            expect(str(copy) in error and "--start-over" in error, f"a file of another format: {error}")
            found, error = start("--start-over")
            (aside,) = data.glob("*.chat.?")
            expect(str(aside) in error and aside.read_bytes() == contents, f"the file that was set aside: {error}")
            aside.unlink()
        # A copy that is removed while it is in use.
        client = Lines(tool, server, ann, folder)
        client.wait(lambda line: line.get("connection") == "connected", "the connection")
        copy.unlink()
        client.process.stdin.write(json.dumps(post("lost")) + "\n")
        client.process.stdin.flush()
        client.process.wait(PATIENCE)
        error = client.process.stderr.read()
        expect(client.process.returncode == 1 and f"{copy} was removed or replaced" in error, f"a removed copy: {error}")
        # The sign-out removes whatever has the name.
        out = [tool, "chat", server.url, "--data", str(data), "--sign-out"]
        copy.write_bytes(b"Dear diary")
        ended = subprocess.run(out, capture_output=True, text=True)
        expect(ended.returncode == 0 and list(data.iterdir()) == [], f"the sign-out: {ended.stderr} {list(data.iterdir())}")
        print("unusable: 4 messages of a sound and a damaged copy are sent; two other files are set aside, a removed copy is noticed")


class Pane:
    """A terminal in a session of tmux of its own."""

    SOCKET = f"chat-journal-{os.getpid()}"

    def __init__(self, name, command, columns=80, rows=24, environment=()):
        self.name, self.last = name, ""
        words = " ".join(f"'{word}'" for word in command)
        line = f"{' '.join(environment)} {words}; echo \"status $?\"; exec sleep 1000"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), "sh", "-c", line)

    @classmethod
    def tmux(cls, *words):
        # In UTF-8 whatever the language of the caller.
        done = subprocess.run(["tmux", "-u", "-L", cls.SOCKET, *words], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"tmux {words[0]}: {done.stderr}")
        return done.stdout

    @classmethod
    def end_all(cls):
        subprocess.run(["tmux", "-L", cls.SOCKET, "kill-server"], capture_output=True, check=False)

    def type(self, text, *keys):
        """Types a text, and presses keys; Enter if there are none."""
        if text:
            self.tmux("send-keys", "-t", self.name, "-l", text)
        self.press(*keys or ["Enter"])

    def press(self, *keys):
        self.tmux("send-keys", "-t", self.name, *keys)

    def text(self, colours=False):
        self.last = self.tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", self.name)
        return self.last

    def wait(self, *texts, without=()):
        """Waits until the screen has each text in this order, and none of the others."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            shown, place = self.text(), 0
            for text in texts:
                place = shown.find(text, place)
                if place < 0:
                    break
                place += len(text)
            if place >= 0 and not any(text in shown for text in without):
                return shown
            time.sleep(0.05)
        raise Failed(f"{self.name}: not {texts} without {without}:\n{self.last}")

    def settled(self):
        """Waits until the screen has not changed for a second, and returns it: a capture can be in the middle of drawing."""
        shown, since = self.text(), time.monotonic()
        deadline = since + PATIENCE
        while time.monotonic() < since + 1:
            time.sleep(0.05)
            if self.text() != shown:
                shown, since = self.last, time.monotonic()
                expect(since < deadline, f"{self.name}: the screen does not settle:\n{shown}")
        return shown

    def wait_for(self, screen, what):
        """Waits until the screen is as given."""
        deadline = time.monotonic() + PATIENCE
        while self.text() != screen:
            expect(time.monotonic() < deadline, f"{self.name}: {what}:\n{self.last}\nis not\n{screen}")
            time.sleep(0.05)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def signal(self, number):
        """Sends a signal to the process of the pane."""
        shell = int(self.tmux("list-panes", "-t", self.name, "-F", "#{pane_pid}"))
        child = int(pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])
        os.kill(child, number)


# Sequences that clear the screen, set the title and colours; marks that turn the direction; marks upon marks.
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m \u202eevil\u202c " + "z" + "\u0301" * 100
WIDE = "漢字" * 30 + "🦊"
RIGHT_TO_LEFT = "שלום לכולם"


def screen(tool, scratch):
    if shutil.which("tmux") is None:
        return print("SKIPPED: the screens of `chat-journal chat`: tmux is missing")
    with Server(tool, scratch) as server, server.connection() as connection:
        def start(name, *options, **how):
            return Pane(name, [tool, "chat", server.url, "--data", str(scratch / f"{name}-data"), *options], **how)

        try:
            # Ann signs up at the terminal; the password is not shown.
            ann = start("ann", "--sign-up")
            ann.wait("E-mail address:")
            ann.type("ann@example.org")
            ann.wait("Name:")
            ann.type("Ann")
            ann.wait("Password:")
            ann.type(PASSWORD)
            ann.wait("Password again:")
            ann.type(PASSWORD + "?")
            ann.wait("differ", "Password:")
            ann.type(PASSWORD)
            ann.wait("differ", "again:")
            ann.type(PASSWORD)
            ann.wait("Code", without=[PASSWORD])
            ann.type("000000")
            ann.wait("Code", "Code")
            ann.type(server.code("ann@example.org"))
            ann.wait("Threads", "No threads yet", "Ann · connected")
            # Ben has an account.
            account = server.person(connection, "Ben")
            (scratch / "password").write_text(account.password + "\n")
            signing_in = ["--email", account.email, "--password-file", str(scratch / "password")]
            ben = start("ben", *signing_in)
            ben.wait("Ben · connected")
            for pane in (ann, ben):
                pane.type("/postcode SW1A 1AA")
                pane.wait("▶ SW1A")
                pane.press("Enter")
                pane.wait("No messages yet")
            # Ben has joined since Ann opened the thread.
            ann.type("/members")
            ann.wait("Members of SW1A", "Ben")
            ann.press("Escape")
            ann.wait("No messages yet")
            ann.type("Could someone pick up milk? @Ben")
            ben.wait("Ann", "milk? @Ben", "inbox 1")
            ben.type("/react +1")
            ben.wait("Choose a message first")
            ben.press("C-u", "Up")
            ben.type("/react +1")
            ann.wait("milk?", "👍 1")
            ben.type("/reply I can.")
            ann.wait("👍 1  1 reply")
            # Ann is offline for ten messages, and Ben is killed while his wait.
            server.stop()
            for pane in (ann, ben):
                pane.wait("offline", "unreachable")
            for number in range(10):
                ann.type(f"Ann offline {number}.")
            ann.wait("Ann offline 9.", "10 waiting")
            for number in range(5):
                ben.type(f"Ben waiting {number}.")
            ben.wait("Ben waiting 4.", "5 waiting")
            ben.signal(signal.SIGKILL)
            ben.wait("status 137")
            # Without the server, the start shows the copy and what waits.
            Pane.tmux("kill-session", "-t", "ben")
            ben = start("ben")
            ben.wait("▶ SW1A", "5 waiting")
            ben.press("Enter")
            ben.wait("milk? @Ben", "Ben waiting 4.", "5 waiting", without=["(erased)"])
            ben.type("Ben waiting 5.")
            ben.wait("Ben waiting 5.", "6 waiting")
            server.start()
            for pane in (ann, ben):
                pane.type("/connect")
                pane.wait("connected", without=["waiting ·", "· waiting", "· offline"])
            expected = [f"Ann offline {number}." for number in range(10)] + [f"Ben waiting {number}." for number in range(6)]
            token = server.sign_in(connection, account)
            found = bodies(server, connection, token)
            expect(found[0].startswith("Could") and sorted(found[1:]) == sorted(expected), f"each message once: {found}")
            for name in ("Ann", "Ben"):
                own = [body for body in found if body.startswith(name)]
                expect(own == sorted(own), f"the order of {name}: {own}")
            last = found[-1]
            for pane in (ann, ben):
                pane.wait(last, "connected", without=["(erased)"])
            # A hostile message controls nothing; wide and right-to-left text keep to their lines.
            for text in (HOSTILE, WIDE, RIGHT_TO_LEFT):
                connection.execute({"postMessage": {"thread": "SW1A", "author": account.id, "body": text}}, token)
            ann.wait("SW1A", r"\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m \u{202e}evil\u{202c}", "漢字", "🦊", "שלום", "Ann · connected")
            expect("owned" not in Pane.tmux("display-message", "-p", "-t", "ann", "#{pane_title}"), "the title of the terminal")
            wide = ann.settled()
            if show:
                print("Ann, 80 by 24:", wide, "Ben, 80 by 24:", ben.text(), sep="\n")
            # Smaller and larger, down to one character.
            for columns, rows in ((40, 10), (1, 1), (200, 60), (12, 3), (80, 24)):
                ann.resize(columns, rows)
                time.sleep(0.2)
            ann.wait_for(wide, "the screen after other sizes")
            ann.resize(40, 10)
            ann.wait("SW1A", "🦊", "Ann · connected")
            if show:
                print("Ann, 40 by 10:", ann.text(), sep="\n")
            ann.resize(80, 24)
            # Keys: select, edit, take back, help.
            ben.type("One more.")
            ben.wait("One more.")
            ben.type("/edit", "Enter")
            ben.wait("edit> One more.")
            ben.type(" Really.")
            ann.wait("edited", "One more. Really.")
            ben.type("/retract")
            ben.wait("[y/n]")
            ben.press("y")
            ann.wait("(retracted)")
            ben.press("F1")
            ben.wait("Help", "Enter", "send the line")
            # Signals end it in order, and the terminal is as it was.
            ann.signal(signal.SIGTERM)
            ann.wait("status 0", without=["SW1A"])
            expect("\x1b[?1049" not in ann.text() and Pane.tmux("display-message", "-p", "-t", "ann", "#{alternate_on}").strip() == "0",
                   "the screen is restored")
            Pane.tmux("kill-session", "-t", "ann")
            # Colours, and none. A dumb terminal has no screen.
            for variables, coloured in (([], True), (["NO_COLOR=1"], False)):
                ann = start("ann", environment=variables)
                ann.wait("▶ SW1A", "connected")
                ann.press("Enter")
                # The own name has a colour.
                ann.type("Colours?")
                ann.wait("Ann", "Colours?", "Ann · connected", without=["· waiting"])
                codes = ann.text(colours=True)
                expect(any(f"\x1b[{code}" in codes or f";{code}m" in codes for code in ("31", "32", "33", "36")) == coloured,
                       f"the colours with {variables}: {codes!r}")
                ann.press("C-c")
                ann.wait("status 0")
                Pane.tmux("kill-session", "-t", "ann")
            ann = start("ann", environment=["TERM=dumb"])
            ann.wait("use --lines", "status 1")
            Pane.tmux("kill-session", "-t", "ann")
            # Signing out says what would be lost, and leaves nothing on the machine.
            server.stop()
            ben.press("Escape")
            ben.wait("▶ SW1A", "· offline")
            ben.press("Enter")
            ben.type("Never mind.")
            ben.wait("Never mind.", "1 waiting")
            ben.type("/sign-out")
            ben.wait("1 waiting and 0 rejected are lost. Sign out? [y/n]")
            ben.press("n")
            ben.wait("Nothing was done.")
            ben.type("/withdraw")
            ben.wait("Withdrawn.", without=["Never mind."])
            # Without the server, the session stays there: the user is asked.
            ben.type("/sign-out")
            ben.wait("Sign out? [y/n]")
            ben.press("y")
            ben.wait("The session stays at the server until it expires.", "[y/n]")
            ben.press("n")
            ben.wait("Nothing was done.")
            # A read marker can wait since the screen was left.
            ann = start("ann", "--sign-out", "--discard-outbox")
            ann.wait("stays until it expires", "[y/n]")
            ann.type("y")
            ann.wait("status 0")
            expect(list((scratch / "ann-data").iterdir()) == [], "what is left after the sign-out without the server")
            server.start()
            ben.type("/connect")
            ben.wait("Ben · connected")
            ben.type("/sign-out")
            ben.wait("Sign out? [y/n]")
            ben.press("y")
            ben.wait("status 0")
            expect(list((scratch / "ben-data").iterdir()) == [], "what is left after the sign-out")
            print("screen: two people, 17 messages once and in order, offline and killed; hostile texts, sizes, colours, sign-up, sign-out")
        finally:
            Pane.end_all()


class Community:
    """A thread of Ann, in which Cat writes and which Ben reads: what is there, and what takes it away."""

    def __init__(self, connection, ann, ben, cat):
        self.connection, self.ann, self.ben, self.cat = connection, ann, ben, cat
        self.thread = self.tell(ann, {"openThread": {"name": "Garden"}})["openThread"]["thread"]
        for person in (ben, cat):
            self.tell(person, {"joinThread": {"thread": self.thread}})
        self.message = None

    def tell(self, person, command):
        """Executes a command with an id, and returns it, with the position of its last event."""
        (name, fields), = command.items()
        if name in ("openThread", "postMessage"):
            fields[{"openThread": "thread", "postMessage": "message"}[name]] = identifier()
        answer = self.connection.execute(command, person.token)
        return {**command, "position": answer["events"][-1]["position"]}

    def show(self, act, secret):
        """Has something with the secret shown to Ben."""
        if act in ("edit", "retract", "remove"):
            self.message = self.tell(self.cat, {"postMessage": {"thread": self.thread, "body": secret}})["postMessage"]["message"]
        elif act == "rename":
            self.tell(self.cat, {"changeUsername": {"username": secret}})
            self.tell(self.cat, {"postMessage": {"thread": self.thread, "body": "hello"}})
        elif act == "renameThread":
            self.tell(self.ann, {"renameThread": {"thread": self.thread, "name": secret}})
        elif act == "unmute":
            self.tell(self.ann, {"mute": {"thread": self.thread, "user": self.ben.id, "reason": secret}})
        else:
            room = self.tell(self.ann, {"openThread": {"name": secret, "policy": "inviteOnly"}})["openThread"]["thread"]
            self.message = room
            self.tell(self.ann, {"invite": {"thread": room, "user": self.ben.id}})

    def take(self, act):
        """Takes it away; returns the position of the event."""
        thread = {"thread": self.thread}
        return {
            "edit": lambda: self.tell(self.cat, {"edit": {"message": self.message, "body": "other"}}),
            "retract": lambda: self.tell(self.cat, {"retract": {"message": self.message}}),
            "remove": lambda: self.tell(self.ann, {"remove": {"message": self.message, "reason": "loud"}}),
            "rename": lambda: self.tell(self.cat, {"changeUsername": {"username": "Cat"}}),
            "renameThread": lambda: self.tell(self.ann, {"renameThread": {**thread, "name": "Garden"}}),
            "unmute": lambda: self.tell(self.ann, {"unmute": {**thread, "user": self.ben.id}}),
            "revoke": lambda: self.tell(self.ann, {"revokeInvitation": {"thread": self.message, "user": self.ben.id}}),
        }[act]()["position"]


def taken(tool, scratch):
    if shutil.which("tmux") is None:
        return print("SKIPPED: what is taken from a copy: tmux is missing")
    data = scratch / "data"

    def found(secret):
        """The files that have the secret."""
        return [path.name for path in data.iterdir() if secret.encode() in path.read_bytes()]

    def wait(condition, text):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            expect(time.monotonic() < deadline, text)
            time.sleep(0.01)

    with Server(tool, scratch) as server, server.connection() as connection:
        ann, ben, cat = (server.person(connection, name) for name in ("Ann", "Ben", "Cat"))
        password = scratch / "password"
        password.write_text(PASSWORD + "\n")
        chat = [tool, "chat", server.url, "--data", str(data), "--email", ben.email, "--password-file", str(password)]
        rng, had, number = random.Random(1), 0, 0
        acts = ["edit", "retract", "remove", "rename", "renameThread", "unmute", "revoke"]
        community = Community(connection, ann, ben, cat)
        try:
            # Half of the processes are killed at once, and can have the event or not; the others when the bytes are gone.
            for act, is_at_once in [(act, is_at_once) for is_at_once in (False, True) for act in acts]:
                number += 1
                secret = f"secret {number:05}"
                pane = Pane("ben", chat)
                pane.wait("Ben · connected")
                pane.press("Enter")
                community.show(act, secret)
                # Only the inbox has reasons and invitations.
                pane.type("/inbox")
                wait(lambda: data.exists() and found(secret), f"{act}: nothing of it is kept")
                if not is_at_once and act != "unmute":
                    # It stands in the copy, and not only in its log.
                    time.sleep(0.5)
                position = community.take(act)
                if is_at_once:
                    time.sleep(rng.uniform(0, 0.05))
                elif act != "unmute":
                    wait(lambda: not found(secret), f"{act}: it stays in {found(secret)}")
                pane.signal(signal.SIGKILL)
                pane.wait("status 137")
                Pane.tmux("kill-session", "-t", "ben")
                server.stop()
                # The next opening empties the log. Without the server, nothing is read.
                subprocess.run([*chat, "--lines"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
                copy, = data.glob("*.chat")
                database = sqlite3.connect(copy)
                (token,), = database.execute("SELECT value FROM facts WHERE key = 'token'")
                answers = b"".join(value for value, in database.execute("SELECT value FROM answers"))
                database.close()
                has_event = int(token.split("-")[1]) >= position
                had += has_event
                # The server's inbox has the reason of a mute that has ended, so that it can have been read again.
                if has_event and not (act == "unmute" and secret.encode() in answers):
                    expect(not found(secret), f"{act}: it is in {found(secret)}")
                server.start()
            expect(had >= len(acts), f"only {had} of {number} processes had the event")
            print(f"taken: {number} processes killed, of which {had} had the event; what it takes away is in no file")
        finally:
            Pane.end_all()


CHECKS = {"lines": lines, "reading": reading, "unusable": unusable, "screen": screen, "taken": taken}
show = False


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--scratch")
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    global show
    show = arguments.show
    unknown = set(arguments.checks) - set(CHECKS)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    scratch = pathlib.Path(tempfile.mkdtemp(dir=arguments.scratch, prefix="terminal-"))
    try:
        for name in arguments.checks or CHECKS:
            (scratch / name).mkdir()
            CHECKS[name](os.path.abspath(arguments.tool), scratch / name)
    except BaseException:
        Server.kill_all()
        print(f"the files are left in {scratch}", file=sys.stderr)
        raise
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
