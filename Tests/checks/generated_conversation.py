#!/usr/bin/env python3
"""A conversation with a server, through the client that a generator made of `openapi.json`.

    generated_conversation.py openapi-python-client|openapi-generator FOLDER URL MAIL

FOLDER has the package `chat_client`, and MAIL the mails of the server. generated_clients.py makes both, and runs this
program with a Python that has the packages that the client needs. Every answer is read into the models of the client,
and these must have all that the server sent. Then a server of a later version answers, with codes, kinds and warnings
that the document does not have: the client goes on.
"""
import contextlib
import http.server
import importlib
import json
import pathlib
import re
import sys
import threading
import time
import uuid

PASSWORD = "correct horse battery"
PATIENCE = 60


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"FAILED {what}\n  expected {str(expected)[:3000]}\n  got      {str(got)[:3000]}")


def plain(value):
    """Returns the JSON value of models."""
    value = getattr(value, "actual_instance", value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def capital(name):
    return name[0].upper() + name[1:]


class PythonClient:
    """The client of openapi-python-client."""

    def __init__(self, url):
        self.url = url
        self.package = importlib.import_module("chat_client")
        self.models = importlib.import_module("chat_client.models")

    def client(self, token):
        return self.package.AuthenticatedClient(self.url, token) if token else self.package.Client(self.url)

    def module(self, tag, operation):
        return importlib.import_module(f"chat_client.api.{tag}.{operation}")

    def body(self, schema, fields):
        return getattr(self.models, schema).from_dict(fields)

    def command(self, fields):
        return self.body(f"Command{capital(next(iter(fields)))}", fields)

    def commands(self, fields):
        return [self.command(each) for each in fields] if isinstance(fields, list) else self.command(fields)

    def call(self, tag, operation, token=None, body=None, **arguments):
        """Returns the status, the models, the JSON and the headers of an answer."""
        if body is not None:
            arguments["body"] = body
        answer = self.module(tag, operation).sync_detailed(client=self.client(token), **arguments)
        return int(answer.status_code), answer.parsed, json.loads(answer.content or b"null"), answer.headers

    def events(self, token, after):
        """Yields the data of the events after a resume token, and stops after it is closed."""
        request = self.module("chat", "get_events")._get_kwargs(after=after)
        with self.client(token).get_httpx_client().stream(**request) as stream:
            expect("the status of the events", stream.status_code, 200)
            yield from (line[5:] for line in stream.iter_lines() if line.startswith("data:"))


class Generator:
    """The client of openapi-generator."""

    def __init__(self, url):
        self.url = url
        self.package = importlib.import_module("chat_client")
        self.models = importlib.import_module("chat_client.models")

    def api(self, tag, token):
        configuration = self.package.Configuration(host=self.url, access_token=token)
        return getattr(self.package, f"{capital(tag)}Api")(self.package.ApiClient(configuration))

    def body(self, schema, fields):
        return getattr(self.models, schema).from_dict(fields)

    def commands(self, fields):
        if isinstance(fields, list):
            return self.models.PostCommandsRequest([self.body("Command", each) for each in fields])
        return self.models.PostCommandsRequest(self.body("Command", fields))

    def call(self, tag, operation, token=None, body=None, **arguments):
        function = getattr(self.api(tag, token), f"{operation}_with_http_info")
        try:
            answer = function(*([] if body is None else [body]), **arguments)
        except self.package.ApiException as error:
            return error.status, error.data, json.loads(error.body), error.headers
        return answer.status_code, answer.data, json.loads(answer.raw_data or b"null"), answer.headers

    def events(self, token, after):
        stream = self.api("chat", token).get_events_without_preload_content(after=after)
        expect("the status of the events", stream.status, 200)
        rest = b""
        while chunk := stream.read1():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line[5:].decode() for line in lines if line.startswith(b"data:"))


class Conversation:
    def __init__(self, client, mail):
        self.client, self.mail = client, pathlib.Path(mail)

    def ask(self, status, tag, operation, **arguments):
        """Calls an operation; returns its value, which the models have without a loss."""
        got, model, value, headers = self.client.call(tag, operation, **arguments)
        expect(f"the status of {operation}, {value}", got, status)
        expect(f"the models of {operation}", plain(model) or value, value)
        self.resume_token = headers.get("Resume-Token")
        return value

    def code(self, email):
        """Waits for the mail to an address; returns its code."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for path in self.mail.glob("*.eml"):
                text = path.read_text()
                if re.search(rf"^To:.*{re.escape(email)}", text, re.MULTILINE):
                    path.unlink()
                    return re.search(r"Your code is ([0-9]{6})\.", text)[1]
            time.sleep(0.05)
        sys.exit(f"FAILED no mail to {email}")

    def person(self, name):
        """Signs a person up and in; returns the token and the id."""
        email, body = f"{name.lower()}@example.org", self.client.body
        self.ask(202, "accounts", "post_sign_up", body=body("SignUp", {"username": name, "email": email, "password": PASSWORD}))
        self.ask(200, "accounts", "post_confirm", body=body("Confirm", {"email": email, "code": self.code(email)}))
        signed_in = self.ask(200, "accounts", "post_sign_in", body=body("SignIn", {"email": email, "password": PASSWORD}))
        return signed_in["token"], signed_in["user"]["id"]

    def execute(self, token, commands):
        return self.ask(200, "chat", "post_commands", token=token, body=self.client.commands(commands))

    def run(self):
        (ann, ann_id), (bob, _) = self.person("Ann"), self.person("Bob")
        wrong = self.client.body("SignIn", {"email": "ann@example.org", "password": "wrong"})
        expect("a wrong password", self.ask(401, "accounts", "post_sign_in", body=wrong)["code"], "invalidCredentials")
        starts = []
        for token in (ann, bob):
            answer = self.execute(token, {"setPostcode": {"postcode": "SW1A 1AA"}})
            starts.append(self.resume_token)
            expect("the events of a postcode", [kind(event) for event in answer["events"]][0], "postcodeSet")
        message, reply = str(uuid.uuid4()), str(uuid.uuid4())
        post = {"postMessage": {"message": message, "thread": "SW1A", "body": "Could someone pick up milk?"}, "correlation": "milk"}
        expect("the first post", self.execute(ann, post)["duplicate"], False)
        expect("the same post", self.execute(ann, post)["duplicate"], True)
        answers = self.execute(bob, [
            {"reply": {"reply": reply, "message": message, "body": "I can, at noon."}},
            {"edit": {"message": message, "body": "No"}},
            {"custom": {"kind": "com.example.poll", "thread": "SW1A", "payload": {"choices": ["milk", None], "days": 1.5}}}])
        expect("the answers of a batch", [answer.get("rejection", {}).get("code") for answer in answers], [None, "notTheAuthor", None])
        page = self.ask(200, "chat", "get_threads_thread_timeline", token=ann, thread="SW1A", limit=10)
        expect("the timeline", [(item["id"], item["body"], item["replyCount"]) for item in page["items"]],
               [(message, "Could someone pick up milk?", 1)])
        page = self.ask(200, "chat", "get_messages_message_replies", token=ann, message=message)
        expect("the replies", [(item["id"], item["body"]) for item in page["items"]], [(reply, "I can, at noon.")])
        me = self.ask(200, "chat", "get_me", token=ann)
        expect("the user", (me["id"], [thread["name"] for thread in me["threads"]]), (ann_id, ["SW1A"]))
        expect("the threads", len(self.ask(200, "chat", "get_threads", token=ann)["items"]), 1)
        unknown = self.ask(404, "chat", "get_threads_thread", token=ann, thread=str(uuid.uuid4()))
        expect("an unknown thread", unknown["code"], "notFound")
        self.check_events(ann, starts[0])
        self.ask(204, "accounts", "post_sign_out", token=ann)
        expect("after signing out", self.ask(401, "chat", "get_me", token=ann)["code"], "notSignedIn")

    def check_events(self, token, start):
        """Reads the events after a resume token, each into its model."""
        kinds = []
        for text in self.client.events(token, start):
            value = json.loads(text)
            expect("the model of an event", plain(self.client.body("Event", value)), value)
            kinds.append(kind(value))
            if kinds[-1] == "custom":
                break
        expect("the events of a message, a reply and a custom event", kinds[-3:], ["messagePosted", "replyPosted", "custom"])


class LaterServer(http.server.BaseHTTPRequestHandler):
    """A server of a later version: every request has an answer with what the document does not have."""

    EVENT = {"position": 7, "recordedAt": "2026-11-21T05:03:12.123Z", "redacted": ["later"], "laterKind": {"later": 1}}
    PROBLEM = {"type": "about:blank", "title": "Unauthorized", "status": 401, "code": "laterCode", "detail": "A later reason."}
    ANSWERS = {
        "/v1/me": (401, PROBLEM),
        "/v1/commands": (200, [
            {"line": 1, "rejection": {"code": "laterRule", "message": "A later rule."}},
            {"line": 2, "positions": [7, 7], "events": [EVENT], "duplicate": False}]),
        "/v1/threads/SW1A/events": (200, {"items": [EVENT], "older": None, "newer": 7}),
        "/healthz": (200, {"status": "ok", "warnings": ["laterWarning"]}),
    }

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, value = self.ANSWERS[self.path.split("?")[0]]
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def later_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LaterServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def check_later_version(client):
    """Nothing of a later version is an error: the models have its codes and warnings, and the events of its kinds."""
    post = {"postMessage": {"thread": "SW1A", "body": "Milk?"}}
    for status, tag, operation, arguments in (
            (401, "chat", "get_me", {}), (200, "chat", "post_commands", {"body": client.commands([post, post])}),
            (200, "chat", "get_threads_thread_events", {"thread": "SW1A"}), (200, "server", "get_healthz", {"token": None})):
        got, model, value, _ = client.call(tag, operation, **{"token": "later", **arguments})
        expect(f"the status of {operation} of a later version", got, status)
        expect(f"the models of {operation} of a later version", without_kind(plain(model)), without_kind(value))
    event = client.body("Event", LaterServer.EVENT)
    expect("the model of an event of a later version", without_kind(plain(event)), without_kind(LaterServer.EVENT))


def without_kind(value):
    """Returns a value without the later kind, which a model can leave out."""
    if isinstance(value, list):
        return [without_kind(each) for each in value]
    return {name: without_kind(each) for name, each in value.items() if name != "laterKind"} if isinstance(value, dict) else value


def kind(event):
    return next(name for name, value in event.items() if isinstance(value, dict))


def main():
    name, folder, url, mail = sys.argv[1:]
    sys.path.insert(0, folder)
    client = {"openapi-python-client": PythonClient, "openapi-generator": Generator}[name]
    Conversation(client(url), mail).run()
    with later_server() as later:
        check_later_version(client(later))


if __name__ == "__main__":
    main()
