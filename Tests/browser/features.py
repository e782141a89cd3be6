"""What the page can do, through its controls: accounts, invitations, roles, moderation, blocking, direct threads, the
directory, profiles, sessions."""

import datetime
import time

from selenium.webdriver.common.keys import Keys

from conversation import people
from harness import Failed, wait


def run(tool, directory):
    """Uses every control once. Returns the number of steps."""
    steps = 0
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        ann.sign_up("Ann")
        bob.sign_up("Bob")
        for person in (ann, bob):
            person.commands([{"setPostcode": {"postcode": "SW1A 1AA"}}])
        wait("the server knows both", lambda: ann.get("/v1/threads/SW1A")["members"] == 2)
        thread = invited(ann, bob)
        for part in (told, seen_in_place, moderated, sanctioned, roles, locked, blocked, counted, residents):
            part(ann, bob, thread)
            steps += 1
        for part in (shared_link, renamed_and_found, banned_for_a_moment, direct, group, common_threads, filtered, reported_to_operators, too_long, sessions,
                     passwords, forgotten, signed_out, session_ended, unconfirmed, deleted):
            part(ann, bob)
            steps += 1
    return {"steps": steps + 1}


def panel(person, thread, name):
    person.open(f"t/{thread}/{name}")
    wait(f"{person.name} has the panel {name}", lambda: person.find(".panel:not([hidden]) .panel-body > *"))


def invited(ann, bob):
    """A private thread is opened; a person who has been met is invited, by name, and accepts."""
    ann.open("t/" + ann.get("/v1/threads/SW1A")["id"] + "/people")
    ann.see("Bob", ".panel")
    ann.open("new")
    ann.fill("Name", "Committee", "main")
    ann.fill("Who can join?", "inviteOnly", "main")
    ann.click("Start the thread", "main form")
    ann.see("invitation only", ".thread-detail")
    thread = ann.run("return location.hash").split("/")[2]
    bob.open(f"t/{thread}")
    bob.see("There is no such thread, or it is private", "main")
    panel(ann, thread, "people")
    # The people come first, then what one can do.
    ann.see("Invite…", ".panel")
    ann.see("(you)", ".panel")
    if not ann.text(".panel-body").index("(you)") < ann.text(".panel-body").index("Invite…"):
        raise Failed(f"the panel does not begin with the people: {ann.text('.panel-body')}")
    ann.click("Invite…", ".panel")
    ann.fill("Or their personal code", "no code", "dialog")
    ann.click("Invite", "dialog .form")
    ann.see("This is not a personal code.", "dialog")
    ann.fill("Or their personal code", "", "dialog")
    ann.fill("Somebody you have met", bob.id, "dialog")
    ann.click("Invite", "dialog .form")
    bob.see("1 invitation", ".sidebar")
    panel(ann, thread, "moderation")
    ann.see("Bob", ".panel .people")
    bob.open("invitations")
    bob.see("Committee", "main")
    bob.click("Join", "main")
    bob.see("Committee", "main h1")
    ann.see("2 members", ".thread-detail")
    ann.see("Nobody is invited at present.", ".panel")
    return thread


def told(ann, bob, thread):
    """A reaction is clicked and taken back; the inbox tells of it and of a reply, and is read when it was shown."""
    bob.write("Who brings soup?")
    question = ann.id_of("Who brings soup?")
    bob.open("settings")
    chip = f'main [data-id="{question}"] .reactions'
    ann.menu(question, "React…")
    ann.click("\N{PARTY POPPER}", "dialog")
    wait("the inbox counts the reaction", lambda: bob.find('[aria-label="Inbox, 1 unread"]'))
    ann.commands([{"reply": {"message": question, "body": "I do"}}])
    wait("the inbox counts the reply", lambda: bob.find('[aria-label="Inbox, 2 unread"]'))
    bob.open("inbox")
    bob.see("reacted with", "main")
    wait("the inbox is read", lambda: bob.get("/v1/inbox")["unread"]["count"] == 0 and bob.find('[aria-label="Inbox"]'))
    # The whole entry leads there.
    wait("the sentence is part of the link", lambda: bob.run("""
        const { x, y } = document.querySelector("main .inbox-entry .deed").getBoundingClientRect();
        const target = document.elementFromPoint(x + 4, y + 4);
        return target?.textContent === "Open this reply" && !target.click()"""))
    bob.see("I do", ".panel")
    bob.see("\N{PARTY POPPER}", chip)
    ann.click("\N{PARTY POPPER}", chip)
    wait("the reaction is gone", lambda: not bob.find(chip))
    # The menu item leads to the list, so that the thread is not read again at once.
    ann.menu(question, "Mark as unread from here")
    wait("the message is unread", lambda: unread(ann, thread) == 1)
    panel(ann, thread, "people")
    wait("the message is read", lambda: unread(ann, thread) == 0)
    ann.fill("Notify me about", "none", ".panel")
    ann.see_feedback("The notifications are set.")
    bob.open(f"t/{thread}")
    bob.write("Nobody is told of this")
    ann.id_of("Nobody is told of this")
    ann.fill("Notify me about", "all", ".panel")


def seen_in_place(ann, bob, thread):
    """What the inbox tells is read where it is seen, in the order in which it happened."""
    district = bob.get("/v1/threads/SW1A")["id"]
    first, second = (bob.commands([{"postMessage": {"thread": place, "body": "What is new?"}}])[0]["events"][0]["messagePosted"]["message"] for place in (district, thread))
    bob.open("settings")
    ann.commands([{"reply": {"message": second, "body": "The fence"}}])
    wait("the inbox counts the reply", lambda: bob.find('[aria-label="Inbox, 1 unread"]'))
    bob.open(f"t/{thread}/m/{second}")
    bob.see("The fence", ".panel")
    wait("the inbox is read", lambda: bob.get("/v1/inbox")["unread"]["count"] == 0 and bob.find('[aria-label="Inbox"]'))
    bob.open("settings")
    ann.commands([{"react": {"message": first, "emoji": "\N{PARTY POPPER}"}}, {"reply": {"message": second, "body": "The gate, @Bob", "mentions": [bob.id]}}])
    wait("the inbox counts both", lambda: bob.find('[aria-label="Inbox, 2 unread"]'))
    bob.open(f"t/{thread}/m/{second}")
    bob.see("The gate", ".panel")
    time.sleep(4)
    # The server has one marker for all: the older entry was not seen.
    if bob.get("/v1/inbox")["unread"]["count"] != 2:
        raise Failed("an entry is read that was not seen")
    bob.open(f"t/{district}")
    wait("both are read", lambda: bob.get("/v1/inbox")["unread"]["count"] == 0 and bob.find('[aria-label="Inbox"]'))
    bob.open(f"t/{thread}")
    bob.see("Committee", "main h1")


def unread(person, thread):
    return next(entry["unread"] for entry in person.get("/v1/me")["threads"] if entry["id"] == thread)


def moderated(ann, bob, thread):
    """A message is pinned, reported, removed; its report is resolved."""
    bob.write("The plan")
    bob.write("Buy my watches")
    plan, ad = ann.id_of("The plan"), ann.id_of("Buy my watches")
    ann.menu(plan, "Pin")
    bob.see("pinned", f'main [data-id="{plan}"]')
    panel(bob, thread, "pins")
    bob.see("The plan", ".panel")
    ann.write("Stop that")
    rude = bob.id_of("Stop that")
    bob.menu(rude, "Report to the moderators…")
    bob.fill("What is wrong with it?", "rude", "dialog")
    bob.click("Report", "dialog .form")
    bob.see_feedback("Reported to the moderators.")
    wait("the moderator sees the report", lambda: ann.find('[aria-label="Moderation, 1 open report"]'))
    panel(ann, thread, "moderation")
    ann.see("rude", ".panel")
    ann.click("Resolve", ".panel .card")
    ann.see("No report is open.", ".panel")
    ann.menu(ad, "Remove…")
    ann.click("Remove", "dialog .form")
    ann.see("Fill in this field.", "dialog")
    ann.fill("Reason", "advertising", "dialog")
    ann.click("Remove", "dialog .form")
    bob.see("A moderator removed this message.", "main .timeline")
    if "Buy my watches" in bob.text("body"):
        raise Failed("the removed text is shown")
    ann.menu(plan, "Unpin")
    bob.see("No message is pinned", ".panel")
    if any(entry["body"] == "Buy my watches" for entry in bob.timeline(thread)):
        raise Failed("the removed text is in the timeline")


def act_on_bob(ann, thread, action):
    panel(ann, thread, "people")
    ann.choose(action, ".panel", "[aria-label='Actions for Bob']")


def sanctioned(ann, bob, thread):
    """A mute, a ban with an end, and a removal, each with its reason and its consequence."""
    bob.open(f"t/{thread}")
    bob.write("I am loud")
    message = ann.id_of("I am loud")
    act_on_bob(ann, thread, "Mute…")
    ann.fill("Reason", "too loud", "dialog")
    ann.click("Mute", "dialog .form")
    bob.see("A moderator has muted you in this thread.", "main .banner")
    bob.see("too loud", "main .banner")
    wait("there is no composer", lambda: not bob.find(".composer"))
    if bob.run("return document.activeElement") != bob.find("main .banner")[0]:
        raise Failed("the reason has not taken the focus of the composer")
    panel(ann, thread, "moderation")
    ann.see("too loud", ".panel")
    ann.click("End the mute", ".panel")
    ann.see("Nobody is muted or banned.", ".panel")
    wait("the composer is back", lambda: bob.find("main .composer"))
    muted_for_a_moment(ann, bob, thread, message)
    bob.write("I can write again")
    ann.id_of("I can write again")
    act_on_bob(ann, thread, "Ban…")
    ann.fill("Reason", "too loud again", "dialog")
    ann.fill("When does it end?", "day", "dialog")
    ann.click("Ban", "dialog .form")
    bob.see("A moderator has banned you from this thread, until ", "main")
    bob.see("too loud again", "main")
    if bob.text("main .button.primary"):
        raise Failed("a banned person can press a button to join")
    ban = ann.get(f"/v1/threads/{thread}/sanctions")["items"][0]
    if ban["kind"] != "ban" or ban["reason"] != "too loud again" or ban["until"] is None:
        raise Failed(f"the ban is {ban}")
    panel(ann, thread, "moderation")
    ann.click("End the ban", ".panel")
    ann.see("Nobody is muted or banned.", ".panel")
    ann.commands([{"invite": {"thread": thread, "user": bob.id}}])
    bob.see("1 invitation", ".sidebar")
    bob.click("Join the thread", "main")
    bob.see("I can write again", "main .timeline")


def soon(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def muted_for_a_moment(ann, bob, thread, message):
    """A mute with an end is shown for the thread and the replies, also to who opens them, and ends by itself."""
    bob.open(f"t/{thread}/m/{message}")
    wait("there are two composers", lambda: len(bob.find(".composer")) == 2)
    ann.commands([{"mute": {"thread": thread, "user": bob.id, "reason": "a short rest", "until": soon(6)}}])
    for place in ("main .banner", ".panel .banner"):
        bob.see(", until ", place)
        bob.see("a short rest", place)
    if bob.find(".composer"):
        raise Failed("a muted person has a composer")
    wait("the mute ends by itself", lambda: len(bob.find(".composer")) == 2 and not bob.find(".banner"))
    ann.commands([{"mute": {"thread": thread, "user": bob.id, "reason": "rest again", "until": soon(3600)}}])
    bob.driver.refresh()
    for place in ("main .banner", ".panel .banner"):
        bob.see("rest again", place)
    ann.commands([{"unmute": {"thread": thread, "user": bob.id}}])
    wait("both composers are back", lambda: len(bob.find(".composer")) == 2)
    bob.open(f"t/{thread}")
    wait("the panel is closed", lambda: len(bob.find(".composer")) == 1)


def banned_for_a_moment(ann, bob):
    """Who joins a listed thread that they are banned from is told why, and joins when the ban has ended."""
    thread = next(entry["id"] for entry in ann.get("/v1/directory")["items"] if entry["name"] == "Garden tools")
    bob.open("directory")
    ann.commands([{"removeMember": {"thread": thread, "user": bob.id, "reason": "a moment"}}])
    wait("Bob can join", lambda: bob.run("return [...document.querySelectorAll('main button')].some((button) => button.textContent === 'Join Garden tools')"))
    ann.commands([{"ban": {"thread": thread, "user": bob.id, "reason": "borrowed the spade", "until": soon(8)}}])
    bob.click("Join Garden tools", "main")
    bob.see("You are banned", "main h1")
    bob.see("borrowed the spade", "main")
    bob.see("Go to your threads", "main")
    bob.see(", until ", "main")
    bob.click("Join the thread", "main")
    bob.see("Garden tools", "main h1")


def roles(ann, bob, thread):
    """An owner makes a moderator, who then sees the tools of one."""
    act_on_bob(ann, thread, "Make moderator")
    wait("the moderator has the tool", lambda: bob.find('[aria-label="Moderation"]'))
    ann.see("Moderator", ".panel")
    act_on_bob(ann, thread, "Make an ordinary member")
    wait("the member has it no longer", lambda: not bob.find('[aria-label="Moderation"]'))


def locked(ann, bob, thread):
    """A locked thread has no composer, until it is unlocked."""
    panel(ann, thread, "moderation")
    ann.click("Lock the thread", ".panel")
    bob.see("This thread is locked", ".banner")
    wait("there is no composer", lambda: not bob.find("main .composer"))
    ann.click("Unlock the thread", ".panel")
    wait("the composer is back", lambda: bob.find("main .composer"))


def blocked(ann, bob, thread):
    """Messages of a blocked person are folded up, and open at a click. The settings list the person, and undo the block."""
    message = ann.id_of("I can write again")
    ann.menu(message, "Block this person")
    selector = f'main [data-id="{message}"]'
    ann.see("Message of a person you have blocked", selector)
    if "I can write again" in ann.text(selector):
        raise Failed("the text of a blocked person is shown")
    ann.click("Message of a person you have blocked", selector)
    ann.see("I can write again", selector)
    ann.driver.refresh()
    ann.see("Message of a person you have blocked", selector)
    ann.open("settings")
    # The page has loaded no message of the blocked person.
    ann.driver.refresh()
    ann.see(bob.name, "section[aria-label='Blocked people']")
    ann.click("Unblock", "main")
    ann.see("You have blocked nobody.", "section[aria-label='Blocked people']")
    ann.open(f"t/{thread}")
    ann.see("I can write again", "main .timeline")


def counted(ann, bob, thread):
    """The activity is that of the thread, also of messages that the page has not loaded."""
    ann.commands([{"postMessage": {"thread": thread, "body": f"counted {number}"}} for number in range(120)])
    ann.driver.refresh()
    panel(ann, thread, "activity")
    total = len(ann.timeline(thread))
    ann.see(f"{total} messages in the last 28 days, by 2 people.", ".panel-body")
    bob.commands([{"postMessage": {"thread": thread, "body": "one more"}}])
    ann.see(f"{total + 1} messages in the last 28 days, by 2 people.", ".panel-body")


def residents(ann, bob, thread):
    """A new postcode joins the thread of its district; the residents are shown without their postcodes."""
    bob.open("settings")
    bob.fill("Your postcode", "not one", "main")
    bob.click("Change the postcode", "main")
    bob.see("This is not a valid UK postcode.", "main")
    bob.fill("Your postcode", "M1 1AE", "main")
    bob.click("Change the postcode", "main")
    bob.see("M1", ".thread-list")
    district = bob.get("/v1/threads/M1")["id"]
    panel(bob, district, "people")
    bob.see("People of M1", ".panel")
    ann.open("t/" + ann.get("/v1/threads/SW1A")["id"] + "/people")
    ann.see("People of SW1A", ".panel")
    wait("Bob has moved", lambda: ann.run("""
        const row = [...document.querySelectorAll(".panel .people .person")].find((row) => row.textContent.includes("Bob"));
        return row && !row.textContent.includes("Lives here")"""))
    ann.open(f"t/{district}")
    ann.click("Join the thread", "main")
    ann.see("Only people who live in this district", "main")
    bob.click("Leave…", ".panel")
    bob.click("Leave", "dialog .form")
    wait("the thread is no longer in the list", lambda: len(bob.find(".thread-row")) == 2)


def shared_link(ann, bob):
    """The link to an open thread leads there through the sign-in."""
    ann.open("new")
    ann.fill("Name", "Street party", "main")
    ann.click("Start the thread", "main form")
    ann.see("Street party", "main h1")
    route = ann.run("return location.hash")
    bob.open("settings")
    bob.click("Sign out", "main section[aria-label='Signed-in devices']")
    bob.click("Sign out", "dialog .form")
    bob.see("You are signed out.", "main")
    if bob.request("GET", "/v1/me")[0] != 401:
        raise Failed("the session is not ended")
    bob.open(route[2:])
    bob.fill("E-mail address", bob.email)
    bob.fill("Password", bob.password)
    bob.click("Sign in", ".form")
    bob.click("Join the thread", "main")
    bob.see("Street party", "main h1")


def renamed_and_found(ann, bob):
    """A thread is renamed and listed by its owner, live for the other; the directory shows a thread, and it is joined there."""
    thread = ann.run("return location.hash").split("/")[2]
    ann.click("Settings of the thread", "main")
    ann.fill("Name of the thread", "SW1A", ".panel")
    ann.click("Rename the thread", ".panel")
    ann.see("is not a postcode district.", ".panel .error-summary")
    ann.fill("Name of the thread", "Street feast", ".panel")
    ann.click("Rename the thread", ".panel")
    ann.see_feedback("The thread is renamed.")
    ann.see("Street feast", "main h1")
    for place in ("main h1", ".thread-list"):
        bob.see("Street feast", place)
    wait("the title has the name", lambda: "Street feast" in bob.driver.title)
    if bob.find('[aria-label="Settings of the thread"]'):
        raise Failed("a member is offered the settings of the thread")
    ann.fill("Name of the thread", "Street party", ".panel")
    ann.click("Rename the thread", ".panel")
    bob.see("Street party", "main h1")
    ann.fill("Who can join?", "listed", ".panel")
    ann.click("Change who can join", ".panel")
    bob.see("listed", ".thread-detail")
    ann.open("new")
    ann.fill("Name", "Garden tools", "main")
    ann.fill("Who can join?", "listed", "main")
    ann.click("Start the thread", "main form")
    ann.see("listed", ".thread-detail")
    ann.write("Who has a spade?")
    ann.id_of("Who has a spade?")
    bob.open("")
    bob.click("Find threads", ".sidebar")
    bob.see("1 member, latest post", "main section[aria-label='Threads']")
    bob.click("Join Garden tools", "main")
    bob.see("Garden tools", "main h1")
    bob.see("Who has a spade?", "main .timeline")
    bob.open("directory")
    bob.click("Open Garden tools", "main")
    bob.see("Garden tools", "main h1")
    if thread not in [entry["id"] for entry in bob.get("/v1/directory")["items"]]:
        raise Failed("the thread is not listed")


def direct(ann, bob):
    """Ann messages Bob from the list of members; he sees it live, answers, and reads her profile. A block ends it."""
    ann.open("settings")
    ann.fill("About you", "a" * 501, "main")
    ann.click("Save", "main section[aria-label='About you']")
    ann.see("At most 500 characters.", ".error-summary")
    ann.fill("About you", "Shops on Tuesdays.", "main")
    ann.click("Save", "main section[aria-label='About you']")
    ann.see_feedback("What you say about yourself is saved.")
    tools = next(thread["id"] for thread in ann.get("/v1/me")["threads"] if thread["name"] == "Garden tools")
    panel(ann, tools, "people")
    ann.choose("Message", ".panel", "[aria-label='Actions for Bob']")
    ann.see("Bob", "main h1")
    ann.see("direct", ".thread-detail")
    bob.see("Ann", ".thread-list .thread-name")
    ann.write("Are you at home?")
    bob.see("Are you at home?", ".thread-list")
    bob.click("Ann", ".thread-list")
    bob.see("Ann", "main h1")
    wait("the title has the name", lambda: bob.driver.title.startswith("Ann") or ") Ann" in bob.driver.title)
    bob.id_of("Are you at home?")
    bob.write("Until five.")
    ann.id_of("Until five.")
    thread = ann.run("return location.hash").split("/")[2]
    panel(ann, thread, "people")
    ann.see("Leave…", ".panel")
    for name in ("Invite…", "Copy link to the thread"):
        if name in ann.text(".panel"):
            raise Failed(f"a direct thread offers {name}")
    if ann.find('main .thread-tools [aria-label="Moderation"], main .thread-tools [aria-label="Settings of the thread"]'):
        raise Failed("a direct thread has tools of moderators")
    bob.open("directory")
    bob.fill("Name", "an", "main section[aria-label='People']")
    bob.click("Ann", "main section[aria-label='People'] .people")
    bob.see("Shops on Tuesdays.", "main")
    bob.see("Garden tools", "main section[aria-label='Threads in common']")
    ann.commands([{"setProfile": {"about": "Shops on Fridays."}}])
    bob.see("Shops on Fridays.", "main")
    bob.click("Message", "main")
    bob.see("Until five.", "main .timeline")
    ann.commands([{"block": {"user": bob.id}}])
    bob.write("Hello?")
    bob.see("You cannot message this person.", "main .composer .field-error")
    bob.see("Not sent. You cannot message this person.", "main .timeline")
    bob.click("Discard", "main .waiting")
    bob.see_none("You cannot message this person.", "main")
    ann.commands([{"unblock": {"user": bob.id}}])
    bob.open(f"t/{thread}/people")
    bob.click("Leave…", ".panel")
    bob.click("Leave", "dialog .form")
    wait("the thread has left the list", lambda: "Until five." not in bob.text(".thread-list"))
    bob.open(f"people/{ann.id}")
    bob.click("Message", "main")
    bob.see("Until five.", "main .timeline")


def group(ann, bob):
    """Ann opens a conversation of three, whom she finds by name, and comes back to it after leaving."""
    _, token = ann.server.sign_up("Cem")
    ann.server.ask("POST", "/v1/commands", [{"setPostcode": {"postcode": "SW1A 1AA"}}], token)
    place = "main section[aria-label='People']"

    def find(*names):
        ann.open("directory")
        for name in names:
            ann.fill("Name", name, place)
            ann.click(f"Add to a group {name}", place)
            ann.see(f"Remove {name}", place)

    find("Bob", "Cem")
    ann.see("A group of you and Bob, Cem.", place)
    ann.click("Remove Bob", place)
    ann.see_none("Bob", f"{place} [role='group']")
    if not ann.run("return document.querySelector(arguments[0]).disabled", f"{place} [role='group'] .primary"):
        raise Failed("a group of two can be opened")
    find("Bob")
    ann.click("Open the conversation", place)
    ann.see("Cem, Bob", "main h1")
    ann.write("Bread for three?")
    bob.see("Ann, Cem", ".thread-list .thread-name")
    thread = ann.run("return location.hash").split("/")[2]
    bob.commands([{"postMessage": {"thread": thread, "body": "Yes @Ann", "mentions": [ann.id]}}])
    ann.open("inbox")
    ann.see("mentioned you in Cem, Bob", "main")
    panel(ann, thread, "people")
    ann.click("Leave…", ".panel")
    ann.click("Leave", "dialog .form")
    wait("the group has left the list", lambda: "Cem, Bob" not in ann.text(".thread-list"))
    ann.open(f"t/{thread}")
    ann.see("You have left this conversation with Cem, Bob.", "main")
    ann.click("Come back", "main")
    ann.see("Cem, Bob", "main h1")
    ann.see_none("Bread for three?", "main .timeline")
    wait("Ann is a member again", lambda: ann.get(f"/v1/threads/{thread}")["members"] == 3)


def common_threads(ann, bob):
    """The threads in common with a person are shown in pages."""
    opened = ann.commands([{"openThread": {"name": f"Common {number}"}} for number in range(60)])
    threads = [event["threadOpened"]["thread"] for answer in opened for event in answer["events"] if "threadOpened" in event]
    bob.commands([{"joinThread": {"thread": thread}} for thread in threads])
    bob.see("Common 0", ".thread-list")
    bob.open(f"people/{ann.id}")
    place = "main section[aria-label='Threads in common']"
    bob.see("Common 59", place)
    bob.see_none("Common 0", place)
    bob.click("Show more", place)
    bob.see("Common 0", place)
    bob.see("Garden tools", place)
    # The direct thread of the two, which both have, is no such thread.
    if {"Ann", "Ann, Cem"} & set(bob.text(place).splitlines()):
        raise Failed(f"a direct thread is in common: {bob.text(place)}")


def filtered(ann, bob):
    """The field above a long list of threads leaves those whose name has a text; the keys lead on."""
    field = wait("the field is shown", lambda: next((each for each in bob.find(".thread-filter input") if each.is_displayed()), None))
    names = lambda: [each.text for each in bob.find(".thread-list .thread-name")]
    field.send_keys("cÓMMON 5")
    wait("the list is narrowed", lambda: sorted(names()) == sorted(["Common 5", *(f"Common 5{number}" for number in range(10))]))
    bob.see("11 threads of", ".thread-filter")
    field.send_keys(Keys.ARROW_DOWN)
    wait("a thread has the focus", lambda: bob.run("return document.activeElement.matches('.thread-list a')"))
    field.send_keys("x")
    bob.see("No thread has this in its name.", ".thread-filter")
    field.send_keys(Keys.ESCAPE)
    wait("all are shown", lambda: len(names()) > 60 and not field.get_property("value"))
    field.send_keys("common 42", Keys.ENTER)
    bob.see("Common 42", "main h1")
    field.send_keys(Keys.ESCAPE)
    wait("all are shown", lambda: len(names()) > 60)


def reported_to_operators(ann, bob):
    """In a thread without moderators, the reports are for the operators, of whom there are none."""
    thread = ann.get("/v1/threads/SW1A")["id"]
    bob.commands([{"postMessage": {"thread": thread, "body": "Buy watches"}}])
    ann.open("t/sw1a")
    message = ann.id_of("Buy watches")
    wait("the address is that of the thread", lambda: thread in ann.run("return location.hash"))
    ann.menu(message, "Report to the operators…")
    ann.fill("What is wrong with it?", "spam", "dialog")
    ann.click("Report", "dialog .form")
    ann.see_feedback("Nobody can decide reports of this thread at the moment")


def too_long(ann, bob):
    """What is said about a long text goes when it is shortened."""
    ann.open("t/SW1A")
    ann.write("x" * 16_385)
    ann.see("The message is too long by 1 bytes.", "main .composer")
    area = ann.find("main .composer textarea")[0]
    ann.put(area, "x" * 16_384)
    ann.see_none("too long", "main .composer")
    ann.put(area, "")


def sessions(ann, bob):
    """The list of sessions ends another one, whose page says so."""
    ann.open("settings")
    ann.see("This device", "main")
    status, text = ann.request("POST", "/v1/sign-in", {"email": ann.email, "password": ann.password, "device": "<b>Phone</b>"})
    ann.driver.refresh()
    ann.see("<b>Phone</b>", "main")
    # Signing in with the cookie of this browser replaced it: the page has the new session, the list shows both.
    devices = ann.get("/v1/sessions")["items"]
    if status != 200 or len(devices) != 2 or sum(device["current"] for device in devices) != 1:
        raise Failed(f"the sessions are {devices}")
    other = next(device["device"] for device in devices if not device["current"])
    ann.click(f"Sign out {other}", "main .session")
    wait("one session is left", lambda: len(ann.get("/v1/sessions")["items"]) == 1)


def passwords(ann, bob):
    """A wrong present password is an error at its field; the new one replaces the old one."""
    ann.open("settings")
    ann.fill("Present password", "not the password", "main")
    ann.fill("New password", "short", "main")
    ann.click("Change the password", "main")
    ann.see("New password: The password needs at least 8 characters.", ".error-summary")
    ann.fill("New password", "a new password of Ann", "main")
    ann.click("Change the password", "main")
    ann.see("The present password is wrong.", "main")
    ann.fill("Present password", ann.password, "main")
    ann.click("Change the password", "main")
    ann.see_feedback("The password is changed.")
    ann.password = "a new password of Ann"


def forgotten(ann, bob):
    """A reset sets a new password and signs out everywhere else."""
    ann.request("POST", "/v1/sign-out")
    # As in unconfirmed: once as the page learns of it, and once more after a reload.
    ann.see("Your session has ended.", "main")
    ann.driver.refresh()
    ann.see("Sign in", "h1")
    ann.click("I have forgotten my password")
    ann.fill("E-mail address", ann.email)
    ann.click("Send the code", ".form")
    ann.see("Set a new password", "h1")
    ann.password = "another password of Ann"
    ann.fill("Code", "000000")
    ann.fill("New password", ann.password)
    code = ann.server.code(ann.email)
    if code != "000000":
        ann.click("Set the password", ".form")
        ann.see("The code is wrong or no longer valid.", ".error-summary")
    ann.fill("Code", f" {code[:3]} {code[3:]} ")
    ann.click("Set the password", ".form")
    # Where she was when the session ended.
    ann.see("Settings", "main h1")


def signed_out(ann, bob):
    """After a sign-out everywhere, every page of the person says that the session has ended, and keeps what was written."""
    first = ann.driver.current_window_handle
    ann.driver.switch_to.new_window("tab")
    ann.watch()
    ann.driver.get(f"{ann.server.url}/#/settings")
    ann.click("Sign out everywhere", "main")
    ann.click("Sign out everywhere", "dialog .form")
    ann.see("Sign in", "h1")
    ann.driver.close()
    ann.driver.switch_to.window(first)
    ann.see("Sign in", "h1")
    ann.sign_in()


def session_ended(ann, bob):
    """A session that ends elsewhere keeps the place for the same person."""
    thread = bob.get("/v1/threads/SW1A")["id"]
    bob.open(f"t/{thread}/people")
    bob.see("People of SW1A", ".panel")
    token = bob.server.ask("POST", "/v1/sign-in", {"email": bob.email, "password": bob.password, "device": "other"})["token"]
    bob.server.ask("POST", "/v1/sign-out-everywhere", None, token)
    bob.see("Your session has ended.", "main")
    bob.sign_in()
    bob.see("People of SW1A", ".panel")


def unconfirmed(ann, bob):
    """The address survives a reload, and a wrong password is not called a wrong code."""
    bob.request("POST", "/v1/sign-out")
    # Once as the page learns of it by itself, and once more after a reload: where Bob was is nothing for Dee.
    bob.see("Your session has ended.", "main")
    bob.driver.refresh()
    bob.see("Sign in", "h1")
    bob.open("sign-up")
    bob.fill("Name", "Dee")
    bob.fill("E-mail address", "dee@example.org")
    bob.fill("Password", "correct horse Dee")
    bob.click("Sign up", ".form")
    bob.see("Confirm your address", "h1")
    bob.driver.refresh()
    bob.see("Confirm your address", "h1")
    if bob.run("return document.querySelector('[name=email]').value") != "dee@example.org":
        raise Failed("the address is forgotten")
    bob.fill("Code", bob.server.code("dee@example.org"))
    bob.fill("Password", "not the password")
    bob.click("Confirm", ".form")
    bob.see("The code or the password is wrong.", ".error-summary")
    bob.fill("Password", "correct horse Dee")
    bob.click("Confirm", ".form")
    bob.see("Hello, Dee", "main h1")
    # Who is in no thread is told where one begins, with and without a postcode.
    bob.see("Threads with a name need no postcode.", "main")
    bob.click("Find a thread", ".sidebar")
    bob.see("Find threads", "main h1")
    bob.request("POST", "/v1/sign-out")
    bob.driver.refresh()
    bob.see("Sign in", "h1")
    if bob.run("return document.querySelector('[name=email]').value"):
        raise Failed("the address of another person is shown")
    bob.sign_in()


def deleted(ann, bob):
    """A deleted account cannot sign in, and what it wrote is gone for the others."""
    thread = next(thread["id"] for thread in bob.get("/v1/me")["threads"] if thread["name"] == "Street party")
    bob.open(f"t/{thread}")
    ann.open(f"t/{thread}")
    ann.write("Remember me")
    bob.id_of("Remember me")
    bob.open(f"people/{ann.id}")
    bob.see("Shops on Fridays.", "main")
    ann.open("settings")
    ann.click("Delete the account…", "main")
    ann.see("Nobody can bring them back", "dialog")
    ann.see("The threads that you own stay", "dialog")
    ann.fill("Your password", "not the password", "dialog")
    ann.click("Delete everything", "dialog .form")
    ann.see("The password is wrong.", "dialog")
    ann.fill("Your password", ann.password, "dialog")
    ann.click("Delete everything", "dialog .form")
    ann.see("Your account is deleted.", "main")
    bob.see("Deleted account", "main h1")
    bob.see("Deleted account", ".thread-list .thread-name")
    if "Shops on Fridays." in bob.text("body") or "Ann" in bob.driver.title:
        raise Failed("the erased profile is shown")
    bob.open(f"t/{thread}")
    bob.driver.refresh()
    bob.see("Deleted account", "main .timeline")
    if "Remember me" in bob.text("body"):
        raise Failed("the erased text is shown")
    ann.fill("E-mail address", ann.email)
    ann.fill("Password", ann.password)
    ann.click("Sign in", ".form")
    ann.see("The e-mail address or the password is wrong.", ".error-summary")
