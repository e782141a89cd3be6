"""What a person must no longer find in a page: the drafts of the person before, erased texts and names, and threads that
the person can no longer read."""

from conversation import people
from harness import Failed, wait


def run(tool, directory):
    """Returns the number of steps."""
    parts = [drafts, removed, erased, erased_meanwhile]
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
            person.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
        for part in parts:
            part(ann, bob)
    return {"steps": len(parts)}


def drafts(ann, bob):
    """Ann writes and does not send; her session ends in three ways; Bob signs in in the same tab, and finds nothing."""
    thread = ann.get("/v1/threads/SW1A")["id"]
    ann.driver.refresh()
    ann.open(f"t/{thread}")
    ann.write("The question")
    question = ann.id_of("The question")
    ends = [("is signed out", signs_out), ("is signed out elsewhere", is_signed_out), ("is deleted", deletes)]
    for number, (name, end) in enumerate(ends):
        ann.open(f"t/{thread}/m/{question}")
        texts = [f"Secret {place} {number}" for place in ("message", "reply")]
        for place, text in zip(("main", ".panel"), texts):
            wait("there is a composer", lambda: ann.find(f"{place} .composer textarea"))
            ann.put(ann.find(f"{place} .composer textarea")[0], text)
        ann.driver.refresh()
        wait("the drafts survive a reload", lambda: written(ann) == texts)
        end(ann)
        ann.see("Sign in", "h1")
        # A session that ended by itself keeps them, for Ann alone.
        places = DOCUMENT if end is is_signed_out else DOCUMENT + STORAGE
        nothing_of(ann, texts, f"after Ann {name}", places)
        if ann.find("input[value*='ann@']") or any("ann@" in field for field in written(ann, "input")):
            raise Failed(f"after Ann {name}, her address is in the form")
        enter_as(ann, bob)
        ann.open(f"t/{thread}/m/{question}")
        wait("both composers", lambda: len(written(ann)) == 2)
        nothing_of(ann, texts, f"Bob, after Ann {name}", places)
        signs_out(ann)
        if end is not deletes:
            enter_as(ann, ann)


def removed(ann, bob):
    """A moderator removes Bob, whose page forgets the thread: with two tabs, and after he was away."""
    become(ann, "Cat")
    for is_away in (False, True):
        thread = private_thread(ann, bob, "Rose committee")
        bob.open(f"t/{thread}")
        bob.see("The secret of Cat", "main .timeline")
        bob.put(bob.find("main .composer textarea")[0], "A draft in the thread")
        if is_away:
            bob.connect(False)
        ann.commands([{"removeMember": {"thread": thread, "user": bob.id, "reason": "spam"}}])
        if is_away:
            bob.connect(True)
        bob.see("Join this thread?", "main")
        forgotten(bob, ["The secret of Cat", "Rose committee", "A draft in the thread"], "Bob is removed")


def erased(ann, bob):
    """Cat deletes her account while Bob reads her messages, in two tabs, with a panel and a dialog that quote them."""
    thread = ann.get("/v1/threads/SW1A")["id"]
    ann.open(f"t/{thread}")
    ann.write("Words of Cat")
    message = bob_answers(ann, bob, thread, "Words of Cat")
    first = bob.driver.current_window_handle
    bob.driver.switch_to.new_window("tab")
    bob.watch()
    bob.driver.get(f"{bob.server.url}/#/t/{thread}/people")
    bob.see("Words of Cat", "main .timeline")
    bob.see("Cat", ".panel")
    second = bob.driver.current_window_handle
    bob.driver.switch_to.window(first)
    bob.menu(message, "Report to the operators…")
    bob.see("Words of Cat", "dialog")
    deletes(ann)
    for tab in (first, second):
        bob.driver.switch_to.window(tab)
        forgotten(bob, ["Words of Cat", "Reply of Cat", "Cat"], "Cat is deleted")
        bob.see("Deleted account", "main .timeline")
        bob.see("Words of Bob", "main .timeline")
    bob.check()
    bob.driver.close()
    bob.driver.switch_to.window(first)


def erased_meanwhile(ann, bob):
    """Dan deletes his account while Bob has no connection: it is gone when Bob is back, without a reload."""
    become(ann, "Dan")
    thread = ann.get("/v1/threads/SW1A")["id"]
    ann.open(f"t/{thread}")
    ann.write("Words of Dan")
    bob_answers(ann, bob, thread, "Words of Dan")
    bob.run("window.isTheSame = true")
    bob.connect(False)
    bob.see("No connection", ".connection")
    deletes(ann)
    bob.connect(True)
    forgotten(bob, ["Words of Dan", "Reply of Dan", "Dan"], "Dan is deleted")
    if not bob.run("return window.isTheSame"):
        raise Failed("the page was loaded again")


def become(browser, name):
    """Signs up another person in a browser."""
    browser.name, browser.email, browser.password = name, f"{name.lower()}@example.org", f"correct horse {name}"
    browser.sign_up(name)
    browser.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
    browser.driver.refresh()


def private_thread(owner, guest, name):
    """Opens a thread with a message, which only the owner and the guest can read, and returns its id."""
    owner.open("new")
    owner.fill("Name", name, "main")
    owner.fill("Who can join?", "inviteOnly", "main")
    owner.click("Start the thread", "main form")
    owner.see(name, "main h1")
    thread = owner.run("return location.hash").split("/")[2]
    owner.commands([{"invite": {"thread": thread, "user": guest.id}},
                    {"postMessage": {"thread": thread, "body": f"The secret of {owner.name}"}}])
    guest.commands([{"acceptInvitation": {"thread": thread}}])
    return thread


def bob_answers(ann, bob, thread, text):
    """Bob has the message and the replies on his page, and a word of his own. Returns the id of the message."""
    bob.open(f"t/{thread}")
    bob.write("Words of Bob")
    message = bob.id_of(text)
    bob.open(f"t/{thread}/m/{message}")
    ann.commands([{"reply": {"message": message, "body": f"Reply of {ann.name}"}}])
    bob.see(f"Reply of {ann.name}", ".panel")
    return message


def forgotten(person, texts, when):
    """Waits until none of the texts is in the document, in fields, in the state of the page or in its storage."""
    def found():
        state = person.driver.execute_async_script("""
            const [done] = arguments;
            import(document.querySelector("script").src).then(({ modules: { "store.js": { state } } }) => done([
                document.documentElement.outerHTML, ...[...document.querySelectorAll("textarea, input")].map((field) => field.value),
                JSON.stringify([[...state.threads.values()], [...state.names], state.invitations]),
                JSON.stringify({ ...sessionStorage }), JSON.stringify({ ...localStorage })]))""")
        return [text for text in texts if any(text in place for place in state)]
    try:
        wait(f"{person.name} has forgotten", lambda: not found())
    except Failed:
        raise Failed(f"{when}: {person.name}'s page still has {found()}") from None


def written(person, selector="textarea"):
    """Returns the texts of the fields."""
    return person.run("return [...document.querySelectorAll(arguments[0])].map((field) => field.value)", selector)


DOCUMENT = ["document.documentElement.outerHTML", "...[...document.querySelectorAll('textarea, input')].map((field) => field.value)",
            "JSON.stringify({ ...sessionStorage })"]
STORAGE = ["JSON.stringify({ ...localStorage })"]


def nothing_of(person, texts, when, places):
    """Fails if one of the texts is in one of the places."""
    found = person.run(f"return [{', '.join(places)}]")
    for text in texts:
        if any(text in place for place in found):
            raise Failed(f"{when}: {text!r} is there")


def enter_as(browser, person):
    browser.open("sign-in")
    browser.fill("E-mail address", person.email)
    browser.fill("Password", person.password)
    browser.click("Sign in", ".form")
    wait(f"{person.name} is signed in", lambda: browser.find(".shell"))


def signs_out(person):
    person.open("settings")
    person.click("Sign out", 'main [aria-label="Signed-in devices"] > .buttons')
    person.click("Sign out", "dialog .form")
    person.see("You are signed out.", "main")


def is_signed_out(person):
    """Another device ends every session."""
    person.driver.execute_async_script("""
        const done = arguments[0];
        fetch("/v1/sign-out-everywhere", { method: "POST" }).then(() => done(), done)""")
    person.see("Your session has ended.", "main")


def deletes(person):
    person.open("settings")
    person.click("Delete the account…", "main")
    person.fill("Your password", person.password, "dialog")
    person.click("Delete everything", "dialog .form")
    person.see("Your account is deleted.", "main")
