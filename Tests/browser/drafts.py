"""What is typed is never lost: drafts and begun edits are in all tabs, after a reload and after a session that ended by itself."""

import time

from conversation import people
from gone import enter_as, is_signed_out, signs_out, written
from harness import Failed, Keys, wait

DRAFT = "A draft of a message"
LATER = "Something for another day"
REPLY = "A draft of a reply"
EDIT = "A text that is being edited"
EDITOR = "main .edit-box textarea"


def run(tool, directory):
    """Returns the number of steps."""
    parts = [in_all_tabs, of_an_edit, thrown_away, after_the_session, old]
    with people(tool, directory, ["Ann", "Bob"]) as (_, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        thread = ann.open_thread("Drafts")
        bob.commands([{"joinThread": {"thread": thread}}])
        for part in parts:
            part(ann, bob, thread)
    return {"steps": len(parts)}


def value(person, selector):
    return person.run("return document.querySelector(arguments[0])?.value ?? null", selector)


def type_into(person, selector, text):
    wait(f"there is {selector}", lambda: person.find(selector))
    person.put(person.find(selector)[0], text)


def second_tab(person, address):
    """Opens a view in a second tab. Returns the handles of both."""
    first = person.driver.current_window_handle
    person.driver.switch_to.new_window("tab")
    person.watch()
    person.driver.get(f"{person.server.url}/#/{address}")
    return first, person.driver.current_window_handle


def post(person, thread, body):
    return person.commands([{"postMessage": {"thread": thread, "body": body}}])[0]["events"][0]["messagePosted"]["message"]


def in_all_tabs(ann, bob, thread):
    """A draft is in a second tab and in the list of threads, and gone from both when it is sent."""
    ann.open(f"t/{thread}")
    type_into(ann, "main .composer textarea", DRAFT)
    ann.see(f"Draft: {DRAFT}", ".thread-list")
    first, second = second_tab(ann, f"t/{thread}")
    wait("the second tab has the draft", lambda: value(ann, "main .composer textarea") == DRAFT)
    ann.see(f"Draft: {DRAFT}", ".thread-list")
    area = ann.find("main .composer textarea")[0]
    area.send_keys(Keys.END, " goes on")
    ann.driver.switch_to.window(first)
    wait("the first tab follows", lambda: value(ann, "main .composer textarea") == f"{DRAFT} goes on")
    ann.driver.switch_to.window(second)
    ann.find("main .composer textarea")[0].send_keys(Keys.ENTER)
    ann.id_of(f"{DRAFT} goes on")
    ann.see_none("Draft: ", ".thread-list")
    ann.check()
    ann.driver.close()
    ann.driver.switch_to.window(first)
    wait("the first tab has no draft", lambda: value(ann, "main .composer textarea") == "")
    ann.see_none("Draft: ", ".thread-list")


def of_an_edit(ann, bob, thread):
    """An edit is continued after another view, a reload, and in a second tab, where it is sent."""
    message = post(ann, thread, "A text to edit")
    ann.open(f"t/{thread}")
    ann.menu(message, "Edit")
    type_into(ann, EDITOR, EDIT)
    ann.see(f"Draft: {EDIT}", ".thread-list")
    ann.open("settings")
    ann.see("Settings", "main h1")
    ann.open(f"t/{thread}")
    wait("the edit is there after another view", lambda: value(ann, EDITOR) == EDIT)
    ann.driver.refresh()
    wait("the edit is there after a reload", lambda: value(ann, EDITOR) == EDIT)
    # What is written beside it keeps the focus, also when the list has come to rest.
    ann.find("main .composer textarea")[0].send_keys("Beside it")
    post(bob, thread, "Something else")
    ann.id_of("Something else")
    time.sleep(1)
    if ann.run("return document.activeElement.closest('.composer') === null"):
        raise Failed("the editor has taken the focus")
    ann.put(ann.find("main .composer textarea")[0], "")
    first, second = second_tab(ann, f"t/{thread}")
    wait("the edit is there in a second tab", lambda: value(ann, EDITOR) == EDIT)
    ann.click("Save", "main .edit-box")
    ann.see(EDIT, f'main .entry[data-id="{message}"] .body')
    ann.check()
    ann.driver.close()
    ann.driver.switch_to.window(first)
    wait("the first tab has no editor", lambda: not ann.find(EDITOR))
    ann.see(EDIT, f'main .entry[data-id="{message}"] .body')
    ann.see_none("Draft: ", ".thread-list")


def thrown_away(ann, bob, thread):
    """Nothing is left of an edit that is cancelled, or whose message is deleted, also by a moderator."""
    for end in ("cancel", "delete"):
        message = post(ann, thread, "To be thrown away")
        ann.open(f"t/{thread}")
        ann.menu(message, "Edit")
        type_into(ann, EDITOR, EDIT + end)
        ann.see("Draft: ", ".thread-list")
        if end == "cancel":
            ann.click("Cancel", "main .edit-box")
        else:
            ann.commands([{"retract": {"message": message}}])
        ann.see_none("Draft: ", ".thread-list")
        wait("there is no editor", lambda: not ann.find(EDITOR))
        if EDIT + end in ann.run("return JSON.stringify({...localStorage, ...sessionStorage})"):
            raise Failed(f"after {end}, the text is kept")


def after_the_session(ann, bob, thread):
    """The session ends elsewhere; another person finds nothing in the same browser, and Ann everything when she is back."""
    message = post(ann, thread, "The question")
    ann.open(f"t/{thread}/m/{message}")
    type_into(ann, "main .composer textarea", LATER)
    type_into(ann, ".panel .composer textarea", REPLY)
    ann.menu(message, "Edit")
    edit = f"{EDIT}, and is not sent"
    type_into(ann, EDITOR, edit)
    texts = [LATER, REPLY, edit]
    is_signed_out(ann)
    enter_as(ann, bob)
    ann.open(f"t/{thread}/m/{message}")
    wait("both composers of Bob", lambda: len(written(ann)) == 2)
    shown = ann.run("return document.documentElement.outerHTML")
    if any(text in place for text in texts for place in (shown, *written(ann))):
        raise Failed("Bob is shown a draft of Ann")
    signs_out(ann)
    enter_as(ann, ann)
    ann.open(f"t/{thread}/m/{message}")
    for selector, text in (("main .composer textarea", LATER), (".panel .composer textarea", REPLY), (EDITOR, edit)):
        wait(f"{text!r} is back", lambda: value(ann, selector) == text)
    # A sign-out by choice throws them away, and says so.
    ann.open("settings")
    ann.click("Sign out", 'main [aria-label="Signed-in devices"] > .buttons')
    ann.see("Your drafts are thrown away.", "dialog")
    ann.click("Sign out", "dialog .form")
    ann.see("You are signed out.", "main")
    kept = ann.run("return JSON.stringify({...localStorage, ...sessionStorage})")
    if any(text in kept for text in texts):
        raise Failed("drafts are kept after a sign-out")
    enter_as(ann, ann)


def old(ann, bob, thread):
    """After 30 days the next person's sign-in removes what was left."""
    ann.open(f"t/{thread}")
    type_into(ann, "main .composer textarea", LATER)
    is_signed_out(ann)
    kept = lambda: LATER in ann.run("return JSON.stringify({...localStorage})")
    enter_as(ann, bob)
    for days, is_kept in ((29, True), (31, False)):
        ann.run("""
            for (const [key, text] of Object.entries(localStorage)) {
                if (key.startsWith("draft ")) localStorage.setItem(key, JSON.stringify({...JSON.parse(text), at: Date.now() - arguments[0] * 86400000}));
            }""", days)
        ann.driver.refresh()
        wait("Bob is signed in", lambda: ann.find(".shell"))
        ann.open(f"t/{thread}")
        wait("the composer", lambda: ann.find("main .composer textarea"))
        wait(f"after {days} days", lambda: kept() == is_kept)
