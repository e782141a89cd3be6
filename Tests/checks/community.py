"""The part of model.py for private threads, roles, moderation and custom events: the rules of Community.md."""

import datetime
import json
import re

from outcome import Outcome, Refusal

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)
RANKS = {"member": 0, "moderator": 1, "owner": 2}
PIN_LIMIT = 50
BLOCK_LIMIT = 1_000
PEOPLE_LIMIT = 8
REACTIONS_OF_USER, REACTIONS_OF_POST = 20, 50
# The emoji of the checks, of which Unicode has many more, each with the spellings that count as it.
EMOJI = {spelling: emoji for emoji, *others in (
    ["\U0001F44D"], ["\u2764\uFE0F", "\u2764"], ["\U0001F44D\U0001F3FD"], ["\U0001F389"], ["\U0001F1EC\U0001F1E7"]
) for spelling in [emoji, *others]}
EMOJI_NAME = re.compile(r":[a-z0-9_+-]{1,32}:")
LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
KIND = re.compile(rf"{LABEL}(?:\.{LABEL})+")


def parse_time(text):
    """Returns a time of a command in milliseconds since 1970, or None for None."""
    if text is None:
        return None
    return (datetime.datetime.fromisoformat(text.upper().replace("Z", "+00:00")) - EPOCH) // MILLISECOND


def print_time(milliseconds):
    """Returns a time in the form of the tool, or None for None."""
    if milliseconds is None:
        return None
    return (EPOCH + milliseconds * MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Community:
    """The commands of Community.md that ChatDomain.md does not have. Model is the only subclass."""

    # Helpers of the commands

    def role(self, user, thread):
        """Returns the role of a user in a thread, or None if the user is not a member."""
        return self.threads[thread]["members"].get(user, {"role": None})["role"]

    def owners(self, thread):
        return [user for user, member in self.threads[thread]["members"].items() if member["role"] == "owner"]

    def is_last_owner(self, user, thread):
        return not self.threads[thread]["closed"] and self.owners(thread) == [user]

    def is_sanctioned(self, sanction, user, thread):
        """Returns whether a sanction ("mutes" or "bans") of a user is in effect at the time of the command."""
        sanctions = self.threads[thread][sanction]
        return user in sanctions and (sanctions[user] is None or sanctions[user] > self.time)

    def is_hidden(self, found, user, thread):
        """Returns whether a post does not exist for a member, because its message is from before what they may read.

        An operator also reads what was posted after the thread last ceased to be inviteOnly, while it is not that again.
        """
        place, member = self.threads[thread], self.threads[thread]["members"].get(user)
        if user in self.operators and place["policy"] != "inviteOnly" and found["root"] > place["disclosed"]:
            return False
        return member is not None and found["root"] < member["start"]

    def not_hidden(self, found, user, kind):
        if self.is_hidden(found, user, found["thread"]):
            raise Refusal("unknownMessage" if kind == "message" else "unknownReply")

    def operates(self, user, thread):
        """Returns whether a user has the rights of an operator in a thread: in every one but direct threads."""
        return user in self.operators and self.threads[thread]["people"] is None

    def moderator(self, user, thread):
        if self.role(user, thread) not in ("moderator", "owner") and not self.operates(user, thread):
            raise Refusal("notAModerator")

    def may_act_against(self, by, user, thread):
        """Rejects a moderator who acts against a moderator, themselves included, or an owner."""
        if self.operates(by, thread) or self.role(by, thread) == "owner":
            return
        if self.role(user, thread) in ("moderator", "owner"):
            raise Refusal("notAnOwner")

    def not_closed(self, thread):
        if self.threads[thread]["closed"]:
            raise Refusal("threadClosed")

    def unlocked(self, thread):
        self.not_closed(thread)
        if self.threads[thread]["locked"]:
            raise Refusal("threadLocked")

    def not_banned(self, user, thread):
        if self.is_sanctioned("bans", user, thread):
            raise Refusal("banned")

    def may_write(self, user, thread):
        """The checks between the membership and the content that a post, a reply, an edit and a custom event share."""
        self.unlocked(thread)
        people = self.threads[thread]["people"]
        if people is not None and len(people) == 2 and any(tuple(pair) in self.blocks for pair in (people, people[::-1])):
            raise Refusal("cannotMessage")
        if self.is_sanctioned("mutes", user, thread):
            raise Refusal("muted")

    @staticmethod
    def is_gone(found):
        return found["retracted"] or found["removed"]

    @staticmethod
    def exists(found):
        if Community.is_gone(found):
            raise Refusal("retracted")

    @staticmethod
    def reason(text):
        if not text.strip() or len(text.encode()) > 512:
            raise Refusal("invalidReason")

    def later(self, until):
        if until is not None and until <= self.time:
            raise Refusal("invalidUntil")

    def both(self, by, user, thread):
        """Returns the acting user, the other user and the thread of a command that names two users."""
        by = self.user(by)
        user = self.person(user, by)
        return by, user, self.thread(thread, by, moderates=True)

    def join(self, user, thread, position, role="member"):
        """Makes a user a member. `position` is that of the event threadJoined.

        The history at the join decides what the member may read, whatever it is later.
        """
        place = self.threads[thread]
        # Who returns to a direct thread of three or more people reads what follows.
        returns = place["people"] is not None and len(place["people"]) > 2 and user in place["joined"]
        start = position if place["history"] == "sinceJoining" or returns else 0
        place["members"][user] = {"role": role, "start": start, "since": position}
        if place["people"] is not None:
            self.act(place["people"][0], user)
        place["joined"].add(user)
        self.name(user, thread)
        self.threads[thread]["invited"].discard(user)

    def name(self, user, thread):
        self.named.setdefault(user, set()).add(thread)

    @staticmethod
    def new_thread(outward, policy="open", history="all"):
        return {"outward": outward, "policy": policy, "history": history, "number": 0, "members": {}, "invited": set(),
                "mutes": {}, "bans": {}, "locked": False, "closed": False, "pins": set(), "disclosed": 0,
                "people": None, "joined": set(), "posts": set()}

    def end_pin(self, found, kind, identifier):
        """Ends the pin of a message that is retracted or removed. A reply can have the id of a pinned message."""
        if kind == "message":
            self.threads[found["thread"]]["pins"].discard(identifier)

    @staticmethod
    def post_fields(found, kind, identifier):
        """Returns the fields that name a message or a reply in an event."""
        if kind == "message":
            return {"thread": found["thread"], "message": identifier}
        return {"thread": found["thread"], "message": found["message"], "reply": identifier}

    # Invitations

    def invite(self, thread, user, by):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        # An operator by no role of the thread. The model has no imports, and so no imported threads of two people.
        if self.role(by, thread) in (None, "member") and (self.owners(thread) or user in self.operators):
            raise Refusal("notAnOwner")
        self.not_closed(thread)
        if self.role(user, thread):
            return Outcome()
        self.not_banned(user, thread)
        if user in self.threads[thread]["invited"]:
            return Outcome()
        self.threads[thread]["invited"].add(user)
        self.name(user, thread)
        self.act(by, user)
        return self.append(("userInvited", {"thread": thread, "user": user, "by": by}))

    def acceptInvitation(self, thread, user):
        user = self.user(user)
        thread = self.thread(thread, user)
        if self.role(user, thread):
            return Outcome()
        self.unlocked(thread)
        self.not_banned(user, thread)
        if user not in self.threads[thread]["invited"]:
            raise Refusal("notInvited")
        self.resident(user, thread)
        self.join(user, thread, self.position + 1)
        return self.append(("threadJoined", {"thread": thread, "user": user}))

    def declineInvitation(self, thread, user):
        user = self.user(user)
        thread = self.thread(thread, user)
        if user not in self.threads[thread]["invited"]:
            return Outcome()
        self.threads[thread]["invited"].discard(user)
        return self.append(("invitationDeclined", {"thread": thread, "user": user}))

    def revokeInvitation(self, thread, user, by):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        if user not in self.threads[thread]["invited"]:
            return Outcome()
        self.threads[thread]["invited"].discard(user)
        self.act(by, user)
        return self.append(("invitationRevoked", {"thread": thread, "user": user, "by": by}))

    # Roles

    def setRole(self, thread, user, role, by):
        by, user, thread = self.both(by, user, thread)
        owners, own = self.owners(thread), self.role(by, thread)
        steps_down = by == user and own is not None and RANKS[role] < RANKS[own]
        if not (by in owners or (not owners and self.operates(by, thread)) or steps_down):
            raise Refusal("notAnOwner")
        # The model has no imports: every thread with a name can have an owner.
        if role == "owner" and self.threads[thread]["outward"]:
            raise Refusal("notAnOwner")
        self.member(user, thread)
        if self.role(user, thread) == role:
            return Outcome()
        if self.is_last_owner(user, thread):
            raise Refusal("lastOwner")
        self.threads[thread]["members"][user]["role"] = role
        self.act(by, user)
        return self.append(("roleSet", {"thread": thread, "user": user, "role": role, "by": by}))

    def grantOperator(self, user):
        user = self.user(user)
        if user in self.operators:
            return Outcome()
        self.operators.add(user)
        return self.append(("operatorGranted", {"user": user}))

    def revokeOperator(self, user):
        user = self.user(user)
        if user not in self.operators:
            return Outcome()
        self.operators.discard(user)
        return self.append(("operatorRevoked", {"user": user}))

    def end_roles(self, user, erased):
        """Ends the roles of a user who is erased, as `erased` are.

        Returns the changes of each thread, as (user, role), and whether the user was an operator.
        """
        changes = {}
        for thread, place in self.threads.items():
            if self.role(user, thread) in (None, "member"):
                continue
            changes[thread] = []
            if self.owners(thread) == [user]:
                # The moderator or else the member who joined first.
                heirs = [(member["role"] != "moderator", member["since"], other) for other, member in place["members"].items() if other not in erased]
                if heirs:
                    changes[thread].append((min(heirs)[2], "owner"))
            changes[thread].append((user, "member"))
            for other, role in changes[thread]:
                place["members"][other]["role"] = role
        was_operator = user in self.operators
        self.operators.discard(user)
        return changes, was_operator

    # Sanctions

    def sanction(self, sanction, by, user, thread, reason, until):
        """The checks at the end of `mute` and `ban`. Returns whether the command has an effect."""
        if self.is_sanctioned(sanction, user, thread) and self.threads[thread][sanction][user] == until:
            return False
        if user not in self.threads[thread]["joined"] | self.threads[thread]["invited"]:
            raise Refusal("notAMember")
        self.reason(reason)
        self.later(until)
        self.act(by, user)
        self.threads[thread][sanction][user] = until
        return True

    def mute(self, thread, user, by, reason, until=None):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        self.may_act_against(by, user, thread)
        until = parse_time(until)
        if not self.sanction("mutes", by, user, thread, reason, until):
            return Outcome()
        fields = {"thread": thread, "user": user, "by": by, "reason": reason, "until": print_time(until)}
        return self.append(("userMuted", fields))

    def unmute(self, thread, user, by):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        self.may_act_against(by, user, thread)
        if not self.is_sanctioned("mutes", user, thread):
            return Outcome()
        del self.threads[thread]["mutes"][user]
        self.act(by, user)
        return self.append(("userUnmuted", {"thread": thread, "user": user, "by": by}))

    def ban(self, thread, user, by, reason, until=None):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        self.may_act_against(by, user, thread)
        if by == user and self.is_last_owner(user, thread):
            raise Refusal("lastOwner")
        until = parse_time(until)
        if not self.sanction("bans", by, user, thread, reason, until):
            return Outcome()
        self.threads[thread]["invited"].discard(user)
        fields = {"thread": thread, "user": user, "by": by, "reason": reason}
        events = [("userBanned", dict(fields, until=print_time(until)))]
        if self.threads[thread]["members"].pop(user, None):
            events.append(("memberRemoved", fields))
        return self.append(*events)

    def unban(self, thread, user, by):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        self.may_act_against(by, user, thread)
        if not self.is_sanctioned("bans", user, thread):
            return Outcome()
        del self.threads[thread]["bans"][user]
        self.act(by, user)
        return self.append(("userUnbanned", {"thread": thread, "user": user, "by": by}))

    def removeMember(self, thread, user, by, reason):
        by, user, thread = self.both(by, user, thread)
        self.moderator(by, thread)
        self.may_act_against(by, user, thread)
        if by == user and self.is_last_owner(user, thread):
            raise Refusal("lastOwner")
        if not self.role(user, thread):
            return Outcome()
        self.reason(reason)
        del self.threads[thread]["members"][user]
        self.act(by, user)
        return self.append(("memberRemoved", {"thread": thread, "user": user, "by": by, "reason": reason}))

    # Posts

    def moderated(self, message, reply, by):
        """Returns what `target` returns, for who may moderate its thread.

        An operator who is no member of a direct thread decides a post of it while a report of the post is open.
        """
        posts, identifier = (self.messages, message) if message is not None else (self.replies, reply)
        found = posts.get(identifier.lower())
        if found is not None and found["reporters"] and by in self.operators:
            place = self.threads[found["thread"]]
            if place["people"] is not None and by not in place["members"]:
                return found, "message" if message is not None else "reply", identifier.lower()
        found, kind, identifier = self.target(message, reply, by, moderates=True)
        self.moderator(by, found["thread"])
        return found, kind, identifier

    def remove(self, by, reason, message=None, reply=None):
        by = self.user(by)
        found, kind, identifier = self.moderated(message, reply, by)
        if found["removed"]:
            return Outcome()
        self.reason(reason)
        found["removed"] = True
        self.act(by, found["author"])
        self.end_pin(found, kind, identifier)
        return self.append((kind + "Removed", dict(self.post_fields(found, kind, identifier), by=by, reason=reason)))

    def report(self, by, reason, message=None, reply=None):
        by = self.user(by)
        found, kind, identifier = self.target(message, reply, by)
        self.member(by, found["thread"])
        self.not_hidden(found, by, kind)
        self.exists(found)
        if by in found["reporters"]:
            return Outcome()
        self.reason(reason)
        found["reporters"].add(by)
        return self.append((kind + "Reported", dict(self.post_fields(found, kind, identifier), by=by, reason=reason)))

    def resolveReport(self, by, message=None, reply=None):
        by = self.user(by)
        found, kind, identifier = self.moderated(message, reply, by)
        if not found["reporters"]:
            return Outcome()
        found["reporters"].clear()
        return self.append((kind + "ReportsResolved", dict(self.post_fields(found, kind, identifier), by=by)))

    def pin(self, message, by):
        by = self.user(by)
        found, kind, identifier = self.target(message, None, by, moderates=True)
        self.moderator(by, found["thread"])
        self.not_closed(found["thread"])
        self.exists(found)
        pins = self.threads[found["thread"]]["pins"]
        if identifier in pins:
            return Outcome()
        if len(pins) >= PIN_LIMIT:
            raise Refusal("tooManyPins")
        pins.add(identifier)
        return self.append(("messagePinned", dict(self.post_fields(found, kind, identifier), by=by)))

    def unpin(self, message, by):
        by = self.user(by)
        found, kind, identifier = self.target(message, None, by, moderates=True)
        self.moderator(by, found["thread"])
        self.not_closed(found["thread"])
        if identifier not in self.threads[found["thread"]]["pins"]:
            return Outcome()
        self.threads[found["thread"]]["pins"].discard(identifier)
        return self.append(("messageUnpinned", dict(self.post_fields(found, kind, identifier), by=by)))

    # Reactions

    @staticmethod
    def emoji(text):
        """Returns the emoji of a text, or None."""
        return text if EMOJI_NAME.fullmatch(text) else EMOJI.get(text)

    def react(self, by, emoji, message=None, reply=None, seen=None):
        by = self.user(by)
        found, kind, identifier = self.target(message, reply, by)
        self.member(by, found["thread"])
        self.not_hidden(found, by, kind)
        self.may_write(by, found["thread"])
        self.exists(found)
        emoji = self.emoji(emoji)
        if emoji is None:
            raise Refusal("invalidEmoji")
        if (emoji, by) in found["reactions"] or self.has_done("reactionRemoved", by, kind, identifier, emoji, seen=seen):
            return Outcome()
        different = {other for other, _ in found["reactions"]} | {emoji}
        own = [user for _, user in found["reactions"] if user == by]
        if len(different) > REACTIONS_OF_POST or len(own) >= REACTIONS_OF_USER:
            raise Refusal("tooManyReactions")
        found["reactions"].append((emoji, by))
        self.act(by, found["author"])
        return self.do("reactionAdded", by, kind, identifier, emoji,
                       fields=dict(self.post_fields(found, kind, identifier), by=by, emoji=emoji))

    def unreact(self, by, emoji, message=None, reply=None, seen=None):
        by, emoji = self.user(by), self.emoji(emoji)
        posts, identifier = (self.messages, message) if message is not None else (self.replies, reply)
        found = posts.get(identifier.lower())
        if found is None or (emoji, by) not in found["reactions"]:
            # Only their own reaction shows a post to somebody who does not know its thread.
            self.target(message, reply, by)
            if emoji is None:
                raise Refusal("invalidEmoji")
            return Outcome()
        kind, identifier = "message" if message is not None else "reply", identifier.lower()
        if self.has_done("reactionAdded", by, kind, identifier, emoji, seen=seen):
            return Outcome()
        found["reactions"].remove((emoji, by))
        return self.do("reactionRemoved", by, kind, identifier, emoji,
                       fields=dict(self.post_fields(found, kind, identifier), by=by, emoji=emoji))

    # Threads

    def lockThread(self, thread, by):
        return self.set_lock(thread, by, True, "threadLocked")

    def unlockThread(self, thread, by):
        return self.set_lock(thread, by, False, "threadUnlocked")

    def set_lock(self, thread, by, locked, kind):
        by = self.user(by)
        thread = self.thread(thread, by, moderates=True)
        self.moderator(by, thread)
        self.not_closed(thread)
        if self.threads[thread]["locked"] == locked:
            return Outcome()
        self.threads[thread]["locked"] = locked
        return self.append((kind, {"thread": thread, "by": by}))

    def closeThread(self, thread, by):
        by = self.user(by)
        thread = self.thread(thread, by, moderates=True)
        if self.role(by, thread) != "owner" and not self.operates(by, thread):
            raise Refusal("notAnOwner")
        if self.threads[thread]["closed"]:
            return Outcome()
        self.threads[thread]["closed"] = True
        return self.append(("threadClosed", {"thread": thread, "by": by}))

    def setThreadPolicy(self, thread, policy, by, history=None):
        by = self.user(by)
        thread = self.thread(thread, by, moderates=True)
        place = self.threads[thread]
        if self.role(by, thread) != "owner" and (self.owners(thread) or not self.operates(by, thread)):
            raise Refusal("notAnOwner")
        opens = place["policy"] == "inviteOnly" and policy != "inviteOnly"
        if place["outward"] or policy == "residents":
            raise Refusal("invalidPolicy")
        widest = "sinceJoining" if opens else place["history"]
        if history is None:
            history = widest
        if (widest, history) == ("sinceJoining", "all"):
            raise Refusal("invalidPolicy")
        if (place["policy"], place["history"]) == (policy, history):
            return Outcome()
        if opens:
            place["disclosed"] = self.position + 1
        place["policy"], place["history"] = policy, history
        fields = {"thread": thread, "policy": policy, "history": history, "by": by}
        return self.append(("threadPolicySet", fields))

    def renameThread(self, thread, name, by):
        by = self.user(by)
        thread = self.thread(thread, by, moderates=True)
        if self.role(by, thread) != "owner" and (self.owners(thread) or not self.operates(by, thread)):
            raise Refusal("notAnOwner")
        if self.threads[thread]["outward"]:
            raise Refusal("notAnOwner")
        # The same name is recorded again.
        return self.append(("threadRenamed", {"thread": thread, "name": self.thread_name(name), "by": by}))

    def openDirect(self, by, thread=None, **fields):
        # The field is a word of Python.
        people = list(dict.fromkeys(user.lower() for user in (by, *fields.pop("with"))))
        assert not fields
        key = frozenset(people)
        if thread is not None and self.receipts.get(("thread", thread.lower()), (None,))[0] == (people[0], key):
            return self.opened_direct(thread.lower())
        by = self.user(by)
        if not 2 <= len(people) <= PEOPLE_LIMIT:
            raise Refusal("invalidPeople")
        if any(user not in self.users for user in people):
            raise Refusal("cannotMessage")
        if key in self.directs:
            known = self.directs[key]
            if by in self.threads[known]["members"]:
                return self.opened_direct(known)
            self.join(by, known, self.position + 1)
            return self.append(("threadJoined", {"thread": known, "user": by}))
        if not all(self.can_message(by, user) for user in people[1:]) or any((one, other) in self.blocks for one in people for other in people):
            raise Refusal("cannotMessage")
        # The model cannot tell the id that the tool chooses.
        thread = thread.lower()
        if ("thread", thread) in self.receipts or self.is_reserved(thread):
            raise Refusal("identifierTaken")
        self.threads[thread] = dict(self.new_thread(outward=False, policy="inviteOnly"), people=people)
        self.directs[key] = thread
        events = [("directOpened", {"thread": thread, "by": by, "people": people})]
        for user in people:
            self.join(user, thread, self.position + len(events) + 1)
            events.append(("threadJoined", {"thread": thread, "user": user}))
        outcome = self.append(*events)
        self.receipts["thread", thread] = ((by, key), outcome)
        return outcome

    def can_message(self, by, user):
        """Returns whether a user can open a direct thread with another one, apart from blocks among others."""
        blocked = (by, user) in self.blocks or (user, by) in self.blocks
        return not blocked and any(by in place["members"] and user in place["members"] for place in self.threads.values())

    def returning(self, author, thread):
        """Returns the other one of a direct thread of two, whom a post brings back; None if they are there."""
        place = self.threads[thread]
        if place["people"] is None or len(place["people"]) != 2:
            return None
        other, = (user for user in place["people"] if user != author)
        if other in place["members"]:
            return None
        if not self.can_message(author, other):
            raise Refusal("cannotMessage")
        return other

    def join_again(self, user, thread):
        """Returns the events before a post that brings a user back."""
        if user is None:
            return []
        self.join(user, thread, self.position + 1)
        return [("threadJoined", {"thread": thread, "user": user})]

    def opened_direct(self, thread):
        outcome = self.receipts["thread", thread][1]
        return Outcome(outcome.events, outcome.positions, duplicate=True)

    @staticmethod
    def is_reserved(thread):
        """Returns whether an id is that of the thread of an outward code."""
        return thread[8:] == "-0000-8000-806f-757477617264"

    # Blocks and custom events

    def block(self, user, by):
        by = self.user(by)
        user = self.person(user, by, blocks=True)
        if (by, user) in self.blocks or by == user:
            return Outcome()
        if sum(blocker == by for blocker, _ in self.blocks) >= BLOCK_LIMIT:
            raise Refusal("tooManyBlocks")
        self.blocks.add((by, user))
        self.blocked.add((by, user))
        return self.append(("userBlocked", {"user": user, "by": by}))

    def unblock(self, user, by):
        by = self.user(by)
        user = self.person(user, by, blocks=True)
        if (by, user) not in self.blocks:
            return Outcome()
        self.blocks.discard((by, user))
        return self.append(("userUnblocked", {"user": user, "by": by}))

    def custom(self, kind, thread, by, payload, id=None):
        def act(identifier):
            user = self.user(by)
            place = self.thread(thread, user)
            self.member(user, place)
            self.may_write(user, place)
            if len(kind) > 128 or not KIND.fullmatch(kind):
                raise Refusal("invalidKind")
            # The payload is decoded, so this length is exact only for payloads without escapes and unusual numbers.
            if len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()) > 16_384:
                raise Refusal("invalidPayload")
            fields = {"thread": place, "kind": kind, "by": user, "payload": payload}
            return self.append(("custom", dict(fields, id=identifier) if identifier else fields))

        return self.once("custom", id, (by.lower(), self.place(thread)), act)
