"""Attacks on the server. After each of them it answers a healthy client, and its memory is bounded."""

import json
import os
import pathlib
import re
import resource
import socket
import statistics
import threading
import time

from ports import free_port
from server_client import PASSWORD, PATIENCE, Connection, Failed, Server, Stream, identifier
from server_routes import expect

# The resident memory that the server may have after an attack, above that of its start: two Argon2 hashes take 128 MiB.
MEMORY_LIMIT = 400 << 10
# The most that a system keeps for a connection, of which nothing is read, by the settings of TCP.
WRITE_LIMIT = pathlib.Path("/proc/sys/net/ipv4/tcp_wmem")


def exchange(port, data, seconds=PATIENCE, after=None, chunk=None):
    """Sends bytes as far as the server takes them; returns what it answered, whether it closed, and the sent count.

    Reads until the server closes, or nothing has come for `seconds`, or `after` seconds once an answer has begun.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
        # So that the sent count is nearly that of the bytes that the server has received.
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        sent, closed, answer = 0, False, b""
        try:
            step = chunk or len(data) or 1
            while sent < len(data):
                raw.sendall(data[sent:sent + step])
                sent += step
        except OSError:
            closed = True
        try:
            raw.settimeout(seconds)
            while found := raw.recv(65536):
                answer += found
                raw.settimeout(seconds if after is None else after)
            closed = True
        except TimeoutError:
            pass
        except OSError:
            closed = True
        return answer, closed, sent


def statuses(answer):
    return [int(found) for found in re.findall(rb"HTTP/1\.[01] ([0-9]{3})", answer)]


class Hostile:
    def __init__(self, tool, scratch, document, idle):
        self.tool, self.scratch, self.document, self.idle = tool, scratch, document, idle
        # Every request is logged, so that a secret in any of them is found.
        self.metrics = free_port()
        self.server = Server(tool, scratch / "server", ["--log", "requests", "--metrics", f"127.0.0.1:{self.metrics}"])
        self.peak, self.secrets = 0, {}

    def run(self):
        began = time.monotonic()
        server = self.server.start()
        self.web = server.connection(self.document)
        self.ann, self.bob = server.person(self.web, "Ann"), server.person(self.web, "Bob")
        self.web.execute({"setPostcode": {"postcode": "SW1A 1AA"}}, self.ann.token)
        self.web.execute({"setPostcode": {"postcode": "SW1A 1AA"}}, self.bob.token)
        self.message = identifier()
        self.web.execute({"postMessage": {"message": self.message, "thread": "SW1A", "body": "the secret of Ann"}}, self.ann.token)
        self.memory = server.memory()
        self.begin_slow_reader()
        attacks = [name for name in dir(self) if name.startswith("attack_")]
        for name in attacks:
            start = time.monotonic()
            what = getattr(self, name)()
            self.healthy(name)
            print(f"hostile: {name.removeprefix('attack_')}: {what or 'refused'} ({time.monotonic() - start:.1f} s, {server.memory() >> 10} MiB)", flush=True)
        self.web.close()
        server.stop()
        self.log()
        self.without_proxy()
        server.verify()
        print(f"hostile: {len(attacks)} attacks, each followed by a healthy answer, memory at most {self.peak >> 10} MiB (at the start {self.memory >> 10} MiB), "
              f"no secret in the log, {time.monotonic() - began:.1f} s", flush=True)

    def healthy(self, name):
        if self.server.process.poll() is not None:
            raise Failed(f"{name}: the server has ended with {self.server.process.returncode}: {self.server.log_text()[-2000:]}")
        try:
            with Connection(self.server.port, self.document) as web:
                me = web.get("/v1/me", self.ann.token)
                web.execute({"postMessage": {"thread": "SW1A", "body": "healthy"}}, self.ann.token)
        except OSError as error:
            raise Failed(f"{name}: a healthy client has no answer: {error}") from error
        if me["id"] != self.ann.id:
            raise Failed(f"{name}: me is {me}")
        memory = self.server.memory()
        self.peak = max(self.peak, memory)
        if memory > self.memory + MEMORY_LIMIT:
            raise Failed(f"{name}: the memory is {memory >> 10} MiB, at the start it was {self.memory >> 10} MiB")

    def request(self, method="GET", target="/v1/me", headers=(), body=b"", token=True, version="HTTP/1.1"):
        lines = [f"{method} {target} {version}", f"Host: 127.0.0.1:{self.server.port}"]
        lines += [f"Authorization: Bearer {self.ann.token}"] if token else []
        return "\r\n".join([*lines, *headers]).encode("latin-1") + b"\r\n\r\n" + body

    # Slow and endless requests

    def attack_slowloris(self):
        """Headers and bodies that arrive one byte at a time, on many connections, while others are served."""
        post = self.request("POST", "/v1/commands", ["Content-Type: application/json", "Content-Length: 5000"], b"{" + b" " * 4999)
        header = self.request(headers=["X-Slow: " + "x" * 5000])
        slow = []
        for number in range(200):
            data = header if number % 2 else post
            raw = socket.create_connection(("127.0.0.1", self.server.port))
            raw.setblocking(False)
            # The second half begins inside the header, or in the body.
            begin = 20 if number % 4 < 2 else data.index(b"\r\n\r\n") + 4 if number % 2 == 0 else 100
            raw.send(data[:begin])
            slow.append([raw, data, begin])
        delays, end = [], time.monotonic() + 8
        with Connection(self.server.port) as web:
            while not delays or time.monotonic() < end:
                for item in slow:
                    try:
                        item[0].send(item[1][item[2]:item[2] + 1])
                        item[2] += 1
                    except OSError:
                        pass  # the server has closed this connection
                start = time.monotonic()
                web.get("/v1/me", self.ann.token)
                delays.append(time.monotonic() - start)
                time.sleep(0.2)
        open_connections = 0
        for raw, _, _ in slow:
            try:
                open_connections += raw.recv(1) != b""
            except BlockingIOError:
                open_connections += 1
            except OSError:
                pass  # closed
            raw.close()
        return f"200 slow connections, {open_connections} still open after 8 s; a healthy request took at most {max(delays) * 1000:.0f} ms"

    def attack_endless_headers(self):
        header = self.request()[:-2]
        found = []
        for data in (header + b"X-A: b\r\n" * 4_000_000, header + b"X-A: " + b"b" * 32_000_000, b"GET /" + b"a" * 32_000_000):
            answer, closed, sent = exchange(self.server.port, data, chunk=65536)
            if not closed or sent > 16 << 20 or any(status < 400 for status in statuses(answer)):
                raise Failed(f"endless headers: {sent} bytes taken, closed {closed}, {answer[:300]!r}")
            found.append(f"{sent >> 10} KiB taken, {statuses(answer)}")
        return "; ".join(found)

    def attack_large_bodies(self):
        port, found = self.server.port, []
        length = ["Content-Type: application/json", "Content-Length: 10000000000"]
        chunked = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
        for target in ("/v1/commands", "/v1/sign-in", "/v1/nothing", "/v1/me"):
            for headers, data in ((length, b" " * (32 << 20)), (chunked, (b"10000\r\n" + b" " * 65536 + b"\r\n") * 512)):
                answer, closed, sent = exchange(port, self.request("POST", target, headers, data), chunk=65536)
                # A client that sends on may lose the answer to a reset of the connection.
                if not closed or sent > 16 << 20 or any(status < 400 for status in statuses(answer)):
                    raise Failed(f"POST {target} with {headers[1]}: {sent} bytes taken, closed {closed}, {answer[:300]!r}")
                found.append(f"{statuses(answer)}")
        return f"8 endless bodies, {' '.join(found)}"

    # Framing

    def attack_framing(self):
        """Requests whose body has no clear end: one problem, or the end of the connection, and nothing after it."""
        json_type, smuggled = "Content-Type: application/json", self.request(target="/v1/me")
        good = b'{"leaveThread":{"thread":"M1"}}'
        cases = [
            (["Transfer-Encoding: chunked", "Content-Length: 5"], b"0\r\n\r\n"), (["Content-Length: 5", "Transfer-Encoding: chunked"], b"0\r\n\r\n"),
            (["Content-Length: 2", "Content-Length: 3"], b"{}"), (["Content-Length: -1"], b"{}"), (["Content-Length: +2"], b"{}"),
            (["Content-Length: 0x2"], b"{}"), (["Content-Length: 2, 3"], b"{}"), (["Content-Length: 99999999999999999999999"], b"{}"),
            (["Transfer-Encoding: chunked"], b"ZZ\r\n{}\r\n0\r\n\r\n"), (["Transfer-Encoding: chunked"], b"-2\r\n{}\r\n0\r\n\r\n"),
            (["Transfer-Encoding: chunked"], b"FFFFFFFFFFFFFFFFFF\r\n{}"), (["Transfer-Encoding: chunked"], b"2\r\n{}XX0\r\n\r\n"),
            (["Transfer-Encoding: chunked"], b"2;" + b"x" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n"), (["Transfer-Encoding: xchunked"], good),
            (["Transfer-Encoding: chunked, identity"], b"0\r\n\r\n"), (["Content-Length : 2"], b"{}"),
        ]
        for headers, body in cases:
            answer, closed, _ = exchange(self.server.port, self.request("POST", "/v1/commands", [json_type, *headers], body + smuggled), 3, PATIENCE)
            found = statuses(answer)
            if b'"postcode"' in answer or len(found) > 1 or any(status < 400 for status in found):
                raise Failed(f"framing {headers} {body[:60]!r}: {answer[:1500]!r}")
            # Without an answer, the server waits for the rest of a body, up to its time limit.
            if found and not closed:
                raise Failed(f"framing {headers} {body[:60]!r}: the connection stays open: {answer[:500]!r}")
        # A chunked body with a clear end is valid.
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (good[:5], good[5:])) + b"0\r\n\r\n"
        answer, _, _ = exchange(self.server.port, self.request("POST", "/v1/commands", [json_type, "Transfer-Encoding: chunked", "Connection: close"], chunks))
        if statuses(answer) != [200]:
            raise Failed(f"a chunked body: {answer!r}")
        return f"{len(cases)} unclear bodies refused, and no request after them answered"

    def attack_not_http(self):
        cases = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /v1/me\r\n\r\n", os.urandom(4096), b"\0" * 4096,
                 b"\r\n" * 5000, self.request(version="HTTP/9.9"), self.request(method="get"), self.request(method="A" * 5000), self.request(headers=["No colon"]),
                 self.request(headers=["X\0Y: 1"]), self.request(target="/v1/me%00"),
                 self.request(target="/v1/me?%"), self.request(target="/v1/me?%zz=1"), self.request(target="http://evil.example/v1/me"), self.request(target="*"),
                 self.request(headers=["Host: evil.example"]), b"GET /v1/me HTTP/1.1\r\nAuthorization: Bearer " + self.ann.token.encode() + b"\r\n\r\n"]
        for data in cases:
            answer, _, _ = exchange(self.server.port, data, 1)
            if any(status < 400 for status in statuses(answer)):
                raise Failed(f"not HTTP: {data[:200]!r}: {answer[:1000]!r}")
        return f"{len(cases)} of these refused"

    def attack_repeated_headers(self):
        """A header that decides something is there once: a proxy may take the other one."""
        own, token = f"127.0.0.1:{self.server.port}", self.ann.token
        values = {"Host": own, "Authorization": f"Bearer {token}", "Cookie": f"chat-session={token}", "Origin": self.server.url, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
                  "Content-Length": "2", "Transfer-Encoding": "chunked", "Expect": "100-continue", "Last-Event-ID": "ct1-x", "Sec-WebSocket-Key": "A" * 22 + "==", "Sec-WebSocket-Version": "13"}
        for name, value in values.items():
            for second in (value, "x", ""):
                lines = [] if name == "Host" else [f"Host: {own}"]
                lines += [f"{name}: {value}", "X-Between: y", f"{name.swapcase()}: {second}"]
                answer, closed, _ = exchange(self.server.port, "\r\n".join(["POST /v1/commands HTTP/1.1", *lines]).encode() + b"\r\n\r\n{}" + self.request())
                if statuses(answer) != [400] or b'"invalidHeader"' not in answer or not closed:
                    raise Failed(f"{name} twice: {answer[:1000]!r}")
        return f"{len(values)} headers twice are 400 invalidHeader"

    def attack_pipeline(self):
        """Many requests in one write have their answers in order."""
        count = 200
        data = b"".join(self.request(target="/v1/threads/SW1A/members" if number % 2 else "/v1/me") for number in range(count))
        data += self.request("POST", "/v1/commands", ["Content-Type: application/json", "Content-Length: 31"], b'{"leaveThread":{"thread":"M1"}}')
        data += self.request(headers=["Connection: close"])
        answer, closed, _ = exchange(self.server.port, data)
        if not closed or statuses(answer) != [200] * (count + 2) or answer.count(b'"newer"') != count // 2:
            raise Failed(f"a pipeline of {count + 2}: {statuses(answer)}, closed {closed}")
        return f"{count + 2} answers in order"

    # Contents

    def attack_injection(self):
        """Line ends and control characters in values that come back: in headers, in the stream, in mails."""
        for target in ("/v1/threads/x%0d%0aSet-Cookie:%20a=b", "/v1/me%0d%0aSet-Cookie:%20a=b", "/v1/events?after=x%0d%0aSet-Cookie:%20a=b", "/v1/threads/SW1A/timeline?limit=1%0d%0aSet-Cookie:%20a=b",
                       "/%0d%0aSet-Cookie:%20a=b", "/v1/me?a%0d%0aSet-Cookie:%20a=b=1"):
            answer, _, _ = exchange(self.server.port, self.request(target=target, headers=["Connection: close"]))
            head = answer.partition(b"\r\n\r\n")[0].lower()
            if b"set-cookie" in head or any(status < 400 for status in statuses(answer)):
                raise Failed(f"{target}: {answer!r}")
        stream = Stream(self.server.port, self.bob.token, thread="SW1A").opened()
        bodies = ["a\n\nevent: signed-out\ndata: {}\n\n", "a\r\n\r\nid: x\r\n\r\n", "a\rdata: {}\r\r", "\u2028id: x\u2029", "a\0b", "\ufeff", "</script><script>alert(1)</script>"]
        for body in bodies:
            self.web.execute({"postMessage": {"thread": "SW1A", "body": body}}, self.ann.token)
        stream.wait(lambda stream: stream.count >= len(bodies))
        if [event["messagePosted"]["body"] for event in stream.events()] != bodies or any(event not in ("message", ":") for _, event, _ in stream.blocks):
            raise Failed(f"the stream of injected bodies: {stream.blocks}")
        stream.close()
        before = set(self.server.mail.iterdir())
        for address in ("a@example.org\r\nBcc: b@example.org", "a@example.org\n", "a\r\n@example.org", "a@example.org, b@example.org", "<a@example.org>", "a@example.org\0", "-t@", "a@exa\u0000mple.org"):
            for target, more in (("sign-up", {"username": "Eve", "password": PASSWORD}), ("forgot-password", {}), ("resend-code", {})):
                expect(self.web.ask("POST", "/v1/" + target, {"email": address, **more}, headers=self.server.from_elsewhere()), 400, "invalidEmail", f"{target} {address!r}")
        for name in ("Eve\r\nBcc: b@example.org", "Eve\n", "\n\nYour code is 000000."):
            answer = self.web.ask("POST", "/v1/sign-up", {"username": name, "email": "eve@example.org", "password": PASSWORD}, headers=self.server.from_elsewhere())
            # A line end in a name is white space, which becomes one space.
            expect(answer, 202, what=f"sign-up {name!r}")
        time.sleep(0.3)
        for path in set(self.server.mail.iterdir()) - before:
            if any(line.lower().startswith(("bcc", "your code is 000000")) for line in path.read_text().splitlines()):
                raise Failed(f"a mail with an injected header: {path.read_text()!r}")
        return f"{len(bodies)} bodies arrived as one event each, no header or mail had an injected line"

    def attack_traversal(self):
        targets = ["/../etc/passwd", "/../../../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/%252e%252e%252fetc%252fpasswd",
                   "/..%5c..%5cetc%5cpasswd", "/..\\..\\etc\\passwd", "//etc/passwd", "/./etc/passwd", "/v1/../../etc/passwd", "/app.js/../../../etc/passwd", "/app.js%00.html", "/etc/passwd",
                   "/v1/threads/..%2f..%2fme", "/v1/threads/../me", "/%c0%ae%c0%ae/etc/passwd", "/journal", "/accounts", "/mail/", "/.git/config", "/accounts.key", "/..;/accounts"]
        for target in targets:
            answer, _, _ = exchange(self.server.port, self.request(target=target, headers=["Connection: close"]))
            if b"root:" in answer or statuses(answer) not in ([400], [404]):
                raise Failed(f"GET {target}: {answer[:1000]!r}")
        return f"{len(targets)} paths are 404 or 400"

    def attack_deep_json(self):
        deep = {"arrays": b"[" * 10_000 + b"]" * 10_000, "objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "open": b"[" * 500_000}
        wrap = b'{"custom":{"kind":"a.b","thread":"SW1A","payload":%s}}'
        for name, text in deep.items():
            for body in (text, wrap % text, b"[" + wrap % text + b"]"):
                expect(self.web.ask("POST", "/v1/commands", body, self.ann.token), 400, "tooDeep", f"deep {name}")
        for text in (b"[" * 16_000, b'{"email":' * 1_700):
            expect(self.web.ask("POST", "/v1/sign-in", text, headers=self.server.from_elsewhere()), 400, "tooDeep", "a deep sign-in")
        for body in (b"1" * 1_000_000, b'"' + b"\\u0000" * 160_000 + b'"', b"[" + b"{}," * 300_000 + b"{}]", b'{"a":1e999999}', b'{"' + b"a" * 900_000 + b'":1}'):
            answer = self.web.ask("POST", "/v1/commands", body, self.ann.token)
            if answer.status not in (400, 413) or len(answer.body) > 2_000:
                raise Failed(f"the body {body[:60]!r}: {answer}")
        return "10,000 levels are tooDeep"

    # Sessions and rights

    def attack_csrf(self):
        """A page of another site with the cookie of the browser."""
        answer = self.web.ask("POST", "/v1/sign-in", {"email": self.ann.email, "password": PASSWORD}, headers=self.server.from_elsewhere() + [("Cookie", "chat-session=" + "F" * 43)])
        token = answer.json()["token"]
        if token == "F" * 43 or "F" * 43 in answer.header("Set-Cookie"):
            raise Failed("session fixation: the token of the request is the token of the session")
        expect(self.web.ask("GET", "/v1/me", headers=[("Cookie", "chat-session=" + "F" * 43)]), 401, "notSignedIn", "a fixed session")
        cookie, before = ("Cookie", f"chat-session={token}"), self.head()
        command = {"postMessage": {"thread": "SW1A", "body": "forged"}}
        for headers in ([("Origin", "https://evil.example")], [("Origin", "null")], [("Origin", f"http://localhost:{self.server.port + 1}")], [("Origin", f"https://127.0.0.1:{self.server.port}")],
                        [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Origin", f"{self.server.url}@evil.example")], [("Origin", "")]):
            for target, body in (("/v1/commands", command), ("/v1/sign-out", None), ("/v1/sign-out-everywhere", None), ("/v1/delete-account", {"password": PASSWORD})):
                expect(self.web.ask("POST", target, body, headers=[cookie, *headers]), 403, "foreignOrigin", f"POST {target} from {headers}")
            expect(self.web.ask("GET", "/v1/me", headers=[cookie, ("Origin", "https://evil.example")]), 403, "foreignOrigin", "GET from another site")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            expect(self.web.ask("POST", "/v1/commands", json.dumps(command).encode(), headers=[cookie, ("Content-Type", kind)]), 415, "unsupportedMediaType", f"a form of {kind}")
        own = f"127.0.0.1:{self.server.port}".encode()
        answer, _, _ = exchange(self.server.port, self.request().replace(own, own + b".evil.example"))
        if statuses(answer) != [400]:
            raise Failed(f"a host with a wrong port: {answer!r}")
        for host in ("evil.example", "localhost.evil.example", f"127.0.0.1:{self.server.port + 1}", ""):
            expect(self.web.ask("POST", "/v1/commands", command, headers=[cookie, ("Host", host)]), 421, "misdirectedRequest", f"the host {host}")
        answer = self.web.ask("OPTIONS", "/v1/commands", headers=[("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")])
        if any(name.lower().startswith("access-control") for name, _ in answer.headers):
            raise Failed(f"CORS headers: {answer}")
        if self.head() != before:
            raise Failed("a forged request was executed")
        for own in ([("Origin", self.server.url)], [("Origin", self.server.url), ("Sec-Fetch-Site", "same-origin")], [("Sec-Fetch-Site", "none")], []):
            expect(self.web.ask("POST", "/v1/commands", {"leaveThread": {"thread": "M1"}}, headers=[cookie, *own]), 200, what=f"a request of the page itself {own}")
        self.secrets["the token of a cookie"] = token
        return "8 foreign origins, 4 hosts, 3 forms refused; nothing executed"

    def head(self):
        return self.web.get("/v1/threads/SW1A", self.ann.token)["lastPosition"]

    def attack_another_user(self):
        """The id of another user in every acting field of every command, alone and in a batch."""
        before, count = len(self.server.events()), 0
        schemas = self.document.root["components"]["schemas"]
        values = {"thread": "SW1A", "body": "forged", "message": self.message, "reply": identifier(), "name": "Forged", "username": "Forged", "postcode": "M1 1AA", "device": "x",
                  "upTo": 1, "role": "member", "policy": "open", "reason": "forged", "session": identifier(), "kind": "org.example.x", "payload": {}, "id": identifier(), "user": self.ann.id,
                  "emoji": "\U0001F44D", "from": 1, "level": "none", "with": [self.ann.id]}
        good = {"leaveThread": {"thread": "M1"}}
        for name in (key.removeprefix("command.") for key in schemas if key.startswith("command.")):
            fields = schemas["command." + name]["properties"][name]
            acting = next((field for field in ("author", "by", "user") if field in fields["properties"]), None)
            command = {field: values[field] for field in fields.get("required", [])}
            if "x-one-of" in fields:
                command["message"] = self.message
            if acting is None:
                continue
            for other in (self.bob.id, self.bob.id.upper(), identifier(), "0" * 8 + "-0000-0000-0000-" + "0" * 12):
                forged = {name: {**command, acting: other}}
                expect(self.web.ask("POST", "/v1/commands", forged, self.ann.token), 403, "anotherUser", f"{forged}")
                expect(self.web.ask("POST", "/v1/commands", [good, forged, good], self.ann.token), 403, "anotherUser", f"a batch with {forged}", line=2)
                count += 2
            for field in {"author", "by", "user"} - set(fields["properties"]):
                expect(self.web.ask("POST", "/v1/commands", {name: {**command, field: self.bob.id}}, self.ann.token), 400, "unknownField", f"{name} with {field}")
            twice = json.dumps({name: {**command, acting: self.ann.id}})[:-2] + f',"{acting}":"{self.bob.id}"' + "}}"
            expect(self.web.ask("POST", "/v1/commands", twice.encode(), self.ann.token), 400, "duplicateField", f"{name} with {acting} twice")
        for forbidden in ("registerUser", "grantOperator", "revokeOperator"):
            for user in (self.ann.id, self.bob.id):
                fields = {"user": user, "username": "Forged"} if forbidden == "registerUser" else {"user": user}
                answer = self.web.ask("POST", "/v1/commands", [good, {forbidden: fields}], self.ann.token)
                expect(answer, 403, "commandNotAllowed", f"{forbidden} {fields}", line=2)
        for unknown in ("eraseUser", "erase", "RegisterUser", "registeruser", "import", "userErased", "contentErased", "messagePosted", "\u0072egisterUser\u0000", ""):
            expect(self.web.ask("POST", "/v1/commands", {unknown: {"user": self.ann.id}}, self.ann.token), 400, None, f"the command {unknown!r}")
        for more in ({"imported": True}, {"sentAt": "2026-11-21T05:03:12.123Z"}, {"subject": "x"}, {"origin": "x"}, {"position": 1}):
            expect(self.web.ask("POST", "/v1/commands", {"postMessage": {"thread": "SW1A", "body": "forged"}, **more}, self.ann.token), 400, "unknownField", f"a command with {more}")
            expect(self.web.ask("POST", "/v1/commands", {"postMessage": {"thread": "SW1A", "body": "forged", **more}}, self.ann.token), 400, "unknownField", f"a command with {more}")
        events = self.server.events()
        if len(events) != before:
            raise Failed(f"forged commands were executed: {events[before:]}")
        expect(self.web.ask("POST", "/v1/commands", {"leaveThread": {"thread": "M1", "user": self.ann.id.upper()}}, self.ann.token), 200, what="the own id in upper case")
        return f"{count} forged commands, nothing executed"

    def attack_tokens(self):
        token = self.ann.token
        for wrong in (token[:-1], token + "A", token.swapcase(), token + "=", "", " " + token[1:], token.replace(token[5], "+"), "x" * 8000, token[:21] + "\xff" + token[22:]):
            for header in (f"Authorization: Bearer {wrong}", f"Cookie: chat-session={wrong}", f"Cookie: __Host-chat-session={wrong}"):
                answer, _, _ = exchange(self.server.port, self.request(token=False, headers=[header, "Connection: close"]))
                # A token that is too long for the library ends the connection.
                if statuses(answer) != [401] and not (len(wrong) > 1000 and statuses(answer) in ([], [431])):
                    raise Failed(f"{header[:100]}: {answer!r}")
        for target in (f"/v1/me?token={token}", f"/v1/me?access_token={token}"):
            answer, _, _ = exchange(self.server.port, self.request(target=target, token=False, headers=["Connection: close"]))
            if statuses(answer) != [401]:
                raise Failed(f"a token in the query: {answer!r}")
        return "27 wrong tokens are 401"

    # Accounts

    def attack_enumeration(self):
        """Known and unknown people have the same answers; the times are printed, not checked."""
        found = []
        for target, body in (("/v1/sign-in", {"password": "wrong password"}), ("/v1/forgot-password", {}), ("/v1/resend-code", {}),
                             ("/v1/sign-up", {"username": "Eve", "password": PASSWORD}), ("/v1/confirm", {"code": "000000"}), ("/v1/reset-password", {"code": "000000", "password": PASSWORD})):
            answers, times, known = {}, {}, self.server.person(self.web).email
            for email in (known, "unknown-{}@example.org"):
                for number in range(4):
                    start = time.perf_counter()
                    answer = self.web.ask("POST", target, {"email": email.format(f"{target[4:]}-{number}"), **body}, headers=self.server.from_elsewhere())
                    times.setdefault(email, []).append(time.perf_counter() - start)
                    answers.setdefault(email, set()).add((answer.status, str([item for item in answer.headers if item[0] != "Date"]), answer.body))
            first, second = answers.values()
            if first != second or len(first) != 1:
                raise Failed(f"{target}: a known address has {first}, an unknown one {second}")
            found.append(f"{target[4:]} {statistics.median(times[known]) * 1000:.0f} and {statistics.median(times['unknown-{}@example.org']) * 1000:.0f} ms")
        return "same answers; known and unknown: " + ", ".join(found)

    def attack_sign_ins(self):
        """1,000 sign-ins at once: each is answered, and other requests are not delayed for long."""
        counts, faults, lock = {}, [], threading.Lock()

        def work(number):
            try:
                with Connection(self.server.port, self.document) as web:
                    for each in range(2):
                        answer = web.ask("POST", "/v1/sign-in", {"email": f"nobody-{number}-{each}@example.org", "password": "wrong password"}, headers=self.server.from_elsewhere())
                        with lock:
                            counts[answer.status] = counts.get(answer.status, 0) + 1
            except Exception as fault:  # raised again in the main thread
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(500)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        delays, memory = [], 0
        with Connection(self.server.port) as web:
            while not delays or any(thread.is_alive() for thread in threads):
                begin = time.perf_counter()
                web.execute({"postMessage": {"thread": "SW1A", "body": "meanwhile"}}, self.ann.token)
                delays.append(time.perf_counter() - begin)
                memory = max(memory, self.server.memory())
                time.sleep(0.01)
        seconds = time.monotonic() - start
        if faults:
            raise faults[0] if isinstance(faults[0], Failed) else Failed(f"a sign-in has no answer: {faults[0]!r}")
        if set(counts) - {401, 429, 503}:
            raise Failed(f"1,000 sign-ins: {counts}")
        if memory > self.memory + MEMORY_LIMIT:
            raise Failed(f"1,000 sign-ins: the memory is {memory >> 10} MiB")
        delays.sort()
        return f"{counts} in {seconds:.1f} s; meanwhile {len(delays)} posts, median {delays[len(delays) // 2] * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms, {memory >> 10} MiB"

    # Resources

    def attack_many_idle(self):
        connections = []
        try:
            # This program and the server have a descriptor for each.
            for _ in range(min(self.idle, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 600)):
                connections.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE))
            self.healthy("many_idle")
            return f"{len(connections)} idle connections"
        except OSError as error:
            raise Failed(f"{len(connections)} idle connections: {error}") from error
        finally:
            for connection in connections:
                connection.close()

    def begin_slow_reader(self):
        """A follower that does not read while other attacks run."""
        self.slow_thread = identifier()
        self.web.execute({"openThread": {"thread": self.slow_thread, "name": "Slow"}}, self.ann.token)
        self.slow_reader = Stream(self.server.port, self.ann.token, thread=self.slow_thread, connect=False)
        self.slow_reader.connect(receive_buffer=4096)
        self.slow_reader.opened()
        # More than the system keeps for a connection.
        kept = int(WRITE_LIMIT.read_text().split()[2]) if WRITE_LIMIT.exists() else 4 << 20
        self.slow_sent = []
        for _ in range(2 + 2 * kept // 960_000):
            answers = self.web.post("/v1/commands", [{"postMessage": {"thread": self.slow_thread, "body": "x" * 16_000}}] * 60, self.ann.token)
            self.slow_sent += [answer["positions"][0] for answer in answers]
        self.slow_end = []
        self.slow_waiter = threading.Thread(target=self.wait_and_read, daemon=True)
        self.slow_waiter.start()

    def wait_and_read(self):
        """Reads as soon as the server has given up, because it ends a connection that is silent for long."""
        try:
            deadline = time.monotonic() + PATIENCE
            while not self.server.metric(self.metrics, 'chat_server_streams_ended_total{reason="lagged"}'):
                if time.monotonic() > deadline:
                    raise Failed(f"a follower that does not read was not ended in {PATIENCE} s")
                time.sleep(0.2)
            memory = self.server.memory()
            stream, sent, got, ends = self.slow_reader, self.slow_sent, [], []
            while len(got) < len(sent) and len(ends) < 10:
                while not stream.ended and len(got) + stream.count < len(sent):
                    if not stream.read(PATIENCE):
                        raise Failed(f"a slow follower has {len(got) + stream.count} of {len(sent)} events, and no more arrive")
                got += [event["position"] for event in stream.events()]
                ends.append(stream.blocks[-1][1] if stream.ended else "complete")
                stream.close()
                stream = Stream(self.server.port, self.ann.token, thread=self.slow_thread, last=stream.last)
            stream.close()
            # On a slow machine the connection may have ended before the last block could be read.
            if got != sent or ends[0] not in ("lagged", "message"):
                raise Failed(f"a slow follower got {len(got)} of {len(sent)} events, its connections ended with {ends}")
            self.slow_end.append(f"{len(sent)} messages of 16 kB, all delivered in order, connections: {', '.join(ends)}; "
                                 f"{memory >> 10} MiB before it reads")
        except Exception as fault:  # raised again in the main thread
            self.slow_end.append(fault)

    def attack_slow_reader(self):
        """The follower that does not read is told that it lags; after that it continues, and nothing is missing."""
        self.slow_waiter.join()
        if isinstance(self.slow_end[0], Exception):
            raise self.slow_end[0] if isinstance(self.slow_end[0], Failed) else Failed(f"a follower that does not read: {self.slow_end[0]!r}")
        return self.slow_end[0]

    # After the server has ended

    def log(self):
        """No token, password, address, code or text is in the log."""
        text = self.server.log_text()
        if "/v1/me" not in text:
            raise Failed(f"the log has no requests: {text[:500]}")
        secrets = {**self.secrets, "a token": self.ann.token, "another token": self.bob.token, "an address": "@example.org", "a password": PASSWORD, "a wrong password": "wrong password",
                   "a text": "the secret of Ann", "a name": '"Ann"', "a resume token": "ct1-", "a wrong token": "A" * 43}
        patterns = {what: re.escape(secret) for what, secret in secrets.items()} | {"a network address": r"\b10\.[0-9]+\.[0-9]+\.[0-9]+\b"}
        for line in text.splitlines():
            for what, pattern in patterns.items():
                if re.search(pattern, line):
                    raise Failed(f"{what} is in the log: {line[:500]}")

    def without_proxy(self):
        """Without --trust-proxy, X-Forwarded-For does not change the address that the limits count."""
        with Server(self.tool, self.scratch / "without-proxy", trust=False) as server, server.connection(self.document) as web:
            ask = lambda number, address: web.ask("POST", "/v1/confirm", {"email": f"nobody-{number}@example.org", "code": "000000"},
                                                  headers=[("X-Forwarded-For", address), ("Forwarded", f"for={address}")]).status
            limited = [ask(number, f"10.1.2.{number}") for number in range(60)].count(429)
            # Loopback has a higher limit than 60, other addresses a lower one than 40.
            if not limited and 429 in [ask(number, "10.1.2.3") for number in range(40)]:
                raise Failed("X-Forwarded-For is believed without --trust-proxy")


def check(tool, scratch, document, idle):
    Hostile(tool, scratch, document, idle).run()
