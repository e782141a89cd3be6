"""The page without a server: it starts with what was seen last, and sends later what was written. Nothing that was erased,
that the person can no longer read, or that is of another person is kept."""

import http.server
import pathlib
import threading
import time
import uuid

from conversation import people
from gone import become, deletes, enter_as, is_signed_out, private_thread, signs_out
from harness import Failed, wait

# Everything that the page keeps in the browser beyond the tab.
KEPT = """
const [done] = arguments;
(async () => {
    const found = { outbox: [], kept: [], caches: await caches.keys(), local: { ...localStorage } };
    const database = await new Promise((resolve, reject) => {
        const opening = indexedDB.open("chat");
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
    });
    for (const name of database.objectStoreNames) {
        const reading = database.transaction(name).objectStore(name).getAll();
        found[name] = await new Promise((resolve, reject) => { reading.onsuccess = () => resolve(reading.result); reading.onerror = () => reject(reading.error); });
    }
    database.close();
    for (const name of found.caches) for (const request of await (await caches.open(name)).keys()) (found.files ??= []).push(new URL(request.url).pathname);
    return JSON.stringify(found);
})().then(done, (error) => done("failed: " + error));
"""


def run(tool, directory):
    """Returns the number of steps."""
    parts = [starts, erased, erased_before_read, taken, access_lost, sessions, former, version]
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
            person.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
        for part in parts:
            part(server, ann, bob)
    return {"steps": len(parts)}


def kept(person):
    """Returns what the browser keeps, as a text."""
    return person.driver.execute_async_script(KEPT)


def keeps(person, *texts):
    wait(f"{person.name}'s browser keeps {texts}", lambda: all(text in kept(person) for text in texts))


def keeps_nothing_of(person, *texts):
    wait(f"{person.name}'s browser keeps nothing of {texts}", lambda: not any(text in kept(person) for text in texts))


def worker(person):
    """Waits until the page starts without a server."""
    wait("the worker has the page", lambda: person.driver.execute_async_script(
        "const [done] = arguments; navigator.serviceWorker.getRegistration().then((found) => done(Boolean(found?.active)), () => done(false))"))


def starts(server, ann, bob):
    """Bob's page starts without a server, with the thread that he has seen; what he writes arrives later."""
    thread = bob.get("/v1/threads/SW1A")["id"]
    ann.commands([{"postMessage": {"thread": thread, "body": "Seen by Bob"}}])
    other = private_thread(ann, bob, "Rose committee")
    bob.driver.refresh()
    for one, text in ((other, "The secret of Ann"), (thread, "Seen by Bob")):
        bob.open(f"t/{one}")
        bob.see(text, "main .timeline")
    keeps(bob, "Seen by Bob", "The secret of Ann", f"thread {thread}", f"thread {other}")
    worker(bob)
    server.kill()
    bob.driver.get("about:blank")
    bob.driver.get(f"{server.url}/#/t/{thread}")
    bob.see("Seen by Bob", "main .timeline")
    bob.see("Rose committee", ".thread-list")
    bob.see("No connection", ".connection")
    bob.write("Written without a server")
    bob.see("Waiting to be sent", "main .timeline")
    bob.driver.refresh()
    bob.see("Written without a server", "main [data-waiting]")
    bob.open(f"t/{other}")
    bob.see("The secret of Ann", "main .timeline")
    bob.open(f"t/{thread}")
    server.start()
    wait("nothing waits", lambda: not bob.find("[data-waiting]"))
    ann.driver.get(f"{server.url}/#/t/{thread}")
    ann.see("Written without a server", "main .timeline")
    # What others wrote meanwhile is there as well.
    ann.write("After the start")
    bob.see("After the start", "main .timeline")
    texts = [text for _, text in bob.shown()]
    if texts.count("Written without a server") != 1:
        raise Failed(f"Bob sees {texts}")


def erased(server, ann, bob):
    """A deleted and a removed message, and the messages and the name of a deleted account, go from what is kept: at once, and of
    a page that was closed meanwhile at its next start."""
    thread = bob.get("/v1/threads/SW1A")["id"]
    signs_out(ann)
    for name, is_open in (("Cat", True), ("Dan", False)):
        become(ann, name)
        ann.open(f"t/{thread}")
        for text in ("Words of", "Deleted words of"):
            ann.write(f"{text} {name}")
        bob.driver.get(f"{server.url}/#/t/{thread}")
        bob.see(f"Deleted words of {name}", "main .timeline")
        keeps(bob, f"Words of {name}", f"Deleted words of {name}")
        # Another view, so that the thread does not follow the events.
        bob.open("settings")
        bob.see("Settings", "main h1")
        if not is_open:
            bob.driver.get("about:blank")
        message = ann.id_of(f"Deleted words of {name}")
        ann.commands([{"retract": {"message": message}}])
        if is_open:
            keeps_nothing_of(bob, f"Deleted words of {name}")
        deletes(ann)
        if not is_open:
            bob.driver.get(f"{server.url}/#/settings")
            bob.see("Settings", "main h1")
        keeps_nothing_of(bob, f"ords of {name}", f'"{name}"')
        keeps(bob, "Seen by Bob")


# Shows what is kept, as a start without a connection does, and learns of an erasure before anything is read.
ERASE = """
const [user, done] = arguments;
(async () => {
    window.fetch = () => Promise.reject(new TypeError("no connection"));
    const [kept, store] = await Promise.all([import("/kept.js"), import("/store.js")]);
    const found = await kept.overview();
    const { at } = await new Promise((resolve) => {
        indexedDB.open("chat").onsuccess = ({ target: { result } }) => {
            result.transaction("kept").objectStore("kept").get("overview").onsuccess = (event) => resolve(event.target.result);
        };
    });
    store.restore(found);
    const content = { messages: [], replies: [], namelessUsers: [user], namelessThreads: [], threads: [] };
    store.forgetErased(content);
    await kept.forgetErased(content);
    return at;
})().then(done, (error) => done("failed: " + error));
"""


def erased_before_read(server, ann, bob):
    """What is erased while the page has only read what was kept goes from it, which is no newer for that."""
    thread = bob.get("/v1/threads/SW1A")["id"]
    become(ann, "Fay")
    ann.open(f"t/{thread}")
    ann.write("The last words")
    bob.driver.get(f"{server.url}/#/t/{thread}")
    bob.see("The last words", "main .timeline")
    keeps(bob, "The last words", '"Fay"')
    bob.driver.get(f"{server.url}/v1/openapi.json")
    at = bob.driver.execute_async_script(ERASE, ann.id)
    keeps_nothing_of(bob, '"Fay"')
    if f'"at":{at}' not in kept(bob):
        raise Failed(f"what was kept at {at} counts as newer")
    bob.driver.get(f"{server.url}/")
    deletes(ann)


def taken(server, ann, bob):
    """A text that is edited away, deleted or removed, a name of before, that of a thread and an invitation that ends go from what is
    kept, although nothing can be read again after the event."""
    become(ann, "Gil")
    ann.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
    thread = private_thread(ann, bob, "Former garden")
    other = ann.open_thread("Secret room")
    ann.commands([{"setThreadPolicy": {"thread": other, "policy": "inviteOnly"}}, {"invite": {"thread": other, "user": bob.id}}])
    bob.driver.get(f"{server.url}/#/t/{thread}")
    bob.driver.refresh()
    bob.see("The secret of Gil", "main .timeline")
    for act in ("edit", "retract", "remove"):
        message = str(uuid.uuid4())
        ann.commands([{"postMessage": {"thread": thread, "message": message, "body": f"Words to {act}"}}])
        bob.see(f"Words to {act}", "main .timeline")
        keeps(bob, f"Words to {act}")
        # The list has it too.
        wait("the overview is kept", lambda: kept(bob).count(f"Words to {act}") > 1)
        bob.run("window.former = window.fetch; window.fetch = () => Promise.reject(new TypeError('no connection'));")
        if act == "remove":
            ann.commands([{"remove": {"message": message, "reason": "spam"}}])
        else:
            ann.commands([{act: {"message": message, **({"body": "Other words"} if act == "edit" else {})}}])
        keeps_nothing_of(bob, f"Words to {act}")
        bob.run("window.fetch = window.former;")
    wait("the invitation is kept", lambda: "Secret room" in kept(bob) and '"Gil"' in kept(bob) and "Former garden" in kept(bob))
    bob.run("window.fetch = () => Promise.reject(new TypeError('no connection'));")
    ann.commands([{"changeUsername": {"username": "Gina"}}, {"revokeInvitation": {"thread": other, "user": bob.id}},
                  {"renameThread": {"thread": thread, "name": "Later garden"}}])
    keeps_nothing_of(bob, '"Gil"', "Secret room", "Former garden")
    keeps(bob, "Gina", "Later garden")
    bob.driver.refresh()
    deletes(ann)


def access_lost(server, ann, bob):
    """A thread from which Bob is removed goes from what is kept."""
    become(ann, "Eve")
    for is_open in (True, False):
        name = f"Secret garden {is_open}"
        thread = private_thread(ann, bob, name)
        bob.driver.get(f"{server.url}/#/t/{thread}")
        bob.driver.refresh()
        bob.see("The secret of Eve", "main .timeline")
        keeps(bob, "The secret of Eve", name)
        if not is_open:
            bob.driver.get("about:blank")
        ann.commands([{"removeMember": {"thread": thread, "user": bob.id, "reason": "spam"}}])
        if not is_open:
            bob.driver.get(f"{server.url}/#/")
            bob.see("Hello", "main h1")
        keeps_nothing_of(bob, "The secret of Eve", name)


def sessions(server, ann, bob):
    """After a session, nothing is kept of it, however it ended, and the next person sees nothing, without a server either."""
    thread = bob.get("/v1/threads/SW1A")["id"]
    for end in (signs_out, is_signed_out, ended_while_closed):
        bob.driver.get(f"{server.url}/#/t/{thread}")
        bob.see("Seen by Bob", "main .timeline")
        keeps(bob, "Seen by Bob")
        worker(bob)
        end(bob)
        keeps_nothing_of(bob, "Seen by Bob", bob.id, "Bob", "SW1A")
        server.kill()
        bob.driver.get("about:blank")
        bob.driver.get(f"{server.url}/#/t/{thread}")
        bob.see("Trying again", "main")
        bob.see_none("Seen by Bob")
        server.start()
        bob.see("Sign in", "h1")
        enter_as(bob, ann)
        bob.open(f"t/{thread}")
        bob.see("Seen by Bob", "main .timeline")
        keeps(bob, ann.id)
        signs_out(bob)
        enter_as(bob, bob)


# Writes what waits to be sent, by user and age in days.
WAIT = """
const [items, done] = arguments;
indexedDB.open("chat").onsuccess = ({ target: { result } }) => {
    const running = result.transaction("outbox", "readwrite");
    for (const [user, days, body] of items) {
        running.objectStore("outbox").add({ user, id: crypto.randomUUID(), thread: "t", message: null, body, mentions: [], writtenAt: new Date(Date.now() - days * 86_400_000).toISOString(), rejection: { code: "x", message: "x" } });
    }
    running.oncomplete = () => { result.close(); done(); };
};
"""


def former(server, ann, bob):
    """What waits of a user whose session ended elsewhere is kept for 30 days, whoever uses the browser meanwhile."""
    signs_out(ann)
    become(ann, "Ida")
    items = [[ann.id, 31, "Too old of Ida"], [ann.id, 29, "Still there of Ida"], [bob.id, 31, "Too old of Bob"], [bob.id, 29, "Still there of Bob"]]
    bob.driver.execute_async_script(WAIT, items)
    bob.driver.refresh()
    keeps_nothing_of(bob, "Too old of Ida")
    # Who is signed in sees what waits.
    keeps(bob, "Still there of Ida", "Too old of Bob", "Still there of Bob")
    is_signed_out(bob)
    bob.driver.refresh()
    bob.see("Sign in", "h1")
    keeps_nothing_of(bob, "Too old of Bob")
    enter_as(bob, ann)
    keeps(bob, "Still there of Ida", "Still there of Bob")
    signs_out(bob)
    keeps_nothing_of(bob, "of Ida")
    enter_as(bob, bob)
    keeps(bob, "Still there of Bob")
    bob.driver.execute_async_script("const [done] = arguments; indexedDB.open('chat').onsuccess = ({ target: { result } }) => { const running = result.transaction('outbox', 'readwrite'); running.objectStore('outbox').clear(); running.oncomplete = () => { result.close(); done(); }; };")


def ended_while_closed(person):
    """The session ends while the page is closed."""
    person.driver.get(f"{person.server.url}/v1/openapi.json")
    person.request("POST", "/v1/sign-out")
    person.driver.get(f"{person.server.url}/")
    person.see("Sign in", "h1")


def version(server, ann, bob):
    """A server with other files: its page replaces the one that is kept."""
    worker(bob)
    bob.driver.get("about:blank")
    server.kill()
    with Changed(server) as changed:
        bob.driver.get(f"{changed.url}/")
        wait("the page of the other version is kept", lambda: "/app.changed.js" in kept(bob))
        wait("and nothing of the former one", lambda: kept(bob).count('"shell ') == 1)
        bob.driver.get(f"{changed.url}/")
        wait("it is shown", lambda: bob.driver.title == "Another version")
    server.start()

    def is_replaced():
        # The browser looks for another version at a navigation.
        bob.driver.get(f"{server.url}/")
        time.sleep(1)
        return "/app.changed.js" not in kept(bob)

    wait("the page is replaced again", is_replaced)
    bob.driver.get(f"{server.url}/")
    wait("it is shown", lambda: bob.find(".shell"))


class Changed:
    """A server at the same address with another version of the page, and no API."""

    def __init__(self, server):
        self.url, self.port = server.url, server.port
        app = b"document.title = 'Another version';"
        self.files = {
            "/": (b"<!doctype html><title>Page</title><script type=module src=/app.changed.js></script>", "text/html"),
            "/app.changed.js": (app, "text/javascript"),
            "/worker.js": (b"const version = 'changed';\nconst shell = ['/', '/app.changed.js'];\n" + worker_source(), "text/javascript"),
        }

    def __enter__(self):
        files = self.files

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body, type = files.get(self.path, (b"", "text/plain"))
                self.send_response(200 if body else 503)
                self.send_header("Content-Type", type)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-cache")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def worker_source():
    return (pathlib.Path(__file__).resolve().parents[2] / "Sources/ChatServer/Page/worker.js").read_bytes()
