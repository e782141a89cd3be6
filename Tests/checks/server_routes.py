"""Exercises every operation of the OpenAPI document: successes and problems, each compared with the document."""

import gzip
import json
import time

from server_client import PASSWORD, Failed, Stream, identifier

JSON = ("Content-Type", "application/json")
# Without these statuses: they need a broken disk, an overload or a server that ends.
UNREACHED = {500, 503}
HANDSHAKE = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
DEEP = b"[" * 10_000 + b"]" * 10_000


def expect(answer, status, code=None, what="", **members):
    """Fails unless an answer has a status and, for a problem, a code and members."""
    value = answer.json() if answer.body else {}
    if answer.status != status or (code and value.get("code") != code):
        raise Failed(f"{what}: expected {status} {code or ''}, got {answer}")
    for name, expected in members.items():
        if value.get(name) != expected:
            raise Failed(f"{what}: expected {name} {expected!r}, got {answer}")
    return value


class Routes:
    def __init__(self, server, document):
        self.server, self.document = server, document
        self.web = server.connection(document)
        self.accepted = set()

    def run(self):
        began = time.monotonic()
        self.check_document()
        self.accounts()
        self.chat()
        self.stream()
        self.socket()
        self.problems()
        self.compression()
        self.unattended_report()
        self.limits()
        self.deletion()
        self.coverage()
        operations = sum(len(path) for path in self.document.root["paths"].values())
        statuses = len({(path, method, status) for path, method, status, _ in self.document.used})
        print(f"routes: {operations} operations, {statuses} pairs of operation and status, {len(self.accepted)} commands, "
              f"each as the document says, {time.monotonic() - began:.1f} s", flush=True)

    def compression(self):
        """Answers and files are the same bytes compressed, and answers about accounts are never compressed."""
        web, token = self.server.connection(), self.ann.token
        thread = web.execute({"openThread": {"name": "Compressed"}}, token)["events"][0]["threadOpened"]["thread"]
        web.post("/v1/commands", [{"postMessage": {"thread": thread, "body": f"{number} " + "milk " * 50}} for number in range(50)], token)
        saved = 0
        for target in (f"/v1/threads/{thread}/timeline?limit=50", f"/v1/threads/{thread}/timeline?limit=9", "/app.js", "/v1/openapi.json"):
            whole = web.ask("GET", target, token=token)
            answer = web.ask("GET", target, token=token, headers=[("Accept-Encoding", "gzip, deflate, br")])
            if answer.header("Content-Encoding") != "gzip" or answer.header("Vary") != "Accept-Encoding":
                raise Failed(f"GET {target} is not compressed: {answer.headers}")
            if gzip.decompress(answer.body) != whole.body or whole.header("Content-Encoding"):
                raise Failed(f"GET {target}: the compressed bytes are not those of the answer")
            head = web.ask("HEAD", target, token=token, headers=[("Accept-Encoding", "gzip")])
            if head.header("Content-Length") != str(len(answer.body)) or head.header("ETag") != answer.header("ETag"):
                raise Failed(f"HEAD {target}: {head.headers}, of GET {answer.headers}")
            saved += len(whole.body) - len(answer.body)
        for _ in range(3):
            self.server.sign_in(web, self.ann, device="d" * 256)
        answer = web.ask("GET", "/v1/sessions", token=token, headers=[("Accept-Encoding", "gzip")])
        if len(answer.body) < 1_024 or answer.header("Content-Encoding"):
            raise Failed(f"GET /v1/sessions: {len(answer.body)} bytes, {answer.headers}")
        print(f"routes: answers and files compressed with gzip, {saved} bytes fewer", flush=True)

    # Accounts

    def check_document(self):
        served = self.web.get("/v1/openapi.json")
        if served != self.document.root:
            raise Failed("the served document is not that of the tool")
        same = self.web.ask("GET", "/v1/openapi.json", headers=[("If-None-Match", self.web.ask("HEAD", "/v1/openapi.json").header("ETag"))])
        expect(same, 304, what="the document with its ETag")
        if self.web.ask("GET", "/healthz", host="10.0.0.1").json() != {"status": "ok"}:
            raise Failed("healthz")
        print(f"routes: {self.document.check_examples()} examples of the document are valid", flush=True)

    def post(self, target, body, status, code=None, token=None, headers=()):
        return expect(self.web.ask("POST", target, body, token, headers or self.server.from_elsewhere()), status, code, f"POST {target} {body}")

    def accounts(self):
        server, web = self.server, self.web
        self.ann, self.bob = server.person(web, "Ann"), server.person(web, "Bob")
        # A name that another user has.
        email = "second.ann@example.org"
        self.post("/v1/sign-up", {"username": "ANN", "email": email, "password": PASSWORD}, 202)
        first = server.code(email)
        self.post("/v1/resend-code", {"email": email}, 202)
        code = server.code(email)
        self.post("/v1/sign-in", {"email": email, "password": PASSWORD}, 401, "invalidCredentials")
        wrong = f"{(int(code) + 1) % 1_000_000:06d}"
        self.post("/v1/confirm", {"email": email, "code": wrong}, 400, "invalidCode")
        if first != code:
            self.post("/v1/confirm", {"email": email, "code": first}, 400, "invalidCode")
        self.post("/v1/confirm", {"email": email, "code": code, "password": PASSWORD + "!"}, 400, "invalidCode")
        self.post("/v1/confirm", {"email": email, "code": code, "username": "a\u0000b"}, 400, "invalidUsername")
        self.post("/v1/confirm", {"email": email, "code": code}, 409, "usernameTaken")
        self.post("/v1/sign-in", {"email": email, "password": PASSWORD}, 409, "notRegistered")
        self.post("/v1/sign-in", {"email": email, "password": PASSWORD + "!"}, 401, "invalidCredentials")
        found = self.post("/v1/confirm", {"email": email, "code": code, "username": "Anna", "password": PASSWORD}, 200)
        if found["user"]["username"] != "Anna":
            raise Failed(f"confirm with another username: {found}")
        self.post("/v1/confirm", {"email": email, "code": code}, 400, "invalidCode")
        self.post("/v1/confirm", {"email": "nobody@example.org", "code": code}, 400, "invalidCode")
        self.post("/v1/resend-code", {"email": "nobody@example.org"}, 202)
        for name in ("", " ", "x" * 65, "bell\x07here", "zero\u200bwidth"):
            self.post("/v1/sign-up", {"username": name, "email": "new@example.org", "password": PASSWORD}, 400, "invalidUsername")
        for address in ("", "a", "a@", "@b", "a b@example.org", "a@exa mple.org", "a@b@c", "x" * 65 + "@example.org", "\u00e4@example.org"):
            for target, more in (("sign-up", {"username": "New", "password": PASSWORD}), ("resend-code", {}), ("forgot-password", {}),
                                 ("sign-in", {"password": PASSWORD}), ("confirm", {"code": "123456"}), ("reset-password", {"code": "123456", "password": PASSWORD})):
                self.post("/v1/" + target, {"email": address, **more}, 400, "invalidEmail")
        for password in ("", "1234567", "x" * 257):
            self.post("/v1/sign-up", {"username": "New", "email": "new@example.org", "password": password}, 400, "invalidPassword")
        for password in ("password1", "anna1234", "new@example.org"):
            self.post("/v1/sign-up", {"username": "Anna", "email": "new@example.org", "password": password}, 400, "commonPassword")
        # The cookie.
        answer = web.ask("POST", "/v1/sign-in", {"email": self.ann.email, "password": PASSWORD, "device": "telephone"}, headers=server.from_elsewhere())
        expect(answer, 200, what="sign-in")
        name, _, rest = answer.header("Set-Cookie").partition("=")
        cookie, *attributes = [part.strip() for part in rest.split(";")]
        if name != "chat-session" or {"httponly", "samesite=strict", "path=/"} - {attribute.lower() for attribute in attributes}:
            raise Failed(f"the cookie is {answer.header('Set-Cookie')}")
        cookies, own = [("Cookie", f"other=1; chat-session={cookie}")], [("Origin", server.url)]
        if web.get("/v1/me", headers=cookies)["id"] != self.ann.id:
            raise Failed("the cookie is of another user")
        expect(web.ask("POST", "/v1/commands", {"setPostcode": {"postcode": "SW1A 1AA"}}, headers=cookies + own), 200, what="a command with the cookie")
        self.post("/v1/sign-in", {"email": self.ann.email, "password": PASSWORD, "device": "x" * 257}, 400, "invalidDevice")
        self.post("/v1/sign-in", {"email": self.ann.email, "password": PASSWORD, "device": "a\nb"}, 400, "invalidDevice")
        # Sessions.
        sessions = web.get("/v1/sessions", self.ann.token)["items"]
        if [session["current"] for session in sessions] != [False, True] or sessions[0]["device"] != "telephone":
            raise Failed(f"sessions: {sessions}")
        expect(web.ask("DELETE", "/v1/sessions/" + sessions[0]["id"], token=self.bob.token), 404, "notFound", "another user's session")
        expect(web.ask("DELETE", "/v1/sessions/" + sessions[0]["id"], token=self.ann.token), 204, what="a session")
        expect(web.ask("DELETE", "/v1/sessions/" + sessions[0]["id"], token=self.ann.token), 404, "notFound", "an ended session")
        expect(web.ask("DELETE", "/v1/sessions/x", token=self.ann.token), 404, "notFound", "not an id")
        expect(web.ask("GET", "/v1/me", headers=cookies), 401, "notSignedIn", "an ended session")
        # Sign-out, passwords.
        second = server.sign_in(web, self.bob)
        answer = web.ask("POST", "/v1/sign-out", token=second)
        expect(answer, 204, what="sign-out")
        expect(web.ask("GET", "/v1/me", token=second), 401, "notSignedIn", "a session that signed out")
        server.sign_in(web, self.bob)
        expect(web.ask("POST", "/v1/sign-out-everywhere", token=self.bob.token), 204, what="sign-out-everywhere")
        expect(web.ask("GET", "/v1/me", token=self.bob.token), 401, "notSignedIn", "after sign-out-everywhere")
        first, second = server.sign_in(web, self.bob), server.sign_in(web, self.bob)
        change = {"old": PASSWORD, "new": "another password"}
        self.post("/v1/change-password", dict(change, old="wrong password"), 401, "invalidCredentials", second)
        self.post("/v1/change-password", dict(change, new="short"), 400, "invalidPassword", second)
        self.post("/v1/change-password", dict(change, new="qwertyuiop"), 400, "commonPassword", second)
        self.post("/v1/change-password", change, 204, token=second)
        expect(web.ask("GET", "/v1/me", token=first), 401, "notSignedIn", "another session after change-password")
        web.get("/v1/me", second)
        self.post("/v1/forgot-password", {"email": "nobody@example.org"}, 202)
        self.post("/v1/forgot-password", {"email": self.bob.email}, 202)
        reset = {"email": self.bob.email, "code": server.code(self.bob.email), "password": PASSWORD}
        self.post("/v1/reset-password", dict(reset, password="short"), 400, "invalidPassword")
        self.post("/v1/reset-password", dict(reset, code=f"{(int(reset['code']) + 1) % 1_000_000:06d}"), 400, "invalidCode")
        self.post("/v1/reset-password", dict(reset, password="12345678"), 400, "commonPassword")
        self.post("/v1/reset-password", reset, 204)
        self.post("/v1/reset-password", reset, 400, "invalidCode")
        expect(web.ask("GET", "/v1/me", token=second), 401, "notSignedIn", "a session after reset-password")
        self.post("/v1/sign-in", {"email": self.bob.email, "password": "another password"}, 401, "invalidCredentials")
        server.sign_in(web, self.bob)
        self.address()

    def address(self):
        """The address of an account changes with the codes of two mails."""
        server, web = self.server, self.web
        eva = server.person(web, "Eva")
        former, new = eva.email, "eva.new@example.org"
        if web.get("/v1/email", eva.token) != {"email": former, "newEmail": None}:
            raise Failed(f"the address of Eva: {web.get('/v1/email', eva.token)}")
        change = {"email": new, "password": PASSWORD}
        self.post("/v1/change-email", dict(change, password="wrong password"), 401, "invalidCredentials", eva.token)
        for address in (former, "eva", ""):
            self.post("/v1/change-email", dict(change, email=address), 400, "invalidEmail", eva.token)
        self.post("/v1/change-email", dict(change, email=self.ann.email), 202, token=eva.token)
        if server.told(self.ann.email, "You already have an account") is None:
            raise Failed("Ann is not told that her address was asked for")
        server.code(former)
        self.post("/v1/change-email", change, 202, token=eva.token)
        codes = {"code": server.code(former), "newCode": server.code(new)}
        self.post("/v1/confirm-email", dict(codes, newCode=f"{(int(codes['newCode']) + 1) % 1_000_000:06d}"), 400, "invalidCode", eva.token)
        if web.get("/v1/email", eva.token) != {"email": former, "newEmail": new}:
            raise Failed("the address of Eva, while the change is not confirmed")
        token, other = eva.token, server.sign_in(web, eva)
        self.post("/v1/confirm-email", codes, 204, token=token)
        expect(web.ask("GET", "/v1/me", token=other), 401, "notSignedIn", "another session after confirm-email")
        if web.get("/v1/email", token) != {"email": new, "newEmail": None}:
            raise Failed("the changed address of Eva")
        if server.told(former, "has another e-mail address now") is None:
            raise Failed("the former address is not told")
        self.post("/v1/sign-in", {"email": former, "password": PASSWORD}, 401, "invalidCredentials")

    # Chat

    def unattended_report(self):
        """A report in the thread of a district, which has no moderator, while the community has no operator."""
        post, = self.execute(self.ann, {"postMessage": {"thread": "SW1A", "body": "Watches, cheap"}})
        answer, = self.execute(self.ann, {"report": {"message": post["events"][0]["messagePosted"]["message"], "reason": "a test"}})
        # The reports are counted once a second. The other one is in the direct thread.
        health, deadline = self.web.get("/healthz"), time.monotonic() + 10
        while health.get("unattendedReports") != 2 and time.monotonic() < deadline:
            time.sleep(0.1)
            health = self.web.get("/healthz")
        if (answer.get("moderators"), health) != (0, {"status": "ok", "unattendedReports": 2}):
            raise Failed(f"a report without moderators: {answer}, {health}")

    def execute(self, person, *commands, rejected=None):
        """Executes commands, one alone and more as a batch. `rejected` is the code that one command must have."""
        for command in commands:
            self.document.check_request("POST", "/v1/commands", command)
        body = commands[0] if len(commands) == 1 else list(commands)
        answer = self.web.ask("POST", "/v1/commands", body, person.token)
        answers = expect(answer, 200, what=f"commands {commands}")
        answers = [answers] if len(commands) == 1 else answers
        if [found["line"] for found in answers] != list(range(1, len(commands) + 1)):
            raise Failed(f"the lines of the answers to {commands}: {answers}")
        for command, found in zip(commands, answers):
            if found.get("rejection", {}).get("code") != rejected:
                raise Failed(f"{command}: expected {rejected or 'a receipt'}, got {found}")
            if rejected is None:
                self.accepted |= set(command) - {"correlation"}
        return answers

    def chat(self):
        ann, bob, web = self.ann, self.bob, self.web
        self.rota, self.message, reply, session, poll = (identifier() for _ in range(5))
        self.execute(bob, {"setPostcode": {"user": bob.id, "postcode": "sw1a 2aa"}})
        self.execute(ann, {"changeUsername": {"username": "Ann Lee"}}, {"changeUsername": {"user": ann.id, "username": "Ann"}})
        self.execute(ann, {"openThread": {"thread": self.rota, "name": "Rota", "policy": "inviteOnly", "history": "sinceJoining"}, "correlation": "c-1"})
        self.execute(bob, {"joinThread": {"thread": self.rota}}, rejected="unknownThread")
        self.execute(ann, {"invite": {"thread": self.rota, "user": bob.id}})
        self.execute(ann, {"revokeInvitation": {"thread": self.rota, "user": bob.id}}, {"invite": {"thread": self.rota, "user": bob.id, "by": ann.id}})
        self.execute(bob, {"declineInvitation": {"thread": self.rota}})
        self.execute(ann, {"invite": {"thread": self.rota, "user": bob.id}})
        if [found["thread"] for found in web.get("/v1/invitations", bob.token)["items"]] != [self.rota]:
            raise Failed("the invitation of Bob")
        if [found["user"]["id"] for found in web.get(f"/v1/threads/{self.rota}/invitations", ann.token)["items"]] != [bob.id]:
            raise Failed("the invitations to the thread")
        self.execute(bob, {"acceptInvitation": {"thread": self.rota, "user": bob.id}})
        post = {"postMessage": {"message": self.message, "thread": self.rota, "body": "Could someone pick up milk?"}, "correlation": "c-2"}
        first, = self.execute(ann, post)
        again, = self.execute(ann, dict(post, correlation="c-3"))
        if first["duplicate"] or not again["duplicate"] or again["positions"] != first["positions"]:
            raise Failed(f"a message that is sent again: {first}, {again}")
        self.execute(bob, {"reply": {"reply": reply, "message": self.message, "body": "I can."}}, {"edit": {"reply": reply, "body": "I can, at noon."}})
        self.execute(bob, {"postMessage": dict(post["postMessage"], body="another author")}, rejected="identifierTaken")
        self.execute(ann, {"report": {"reply": reply, "reason": "a test"}}, {"setRole": {"thread": self.rota, "user": bob.id, "role": "moderator"}})
        self.execute(bob, {"report": {"message": self.message, "reason": "a test"}}, {"pin": {"message": self.message}},
                     {"markRead": {"thread": self.rota, "upTo": first["positions"][1]}})
        reports = web.get(f"/v1/threads/{self.rota}/reports", bob.token)["items"]
        if [("reply" in report, "message" in report) for report in reports] != [(True, False), (False, True)]:
            raise Failed(f"reports: {reports}")
        if [pin["id"] for pin in web.get(f"/v1/threads/{self.rota}/pins", ann.token)["items"]] != [self.message]:
            raise Failed("the pins")
        if [(found["user"]["id"], found["role"]) for found in web.get(f"/v1/threads/{self.rota}/roles", ann.token)["items"]] != [
                (ann.id, "owner"), (bob.id, "moderator")]:
            raise Failed("the roles")
        self.execute(bob, {"resolveReport": {"reply": reply}}, {"unpin": {"message": self.message}}, {"lockThread": {"thread": self.rota}},
                     {"unlockThread": {"thread": self.rota}}, {"startSession": {"session": session, "device": "telephone"}})
        self.execute(ann, {"endSession": {"session": session}}, rejected="unknownSession")
        self.execute(ann, {"endSession": {"session": identifier()}}, rejected="unknownSession")
        self.execute(bob, {"endSession": {"session": session}}, {"custom": {"id": poll, "kind": "com.example.poll", "thread": "SW1A",
                                                                         "payload": {"a": [1.50, None, "\u00e9"]}}})
        events = web.get("/v1/threads/SW1A/custom-events?kind=com.example.poll", bob.token)["items"]
        if [(event["id"], event["by"], event["payload"]) for event in events] != [(poll, bob.id, {"a": [1.5, None, "\u00e9"]})]:
            raise Failed(f"the custom events: {events}")
        until = "2999-01-01T00:00:00+01:00"
        self.execute(ann, {"setRole": {"thread": self.rota, "user": bob.id, "role": "member"}},
                     {"mute": {"thread": self.rota, "user": bob.id, "reason": "a test", "until": until}})
        self.execute(bob, {"postMessage": {"thread": self.rota, "body": "muted"}}, rejected="muted")
        kinds = [(found["kind"], found["until"]) for found in web.get(f"/v1/threads/{self.rota}/sanctions", ann.token)["items"]]
        if kinds != [("mute", "2998-12-31T23:00:00.000Z")]:
            raise Failed(f"the sanctions: {kinds}")
        self.execute(ann, {"unmute": {"thread": self.rota, "user": bob.id}}, {"removeMember": {"thread": self.rota, "user": bob.id, "reason": "a test"}},
                     {"ban": {"thread": self.rota, "user": bob.id, "reason": "a test", "until": None}})
        standing = web.get(f"/v1/threads/{self.rota}/standing", bob.token)
        if [standing["role"], standing["mute"], standing["ban"]["reason"], standing["removal"]["reason"]] != [None, None, "a test", "a test"]:
            raise Failed(f"the standing of a banned user: {standing}")
        if web.get(f"/v1/threads/{self.rota}", ann.token)["me"]["standing"]["role"] != "owner":
            raise Failed("the owner's standing")
        self.execute(ann, {"unban": {"thread": self.rota, "user": bob.id}},
                     {"remove": {"reply": reply, "reason": "a test"}}, {"block": {"user": bob.id}})
        blocks = [[found["user"] for found in web.get("/v1/me/blocks", person.token)["items"]] for person in (ann, bob)]
        self.execute(ann, {"unblock": {"user": bob.id}})
        if blocks != [[bob.id], []] or web.get("/v1/me/blocks", ann.token)["items"]:
            raise Failed(f"the blocked users of Ann and Bob: {blocks}")
        self.execute(ann, {"retract": {"message": self.message}}, {"closeThread": {"thread": self.rota}})
        hall = identifier()
        self.execute(bob, {"openThread": {"thread": hall, "name": "Hall"}}, {"setThreadPolicy": {"thread": hall, "policy": "inviteOnly"}},
                     {"setThreadPolicy": {"thread": hall, "policy": "inviteOnly"}},
                     {"setThreadPolicy": {"thread": hall, "policy": "open", "history": "sinceJoining", "by": bob.id}})
        self.execute(ann, {"setThreadPolicy": {"thread": hall, "policy": "open"}}, rejected="notAnOwner")
        self.execute(bob, {"setThreadPolicy": {"thread": hall, "policy": "open", "history": "all"}}, rejected="invalidPolicy")
        self.execute(ann, {"joinThread": {"thread": hall}}, {"leaveThread": {"thread": hall}}, {"leaveThread": {"thread": hall}})
        self.directory(hall)
        self.direct()
        self.pages()

    def directory(self, hall):
        """A listed thread is in the directory until it is closed or no longer listed, and not for who is banned from it."""
        ann, bob, web = self.ann, self.bob, self.web
        listed = lambda person: [(each["id"], each["name"], each["members"]) for each in web.get("/v1/directory", person.token)["items"]]
        if listed(ann):
            raise Failed(f"the directory without a listed thread: {listed(ann)}")
        self.execute(bob, {"setThreadPolicy": {"thread": hall, "policy": "listed"}}, {"renameThread": {"thread": hall, "name": "Great  Hall"}})
        self.execute(ann, {"renameThread": {"thread": hall, "name": "Ann's"}}, rejected="notAnOwner")
        self.execute(bob, {"renameThread": {"thread": hall, "name": "SW1A"}}, rejected="invalidThreadName")
        garden, = self.execute(ann, {"openThread": {"name": "Garden", "policy": "listed"}})
        garden = garden["events"][0]["threadOpened"]["thread"]
        self.execute(ann, {"postMessage": {"thread": garden, "body": "Beans"}})
        both = [(hall, "Great Hall", 1), (garden, "Garden", 1)]
        if listed(ann) != both or listed(bob) != both:
            raise Failed(f"the directory: {listed(ann)}, and for Bob {listed(bob)}")
        page = self.page("/v1/directory", "limit=1", "position")
        if page["items"][0]["id"] != garden or self.page("/v1/directory", f"limit=1&before={page['older']}", "position")["items"][0]["id"] != hall:
            raise Failed(f"a page of the directory: {page}")
        ban = {"ban": {"thread": garden, "user": bob.id, "reason": "a test", "until": None}}
        self.execute(ann, ban, rejected="notAMember")
        self.execute(bob, {"joinThread": {"thread": garden}})
        self.execute(ann, ban)
        self.execute(bob, {"setThreadPolicy": {"thread": hall, "policy": "open"}})
        if listed(ann) != both[1:] or listed(bob):
            raise Failed(f"the directory after a ban: {listed(ann)}, and for Bob {listed(bob)}")
        self.execute(ann, {"closeThread": {"thread": garden}}, {"leaveThread": {"thread": garden}})
        if listed(ann):
            raise Failed(f"the directory after the end of the thread: {listed(ann)}")

    def direct(self):
        """A direct thread of two people: one for good, with a block, a report and a return."""
        ann, bob, web = self.ann, self.bob, self.web
        thread, stranger = identifier(), self.server.person(web, "Dora")
        opening = {"openDirect": {"thread": thread, "with": [bob.id]}}
        self.execute(ann, {"openDirect": {"with": []}}, rejected="invalidPeople")
        self.execute(ann, {"openDirect": {"with": [identifier() for _ in range(8)]}}, rejected="invalidPeople")
        self.execute(ann, {"openDirect": {"with": [bob.id, stranger.id]}}, rejected="cannotMessage")
        first, = self.execute(ann, opening)
        again, = self.execute(bob, {"openDirect": {"with": [ann.id]}})
        if first["duplicate"] or not again["duplicate"] or again["positions"] != first["positions"]:
            raise Failed(f"a direct thread that is opened again: {first}, {again}")
        people = [{"id": each.id, "username": each.name} for each in (ann, bob)]
        for person in (ann, bob):
            whole = web.get(f"/v1/threads/{thread}", person.token)
            mine = [each for each in web.get("/v1/me/threads", person.token)["items"] if each["id"] == thread]
            if [whole["name"], whole["people"], whole["policy"], whole["members"], len(mine), mine[0]["people"]] != [None, people, "inviteOnly", 2, 1, people]:
                raise Failed(f"the direct thread, to {person.name}: {whole}, {mine}")
        expect(web.ask("GET", f"/v1/threads/{thread}", token=stranger.token), 404, "notFound", "the direct thread of others")
        self.execute(bob, {"block": {"user": ann.id}})
        for person in (ann, bob):
            self.execute(person, {"postMessage": {"thread": thread, "body": "blocked"}}, rejected="cannotMessage")
        self.execute(bob, {"unblock": {"user": ann.id}})
        post, = self.execute(ann, {"postMessage": {"thread": thread, "body": "Just you"}})
        self.execute(bob, {"leaveThread": {"thread": thread}})
        expect(web.ask("GET", f"/v1/threads/{thread}", token=bob.token), 404, "notFound", "the direct thread after leaving it")
        # A message brings back who has left, and is what the receipt names.
        called, = self.execute(ann, {"postMessage": {"thread": thread, "body": "Are you there?"}, "correlation": "of Ann"})
        found = [(kind, event[kind].get("user") or event[kind].get("author"), event.get("correlation")) for event in called["events"]
                 for kind in event if kind in ("threadJoined", "messagePosted")]
        if found != [("threadJoined", bob.id, None), ("messagePosted", ann.id, "of Ann")]:
            raise Failed(f"a message to a person who has left a direct thread: {called}")
        mine = [each for each in web.get("/v1/me/threads", bob.token)["items"] if each["id"] == thread]
        if [each["unread"] for each in mine] != [1]:
            raise Failed(f"what is unread for who is brought back: {mine}")
        self.execute(ann, {"retract": {"message": called["events"][1]["messagePosted"]["message"]}})
        self.execute(bob, {"leaveThread": {"thread": thread}})
        back, = self.execute(bob, {"openDirect": {"with": [ann.id]}})
        if [next(key for key in event if key != "position" and key != "recordedAt") for event in back["events"]] != ["threadJoined"]:
            raise Failed(f"the return to a direct thread: {back}")
        if [each["body"] for each in web.get(f"/v1/threads/{thread}/timeline", bob.token)["items"]] != ["Just you", None]:
            raise Failed("who returns to a direct thread of two reads everything")
        # Operators would decide the report, and there is none.
        answer, = self.execute(ann, {"report": {"message": post["events"][0]["messagePosted"]["message"], "reason": "a test"}})
        # The server counts once a second.
        deadline = time.monotonic() + 10
        while web.get("/healthz") != {"status": "ok", "unattendedReports": 1} and time.monotonic() < deadline:
            time.sleep(0.1)
        if (answer.get("moderators"), web.get("/healthz")) != (0, {"status": "ok", "unattendedReports": 1}):
            raise Failed(f"a report in a direct thread: {answer}, {web.get('/healthz')}")
        # The other checks expect two threads of Ann.
        self.execute(ann, {"leaveThread": {"thread": thread}})
        self.execute(bob, {"leaveThread": {"thread": thread}})

    def pages(self):
        """Pages of messages, replies, threads, members and residents, in both directions."""
        ann, bob, web = self.ann, self.bob, self.web
        self.milk = identifier()
        self.execute(bob, {"postMessage": {"message": self.milk, "thread": "sw1a", "body": "Milk"}},
                     *({"postMessage": {"thread": "SW1A", "body": f"Message {number}"}} for number in range(6)))
        self.oats = identifier()
        self.execute(ann, {"reply": {"reply": self.oats, "message": self.milk, "body": "Oats"}},
                     *({"reply": {"message": self.milk, "body": f"Reply {number}"}} for number in range(6)))
        activity = web.get("/v1/threads/SW1A/activity?days=2", bob.token)
        if activity["people"] < 1 or not activity["days"]:
            raise Failed(f"the activity: {activity}")
        for target in ("/v1/threads/SW1A/timeline", f"/v1/messages/{self.milk}/replies"):
            all_items = self.page(target, "limit=200", "position")["items"]
            if len(all_items) != 7:
                raise Failed(f"{target}: {len(all_items)} items, not 7")
            for size in (1, 2, 3, 7, 200):
                found, page = [], self.page(target, f"limit={size}", "position")
                while True:
                    found = page["items"] + found
                    if page["older"] is None:
                        break
                    page = self.page(target, f"limit={size}&before={page['older']}", "position")
                if found != all_items:
                    raise Failed(f"{target}: older pages of {size}: {found}")
                found, page = [], self.page(target, f"after=0&limit={size}", "position")
                while page["items"]:
                    found += page["items"]
                    page = self.page(target, f"limit={size}&after={page['newer']}", "position")
                if found != all_items:
                    raise Failed(f"{target}: newer pages of {size}: {found}")
            if self.page(target, "before=1", "position")["older"] is not None:
                raise Failed(f"{target}: older of an empty page")
        for target, key, count in (("/v1/threads", "lastPosition", 2), ("/v1/threads/SW1A/members", "since", 2), ("/v1/threads/sw1a/residents", "since", 2),
                                   ("/v1/me/threads", "since", 2)):
            items = self.page(target, "", key)["items"]
            one = self.page(target, "limit=1", key)
            if len(items) != count or one["items"] != items[-1:] or one["older"] is None:
                raise Failed(f"{target}: {items}, and with limit=1 {one}")
            if self.page(target, f"limit=1&before={one['older']}", key)["items"] != items[-2:-1]:
                raise Failed(f"{target}: the page before {one['older']}")
        message = web.get(f"/v1/messages/{self.milk}", ann.token)
        if message["body"] != "Milk" or message["replyCount"] != 7:
            raise Failed(f"the message is {message}")
        self.execute(ann, {"markUnread": {"thread": "SW1A", "from": message["position"]}}, {"setNotifications": {"thread": "SW1A", "level": "none"}},
                     {"react": {"message": self.milk, "emoji": "\U0001F95B"}}, {"react": {"reply": self.oats, "emoji": ":oats:"}},
                     {"unreact": {"message": self.milk, "emoji": "\U0001F95B"}})
        thread = next(each for each in web.get("/v1/me/threads", ann.token)["items"] if each["name"] == "SW1A")
        if thread["firstUnread"] != message["position"] or thread["notifications"] != {"level": "none", "until": None}:
            raise Failed(f"marked unread: {thread}")
        reactions = web.get(f"/v1/replies/{self.oats}/reactions", bob.token)["items"]
        if [(each["emoji"], each["user"]["id"]) for each in reactions] != [(":oats:", ann.id)] or web.get(f"/v1/messages/{self.milk}/reactions", bob.token)["items"]:
            raise Failed(f"reactions: {reactions}")
        inbox = web.get("/v1/inbox", bob.token)
        replies = [each for each in inbox["items"] if each["why"] == "reply"]
        # All replies to the milk are one entry.
        if [(each["by"]["id"], each["unread"]) for each in replies] != [(ann.id, True)] or not inbox["unread"]["count"]:
            raise Failed(f"the inbox: {inbox}")
        self.execute(bob, {"markInboxRead": {"upTo": inbox["items"][0]["position"]}})
        read = web.get("/v1/inbox?limit=200", bob.token)
        if read["unread"] != {"count": 0} or [dict(each, unread=True) for each in read["items"]] != inbox["items"] or any(each["unread"] for each in read["items"]):
            raise Failed(f"the inbox after it was read: {read}, before {inbox}")
        one = web.get(f"/v1/inbox?limit=1&before={inbox['items'][0]['position']}", bob.token)
        if one["items"] != read["items"][1:2]:
            raise Failed(f"a page of the inbox: {one}")
        self.execute(bob, {"setProfile": {"about": " Shops on Tuesdays.\n"}})
        people = self.page("/v1/people", "", "since")["items"]
        if [each["id"] for each in people] != [bob.id] or self.page("/v1/people", f"name={people[0]['username'][:2].swapcase()}", "since")["items"] != people:
            raise Failed(f"the people of Ann: {people}")
        person = web.get(f"/v1/people/{bob.id}", ann.token)
        if person["about"] != "Shops on Tuesdays." or "SW1A" not in [each["name"] for each in person["threads"]["items"]]:
            raise Failed(f"Bob, as Ann is shown him: {person}")
        reply = web.get(f"/v1/replies/{self.oats}", ann.token)
        if reply["body"] != "Oats" or reply["message"] != self.milk:
            raise Failed(f"the reply is {reply}")
        me = web.get("/v1/me", ann.token)
        if me["postcode"] != "SW1A 1AA" or [thread["name"] for thread in me["threads"]] != ["SW1A", "Rota"]:
            raise Failed(f"me: {me}")
        postcodes = {found["user"]["id"]: found["postcode"] for found in web.get("/v1/threads/SW1A/residents", ann.token)["items"]}
        if postcodes != {ann.id: "SW1A 1AA", bob.id: None}:
            raise Failed(f"the postcodes that Ann sees: {postcodes}")
        outward = web.get("/v1/threads/SW1A", ann.token)
        if outward["outwardCode"] != "SW1A" or web.get("/v1/threads/" + outward["id"].upper(), ann.token) != outward:
            raise Failed(f"the thread SW1A by its code and by its id: {outward}")

    def page(self, target, query, key):
        value = self.web.get(target + ("?" + query if query else ""), self.ann.token)
        positions = [item[key] for item in value["items"]]
        if positions != sorted(set(positions)):
            raise Failed(f"{target}?{query}: not in order: {positions}")
        return value

    def stream(self):
        ann, bob, port = self.ann, self.bob, self.server.port
        answer = self.web.ask("GET", "/v1/threads/SW1A/timeline?limit=1", token=ann.token)
        token = answer.header("Resume-Token")
        history = [self.web.ask("GET", f"/v1/threads/SW1A/events?limit={limit}", token=ann.token) for limit in (1, 200)]
        if [page.header("Resume-Token") is None for page in history] != [True, False]:
            raise Failed(f"the tokens of the first page of the history, and of the whole: {history}")
        live = Stream(port, ann.token).opened()
        self.document.check("GET", "/v1/events", live.answer)
        if live.retry != 2000 or not live.last:
            raise Failed(f"the first block: retry {live.retry}, {live.blocks}")
        other = Stream(port, ann.token, thread="SW1A").opened()
        sent = [self.execute(bob, {"postMessage": {"thread": "SW1A", "body": f"Live {number}\nsecond line\u2028"}})[0]["positions"][0] for number in range(3)]
        self.own = self.execute(ann, {"openThread": {"name": "Elsewhere"}})[0]["events"][0]["threadOpened"]["thread"]
        live.wait(lambda stream: stream.count >= 5)
        other.wait(lambda stream: stream.count >= 3)
        for stream in (live, other):
            for event in stream.events():
                self.document.check_event(event)
        if [event["position"] for event in live.events()][:3] != sent or [event["position"] for event in other.events()] != sent:
            raise Failed(f"sent {sent}, delivered {live.events()} and {other.events()}")
        # Each id resumes exactly after its event; the header wins over the parameter.
        ids = [identity for identity, event, data in live.blocks if data]
        for number, identity in enumerate(ids):
            for arguments in ({"after": identity}, {"last": identity}, {"after": ids[-1], "last": identity}):
                again = Stream(port, ann.token, **arguments).opened()
                again.wait(lambda stream: stream.count >= len(ids) - number - 1)
                if again.events() != live.events()[number + 1:]:
                    raise Failed(f"resumed with {arguments}: {again.events()}")
                again.close()
        for name, start in (("timeline", token), ("history", history[1].header("Resume-Token"))):
            again = Stream(port, ann.token, after=start, thread="SW1A")
            again.wait(lambda stream: stream.count >= 3)
            if [event["position"] for event in again.events()] != sent:
                raise Failed(f"resumed with the token of the {name}: {again.events()}")
            again.close()
        head = self.web.ask("HEAD", "/v1/events", token=ann.token)
        if head.status != 200 or head.header("Content-Type").split(";")[0] != "text/event-stream":
            raise Failed(f"HEAD /v1/events: {head}")
        for wrong in ("x", ids[0][:-1], ids[0] + "0", ids[0].replace("ct1-", "ct1-9"), ""):
            expect(self.web.ask("GET", "/v1/events?after=" + wrong, token=ann.token), 400, what=f"the token {wrong!r}")
            if wrong:
                expect(self.web.ask("GET", "/v1/events", token=ann.token, headers=[("Last-Event-ID", wrong)]), 400, "invalidToken", f"the token {wrong!r}")
        expect(self.web.ask("GET", "/v1/events?thread=" + identifier(), token=ann.token), 404, "notFound", "an unknown thread")
        # The heartbeat, and the end of the session.
        live.wait(lambda stream: any(event == ":" and data == "heartbeat" for _, event, data in stream.blocks), what="a heartbeat")
        self.sign_out_stream()
        live.close()
        other.close()

    def socket(self):
        """The handshake of the WebSocket; its messages are checked by another program."""
        expect(self.web.ask("GET", "/v1/socket", token=self.ann.token), 426, "upgradeRequired", "no handshake")
        expect(self.web.ask("GET", "/v1/socket", headers=HANDSHAKE), 401, "notSignedIn", "a handshake without a session")
        expect(self.web.ask("GET", "/v1/socket", token=self.ann.token, headers=[*HANDSHAKE, ("Origin", "https://evil.example")]), 403, "foreignOrigin", "a foreign handshake")
        for more in ([], [("Sec-WebSocket-Protocol", "other, chat-journal.v1")]):
            with self.server.connection(self.document) as web:
                answer = web.ask("GET", "/v1/socket", token=self.ann.token, headers=[*HANDSHAKE, *more])
                # The digest of this key, by RFC 6455.
                if answer.status != 101 or answer.header("Sec-WebSocket-Accept") != "ICX+Yqv66kxgM0FcWaLWlFLwTAI=" or bool(more) != bool(answer.header("Sec-WebSocket-Protocol")):
                    raise Failed(f"the handshake: {answer}")

    def sign_out_stream(self):
        """The end of a session ends its stream."""
        eve = self.server.person(self.web, "Eve")
        stream = Stream(self.server.port, eve.token).opened()
        expect(self.web.ask("POST", "/v1/sign-out", token=eve.token), 204, what="sign-out")
        stream.wait(lambda stream: stream.ended, what="its end after sign-out")
        if stream.blocks[-1][1:] != ("signed-out", "{}"):
            raise Failed(f"the last block after sign-out: {stream.blocks[-1]}")
        stream.close()

    # Problems

    def operations(self):
        for path, methods in self.document.root["paths"].items():
            for method, operation in methods.items():
                yield path, method.upper(), operation

    def target(self, path):
        # Nobody moderates the thread of an outward code.
        thread = self.own if path.endswith(("sanctions", "reports", "invitations")) else "SW1A"
        return path.replace("{thread}", thread).replace("{message}", self.milk).replace("{reply}", self.oats).replace("{user}", self.bob.id).replace("{session}", identifier())

    def problems(self):
        web, ann = self.web, self.ann
        for path, method, operation in self.operations():
            target, signed = self.target(path), bool(operation["security"])
            token = ann.token if signed else None
            body = self.example(operation)
            what = f"{method} {target}"
            ask = lambda body=body, token=token, headers=(), host=None, target=target: web.ask(method, target, body, token, headers, host)
            for origin in ("https://evil.example", "null", self.server.url + ".evil.example", "http://127.0.0.1"):
                expect(ask(headers=[("Origin", origin)]), 403, "foreignOrigin", f"{what} from {origin}")
            if method != "GET":
                for site in ("cross-site", "same-site"):
                    expect(ask(headers=[("Sec-Fetch-Site", site)]), 403, "foreignOrigin", f"{what} from {site}")
            for host in ("evil.example", f"evil.example:{self.server.port}") if "421" in operation["responses"] else ():
                expect(ask(host=host), 421, "misdirectedRequest", f"{what} for the host {host}")
            if signed:
                for headers in ([], [("Authorization", "Bearer " + "A" * 43)], [("Authorization", "Bearer")], [("Authorization", "Basic QTpC")],
                                [("Cookie", "chat-session=" + "A" * 43)], [("Cookie", "chat-session=")]):
                    expect(ask(token=None, headers=headers), 401, "notSignedIn", f"{what} with {headers}")
            if "requestBody" in operation:
                self.body_problems(path, what, ask, operation)
            elif method == "POST":
                expect(ask(body=b" " * ((16 << 10) + 1)), 413, "tooLarge", f"{what} with a body of over 16 KiB")
            if method == "GET":
                head = web.ask("HEAD", target, token=token)
                if head.status != (426 if "101" in operation["responses"] else 200):
                    raise Failed(f"HEAD {target}: {head}")
                self.query_problems(path, operation, token)
        for path, methods in self.document.root["paths"].items():
            for method in METHODS:
                if method.lower() not in methods:
                    answer = web.ask(method, self.target(path), token=ann.token)
                    if "101" in methods.get("get", {}).get("responses", {}):
                        expect(answer, 426, "upgradeRequired", f"{method} {path}")
                        continue
                    expect(answer, 405, "methodNotAllowed", f"{method} {path}")
                    allowed = {name.upper() for name in methods} | ({"HEAD"} if "get" in methods else set())
                    if set(answer.header("Allow").split(", ")) != allowed:
                        raise Failed(f"{method} {path}: Allow is {answer.header('Allow')}, not {allowed}")
        for path in ("/v1", "/v1/", "/v1/nothing", "/v1/me/", "/V1/me", "/v1//me", "/v1/threads/SW1A/timeline/x", "/v1/sessions/"):
            expect(web.ask("GET", path, token=ann.token), 404, "notFound", f"GET {path}")
        for target in (f"/v1/threads/{identifier()}", "/v1/threads/M1", "/v1/threads/%20", "/v1/threads/Rota", "/v1/threads/" + "x" * 500):
            for more in ("", "/standing", "/timeline", "/activity", "/events", "/custom-events", "/members", "/residents", "/roles", "/pins", "/sanctions", "/reports", "/invitations"):
                expect(web.ask("GET", target + more, token=ann.token), 404, "notFound", f"GET {target}{more}")
        for target in (f"/v1/messages/{identifier()}", "/v1/messages/x"):
            for more in ("", "/replies", "/reactions"):
                expect(web.ask("GET", target + more, token=ann.token), 404, "notFound", f"GET {target}{more}")
        for target in (f"/v1/replies/{identifier()}", "/v1/replies/x"):
            for more in ("", "/reactions"):
                expect(web.ask("GET", target + more, token=ann.token), 404, "notFound", f"GET {target}{more}")
        expect(web.ask("GET", f"/v1/threads/{self.rota}/residents", token=ann.token), 404, "notFound", "the residents of a named thread")
        for person in (identifier(), "x", "Bob"):
            expect(web.ask("GET", f"/v1/people/{person}", token=ann.token), 404, "notFound", f"the person {person}")
        self.command_problems()

    @staticmethod
    def example(operation):
        if "requestBody" not in operation:
            return None
        media = operation["requestBody"]["content"]["application/json"]
        return media["example"] if "example" in media else media["examples"]["one"]["value"]

    def body_problems(self, path, what, ask, operation):
        limit = 1 << 20 if path == "/v1/commands" else 16 << 10
        example = self.example(operation)
        text = json.dumps(example).encode()
        for headers in ([("Content-Type", "text/plain")], [("Content-Type", "application/x-www-form-urlencoded")], [("Content-Type", "")]):
            expect(ask(body=text, headers=headers), 415, "unsupportedMediaType", f"{what} with {headers}")
        expect(ask(body=b" " * (limit + 1)), 413, "tooLarge", f"{what} with {limit + 1} bytes")
        expect(ask(body=text[:-1] + b" " * (limit - len(text)) + b"!"), 400, "notJSON", f"{what} with {limit} bytes")
        first, (name, _) = text[:-1], next(iter(example.items()))
        for body, code in ((b"", "notJSON"), (b"{", "notJSON"), (text + b"x", "notJSON"), (b"\xef\xbb\xbf" + text, "notJSON"), (b'{"a":"\xff"}', "invalidUTF8"),
                           (DEEP[:16_000] if limit < len(DEEP) else DEEP, None), (b'{"a":NaN}', "notJSON"), (b"{'a':1}", "notJSON"),
                           (first + b"," + json.dumps({name: 1}).encode()[1:-1] + b"}", "duplicateField"), (first + b',"colour":"red"}', "unknownField")):
            expect(ask(body=body), 400, code, f"{what} with {body[:100]!r}")
        for value in (None, True, 1, "text"):
            expect(ask(body=json.dumps(value).encode()), 400, "wrongType", f"{what} with {value!r}")
        if path != "/v1/commands":
            for field in example:
                without = {key: value for key, value in example.items() if key != field}
                schema = self.document.resolve(operation["requestBody"]["content"]["application/json"]["schema"])
                if field in schema["required"]:
                    expect(ask(body=without), 400, "missingField", f"{what} without {field}", field=field)
                for value in (1, True, [], {}):
                    expect(ask(body=dict(example, **{field: value})), 400, "wrongType", f"{what} with {field} {value!r}", field=field)

    def query_problems(self, path, operation, token):
        target = self.target(path)
        queries = ["colour=red", "=", "limit=1&limit=1"]
        names = [parameter.get("name") or parameter["$ref"].split("/")[-1] for parameter in operation.get("parameters", [])]
        if "limit" in names:
            queries += ["limit=" + value for value in ("0", "201", "-1", "1.5", "1e1", "+1", "a", "", "%00", "99999999999999999999")]
            queries += ["before=1&after=1", "before=-1", "after=x", "before=", "after=18446744073709551616", "before=1&before=2"]
        for query in queries if "400" in operation["responses"] else ():
            expect(self.web.ask("GET", f"{target}?{query}", token=token), 400, "invalidQuery", f"GET {target}?{query}")

    def command_problems(self):
        """Malformed and forbidden commands, alone and in a batch of which nothing may be executed."""
        ann, bob, web = self.ann, self.bob, self.web
        good = {"postMessage": {"thread": "SW1A", "body": "must not be posted"}}
        cases = [
            ({}, 400, None), ([], 400, None), (1, 400, "wrongType"), ({"nothing": {}}, 400, "unknownField"), ({"postMessage": []}, 400, "wrongType"),
            ({**good, "joinThread": {"thread": "SW1A"}}, 400, None), ({**good, "colour": 1}, 400, "unknownField"), ({**good, "correlation": 1}, 400, "wrongType"),
            ({"postMessage": {"thread": "SW1A"}}, 400, "missingField"), ({"postMessage": {"body": "x"}}, 400, "missingField"),
            ({"postMessage": {"thread": "SW1A", "body": "x", "colour": 1}}, 400, "unknownField"), ({"postMessage": {"thread": "SW1A", "body": 1}}, 400, "wrongType"),
            ({"postMessage": {"thread": "no thread", "body": "x"}}, 400, "invalidValue"), ({"postMessage": {"thread": "SW1A", "body": "x", "message": "1"}}, 400, "invalidValue"),
            ({"postMessage": {"thread": "SW1A", "body": "x", "author": "1"}}, 400, "invalidValue"), ({"edit": {"body": "x"}}, 400, "missingField"),
            ({"edit": {"body": "x", "message": self.milk, "reply": self.milk}}, 400, None), ({"markRead": {"thread": "SW1A", "upTo": "1"}}, 400, "wrongType"),
            ({"markRead": {"thread": "SW1A", "upTo": 1.5}}, 400, None), ({"markRead": {"thread": "SW1A", "upTo": -1}}, 400, None),
            ({"setRole": {"thread": "SW1A", "user": bob.id, "role": "king"}}, 400, "invalidValue"),
            ({"mute": {"thread": "SW1A", "user": bob.id, "reason": "x", "until": "tomorrow"}}, 400, "invalidValue"),
            ({"openThread": {"name": "x", "policy": "secret"}}, 400, "invalidValue"),
            ({"registerUser": {"username": "Eve"}}, 403, "commandNotAllowed"), ({"registerUser": {"user": ann.id, "username": "Ann", "subject": "x"}}, 403, "commandNotAllowed"),
            ({"grantOperator": {"user": ann.id}}, 403, "commandNotAllowed"), ({"revokeOperator": {"user": ann.id}}, 403, "commandNotAllowed"),
            ({"postMessage": {"thread": "SW1A", "body": "x", "author": bob.id}}, 403, "anotherUser"),
        ]
        before = self.timeline_count()
        for command, status, code in cases:
            if command != []:
                expect(web.ask("POST", "/v1/commands", command, ann.token), status, code, f"the command {command}")
                expect(web.ask("POST", "/v1/commands", [good, good, command, good], ann.token), status, code, f"a batch with {command}", line=3)
            else:
                expect(web.ask("POST", "/v1/commands", [], ann.token), status, code, "an empty batch")
        expect(web.ask("POST", "/v1/commands", [good] * 1001, ann.token), 413, "tooLarge", "a batch of 1001")
        if self.timeline_count() != before:
            raise Failed("a batch with a malformed or forbidden command was executed in part")
        answers = expect(web.ask("POST", "/v1/commands", [{"markRead": {"thread": "SW1A", "upTo": 1}}] * 1000, ann.token), 200, what="a batch of 1000")
        if len(answers) != 1000:
            raise Failed(f"{len(answers)} answers to 1000 commands")
        # A batch is decided command by command: a rejection stops nothing.
        answers = expect(web.ask("POST", "/v1/commands", [{"joinThread": {"thread": "M1"}}, good], ann.token), 200, what="a batch with a rejection")
        if answers[0].get("rejection", {}).get("code") != "unknownThread" or not answers[1].get("positions"):
            raise Failed(f"a batch with a rejection: {answers}")

    def timeline_count(self):
        return self.web.get("/v1/threads/SW1A", self.ann.token)["messages"]

    # Limits, deletion

    def limits(self):
        """Every limited operation gives 429 to repeated attempts for one account."""
        email = "limits@example.org"
        bodies = {
            "/v1/sign-up": {"username": "Limits", "email": email, "password": PASSWORD}, "/v1/resend-code": {"email": email},
            "/v1/confirm": {"email": email, "code": "000000"}, "/v1/sign-in": {"email": email, "password": PASSWORD},
            "/v1/forgot-password": {"email": email}, "/v1/reset-password": {"email": email, "code": "000000", "password": PASSWORD},
        }
        for target, body in bodies.items():
            self.until_limited(target, body, None)
        cara = self.server.person(self.web, "Cara")
        self.until_limited("/v1/change-password", {"old": "wrong password", "new": PASSWORD}, cara.token)
        self.until_limited("/v1/delete-account", {"password": "wrong password"}, cara.token)
        self.until_limited("/v1/change-email", {"email": "cara.new@example.org", "password": "wrong password"}, cara.token)
        self.until_limited("/v1/confirm-email", {"code": "000000", "newCode": "000000"}, cara.token)
        self.until_limited("/v1/account", {"password": "wrong password"}, cara.token)
        self.until_limited("/v1/me/export", {"password": "wrong password"}, cara.token)

    def until_limited(self, target, body, token):
        for _ in range(60):
            answer = self.web.ask("POST", target, body, token, self.server.from_elsewhere())
            if answer.status == 429:
                return
        raise Failed(f"POST {target}: 60 attempts for one account have no limit; the last answer is {answer}")

    def deletion(self):
        dan = self.server.person(self.web, "Dan")
        self.execute(dan, {"setPostcode": {"postcode": "SW1A 9ZZ"}}, {"postMessage": {"thread": "SW1A", "body": "the text of Dan"}})
        owned = self.own_threads(dan)
        self.post("/v1/delete-account", {"password": "wrong password"}, 401, "invalidCredentials", dan.token)
        self.exported(dan, "the text of Dan", owned)
        self.post("/v1/delete-account", {"password": PASSWORD}, 204, token=dan.token)
        expect(self.web.ask("GET", "/v1/me", token=dan.token), 401, "accountDeleted", "after delete-account")
        self.post("/v1/sign-in", {"email": dan.email, "password": PASSWORD}, 401, "invalidCredentials")
        entry = self.web.get("/v1/threads/SW1A/timeline?limit=1", self.ann.token)["items"][0]
        if entry["author"] != {"id": dan.id, "username": None} or entry["body"] is not None:
            raise Failed(f"the message of a deleted user: {entry}")
        self.check_successors(dan, owned)
        self.post("/v1/sign-up", {"username": "Dan", "email": dan.email, "password": PASSWORD}, 202)
        self.post("/v1/confirm", {"email": dan.email, "code": self.server.code(dan.email)}, 200)

    def exported(self, dan, text, owned):
        """Dan's export has what he wrote, and neither texts nor reports of others."""
        ann, thread = self.ann, next(iter(owned))
        post, = self.execute(ann, {"postMessage": {"thread": thread, "body": "the secret of Ann"}})
        mine, = self.execute(dan, {"postMessage": {"thread": thread, "body": "Dan in his thread"}})
        message = mine["events"][0]["messagePosted"]["message"]
        self.execute(dan, {"react": {"message": post["events"][0]["messagePosted"]["message"], "emoji": "\U0001F44D"}},
                     {"reply": {"message": message, "body": "Dan's reply"}})
        self.execute(ann, {"report": {"message": message, "reason": "the reason of Ann"}}, {"remove": {"message": message, "reason": "removed by Ann"}})
        self.post("/v1/me/export", {"password": "wrong password"}, 401, "invalidCredentials", dan.token)
        found = self.post("/v1/account", {"password": PASSWORD}, 200, token=dan.token)
        if found["account"]["email"] != dan.email or not found["account"]["sessions"]:
            raise Failed(f"the account of Dan: {found}")
        answer = self.web.ask("POST", "/v1/me/export", {"password": PASSWORD}, dan.token)
        if answer.status != 200:
            raise Failed(f"an export: {answer}")
        lines = [json.loads(line) for line in answer.body.decode().splitlines()]
        kinds = [next(iter(line)) for line in lines]
        if kinds[:2] != ["account", "profile"] or kinds[-1] != "complete" or set(kinds) != {"account", "profile", "membership", "event", "complete"}:
            raise Failed(f"the lines of an export: {kinds}")
        account, profile = lines[0]["account"], lines[1]["profile"]
        if account["email"] != dan.email or not account["sessions"] or [profile["id"], profile["username"], profile["postcode"]] != [dan.id, "Dan", "SW1A 9ZZ"]:
            raise Failed(f"the account of an export: {account}, {profile}")
        whole = answer.body.decode()
        missing = [part for part in (text, "Dan in his thread", "Dan's reply", "\U0001F44D", "threadJoined") if part not in whole]
        leaked = [part for part in ("the secret of Ann", "the reason of Ann", "removed by Ann", PASSWORD, dan.token, '"Ann"', ann.email) if part in whole]
        if missing or leaked:
            raise Failed(f"an export lacks {missing} and has {leaked}")

    def own_threads(self, dan):
        """Opens threads of which Dan is the owner. Returns the successor in each, or None."""
        ann, bob = self.ann, self.bob
        moderated, joined, shared, lonely = (identifier() for _ in range(4))
        for thread in (moderated, joined, shared, lonely):
            self.execute(dan, {"openThread": {"thread": thread, "name": "Dan's"}})
        # A moderator who joined last, the member whose latest join is the first, and another owner.
        self.execute(bob, {"joinThread": {"thread": moderated}}, {"joinThread": {"thread": joined}})
        self.execute(ann, {"joinThread": {"thread": moderated}}, {"joinThread": {"thread": joined}}, {"joinThread": {"thread": shared}})
        self.execute(bob, {"leaveThread": {"thread": joined}}, {"joinThread": {"thread": joined}}, {"joinThread": {"thread": shared}})
        self.execute(dan, {"setRole": {"thread": moderated, "user": ann.id, "role": "moderator"}}, {"setRole": {"thread": shared, "user": bob.id, "role": "owner"}})
        return {moderated: ann.id, joined: ann.id, shared: None, lonely: None}

    def check_successors(self, dan, owned):
        """The roles of a deleted user end in the commit of the erasure, first by their successors."""
        events = self.server.events()
        at = next(index for index, event in enumerate(events) if event.get("userErased", {}).get("user") == dan.id)
        ends = [event["roleSet"] for event in events[at + 1:] if "roleSet" in event]
        roles = {}
        for role in ends:
            roles.setdefault(role["thread"], []).append((role["user"], role["role"], role["by"]))
        expected = {thread: [*([(user, "owner", dan.id)] if user else []), (dan.id, "member", dan.id)] for thread, user in owned.items()}
        # They follow it immediately, which nothing but the same commit guarantees.
        if roles != expected or any("roleSet" not in event for event in events[at + 1:at + 1 + len(ends)]):
            raise Failed(f"the end of the roles of a deleted user: {events[at:at + 8]}, expected {expected}")
        for thread, user in owned.items():
            if user and [(each["user"]["id"], each["role"]) for each in self.web.get(f"/v1/threads/{thread}/roles", self.ann.token)["items"]] != [(user, "owner")]:
                raise Failed(f"the roles in {thread} of a deleted user")
        self.execute(self.ann, {"openDirect": {"with": [dan.id]}}, rejected="cannotMessage")

    def coverage(self):
        seen = {(path, "GET" if method == "HEAD" else method, status) for path, method, status, _ in self.document.used}
        for path, method, operation in self.operations():
            for status, response in operation["responses"].items():
                # A user reaches the default limits by work of many seconds only; `LimitTests` has low ones.
                if int(status) in UNREACHED or response.get("$ref", "").endswith("/TooManyRequests"):
                    continue
                # Another method of the path gives it.
                methods = METHODS if status == "405" else [method]
                if not any((path, each, int(status)) in seen for each in methods):
                    raise Failed(f"{method} {path} was never answered with {status}")
        described = {name.removeprefix("command.") for name in self.document.root["components"]["schemas"] if name.startswith("command.")}
        if described != self.accepted:
            raise Failed(f"commands that were not accepted, or are not described: {described ^ self.accepted}")


def check(server, document):
    Routes(server, document).run()
