"""What tells a person that something is new: the title, the icon, and the notifications of the system."""

import time

from conversation import people
from gone import enter_as, is_signed_out, signs_out
from harness import Failed, wait

# In the place of the system: keeps what is shown.
SYSTEM = """
window.system = [];
window.Notification = class {
    static permission = localStorage.getItem("test permission") ?? "default";
    static async requestPermission() { localStorage.setItem("test permission", "granted"); return this.permission = "granted"; }
    constructor(title, { body, tag }) {
        Object.assign(this, { title, body, tag });
        window.system = window.system.filter((each) => each.tag !== tag).concat(this);
    }
    close() { window.system = window.system.filter((each) => each !== this); this.onclose?.(); }
};
"""
SHOWN = "return window.system.map(({title, body}) => [title, body])"


def run(tool, directory):
    """Returns the number of parts."""
    with people(tool, directory, ["Ann", "Bob"]) as (_, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SYSTEM})
        ann.driver.refresh()
        opened = ann.commands([{"openThread": {"name": name}} for name in ("Allotments", "Street party")])
        threads = [answer["events"][0]["threadOpened"]["thread"] for answer in opened]
        bob.commands([{"joinThread": {"thread": thread}} for thread in threads])
        parts = (counted, turned_on, clicked, levels, blocked, gone, erased, erased_third, two_tabs, another_user, signed_out)
        for part in parts:
            part(ann, bob, threads)
        return {"parts": len(parts)}


def post(person, thread, body, **more):
    return person.commands([{"postMessage": {"thread": thread, "body": body, **more}}])[0]["events"][0]["messagePosted"]["message"]


def shown(person):
    return [tuple(pair) for pair in person.run(SHOWN)]


def is_shown(person, title, body):
    wait(f"{person.name} is notified of {title!r}: {body!r}, not of {shown(person)}", lambda: any(pair[0] == title and body in pair[1] for pair in shown(person)))


def icon(person):
    return person.run("return document.querySelector('link[rel=icon]').href")


def counted(ann, bob, threads):
    """A message is a dot in the icon, an entry of the inbox its number, and both are in the title."""
    ann.open("settings")
    if not icon(ann).endswith("/icon.svg"):
        raise Failed(f"the icon is {icon(ann)}")
    post(bob, threads[0], "Who waters the beans?")
    wait("the title has the number", lambda: ann.driver.title.startswith("(1) "))
    wait("the icon has a dot", lambda: "%E2%80%A2" in icon(ann))
    post(bob, threads[0], "@Ann, do you?", mentions=[ann.id])
    wait("the title has both numbers", lambda: ann.driver.title.startswith("(2, inbox 1) "))
    wait("the icon has the number", lambda: "%3E1%3C%2Ftext" in icon(ann))
    if shown(ann):
        raise Failed("there is a notification that nobody has asked for")
    ann.open("inbox")
    wait("the inbox is read", lambda: ann.driver.title.startswith("(2) ") and "%E2%80%A2" in icon(ann))
    ann.open(f"t/{threads[0]}")
    wait("all is read", lambda: ann.driver.title.startswith("Allotments") and icon(ann).endswith("/icon.svg"))


def turned_on(ann, bob, threads):
    """A person asks for notifications in the settings."""
    ann.open("settings")
    ann.click("Turn on notifications…", "main")
    ann.see("New messages are shown by your system", "main")
    is_shown(ann, "Notifications are on", "")
    ann.run("for (const each of window.system) each.close()")


def clicked(ann, bob, threads):
    """A notification leads to its thread; of what is visible there is none; what is read goes."""
    post(bob, threads[0], "Beans are ripe")
    is_shown(ann, "Bob in Allotments", "Beans are ripe")
    post(bob, threads[0], "And peas")
    is_shown(ann, "Bob in Allotments", "And peas\n2 events in this thread")
    ann.run("window.system[0].onclick()")
    ann.see("And peas", "main .timeline")
    if shown(ann):
        raise Failed("the notification stays after a click")
    post(bob, threads[0], "Can you see me?")
    ann.see("Can you see me?", "main .timeline")
    post(bob, threads[1], "Shall we dance?")
    is_shown(ann, "Bob in Street party", "Shall we dance?")
    if len(shown(ann)) != 1:
        raise Failed(f"what is visible is notified: {shown(ann)}")
    ann.open(f"t/{threads[1]}")
    wait("what is read is not shown any more", lambda: not shown(ann))


def levels(ann, bob, threads):
    """A thread notifies of mentions alone, or of nothing, as is set in its list of people."""
    other = threads[1]
    for level, expected in (("mentions", ["A mention"]), ("none", []), ("all", ["A mention"])):
        ann.open(f"t/{threads[0]}/people")
        ann.fill("Notify me about", level, ".panel")
        wait("the level is set", lambda: ann.get(f"/v1/threads/{threads[0]}/standing")["notifications"]["level"] == level)
        ann.open("settings")
        ann.see("Settings", "main h1")
        post(bob, threads[0], "No mention")
        post(bob, threads[0], "A mention", mentions=[ann.id])
        post(bob, other, "The end of it")
        is_shown(ann, "Bob in Street party", "The end of it")
        found = [body for title, body in shown(ann) if "Allotments" in title]
        if len(found) != len(expected) or any(text not in body for text, body in zip(expected, found)) or (level == "mentions" and "2 events" in found[0]):
            raise Failed(f"with {level} Ann is notified of {found}")
        ann.run("for (const each of window.system) each.close()")


# Delays the answers about blocked people, so that they are older than what follows.
LATE = """
window.inTime ??= window.fetch;
window.fetch = async (address, ...more) => {
    const answer = await window.inTime(address, ...more);
    if (String(address).startsWith("/v1/me/blocks")) await new Promise((resolve) => setTimeout(resolve, 1_000));
    return answer;
};
"""


def blocked(ann, bob, threads):
    """Of a blocked person nobody is notified, and of one who is unblocked again, also while the settings read the list."""
    ann.run(LATE)
    ann.commands([{"block": {"user": bob.id}}])
    post(bob, threads[0], "Of a blocked person")
    wait("the message is there", lambda: ann.timeline(threads[0])[-1]["body"] == "Of a blocked person")
    time.sleep(0.5)
    ann.commands([{"unblock": {"user": bob.id}}])
    time.sleep(2.5)
    ann.run("window.fetch = window.inTime")
    post(bob, threads[1], "Not blocked")
    is_shown(ann, "Bob in Street party", "Not blocked")
    if len(shown(ann)) != 1:
        raise Failed(f"a blocked person is notified of: {shown(ann)}")
    ann.run("for (const each of window.system) each.close()")


def gone(ann, bob, threads):
    """A text that is deleted or edited is in no notification."""
    for change in ("retract", "edit"):
        message = post(bob, threads[0], "Delete me")
        is_shown(ann, "Bob in Allotments", "Delete me")
        bob.commands([{change: {"message": message, **({"body": "Better"} if change == "edit" else {})}}])
        wait("the notification is closed", lambda: not shown(ann))


def erased(ann, bob, threads):
    """The name and the text of an erased person are in no notification."""
    cem, token = ann.server.sign_up("Cem")
    ann.server.ask("POST", "/v1/commands", [{"joinThread": {"thread": threads[0]}}, {"postMessage": {"thread": threads[0], "body": "I was here"}}], token)
    wait("Ann is notified", lambda: any("I was here" in body for _, body in shown(ann)))
    ann.server.ask("POST", "/v1/delete-account", {"password": "correct horse Cem"}, token)
    wait("the notification is closed", lambda: not shown(ann))


def erased_third(ann, bob, threads):
    """The name of an erased person who is in a group is in no title."""
    cem, token = ann.server.sign_up("Gus")
    ann.server.ask("POST", "/v1/commands", [{"joinThread": {"thread": threads[0]}}], token)
    group = bob.commands([{"openDirect": {"with": [ann.id, cem]}}])[0]["events"][0]["directOpened"]["thread"]
    wait("Ann has the group", lambda: ann.run("return document.querySelector('.thread-list').innerText.includes('Gus')"))
    post(bob, group, "@Ann, look", mentions=[ann.id])
    wait("Ann is notified", lambda: any("Gus" in title for title, _ in shown(ann)))
    ann.server.ask("POST", "/v1/delete-account", {"password": "correct horse Gus"}, token)
    wait("the notification is closed", lambda: not any("Gus" in title for title, _ in shown(ann)))
    ann.run("for (const each of window.system) each.close()")


def two_tabs(ann, bob, threads):
    """One tab notifies for all, and not of what another one shows."""
    first = ann.driver.current_window_handle
    ann.driver.switch_to.new_window("tab")
    second = ann.driver.current_window_handle
    ann.watch()
    ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SYSTEM})
    ann.driver.get(f"{ann.server.url}/#/t/{threads[1]}")
    ann.see("Not blocked", "main .timeline")

    def by_tab():
        found = []
        for handle in (first, second):
            ann.driver.switch_to.window(handle)
            found.append(shown(ann))
        return found

    post(bob, threads[0], "Once")
    wait("one tab notifies", lambda: sum(map(len, by_tab())) == 1)
    ann.driver.switch_to.window(second)
    wait("the second tab is visible", lambda: ann.run("return document.visibilityState") == "visible")
    post(bob, threads[1], "Seen in the second tab")
    ann.see("Seen in the second tab", "main .timeline")
    post(bob, threads[0], "The end of it")
    wait("it is the end", lambda: any("The end of it" in body for tab in by_tab() for _, body in tab))
    if any("Seen" in body for tab in by_tab() for _, body in tab):
        raise Failed("what another tab shows is notified")
    ann.driver.close()
    ann.driver.switch_to.window(first)


def another_user(ann, bob, threads):
    """After a session that ended elsewhere, the choice is kept for the same user, but not beyond the next one, or 30 days."""
    choice = lambda: ann.run("return localStorage.getItem('notifications')")
    is_signed_out(ann)
    if not choice():
        raise Failed("the choice goes with a session that ended elsewhere")
    enter_as(ann, ann)
    ann.open("settings")
    ann.see("New messages are shown by your system", "main")
    is_signed_out(ann)
    enter_as(ann, bob)
    wait("the choice of the user before is gone", lambda: not choice())
    signs_out(ann)
    ann.run("localStorage.setItem('notifications', arguments[0] + ' ' + (Date.now() - 31 * 86400000))", ann.id)
    ann.driver.refresh()
    ann.see("Sign in", "h1")
    wait("the old choice is gone", lambda: not choice())
    enter_as(ann, ann)
    turned_on(ann, bob, threads)


def signed_out(ann, bob, threads):
    """After a sign-out nothing is shown, and the next person is not notified without asking for it."""
    ann.open("settings")
    ann.see("This browser", "main")
    ann.click("Sign out", "main section[aria-label='Signed-in devices'] > .buttons")
    ann.click("Sign out", "dialog .form")
    ann.see("You are signed out.", "main")
    if shown(ann) or ann.run("return localStorage.getItem('notifications')") or not icon(ann).endswith("/icon.svg"):
        raise Failed("notifications remain after a sign-out")
