"""Feedback beside what it is about, in both layouts; the page on paper; the page in forced colours."""

import base64
import re

from conversation import people
from harness import Failed, wait

COUNT = 250
# The rectangle of what a selector finds last, or null.
BOX = """
    const box = [...document.querySelectorAll(arguments[0])].filter((element) => element.checkVisibility()).at(-1)?.getBoundingClientRect();
    return box ? [box.left, box.top, box.right, box.bottom] : null;
"""
# Which of some parts of the page are shown.
VISIBLE = "return arguments[0].filter((selector) => [...document.querySelectorAll(selector)].some((element) => element.checkVisibility()))"


def run(tool, directory):
    """Returns numbers for the report."""
    with people(tool, directory, ["Ann"]) as (_, (ann,)):
        ann.sign_up("Ann")
        thread = ann.open_thread("Street party")
        ann.open_thread("Allotments")
        ann.open(f"t/{thread}")
        ann.see("Street party", "main h1")
        ann.commands([{"postMessage": {"thread": thread, "body": f"Message {number}"}} for number in range(1, COUNT + 1)])
        ann.id_of(f"Message {COUNT}")
        tall(ann, thread)
        covered_by_feedback(ann)
        forced_colours(ann, thread)
        return {"pages": printed(ann)}


def media(person, name="", **features):
    person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "media": name, "features": [{"name": key.replace("_", "-"), "value": value} for key, value in features.items()]})


def tall(ann, thread):
    """Where a page of messages does not fill the window, older ones are loaded, and the end stays."""
    for height in (1500, 3000, 6000):
        ann.size(1280, height)
        ann.open("settings")
        ann.see("Settings", "main h1")
        ann.open(f"t/{thread}")
        ann.id_of(f"Message {COUNT}")
        wait("the window is full", lambda: ann.run("""
            const { scrollTop, scrollHeight, clientHeight } = document.querySelector("main .timeline");
            return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 2 && document.querySelector("main .jump").hidden"""))
        if ann.shown()[-1][1] != f"Message {COUNT}":
            raise Failed(f"in a window of {height} pixels the last message is {ann.shown()[-1]}")
    ann.size(1280, 900)


def covered_by_feedback(ann):
    """Feedback covers neither the composer nor the last message, which it is about, nor the links back."""
    for width, height in ((390, 800), (768, 900), (1280, 900)):
        ann.size(width, height)
        ann.menu(ann.id_of(f"Message {COUNT}"), "Pin" if width != 768 else "Unpin")
        feedback = wait("feedback is shown", lambda: ann.run(BOX, ".feedback"))
        for what in ("main .composer", "main .timeline .entry"):
            box = ann.run(BOX, what)
            if box[0] < feedback[2] and feedback[0] < box[2] and box[1] < feedback[3] and feedback[1] < box[3]:
                raise Failed(f"at {width} pixels the feedback {feedback} covers {what} {box}")
        if feedback[0] < 0 or feedback[2] > width or feedback[1] < 0 or feedback[3] > height:
            raise Failed(f"at {width} pixels the feedback {feedback} is not in the window")
        ann.run("document.querySelector('.feedback').remove()")
    ann.size(1280, 900)


def forced_colours(ann, thread):
    """The current thread is marked by more than a background, which forced colours remove."""
    media(ann, forced_colors="active")
    style = """
        return [...document.querySelectorAll(".thread-list a")].map((element) => {
            const { outlineStyle, outlineWidth, borderInlineStartWidth, borderInlineStartStyle } = getComputedStyle(element);
            return [element.hasAttribute("aria-current"), outlineStyle, outlineWidth, borderInlineStartStyle, borderInlineStartWidth].map(String);
        })"""
    rows = ann.run(style)
    current = [row[1:] for row in rows if row[0] == "true"]
    others = [row[1:] for row in rows if row[0] == "false"]
    if not ann.run("return matchMedia('(forced-colors: active)').matches") or len(current) != 1 or not others or current[0] in others:
        raise Failed(f"in forced colours the current thread is {current}, the others are {others}")
    media(ann)


def printed(ann):
    """Paper has every message that is loaded, and nothing to click."""
    def load():
        ann.run("document.querySelector('main .timeline').scrollTop = 0")
        return "This is the beginning" in ann.text("main .timeline-top")
    wait("all is loaded", load)
    screen = len(ann.shown())
    parts = [".sidebar", ".composer", ".thread-tools", ".jump", ".message-actions", ".skip-link", "main h1", ".timeline .body"]
    media(ann, "print")
    if (shown := ann.run(VISIBLE, parts)) != ["main h1", ".timeline .body"]:
        raise Failed(f"paper shows {shown}")
    media(ann)
    ann.run("addEventListener('beforeprint', () => { window.printed = [...document.querySelectorAll('main .timeline .entry[data-id] .body')].map((body) => body.textContent); })")
    document = base64.b64decode(ann.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    if (texts := ann.run("return window.printed")) != [f"Message {number}" for number in range(1, COUNT + 1)]:
        raise Failed(f"{len(texts or [])} of {COUNT} messages are printed")
    pages = len(re.findall(rb"/Type\s*/Page\b", document))
    if pages < COUNT // 60:
        raise Failed(f"{COUNT} messages are on {pages} pages")
    wait("the list is as before", lambda: len(ann.shown()) == screen < COUNT)
    return pages
