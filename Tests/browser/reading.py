"""What counts as read: a thread opens at its first unread message, and only what was visible for a second is read."""

import time

from conversation import people
from harness import Failed, wait

# More than one page, and more than the document holds.
COUNT = 300

# The texts of the list, and what follows the divider.
LIST = """
    const timeline = document.querySelector("main .timeline");
    const texts = [...timeline.querySelectorAll(".entry[data-id] .body")].map((body) => body.textContent);
    const marker = timeline.querySelector(".unread-marker");
    const first = marker?.nextElementSibling.querySelector(".body").textContent ?? null;
    const frame = timeline.getBoundingClientRect();
    const box = marker?.getBoundingClientRect();
    return {texts, first, isMarkerVisible: Boolean(box && box.top >= frame.top && box.bottom <= frame.bottom)};
"""


def run(tool, directory):
    """Returns numbers for the report."""
    with people(tool, directory, ["Ann", "Bob"]) as (_, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        thread = shared(ann, bob)
        counted_beside_an_older_answer(ann, bob, thread)
        post(bob, thread, COUNT)
        read = opened_at_first_unread(ann, bob, thread)
        scrolled_to_the_end(bob, ann, thread)
        return {"messages": COUNT, "read by opening": read}


def shared(ann, bob):
    """Opens a thread of both."""
    thread = ann.open_thread("Reading")
    bob.commands([{"joinThread": {"thread": thread}}])
    ann.open("settings")
    ann.see("Settings", "main h1")
    return thread


def post(person, thread, count):
    person.commands([{"postMessage": {"thread": thread, "body": f"Message {number}"}} for number in range(1, count + 1)])


def unread(person, thread):
    return next(each["unread"] for each in person.get("/v1/me")["threads"] if each["id"] == thread)


# Holds the answers about the user until `releaseAnswers()`; `hasAnswer` tells that one has come.
HOLD = """
    const send = window.fetch;
    const released = new Promise((release) => { window.releaseAnswers = () => { window.fetch = send; release(); }; });
    window.hasAnswer = false;
    window.fetch = async (...request) => {
        const answer = await send(...request);
        if (!new URL(request[0].url ?? request[0], location.href).pathname.endsWith("/v1/me")) return answer;
        window.hasAnswer = true;
        await released;
        return answer;
    };
"""

RELEASE = """
    const [done] = arguments;
    window.releaseAnswers();
    const started = performance.now();
    // Before the page asks again.
    const look = () => {
        const text = document.querySelector("main .thread-list .unread, .sidebar .thread-row .unread")?.firstChild.textContent ?? null;
        if (performance.now() - started > 250) done(text);
        else setTimeout(look, 20);
    };
    setTimeout(look, 100);
"""


def counted_beside_an_older_answer(ann, bob, thread):
    """An answer about the user that was asked for before messages came does not make them read."""
    message = ann.commands([{"postMessage": {"thread": thread, "body": "from Ann"}}])[0]["events"][0]["messagePosted"]["message"]
    time.sleep(2)
    ann.run(HOLD)
    ann.commands([{"edit": {"message": message, "body": "from Ann, edited"}}])
    wait("an answer is held", lambda: ann.run("return window.hasAnswer"))
    bob.commands([{"postMessage": {"thread": thread, "body": f"Early {number}"}} for number in (1, 2, 3)])
    wait("the list counts the messages", lambda: ann.find(".thread-row .unread"))
    time.sleep(0.3)
    shown = ann.driver.execute_async_script(RELEASE)
    if shown != "3":
        raise Failed(f"the list has {shown!r} unread messages after the older answer, not 3")
    ann.commands([{"markRead": {"thread": thread, "upTo": ann.get(f"/v1/threads/{thread}/timeline?limit=1")["items"][0]["position"]}}])
    wait("the messages are read", lambda: not ann.find(".thread-row .unread"))


def opened_at_first_unread(ann, bob, thread):
    """Opening reads what is visible alone; opening again continues there; the jump to the latest reads all."""
    wait("the list has the count", lambda: ann.find(".thread-row .unread"))
    ann.open(f"t/{thread}")
    ann.see("New messages", "main .timeline")
    shown = ann.run(LIST)
    if shown["first"] != "Message 1" or not shown["isMarkerVisible"]:
        raise Failed(f"the divider is before {shown['first']!r}, visible: {shown['isMarkerVisible']}")
    time.sleep(4)
    left = unread(ann, thread)
    if not COUNT - 40 <= left < COUNT:
        raise Failed(f"{left} of {COUNT} are unread after opening")
    ann.open("settings")
    ann.see("Settings", "main h1")
    ann.open(f"t/{thread}")
    ann.see("New messages", "main .timeline")
    again = unread(ann, thread)
    if (first := ann.run(LIST)["first"]) != f"Message {COUNT - again + 1}" or again > left:
        raise Failed(f"{again} are unread, and the divider is before {first!r}")
    bob.commands([{"postMessage": {"thread": thread, "body": "The latest"}}])
    ann.see("1 new message", ".jump")
    ann.see_none("The latest", "main .timeline")
    ann.click("1 new message", "main")
    ann.see("The latest", "main .timeline")
    wait("all is read", lambda: unread(ann, thread) == 0)
    return COUNT - left


def scrolled_to_the_end(bob, ann, thread):
    """The list goes on below, in order and without a gap, and a message that is written there stands at its end."""
    post(ann, thread, COUNT)
    bob.open(f"t/{thread}")
    bob.see("New messages", "main .timeline")
    # Bob's own messages are read: the first unread one is the first of Ann's.
    seen = []
    for _ in range(1_000):
        texts = bob.run(LIST)["texts"]
        for text in texts[texts.index(seen[-1]) + 1 if seen else 0:]:
            seen.append(text)
        at_end = bob.driver.execute_async_script("""
            const [done] = arguments;
            const timeline = document.querySelector("main .timeline");
            timeline.scrollBy(0, timeline.clientHeight * 0.66);
            setTimeout(() => done(timeline.scrollHeight - timeline.scrollTop - timeline.clientHeight < 2), 60);""")
        if at_end and bob.run(LIST)["texts"][-1] == seen[-1] == f"Message {COUNT}":
            break
    expected = [f"Message {number}" for number in range(1, COUNT + 1)]
    if seen[-COUNT:] != expected:
        raise Failed(f"the list had {seen[-COUNT:]}")
    bob.write("Written at the end")
    ann.open(f"t/{thread}")
    ann.see("Written at the end", "main .timeline")
    if bob.run(LIST)["texts"][-1] != "Written at the end":
        raise Failed("the message is not the last one")
