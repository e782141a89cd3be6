"""A second, independent implementation of the command rules, in Python.

The other checks compare its outcome of a command line with the tool's answer and events. It implements the order of
rejections, duplicates, and commands without effect. It does not know the files. The commands of private threads, roles
and moderation are in community.py.
"""

import copy
import re
import time
import unicodedata

import mentioned_names as names
from community import Community, parse_time, print_time
from mentioned_names import IGNORABLE, WHITE_SPACE, fold_key, spaced
from outcome import Outcome, Refusal

POSTCODE = re.compile(
    r"(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}"
    r"|[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY])[0-9][ABD-HJLNP-UW-Z]{2}"
)
OUTWARD = re.compile(
    r"(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}"
    r"|[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY])"
)


# Drawn as an empty space, and no white space.
BLANK = re.compile("[\u115f\u1160\u3164\uffa0\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159]")


# The events that name a thread and have no number in it.
UNNUMBERED = (
    "threadRead", "messageReported", "replyReported", "messageReportsResolved", "replyReportsResolved",
    "threadMarkedUnread", "notificationsSet",
)
# The kinds whose printed event must have every expected field.
COMPLETE = (
    "messagePosted", "replyPosted", "threadOpened", "threadJoined", "userRegistered", "threadPolicySet", "userInvited",
    "invitationDeclined", "invitationRevoked", "roleSet", "operatorGranted", "operatorRevoked", "messageRemoved",
    "replyRemoved", "userMuted", "userUnmuted", "userBanned", "userUnbanned", "memberRemoved", "messagePinned",
    "messageUnpinned", "threadLocked", "threadUnlocked", "threadClosed", "messageReported", "replyReported",
    "messageReportsResolved", "replyReportsResolved", "userBlocked", "userUnblocked", "custom",
    "reactionAdded", "reactionRemoved",
    "threadMarkedUnread", "notificationsSet", "inboxRead", "profileSet", "threadRenamed", "directOpened",
)


def is_name(name):
    """Returns whether every character of a name is allowed, and one is visible."""
    hidden = any(unicodedata.category(c) in ("Cc", "Cn") or unicodedata.category(c) == "Cf" and c not in "\u200c\u200d" for c in name)
    return not hidden and not BLANK.search(name) and IGNORABLE.sub("", name) != ""


def outward_code(text):
    """Returns `text` as a canonical outward code, or None."""
    code = text.strip(" ").upper() if text.isascii() else ""
    return code if OUTWARD.fullmatch(code) else None


def postcode_of(text):
    """Returns (outward, inward) of a postcode in any accepted spelling, or None."""
    if len(text.encode()) > 64:
        return None
    halves = re.sub(f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$", "", text)
    separators = f"[{WHITE_SPACE}\\-\u2010\u2011\u2013]"
    compact = re.sub(separators, "", halves)
    if not compact.isascii() or not POSTCODE.fullmatch(compact.upper()):
        return None
    outward, inward = compact[:-3], compact[-3:]
    return (outward.upper(), inward.upper()) if re.fullmatch(outward + separators + "*" + inward, halves) else None


# The commands that `once` can stand beside, and the keys of the texts that some of them have.
ONCE = ("changeUsername setPostcode joinThread leaveThread retract resolveReport setNotifications acceptInvitation declineInvitation invite "
        "revokeInvitation unmute unban setRole grantOperator revokeOperator remove report mute ban removeMember pin unpin lockThread "
        "unlockThread closeThread setThreadPolicy renameThread block unblock setProfile").split()
TEXTS_OF = {"changeUsername": {"username"}, "setPostcode": {"postcode"}, "renameThread": {"name"}, "setProfile": {"about"},
            **{name: {"reason"} for name in ("remove", "report", "mute", "ban", "removeMember")}}


def command_of(line):
    """Returns the name of a command, and its fields."""
    (name, fields), = ((key, value) for key, value in line.items() if key not in ("correlation", "once"))
    return name, fields


def once_of(line):
    """Returns the acting user, or None for the host, and the id that a command takes effect once with; None without an id."""
    name, fields = command_of(line)
    if "once" not in line:
        return None
    actor = None if name in ("grantOperator", "revokeOperator") else fields.get("by") or fields["user"]
    return actor and actor.lower(), line["once"].lower()


def subject_of(name, fields):
    """Returns what a repeated command must have in common with the first one."""
    concerned = fields.get("user") if "by" in fields or name in ("grantOperator", "revokeOperator") else None
    thread = fields.get("thread")
    return ("joinThread" if name == "acceptInvitation" else name, thread and Model.place(thread),
            *((fields.get(key) or "").lower() for key in ("message", "reply")), (concerned or "").lower())


class Model(Community):
    """The state of the rules. `execute` applies one decoded command line and returns its outcome.

    `now` is the clock in milliseconds since 1970, which a check can set before a command. None, the default, is the
    clock of this machine, which the tool uses as well. Only the end of a sanction depends on the time: a check that
    compares the model with the tool must not choose an end that is close to the present.
    """

    def __init__(self, now=None):
        self.now = now
        self.time = 0        # the recording time of the present command
        self.recorded = 0    # the recording time of the last event
        self.position = 0
        self.users, self.names, self.subjects = {}, {}, {}
        self.threads = {}   # outward code or thread id -> the result of new_thread
        self.messages, self.replies, self.sessions = {}, {}, {}
        self.directs = {}   # the set of the people -> thread id
        self.operators, self.blocks = set(), set()
        self.blocked = set()  # the pairs of every block that there ever was
        self.acts = set()     # (user, another one who has acted on them)
        self.named = {}       # user -> the threads that they ever were in, invited to, muted or banned in
        self.markers = {}   # (user, thread) -> position
        self.latest = {}    # (kind of event, user, what it is about) -> position of the last one
        self.levels = {}    # (user, thread) -> (level, end or None)
        self.inbox_markers = {}  # user -> position
        self.receipts = {}  # (kind of entity, id) -> (the values that a repetition must match, Outcome)
        self.given = {}     # (acting user or None, once) -> (what the same command has in common, its fields, Outcome)

    def execute(self, line):
        name, fields = command_of(line)
        if (again := self.given.get(once_of(line))) is not None:
            subject, first, outcome = again
            if subject != subject_of(name, fields):
                return Outcome(code="identifierTaken")
            # Texts are shown if they were sent this time too.
            changed = {key for key in {*first, *fields} if fields.get(key) != first.get(key)}
            hidden = TEXTS_OF[name] if name in TEXTS_OF and changed & TEXTS_OF[name] else set()
            return Outcome([(kind, {key: value for key, value in shown.items() if key not in hidden}) for kind, shown in outcome.events],
                           outcome.positions, duplicate=True)
        self.time = max(min(max(self.clock(), 0), (1 << 48) - 1), self.recorded)
        # The correlation id is checked last: a rejected command changes nothing, and a duplicate stays one.
        is_valid = 1 <= len(line.get("correlation", "-").encode()) <= 256
        before = None if is_valid else copy.deepcopy(vars(self))
        try:
            outcome = getattr(self, name)(**fields)
        except Refusal as refusal:
            return Outcome(code=str(refusal))
        if is_valid or outcome.duplicate:
            if outcome.events and not outcome.duplicate and once_of(line):
                self.given[once_of(line)] = (subject_of(name, fields), fields, outcome)
            return outcome
        vars(self).update(before)
        return Outcome(code="invalidCorrelation")

    def correct_clock(self):
        """Lets times begin at the clock, as `correct-clock` does; an Outcome without events if none was later."""
        self.time = max(min(self.clock(), (1 << 48) - 1), 0)
        return self.append(("clockCorrected", {})) if self.time < self.recorded else Outcome()

    def clock(self):
        return time.time_ns() // 1_000_000 if self.now is None else self.now

    # Helpers of the commands

    def append(self, *events):
        first, self.recorded = self.position + 1, self.time
        listed = []
        for kind, fields in events:
            self.position += 1
            thread = fields.get("thread")
            if thread is not None and kind not in UNNUMBERED:
                self.threads[thread]["number"] += 1
                fields = dict(fields, number=self.threads[thread]["number"])
            listed.append((kind, fields))
        return Outcome(listed, (first, self.position))

    def once(self, kind, identifier, place, act):
        """Runs `act` for a new id; returns the first receipt of a repeated one, or rejects it with identifierTaken."""
        if identifier is not None:
            identifier = identifier.lower()
            if (kind, identifier) in self.receipts:
                before, outcome = self.receipts[kind, identifier]
                if before != place:
                    raise Refusal("identifierTaken")
                return Outcome(outcome.events, outcome.positions, duplicate=True)
        outcome = act(identifier)
        if identifier is not None:
            # A repeated post is answered without the join of the other one of a direct thread.
            first = Outcome(outcome.events[-1:], outcome.positions[-1:] * 2) if kind in ("message", "reply") else outcome
            self.receipts[kind, identifier] = (place, first)
        return outcome

    def user(self, identifier):
        if identifier.lower() not in self.users:
            raise Refusal("unknownUser")
        return identifier.lower()

    def person(self, identifier, by, blocks=False):
        """Returns a user on whom another one may act; all others are unknown, whether they exist or not."""
        user = identifier.lower()
        if user not in self.users or not (self.may_act_on(user, by) or blocks and (by, user) in self.blocked):
            raise Refusal("unknownUser")
        return user

    def may_act_on(self, user, by):
        """Returns whether a user may look up another one, moderates or reads a thread that shows them, or was acted on by them."""
        if user == by or (by, user) in self.acts:
            return True
        for thread in self.named.get(by, set()) | (self.named.get(user, set()) if by in self.operators else set()):
            place, role = self.threads[thread], self.role(by, thread)
            if role is not None and user in place["members"]:
                return True
            if role in ("moderator", "owner") or self.operates(by, thread):
                if any(user in place[key] for key in ("joined", "invited", "mutes", "bans")):
                    return True
            if role is not None and any(author == user and not self.is_hidden({"root": root}, by, thread) for author, root in place["posts"]):
                return True
        return False

    def act(self, by, *users):
        """Notes that a user has acted on others."""
        self.acts |= {(user, by) for user in users if user != by}

    @staticmethod
    def place(text):
        return outward_code(text) or text.lower()

    def thread(self, text, by, moderates=False):
        key = self.place(text)
        if not self.knows(by, key, moderates):
            raise Refusal("unknownThread")
        return key

    def knows(self, user, thread, moderates=False):
        """Returns whether a thread exists for a user: an inviteOnly one for those whom it concerns."""
        found = self.threads.get(thread)
        if found is None:
            return False
        concerned = user in found["members"] or user in found["invited"] or moderates and self.operates(user, thread)
        return found["policy"] != "inviteOnly" or concerned

    def member(self, user, thread):
        if user not in self.threads[thread]["members"]:
            raise Refusal("notAMember")

    def resident(self, user, thread):
        if self.threads[thread]["outward"] and (self.users[user]["postcode"] or ("",))[0] != thread:
            raise Refusal("notResident")

    @staticmethod
    def body(text):
        if not text.strip() or len(text.encode()) > 16_384:
            raise Refusal("invalidBody")

    def mentioned(self, users, thread, by, returning=None, named=()):
        """Returns the field of an event with the users whom a text mentions, each once, who must be members or return.

        It is the last check of a command. Of the `named`, the others are left out.
        """
        found = list(dict.fromkeys(user.lower() for user in users or ()))
        if len(found) > 50:
            raise Refusal("tooManyMentions")
        for user in found:
            if user != returning:
                self.member(user, thread)
        for user in named:
            if len(found) < 50 and user != by and user not in found and (user == returning or user in self.threads[thread]["members"]):
                found.append(user)
        self.act(by, *found)
        return {"mentions": found} if found else {}

    def named_in(self, body, thread, post=None):
        """Returns the users whom a text in a thread names; a name of the former text of a post means whom it meant there."""
        former = {}
        if post:
            stands = names.users(post["body"], post["named"].get)
            former = {key: user for key, user in post["named"].items() if user in stands}
        of_two = {user for people, direct in self.directs.items() if direct == thread and len(people) == 2 for user in people}

        def user_named(key):
            user = former.get(key) or self.names.get(key)
            return user if user in self.threads[thread]["members"] or user in of_two else None

        return names.users(body, user_named)

    def text(self, body, mentioned):
        """Returns what a post keeps of its text: with the users whom it mentions, by the names that they have then."""
        return {"body": body, "named": {fold_key(self.users[user]["name"]): user for user in mentioned.get("mentions", ())}}

    @staticmethod
    def repeated(outcome, users, body, finds):
        """Returns an outcome; a duplicate without the mentions that this sender did not send, as their text."""
        if not outcome.duplicate or finds and outcome.events[0][1]["body"] == body:
            return outcome
        sent = {user.lower() for user in users or ()}
        (kind, fields), = outcome.events
        shown = [user for user in fields.get("mentions", ()) if user in sent and fields["body"] == body]
        fields = {key: value for key, value in fields.items() if key != "mentions"}
        return Outcome([(kind, dict(fields, mentions=shown) if shown else fields)], outcome.positions, duplicate=True)

    @staticmethod
    def username(text):
        name = spaced(text)
        if len(name) > 64 or len(name.encode()) > 256 or not is_name(name):
            raise Refusal("invalidUsername")
        return name

    @staticmethod
    def thread_name(text):
        name = spaced(text)
        if len(name) > 120 or len(name.encode()) > 480 or not is_name(name) or outward_code(IGNORABLE.sub("", name)):
            raise Refusal("invalidThreadName")
        return name

    # The commands; each checks its rejections in the documented order

    def registerUser(self, username, user=None, subject=None):
        def act(identifier):
            name = self.username(username)
            if fold_key(name) in self.names:
                raise Refusal("usernameTaken")
            if subject is not None and (subject in self.subjects or not 1 <= len(subject.encode()) <= 256):
                raise Refusal("subjectTaken")
            self.names[fold_key(name)] = identifier
            if subject is not None:
                self.subjects[subject] = identifier
            self.users[identifier] = {"name": name, "postcode": None}
            return self.append(("userRegistered", {"user": identifier, "username": name}))

        if user is not None and ("user", user.lower()) in self.receipts and self.receipts["user", user.lower()][0] == fold_key(username):
            # A subject identifies its user: a repeated registration with another subject comes from another caller.
            if subject is not None and self.subjects.get(subject) != user.lower():
                raise Refusal("subjectTaken")
        return self.once("user", user, fold_key(username), act)

    def changeUsername(self, user, username):
        user = self.user(user)
        if self.users[user]["name"] == spaced(username):
            return Outcome()
        name = self.username(username)
        if self.names.get(fold_key(name), user) != user:
            raise Refusal("usernameTaken")
        del self.names[fold_key(self.users[user]["name"])]
        self.names[fold_key(name)] = user
        self.users[user]["name"] = name
        return self.append(("usernameChanged", {"user": user, "username": name}))

    def setPostcode(self, user, postcode):
        user, code = self.user(user), postcode_of(postcode)
        if code is None:
            raise Refusal("invalidPostcode")
        if self.users[user]["postcode"] == code:
            return Outcome()
        self.users[user]["postcode"] = code
        events = [("postcodeSet", {"user": user})]
        if code[0] not in self.threads:
            self.threads[code[0]] = self.new_thread(outward=True, policy="residents")
            events.append(("threadOpened", {"thread": code[0]}))
        thread = self.threads[code[0]]
        takes_joins = not thread["closed"] and not thread["locked"] and not self.is_sanctioned("bans", user, code[0])
        if user not in thread["members"] and takes_joins:
            self.join(user, code[0], self.position + len(events) + 1)
            events.append(("threadJoined", {"thread": code[0], "user": user}))
        return self.append(*events)

    def openThread(self, name, by, thread=None, policy="open", history="all"):
        def act(identifier):
            user = self.user(by)
            text = self.thread_name(name)
            if policy not in ("open", "listed", "inviteOnly"):
                raise Refusal("invalidPolicy")
            events = [("threadOpened", {"thread": identifier, "by": user, "name": text})]
            if (policy, history) != ("open", "all"):
                fields = {"thread": identifier, "policy": policy, "history": history, "by": user}
                events.append(("threadPolicySet", fields))
            self.threads[identifier] = self.new_thread(outward=False, policy=policy, history=history)
            self.join(user, identifier, self.position + len(events) + 1, role="owner")
            return self.append(*events, ("threadJoined", {"thread": identifier, "user": user}))

        return self.once("thread", thread, by.lower(), act)

    def joinThread(self, user, thread):
        user = self.user(user)
        thread = self.thread(thread, user)
        if user in self.threads[thread]["members"]:
            return Outcome()
        self.unlocked(thread)
        self.not_banned(user, thread)
        self.resident(user, thread)
        if self.threads[thread]["policy"] == "inviteOnly" and user not in self.threads[thread]["invited"]:
            raise Refusal("notInvited")
        self.join(user, thread, self.position + 1)
        return self.append(("threadJoined", {"thread": thread, "user": user}))

    def leaveThread(self, user, thread):
        user = self.user(user)
        thread = self.thread(thread, user)
        if user not in self.threads[thread]["members"]:
            return Outcome()
        if self.is_last_owner(user, thread):
            raise Refusal("lastOwner")
        del self.threads[thread]["members"][user]
        return self.append(("threadLeft", {"thread": thread, "user": user}))

    def postMessage(self, thread, author, body, message=None, mentions=None, findMentions=False):
        def act(identifier):
            user = self.user(author)
            place = self.thread(thread, user)
            self.member(user, place)
            self.may_write(user, place)
            returning = self.returning(user, place)
            self.body(body)
            mentioned = self.mentioned(mentions, place, user, returning, self.named_in(body, place) if findMentions else ())
            joins = self.join_again(returning, place)
            self.threads[place]["posts"].add((user, self.position + 1 + len(joins)))
            if identifier is not None:
                self.messages[identifier] = self.new_post(place, user, root=None, after=len(joins)) | self.text(body, mentioned)
            fields = {"thread": place, "author": user, "body": body, **mentioned}
            return self.append(*joins, ("messagePosted", dict(fields, message=identifier) if identifier else fields))

        return self.repeated(self.once("message", message, (author.lower(), self.place(thread)), act), mentions, body, findMentions)

    def reply(self, message, author, body, reply=None, mentions=None, findMentions=False):
        def act(identifier):
            user = self.user(author)
            root = self.messages.get(message.lower())
            if root is None or not self.knows(user, root["thread"]):
                raise Refusal("unknownMessage")
            self.member(user, root["thread"])
            self.not_hidden(root, user, "message")
            self.may_write(user, root["thread"])
            returning = self.returning(user, root["thread"])
            self.exists(root)
            self.body(body)
            mentioned = self.mentioned(mentions, root["thread"], user, returning, self.named_in(body, root["thread"]) if findMentions else ())
            joins = self.join_again(returning, root["thread"])
            self.threads[root["thread"]]["posts"].add((user, root["root"]))
            if identifier is not None:
                post = self.new_post(root["thread"], user, root["root"], after=len(joins))
                self.replies[identifier] = dict(post, message=message.lower()) | self.text(body, mentioned)
            fields = {"thread": root["thread"], "message": message.lower(), "author": user, "body": body, **mentioned}
            return self.append(*joins, ("replyPosted", dict(fields, reply=identifier) if identifier else fields))

        return self.repeated(self.once("reply", reply, (author.lower(), message.lower()), act), mentions, body, findMentions)

    def new_post(self, thread, author, root, after):
        """Returns a new post. `root` is the position of the message that it replies to; None for a message.

        `after` is the number of events of the command before the post.
        """
        position = self.position + after + 1
        return {"thread": thread, "author": author, "root": root or position, "text": position, "retracted": False, "removed": False,
                "reporters": set(), "reactions": []}

    def target(self, message, reply, by, moderates=False, own=False):
        """Returns the message or the reply that a command names, its kind and its id.

        A post in a thread that the acting user does not know does not exist. `own` excepts their own posts.
        """
        if message is not None:
            found, kind, code = self.messages.get(message.lower()), "message", "unknownMessage"
        else:
            found, kind, code = self.replies.get(reply.lower()), "reply", "unknownReply"
        if found is None or not (own and found["author"] == by or self.knows(by, found["thread"], moderates)):
            raise Refusal(code)
        return found, kind, (message or reply).lower()

    def edit(self, by, body, message=None, reply=None, edit=None, replaces=None, mentions=None, findMentions=False):
        def act(edit_id):
            user = self.user(by)
            found, kind, identifier = self.target(message, reply, user)
            self.member(user, found["thread"])
            self.not_hidden(found, user, kind)
            self.may_write(user, found["thread"])
            if found["author"] != user:
                raise Refusal("notTheAuthor")
            self.exists(found)
            if replaces is not None and replaces != found["text"]:
                raise Refusal("edited")
            self.body(body)
            mentioned = self.mentioned(mentions, found["thread"], user, named=self.named_in(body, found["thread"], found) if findMentions else ())
            found.update(self.text(body, mentioned), text=self.position + 1)
            fields = {"thread": found["thread"], kind: identifier, "body": body, **mentioned}
            return self.append((kind + "Edited", dict(fields, edit=edit_id) if edit_id else fields))

        post = (by.lower(), message and message.lower(), reply and reply.lower())
        return self.repeated(self.once("edit", edit, post, act), mentions, body, findMentions)

    def retract(self, by, message=None, reply=None):
        user = self.user(by)
        found, kind, identifier = self.target(message, reply, user, own=True)
        if found["author"] != user:
            raise Refusal("notTheAuthor")
        if found["retracted"]:
            return Outcome()
        found["retracted"] = True
        self.end_pin(found, kind, identifier)
        return self.append((kind + "Retracted", {"thread": found["thread"], kind: identifier}))

    def has_done(self, kind, user, *subject, seen):
        """Whether a user has done this after the position that the command names."""
        return seen is not None and self.latest.get((kind, user, *subject), 0) > seen

    def do(self, kind, user, *subject, fields):
        outcome = self.append((kind, fields))
        self.latest[kind, user, *subject] = self.position
        return outcome

    def markRead(self, user, thread, upTo, seen=None):
        user = self.user(user)
        thread = self.thread(thread, user)
        self.member(user, thread)
        if upTo > self.position:
            raise Refusal("invalidPosition")
        if upTo <= self.markers.get((user, thread), 0) or self.has_done("threadMarkedUnread", user, thread, seen=seen):
            return Outcome()
        self.markers[user, thread] = upTo
        return self.do("threadRead", user, thread, fields={"thread": thread, "user": user, "upTo": upTo})

    def markUnread(self, user, thread, seen=None, **fields):
        # The field is a word of Python.
        start = fields.pop("from")
        assert not fields
        user = self.user(user)
        thread = self.thread(thread, user)
        self.member(user, thread)
        if not 1 <= start <= self.position:
            raise Refusal("invalidPosition")
        if self.markers.get((user, thread), 0) < start or self.has_done("threadRead", user, thread, seen=seen):
            return Outcome()
        self.markers[user, thread] = start - 1
        return self.do("threadMarkedUnread", user, thread, fields={"thread": thread, "user": user, "upTo": start - 1})

    def setNotifications(self, user, thread, level, until=None):
        user = self.user(user)
        thread = self.thread(thread, user)
        self.member(user, thread)
        until = parse_time(until)
        if self.level(user, thread) == (level, until):
            return Outcome()
        self.later(until)
        self.levels[user, thread] = level, until
        return self.append(("notificationsSet", {"thread": thread, "user": user, "level": level, "until": print_time(until)}))

    def markInboxRead(self, user, upTo):
        user = self.user(user)
        if upTo > self.position:
            raise Refusal("invalidPosition")
        if upTo <= self.inbox_markers.get(user, 0):
            return Outcome()
        self.inbox_markers[user] = upTo
        return self.append(("inboxRead", {"user": user, "upTo": upTo}))

    def setProfile(self, user, about=None):
        user, about = self.user(user), re.sub(f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+\\Z", "", about or "")
        if len(about) > 500 or any(unicodedata.category(c) == "Cc" and c not in "\n\r" for c in about):
            raise Refusal("invalidAbout")
        return self.append(("profileSet", {"user": user, "about": about}))

    def level(self, user, thread):
        """Returns the level of a user in a thread and its end, or None, at the time of the command."""
        level, end = self.levels.get((user, thread), ("all", None))
        return (level, end) if end is None or end > self.time else ("all", None)

    def startSession(self, user, device, session=None):
        def act(identifier):
            owner = self.user(user)
            if len(device.encode()) > 1_024:
                raise Refusal("invalidDevice")
            if identifier is not None:
                self.sessions[identifier] = True
            return self.append(("sessionStarted", {"user": owner}))

        return self.once("session", session, user.lower(), act)

    def endSession(self, session):
        if session.lower() not in self.sessions:
            raise Refusal("unknownSession")
        if not self.sessions[session.lower()]:
            return Outcome()
        self.sessions[session.lower()] = False
        return self.append(("sessionEnded", {"session": session.lower()}))


def differences(outcome, answer, thread_ids):
    """Returns the differences between a printed answer (or a list of events under "events") and `outcome`.

    `thread_ids` collects the id of each outward code's thread. No id is assumed; it must be the same each time.
    """
    if outcome.code:
        code = answer.get("rejection", {}).get("code")
        return [] if code == outcome.code else [f"expected the rejection {outcome.code}, got {answer}"]
    if "rejection" in answer or "error" in answer:
        return [f"expected {outcome}, got {answer}"]
    found = []
    positions = list(outcome.positions) if outcome.positions else None
    if answer["positions"] != positions:
        found.append(f"expected positions {positions}, got {answer['positions']}")
    if answer["duplicate"] != outcome.duplicate:
        found.append(f"expected duplicate {outcome.duplicate}, got {answer['duplicate']}")
    return found + event_differences(outcome.events, answer["events"], thread_ids)


def kind_of(event):
    """Returns the kind of a printed event: the only key whose value is an object."""
    kinds = [key for key, value in event.items() if isinstance(value, dict)]
    if len(kinds) != 1:
        raise ValueError(f"an event with {len(kinds)} kinds, {kinds}: {event}")
    return kinds[0]


def event_differences(expected, printed, thread_ids):
    """Returns the differences between printed and expected events (kind, and each known field)."""
    kinds = [kind_of(event) for event in printed]
    if kinds != [kind for kind, _ in expected]:
        return [f"expected events {[kind for kind, _ in expected]}, got {kinds}"]
    found = []
    for (kind, fields), event in zip(expected, printed):
        payload = event[kind]
        for field, value in fields.items():
            if field == "thread" and outward_code(value):
                value = thread_ids.setdefault(value, payload.get("thread"))
            # A repeated command with another text receives the first receipt with that text hidden.
            if field in event.get("redacted", []):
                value = None
            # Not every kind has every field; a field is compared if it is printed.
            if field in payload and payload[field] != value:
                found.append(f"{kind}.{field} at {event['position']}: expected {value!r}, got {payload[field]!r}")
            if field not in payload and kind in COMPLETE:
                found.append(f"{kind} at {event['position']} has no {field}: {payload}")
        if payload and payload.get("mentions") != fields.get("mentions"):
            found.append(f"{kind} at {event['position']}: expected the mentions {fields.get('mentions')}, got {payload.get('mentions')}")
    return found
