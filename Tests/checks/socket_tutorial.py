"""`/chat` in the bytes of the SwiftUI tutorials.

Their app sends the text of `JSONEncoder` for `struct SubmittedChatMessage { let message, user: String; let userID: UUID }`
and decodes `struct ReceivingChatMessage { let date: Date; let id: UUID; let message, user: String; let userID: UUID }`
with `JSONDecoder`, both with their defaults: a date is a number of seconds since 2001, a UUID is in upper case, and the
fields have no order.
"""

import hashlib
import json
import re
import subprocess
import threading
import time
import uuid

from program import expect
from socket_client import BINARY, PATIENCE, TEXT, Failed, Handshake, Refused, Server, frame

THREAD = "Tutorial"
EPOCH = 978_307_200
UPPER = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")


def derived(purpose, name):
    """The id of the thread or a user of the tutorials' chat: UUID version 8 from SHA-256, as the server documents it."""
    bits = int.from_bytes(hashlib.sha256(f"chat-journal tutorial {purpose} {name}".encode()).digest()[:16], "big")
    bits = bits & ~(0xF << 76) | 8 << 76
    return str(uuid.UUID(int=bits & ~(3 << 62) | 2 << 62))


class App:
    """The tutorial's app: one person, one connection."""

    def __init__(self, server, user, identity=None, headers=()):
        self.user, self.identity = user, identity or str(uuid.uuid4()).upper()
        self.web_socket = server.socket(None, path="/chat", headers=headers)
        self.received = []

    def encoded(self, message):
        """Returns the bytes of `JSONEncoder`: no spaces, slashes escaped, other characters as they are."""
        fields = {"user": self.user, "message": message, "userID": self.identity}
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).replace("/", "\\/").encode()

    def say(self, message):
        self.web_socket.send(frame(TEXT, self.encoded(message)))

    def receive(self):
        """Decodes as `JSONDecoder` does with the tutorial's struct."""
        value = json.loads(self.web_socket.text())
        expect(sorted(value) == ["date", "id", "message", "user", "userID"], f"fields of {value}")
        expect(type(value["date"]) in (int, float) and abs(value["date"] + EPOCH - time.time()) < 3_600, f"the date of {value}")
        expect(UPPER.fullmatch(value["id"]) and UPPER.fullmatch(value["userID"]), f"the ids of {value}")
        expect(isinstance(value["message"], str) and isinstance(value["user"], str), f"the texts of {value}")
        self.received.append(value)
        return value

    def until(self, message):
        while self.receive()["message"] != message:
            pass
        return self.received

    def close(self):
        self.web_socket.leave()


def conversation(server):
    ann, bob = App(server, "Ann"), App(server, "Bob")
    before = time.time()
    texts = ["hello", "caf\u00e9 \U0001f95b / \\ \" \u2028", "<b>bold</b>", "line\nbreak\ttab", "x" * 16_000]
    for index, text in enumerate(texts):
        (ann, bob)[index % 2].say(text)
        seen = [app.receive() for app in (ann, bob)]
        expect(seen[0] == seen[1] and seen[0]["message"] == text, f"{text[:40]!r}: {str(seen)[:400]}")
        sender = (ann, bob)[index % 2]
        expect((seen[0]["user"], seen[0]["userID"]) == (sender.user, sender.identity), f"the sender: {str(seen)[:300]}")
        expect(before - 2 <= seen[0]["date"] + EPOCH <= time.time() + 2, f"the date: {seen[0]['date']}")
    expect(len({value["id"] for value in ann.received}) == len(texts), "an id is used twice")
    # A text in fragments and a binary message are the same message (URLSessionWebSocketTask can send `.data`).
    data = ann.encoded("as data")
    ann.web_socket.send(frame(BINARY, data))
    data = ann.encoded("in fragments")
    ann.web_socket.send(frame(TEXT, data[:20], fin=False) + frame(0, data[20:]))
    for app in (ann, bob):
        app.until("in fragments")
    # A userID in lower case is the same one.
    small = App(server, "Ann", ann.identity.lower())
    small.until("in fragments")
    expect(small.received == ann.received, "the history differs from what was received live")
    small.say("from lower case")
    for app in (ann, bob, small):
        expect(app.until("from lower case")[-1]["userID"] == ann.identity, "the userID of the lower case")
    small.close()
    print(f"tutorial: {len(ann.received)} messages to everyone with the fields, dates and ids of JSONEncoder; history first")
    return ann, bob


def malformed(ann, bob):
    identity = ann.identity
    wrong = ["", "x", "{}", "[]", "null", '{"message":"no","user":"Ann"}', f'{{"message":"no","user":"","userID":"{identity}"}}',
             f'{{"message":"","user":"Ann","userID":"{identity}"}}', f'{{"message":"   ","user":"Ann","userID":"{identity}"}}',
             '{"message":"no","user":"Ann","userID":"1"}', '{"message":"no","user":"Ann","userID":""}',
             f'{{"message":1,"user":"Ann","userID":"{identity}"}}', f'{{"message":"no","user":"Ann","userID":"{identity}","more":"x"}}',
             f'{{"message":"no","user":"Ann","userID":"{{{identity}}}"}}', f'{{"message":"no","message":"no","user":"Ann","userID":"{identity}"}}',
             f'{{"message":"{"x" * 16_385}","user":"Ann","userID":"{identity}"}}', f'{{"message":"no","user":"{"n" * 2_000}","userID":"{identity}"}}',
             f'{{"message":"no","user":"\\u0000","userID":"{identity}"}}', '{"message":"\\ud800","user":"Ann","userID":"' + identity + '"}',
             f'{{"id":1,"commands":{{"postMessage":{{"thread":"{THREAD}","body":"no"}}}}}}']
    for text in wrong:
        ann.web_socket.say(text)
    ann.say("after what is wrong")
    for app in (ann, bob):
        count = len(app.received)
        app.until("after what is wrong")
        expect(len(app.received) == count + 1, f"a malformed message was posted: {app.received[count:]}")
    print(f"tutorial: {len(wrong)} malformed messages have no effect, and the connection goes on")


def without_a_gap(server, ann, bob):
    """Connections that begin while others post have each message once, in the one order."""
    count, late, failures = 60, [], []
    ends = threading.Event()

    def connect():
        try:
            while not ends.is_set():
                late.append(App(server, f"Late {len(late)}"))
                ends.wait(0.05)
        except (Failed, OSError) as error:
            failures.append(error)

    def write(app, name):
        for number in range(count):
            app.say(f"{name} {number}")
    threads = [threading.Thread(target=connect)] + [threading.Thread(target=write, args=pair) for pair in ((ann, "a"), (bob, "b"))]
    for thread in threads:
        thread.start()
    expected = {f"{name} {number}" for name in "ab" for number in range(count)}
    for app in (ann, bob):
        while not expected <= {value["message"] for value in app.received}:
            app.receive()
    ends.set()
    for thread in threads:
        thread.join()
    expect(not failures, f"a connection that begins later: {failures}")
    expect([value for value in ann.received if value["message"] in expected] == [value for value in bob.received if value["message"] in expected],
           "two connections have another order")
    for name in "ab":
        order = [value["message"] for value in ann.received if value["message"].startswith(name + " ")]
        expect(order == [f"{name} {number}" for number in range(count)], f"the messages of {name} are not in order")
    for app in late:
        while len(app.received) < len(ann.received):
            app.receive()
        expect(app.received == ann.received, "a later connection has another history")
        app.close()
    print(f"tutorial: {len(late)} connections that began while {2 * count} messages were posted: history and live without a gap, each message once")


def names(server, ann):
    """Names that clash get a suffix; a person is their userID."""
    person, = server.people_named("Clara")
    clash, other, with_account = App(server, "Ann"), App(server, "Nora"), App(server, "Clara")
    second = App(server, "Nora", other.identity)
    for app, text in ((clash, "another Ann"), (with_account, "a Clara without an account"), (other, "first of Nora"), (second, "second of Nora")):
        app.say(text)
        ann.until(text)
    found = {value["message"]: value for value in ann.received}
    expect(found["another Ann"]["user"].startswith("Ann~") and found["another Ann"]["userID"] == clash.identity, f"{found['another Ann']}")
    expect(found["a Clara without an account"]["user"].startswith("Clara~"), f"{found['a Clara without an account']}")
    expect({found[text]["user"] for text in ("first of Nora", "second of Nora")} == {"Nora"}, "two connections of one userID have two names")
    renamed = App(server, "Eleonora", other.identity)
    renamed.say("a new name")
    expect(ann.until("a new name")[-1]["user"] == "Eleonora", f"{ann.received[-1]}")
    tilde = App(server, "til~de")
    tilde.say("with a tilde")
    expect(ann.until("with a tilde")[-1]["user"] == "til~de", f"{ann.received[-1]}")
    for app in (clash, other, with_account, second, renamed, tilde):
        app.close()
    print("tutorial: names that clash, also with an account, get a suffix; two connections of one userID are one person")
    return person, tilde.identity


def out_of_reach(server, person, ann):
    """No account can read, join or act in the thread."""
    thread, host, user = derived("thread", THREAD), derived("host", THREAD), derived("user", ann.identity)
    message = ann.received[0]["id"].lower()
    for target in ("", "/timeline", "/members", "/residents", "/roles", "/pins", "/sanctions", "/reports", "/invitations"):
        for name in (thread, thread.upper()):
            server.get(f"/v1/threads/{name}{target}", person.token, 404)
    for target in (f"/v1/messages/{message}", f"/v1/messages/{message}/replies", f"/v1/events?thread={thread}"):
        server.get(target, person.token, 404)
    expect(thread not in json.dumps(server.get("/v1/threads?limit=200", person.token)), "the thread is listed")
    expect(not server.get("/v1/invitations", person.token)["items"], "an invitation")
    commands = [{"joinThread": {"thread": thread}}, {"invite": {"thread": thread, "user": person.id}}, {"acceptInvitation": {"thread": thread}},
                {"postMessage": {"thread": thread, "body": "x"}}, {"markRead": {"thread": thread, "upTo": 1}}, {"leaveThread": {"thread": thread}},
                {"reply": {"message": message, "body": "x"}}, {"edit": {"message": message, "body": "x"}}, {"retract": {"message": message}},
                {"remove": {"message": message, "reason": "x"}}, {"report": {"message": message, "reason": "x"}}, {"pin": {"message": message}},
                {"lockThread": {"thread": thread}}, {"closeThread": {"thread": thread}},
                {"setThreadPolicy": {"thread": thread, "policy": "open"}}, {"renameThread": {"thread": thread, "name": "x"}},
                {"setRole": {"thread": thread, "user": person.id, "role": "owner"}}, {"ban": {"thread": thread, "user": user, "reason": "x"}},
                {"removeMember": {"thread": thread, "user": user, "reason": "x"}}]
    for command in commands:
        answer = server.post("/v1/commands", command, person.token)
        # To leave a thread without being in it has no effect anywhere.
        expect("rejection" in answer or not answer["events"] and "leaveThread" in command, f"{command}: {answer}")
        expect(THREAD not in json.dumps(answer) and host not in json.dumps(answer), f"{command}: {answer}")
    answer = server.post("/v1/commands", {"openThread": {"thread": thread, "name": THREAD}}, person.token)
    expect("rejection" in answer, f"the thread opened again: {answer}")
    for acting in (host, user):
        status, _, value = server.ask("POST", "/v1/commands", {"invite": {"thread": thread, "user": person.id, "by": acting}}, person.token)
        expect(status == 403 and value["code"] == "anotherUser", f"as {acting}: {status} {value}")
    # Nor does a follower of everything get an event of it.
    with server.socket(person) as follower:
        start = follower.hello()["token"]
        follower.ask({"id": 1, "follow": {}})
        ann.say("not for accounts")
        ann.until("not for accounts")
        server.execute({"postMessage": {"thread": "SW1A", "body": "a mark"}}, person.token)
        seen = follower.until(lambda value: value.get("event", {}).get("messagePosted", {}).get("body") == "a mark")
        expect(len(seen) == 1, f"a follower of everything got {seen}")
        expect(follower.ask({"id": 2, "follow": {"thread": thread, "after": start}})["problem"]["code"] == "notFound", "the thread can be followed")
        follower.leave()
    print(f"tutorial: no account reads the thread (13 requests, a follow) or acts in it ({len(commands)} commands)")


def pacing(server):
    """Who floods is slowed down and loses nothing; another person's message comes while 40 of theirs wait all the time."""
    flooder, other = App(server, "Flooder"), App(server, "Quick")
    start, delay, failures = time.monotonic(), [], []

    def talk():
        try:
            other.say("in between")
            other.until("in between")
            delay.append(time.monotonic() - start)
        except (Failed, OSError) as error:
            failures.append(error)
    thread, sent, back = threading.Thread(target=talk), 0, 0
    while back < sent or sent == 0:
        # It ends when the other message has come, or has failed to come.
        while sent - back < 40 and not delay and not failures:
            flooder.say(f"flood {sent}")
            sent += 1
        if thread.ident is None:
            thread.start()
        back += flooder.receive()["message"].startswith("flood")
    thread.join()
    expect(not failures, f"another person waits for who floods: {failures}")
    order = [value["message"] for value in flooder.received if value["message"].startswith("flood")]
    expect(order == [f"flood {number}" for number in range(sent)], "a message of who floods is lost")
    # A reset while the server does not receive from the client.
    for number in range(60):
        flooder.say(f"reset {number}")
    flooder.web_socket.abort()
    other.close()
    print(f"tutorial: {sent} messages, 40 at once, are paced and complete; another person's came back after {delay[0] * 1000:.0f} ms")


def restarted(server, before, tilde):
    """After a restart, and after SIGKILL, the same history, with the present name of each person."""
    names = {value["userID"]: value["user"] for value in before}
    before = [{**value, "user": names[value["userID"]]} for value in before]
    for end in (server.stop, server.kill):
        end()
        server.start()
        app = App(server, "Later")
        while len(app.received) < len(before):
            app.receive()
        differences = [pair for pair in zip(app.received, before) if pair[0] != pair[1]]
        expect(not differences, f"the history differs after a restart: {differences[:3]}")
        again = App(server, "til~de", tilde)
        again.say("with a tilde, again")
        expect(app.until("with a tilde, again")[-1]["user"] == "til~de", f"the name after a restart: {app.received[-1]}")
        before = app.received
        again.close()
        app.close()
    print(f"tutorial: {len(before)} messages, the same after SIGTERM and after SIGKILL")


def refusals(tool, scratch, server):
    """Off without the option; on loopback only; no page of another origin."""
    for headers, status in (([("Origin", "https://evil.example")], 403), ([("X-Forwarded-For", "10.1.2.3")], 404), ([("Host", "evil.example")], 421)):
        handshake = Handshake(server.port, "/chat")
        for name, value in headers:
            handshake.replacing(name, value)
        try:
            server.socket(None, handshake=handshake).socket.close()
        except Refused as refusal:
            expect(refusal.status == status, f"{headers}: {refusal}")
        else:
            raise Failed(f"{headers}: a socket")
    with Server(tool, scratch / "off") as other:
        try:
            other.socket(None, path="/chat").socket.close()
        except Refused as refusal:
            expect(refusal.status == 404, f"without the option: {refusal}")
        else:
            raise Failed("/chat exists without the option")
    beyond = Server(tool, scratch / "beyond", "--tutorial-chat", THREAD, "--origin", "https://chat.example")
    command = beyond.command()
    command[command.index("--listen") + 1] = f"0.0.0.0:{beyond.port}"
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    expect(done.returncode not in (0, None) and b"tutorial" in done.stderr.lower() and not done.stdout, f"beyond loopback: {done}")
    process = subprocess.Popen([*command, "--tutorial-chat-public"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        expect(process.stdout.readline().startswith(b"http://"), "a public chat does not start")
        handshake = Handshake(beyond.port, "/chat").replacing("Host", "chat.example").replacing("X-Forwarded-For", "10.1.2.3")
        with beyond.socket(None, handshake=handshake) as web_socket:
            web_socket.leave()
    finally:
        process.terminate()
        expect(process.wait(PATIENCE) == 0, "a public chat does not end")
        process.stdout.close()
    outward = Server(tool, scratch / "outward", "--tutorial-chat", "SW1A")
    done = subprocess.run(outward.command(), capture_output=True, timeout=PATIENCE, check=False)
    expect(done.returncode != 0 and done.stderr, f"an outward code as the thread: {done}")
    print("tutorial: 404 without the option and beyond loopback, 403 for another origin; the start is refused beyond loopback and for an outward code")


def check(tool, scratch):
    with Server(tool, scratch, "--tutorial-chat", THREAD) as server:
        ann, bob = conversation(server)
        malformed(ann, bob)
        without_a_gap(server, ann, bob)
        person, tilde = names(server, ann)
        out_of_reach(server, person, ann)
        pacing(server)
        refusals(tool, scratch, server)
        ann.say("the last one")
        ann.until("the last one")
        ann.web_socket.socket.close()
        bob.web_socket.socket.close()
        restarted(server, ann.received, tilde)
