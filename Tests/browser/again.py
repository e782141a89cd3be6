"""A command whose answer is lost and that is sent again takes effect once: it does not undo what somebody else did meanwhile."""

from conversation import people
from harness import Failed, wait

# The server executes the commands of the page, whose answers are lost until `findAnswers()`.
LOSE = """
    const send = window.fetch;
    window.findAnswers = () => { window.fetch = send; };
    window.fetch = async (...request) => {
        const answer = await send(...request);
        if (!request[0].endsWith("/v1/commands")) return answer;
        window.lost = (window.lost ?? 0) + 1;
        throw new TypeError("the answer is lost");
    };
"""

# Before the next command of the page, its user does the same and the opposite on another device.
ELSEWHERE = """
    const send = window.fetch;
    window.fetch = async (path, options) => {
        if (!path.endsWith("/v1/commands")) return send(path, options);
        window.fetch = send;
        const [[name, { seen, ...fields }]] = Object.entries(JSON.parse(options.body));
        window.seen = seen;
        for (const act of [name, name === "react" ? "unreact" : "react"]) {
            await send(path, { ...options, body: JSON.stringify({ [act]: fields }) });
        }
        const answer = await send(path, options);
        window.answered = (await answer.clone().json()).positions ?? "without effect";
        return answer;
    };
"""

UNREACHED = "The server cannot be reached"


def run(tool, directory):
    """Returns the number of commands."""
    parts = [join, role, ban, pin, reactions]
    with people(tool, directory, ["Ann", "Bob"]) as (server, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        thread = ann.open_thread("Again")
        cat, token = server.sign_up("Cat")
        other = lambda command: server.ask("POST", "/v1/commands", command, token)
        other({"joinThread": {"thread": thread}})
        ann.commands([{"setRole": {"thread": thread, "user": cat, "role": "owner"}}])
        for part in parts:
            part(ann, bob, thread, other)
    return {"commands": len(parts)}


def loses(person, act):
    """Acts, and waits until the answer of a command is lost."""
    person.run("window.lost = 0;" + LOSE)
    act()
    wait("an answer is lost", lambda: person.run("return window.lost"))
    person.run("window.findAnswers()")


def has_executed(other, command):
    """Executes a command of the other owner, which must have an effect."""
    answer = other(command)
    if "rejection" in answer or not answer["events"]:
        raise Failed(f"{command}: {answer}")


def join(ann, bob, thread, other):
    """Bob joins, Cat removes him, and Bob presses again: he stays outside until he presses once more."""
    bob.open(f"t/{thread}")
    bob.see("Join this thread?", "main h1")
    loses(bob, lambda: bob.click("Join the thread", "main"))
    bob.see("Again", "main h1")
    has_executed(other, {"removeMember": {"thread": thread, "user": bob.id, "reason": "noise"}})
    bob.see("A moderator has removed you", "main")
    bob.run("performance.clearResourceTimings()")
    bob.click("Join the thread", "main")
    wait("the command was answered", lambda: bob.run(
        "return performance.getEntriesByName(location.origin + '/v1/commands').length"))
    if bob.request("GET", f"/v1/threads/{thread}")[0] != 404:
        raise Failed("the second press has undone the removal")
    bob.click("Join the thread", "main")
    bob.see("Again", "main h1")


def role(ann, bob, thread, other):
    """Ann makes Bob a moderator, Cat makes him a member, and Ann chooses it again."""
    ann.open(f"t/{thread}/people")
    menu = lambda: ann.choose("Make moderator", '.panel .person:has([data-user="%s"])' % bob.id, ".icon-button")
    ann.see("Bob", ".panel")
    loses(ann, menu)
    ann.see_feedback(UNREACHED)
    has_executed(other, {"setRole": {"thread": thread, "user": bob.id, "role": "member"}})
    # The menu offers it again when the page has the event.
    wait("Bob has no role", lambda: not ann.find('.panel .person:has([data-user="%s"]) .badge' % bob.id))
    menu()
    ann.see_feedback("The role is changed.")
    if bob.id in [item["user"]["id"] for item in ann.get(f"/v1/threads/{thread}/roles")["items"]]:
        raise Failed("the second choice has made Bob a moderator again")


def ban(ann, bob, thread, other):
    """Ann bans Bob, Cat ends the ban, and Ann presses again in the dialog."""
    ann.choose("Ban…", '.panel .person:has([data-user="%s"])' % bob.id, ".icon-button")
    ann.fill("Reason", "noise", "dialog")
    loses(ann, lambda: ann.click("Ban", "dialog form"))
    ann.see(UNREACHED, "dialog")
    has_executed(other, {"unban": {"thread": thread, "user": bob.id}})
    ann.click("Ban", "dialog form")
    wait("the dialog is closed", lambda: not ann.find("dialog"))
    if ann.get(f"/v1/threads/{thread}/sanctions")["items"]:
        raise Failed("the second press has banned Bob again")


def pin(ann, bob, thread, other):
    """Ann pins a message, Cat unpins it, and Ann pins it again; then the same command is wanted anew, and pins it."""
    ann.open(f"t/{thread}")
    ann.write("Something to keep")
    message = ann.id_of("Something to keep")
    wait("it is sent", lambda: not ann.waiting())
    pinned = lambda: [item["id"] for item in ann.get(f"/v1/threads/{thread}/pins")["items"]]
    loses(ann, lambda: ann.menu(message, "Pin"))
    has_executed(other, {"unpin": {"message": message}})
    wait("the message is not pinned", lambda: "pinned" not in (ann.text(f'.entry[data-id="{message}"] .marks') or ""))
    ann.menu(message, "Pin")
    ann.see_feedback("Pinned.")
    if pinned():
        raise Failed("the second choice has pinned the message again")
    ann.menu(message, "Pin")
    wait("the message is pinned", pinned)


def reactions(ann, bob, thread, other):
    """Ann reacts, and takes a reaction back, after she has done both on another device: that stays as it is."""
    ann.write("What do you think?")
    wait("it is sent", lambda: not ann.waiting())
    message = ann.id_of("What do you think?")
    place = f'.entry[data-id="{message}"] .reactions'
    mine = lambda: [reaction["emoji"] for item in ann.get(f"/v1/threads/{thread}/timeline")["items"] if item["id"] == message
                    for reaction in item.get("reactions", []) if reaction["mine"]]
    choose = lambda: ann.menu(message, "React…") or ann.click("\N{PARTY POPPER}", "dialog")
    for act, expected in ((choose, []), (lambda: ann.click("\N{PARTY POPPER}", place), ["\N{PARTY POPPER}"])):
        if expected:
            ann.commands([{"react": {"message": message, "emoji": "\N{PARTY POPPER}"}}])
            ann.see("\N{PARTY POPPER}", place)
        ann.run("window.answered = null;" + ELSEWHERE)
        act()
        wait("the command was answered", lambda: ann.run("return window.answered"))
        found = ann.run("return [window.answered, window.seen > 0]")
        if found != ["without effect", True] or mine() != expected:
            raise Failed(f"the page has undone what was done elsewhere: {found}, {mine()}")
