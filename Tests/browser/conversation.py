"""Two people from sign-up to a conversation, with a lost connection and a killed server in the middle."""

import contextlib
import time

from harness import PATIENCE, Failed, Person, Server, wait

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>", "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}", "\u202egnirts desrever\u202c and on", "\u2066\u2067isolates\u2069", "A" * 600,
    "\U0001F469\u200d\U0001F469\u200d\U0001F467 \U0001F95B caf\u00e9 \u05e9\u05dc\u05d5\u05dd", "two\nlines\n\n  and spaces", "&lt;b&gt; &amp; %00 \\u0000",
    "data:text/html,<script>alert(1)</script>",
]
HISTORY = 1_000
# The messages that the page reads first.
FIRST = 40


@contextlib.contextmanager
def people(tool, directory, names, options=()):
    """A server and browsers, which are ended in any case."""
    server, persons = Server(tool, directory / "server", options), []
    with contextlib.ExitStack() as ends:
        ends.callback(lambda: server.process and server.process.poll() is None and server.kill())
        server.start()
        for name in names:
            persons.append(Person(name, server, directory / f"profile-{name}"))
            # One that cannot be ended does not keep the others.
            ends.callback(persons[-1].quit)
        yield server, persons
        for person in persons:
            person.check()
        server.stop()


def run(tool, directory, rng):
    """One run. Returns numbers for the report."""
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        thread = meet(ann, bob)
        talk(ann, bob)
        unread(ann, bob, thread)
        scrolled = history(ann, bob)
        expected = {"Ann": [], "Bob": []}
        lost_connection(ann, bob, thread, expected, rng)
        two_tabs(bob, ann, thread, expected)
        killed = killed_server(server, ann, bob, thread, expected, rng)
        hostile(ann, bob, thread, expected)
        compare(ann, bob, thread, expected)
        return {"history": scrolled, "written": sum(map(len, expected.values())), "waited": killed}


def meet(ann, bob):
    """Both sign up, of whom one loses the name to the other, and set their postcodes."""
    bob.open("sign-up")
    bob.fill("Name", "Ann Other")
    bob.fill("E-mail address", bob.email)
    bob.fill("Password", bob.password)
    bob.click("Sign up", ".form")
    bob.see("Confirm your address", "h1")
    code = bob.server.code(bob.email)
    ann.sign_up("Ann Other")
    bob.confirm(code, other_name="Bob")
    for person, postcode in ((ann, "SW1A 1AA"), (bob, "sw1a2aa")):
        person.fill("Your postcode", postcode, "main")
        person.click("Set the postcode", "main")
        person.see("SW1A", "main h1")
    ann.see("2 members", ".thread-detail")
    return ann.get("/v1/threads/SW1A")["id"]


def talk(ann, bob):
    """Messages, replies, edits and a retraction arrive live."""
    ann.write("Could someone pick up milk?")
    question = bob.id_of("Could someone pick up milk?")
    bob.click("Reply", f'[data-id="{question}"]')
    bob.write("I can, at five.", ".panel")
    ann.see("1 reply", f'main [data-id="{question}"]')
    ann.click("1 reply", f'main [data-id="{question}"]')
    ann.see("I can, at five.", ".panel")
    ann.write("Thank you!", ".panel")
    bob.see("Thank you!", ".panel")
    bob.see("2 replies", f'main [data-id="{question}"]')
    ann.click("Close", ".panel")
    ann.menu(question, "Edit")
    ann.fill("Text of the message", "Could someone pick up oat milk?", "main")
    ann.click("Save", "main")
    bob.see("Could someone pick up oat milk?", "main")
    bob.see("edited", f'main [data-id="{question}"]')
    bob.click("Close", ".panel")
    bob.write("Wrong thread, sorry")
    mistake = ann.id_of("Wrong thread, sorry")
    bob.menu(mistake, "Delete…")
    bob.click("Delete", "dialog .form")
    ann.see("This message was deleted.", "main")
    ann.open("settings")
    ann.fill("Your name", "Ann")
    ann.click("Change the name", "main")
    bob.see("Ann", f'main [data-id="{question}"] .author')
    bob.see_none("Ann Other", "main")


def unread(ann, bob, thread):
    """Unread counts rise live, and end when the messages are seen."""
    for text in ("One", "Two", "Three"):
        bob.write(text)
    ann.see("3", ".thread-list .unread")
    wait("the title has the count", lambda: ann.driver.title.startswith(("(3)", "(3,")))
    ann.open(f"t/{thread}")
    ann.see("New messages", "main .timeline")
    ann.see("Three", "main .timeline")
    wait("the count ends", lambda: not ann.find(".thread-list .unread"))
    wait("the server has the read marker", lambda: ann.get("/v1/me")["threads"][0]["unread"] == 0)


def history(ann, bob):
    """A thread of 1,000 messages is scrolled to its beginning, with a bounded document and a steady position."""
    thread = ann.open_thread("History")
    ann.commands([{"postMessage": {"thread": thread, "body": f"Message {number}" + "\nand more" * (number % 4)}} for number in range(1, HISTORY + 1)])
    bob.open(f"t/{thread}")
    bob.click("Join the thread", "main")
    bob.see(f"Message {HISTORY}", "main .timeline")
    wait("the list begins at its end", lambda: bob.run("""
        const timeline = document.querySelector("main .timeline");
        return timeline.scrollHeight - timeline.scrollTop - timeline.clientHeight < 60"""))
    # Scrolls by two thirds of the view, and checks that what was in its middle moves by exactly as much.
    seen, most, largest_jump = {}, 0, 0
    end = time.monotonic() + 10 * PATIENCE
    while True:
        state = bob.driver.execute_async_script("""
            const [done] = arguments;
            const timeline = document.querySelector("main .timeline");
            const frame = timeline.getBoundingClientRect();
            const entries = () => [...timeline.querySelectorAll(".entry[data-id]")];
            const middle = entries().find((entry) => entry.getBoundingClientRect().bottom > frame.top);
            const before = middle.getBoundingClientRect().top;
            const distance = Math.min(timeline.scrollTop, timeline.clientHeight * 0.66);
            timeline.scrollBy(0, -distance);
            setTimeout(() => done({
                texts: entries().map((entry) => [entry.dataset.id, entry.querySelector(".body").textContent]),
                jump: middle.isConnected ? Math.abs(middle.getBoundingClientRect().top - before - distance) : 0,
                top: timeline.scrollTop, beginning: timeline.querySelector(".timeline-top").textContent,
            }), 60);
        """)
        numbers = [int(text.split("\n")[0].split()[1]) for _, text in state["texts"]]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise Failed(f"the list is not in order: {numbers}")
        seen.update(zip(numbers, (identifier for identifier, _ in state["texts"])))
        most, largest_jump = max(most, len(numbers)), max(largest_jump, state["jump"])
        if state["beginning"].startswith("This is the beginning") and state["top"] == 0:
            break
        if time.monotonic() > end:
            raise Failed(f"the beginning was not reached: {min(seen)} of {HISTORY}")
    if sorted(seen) != list(range(1, HISTORY + 1)):
        raise Failed(f"messages were not shown: {sorted(set(range(1, HISTORY + 1)) - set(seen))[:20]}")
    if most > 300:
        raise Failed(f"the document held {most} messages")
    if largest_jump > 3:
        raise Failed(f"the position jumped by {largest_jump} pixels")
    ann.write("The latest")
    bob.see("1 new message", ".jump")
    bob.click("1 new message", "main")
    bob.see("The latest", "main .timeline")
    return {"messages": len(seen), "in the document at most": most, "jump in pixels": largest_jump}


def lost_connection(ann, bob, thread, expected, rng):
    """What is written without a connection waits, and is sent when it is back."""
    for person in (ann, bob):
        person.open(f"t/{thread}")
        person.see("Three", "main .timeline")
    bob.connect(False)
    bob.see("No connection", ".connection")
    for number in range(3):
        write(bob, f"Bob offline {number}", expected)
        write(ann, f"Ann meanwhile {number}", expected)
    bob.see("Waiting to be sent", "main .timeline")
    wait("the three are shown as waiting", lambda: bob.waiting() == expected["Bob"][-3:])
    bob.connect(True)
    ann.see("Bob offline 2", "main .timeline")
    bob.see("Ann meanwhile 2", "main .timeline")
    wait("nothing waits", lambda: not bob.waiting())


def two_tabs(bob, ann, thread, expected):
    """What waits is sent once, although two tabs are open and both were closed or loaded again meanwhile."""
    first = bob.driver.current_window_handle
    bob.driver.switch_to.new_window("tab")
    bob.watch()
    bob.driver.get(f"{bob.server.url}/#/t/{thread}")
    bob.see("Bob offline 2", "main .timeline")
    second = bob.driver.current_window_handle
    for handle in (first, second):
        bob.driver.switch_to.window(handle)
        bob.connect(False)
    for handle, text in ((first, "From the first tab"), (second, "From the second tab")):
        bob.driver.switch_to.window(handle)
        write(bob, text, expected)
    wait("both tabs show both", lambda: len(bob.waiting()) == 2)
    bob.check()
    bob.driver.get("about:blank")
    bob.connect(True)
    bob.driver.get(f"{bob.server.url}/#/t/{thread}")
    bob.driver.switch_to.window(first)
    bob.connect(True)
    ann.see("From the second tab", "main .timeline")
    for handle in (first, second):
        bob.driver.switch_to.window(handle)
        bob.see("From the second tab", "main .timeline")
        wait("nothing waits", lambda: not bob.waiting())
    bob.check()
    bob.driver.close()
    bob.driver.switch_to.window(first)


def killed_server(server, ann, bob, thread, expected, rng):
    """The server is killed and started again while both write."""
    kill_at, start_at = rng.randrange(3, 8), rng.randrange(10, 14)
    most = 0
    for number in range(18):
        if number == kill_at:
            server.kill()
        if number == start_at:
            # Both have written while it was away.
            wait("something waits", lambda: ann.waiting() and bob.waiting())
            most = max(len(ann.waiting()), len(bob.waiting()))
            server.start()
        for person in (ann, bob):
            write(person, f"{person.name} writes {number}", expected)
    for person in (ann, bob):
        for other in (ann, bob):
            person.see(f"{other.name} writes 17", "main .timeline")
        wait("nothing waits", lambda: not person.waiting())
    return most


def hostile(ann, bob, thread, expected):
    """Text of others is text, whatever it contains."""
    bob.open("settings")
    bob.fill("Your name", "<img src=x onerror=alert(1)>")
    bob.click("Change the name", "main")
    bob.see_feedback("Your name is changed.")
    bob.open(f"t/{thread}")
    for text in HOSTILE:
        write(bob, text, expected)
    for text in HOSTILE:
        ann.id_of(text)
    ann.see("<img src=x onerror=alert(1)>", "main .author")
    if ann.run("return document.querySelectorAll('.timeline img, .timeline script, .timeline a[href^=\"javascript\"], .timeline a[href^=\"data\"]').length"):
        raise Failed("a text became an element")
    write(bob, "See https://example.org/a?b=<c> and http://user:secret@example.org.", expected)
    ann.see("See https", "main .timeline")
    links = ann.run("return [...document.querySelectorAll('main .timeline .body a')].map((link) => [link.href, link.rel, link.textContent])")
    if links != [["https://example.org/a?b=", "noopener noreferrer nofollow ugc", "https://example.org/a?b="]]:
        raise Failed(f"the links are {links}")


def write(person, text, expected):
    person.write(text)
    expected[person.name].append(text)


def compare(ann, bob, thread, expected):
    """Nothing is lost, nothing is there twice, and both sides have the same order as the server."""
    stored = ann.timeline(thread)
    for person in (ann, bob):
        texts = [entry["body"] for entry in stored if entry["author"]["id"] == person.id and entry["body"] in expected[person.name]]
        if texts != expected[person.name]:
            raise Failed(f"{person.name} wrote {expected[person.name]}, and the server has {texts}")
    ids = [entry["id"] for entry in stored]
    if len(set(ids)) != len(ids):
        raise Failed("an id is there twice")
    for person in (ann, bob):
        same_order(person, ids)
        person.driver.refresh()
        person.see("See https", "main .timeline")
        same_order(person, ids)
        if [text for _, text in person.shown()][-len(HOSTILE) - 1:-1] != HOSTILE:
            raise Failed(f"{person.name} is shown other texts: {person.shown()[-len(HOSTILE):]}")


def same_order(person, ids):
    """Waits until a person is shown the latest messages as the server has them."""
    def check():
        shown = [identifier for identifier, _ in person.shown()]
        return len(shown) >= min(len(ids), FIRST) and shown == ids[-len(shown):]
    try:
        wait("the order", check)
    except Failed:
        shown = [identifier for identifier, _ in person.shown()]
        state = person.run("""
            const timeline = document.querySelector("main .timeline");
            return [timeline.scrollTop, timeline.scrollHeight, timeline.clientHeight, document.querySelector(".connection").textContent, location.hash]""")
        raise Failed(f"{person.name} is shown {len(shown)} of {len(ids)} messages; not {[i for i, x in enumerate(ids) if x not in shown]}; "
                     f"in order: {[ids.index(x) if x in ids else None for x in shown]}; {state}") from None
