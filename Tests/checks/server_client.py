"""A client of `chat-journal serve` for the checks: the process, HTTP/1.1 over a socket, Server-Sent Events, accounts."""

import json
import pathlib
import re
import resource
import secrets
import select
import signal
import socket
import subprocess
import time
import urllib.request

import openapi
import program
from ports import free_port
from program import Failed, identifier

PASSWORD = "correct horse battery"
# How long anything may take: a failure, not a slow machine, is the reason to wait so long.
PATIENCE = 600


def load_document(tool):
    """Returns the document that the tool prints, which its server must serve."""
    return openapi.Document(openapi.parse_json(subprocess.run([tool, "openapi"], check=True, stdout=subprocess.PIPE).stdout))


class Answer:
    """The answer to a request."""

    def __init__(self, status, reason, headers):
        self.status, self.reason, self.headers, self.body = status, reason, headers, b""

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name):
        return next(iter(self.all(name)), None)

    def json(self):
        return openapi.parse_json(self.body)

    def __str__(self):
        return f"{self.status} {self.headers} {self.body[:500]!r}"


def parse_head(data):
    """Parses a status line and headers; `data` ends before the empty line."""
    lines = data.decode("latin-1").split("\r\n")
    found = re.fullmatch(r"HTTP/1\.[01] ([0-9]{3}) (.*)", lines[0])
    if not found:
        raise Failed(f"not a status line: {lines[0]!r}")
    headers = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise Failed(f"not a header: {line!r}")
        headers.append((name, value.strip(" \t")))
    return Answer(int(found.group(1)), found.group(2), headers)


class BodyDecoder:
    """Decodes the body of an answer as bytes arrive: chunked, with a length, or up to the end of the connection."""

    def __init__(self, answer, method="GET"):
        self.rest, self.ended = b"", False
        self.chunked = "chunked" in (answer.header("Transfer-Encoding") or "").lower()
        length = answer.header("Content-Length")
        self.left = int(length) if length is not None and not self.chunked else None
        if method == "HEAD" or answer.status in (204, 304) or answer.status < 200:
            self.left, self.chunked = 0, False
        self.chunk = None  # the bytes left in a chunk, with its line end
        self.ended = self.left == 0

    def feed(self, data):
        """Returns the bytes of the body in `data`. What follows the body stays in `rest`."""
        self.rest += data
        if self.ended:
            return b""
        if not self.chunked:
            taken, self.rest = (self.rest, b"") if self.left is None else (self.rest[:self.left], self.rest[self.left:])
            if self.left is not None:
                self.left -= len(taken)
                self.ended = self.left == 0
            return taken
        body = b""
        while not self.ended:
            if self.chunk is None:
                line, found, after = self.rest.partition(b"\r\n")
                if not found:
                    break
                size = int(line.split(b";")[0], 16)
                if size == 0:
                    # The server sends no trailers.
                    if len(after) < 2:
                        break
                    self.rest, self.ended = after[2:], True
                    break
                self.rest, self.chunk = after, size + 2
            part = self.rest[:self.chunk]
            body += part[:max(0, self.chunk - 2)]
            self.chunk -= len(part)
            self.rest = self.rest[len(part):]
            if self.chunk:
                break
            self.chunk = None
        return body


class Connection:
    """A connection that is kept open. `document`, if given, is compared with every answer."""

    def __init__(self, port, document=None, timeout=PATIENCE, host="127.0.0.1"):
        self.port, self.document, self.timeout, self.host = port, document, timeout, host
        self.socket, self.buffer = None, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self):
        if self.socket is None:
            self.socket = socket.create_connection((self.host, self.port), timeout=self.timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.buffer = b""
        return self

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def send(self, data):
        self.open().socket.sendall(data)

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        return data

    def read_head(self):
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > 1 << 20:
                raise Failed("over 1 MiB of headers")
            self.buffer += self.receive()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        return parse_head(head)

    def read_answer(self, method="GET"):
        """Reads an answer, without those of the class 1xx other than an upgrade."""
        answer = self.read_head()
        while answer.status < 200 and answer.status != 101:
            answer = self.read_head()
        decoder = BodyDecoder(answer, method)
        answer.body += decoder.feed(self.buffer)
        while not decoder.ended:
            data = self.socket.recv(65536)
            if not data:
                if decoder.left is None and not decoder.chunked:
                    break
                raise ConnectionResetError("the server closed the connection in the body")
            answer.body += decoder.feed(data)
        self.buffer = decoder.rest
        if (answer.header("Connection") or "").lower() == "close":
            self.close()
        return answer

    def request(self, method, target, body=None, token=None, headers=(), host=None):
        """Returns the bytes of a request. `body` is bytes, or a value that becomes JSON."""
        lines = [f"{method} {target} HTTP/1.1"]
        names = {name.lower() for name, _ in headers}
        if "host" not in names:
            lines.append(f"Host: {host or f'{self.host}:{self.port}'}")
        if token:
            lines.append(f"Authorization: Bearer {token}")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if body is not None:
            if "content-type" not in names:
                lines.append("Content-Type: application/json")
            if "transfer-encoding" not in names and "content-length" not in names:
                lines.append(f"Content-Length: {len(data)}")
        elif method in ("POST", "PUT", "PATCH") and "content-length" not in names:
            lines.append("Content-Length: 0")
        lines += [f"{name}: {value}" for name, value in headers]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data

    def ask(self, method, target, body=None, token=None, headers=(), host=None):
        """Sends a request and returns its answer. Reconnects once if the server has closed an idle connection."""
        data = self.request(method, target, body, token, headers, host)
        reused = self.socket is not None
        try:
            self.send(data)
            answer = self.read_answer(method)
        except (ConnectionResetError, BrokenPipeError):
            self.close()
            if not reused or self.buffer:
                raise
            self.send(data)
            answer = self.read_answer(method)
        except BaseException:
            self.close()
            raise
        if self.document:
            self.document.check(method, target, answer)
        return answer

    def get(self, target, token=None, status=200, headers=()):
        """Returns the value of a JSON answer with the expected status."""
        answer = self.ask("GET", target, token=token, headers=headers)
        if answer.status != status:
            raise Failed(f"GET {target}: expected {status}, got {answer}")
        return answer.json()

    def post(self, target, body=None, token=None, status=200, headers=()):
        answer = self.ask("POST", target, body, token, headers)
        if answer.status != status:
            raise Failed(f"POST {target} {str(body)[:300]}: expected {status}, got {answer}")
        return answer.json() if answer.body else None

    def execute(self, command, token):
        """Executes one command, which must be accepted; returns the answer."""
        answer = self.post("/v1/commands", command, token)
        if "rejection" in answer:
            raise Failed(f"{command}: {answer}")
        return answer


class Stream:
    """A stream of Server-Sent Events: `blocks` has (id, event, data) of each block, comments as (None, ":", text)."""

    def __init__(self, port, token, after=None, thread=None, last=None, headers=(), timeout=PATIENCE, connect=True):
        self.port, self.token, self.thread, self.headers = port, token, thread, list(headers)
        self.after, self.last = after, last
        self.answer = self.decoder = None
        self.head, self.text = b"", b""
        self.blocks, self.count, self.retry, self.ended = [], 0, None, False
        self.socket = None
        if connect:
            self.connect(timeout)

    def connect(self, timeout=PATIENCE, receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self.socket.connect(("127.0.0.1", self.port))
        except OSError:
            self.close()
            raise
        self.socket.sendall(self.request())

    def request(self):
        query = [f"{name}={value}" for name, value in (("after", self.after), ("thread", self.thread)) if value is not None]
        target = "/v1/events" + ("?" + "&".join(query) if query else "")
        lines = [f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: Bearer {self.token}", "Accept: text/event-stream"]
        lines += [f"Last-Event-ID: {self.last}"] if self.last is not None else []
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    def feed(self, data):
        """Adds received bytes; returns the new blocks. No bytes mean the end of the connection."""
        if not data:
            self.ended = True
            return []
        if self.answer is None:
            self.head += data
            head, found, rest = self.head.partition(b"\r\n\r\n")
            if not found:
                return []
            self.answer = parse_head(head)
            self.decoder = BodyDecoder(self.answer)
            data = rest
        body = self.decoder.feed(data)
        self.ended = self.decoder.ended
        if self.answer.status != 200:
            self.answer.body += body
            return []
        self.text += body
        new = []
        *parts, self.text = self.text.split(b"\n\n")
        for part in parts:
            new.append(self.parse(part.decode("utf-8")))
        self.blocks += new
        self.count += sum(event == "message" and data != "" for _, event, data in new)
        return new

    def parse(self, text):
        identity, event, data = None, "message", []
        for line in text.split("\n"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "":
                return (None, ":", value) if identity is None and not data else (identity, event, "\n".join(data))
            if name == "id":
                identity = self.last = value
            elif name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif name == "retry":
                self.retry = int(value)
            else:
                raise Failed(f"a line of the stream that is not described: {line!r}")
        return identity, event, "\n".join(data)

    def read(self, timeout):
        """Waits for bytes, at most `timeout` seconds; returns whether there were any."""
        if self.ended:
            return False
        # Not `select`, which cannot wait for a descriptor beyond 1,023.
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        if not poll.poll(timeout * 1_000):
            return False
        self.feed(self.socket.recv(65536))
        return True

    def wait(self, condition, seconds=PATIENCE, what="an event"):
        """Reads until `condition(self)` is true."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            if not self.read(max(0, deadline - time.monotonic())):
                raise Failed(f"the stream has not delivered {what}: {self.answer}, ended {self.ended}, {self.blocks[-3:]}")
        return self

    def opened(self):
        """Waits for the first id."""
        return self.wait(lambda stream: stream.answer is not None and (stream.answer.status != 200 and stream.ended or stream.blocks), what="its first id")

    def events(self):
        """The delivered events; `count` is their number."""
        return [json.loads(data) for _, event, data in self.blocks if event == "message" and data]

    def notices(self, name):
        """The delivered notices `erased` or `accessLost`."""
        return [json.loads(data) for _, event, data in self.blocks if event == name]

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Server:
    """A process of `chat-journal serve` with a journal, accounts and mails in a directory."""

    running = set()

    def __init__(self, tool, directory, options=(), trust=True):
        self.tool, self.directory = tool, pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.mail = self.directory / "mail"
        self.mail.mkdir(mode=0o700, exist_ok=True)
        self.journal = str(self.directory / "journal")
        self.log = self.directory / "log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.options = list(options) + (["--trust-proxy", "127.0.0.1"] if trust else [])
        self.trust, self.process, self.people = trust, None, 0

    def own_options(self):
        return ["--accounts", str(self.directory / "accounts"), "--mail", str(self.mail)]

    def command(self):
        return [self.tool, "serve", self.journal, "--listen", f"127.0.0.1:{self.port}", *self.own_options(), *self.options]

    def start(self, seconds=PATIENCE):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        Server.running.add(self)
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise Failed(f"the server has not printed its URL in {seconds} s: {self.log_text()[-1000:]}")
        line = self.process.stdout.readline().decode()
        if line != self.url + "\n":
            raise Failed(f"the first line of the server is {line!r}, not {self.url!r}: {self.log_text()[-1000:]}")
        return self

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, kind, *_):
        if self.process and self.process.poll() is None:
            if kind:
                self.kill()
            else:
                self.stop()

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        Server.running.discard(self)

    @classmethod
    def kill_all(cls):
        """Ends the servers that a failed check has left."""
        for server in list(cls.running):
            Server.kill(server)

    def stop(self, seconds=PATIENCE, number=signal.SIGTERM):
        """Ends the server in order. It must end with the status 0."""
        self.process.send_signal(number)
        try:
            status = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the server has not ended in {seconds} s after {number.name}") from None
        self.process.stdout.close()
        Server.running.discard(self)
        if status != 0:
            raise Failed(f"the server ended with the status {status} after {number.name}: {self.log_text()[-1000:]}")

    def memory(self):
        """Returns the resident memory in KiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+([0-9]+) kB", text).group(1))

    def code(self, email, seconds=PATIENCE):
        """Waits for the mail to an address, removes it, and returns its code."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for path in sorted(self.mail.glob("*.eml")):
                text = path.read_text()
                to = re.search(r"^To: *(.*?)\r?$", text, re.M)
                if to and email.lower() in to.group(1).lower():
                    mode = path.stat().st_mode & 0o777
                    code = re.search(r"Your code is ([0-9]{6})\.", text)
                    if mode != 0o600 or not code:
                        raise Failed(f"a mail with the mode {mode:o}: {text!r}")
                    path.unlink()
                    return code.group(1)
            time.sleep(0.01)
        raise Failed(f"no mail to {email} in {seconds} s")

    def told(self, email, text, seconds=PATIENCE):
        """Waits for a mail to an address with a text, removes it, and returns it; None if it does not come."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for path in sorted(self.mail.glob("*.eml")):
                found = path.read_text()
                if email in found and text in found:
                    path.unlink()
                    return found
            time.sleep(0.01)
        return None

    def metric(self, port, name):
        """Returns a number of the metrics, which the server serves on a port of their own; 0 if it is not there."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read().decode()
        found = re.search(rf"^{re.escape(name)} ([0-9]+)$", text, re.M)
        return int(found.group(1)) if found else 0

    def connection(self, document=None, timeout=PATIENCE):
        return Connection(self.port, document, timeout)

    def from_elsewhere(self):
        """Returns headers that give a request a network address of its own, if the server trusts this machine."""
        return [("X-Forwarded-For", f"10.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{secrets.randbelow(256)}")] if self.trust else []

    def person(self, connection, name=None):
        """Signs a person up, confirms the address and signs in."""
        self.people += 1
        name = name or f"Neighbour {self.people}"
        person = Person(name, f"{name.lower().replace(' ', '.')}.{secrets.token_hex(3)}@example.org")
        elsewhere = self.from_elsewhere()
        connection.post("/v1/sign-up", {"username": name, "email": person.email, "password": PASSWORD}, status=202, headers=elsewhere)
        user = connection.post("/v1/confirm", {"email": person.email, "code": self.code(person.email)}, headers=elsewhere)["user"]
        person.id = user["id"]
        self.sign_in(connection, person, elsewhere)
        return person

    def sign_in(self, connection, person, headers=(), device="check"):
        found = connection.post("/v1/sign-in", {"email": person.email, "password": person.password, "device": device},
                                headers=headers or self.from_elsewhere())
        if person.id not in (None, found["user"]["id"]):
            raise Failed(f"sign-in of {person.name}: another user: {found['user']}")
        person.token = found["token"]
        return found["token"]

    def events(self, *options):
        """Returns the events of the journal in the raw form. The server must not run, or its events may be missing."""
        return program.events(self.tool, self.journal, *options)

    def verify(self):
        program.run_tool(self.tool, "verify", self.journal, "--deep")


class ReadingServer(Server):
    """A server that reads the journal of another one, and passes requests on to it. Every other time it survives its kill."""

    def __init__(self, tool, directory, options=(), trust=True):
        super().__init__(tool, directory, options, trust)
        self.writer = Server(tool, directory)
        self.log = self.directory / "log-of-the-reader"
        self.kills = 0

    def own_options(self):
        return ["--writer", self.writer.url]

    def start(self, seconds=PATIENCE):
        self.writer.start(seconds)
        return self if self in Server.running else super().start(seconds)

    def kill(self):
        self.kills += 1
        if self.writer in Server.running:
            self.writer.kill()
        if self.kills % 2 == 0:
            super().kill()

    def stop(self, seconds=PATIENCE):
        super().stop(seconds)
        self.writer.stop(seconds)



class Person:
    """A person with an account."""

    def __init__(self, name, email, password=PASSWORD):
        self.name, self.email, self.password = name, email, password
        self.id = self.token = None


def raise_open_files_limit():
    """Raises the limit of open files of this process and its children to the maximum."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
