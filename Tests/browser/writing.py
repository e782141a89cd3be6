"""What people write and how it looks: marks, mentions, reactions, links to messages, days, and the density of the list."""

import datetime
import time

from conversation import people
from harness import Failed, Keys, wait

COUNT = 300
MARKED = "**Tables** and *chairs*:\n- two\n- six\n\n> last year it `rained`\n\nSee www.example.org/party"


def run(tool, directory):
    """Returns numbers for the report."""
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        thread = ann.open_thread("Party")
        bob.commands([{"joinThread": {"thread": thread}}])
        ann.open(f"t/{thread}")
        ann.see("Nobody has written here yet", "main .empty")
        bob.open(f"t/{thread}")
        marks(ann, bob)
        mentions(ann, bob)
        heights = density(ann, bob)
        emoji(ann, bob)
        by_finger(bob)
        menu_stays(ann, bob)
        enter(ann)
        link = links(ann, bob, thread)
        days(ann)
        return {"heights": heights, "link": len(link)}


def marks(ann, bob):
    """The marks are elements for both, and the raw text again in the editor."""
    ann.write("x")
    ann.run("""
        const area = document.querySelector("main .composer textarea");
        area.value = arguments[0];
        area.dispatchEvent(new Event("input", { bubbles: true }));
        document.querySelector("main .composer .send").click();""", MARKED)
    shape = """
        const body = [...document.querySelectorAll("main .entry[data-id] .body")].find((body) => body.textContent.includes("Tables"));
        return body && [["strong", "em", "li", "blockquote code", "a"].map((name) => [...body.querySelectorAll(name)].map((element) => element.textContent).join()),
                        body.querySelector("a").href]"""
    expected = [["Tables", "chairs", "two,six", "rained", "www.example.org/party"], "https://www.example.org/party"]
    for person in (ann, bob):
        wait(f"{person.name} sees the marks", lambda person=person: person.run(shape) == expected)
    bob.see("Ann: Tables and chairs: two six last year it rained", ".thread-list")
    identifier = ann.run("""return [...document.querySelectorAll("main .entry[data-id]")].find((entry) => entry.textContent.includes("Tables")).dataset.id""")
    ann.menu(identifier, "Edit")
    if ann.run("return document.querySelector('.edit-box textarea').value") != MARKED:
        raise Failed("the editor has another text")
    ann.click("Cancel", "main")


def mentions(ann, bob):
    """An @ offers the members; the message mentions whom it names, and an edit that keeps the name keeps the mention."""
    area = ann.find("main .composer textarea")[0]
    area.send_keys("Is it you, @bo")
    ann.see("Bob", "main .completions")
    area.send_keys(Keys.ENTER)
    wait("the name is completed", lambda: area.get_property("value") == "Is it you, @Bob ")
    area.send_keys("?", Keys.ENTER)
    bob.see("mentions you", "main .marks")
    wait("the name is marked", lambda: bob.text("main .mention.me") == "@Bob")
    wait("the inbox has it", lambda: bob.find('[aria-label^="Inbox, 1"]'))
    entry = ann.id_of("Is it you, @Bob ?")
    ann.menu(entry, "Edit")
    ann.fill("Text of the message", "Is it you, @Bob, or not?", "main")
    ann.click("Save", "main")
    bob.see("or not?", "main .timeline")
    bob.see("mentions you", f'main [data-id="{entry}"] .marks')
    if ann.find("main .mention.me"):
        raise Failed("the author is marked as mentioned")


def density(ann, bob):
    """The heights that the design names: a message of one word, one that follows it, a row of the list, the heads."""
    for text in ("One", "Two", "Three"):
        ann.write(text)
    ids = [bob.id_of(text) for text in ("One", "Two", "Three")]
    found = bob.run("""
        const box = (selector) => document.querySelector(selector).getBoundingClientRect();
        const entries = arguments[0].map((id) => box(`main .entry[data-id="${id}"]`));
        return { following: entries[1].height, gap: entries[2].top - entries[1].bottom,
                 row: box(".thread-row").height, heads: [...document.querySelectorAll(".sidebar-head, .thread-head")].map((head) => head.getBoundingClientRect().height),
                 date: box("main .day-separator").top - box("main .timeline").top };""", ids)
    if found["following"] > 30 or found["gap"] != 2 or found["row"] > 56 or found["heads"] != [60, 60]:
        raise Failed(f"the heights are {found}")
    columns(ann, bob, ids[0])
    return found


def columns(ann, bob, entry):
    """Messages have one left column on a desk, and two sides on a phone; what is below one has one line; accents end with their row."""
    bob.write("Mine")
    own = bob.id_of("Mine")
    ann.write("Yours")
    other = bob.id_of("Yours")
    # Both begin a run.
    heights = bob.run("return arguments[0].map((id) => document.querySelector(`main .entry[data-id=\"${id}\"]`).getBoundingClientRect().height)", [other, own])
    if max(heights) > 52:
        raise Failed(f"a message of one word has {heights} pixels")
    ann.commands([{"react": {"message": entry, "emoji": "\N{PARTY POPPER}"}}, {"reply": {"message": entry, "body": "A reply"}}])
    bob.see("1 reply", f'main [data-id="{entry}"]')
    bob.see("\N{PARTY POPPER}", f'main [data-id="{entry}"]')
    for width, is_desk in ((1280, True), (390, False)):
        bob.size(width, 900)
        found = bob.run("""
            const box = (id, selector) => document.querySelector(`main .entry[data-id="${id}"] ${selector}`).getBoundingClientRect();
            const [other, own] = arguments[0].map((id) => box(id, ".bubble"));
            const [reactions, replies] = [".reactions", ".replies"].map((selector) => box(arguments[0][0], selector));
            return [own.left === other.left, reactions.top < replies.bottom && replies.top < reactions.bottom && reactions.right <= replies.left];""", [entry, own])
        if found != [is_desk, True]:
            raise Failed(f"at {width} pixels the messages have one column, and what is below one has one line: {found}")
    bob.size(1280, 900)
    spills = bob.run("""
        return ["main .body", "main .message-head", ".thread-row .excerpt", ".thread-row .thread-name"]
            .filter((selector) => getComputedStyle(document.querySelector(selector)).overflowY !== "clip")""")
    if spills:
        raise Failed(f"stacked accents leave {spills}")


def emoji(ann, bob):
    """The picker has the emoji of the system; those that were used last come first."""
    entry = bob.id_of("Three")
    bob.click("React", f'main [data-id="{entry}"]')
    bob.see("Faces", "dialog")
    wait("the system's emoji are offered", lambda: len(bob.find("dialog .reaction-groups button")) > 500)
    if bob.run("return document.querySelectorAll('dialog .reaction-choices button[tabindex=\"0\"]').length") > 10:
        raise Failed("each emoji is a tab stop")
    first = bob.find("dialog .reaction-groups .reaction-choices button")[0]
    bob.run("arguments[0].focus()", first)
    first.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    chosen = bob.run("return document.activeElement.textContent")
    bob.driver.switch_to.active_element.send_keys(Keys.ENTER)
    ann.see(chosen, f'main [data-id="{entry}"] .reactions')
    bob.menu(entry, "Copy text")
    wait("the emoji is the first in the menu", lambda: bob.run("return localStorage.getItem(arguments[0])", f"emoji {bob.id}").split(" ")[0] == chosen)


def menu_stays(ann, bob):
    """The menu of a message stays open, with its focus, while others write, react and edit, and does what is meant then."""
    ann.write("A first text")
    entry = bob.id_of("A first text")
    row = f'main .entry[data-id="{entry}"]'
    def opened():
        bob.run("document.querySelector(`${arguments[0]} .more`)?.click()", row)
        return bob.find(".menu:popover-open")
    wait("the menu is open", opened)
    bob.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    item = bob.run("return document.activeElement.textContent")
    ann.commands([{"react": {"message": entry, "emoji": "\N{PARTY POPPER}"}}, {"edit": {"message": entry, "body": "Another text"}}])
    bob.see("Another text", row)
    bob.see("\N{PARTY POPPER}", row)
    for number in range(3):
        ann.write(f"Below it {number}")
        bob.id_of(f"Below it {number}")
    if bob.run("return [document.activeElement.closest('.menu')?.matches(':popover-open'), document.activeElement.textContent]") != [True, item]:
        raise Failed("the menu has closed, or lost its focus")
    bob.run("window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); }")
    bob.click("Copy text", ".menu")
    if bob.run("return copied") != ["Another text"]:
        raise Failed(f"the menu copied {bob.run('return copied')}")
    wait("the focus is at the message as it is now", lambda: bob.run("return document.activeElement === document.querySelector(`${arguments[0]} .more`)", row))
    # What is gone is in no menu.
    wait("the menu is open again", opened)
    ann.commands([{"retract": {"message": entry}}])
    bob.see("This message was deleted.", row)
    bob.see("Copy link", ".menu")
    bob.see_none("Copy text", ".menu")
    bob.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait("the menu is closed", lambda: not bob.find(".menu:popover-open"))


def by_finger(bob):
    """A finger that stays on a message opens its menu, with targets of 44 pixels at the lower edge."""
    entry = bob.id_of("Two")
    bob.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    bob.size(390, 844)
    place = bob.run("""
        const bubble = document.querySelector(`main [data-id="${arguments[0]}"] .bubble`);
        bubble.scrollIntoView({ block: "center" });
        const box = bubble.getBoundingClientRect();
        return { x: box.x + 20, y: box.y + box.height / 2 };""", entry)
    bob.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    wait("the menu is open", lambda: bob.find(".menu:popover-open"))
    bob.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    sizes = bob.run("return [...document.querySelectorAll('.menu button')].map((button) => button.getBoundingClientRect().height)")
    if bob.run("return matchMedia('(pointer: coarse)').matches") and min(sizes) < 44:
        raise Failed(f"a target has {min(sizes)} pixels")
    # The next touch of a person is later: for 50 ms what follows the end of the first one is no click.
    time.sleep(0.3)
    emoji = bob.run("""
        const button = document.querySelector(".menu .emoji");
        const box = button.getBoundingClientRect();
        return { text: button.textContent, place: { x: box.x + box.width / 2, y: box.y + box.height / 2 } };""")
    bob.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [emoji["place"]]})
    bob.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    bob.see(emoji["text"], f'main [data-id="{entry}"] .reactions')
    bob.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    bob.size(1280, 900)


def enter(ann):
    """Enter begins a new line if this device is set so, and a draft stays in its thread."""
    ann.open("settings")
    ann.run("""
        const choice = [...document.querySelectorAll("main select")].find((select) => select.closest("label").textContent.includes("Enter"));
        choice.value = "line";
        choice.dispatchEvent(new Event("input", { bubbles: true }));""")
    ann.driver.back()
    ann.see("Three", "main .timeline")
    area = ann.find("main .composer textarea")[0]
    area.send_keys("a", Keys.ENTER, "b")
    if area.get_property("value") != "a\nb":
        raise Failed("Enter does not begin a line")
    ann.driver.refresh()
    wait("the draft is there", lambda: ann.run("return document.querySelector('main .composer textarea')?.value") == "a\nb")
    ann.find("main .composer textarea")[0].send_keys(Keys.CONTROL, Keys.ENTER)
    ann.id_of("a\nb")
    ann.run("localStorage.removeItem('enter')")


def links(ann, bob, thread):
    """A copied link leads to its message, also to one that is far above, and marks it."""
    ann.commands([{"postMessage": {"thread": thread, "body": f"Message {number}"}} for number in range(1, COUNT + 1)])
    target = next(entry["id"] for entry in ann.timeline(thread) if entry["body"] == "Message 20")
    bob.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    bob.open(f"t/{thread}/at/{target}")
    wait("the message is marked", lambda: bob.text("main .entry.aimed .body") == "Message 20")
    frame = bob.run("""
        const [list, entry] = ["main .timeline", "main .entry.aimed"].map((name) => document.querySelector(name).getBoundingClientRect());
        return entry.top >= list.top && entry.bottom <= list.bottom && document.activeElement.matches(".aimed article")""")
    if not frame:
        raise Failed("the message is not visible, or has not the focus")
    bob.menu(target, "Copy link")
    link = wait("the link is copied", lambda: bob.run("return window.copied ?? null"))
    if not link.endswith(f"#/t/{thread}/at/{target}"):
        raise Failed(f"the link is {link}")
    # In a new page, which has loaded other messages.
    ann.driver.get("about:blank")
    ann.driver.get(link)
    wait("the link leads a new page to the message", lambda: ann.text("main .entry.aimed .body") == "Message 20")
    ann.open(f"t/{thread}/at/{thread}")
    ann.see_feedback("There is no such message.")
    return link


def days(ann):
    """A day leads to its first message."""
    ann.click("Go to a day", "main")
    ann.see("Go to a day", "dialog")
    ann.click("Go", "dialog .form")
    wait("the first message of the day is shown", lambda: ann.text("main .entry.aimed .body") == "x")
    ann.click("Go to a day", "main")
    tomorrow = datetime.date.today() + datetime.timedelta(days=2)
    ann.run("arguments[0].value = arguments[1]", ann.find("dialog input[type=date]")[0], tomorrow.isoformat())
    ann.click("Go", "dialog .form")
    ann.see("Nobody has written since then.", "dialog")
    ann.click("Cancel", "dialog")
