"""The account of a person: common passwords, the texts of the operator, the mails, a change of the address, and the download of
the person's data."""

import json

from conversation import people
from gone import enter_as, signs_out
from harness import Failed, wait

NAME = "Hill & <Vale>"


def run(tool, directory):
    """Returns the number of steps."""
    about = directory / "about"
    about.mkdir(parents=True)
    (about / "terms.txt").write_text("Be kind.\n<b>Really.</b>")
    (about / "contact.txt").write_text("hill@example.org")
    with people(tool, directory, ["Ann", "Bob"], ["--site-name", NAME, "--about", str(about)]) as (server, (ann, bob)):
        parts = [texts, password, changed_address, downloaded, links]
        for part in parts:
            part(server, ann, bob)
    return {"steps": len(parts)}


def texts(server, ann, bob):
    """The sign-in says what the site is, and leads to the texts of its operator, which are only text."""
    for name in ("sign-in", "sign-up"):
        ann.open(name)
        ann.see("Talk to the neighbours", "main")
        if ann.text(".brand") != NAME or not ann.driver.title.endswith(f"\u2013 {NAME}"):
            raise Failed(f"the name of the site: {ann.text('.brand')!r}, {ann.driver.title!r}")
        links = [link.text for link in ann.find(".account-links a")]
        if "Terms" not in links or "Contact" not in links or "Privacy" in links:
            raise Failed(f"the links: {links}")
    ann.click("Terms", ".account-links")
    ann.see("Be kind.\n<b>Really.</b>", "main .about")
    ann.click("Back to the sign-up")
    # What was typed before is still there.
    ann.fill("Name", "Ann Half")
    ann.fill("Password", "half a password")
    ann.click("Terms", ".account-links")
    ann.click("Back to the sign-up")
    if [ann.find(f"input[name={name}]")[0].get_property("value") for name in ("username", "password")] != ["Ann Half", "half a password"]:
        raise Failed("the sign-up forgets what was typed")
    ann.open("sign-in")
    ann.open("sign-up")
    if ann.find("input[name=username]")[0].get_property("value"):
        raise Failed("the sign-up keeps what was typed before another view")
    ann.open("sign-in")
    ann.see("Sign in", "h1")
    ann.open("about/privacy")
    ann.see("There is no such text.", "main")
    ann.open("about/contact")
    ann.see("hill@example.org", "main .about")
    ann.click("Back to the sign-in")
    ann.see("Sign in", "h1")


def password(server, ann, bob):
    """A common password is refused with a reason. The text of a password is shown on demand."""
    ann.open("sign-up")
    ann.fill("Name", "Ann")
    ann.fill("E-mail address", ann.email)
    for common in ("password1", "Hill-Vale-2026", "ann@example.org"):
        ann.fill("Password", common)
        ann.click("Show Password")
        field = ann.find("input[name=password]")[0]
        shower = ann.find("button[aria-pressed]")[0]
        if [field.get_attribute("type"), shower.get_attribute("aria-pressed")] != ["text", "true"]:
            raise Failed("the password is not shown")
        ann.click("Sign up", ".form")
        ann.see("Password: Too easy to guess", ".error-summary")
        if [field.get_attribute("type"), shower.get_attribute("aria-pressed")] != ["password", "false"]:
            raise Failed("the password is still shown")
    ann.sign_up("Ann")
    mail = next(path.read_text() for path in server.mail.glob("*.eml"))
    if NAME not in mail or f"{server.url}/#/confirm\n" not in mail:
        raise Failed(f"the mail: {mail}")
    bob.sign_up("Bob")
    wait("the texts are linked in the settings", lambda: ann.open("settings") or ann.find("section[aria-label='About this site'] a"))
    ann.click("Terms", "main")
    ann.see("Be kind.", "main .about")
    ann.click("Back to the settings", "main .page-body")
    ann.see("Settings", "main h1")
    sections = [each.text for each in ann.find("main section > h2")]
    links = [each.text for each in ann.find("main nav button")]
    if links != sections or len(set(links)) != len(links):
        raise Failed(f"the sections {sections} have the links {links}")
    ann.click("Delete the account", "main nav")
    wait("the section has the focus", lambda: ann.run("return document.activeElement.matches('h2') && document.activeElement.textContent === 'Delete the account'"))
    visible = [each.text for each in ann.find("main section label") if each.size["width"] > 1]
    if set(visible) & set(sections):
        raise Failed(f"the headings are repeated: {visible}")


def changed_address(server, ann, bob):
    """The address changes with the codes of two mails; one that is taken looks the same."""
    place = "section[aria-label='E-mail address']"
    _, other = server.ask("POST", "/v1/sign-in", {"email": ann.email, "password": ann.password}), ann.email
    ann.open("settings")
    ann.see(f"Mails go to {other}.", place)
    ann.fill("New e-mail address", bob.email, place)
    ann.fill("Your password", "wrong password", place)
    ann.click("Send the codes", place)
    ann.see("The password is wrong.", place)
    ann.fill("Your password", ann.password, place)
    ann.click("Send the codes", place)
    ann.see("Enter the codes of both mails.", place)
    server.code(ann.email)
    wait("Bob is told", lambda: any("You already have an account" in path.read_text() for path in server.mail.glob("*.eml")))
    ann.click("Use another address", place)
    ann.fill("New e-mail address", "ann.new@example.com", "dialog")
    ann.fill("Your password", ann.password, "dialog")
    ann.click("Send the codes", "dialog")
    wait("the dialog is closed", lambda: not ann.find("dialog"))
    # The codes are asked for after a reload too.
    ann.driver.refresh()
    ann.see("Code of the mail to ann.new@example.com", place)
    first, second = server.code(ann.email), server.code("ann.new@example.com")
    ann.fill(f"Code of the mail to {ann.email}", first, place)
    ann.fill("Code of the mail to ann.new@example.com", f"{(int(second) + 1) % 1_000_000:06d}", place)
    ann.click("Change the address", place)
    ann.see("One of the codes is wrong", place)
    ann.fill("Code of the mail to ann.new@example.com", f" {second[:3]} {second[3:]}", place)
    ann.click("Change the address", place)
    ann.see_feedback("Your address is changed.")
    ann.see("Mails go to ann.new@example.com.", place)
    wait("the former address is told", lambda: any("has another e-mail address now" in path.read_text() for path in server.mail.glob("*.eml")))
    if len(ann.get("/v1/sessions")["items"]) != 1:
        raise Failed("another session goes on")
    ann.email = "ann.new@example.com"


def downloaded(server, ann, bob):
    """The file has what Ann wrote, and nothing of Bob."""
    for person in (ann, bob):
        person.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
        person.commands([{"postMessage": {"thread": "SW1A", "body": f"The words of {person.name}"}}])
    target = server.directory / "downloads"
    target.mkdir()
    ann.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(target)})
    ann.open("settings")
    ann.click("Download my data", "main")
    ann.fill("Your password", "wrong password", "dialog")
    ann.click("Download", "dialog .form")
    ann.see("The password is wrong.", "dialog")
    ann.fill("Your password", ann.password, "dialog")
    ann.click("Download", "dialog .form")
    ann.see_feedback("Your data is downloaded.")
    path = wait("the file", lambda: next(iter(target.glob("*.jsonl")), None))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    if lines[0]["account"]["email"] != ann.email or "complete" not in lines[-1]:
        raise Failed(f"the file: {lines}")
    if "The words of Ann" not in path.read_text() or "Bob" in path.read_text():
        raise Failed(f"the file: {lines}")


def links(server, ann, bob):
    """A link to any view survives the sign-in, also over a reload; no start without a session asks for more than the session; Back
    leads to no view of the sign-in."""
    for view, heading in (("inbox", "Inbox"), (f"people/{ann.id}", "About"), ("settings", "Settings")):
        signs_out(ann)
        ann.driver.get("about:blank")
        ann.driver.get(f"{server.url}/#/{view}")
        ann.see("Sign in", "h1")
        refused = ann.run("return performance.getEntriesByType('resource').filter(({responseStatus}) => responseStatus === 401).map(({name}) => name)")
        if len(refused) != 1:
            raise Failed(f"{view}: without a session the page asks for {refused}")
        ann.click("Create an account", "main")
        ann.see("Join your neighbours", "h1")
        ann.driver.refresh()
        ann.see("Join your neighbours", "h1")
        ann.click("I have an account", "main")
        ann.see("Sign in", "h1")
        ann.fill("E-mail address", ann.email)
        ann.fill("Password", ann.password)
        ann.click("Sign in", ".form")
        ann.see(heading, ".shell main h1")
        if ann.run("return location.hash") != f"#/{view}":
            raise Failed(f"{view}: after the sign-in the address is {ann.run('return location.hash')}")
        ann.driver.back()
        ann.see("Hello, Ann", ".shell main h1")
