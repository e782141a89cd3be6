#!/usr/bin/env python3
"""Executes random commands of every kind with the tool and compares each answer with the independent rules of model.py.
At the end of each journal it compares the directory of threads, and how the roles of users end who are erased.

    random_commands.py --tool PATH [--commands 20000] [--seed S] [--scratch DIR]

Few users, threads and posts, so that commands meet: every command, by anyone, about anything, with ids that exist, that
belong to something else and that are unknown. A journal has 5,000 commands; each one begins in a different small community.
One more journal is around the limits of pins, reactions and blocks, and in direct threads of the same few people. Together
they must reach every kind of event and every code of a rejection in the tables of the rules.
The seed determines the commands. A failure prints the command and keeps the journal.
"""

import collections
import itertools
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import decision_table
import model
import program

PER_JOURNAL = 5_000
CODES = ["SW1A", "M1", "EC1A"]
NAMES = ["Rota", "rota", "Bees", "SW1A", "Zo\u00eb", "", "Se\u00f1or  X", "b\u200bees", "\u1160", "x" * 121]
BODIES = ["Milk?", "", " \n", "x" * 16_385, "\u001b[31mred", "\U0001F95B"]
REASONS = ["spam", "", " ", "x" * 513]
POSTCODES = ["SW1A 1AA", "sw1a1aa", "SW1A 2AA", "M1 1AE", "EC1A-1BB", "M1  1AE", "SW1A IAA", "BFPO 801", ""]
KINDS = ["org.example.poll", "org.example.note", "poll", "a." + "b" * 127]
# Far from the present, so that the model's clock and the tool's agree.
ENDS = [None, "2000-01-01T00:00:00Z", "2090-01-01T00:00:00Z", "2091-01-01T00:00:00.5+01:00"]
EMOJI = ["\U0001F44D", "\u2764", "\u2764\uFE0F", "\U0001F44D\U0001F3FD", ":wave:", "ok", "", "\U0001F44D\U0001F44D"]
ABOUT = [{}, {"about": None}, {"about": ""}, {"about": " Bees,\n  mostly\u0085"}, {"about": "Zo\u00eb\u2028\U0001F41D"}, {"about": "x" * 500},
         {"about": "x" * 501}, {"about": "a\tb"}, {"about": "a\u0085b"}]
SUBJECTS = ["mail:a", "mail:b", "", "x" * 257]
# The commands without an acting user, whose events have the correlation id whoever acts.
OF_HOST = ("registerUser", "endSession", "grantOperator", "revokeOperator")
KINDS_REACHED = set()


class Community:
    """Generates the commands of one journal; the model says what exists."""

    def __init__(self, rng):
        self.rng, self.state = rng, model.Model()
        self.size = rng.randrange(2, 12)
        # Ids that commands choose from: of each kind some that exist soon, and one pool of ids of any kind.
        self.ids = {kind: [program.identifier(self.rng) for _ in range(count)] for kind, count in (
            ("user", self.size), ("thread", 4), ("message", 40), ("reply", 40), ("session", 6), ("custom", 10), ("edit", 10), ("once", 4))}
        self.sent = collections.deque(maxlen=20)
        self.finds_mentions = False

    def next(self):
        line = dict(self.rng.choice(self.sent)) if self.sent and self.rng.random() < 0.08 else self.command()
        if self.rng.random() < 0.05:
            line["correlation"] = self.common(["step 1", "", "c" * 257])
        if "once" not in line and model.command_of(line)[0] in model.ONCE and self.rng.random() < 0.3:
            line["once"] = self.rng.choice(self.ids["once"]) if self.rng.random() < 0.3 else program.identifier(self.rng)
        name, fields = model.command_of(line)
        if name in ("markRead", "markUnread", "react", "unreact") and self.rng.random() < 0.5:
            # Often a position after which the user has done the opposite, and sometimes one after the last.
            line[name] = {**fields, "seen": max(0, self.state.position + 3 - int(self.rng.random() ** 3 * 150))}
        self.sent.append(line)
        return line

    def id(self, kind, existing):
        """Returns an id of a kind that exists, of the pool, or, rarely, one that is unknown or belongs to another kind."""
        dice = self.rng.random()
        if dice < 0.02:
            return program.identifier(self.rng)
        if dice < 0.04:
            kind = self.rng.choice(sorted(self.ids))
        elif dice < 0.88 and existing:
            return self.rng.choice(existing[-20:])
        chosen = self.rng.choice(self.ids[kind])
        return chosen.upper() if self.rng.random() < 0.03 else chosen

    def user(self):
        return self.id("user", list(self.state.users))

    def thread(self):
        if self.state.directs and self.rng.random() < 0.15:
            return self.rng.choice(list(self.state.directs.values()))
        return self.rng.choice(CODES) if self.rng.random() < 0.2 else self.id("thread", list(self.state.threads))

    def someone(self, thread):
        """Returns a user who is likely to belong to a thread and to have rights in it."""
        found = self.state.threads.get(self.state.place(thread))
        members = list(found["members"]) if found else []
        return self.rng.choice(members) if members and self.rng.random() < 0.85 else self.user()

    def whom(self, key, by):
        """Returns a thread, one of its invited, banned or muted people, and someone of that thread: one who exists, mostly."""
        held = [(thread, user) for thread, found in self.state.threads.items() for user in found[key]]
        if not held or self.rng.random() < 0.3:
            return {"thread": self.thread(), "user": self.user(), "by": by}
        thread, user = self.rng.choice(held)
        return {"thread": thread, "user": user, "by": self.someone(thread)}

    def message(self):
        return self.id("message", list(self.state.messages))

    def post(self):
        if self.rng.random() < 0.5:
            return {"message": self.message()}
        return {"reply": self.id("reply", list(self.state.replies))}

    def reported(self, post, by):
        """Returns a post with an open report, sometimes, and an operator, mostly, who may decide it."""
        posts = [("message", self.state.messages), ("reply", self.state.replies)]
        held = [{key: identifier} for key, found in posts for identifier, other in found.items() if other["reporters"]]
        if not held or self.rng.random() < 0.5:
            return {**post, "by": by}
        operators = sorted(self.state.operators)
        return {**self.rng.choice(held), "by": self.rng.choice(operators) if operators and self.rng.random() < 0.7 else by}

    def reaction(self, by):
        """Returns a reaction that exists, mostly, and its user."""
        posts = [("message", self.state.messages), ("reply", self.state.replies)]
        held = [({key: identifier}, user, emoji) for key, found in posts for identifier, post in found.items()
                for emoji, user in post["reactions"]]
        if not held or self.rng.random() < 0.3:
            return {**self.post(), "by": by, "emoji": self.rng.choice(EMOJI)}
        post, user, emoji = self.rng.choice(held)
        return {**post, "by": user, "emoji": emoji}

    def common(self, values):
        """Returns the first value mostly, another one sometimes."""
        return values[0] if self.rng.random() < 0.85 else self.rng.choice(values)

    def new(self, kind, key):
        """Returns the field of a new entity's id; most commands name one, so that later ones can refer to it."""
        chosen = self.rng.choice(self.ids[kind]) if self.rng.random() < 0.3 else program.identifier(self.rng)
        return {key: chosen} if self.rng.random() < 0.95 else {}

    def mentions(self, thread):
        """Returns the field of the users whom a text mentions: none, some members, mostly, or more than 50 users."""
        dice = self.rng.random()
        finds = {"findMentions": self.rng.random() < 0.9} if self.finds_mentions and self.rng.random() < 0.5 else {}
        if dice < 0.7:
            return finds
        if dice < 0.71:
            return {"mentions": [program.identifier(self.rng) for _ in range(51)], **finds}
        return {"mentions": [self.someone(thread) for _ in range(self.rng.randrange(4))], **finds}

    def body(self, thread, former=None):
        """Returns the text of a post: often one that names people, as they are called or as the former text of a post does."""
        if self.rng.random() < 0.5:
            return self.common(BODIES)
        if former and self.rng.random() < 0.5:
            return former["body"] + "!"
        people = [self.state.users[user]["name"] for user in (self.someone(thread) for _ in range(self.rng.randrange(1, 4))) if user in self.state.users]
        ways = ["@{}", "@{}", "@{}, and", "(@{})", "x@{}", "@{}x", "@{} x", "`@{}`", "https://a.example/@{}", "\u674e@{}", "@@{}"]
        return " ".join(self.rng.choice(ways).format(self.rng.choice([name, name.upper()])) for name in people) or "Milk?"

    def direct(self, by):
        """Returns a command that opens a direct thread: mostly with people who have one, or with members of a thread."""
        rng, known = self.rng, list(self.state.directs.items())
        if known and rng.random() < 0.4:
            people, thread = rng.choice(known)
            left = sorted(people - set(self.state.threads[thread]["members"]))
            by = rng.choice(left if left and rng.random() < 0.6 else sorted(people))
            others = [user for user in sorted(people) if user != by or rng.random() < 0.1]
            rng.shuffle(others)
        else:
            thread = self.thread()
            others = [self.someone(thread) for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 2, 3, 8, 9]))]
        named = thread if rng.random() < 0.2 and thread not in CODES else rng.choice([*self.ids["thread"], program.identifier(self.rng)])
        return {"thread": named, "by": by, "with": others}

    def alone(self):
        """Returns the direct threads of two in which one person is alone, with that person."""
        return [(thread, by) for people, thread in self.state.directs.items() if len(people) == 2
                for by in self.state.threads[thread]["members"] if len(self.state.threads[thread]["members"]) == 1]

    def command(self):
        rng, thread = self.rng, self.thread()
        by, body, reason = self.someone(thread), self.body(thread), self.common(REASONS)
        alone = self.alone()
        if alone and rng.random() < 0.08:
            thread, by = rng.choice(alone)
        of_thread = {"thread": thread, "by": by}
        member = {"thread": thread, "user": self.someone(thread), "by": by}
        sanction = dict(member, reason=reason, until=rng.choice(ENDS))
        invited, banned = ({key: value for key, value in self.whom(what, by).items() if key != "by"} for what in ("invited", "bans"))
        post, message = self.post(), self.message()
        found = self.state.messages.get(message.lower())
        writer = self.someone(found["thread"]) if found else by
        edited = (self.state.messages | self.state.replies).get(next(iter(post.values())).lower())
        author = edited["author"] if edited and rng.random() < 0.8 else writer
        # The text that the post has, mostly; one time in three nothing is said.
        replaces = {"replaces": edited["text"] - (rng.random() < 0.3) if edited else 1} if rng.random() < 0.6 else {}
        mentions, answered_mentions = self.mentions(thread), self.mentions(found["thread"] if found else thread)
        edited_mentions = self.mentions(edited["thread"] if edited else thread)
        name = rng.choice(NAMES) if rng.random() < 0.3 else f"N{rng.randrange(1_000)}"
        # A newcomer, mostly with a name that somebody has.
        taken = rng.choice([user["name"] for user in self.state.users.values()] or NAMES)
        newcomer = {"user": program.identifier(self.rng), "username": taken.upper() if rng.random() < 0.8 else name}
        policy = rng.choice(["open", "listed", "inviteOnly", "inviteOnly", "residents"])
        history = rng.choice([{}, {}, {"history": "all"}, {"history": "sinceJoining"}])
        subject = {"subject": rng.choice(SUBJECTS)} if rng.random() < 0.2 else {}
        commands = [
            (2, "registerUser", {"user": rng.choice(self.ids["user"]), "username": name, **subject}),
            (0.3, "registerUser", {**newcomer, **({"subject": rng.choice(SUBJECTS)} if rng.random() < 0.7 else {})}),
            (1, "changeUsername", {"user": by, "username": taken if rng.random() < 0.2 else name}),
            (3, "setPostcode", {"user": by, "postcode": rng.choice(POSTCODES)}),
            (2, "openThread", {"thread": rng.choice(self.ids["thread"]), "name": name, "by": by, "policy": policy, **history}),
            (6, "joinThread", {"user": by, "thread": thread}), (1, "joinThread", banned),
            (2, "leaveThread", {"user": by, "thread": thread}),
            (12, "postMessage", {**self.new("message", "message"), "thread": thread, "author": by, "body": body, **mentions}),
            (8, "reply", {**self.new("reply", "reply"), "message": message, "author": writer, "body": self.body(found["thread"] if found else thread), **answered_mentions}),
            (4, "edit", {**self.new("edit", "edit"), **post, "by": author, "body": self.body(edited["thread"] if edited else thread, edited), **replaces, **edited_mentions}),
            (4, "retract", {**post, "by": writer}),
            (3, "markRead", {"user": by, "thread": thread, "upTo": max(1, self.state.position + rng.randrange(-20, 2))}),
            (2, "markUnread", {"user": by, "thread": thread, "from": max(0, self.state.position + rng.randrange(-40, 2))}),
            (2, "setNotifications", {
                "user": by, "thread": thread, "level": rng.choice(["all", "mentions", "none"]), "until": rng.choice(ENDS)}),
            (1, "markInboxRead", {"user": by, "upTo": max(1, self.state.position + rng.randrange(-20, 2))}),
            (1, "setProfile", {"user": by, **rng.choice(ABOUT)}),
            (2, "startSession", {**self.new("session", "session"), "user": by, "device": self.common(["telephone", "", "x" * 1_025])}),
            (1, "endSession", {"session": self.id("session", list(self.state.sessions))}),
            (5, "invite", member), (3, "acceptInvitation", invited), (1.5, "declineInvitation", invited),
            (2, "revokeInvitation", self.whom("invited", by)),
            (4, "setRole", dict(member, role=rng.choice(["member", "moderator", "owner"]))),
            (0.4, "grantOperator", {"user": by}), (0.6, "revokeOperator", {"user": by}),
            (4, "remove", {**self.reported(post, writer), "reason": reason}),
            (2, "mute", sanction), (2, "unmute", self.whom("mutes", by)), (3, "ban", sanction), (1.5, "unban", self.whom("bans", by)),
            (2, "removeMember", dict(member, reason=reason)),
            (4, "pin", {"message": message, "by": writer}), (3, "unpin", {"message": message, "by": writer}),
            (0.6, "lockThread", of_thread), (1.5, "unlockThread", of_thread), (0.15, "closeThread", of_thread),
            (2, "setThreadPolicy", {**of_thread, "policy": policy, **history}),
            (1.5, "renameThread", {**of_thread, "name": name}), (4, "openDirect", self.direct(by)),
            (4, "report", {**post, "by": writer, "reason": reason}), (3, "resolveReport", self.reported(post, writer)),
            (6, "react", {**post, "by": writer, "emoji": self.common(EMOJI) if rng.random() < 0.5 else rng.choice(EMOJI)}),
            (2, "unreact", self.reaction(writer)),
            (2, "block", {"user": self.user(), "by": by}), (1, "unblock", {"user": self.user(), "by": by}),
            (3, "custom", {**self.new("custom", "id"), "kind": self.common(KINDS), "thread": thread, "by": by,
                           "payload": self.common([{"n": rng.randrange(9)}, "p" * 16_383])}),
        ]
        (_, name, fields), = rng.choices(commands, weights=[weight for weight, *_ in commands])
        return {name: fields}


class Limits(Community):
    """Generates a journal around the maximum numbers, and in the direct threads of four people and an operator."""

    def __init__(self, rng):
        super().__init__(rng)
        self.lines = self.around_limits()

    def next(self):
        return next(self.lines, None)

    def around_limits(self):
        rng, users = self.rng, [program.identifier(self.rng) for _ in range(1_010)]
        first, thread = users[0], program.identifier(self.rng)
        yield from ({"registerUser": {"user": user, "username": f"u{number}"}} for number, user in enumerate(users))
        yield {"openThread": {"thread": thread, "name": "Dogs", "by": first}}
        yield from ({"joinThread": {"user": user, "thread": thread}} for user in users[1:])
        yield from self.pins(thread, first)
        yield from self.reactions(thread, users[:6])
        yield from self.directs(thread, users[-5:])
        # All but the last are as many as one can block.
        yield from ({"block": {"user": user, "by": first}} for user in users[1:])
        for _ in range(200):
            yield {rng.choice(["block", "block", "block", "unblock"]): {"user": rng.choice(users[990:]), "by": first}}

    def pins(self, thread, owner):
        messages = [program.identifier(self.rng) for _ in range(60)]
        yield from ({"postMessage": {"message": message, "thread": thread, "author": owner, "body": "x"}} for message in messages)
        yield from ({"pin": {"message": message, "by": owner}} for message in messages)
        for _ in range(400):
            message = {"message": program.identifier(self.rng) if self.rng.random() < 0.03 else self.rng.choice(messages), "by": owner}
            yield self.rng.choice([{"unpin": message}, {"retract": message}, {"remove": {**message, "reason": "spam"}}] + [{"pin": message}] * 15)

    def reactions(self, thread, users):
        message, reply = program.identifier(self.rng), program.identifier(self.rng)
        yield {"postMessage": {"message": message, "thread": thread, "author": users[0], "body": "x"}}
        yield {"reply": {"reply": reply, "message": message, "author": users[1], "body": "y"}}
        for _ in range(1_500):
            post = {"reply": reply} if self.rng.random() < 0.25 else {"message": message}
            yield {self.rng.choice(["react", "react", "react", "unreact"]): {**post, "by": self.rng.choice(users), "emoji": f":n{self.rng.randrange(60)}:"}}

    def directs(self, common, users):
        """Every set of two to four people opens a direct thread, leaves it, comes back and writes, while they block each other."""
        rng, (operator, *people), posts = self.rng, users, [program.identifier(self.rng)]
        sets = [chosen for count in (2, 3, 4) for chosen in itertools.combinations(people, count)]
        threads = {chosen: program.identifier(self.rng) for chosen in sets}
        yield {"grantOperator": {"user": operator}}
        for _ in range(2_000):
            chosen = rng.choice(sets)
            thread = self.state.directs.get(frozenset(chosen), threads[chosen])
            user, other = rng.choice(chosen), operator if rng.random() < 0.05 else rng.choice(people)
            message = {"message": rng.choice(posts[-3:])}
            act = rng.randrange(20)
            if act < 6:
                yield {"openDirect": {"thread": thread if rng.random() < 0.7 else program.identifier(self.rng), "by": user, "with": list(chosen)}, "correlation": "d"}
            elif act < 10:
                yield {"leaveThread": {"user": user, "thread": thread}}
            elif act < 13:
                posts.append(program.identifier(self.rng))
                yield {"postMessage": {"message": posts[-1], "thread": thread, "author": other if rng.random() < 0.1 else user, "body": "x"}}
            elif act < 15:
                reply = {"reply": {"reply": program.identifier(self.rng), **message, "author": user, "body": "y"}}
                yield rng.choice([reply, {"report": {**message, "by": user, "reason": "rude"}}])
            elif act < 17:
                yield {"remove": {**message, "by": rng.choice([user, operator, operator]), "reason": "rude"}}
            elif act == 17:
                yield {rng.choice(["block", "unblock", "unblock", "unblock"]): {"user": other, "by": user}}
            elif act == 18:
                yield {"leaveThread": {"user": user, "thread": common}}
            else:
                yield {"joinThread": {"user": user, "thread": rng.choice([thread, common, common])}}


def correlation_differences(line, outcome, answer):
    """Yields the events that lack the correlation id of their command, or have it although another user acts; and the first one
    if it lacks `once`, or another one that has it."""
    name, fields = model.command_of(line)
    for at, event in enumerate(answer.get("events", ())):
        if event.get("once") != (line["once"].lower() if "once" in line and at == 0 else None):
            yield f"expected {line.get('once') if at == 0 else 'no id'} as the id of the command, got {event}"
    actor = fields.get("by") or fields.get("author") or fields.get("user")
    for event in answer.get("events", ()) if not outcome.duplicate else ():
        said = event[model.kind_of(event)]
        acts = said.get("by") or said.get("author") or said.get("user")
        expected = line.get("correlation") if name in OF_HOST or acts == actor.lower() else None
        if event.get("correlation") != expected:
            yield f"expected the correlation id {expected}, got {event}"


def compare(tool, directory, community, number, count, totals):
    """Compares one journal; returns the differences, and where the journal is kept if there are any."""
    lines, outcomes = [], []
    # The names of a batch are found before it; the model knows those before a command.
    community.finds_mentions = number != "limits" and number % 2 == 1
    for line in itertools.islice(iter(community.next, None), count):
        lines.append(line)
        outcomes.append(community.state.execute(line))
    scratch = tempfile.mkdtemp(prefix="commands-", dir=directory)
    answers, thread_ids, found = decision_table.run_tool(tool, str(pathlib.Path(scratch) / "journal"), lines, scratch, 1 if community.finds_mentions else 256), {}, []
    for at, (line, outcome, answer) in enumerate(zip(lines, outcomes, answers), 1):
        name, _ = model.command_of(line)
        totals[name, str(outcome) if outcome.code else "duplicate" if outcome.duplicate else "events" if outcome.events else "no change"] += 1
        KINDS_REACHED.update(kind for kind, _ in outcome.events)
        found += [f"journal {number}, line {at}: {difference}: {json.dumps(line)[:300]}"
                  for difference in [*model.differences(outcome, answer, thread_ids), *correlation_differences(line, outcome, answer)]]
    found += [f"journal {number}: {difference}" for difference in compare_directory(tool, pathlib.Path(scratch) / "journal", community.state)]
    found += [f"journal {number}: {difference}" for difference in compare_erasures(tool, pathlib.Path(scratch) / "journal", community)]
    if not found:
        shutil.rmtree(scratch)
    return found, scratch


def compare_directory(tool, journal, state):
    """Yields the differences of the directory, for the host and for each user: what is listed and open, without the bans."""
    for viewer in (None, *list(state.users)[:20]):
        options = ["--viewer", viewer] if viewer else []
        done = subprocess.run([tool, "directory", str(journal), "--json", "--limit", "1000", *options], capture_output=True, text=True, check=True)
        printed = {(entry["id"], entry["members"]) for entry in map(json.loads, done.stdout.splitlines())}
        expected = {(thread, len(place["members"])) for thread, place in state.threads.items() if place["policy"] == "listed" and not place["closed"]
                    and not (viewer and state.is_sanctioned("bans", viewer, thread))}
        if printed != expected:
            yield f"the directory for {viewer}: expected {expected}, got {printed}"


def compare_erasures(tool, journal, community):
    """Erases users. Yields the differences of the events that end their roles, which are in the commit of the order."""
    def events():
        done = subprocess.run([tool, "export", str(journal)], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    users, erased, state = sorted(community.state.users), set(), community.state
    count = len(events())
    for user in community.rng.sample(users, min(len(users), 4)):
        erased.add(user)
        changes, was_operator = state.end_roles(user, erased)
        expected = {(thread, *change) for thread, each in changes.items() for change in each}
        order = {thread: [role for _, role in each] for thread, each in changes.items()}
        subprocess.run([tool, "erase", str(journal), "--user", user, "--reason", "user-request"], capture_output=True, check=True)
        new = events()[count:]
        count += len(new)
        kinds = [model.kind_of(event) for event in new]
        ends = [event["roleSet"] for event in new if "roleSet" in event]
        found = {(end["thread"], end["user"], end["role"]) for end in ends if end["by"] == user}
        roles = {thread: [end["role"] for end in ends if end["thread"] == thread] for thread in {end["thread"] for end in ends}}
        # The model names the thread of an outward code by it.
        codes = {code.encode().hex().ljust(8, "0"): code for code in CODES}
        named = {(codes.get(thread[:8], thread) if state.is_reserved(thread) else thread, *rest) for thread, *rest in found}
        if kinds != ["userErased", *["roleSet"] * len(expected), *["operatorRevoked"] * was_operator] or named != expected or len({event["commitEnd"] for event in new}) != 1:
            yield f"the erasure of {user} has {new}, expected {expected}, an operator: {was_operator}"
        elif sorted(roles.values()) != sorted(order.values()):
            yield f"the erasure of {user} has the roles {roles}, expected {order}"


def main():
    parser = program.parser(__doc__)
    parser.add_argument("--commands", type=int, default=20_000)
    arguments = parser.parse_args()
    print(f"random_commands: {arguments.commands} commands, seed {arguments.seed}", flush=True)
    totals = collections.Counter()
    journals = [(Limits(random.Random(f"{arguments.seed}/limits")), "limits", None)]
    for number, start in enumerate(range(0, arguments.commands, PER_JOURNAL)):
        journals.append((Community(random.Random(f"{arguments.seed}/{number}")), number, min(PER_JOURNAL, arguments.commands - start)))
    for community, number, count in journals:
        found, scratch = compare(arguments.tool, arguments.scratch, community, number, count, totals)
        if found:
            print("\n".join("FAILED " + difference for difference in found[:5]))
            print(f"random_commands: {len(found)} differences; the journal is kept in {scratch}")
            return 1
    documented = decision_table.documented_commands()
    executed = {name for name, outcome in totals if outcome == "events"}
    codes = {outcome.removeprefix("rejected: ") for _, outcome in totals if outcome.startswith("rejected")}
    missing = set(documented) - {"eraseUser", "eraseEvents"} - executed
    if arguments.commands >= 20_000:
        all_kinds, all_codes = (set().union(*words) for words in zip(*documented.values()))
        missing |= all_kinds - KINDS_REACHED | all_codes - codes | {"invalidCorrelation"} - codes
    if missing:
        print(f"FAILED not reached: {', '.join(sorted(missing))}")
        return 1
    kinds = collections.Counter()
    for (_, outcome), count in totals.items():
        kinds["rejected" if outcome.startswith("rejected") else outcome] += count
    print(f"random_commands: no difference; {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}; "
          f"{len(totals)} outcomes of {len(executed)} commands, {len(codes)} codes, {len(KINDS_REACHED)} kinds of events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
