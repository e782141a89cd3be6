"""What counts as read: a thread opens at its first unread message, and only what was visible for a second is read."""

import time

from conversation import people
from harness import Failed, wait

# More than one page, and more than the document holds.
COUNT = 300

# One, two and three columns. In the first two a panel stands in the place of the thread.
WIDTHS = [390, 900, 1280]

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
        back(ann, thread)
        for width in WIDTHS:
            behind_a_panel(ann, bob, thread, width)
            after_a_jump(ann, bob, thread, width)
            if width != 900:
                inbox(ann, bob, thread, width)
        return {"messages": COUNT, "read by opening": read, "widths": len(WIDTHS)}


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


# The first message that is wholly below the top of the list.
TOP = """
    const timeline = document.querySelector("main .timeline");
    if (!timeline) return null;
    const {top} = timeline.getBoundingClientRect();
    return [...timeline.querySelectorAll(".entry[data-id]")].find((entry) => entry.getBoundingClientRect().top >= top - 1)?.dataset.id ?? null;
"""


def back(person, thread):
    """Back leads to the place in the thread that was left, and a link to the thread to its end."""
    person.open("settings")
    person.see("Settings", "main h1")
    person.open(f"t/{thread}")
    wait("the thread is open", lambda: person.find("main .timeline .entry"))
    for distance in (1_500, 6_000):
        for _ in range(distance // 500):
            person.run("document.querySelector('main .timeline').scrollBy(0, -500)")
            time.sleep(0.1)
        time.sleep(1)
        top = person.run(TOP)
        person.open("settings")
        person.see("Settings", "main h1")
        person.driver.back()
        wait("the place is shown again", lambda: person.run(TOP) == top)
    person.open("settings")
    person.see("Settings", "main h1")
    person.open(f"t/{thread}")
    wait("the end is shown", lambda: person.run("""
        const timeline = document.querySelector("main .timeline");
        return timeline && timeline.scrollHeight - timeline.scrollTop - timeline.clientHeight < 2"""))


def read_everything(person, thread):
    """Nothing in the thread or in the inbox is unread, and none of them is open."""
    person.open("settings")
    person.see("Settings", "main h1")
    person.commands([{"markRead": {"thread": thread, "upTo": person.get(f"/v1/threads/{thread}/timeline?limit=1")["items"][0]["position"]}}])
    if entries := person.get("/v1/inbox?limit=1")["items"]:
        person.commands([{"markInboxRead": {"upTo": entries[0]["position"]}}])
    wait("nothing is unread", lambda: unread(person, thread) == 0 and not person.find(".thread-row .unread"))


# Whether another tab would be notified of the thread, and whether the thread itself is shown.
SHOWN = """
    const [thread, done] = arguments;
    const isVisible = document.querySelector("main .timeline")?.checkVisibility() ?? false;
    navigator.locks.query().then(({held}) => done([held.some(({name}) => name === `chat-showing ${thread}`), isVisible]));
"""


def behind_a_panel(ann, bob, thread, width):
    """What comes while a panel stands in the place of the thread is unread, and notifies, until the panel is closed."""
    read_everything(ann, thread)
    ann.size(width, 900)
    ann.open(f"t/{thread}")
    ann.see("Reading", "main h1")
    message = ann.run("return document.querySelector('main .timeline .entry:last-child').dataset.id")
    is_covered = width < 1120
    for panel in ("people", f"m/{message}"):
        ann.open(f"t/{thread}/{panel}")
        wait(f"the panel {panel} is shown", lambda: ann.run("return document.querySelector('.panel').checkVisibility() && document.querySelector('#panel-title').innerText"))
        post(bob, thread, 1)
        if is_covered:
            time.sleep(3)
            if (left := unread(ann, thread)) != 1:
                raise Failed(f"at {width} pixels, behind {panel}: {left} unread, not 1")
        shown = wait("the page tells what it shows", lambda: (found := ann.driver.execute_async_script(SHOWN, thread))[0] == found[1] and found)
        if shown[1] == is_covered:
            raise Failed(f"at {width} pixels, behind {panel}: the thread is shown: {shown[1]}")
        if is_covered:
            ann.open(f"t/{thread}")
        wait(f"what is shown is read, after {panel}", lambda: unread(ann, thread) == 0)
    ann.size(1280, 900)


def after_a_jump(ann, bob, thread, width):
    """A link to a message does not read what is before it; a button does. In two columns the page starts at the link."""
    read_everything(ann, thread)
    post(bob, thread, 90)
    target = ann.timeline(thread)[-10]["id"]
    ann.size(width, 900)
    if width == 900:
        ann.driver.get("about:blank")
        ann.driver.get(f"{ann.server.url}/#/t/{thread}/at/{target}")
    else:
        ann.open(f"t/{thread}/at/{target}")
    marked = f'main .aimed[data-id="{target}"]'
    wait("the message is marked", lambda: ann.find(marked))
    # Also when it is drawn anew.
    bob.commands([{"edit": {"message": target, "body": "What the link is about"}}])
    ann.see("What the link is about", f'main [data-id="{target}"]')
    if not ann.find(marked):
        raise Failed(f"at {width} pixels a message that has changed is not marked any more")
    time.sleep(3)
    if (left := unread(ann, thread)) != 90:
        raise Failed(f"at {width} pixels, after a jump to a message: {left} unread, not 90")
    ann.click("Mark as read", "main")
    wait("all is read by the button", lambda: unread(ann, thread) == 0 and not ann.run("return document.querySelector('.mark-read').checkVisibility()"))
    ann.size(1280, 900)


def inbox(ann, bob, thread, width):
    """The inbox reads the entries that were on the screen, from the oldest one on; a button reads all."""
    read_everything(ann, thread)
    bob.commands([{"postMessage": {"thread": thread, "body": f"@Ann {number}", "mentions": [ann.id]}} for number in range(40)])
    count = lambda: ann.get("/v1/inbox?limit=1")["unread"]["count"]
    wait("the inbox counts them", lambda: count() == 40)
    ann.size(width, 600)
    ann.open("inbox")
    wait("the entries are shown", lambda: len(ann.find("main .inbox-entry")) >= 40)
    time.sleep(4)
    if (left := count()) != 40:
        raise Failed(f"at {width} pixels the inbox has {left} unread entries, not 40")
    # The oldest unread entry, and those above it that are on the screen.
    ann.run("document.querySelectorAll('main .inbox-entry.has-unread')[39].scrollIntoView({block: 'end'})")
    wait("the oldest entries are read", lambda: count() < 40)
    time.sleep(3)
    if (left := count()) < 20:
        raise Failed(f"at {width} pixels the inbox has {left} unread entries, of which most were not shown")
    ann.click("Mark as read", "main")
    wait("the inbox is read", lambda: count() == 0 and ann.find('[aria-label="Inbox"]'))
    ann.size(1280, 900)
