"""Sends the texts of mentions.jsonl in every way in, and compares whom they mention with the table.

Each text is a message, a reply or an edit, with `findMentions`: over HTTP, in a WebSocket, and by a client (`chat --lines`) that
is offline while it is given them. The part `units` of Tests/browser sends them by the page.
"""

import json
import pathlib
import subprocess

import program
from client_kill9 import Client
from program import Failed, identifier
from server_client import Server
from socket_client import WebSocket

# The first line has the members of the thread, each other one a text with those of whom it mentions.
MEMBERS, *ROWS = [json.loads(line) for line in (pathlib.Path(__file__).parent / "mentions.jsonl").read_text().splitlines()]


def register(tool, journal):
    """Registers the members in a new journal; returns the id of their open thread, and their names by their ids."""
    pathlib.Path(journal).parent.mkdir(parents=True)
    thread, names = identifier(), {identifier(): name for name in MEMBERS}
    first, *others = names
    commands = [{"registerUser": {"user": user, "username": name}} for user, name in names.items()]
    commands.append({"openThread": {"thread": thread, "name": "Members", "by": first}})
    commands += [{"joinThread": {"thread": thread, "user": user}} for user in others]
    subprocess.run([tool, "run", journal], input="\n".join(map(json.dumps, commands)).encode(), stdout=subprocess.DEVNULL, check=True)
    return thread, names


def compare(way, found, names):
    """Compares the ids of the users whom each text mentions with the table."""
    wrong = [(text, people, [names.get(user, user) for user in users]) for (text, people), users in zip(ROWS, found, strict=True)
             if [names.get(user) for user in users] != people]
    if wrong:
        text, people, users = wrong[0]
        raise Failed(f"{way}: {len(wrong)} texts mention others, the first is {text!r}: {users}, not {people}")


def commands(thread, message):
    """Returns a command with an id for each text, of which two thirds are about a message; and the ids."""
    made = []
    for number, (body, _) in enumerate(ROWS):
        name = ("postMessage", "reply", "edit")[number % 3]
        made.append({name: {{"postMessage": "message"}.get(name, name): identifier(), "body": body, "findMentions": True}
                     | ({"thread": thread} if name == "postMessage" else {"message": message})})
    return made, [next(fields[name] for name in ("reply", "edit", "message") if name in fields) for line in made for fields in line.values()]


def over_http(server, person, lines):
    with server.connection() as web:
        for line in lines:
            web.execute(line, person.token)


def in_a_socket(server, person, lines):
    with WebSocket(server.port, token=person.token) as web_socket:
        web_socket.hello()
        for number, line in enumerate(lines):
            answer = web_socket.ask({"id": number, "commands": line})
            if "rejection" in (answer.get("answer") or answer):
                raise Failed(f"{line}: {answer}")


def by_a_client(server, person, lines):
    client = Client(server.tool, server, person, server.directory / "client")
    client.start()
    program.wait_until("the client has its copy", lambda: list((client.directory / "data").rglob("*.chat")))
    server.stop()
    for line in lines:
        client.write(line)
    program.wait_until("the commands are queued", lambda: len(client.commands) == len(lines), pause=0.02)
    client.kill()
    server.start()
    client.finish()


def check(tool, scratch):
    thread, names = register(tool, str(scratch / "journal"))
    ways, sent = {"HTTP": over_http, "a WebSocket": in_a_socket, "a client": by_a_client}, {}
    with Server(tool, scratch, options=["--limit", "commands=10000"]) as server:
        for number, (way, send) in enumerate(ways.items()):
            with server.connection() as web:
                person = server.person(web, f"Writer {number}")
                web.execute({"joinThread": {"thread": thread}}, person.token)
                message = identifier()
                web.execute({"postMessage": {"message": message, "thread": thread, "body": "x"}}, person.token)
            lines, sent[way] = commands(thread, message)
            send(server, person, lines)
    mentions = {}
    for event in server.events():
        for kind, fields in event.items():
            if kind in ("messagePosted", "replyPosted", "messageEdited"):
                own = fields[{"messagePosted": "message", "replyPosted": "reply", "messageEdited": "edit"}[kind]]
                mentions[own] = fields.get("mentions", [])
    for way, ids in sent.items():
        compare(way, [mentions[own] for own in ids], names)
    print(f"mentions: {len(ROWS)} texts mention the people of the table; by {', '.join(ways)}", flush=True)
