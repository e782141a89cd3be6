"""Every view in four widths and two colour schemes: findings of axe-core, the width, the title, and a picture."""

import re

import axe
from conversation import people
from harness import Failed, wait

WIDTHS = (320, 390, 768, 1280)
SCHEMES = ("light", "dark")
LONG = "Donaudampfschifffahrtselektrizit\u00e4tenhauptbetriebswerkbauunterbeamtengesellschaft" * 3


class Views:
    """Looks at views, and collects what is wrong with them."""

    def __init__(self, directory):
        self.directory, self.findings, self.count, self.looks, self.titles = directory, [], 0, 0, {}
        if directory:
            directory.mkdir(parents=True, exist_ok=True)

    def look(self, name, person, prepare=None):
        """Looks at the present view of a person in every width, and in one scheme of each, or in both to keep pictures."""
        self.looks += 1
        for index, width in enumerate(WIDTHS):
            person.size(width, 740 if width < 700 else 900)
            # The next view has the other ones.
            for scheme in SCHEMES if self.directory else [SCHEMES[(index + self.looks) % 2]]:
                person.scheme(scheme)
                if prepare:
                    prepare()
                wait("the view is at rest", lambda: person.driver.execute_async_script("""
                    const [done] = arguments;
                    const isAtRest = () => document.getAnimations().every((animation) => animation.playState !== "running");
                    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(isAtRest()), 250)))"""))
                self.inspect(f"{name}-{width}-{scheme}", person, width)
        person.size(1280, 900)
        person.scheme("light")
        person.check()

    def inspect(self, name, person, width):
        self.count += 1
        if self.directory:
            person.driver.save_screenshot(str(self.directory / f"{name}.png"))
        for violation in axe.violations(person.driver):
            for node in violation["nodes"]:
                self.findings.append(f"{name}: {violation['id']}: {node['html'][:160]}: {node['failureSummary'][:300]}")
        overflow = person.run("return document.documentElement.scrollWidth - window.innerWidth")
        if overflow > 0:
            self.findings.append(f"{name}: scrolls sideways by {overflow} pixels")
        sideways = person.run("""
            return [...document.querySelectorAll("body *")].filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX))
                .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth).map((element) => element.outerHTML.slice(0, 120))""")
        self.findings += [f"{name}: scrolls sideways: {element}" for element in sideways]
        if person.find(".shell") and person.run("return document.documentElement.scrollHeight - window.innerHeight") > 0:
            self.findings.append(f"{name}: the document scrolls, beside its lists")
        small = person.run("""
            const isInline = (element) => element.tagName === "A" && getComputedStyle(element).display === "inline";
            return [...document.querySelectorAll("a, button, input, select, textarea, summary")]
                .filter((element) => element.checkVisibility({ checkOpacity: true }) && !element.closest(".visually-hidden, .skip-link") && !isInline(element))
                .filter((element) => { const box = element.getBoundingClientRect(); return box.width < 24 || box.height < 24; })
                .map((element) => element.outerHTML.slice(0, 120))""")
        self.findings += [f"{name}: target below 24 pixels: {element}" for element in small if 'type="checkbox"' not in element]
        apart = person.run("""
            return [...document.querySelectorAll(".composer-row")].filter((row) => row.checkVisibility()).map((row) =>
                row.getBoundingClientRect().right - row.closest(":has(.timeline)").querySelector(".timeline .messages").getBoundingClientRect().right)
                .filter((distance) => Math.abs(distance) > 1)""")
        if apart:
            self.findings.append(f"{name}: the composer and the messages end {apart} pixels apart")
        nested = person.run("return [...document.querySelectorAll('h1, [role=heading][aria-level=\\'1\\']')].filter((element) => element.checkVisibility()).length")
        if nested != 1:
            self.findings.append(f"{name}: {nested} headings of level 1")
        self.titles.setdefault(person.driver.title, set()).add(re.sub(r"-[0-9]+-(light|dark)$", "", name))


def run(tool, directory, screenshots):
    """Looks at every view. Returns numbers for the report."""
    views = Views(screenshots)
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        before_sign_in(views, ann)
        threads = community(views, ann, bob)
        inside(views, ann, bob, threads)
        states(views, server, ann, bob, threads)
        keyboard(ann, threads)
    for title, names in views.titles.items():
        # An error, a panel or a dialog belongs to its view.
        if len({name.split("-")[0] for name in names} - {"dialog"}) > 1:
            views.findings.append(f"several views have the title {title!r}: {sorted(names)}")
    if views.findings:
        raise Failed(f"{len(views.findings)} findings:\n" + "\n".join(views.findings))
    return {"views": views.count}


def before_sign_in(views, ann):
    ann.open("sign-in")
    ann.see("Sign in", "h1")
    views.look("sign-in", ann)
    ann.fill("E-mail address", "nobody@example.org")
    ann.fill("Password", "not the password")
    ann.click("Sign in", ".form")
    ann.see("The e-mail address or the password is wrong.", ".error-summary")
    views.look("sign-in-error", ann)
    for name, heading in (("sign-up", "Join your neighbours"), ("forgot", "Forgotten password"), ("reset", "Set a new password")):
        ann.open(name)
        ann.see(heading, "h1")
        views.look(name, ann)
    ann.click("Set the password", ".form")
    ann.see("There are problems", ".error-summary")
    views.look("reset-error", ann)
    ann.open("sign-up")
    ann.fill("Name", "Ann")
    ann.fill("E-mail address", ann.email)
    ann.fill("Password", ann.password)
    ann.click("Sign up", ".form")
    ann.see("Confirm your address", "h1")
    views.look("confirm", ann)
    ann.confirm(ann.server.code(ann.email))
    ann.see("Hello, Ann", "h1")
    views.look("welcome", ann)


def community(views, ann, bob):
    """Fills a district and two named threads, and returns their ids."""
    bob.sign_up("Bob \U0001F96C Neighbour with a long name"[:32])
    for person, postcode in ((ann, "SW1A 1AA"), (bob, "SW1A 2AA")):
        person.commands([{"setPostcode": {"postcode": postcode}}])
    district = ann.get("/v1/threads/SW1A")["id"]
    posts = [(ann, "Could someone pick up milk? I am at home until Friday."), (bob, "I can, at five. Semi-skimmed?"), (bob, "And bread while I am there"),
             (ann, "Oat, if they have it. Thank you so much! \U0001F95B"), (bob, "See https://www.example.org/opening-hours for the opening hours of the corner shop."),
             (ann, LONG), (bob, "\u05e9\u05dc\u05d5\u05dd \u05dc\u05db\u05d5\u05dc\u05dd, bread is sold out"), (ann, "<b>bold?</b> no, text"), (bob, "Buy my watches!!!"), (ann, "Left it on the step.")]
    ids = [person.commands([{"postMessage": {"thread": district, "body": body}}])[0]["events"][0]["messagePosted"]["message"] for person, body in posts]
    bob.commands([{"reply": {"message": ids[0], "body": body}} for body in ("On my way.", "Anything else?")])
    ann.commands([{"reply": {"message": ids[0], "body": "No, thank you."}}, {"edit": {"message": ids[3], "body": posts[3][1] + " And eggs."}}])
    bob.commands([{"retract": {"message": ids[2]}}])
    named = [answer["events"][0]["threadOpened"]["thread"] for answer in ann.commands(
        [{"openThread": {"name": "Street party"}}, {"openThread": {"name": "Committee of the street party and everything else", "policy": "inviteOnly"}}])]
    party, committee = named
    bob.commands([{"joinThread": {"thread": party}}])
    watches, ad = (answer["events"][0]["messagePosted"]["message"] for answer in bob.commands(
        [{"postMessage": {"thread": party, "body": body}} for body in ("Shall we say Saturday?", "Buy my watches!!!")]))
    ann.commands([{"pin": {"message": watches}}, {"report": {"message": ad, "reason": "advertising"}}, {"report": {"message": watches, "reason": "off topic"}},
                  {"remove": {"message": ad, "reason": "advertising"}}, {"mute": {"thread": party, "user": bob.id, "reason": "three times now", "until": None}},
                  {"invite": {"thread": committee, "user": bob.id}}])
    wait("the list has three threads", lambda: len(ann.find(".thread-row")) == 3)
    return {"district": district, "party": party, "committee": committee, "question": ids[0], "watches": watches, "ad": ad, "last": ids[-1], "bobs": ids[4]}


def inside(views, ann, bob, threads):
    district, party = threads["district"], threads["party"]
    ann.open("")
    ann.see("Hello, Ann", "h1")
    views.look("list", ann)
    ann.open(f"t/{district}")
    ann.see("Left it on the step.", "main .timeline")
    views.look("thread", ann)
    ann.menu(threads["last"], "Edit")
    views.look("thread-edit", ann)
    ann.click("Cancel", "main")

    def menu():
        if not ann.find("main .menu:not([hidden])"):
            button = ann.find(f'main .entry[data-id="{threads["bobs"]}"] .more')[0]
            ann.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)
    views.look("thread-menu", ann, menu)
    ann.open(f"t/{district}/m/{threads['question']}")
    ann.see("Anything else?", ".panel")
    views.look("thread-replies", ann)
    ann.open(f"t/{district}/people")
    ann.see("People of SW1A", ".panel")
    views.look("thread-people", ann)
    ann.open(f"t/{district}/people/{bob.id}")
    ann.see("Block", ".panel .person-card")
    views.look("thread-person", ann)
    ann.open(f"t/{party}/people")
    ann.see("Owner", ".panel .badge")
    views.look("thread-people-owner", ann)
    ann.choose("Ban…", ".panel", "[aria-label^='Actions for']")
    ann.see("Ban this person", "dialog")
    views.look("dialog-ban", ann)
    ann.click("Cancel", "dialog")
    ann.open(f"t/{party}/pins")
    ann.see("Saturday", ".panel")
    views.look("thread-pins", ann)
    ann.open(f"t/{party}/moderation")
    ann.see("three times now", ".panel")
    views.look("thread-moderation", ann)
    ann.open(f"t/{district}/activity")
    ann.see("in the last 28 days", ".panel")
    views.look("thread-activity", ann)
    found(views, ann, bob, threads)
    ann.open("new")
    ann.see("Start a thread", "h1")
    views.look("new-thread", ann)
    ann.open("settings")
    ann.see("This device", "main")
    views.look("settings", ann)
    views.look("settings-end", ann, lambda: ann.run("document.querySelector('.page-body').scrollTop = 1e6"))
    ann.click("Keyboard shortcuts…", "main")
    ann.see("Next thread", "dialog")
    views.look("dialog-shortcuts", ann)
    ann.click("Close", "dialog")
    wait("the dialog is closed", lambda: not ann.find("dialog"))
    ann.driver.switch_to.active_element.send_keys("/")
    ann.see("Find other threads and people", "dialog")
    views.look("dialog-switcher", ann)
    ann.click("Close", "dialog")
    wait("the dialog is closed", lambda: not ann.find("dialog"))
    ann.click("Delete the account…", "main")
    ann.see("Delete the account for good?", "dialog")
    views.look("dialog-delete", ann)
    ann.click("Cancel", "dialog")
    ann.commands([{"openThread": {"name": f"Garden {number}"}} for number in range(13)])
    ann.open("")
    for text in ("Garden 1", "Nothing"):
        ann.fill("Filter the threads", text, ".thread-filter")
        ann.see("4 threads of" if text == "Garden 1" else "No thread has this in its name.", ".thread-filter")
        views.look(f"welcome-filter-{text.split()[0].lower()}", ann)
    ann.fill("Filter the threads", "", ".thread-filter")


def found(views, ann, bob, threads):
    """The settings of a thread, the directory, a person, and a direct thread in which nobody can be reached."""
    ann.open(f"t/{threads['party']}/settings")
    ann.see("Rename the thread", ".panel")
    views.look("thread-settings", ann)
    bob.commands([{"openThread": {"name": name, "policy": "listed"}} for name in ("Garden tools", LONG[:120])])
    ann.commands([{"setThreadPolicy": {"thread": threads["party"], "policy": "listed"}}])
    bob.commands([{"setProfile": {"about": "Shops on Tuesdays and Fridays, and brings what he can carry.\n\n" + LONG[:200]}}])
    ann.open("directory")
    ann.see("Garden tools", "main")
    views.look("directory", ann)
    ann.fill("Name", "b", "main section[aria-label='People']")
    ann.see("Bob", "main .people")
    views.look("directory-people", ann)
    ann.open(f"people/{bob.id}")
    ann.see("Shops on Tuesdays", "main")
    views.look("person", ann)
    ann.open(f"people/{threads['district']}")
    ann.see("There is no such person", "main")
    views.look("nobody", ann)
    ann.open(f"people/{bob.id}")
    ann.click("Message", "main")
    ann.see("direct", ".thread-detail")
    ann.write("Are you at home?")
    ann.id_of("Are you at home?")
    views.look("direct", ann)
    thread = ann.run("return location.hash").split("/")[2]
    ann.open(f"t/{thread}/people")
    ann.see("Leave…", ".panel")
    views.look("direct-people", ann)
    bob.commands([{"block": {"user": ann.id}}])
    ann.open(f"t/{thread}")
    ann.write("Hello?")
    ann.see("You cannot message this person.", "main .composer")
    views.look("direct-refused", ann)
    ann.click("Discard", "main .waiting")
    ann.see_none("Hello?", "main .timeline")
    bob.commands([{"unblock": {"user": ann.id}}])


def states(views, server, ann, bob, threads):
    """What the other person sees, blocked, refused and waiting messages, and a lost connection."""
    bob.open("invitations")
    bob.see("Committee", "main")
    views.look("invitations", bob)
    bob.open("inbox")
    bob.see("invited you", "main")
    views.look("inbox", bob)
    bob.open(f"t/{threads['committee']}")
    bob.see("Join the thread", "main")
    views.look("stranger", bob)
    bob.open(f"t/{threads['party']}")
    bob.see("A moderator removed this message.", "main .timeline")
    bob.see("A moderator has muted you", "main .banner")
    views.look("thread-muted", bob)
    ann.commands([{"ban": {"thread": threads["party"], "user": bob.id, "reason": "four times now", "until": "2100-01-01T00:00:00Z"}}])
    bob.see("You are banned", "main h1")
    views.look("banned", bob)
    ann.commands([{"block": {"user": bob.id}}, {"lockThread": {"thread": threads["party"]}}])
    ann.open(f"t/{threads['party']}")
    ann.see("Message of a person you have blocked", "main")
    ann.see("locked", ".banner")
    views.look("thread-locked-and-blocked", ann)
    bob.open(f"t/{threads['district']}")
    bob.see("Left it on the step.", "main .timeline")
    bob.connect(False)
    bob.see("No connection", ".connection")
    bob.write("Written without a connection")
    bob.see("Waiting to be sent", "main .timeline")
    views.look("thread-offline", bob)
    bob.connect(True)
    bob.see_none("Waiting to be sent", "main .timeline")
    server.kill()
    bob.see("No connection", ".connection")
    server.start()
    wait("connected again", lambda: not bob.find(".connection:not([hidden])"))


def keyboard(ann, threads):
    """The focus reaches the composer, the menu of a message and the dialogs, and leaves them."""
    ann.open(f"t/{threads['district']}")
    ann.see("Left it on the step.", "main .timeline")
    wait("the heading has the focus", lambda: ann.run("return document.activeElement.id") == "thread-title")
    reached = []
    for _ in range(400):
        ann.driver.switch_to.active_element.send_keys("\ue004")
        kind = ann.run("const a = document.activeElement; return a.closest('.composer textarea') ? 'composer' : a.matches('.more') ? 'menu' : a.matches('.timeline article') ? 'timeline' : a === document.body ? 'end' : ''")
        reached.append(kind)
        if kind == "composer":
            break
    if not {"timeline", "menu", "composer"} <= set(reached):
        raise Failed(f"the Tab key reaches {set(reached)}")
    button = ann.find(f'main .entry[data-id="{threads["last"]}"] .more')[0]
    button.send_keys("\ue007")
    wait("the menu has the focus", lambda: ann.run("return document.activeElement.closest('.menu') !== null"))
    ann.driver.switch_to.active_element.send_keys("\ue00c")
    wait("Escape closes the menu and returns the focus", lambda: not ann.find(".menu:not([hidden])") and ann.run("return document.activeElement.matches('.more')"))
