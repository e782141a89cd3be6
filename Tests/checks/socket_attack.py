"""Clients that attack `/v1/socket`. Others get their answers meanwhile, and the memory of the server is bounded."""

import json
import re
import select
import socket
import threading
import time
import urllib.request

from ports import free_port
from program import expect
from socket_client import CLOSE, CONTINUATION, PATIENCE, PING, PONG, TEXT, Failed, Handshake, Refused, Server, frame

POSTCODE = "SW1A"
TEXTS = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "'; DROP TABLE users; --", "\"\\/\b\f\n\r\t",
         "\u0000\u0001\u001f\u007f", "\u001b[31mred\u001b[0m", "\u202e\u2066reversed\u2069", "line\u2028paragraph\u2029", "\ufeffbom", "\ufffe\uffff",
         "&lt;b&gt; &amp; ]]>", "event: lagged\ndata: {}\n\n", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301\u0301\u0301", "%s%n{0}$(id)`id`"]


def post(body, thread=POSTCODE):
    return {"postMessage": {"thread": thread, "body": body}}


class Bystander:
    """A person who talks over a socket all the time; remembers the longest time of an answer."""

    def __init__(self, server, person):
        self.web_socket = server.socket(person)
        self.web_socket.hello()
        self.longest, self.count, self.error = 0.0, 0, None
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.ends.is_set():
                start = time.monotonic()
                self.web_socket.ask({"id": self.count, "unfollow": 1})
                self.count += 1
                self.longest = max(self.longest, time.monotonic() - start)
                self.ends.wait(0.02)
        except (Failed, OSError) as error:
            self.error = error

    def stop(self):
        self.ends.set()
        self.thread.join()
        expect(self.error is None, f"a bystander was disturbed: {self.error}")
        self.web_socket.leave()


def pump(web_socket, data, seconds=PATIENCE):
    """Sends bytes without reading, until the server takes no more for some time; returns the number of bytes taken."""
    sent = 0
    # A pong between the parts of a frame would break it.
    web_socket.answers_pings = False
    web_socket.socket.setblocking(False)
    view, poll = memoryview(data), select.poll()
    poll.register(web_socket.socket, select.POLLOUT)
    while sent < len(data) and poll.poll(seconds * 1_000):
        try:
            sent += web_socket.socket.send(view[sent:sent + (1 << 18)])
        except BlockingIOError:
            pass
        except OSError:
            break
    web_socket.socket.settimeout(PATIENCE)
    return sent


def bounded(server, name, growth, act):
    """Compares the highest memory of the server with that before; `growth` is in MiB.

    What a client sends would take several times `growth` if it were kept; the allocator and other clients take some of it.
    """
    before = server.memory()
    peak = [before]
    ends = threading.Event()

    def watch():
        while not ends.wait(0.05):
            peak[0] = max(peak[0], server.memory())
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        note = act()
    finally:
        ends.set()
        thread.join()
    grown = (max(peak[0], server.memory()) - before) / 1_024
    expect(grown <= growth, f"{name}: the memory of the server grew by {grown:.0f} MiB, more than {growth} MiB")
    print(f"attack: {name}: {note}; memory {grown:+.1f} MiB")


def byte_fragments(server, person):
    def act():
        # 1 MiB in fragments of a byte: whatever is kept for each fragment is kept a million times.
        with server.socket(person) as web_socket:
            web_socket.hello()
            piece = b"".join([frame(CONTINUATION, b" ", fin=False)] * 20_000)
            data = frame(TEXT, b" ", fin=False) + piece * 52
            sent = pump(web_socket, data)
            expect(sent == len(data), f"{sent} bytes of {len(data)} were taken")
            web_socket.send(frame(PING, b"alive"))
            expect(web_socket.next() == (PONG, b"alive"), "the ping was not answered")
            web_socket.send(piece)
            code, _ = web_socket.wait_for_end()
            expect(code == 1009, f"the fragments ended with {code}")
            return f"1,040,000 fragments of a byte ({len(data) >> 20} MiB), then 1009"
    bounded(server, "endless fragments of a byte", 48, act)


def large_fragments(server, person):
    def act():
        with server.socket(person) as web_socket:
            web_socket.hello()
            sent = pump(web_socket, frame(TEXT, b"x", fin=False) + frame(CONTINUATION, b"y" * 65_536, fin=False) * 3_000)
            code, _ = web_socket.wait_for_end()
            expect(code == 1009, f"the fragments ended with {code}")
            return f"{sent >> 20} MiB of fragments of 64 KiB were taken, then 1009"
    bounded(server, "endless fragments", 64, act)


def empty_fragments(server, person):
    def act():
        with server.socket(person) as web_socket:
            web_socket.hello()
            data = frame(TEXT, b"", fin=False) + frame(CONTINUATION, b"", fin=False) * 1_000_000
            sent = pump(web_socket, data)
            web_socket.send(frame(CONTINUATION, b'{"id":5,"unfollow":1}'))
            expect(web_socket.json()["id"] == 5, "no answer after empty fragments")
            return f"{sent >> 20} MiB of empty fragments were taken, and the message was answered"
    bounded(server, "endless empty fragments", 48, act)


def announced_lengths(server, person):
    def act():
        sockets = [server.socket(person) for _ in range(300)]
        for web_socket in sockets:
            web_socket.hello()
            web_socket.answers_pings = False
            web_socket.send(frame(TEXT, b"{", form=64, length=1 << 20))
        # One thread of the server receives from all of them: after this answer it has received the bytes above.
        with server.socket(person) as last:
            last.hello()
            last.ask({"id": 1, "unfollow": 1})
        for web_socket in sockets:
            web_socket.abort()
        return "300 frames that announce 1 MiB, of which a byte comes"
    bounded(server, "announced lengths", 64, act)


def held_parts(server, person):
    """Parts of messages that are never complete: the first ones are ended, and others still send messages of 1 MiB."""
    def act():
        part = frame(TEXT, b'{"id":7,"unfollow":1}' + b" " * 1_000_000, fin=False)
        sockets = [server.socket(person) for _ in range(300)]
        for web_socket in sockets:
            web_socket.hello()
            web_socket.send(part)
            # Only what the server has received has an order: the parts of several sockets come in any.
            web_socket.send(frame(PING, b"received"))
            expect(web_socket.next() == (PONG, b"received"), "a ping within a message was not answered")
        ended = 0
        for web_socket in sockets[:200]:
            code, texts = web_socket.wait_for_end()
            expect(code == 1013 and not texts, f"a part of a message ended with {code} after {texts}")
            ended += 1
        with server.socket(person) as other:
            other.hello()
            other.send(frame(TEXT, b'{"id":8,"unfollow":1}' + b" " * 1_000_000))
            expect(other.json()["id"] == 8, "no answer to a large message")
            other.leave()
        # The last ones have not had to make room.
        for web_socket in sockets[-20:]:
            web_socket.send(frame(CONTINUATION, b" "))
            expect(web_socket.json()["id"] == 7, "no answer to a message whose first part was kept")
        for web_socket in sockets:
            web_socket.socket.close()
        return f"300 parts of 1 MB: the first ones ended with 1013, at least {ended}; the last ones were completed and answered"
    bounded(server, "parts of messages", 192, act)


def forged_frames(server, person):
    for name, data in (("unmasked", frame(TEXT, b"x", mask=False)), ("compressed", frame(TEXT, b"\xaa\x02\x00", rsv=4))):
        with server.socket(person, headers=[("Sec-WebSocket-Extensions", "permessage-deflate")]) as web_socket:
            web_socket.hello()
            web_socket.send(data * 1_000)
            code, texts = web_socket.wait_for_end()
            expect(code == 1002 and not texts, f"{name} frames ended with {code} after {texts}")
    print("attack: unmasked and compressed frames end with 1002")


def pings(server, person):
    with server.socket(person) as web_socket:
        web_socket.hello()
        sender = threading.Thread(target=lambda: [web_socket.send(frame(PING, b"%d" % number)) for number in range(10_000)])
        sender.start()
        for number in range(10_000):
            expect(web_socket.next() == (PONG, b"%d" % number), f"pong {number}")
        sender.join()
        web_socket.leave()
    print("attack: 10,000 pings, each with its pong, in order")


def unread_pings(server, person):
    def act():
        with server.socket(person, buffer=4_096) as web_socket:
            web_socket.hello()
            sent = pump(web_socket, frame(PING, b"p" * 10) * 4_000_000, 2)
            web_socket.abort()
            return f"{sent >> 20} MiB of pings without reading a pong were taken"
    bounded(server, "pings of a client that does not read", 48, act)


def flood(server, person):
    """Messages without reading their answers: the server stops receiving, and nothing is lost when the client reads."""
    def act():
        with server.socket(person, buffer=65_536) as web_socket:
            web_socket.hello()
            one = frame(TEXT, b'{"id":7,"unfollow":1}' + b" " * 2_000)
            sent = pump(web_socket, one * 100_000, 2)
            expect(sent < 100_000 * len(one), "the server receives without an end")
            # A frame that was sent in part is completed, so that the stream of frames is whole.
            rest = (one * 2)[sent % len(one):len(one)] if sent % len(one) else b""
            sender = threading.Thread(target=lambda: web_socket.send(rest))
            sender.start()
            pause = 0
            for number in range(-(-sent // len(one))):
                start = time.monotonic()
                expect(web_socket.json()["id"] == 7, f"answer {number} of the flood")
                pause = max(pause, time.monotonic() - start)
            sender.join()
            web_socket.leave()
            return f"{sent // len(one)} messages were taken until the server stopped receiving; each was answered, the longest pause {pause * 1000:.0f} ms"
    bounded(server, "messages of a client that does not read", 64, act)


def large_messages(server, person):
    def act():
        sockets = [server.socket(person, buffer=4_096) for _ in range(8)]
        total = 0
        message = frame(TEXT, b'{"id":7,"unfollow":1}' + b" " * ((1 << 20) - 21))
        for web_socket in sockets:
            web_socket.hello()
        for web_socket in sockets:
            total += pump(web_socket, message * 32, 0.5)
        for web_socket in sockets:
            web_socket.abort()
        return f"8 connections with messages of 1 MiB: {total >> 20} MiB were taken"
    bounded(server, "large messages", 96, act)


def half_open(server, person):
    bystander = Bystander(server, person)
    start = time.monotonic()
    half = Handshake(server.port, token=person.token).bytes()
    sockets = []
    for number in range(200):
        stream = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        stream.sendall(half[:10 + number % (len(half) - 12)])
        sockets.append(stream)
    # Upgraded ones of which only half a frame comes.
    upgraded = [server.socket(person) for _ in range(50)]
    for web_socket in upgraded:
        web_socket.answers_pings = False
        web_socket.send(frame(TEXT, b"hello")[:3])
    for _ in range(5):
        with server.socket(person) as web_socket:
            web_socket.hello()
            web_socket.leave()
    bystander.stop()
    for stream in sockets:
        stream.close()
    for web_socket in upgraded:
        web_socket.abort()
    print(f"attack: 200 half-open handshakes and 50 half frames: a bystander got {bystander.count} answers, "
          f"the longest after {bystander.longest * 1000:.0f} ms, in {time.monotonic() - start:.1f} s")


def texts(server, ann, bob):
    with server.socket(ann) as writer, server.socket(bob) as reader:
        writer.hello()
        reader.hello()
        reader.ask({"id": 1, "follow": {"thread": POSTCODE}})
        accepted = 0
        for number, text in enumerate(TEXTS):
            answer = writer.ask({"id": number, "commands": post(text)})["answer"]
            if "rejection" in answer:
                raise Failed(f"{text!r}: {answer}")
            accepted += 1
            found = reader.json()["event"]["messagePosted"]["body"]
            expect(answer["events"][0]["messagePosted"]["body"] == found == text, f"{text!r} came as {found!r}")
        items = server.get(f"/v1/threads/{POSTCODE}/timeline?limit=200", bob.token)["items"]
        expect([item["body"] for item in items][-accepted:] == TEXTS, "the timeline differs")
        writer.leave()
        reader.leave()
    print(f"attack: {len(TEXTS)} texts of scripts, control and direction characters come back as they were sent")


def hijack(server, person):
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{server.port}.evil.example", "http://127.0.0.1:1"):
        for credentials in (("Cookie", f"chat-session={person.token}"), ("Authorization", f"Bearer {person.token}")):
            try:
                server.socket(None, headers=[credentials, ("Origin", origin)]).socket.close()
            except Refused as refusal:
                expect(refusal.status == 403 and json.loads(refusal.body)["code"] == "foreignOrigin", f"{refusal}")
            else:
                raise Failed(f"a page of {origin} opened a socket with the {credentials[0]} of a visitor")
    print("attack: pages of other origins with the cookie of a visitor: 403")


def outlive(server, ann, bob):
    """A client that ignores the end of its session has no effect any more, and gets nothing."""
    tokens = [server.another_session(bob) for _ in range(8)]
    sockets = [server.socket(token) for token in tokens]
    for number, (token, web_socket) in enumerate(zip(tokens, sockets)):
        web_socket.hello()
        web_socket.ask({"id": 1, "follow": {"thread": POSTCODE}})
        server.post("/v1/sign-out", None, token, 204)
        try:
            for attempt in range(3):
                web_socket.say({"id": 2 + attempt, "commands": post(f"after the session {number}")})
        except OSError:
            pass
    server.execute(post("not for an ended session"), ann.token)
    for web_socket in sockets:
        seen = []
        try:
            while True:
                seen.append(web_socket.next()[1])
        except OSError:
            pass
        text = b" ".join(seen)
        expect(b'{"end":"signed-out"}' in text and b"not for an ended" not in text, f"an ended session got {seen}")
        web_socket.socket.close()
    items = server.get(f"/v1/threads/{POSTCODE}/timeline?limit=200", ann.token)["items"]
    late = [item["body"] for item in items if item.get("body", "").startswith("after the session")]
    expect(not late, f"{len(late)} of {len(sockets)} ended sessions posted a message")
    print(f"attack: {len(sockets)} sockets that outlive their session: no command has an effect, no event is delivered")


def is_a_post(message):
    return "messagePosted" in message.get("event", {})


def is_post(body):
    """A test of a message of the server: an event that posts this text."""
    return lambda message: message.get("event", {}).get("messagePosted", {}).get("body") == body


def ban(server, ann, bob, cat):
    """Who is banned while following gets no later event of the thread; nor does a banned session find a way around."""
    thread = server.execute({"openThread": {"name": "Garden", "policy": "open"}}, ann.token)[0]["threadOpened"]["thread"]
    for person in (bob, cat):
        server.execute({"joinThread": {"thread": thread}}, person.token)
    sockets = {person: server.socket(person) for person in (bob, cat)}
    tokens = {}
    for person, web_socket in sockets.items():
        tokens[person] = web_socket.hello()["token"]
        web_socket.ask({"id": 1, "follow": {"thread": thread}})
        web_socket.ask({"id": 2, "follow": {}})
    server.execute(post("before", thread), ann.token)
    # Both follows deliver it before the ban: the server decides at the time of delivery what a person may read.
    early = {person: [socket.until(is_post("before"))[-1] for _ in range(2)] for person, socket in sockets.items()}
    server.execute({"ban": {"thread": thread, "user": bob.id, "reason": "check"}}, ann.token)
    server.execute(post("after the ban", thread), ann.token)
    server.execute(post("the end, elsewhere"), ann.token)
    for person, web_socket in sockets.items():
        bodies = ["before"] * 2 + ["after the ban"] * (0 if person is bob else 2) + ["the end, elsewhere"]
        seen = early[person]
        # The two follows are not in one order.
        while sum(map(is_a_post, seen)) < len(bodies):
            seen.append(web_socket.json())
        web_socket.say({"id": 3, "unfollow": 1})
        seen += web_socket.until(lambda message: message.get("id") == 3)
        found = [message["event"]["messagePosted"]["body"] for message in seen if is_a_post(message)]
        expect(sorted(found) == sorted(bodies), f"{person.name} got {found}")
        web_socket.say({"id": 4, "commands": post("still here", thread)})
        answer = web_socket.until(lambda message: message.get("id") == 4)[-1]["answer"]
        expect(("rejection" in answer) == (person is bob), f"{person.name} posts: {answer}")
    # Resumed from before the ban, and followed anew, by who is banned.
    for follow in ({"thread": thread}, {"thread": thread, "after": tokens[bob]}, {"after": tokens[bob]}):
        with server.socket(bob) as again:
            again.hello()
            answer = again.ask({"id": 1, "follow": follow})
            if "following" in answer:
                server.execute(post("after the ban, again", thread), ann.token)
                server.execute(post("a mark"), ann.token)
                if "after" in follow and "thread" not in follow:
                    seen = again.until(is_post("a mark"))
                    expect("after the ban" not in json.dumps(seen), f"who is banned got {seen}")
                else:
                    expect(again.is_silent(0.3) or b"after the ban" not in again.unexpected[1], f"who is banned got {getattr(again, 'unexpected', None)}")
            else:
                expect(answer["problem"]["code"] == "notFound", f"{answer}")
    for web_socket in sockets.values():
        web_socket.leave()
    print("attack: who is banned while following gets nothing later of the thread, also not after a token of before")


class Laggards:
    """Clients that do not read for longer than the server waits; begun first, because that takes half a minute."""

    def __init__(self, server, person, metrics, count=20):
        self.server, self.person, self.metrics, self.error, self.note = server, person, metrics, None, ""
        self.before = server.memory()
        self.sockets = []
        for _ in range(count):
            web_socket = server.socket(person, buffer=65_536)
            web_socket.hello()
            web_socket.ask({"id": 1, "follow": {}})
            self.sockets.append(web_socket)
        self.since = time.monotonic()
        self.sent = 0
        self.thread = threading.Thread(target=self.wait)

    def feed(self):
        """Executes commands, so that more events wait than a connection can hold."""
        for _ in range(15):
            self.server.post("/v1/commands", [post("x" * 1_000) for _ in range(400)], self.person.token)
            self.sent += 400
        grown = (self.server.memory() - self.before) / 1_024
        # The journal keeps the posts as well.
        self.thread.start()
        expect(grown < 96, f"{len(self.sockets)} clients that do not read: the memory of the server grew by {grown:.0f} MiB")
        return grown

    def wait(self):
        """Reads when the server has given up, which the metrics tell: the last message waits for some seconds only."""
        deadline = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=PATIENCE).read().decode()
                found = re.search(r'chat_server_streams_ended_total\{reason="lagged"\} ([0-9]+)', text)
                if found and int(found.group(1)) >= len(self.sockets):
                    self.read()
                    return
                time.sleep(0.2)
            raise Failed(f"clients that do not read were not ended in {time.monotonic() - self.since:.0f} s")
        except (Failed, OSError) as error:
            self.error = error

    def read(self):
        web_socket, last, events = self.sockets[0], None, 0
        token = None
        web_socket.answers_pings = False
        try:
            while True:
                opcode, payload = web_socket.next()
                if opcode == CLOSE:
                    break
                if opcode == TEXT:
                    last = json.loads(payload)
                    events += "event" in last
                    token = last.get("token", token)
        except OSError:
            pass
        told = time.monotonic() - self.since
        # On a slow machine the server may have dropped the last message before it could be read. The connection has ended.
        is_told = web_socket.close_code is not None
        expect(not is_told or last == {"end": "lagged"} and web_socket.close_code == 1001,
               f"a client that does not read was told {str(last)[:200]}, {web_socket.close_code}")
        with self.server.socket(self.person) as again:
            again.hello()
            again.say({"id": 2, "follow": {"after": token}})
            expect(again.json()["following"]["token"] == token, "the laggard cannot resume")
            for _ in range(self.sent - events):
                again.json()
            again.leave()
        for other in self.sockets[1:]:
            other.socket.close()
        self.note = f"{'told lagged' if is_told else 'ended, and too slow to be told'} after {told:.0f} s and {events} events, and resumed without a gap"

    def finish(self, grown):
        self.thread.join()
        if self.error:
            raise self.error
        print(f"attack: {len(self.sockets)} clients that do not read {self.sent} events: memory {grown:+.1f} MiB with the posts; {self.note}")


def check(tool, scratch):
    failures, longest = [], {}

    def attempt(act, *arguments):
        try:
            bystander.longest = 0
            act(*arguments)
            longest[act.__name__] = bystander.longest
        except (Failed, OSError) as error:
            failures.append(f"{act.__name__}: {type(error).__name__}: {error}")

    metrics = free_port()
    with Server(tool, scratch, "--durability", "written", "--metrics", f"127.0.0.1:{metrics}") as server:
        ann, bob, cat = server.people_named("Ann", "Bob", "Cat")
        hermit, = server.people_named("Hermit", postcode=None)
        laggards = Laggards(server, ann, metrics)
        bystander = Bystander(server, cat)
        grown = laggards.feed()
        for act in (byte_fragments, large_fragments, empty_fragments, announced_lengths, held_parts, forged_frames, pings, unread_pings, flood, large_messages,
                    half_open, hijack):
            attempt(act, server, hermit)
        attempt(texts, server, ann, bob)
        attempt(outlive, server, ann, bob)
        attempt(ban, server, ann, bob, cat)
        attempt(bystander.stop)
        name = max(longest, key=longest.get)
        print(f"attack: meanwhile a bystander got {bystander.count} answers, the longest after {longest[name] * 1000:.0f} ms (during {name})")
        attempt(laggards.finish, grown)
    if failures:
        raise Failed("\n".join(failures))
