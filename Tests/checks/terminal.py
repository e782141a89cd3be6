#!/usr/bin/env python3
"""Checks `chat-journal chat` from outside: the mode of lines, and the screen in panes of tmux.

    terminal.py --tool PATH [--scratch DIR] [CHECK ...]

Starts the server itself. The checks, all by default:

    lines    commands as lines of JSON: each is in the journal once and in order, while the server and the client are killed
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from server_client import Failed, Server


def expect(condition, text):
    if not condition:
        raise Failed(text)


class Lines:
    """A process of `chat-journal chat URL --lines` of a person."""

    def __init__(self, tool, server, person, folder):
        password = folder / "password"
        password.write_text(person.password + "\n")
        command = [tool, "chat", server.url, "--lines", "--data", str(folder / "data"), "--email", person.email,
                   "--password-file", str(password)]
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
        out = subprocess.run([tool, "chat", server.url, "--data", str(folder / "data"), "--sign-out"], capture_output=True, text=True)
        expect(out.returncode == 0 and list((folder / "data").iterdir()) == [], f"the sign-out: {out.stderr}")
        print("lines: 15 commands, once and in order, with a wrong line, a rejection, a kill, a signal and an ended session")


CHECKS = {"lines": lines}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--scratch")
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    arguments = parser.parse_args()
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
