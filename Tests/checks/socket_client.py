"""A client of the WebSockets of `chat-journal serve` for the checks, written from RFC 6455.

It can send frames that are wrong, and rejects every frame of the server that is wrong.
"""

import base64
import hashlib
import http.client
import json
import os
import select
import signal
import socket
import struct
import threading
import time
import weakref

import server_client
from server_client import PATIENCE, Failed

# Below `nohup` a server would inherit that SIGHUP is ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def masked(payload, key):
    """Returns the payload, masked or unmasked with a key of four bytes."""
    count = len(payload)
    keys = (key * (count // 4 + 1))[:count]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(keys, "little")).to_bytes(count, "little")


def frame(opcode, payload=b"", fin=True, rsv=0, mask=True, form=None, length=None):
    """Returns a frame of a client.

    `form` forces the form of the length: 7, 16 or 64 bits. `length` is the length that the frame announces.
    """
    length = len(payload) if length is None else length
    form = form or (7 if length < 126 else 16 if length < 1 << 16 else 64)
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    bit = 0x80 if mask else 0
    if form == 7:
        head += bytes([bit | length])
    elif form == 16:
        head += bytes([bit | 126]) + struct.pack(">H", length)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", length)
    if not mask:
        return head + payload
    key = os.urandom(4)
    return head + key + masked(payload, key)


def fragments(opcode, parts):
    """Returns the frames of a message in several parts."""
    last = len(parts) - 1
    return [frame(opcode if index == 0 else CONTINUATION, part, fin=index == last) for index, part in enumerate(parts)]


def close_payload(code, reason=b""):
    return struct.pack(">H", code) + reason


class Handshake:
    """An opening handshake, field by field, so that each can be wrong."""

    def __init__(self, port, path="/v1/socket", token=None):
        self.key = base64.b64encode(os.urandom(16)).decode()
        self.method, self.path, self.version = "GET", path, "HTTP/1.1"
        self.headers = [("Host", f"127.0.0.1:{port}"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
                        ("Sec-WebSocket-Key", self.key), ("Sec-WebSocket-Version", "13")]
        if token:
            self.headers.append(("Authorization", f"Bearer {token}"))

    def replacing(self, name, *values):
        """Replaces a header by others of the same name, or removes it."""
        self.headers = [(key, value) for key, value in self.headers if key.lower() != name.lower()]
        self.headers += [(name, value) for value in values]
        return self

    def bytes(self):
        lines = [f"{self.method} {self.path} {self.version}"] + [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


class Refused(Failed):
    """The server answered a handshake with another status than 101."""

    def __init__(self, status, headers, body):
        super().__init__(f"the handshake was answered with {status} {headers} {body[:300]!r}")
        self.status, self.headers, self.body = status, dict(headers), body


class WebSocket:
    """A connection. `receive` returns frames, `text` and `json` messages.

    Pings are answered unless `answers_pings` is false. Meanwhile a thread sends pongs, because the server ends a
    connection of which nothing comes for a minute, and a check can be slow to read.
    """

    alive, registering = weakref.WeakSet(), threading.Lock()

    def __init__(self, port, path="/v1/socket", token=None, handshake=None, early=b"", headers=(), timeout=PATIENCE, buffer=None):
        self.handshake = handshake or Handshake(port, path, token)
        self.handshake.headers += list(headers)
        self.timeout, self.buffer, self.answers_pings = timeout, b"", True
        self.close_code = None  # the code of the close of the server; 0 if it had none
        self.ended = False
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.partial, self.partial_opcode = b"", None
        self.sending = threading.Lock()
        try:
            self.socket.sendall(self.handshake.bytes() + early)
            self.read_handshake()
            with WebSocket.registering:
                WebSocket.alive.add(self)
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def read_handshake(self):
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        answer = server_client.parse_head(head)
        self.status, self.headers = answer.status, [(name.lower(), value) for name, value in answer.headers]
        names = dict(self.headers)
        if self.status != 101:
            length = 0 if self.handshake.method == "HEAD" else int(names.get("content-length", "0"))
            while len(self.buffer) < length and self.fill(ends=True):
                pass
            raise Refused(self.status, self.headers, self.buffer[:length])
        accept = base64.b64encode(hashlib.sha1((self.handshake.key + GUID).encode()).digest()).decode()
        for name, value in (("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-accept", accept)):
            values = [text for key, text in self.headers if key == name]
            if len(values) != 1 or (values[0] if name == "sec-websocket-accept" else values[0].lower()) != value:
                raise Failed(f"the header {name} of the handshake is {values}, not {value!r}")
        if "sec-websocket-extensions" in names or "content-length" in names or "transfer-encoding" in names:
            raise Failed(f"a header that a handshake must not have: {self.headers}")

    def fill(self, ends=False):
        """Receives bytes; false at the end of the connection, if it may end here."""
        try:
            data = self.socket.recv(1 << 18)
        except TimeoutError:
            raise Failed(f"nothing has come for {self.timeout} s; before it {self.buffer[:200]!r}") from None
        except (ConnectionResetError, BrokenPipeError):
            if ends:
                return False
            raise
        if not data:
            if ends:
                return False
            raise ConnectionResetError("the server closed the connection")
        self.buffer += data
        return True

    # Sending

    def send(self, data):
        with self.sending:
            self.socket.sendall(data)

    def pong(self, payload=b""):
        """Sends a pong, unless a frame is being sent or the server receives nothing: then it does not miss it."""
        if self.answers_pings and self.sending.acquire(blocking=False):
            try:
                ready = select.poll()
                ready.register(self.socket, select.POLLOUT)
                if ready.poll(0):
                    self.socket.sendall(frame(PONG, payload))
            finally:
                self.sending.release()

    @classmethod
    def keep_alive(cls):
        while True:
            time.sleep(10)
            cls.pong_to_all()

    @classmethod
    def pong_to_all(cls):
        with cls.registering:
            alive = list(cls.alive)
        for web_socket in alive:
            try:
                web_socket.pong()
            except (OSError, ValueError):
                # The connection has ended, or its socket is closed.
                cls.alive.discard(web_socket)

    def say(self, value):
        """Sends a text message: a string as it is, another value as JSON."""
        text = value if isinstance(value, str) else json.dumps(value)
        self.send(frame(TEXT, text.encode()))

    # Receiving

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def receive(self):
        """Returns (opcode, fin, payload) of the next frame, which must be valid for a server."""
        first, second = self.take(2)
        opcode, fin, length = first & 15, bool(first & 0x80), second & 127
        if first & 0x70 or second & 0x80 or opcode not in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
            raise Failed(f"a frame that a server must not send: {first:02x} {second:02x}")
        if length >= 126:
            extended = int.from_bytes(self.take(2 if length == 126 else 8), "big")
            if extended < (126 if length == 126 else 1 << 16):
                raise Failed(f"a length that is not in its shortest form: {extended}")
            length = extended
        if opcode >= CLOSE and (length > 125 or not fin):
            raise Failed(f"a control frame of {length} bytes, final {fin}")
        payload = self.take(length)
        if opcode == CLOSE:
            if len(payload) == 1:
                raise Failed("a close of one byte")
            self.close_code = int.from_bytes(payload[:2], "big")
            payload[2:].decode("utf-8")
        return opcode, fin, payload

    def next(self):
        """Returns (opcode, payload) of the next message or control frame."""
        while True:
            opcode, fin, payload = self.receive()
            if opcode == PING:
                self.pong(payload)
                continue
            if opcode >= CLOSE:
                return opcode, payload
            if (opcode == CONTINUATION) != (self.partial_opcode is not None):
                raise Failed(f"a frame with the opcode {opcode} in the wrong place")
            self.partial_opcode = opcode or self.partial_opcode
            self.partial += payload
            if fin:
                message, self.partial, opcode, self.partial_opcode = self.partial, b"", self.partial_opcode, None
                return opcode, message

    def text(self):
        opcode, payload = self.next()
        if opcode != TEXT:
            raise Failed(f"expected a text, got the opcode {opcode} with {payload[:200]!r}")
        return payload.decode("utf-8")

    def json(self):
        return json.loads(self.text())

    def hello(self):
        value = self.json()
        if list(value) != ["hello"]:
            raise Failed(f"the first message is {value}")
        return value["hello"]

    def until(self, condition, what="the message"):
        """Receives JSON messages until one has the property; returns all of them."""
        seen = []
        while True:
            seen.append(self.json())
            if condition(seen[-1]):
                return seen
            if len(seen) > 200_000:
                raise Failed(f"{what} has not come in {len(seen)} messages")

    def ask(self, value):
        """Sends a message with an id and returns its answer; other messages must not come before it."""
        self.say(value)
        answer = self.json()
        if answer.get("id") != value["id"]:
            raise Failed(f"{value}: the answer is {answer}")
        return answer

    def is_silent(self, seconds):
        """Whether nothing but pings comes for some time."""
        deadline = time.monotonic() + seconds
        while True:
            if self.buffer:
                opcode, _, payload = self.receive()
                if opcode != PING:
                    self.unexpected = (opcode, payload)
                    return False
                self.pong(payload)
                continue
            poll = select.poll()
            poll.register(self.socket, select.POLLIN)
            if not poll.poll(max(0, deadline - time.monotonic()) * 1_000):
                return True
            self.fill()

    def wait_for_end(self):
        """Reads up to the close and the end of the connection; returns the code of the close and the texts before it.

        The code is None if the connection ends without a close.
        """
        texts = []
        try:
            while self.close_code is None:
                opcode, payload = self.next()
                if opcode == TEXT:
                    texts.append(payload.decode("utf-8"))
        except (ConnectionResetError, BrokenPipeError):
            return None, texts
        try:
            self.send(frame(CLOSE, close_payload(self.close_code) if self.close_code else b""))
        except OSError:
            pass
        while self.fill(ends=True):
            pass
        if self.buffer:
            raise Failed(f"bytes after the close: {self.buffer[:200]!r}")
        return self.close_code, texts

    def leave(self, code=1000):
        """Closes with a handshake. Texts may come before the answer."""
        self.send(frame(CLOSE, close_payload(code)))
        while self.close_code is None:
            self.next()
        if self.close_code != code:
            raise Failed(f"a close with {code} was answered with {self.close_code}")
        while self.fill(ends=True):
            pass
        self.socket.close()

    def abort(self):
        """Ends the connection with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


threading.Thread(target=WebSocket.keep_alive, daemon=True).start()


class Server(server_client.Server):
    """A server that the checks of its sockets also ask, by a new connection each time."""

    def __init__(self, tool, directory, *options, trust=True):
        super().__init__(tool, directory, options, trust)

    def __exit__(self, kind, *_):
        if not kind and self.process.poll() is not None:
            raise Failed(f"the server has ended with {self.process.returncode}: {self.log_text()[-1000:]}")
        super().__exit__(kind)

    def ask(self, method, target, body=None, token=None, headers=()):
        """Returns (status, headers, value) of a request; the value is JSON, or None."""
        with self.connection() as web:
            answer = web.ask(method, target, body, token, headers)
        return answer.status, {name.lower(): value for name, value in answer.headers}, json.loads(answer.body) if answer.body else None

    def get(self, target, token, status=200):
        return self.expect(status, "GET", target, None, token)

    def post(self, target, body, token=None, status=200):
        return self.expect(status, "POST", target, body, token)

    def expect(self, status, method, target, body=None, token=None, headers=()):
        found, _, value = self.ask(method, target, body, token, headers)
        if found != status:
            raise Failed(f"{method} {target} {str(body)[:300]}: expected {status}, got {found} {str(value)[:500]}")
        return value

    def execute(self, command, token):
        """Executes one command, which must be accepted; returns its events."""
        with self.connection() as web:
            return web.execute(command, token)["events"]

    def people_named(self, *names, postcode="SW1A 1AA"):
        """Signs people up, confirms their addresses, signs them in and sets their postcode."""
        with self.connection() as web:
            people = [self.person(web, name) for name in names]
            for person in people if postcode else ():
                web.execute({"setPostcode": {"postcode": postcode}}, person.token)
        return people

    def another_session(self, person):
        """Signs a person in once more, and returns the token."""
        body = {"email": person.email, "password": person.password, "device": "check"}
        return self.expect(200, "POST", "/v1/sign-in", body, headers=self.from_elsewhere())["token"]

    def socket(self, person=None, **options):
        """Opens a socket of a person, a token or nobody."""
        token = person.token if isinstance(person, server_client.Person) else person
        return WebSocket(self.port, token=token, **options)


class EventStream:
    """The Server-Sent Events of a user, to compare."""

    def __init__(self, server, token, after=None, thread=None):
        query = "&".join(f"{name}={value}" for name, value in (("after", after), ("thread", thread)) if value)
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.connection.request("GET", "/v1/events" + ("?" + query if query else ""), headers={"Authorization": f"Bearer {token}"})
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise Failed(f"events: {self.answer.status} {self.answer.read()!r}")
        self.token = None
        while self.token is None:
            self.block()

    def block(self):
        """Reads a block; returns the text of its event or notice, or None."""
        data = None
        while line := self.answer.readline().decode("utf-8"):
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "id":
                self.token = value
            elif name == "data":
                data = value
            elif name == "":
                return data
        raise Failed("the stream has ended")

    def event(self):
        """Returns (token, text of the event or the notice)."""
        while True:
            if (data := self.block()) is not None:
                return self.token, data

    def close(self):
        self.answer.close()
        self.connection.close()
