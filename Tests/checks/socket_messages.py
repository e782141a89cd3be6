"""The messages of `/v1/socket`: answers, follows, ends of sessions, and the ends of a server."""

import json
import random
import re
import signal
import threading
import time
import uuid

from program import expect
from socket_client import EventStream, Failed, Refused, Server

POSTCODE = "SW1A"


def post(body, thread=POSTCODE, **fields):
    return {"postMessage": {"thread": thread, "body": body, **fields}}


# Answers

MALFORMED = [
    # (text, id of the answer, codes)
    ("x", None, "notJSON"), ("", None, "notJSON"), (" ", None, "notJSON"), ("{", None, "notJSON"), ('{"id":1,}', None, "notJSON"),
    ('{"id":1,"unfollow":1} x', None, "notJSON"), ("[]", None, "wrongType"), ('"x"', None, "wrongType"), ("1", None, "wrongType"),
    ("null", None, "wrongType"), ("NaN", None, "notJSON"), ("{}", None, "missingField"), ('{"unfollow":1}', None, "missingField"),
    ('{"id":1}', 1, "missingField"), ('{"id":1,"other":1}', 1, "unknownField"), ('{"id":1,"Unfollow":1}', 1, "unknownField"),
    ('{"id":1,"unfollow":1,"follow":{}}', 1, "unknownField"), ('{"id":1,"id":2,"unfollow":1}', None, "duplicateField"),
    ('{"id":1,"unfollow":1,"unfollow":1}', None, "duplicateField"), ('{"id":-1,"unfollow":1}', None, "wrongType invalidValue"),
    ('{"id":1.5,"unfollow":1}', None, "wrongType invalidValue"), ('{"id":"1","unfollow":1}', None, "wrongType"),
    ('{"id":null,"unfollow":1}', None, "wrongType invalidValue missingField"), ('{"id":[1],"unfollow":1}', None, "wrongType"),
    ('{"id":18446744073709551616,"unfollow":1}', None, "wrongType invalidValue"),
    ('{"id":18446744073709551615,"unfollow":1}', 18446744073709551615, "notFound"), ('{"id":0,"unfollow":1}', 0, "notFound"),
    ('{"unfollow":1,"id":3}', 3, "notFound"), ('{"id":1,"unfollow":"1"}', 1, "wrongType"), ('{"id":1,"unfollow":null}', 1, "wrongType invalidValue missingField"),
    ('{"id":1,"unfollow":-1}', 1, "wrongType invalidValue"), ('{"id":1,"commands":null}', 1, "wrongType invalidValue missingField"),
    ('{"id":1,"commands":5}', 1, "wrongType"), ('{"id":1,"commands":"x"}', 1, "wrongType"), ('{"id":1,"commands":{}}', 1, "missingField invalidValue"),
    ('{"id":1,"commands":[]}', 1, "invalidValue"), ('{"id":1,"commands":[1]}', 1, "wrongType"), ('{"id":1,"commands":{"dance":{}}}', 1, "unknownField"),
    ('{"id":1,"commands":{"postMessage":{"thread":"SW1A"}}}', 1, "missingField"),
    ('{"id":1,"commands":{"postMessage":{"thread":"SW1A","body":1}}}', 1, "wrongType"),
    ('{"id":1,"commands":{"postMessage":{"thread":"SW1A","body":"x","colour":"red"}}}', 1, "unknownField"),
    ('{"id":1,"commands":{"registerUser":{"username":"x"}}}', 1, "commandNotAllowed"),
    ('{"id":1,"commands":{"grantOperator":{"user":"ME"}}}', 1, "commandNotAllowed"),
    ('{"id":1,"commands":{"revokeOperator":{"user":"ME"}}}', 1, "commandNotAllowed"),
    ('{"id":1,"commands":{"postMessage":{"thread":"SW1A","body":"x","author":"OTHER"}}}', 1, "anotherUser"),
    ('{"id":1,"commands":{"setPostcode":{"user":"OTHER","postcode":"SW1A 1AA"}}}', 1, "anotherUser"),
    ('{"id":1,"commands":[{"postMessage":{"thread":"SW1A","body":"must not exist"}},{"x":{}}]}', 1, "unknownField"),
    ('{"id":1,"follow":null}', 1, "wrongType invalidValue missingField"), ('{"id":1,"follow":[]}', 1, "wrongType"), ('{"id":1,"follow":true}', 1, "wrongType"),
    ('{"id":1,"follow":{"after":1}}', 1, "wrongType"), ('{"id":1,"follow":{"after":null}}', 1, "wrongType invalidValue missingField"),
    ('{"id":1,"follow":{"colour":"red"}}', 1, "unknownField"), ('{"id":1,"follow":{"after":"x"}}', 1, "invalidToken invalidValue"),
    ('{"id":1,"follow":{"after":""}}', 1, "invalidToken invalidValue"), ('{"id":1,"follow":{"thread":"W1"}}', 1, "notFound"),
    ('{"id":1,"follow":{"thread":"nothing here"}}', 1, "notFound invalidValue"), ('{"id":1,"follow":{"thread":""}}', 1, "notFound invalidValue"),
    ('{"id":1,"follow":{"thread":"SECRET"}}', 1, "notFound"), ('{"id":1,"follow":{"thread":"SW1A","thread":"SW1A"}}', None, "duplicateField"),
    ('{"id":1,"commands":' + "[" * 600 + "]" * 600 + "}", None, "tooDeep"),
    ('{"id":1,"commands":[' + ",".join(['{"markRead":{"thread":"SW1A","upTo":0}}'] * 1_001) + "]}", 1, "tooLarge"),
]


def answers(server, people):
    ann, bob = people[0], people[1]
    secret = server.execute({"openThread": {"name": "Secret", "policy": "inviteOnly"}}, bob.token)[0]["threadOpened"]["thread"]
    with server.socket(ann) as web_socket:
        hello = web_socket.hello()
        expect(hello["version"] == 1 and hello["user"] == {"id": ann.id, "username": ann.name} and hello["token"].startswith("ct"), f"hello: {hello}")
        expect(sorted(hello) == ["token", "user", "version"], f"hello: {hello}")
        for text, number, codes in MALFORMED:
            web_socket.say(text.replace("OTHER", bob.id).replace("ME", ann.id).replace("SECRET", secret))
            answer = web_socket.json()
            problem = answer.get("problem", {})
            expect(sorted(answer) == ["id", "problem"] and answer["id"] == number and problem["code"] in codes.split(),
                   f"{text[:200]}: expected the id {number} and {codes}, got {answer}")
            expect(problem["type"] == "about:blank" and isinstance(problem["status"], int) and problem["title"] and problem["detail"],
                   f"{text[:200]}: not a problem of RFC 9457: {answer}")
            # The problem is that of the same commands over HTTP.
            if number == 1 and text.startswith('{"id":1,"commands":') and "null" not in text:
                body = json.loads(text.replace("OTHER", bob.id).replace("ME", ann.id))["commands"]
                _, _, same = server.ask("POST", "/v1/commands", body, ann.token)
                expect(same == problem, f"{text[:200]}: over HTTP {same}, here {problem}")
        timeline = server.get(f"/v1/threads/{POSTCODE}/timeline", ann.token)["items"]
        expect(not timeline, f"a malformed message had an effect: {timeline}")
        # Commands: one, a batch, a rejection, a repeat; the same objects as over HTTP.
        message = str(uuid.uuid4())
        answer = web_socket.ask({"id": 7, "commands": post("over a socket", message=message)})["answer"]
        expect(sorted(answer) == ["duplicate", "events", "line", "positions"] and not answer["duplicate"] and answer["line"] == 1, f"{answer}")
        repeated = server.post("/v1/commands", post("over a socket", message=message), ann.token)
        expect(repeated == {**answer, "duplicate": True}, f"the repeat over HTTP: {repeated}, not {answer}")
        again = web_socket.ask({"id": 7, "commands": post("over a socket", message=message)})["answer"]
        expect(again == repeated, f"the repeat on the socket: {again}")
        batch = [post("first"), post("not mine", "W1"), post("second")]
        result = web_socket.ask({"id": 9, "commands": batch})["answers"]
        expect([item["line"] for item in result] == [1, 2, 3] and "rejection" in result[1] and result[0]["events"] and result[2]["events"], f"{result}")
        same = server.post("/v1/commands", post("not mine", "W1"), ann.token)
        expect(same["rejection"] == result[1]["rejection"], f"{same}, not {result[1]}")
        one = web_socket.ask({"id": 10, "commands": [post("a batch of one")]})
        expect(list(one) == ["id", "answers"] and len(one["answers"]) == 1, f"{one}")
        thousand = web_socket.ask({"id": 11, "commands": [post(f"of a thousand: {number}") for number in range(1_000)]})["answers"]
        positions = [item["positions"][0] for item in thousand]
        expect(len(thousand) == 1_000 and positions == sorted(set(positions)), "a batch of 1,000 is not answered in order")
        web_socket.leave()
    print(f"messages: {len(MALFORMED)} malformed messages, each with its problem and id, the same as over HTTP; commands, batches and repeats")
    return hello["token"]


# Follows

def follows(server, people, start):
    ann, bob = people[:2]
    with server.socket(bob) as web_socket, server.socket(ann) as writer:
        writer.hello()
        web_socket.hello()
        for number in range(1, 17):
            answer = web_socket.ask({"id": number, "follow": {"thread": POSTCODE} if number % 2 else {}})
            expect(answer["following"]["token"].startswith("ct"), f"{answer}")
        expect(web_socket.ask({"id": 17, "follow": {}})["problem"]["code"] == "tooLarge", "a 17th follow")
        expect(web_socket.ask({"id": 3, "follow": {}})["problem"]["code"] in ("invalidQuery", "tooLarge"), "a follow with the id of another")
        expect(web_socket.ask({"id": 99, "unfollow": 3}) == {"id": 99, "unfollowed": 3}, "unfollow")
        expect(web_socket.ask({"id": 99, "unfollow": 3})["problem"]["code"] == "notFound", "unfollow twice")
        expect("following" in web_socket.ask({"id": 17, "follow": {}}), "a follow in the place of another")
        writer.ask({"id": 1, "commands": post("to all follows")})
        seen = [web_socket.json() for _ in range(16)]
        expect(sorted(item["follow"] for item in seen) == [1, 2] + list(range(4, 18)), f"16 follows: {seen}")
        expect(len({(item["token"], json.dumps(item["event"])) for item in seen}) == 1, f"the follows differ: {seen}")
        web_socket.leave()
    # While more events wait than the connection can hold, no event comes after the end of its follow.
    late = 0
    for _ in range(10):
        with server.socket(bob, buffer=4_096) as web_socket:
            web_socket.hello()
            web_socket.ask({"id": 5, "follow": {"after": start}})
            time.sleep(0.1)
            web_socket.say({"id": 6, "unfollow": 5})
            web_socket.say({"id": 7, "unfollow": 5})
            web_socket.until(lambda message: message.get("unfollowed") == 5)
            late += len(web_socket.until(lambda message: message.get("id") == 7)) - 1
            web_socket.leave()
    expect(late == 0, f"{late} events of a follow came after its unfollowed")
    print("messages: 16 follows of one connection; unfollow, also while many events wait")


def activity(server, people, count, rng, catch_up):
    """Executes commands of several people: posts, replies, edits, retractions, reads, threads, names.

    `catch_up` waits for the delivery of a message. Before a text or a name disappears, because an event has the texts that
    are current at the time of its delivery.
    """
    sockets = {person: server.socket(person) for person in people[:3]}
    messages, threads = [], [POSTCODE]
    for web_socket in sockets.values():
        web_socket.hello()
    for number in range(count):
        person = rng.choice(people[:3])
        kind = rng.choice(["post"] * 4 + ["reply", "edit", "retract", "read", "open", "name", "join"])
        mine = [message for message, author in messages if author is person]
        if kind in ("edit", "retract", "name"):
            catch_up(f"before command {number}")
        if kind == "reply" and messages:
            command = {"reply": {"message": rng.choice(messages)[0], "body": f"reply {number} <b>\u0007\u2028"}}
        elif kind == "edit" and mine:
            command = {"edit": {"message": rng.choice(mine), "body": f"edit {number}"}}
        elif kind == "retract" and mine:
            command = {"retract": {"message": mine[0]}}
        elif kind == "read":
            command = {"markRead": {"thread": POSTCODE, "upTo": number}}
        elif kind == "open":
            command = {"openThread": {"name": f"Thread {number}", "policy": rng.choice(["open", "inviteOnly"])}}
        elif kind == "name":
            command = {"changeUsername": {"username": f"{person.name} {number}"}}
        elif kind == "join":
            command = {"joinThread": {"thread": rng.choice(threads)}}
        else:
            command = post(f"message {number} \U0001f95b\"\\/\u0000", rng.choice(threads))
        answer = sockets[person].ask({"id": number, "commands": command})["answer"]
        for event in answer.get("events", []):
            if "messagePosted" in event:
                messages.append((event["messagePosted"]["message"], person))
            elif "threadOpened" in event:
                threads.append(event["threadOpened"]["thread"])
    for web_socket in sockets.values():
        web_socket.leave()


def same_events(server, people, rng):
    bob = people[1]
    with server.socket(bob) as web_socket:
        token = web_socket.hello()["token"]
        web_socket.ask({"id": 1, "follow": {}})
        web_socket.ask({"id": 2, "follow": {"thread": POSTCODE}})
        live = EventStream(server, bob.token)
        live_thread = EventStream(server, bob.token, thread=POSTCODE)
        streams, raw, streamed = {1: live, 2: live_thread}, {1: [], 2: []}, {1: [], 2: []}

        def has(texts, body):
            return texts and json.loads(texts[-1][1]).get("messagePosted", {}).get("body") == body

        def catch_up(body):
            """Posts a message, and reads both follows and both streams up to it."""
            server.execute(post(body), people[0].token)
            while not all(has(texts, body) for texts in raw.values()):
                text = web_socket.text()
                message = json.loads(text)
                raw[message["follow"]].append((message["token"], content(text)))
            for follow, stream in streams.items():
                while not has(streamed[follow], body):
                    streamed[follow].append(stream.event())
        activity(server, people, 300, rng, catch_up)
        catch_up("the last one")
        for follow, stream in streams.items():
            expect(streamed[follow] == raw[follow], f"the events of the follow {follow} and of the stream differ, from "
                   f"{next((pair for pair in zip(streamed[follow], raw[follow]) if pair[0] != pair[1]), None)}")
            stream.close()
        expect(len(raw[1]) >= len(raw[2]) > 20, f"{len(raw[1])} and {len(raw[2])} events")
        # Resumed after the token of the hello, and after some in the middle.
        for number in range(6):
            index = rng.randrange(len(raw[1]) - 1) if number else -1
            after = raw[1][index][0] if number else token
            web_socket.say({"id": 100 + number, "follow": {"after": after}})
            answer = web_socket.json()
            expect(answer["following"]["token"] == after, f"resumed after {after}: {answer}")
            resumed = EventStream(server, bob.token, after=after)
            rest = []
            while not rest or rest[-1] != raw[1][-1]:
                text = web_socket.text()
                message = json.loads(text)
                if message.get("follow") != 100 + number:
                    raise Failed(f"resumed after {after}: {text[:300]}")
                rest.append((message["token"], content(text)))
            # The same events; one whose text has changed since has no text any more.
            expect([item[0] for item in rest] == [item[0] for item in raw[1][index + 1:]], f"resumed after event {index}: {len(rest)} of {len(raw[1])}")
            expect([resumed.event() for _ in rest] == rest, f"the resumed stream after event {index} differs")
            resumed.close()
            web_socket.ask({"id": 200, "unfollow": 100 + number})
        web_socket.leave()
    print(f"messages: {len(raw[1])} events, {len(raw[2])} of one thread: the same bytes, order and tokens as SSE, live and resumed at 6 places")


def content(text):
    """The text of the event or the notice in a message of a follow."""
    member = re.search('"(event|erased|accessLost)":', text)
    return text[member.end():-1]


def gone(server, people):
    """A deletion and a removal reach the follows of the others, live and after a resume."""
    ann, bob = people[:2]
    cat = server.people_named("Cat of the sockets", postcode=None)[0]
    thread = server.execute({"openThread": {"name": "Shed"}}, ann.token)[0]["threadOpened"]["thread"]
    for person in (bob, cat):
        server.execute({"joinThread": {"thread": thread}}, person.token)
    message = server.execute({"postMessage": {"thread": thread, "body": "Words of Cat"}}, cat.token)[0]
    with server.socket(bob) as web_socket:
        token = web_socket.hello()["token"]
        web_socket.ask({"id": 1, "follow": {}})
        server.expect(204, "POST", "/v1/delete-account", {"password": cat.password}, token=cat.token)
        erased = web_socket.json()
        expect(erased["erased"] == {
            "positions": [[message["position"]] * 2], "messages": [message["messagePosted"]["message"]], "replies": [], "threads": [thread],
            "users": [cat.id], "namelessThreads": [], "namelessUsers": [cat.id]}, f"{erased}")
        web_socket.ask({"id": 2, "follow": {"after": token, "thread": thread}})
        expect(web_socket.json() == {**erased, "follow": 2}, "the follow of a thread that is resumed differs from the live one")
        web_socket.ask({"id": 3, "unfollow": 2})
        server.execute({"removeMember": {"thread": thread, "user": bob.id, "reason": "spam"}}, ann.token)
        lost = [web_socket.json(), web_socket.json()]
        expect(lost[0]["accessLost"] == {"thread": thread} and "memberRemoved" in lost[1]["event"], f"{lost}")
        # The thread can be followed to the end of the access, and not from after it. What was erased in it is nothing to Bob now.
        web_socket.ask({"id": 2, "follow": {"after": token, "thread": thread}})
        expect([web_socket.json() for _ in lost] == [{**item, "follow": 2} for item in lost], "the end of the access after a resume")
        answer = web_socket.ask({"id": 3, "follow": {"after": lost[1]["token"], "thread": thread}})
        expect(answer["problem"]["code"] == "notFound", f"{answer}")
        web_socket.leave()
    print("messages: an erasure and the loss of a thread, live and resumed")


def pipeline(server, people, count=1_000):
    ann = people[0]
    with server.socket(ann) as web_socket:
        web_socket.hello()

        def send():
            for number in range(count):
                web_socket.say({"id": number, "commands": post(f"pipelined {number}")})
        sender = threading.Thread(target=send)
        start = time.monotonic()
        sender.start()
        positions = []
        for number in range(count):
            answer = web_socket.json()
            expect(answer["id"] == number and "events" in answer["answer"], f"answer {number} of the pipeline is {answer}")
            positions.append(answer["answer"]["positions"][0])
        sender.join()
        taken = time.monotonic() - start
        expect(positions == sorted(set(positions)), "the pipelined commands are not in order")
        web_socket.leave()
    page = server.get(f"/v1/threads/{POSTCODE}/timeline?limit=200", ann.token)["items"]
    bodies = [item["body"] for item in page if item.get("body", "").startswith("pipelined")]
    expect(bodies == [f"pipelined {number}" for number in range(count - len(bodies), count)] and len(bodies) > 150, f"the timeline ends with {bodies[-5:]}")
    print(f"messages: {count} pipelined commands on one connection, answered and recorded in order, in {taken:.1f} s")


def several(server, people):
    """Every connection of a user gets what one of them posts."""
    ann, bob = people[:2]
    sockets = [server.socket(ann) for _ in range(3)] + [server.socket(server.another_session(ann)), server.socket(bob)]
    for web_socket in sockets:
        web_socket.hello()
        web_socket.ask({"id": 1, "follow": {"thread": POSTCODE}})
    bodies = [f"from connection {number}" for number in range(len(sockets))]
    for body, web_socket in zip(bodies, sockets):
        web_socket.say({"id": 2, "commands": post(body)})
    for number, web_socket in enumerate(sockets):
        seen, answered = [], False
        while len(seen) < len(bodies) or not answered:
            message = web_socket.json()
            answered = answered or message.get("id") == 2
            seen += [message["event"]["messagePosted"]["body"]] if "event" in message else []
        expect(sorted(seen) == bodies, f"connection {number} got {seen}")
        web_socket.leave()
    print(f"messages: {len(sockets)} connections of two users, each got what each has posted")


# Ends

def is_alive(web_socket):
    return web_socket.ask({"id": 1, "unfollow": 1})["problem"]["code"] == "notFound"


def must_end(web_socket, reason, name):
    code, texts = web_socket.wait_for_end()
    expect(code == 1001 and texts and json.loads(texts[-1]) == {"end": reason}, f"{name}: the socket ended with {code} after {texts[-1:]}")


def ends(server):
    # One person for each scene, because the sign-ins of an account are limited.
    fay, *cast = server.people_named("Fay", *(f"Eve {number}" for number in range(6)))

    def scene(name, act, ended):
        """Opens two sockets of each of three sessions and one of another user, acts, and compares which of them end."""
        eve = cast.pop()
        tokens = [eve.token, server.another_session(eve), server.another_session(eve)]
        sockets = {(session, number): server.socket(tokens[session]) for session in range(3) for number in range(2)}
        other = server.socket(fay)
        for web_socket in [*sockets.values(), other]:
            web_socket.hello()
        act(eve, tokens)
        for (session, _), web_socket in sockets.items():
            if session in ended:
                must_end(web_socket, "signed-out", f"{name}, session {session}")
        for (session, _), web_socket in sockets.items():
            if session not in ended:
                expect(is_alive(web_socket), f"{name}: session {session} does not answer")
                web_socket.leave()
        expect(is_alive(other), f"{name}: the socket of another user does not answer")
        other.leave()
        for session in range(3):
            try:
                with server.socket(tokens[session]) as web_socket:
                    web_socket.hello()
                    expect(session not in ended, f"{name}: a socket with the ended session {session}")
                    web_socket.leave()
            except Refused as refusal:
                expect(refusal.status == 401 and session in ended, f"{name}: {refusal}")

    def delete_session(_, tokens):
        items = server.get("/v1/sessions", tokens[0])["items"]
        current = next(item["id"] for item in server.get("/v1/sessions", tokens[1])["items"] if item["current"])
        expect(current in [item["id"] for item in items], "a session is not listed")
        server.expect(204, "DELETE", f"/v1/sessions/{current}", None, tokens[0])

    def reset_password(eve, _):
        server.expect(202, "POST", "/v1/forgot-password", {"email": eve.email}, headers=server.from_elsewhere())
        body = {"email": eve.email, "code": server.code(eve.email), "password": "another password"}
        server.expect(204, "POST", "/v1/reset-password", body, headers=server.from_elsewhere())

    def change(path, body=None):
        return lambda eve, tokens: server.post(path, body and {**body, next(iter(body)): eve.password}, tokens[0], 204)

    scene("sign-out", change("/v1/sign-out"), {0})
    scene("a deleted session", delete_session, {1})
    scene("change of the password", change("/v1/change-password", {"old": "", "new": "another password"}), {1, 2})
    scene("sign-out everywhere", change("/v1/sign-out-everywhere"), {0, 1, 2})
    scene("reset of the password", reset_password, {0, 1, 2})
    scene("deletion of the account", change("/v1/delete-account", {"password": ""}), {0, 1, 2})
    print("messages: sign-out, a deleted session, a changed and a reset password, sign-out everywhere and a deleted account end exactly their sockets")


def closing(server, people, number):
    """SIGTERM and SIGHUP end every socket with its reason, also if a client does not answer the close."""
    sockets = [server.socket(person) for person in people[:3]]
    for web_socket in sockets:
        web_socket.hello()
        web_socket.ask({"id": 1, "follow": {}})
    deaf = server.socket(people[0])
    # A socket that the server has not greeted when it closes is told the end only.
    deaf.hello()
    start = time.monotonic()
    stopper = threading.Thread(target=server.stop, kwargs={"number": number})
    stopper.start()
    for web_socket in sockets:
        must_end(web_socket, "closing", number.name)
    stopper.join()
    expect(deaf.json() == {"end": "closing"} and deaf.next()[0] == 8, "a client that does not answer is told as well")
    print(f"messages: {number.name}: every socket was told closing and 1001; the server ended with status 0 after {time.monotonic() - start:.1f} s, with a client that did not answer the close")


def kills(server, people, rng, count=3):
    """Kills the server in the middle; follower and writer continue with their last token and their unanswered message."""
    ann, bob = people[:2]
    server.start()
    token, seen, acknowledged, pending = None, [], [], None
    for number in range(count + 1):
        follower, writer = server.socket(bob), server.socket(ann)
        writer.hello()
        token = token or follower.json()["hello"]["token"]
        follower.say({"id": 1, "follow": {"after": token, "thread": POSTCODE}})
        stop, final = threading.Event(), str(uuid.uuid4())

        def write():
            nonlocal pending
            try:
                while not stop.is_set() or pending:
                    pending = pending or str(uuid.uuid4())
                    answer = writer.ask({"id": 1, "commands": post("over a kill", message=pending)})["answer"]
                    expect("events" in answer, f"{answer}")
                    acknowledged.append(pending)
                    pending = None
            except OSError:
                pass
            except Failed as error:
                failures.append(error)

        def read():
            nonlocal token
            try:
                while True:
                    message = follower.json()
                    if "event" in message:
                        token = message["token"]
                        seen.append(message["event"])
                        if message["event"].get("messagePosted", {}).get("message") == final:
                            return
                    elif set(message) != {"hello"} and set(message) != {"id", "following"}:
                        raise Failed(f"a follower got {message}")
            except (OSError, Failed) as error:
                failures.append(error)
        failures = []
        threads = [threading.Thread(target=write), threading.Thread(target=read)]
        for thread in threads:
            thread.start()
        time.sleep(rng.uniform(0.3, 0.8))
        if number < count:
            server.kill()
            for thread in threads:
                thread.join()
            expect(all(isinstance(error, OSError) for error in failures), f"{failures}")
            server.start()
        else:
            stop.set()
            threads[0].join()
            # One more, so that the follower sees the last one of the writer.
            writer.ask({"id": 2, "commands": post("the end", message=final)})
            acknowledged.append(final)
            threads[1].join()
            expect(not failures, f"{failures}")
        follower.socket.close()
        writer.socket.close()
    events, after = [], 0
    while page := server.get(f"/v1/threads/{POSTCODE}/timeline?limit=200&after={after}", bob.token)["items"]:
        events += page
        after = page[-1]["position"]
    recorded = [item["id"] for item in events if item.get("body") in ("over a kill", "the end")]
    found = [event["messagePosted"]["message"] for event in seen if "messagePosted" in event]
    expect(found == recorded, f"the follower saw {len(found)} messages, {len(recorded)} are recorded; first difference "
           f"{next((pair for pair in zip(found, recorded) if pair[0] != pair[1]), None)}")
    expect(acknowledged == [message for message in recorded if message in set(acknowledged)] and len(set(recorded)) == len(recorded), "an answered message is lost or twice")
    print(f"messages: {count} times SIGKILL: {len(found)} messages resumed without a gap, each once, in the recorded order")


def check(tool, scratch):
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"messages: seed {seed}")
    rng = random.Random(seed)
    with Server(tool, scratch) as server:
        people = server.people_named("Ann", "Bob", "Cat")
        start = answers(server, people)
        follows(server, people, start)
        same_events(server, people, rng)
        gone(server, people)
        pipeline(server, people)
        several(server, people)
        ends(server)
        closing(server, people, signal.SIGTERM)
        server.start()
        closing(server, people, signal.SIGHUP)
        kills(server, people, rng)
