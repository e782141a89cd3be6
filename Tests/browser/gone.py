"""What a person must no longer find in a page: the drafts of the person before."""

from conversation import people
from harness import Failed, wait


def run(tool, directory):
    """Returns the number of steps."""
    parts = [drafts]
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
        nothing_of(ann, texts, f"after Ann {name}")
        if ann.find("input[value*='ann@']") or any("ann@" in field for field in written(ann, "input")):
            raise Failed(f"after Ann {name}, her address is in the form")
        enter_as(ann, bob)
        ann.open(f"t/{thread}/m/{question}")
        wait("both composers", lambda: len(written(ann)) == 2)
        nothing_of(ann, texts, f"Bob, after Ann {name}")
        signs_out(ann)
        if end is not deletes:
            enter_as(ann, ann)


def written(person, selector="textarea"):
    """Returns the texts of the fields."""
    return person.run("return [...document.querySelectorAll(arguments[0])].map((field) => field.value)", selector)


def nothing_of(person, texts, when):
    """Fails if one of the texts is in a field, in the document or in the storage of the tab."""
    found = person.run("""
        return [document.documentElement.outerHTML, ...[...document.querySelectorAll("textarea, input")].map((field) => field.value),
            JSON.stringify({ ...sessionStorage }), JSON.stringify({ ...localStorage })]""")
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
