"""Random communities: every GET route, as every user, with ids of everything, against the tables of WhoIsShownWhat.md.

Every text contains a mark, so that a text in an answer is found wherever it is. `History` derives what each user may see
from the raw events of the journal. It does not know the code of the server or of the store.
"""

import collections
import json
import re
import subprocess
import time
import urllib.parse

import model
from server_client import Failed, Server, Stream, identifier

MARK = re.compile(r"q[0-9]{6}q")
POSTCODE = re.compile(r"\b[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}\b")
CODES = ("SW1A", "M1", "SE15")
NEVER = "2999-01-01T00:00:00Z"
REPORTS = ("messageReported", "replyReported", "messageReportsResolved", "replyReportsResolved")


def kind_of(event):
    return next(key for key, value in event.items() if isinstance(value, dict))


class History:
    """What the raw events of a journal imply, at each position and now."""

    def __init__(self, events):
        self.events, self.head = events, len(events)
        self.names, self.postcodes, self.moved = {}, {}, {}
        self.namings = {}   # by user: the positions and the names
        self.members, self.operators, self.roles = {}, {}, {}   # intervals of positions; roles as (position, role)
        self.threads, self.posts, self.markers, self.sessions = {}, {}, {}, {}
        # By the user who blocks and the blocked one: the position.
        self.blocks = {}
        self.levels = {}   # No test lets one end.
        self.inbox_markers = {}
        self.profiles = {}   # the position and the text
        for event in events:
            kind = kind_of(event)
            self.apply(event["position"], kind, event[kind])

    # Facts

    def apply(self, position, kind, fields):
        thread = fields.get("thread")
        place = self.threads.get(thread)
        if place and "number" in fields or kind in ("threadOpened", "directOpened"):
            if kind == "directOpened":
                place = self.threads[thread] = self.new_thread(None, "inviteOnly", None, position)
                place["people"], place["sets"] = fields["people"], [(position, "inviteOnly", "all")]
            elif kind == "threadOpened":
                code = next((code for code in CODES if thread.startswith(code.encode().hex().ljust(8, "0"))), None)
                place = self.threads[thread] = self.new_thread(fields["name"], "residents" if code else "open", code, position)
                self.owner = (thread, fields["by"])
            if not kind.startswith("reaction"):
                place["last"] = position
        if handler := getattr(self, "on_" + kind, None):
            handler(position, fields, place)
        elif kind.startswith("message") or kind.startswith("reply"):
            self.on_post(position, kind, fields, place)

    @staticmethod
    def new_thread(name, policy, code, position):
        return {"name": name, "named": position, "names": [(position, name)], "policy": policy, "history": "all", "sets": [], "code": code, "opened": position, "people": None, "post": None,
                "invited": {}, "mute": {}, "ban": {}, "pins": [], "locked": False, "closed": False}

    def on_userRegistered(self, position, fields, _):
        self.names[fields["user"]] = fields["username"]
        self.namings.setdefault(fields["user"], []).append((position, fields["username"]))

    on_usernameChanged = on_userRegistered

    def on_postcodeSet(self, position, fields, _):
        user, code = fields["user"], fields["postcode"].split(" ")[0]
        if self.moved.get(user, ("", 0))[0] != code:
            self.moved[user] = (code, position)
        self.postcodes.setdefault(user, []).append(fields["postcode"])

    def on_threadPolicySet(self, position, fields, place):
        place["policy"], place["history"] = fields["policy"], fields["history"]
        place["sets"].append((position, fields["policy"], fields["history"]))

    @staticmethod
    def on_threadRenamed(position, fields, place):
        place["name"], place["named"] = fields["name"], position
        place["names"].append((position, fields["name"]))

    def on_threadJoined(self, position, fields, place):
        thread, user = fields["thread"], fields["user"]
        self.members.setdefault((thread, user), []).append([position, None])
        # The opener of a named thread is its owner.
        self.concern(place, user)
        place.setdefault("removals", {}).pop(user, None)
        role = "owner" if (thread, user) == self.owner and place["code"] is None and position <= place["opened"] + 2 else "member"
        self.roles.setdefault((thread, user), []).append((position, role))
        place["invited"].pop(user, None)

    def on_threadLeft(self, position, fields, _):
        self.members[fields["thread"], fields["user"]][-1][1] = position
        self.roles[fields["thread"], fields["user"]].append((position, None))

    def on_memberRemoved(self, position, fields, place):
        self.on_threadLeft(position, fields, place)
        place.setdefault("removals", {})[fields["user"]] = (position, fields)

    @staticmethod
    def concern(place, user):
        """Notes that a user was a member, invited, muted or banned, and may ask for their standing."""
        place.setdefault("concerned", set()).add(user)

    def on_roleSet(self, position, fields, _):
        self.roles[fields["thread"], fields["user"]].append((position, fields["role"]))

    def on_operatorGranted(self, position, fields, _):
        self.operators.setdefault(fields["user"], []).append([position, None])

    def on_userInvited(self, position, fields, place):
        place["invited"][fields["user"]] = (position, fields["by"])
        self.concern(place, fields["user"])

    def on_invitationDeclined(self, _, fields, place):
        place["invited"].pop(fields["user"])

    on_invitationRevoked = on_invitationDeclined

    def on_userMuted(self, position, fields, place):
        place["mute"][fields["user"]] = (position, fields)
        self.concern(place, fields["user"])

    def on_userUnmuted(self, _, fields, place):
        del place["mute"][fields["user"]]

    def on_userBanned(self, position, fields, place):
        place["ban"][fields["user"]] = (position, fields)
        self.concern(place, fields["user"])
        place["invited"].pop(fields["user"], None)

    def on_userUnbanned(self, _, fields, place):
        del place["ban"][fields["user"]]

    def on_threadLocked(self, _, fields, place):
        place["locked"] = True

    def on_threadUnlocked(self, _, fields, place):
        place["locked"] = False

    def on_threadClosed(self, _, fields, place):
        place["closed"] = True

    def on_threadRead(self, _, fields, __):
        self.markers[fields["user"], fields["thread"]] = fields["upTo"]

    on_threadMarkedUnread = on_threadRead

    def on_notificationsSet(self, position, fields, __):
        self.levels.setdefault((fields["user"], fields["thread"]), []).append((position, {"level": fields["level"], "until": fields["until"]}))

    def on_inboxRead(self, _, fields, __):
        self.inbox_markers[fields["user"]] = fields["upTo"]

    def on_profileSet(self, position, fields, __):
        self.profiles[fields["user"]] = (position, fields["about"])

    def on_userBlocked(self, position, fields, __):
        self.blocks[fields["by"], fields["user"]] = position

    def on_userUnblocked(self, _, fields, __):
        self.blocks.pop((fields["by"], fields["user"]), None)

    def on_reactionAdded(self, position, fields, _):
        self.posts[fields.get("reply") or fields["message"]]["reactions"].append((position, fields["emoji"], fields["by"]))

    def on_reactionRemoved(self, _, fields, __):
        post = self.posts[fields.get("reply") or fields["message"]]
        post["reactions"] = [each for each in post["reactions"] if each[1:] != (fields["emoji"], fields["by"])]

    def on_post(self, position, kind, fields, place):
        identity = fields.get("reply") or fields["message"]
        if kind in ("messagePosted", "replyPosted"):
            root = self.posts[fields["message"]]["position"] if "reply" in fields else position
            self.posts[identity] = {"kind": kind, "thread": fields["thread"], "position": position, "root": root, "message": fields["message"],
                                    "author": fields["author"], "body": fields["body"], "text": position, "retracted": False, "removed": False, "reports": {},
                                    "reactions": []}
            place["post"] = position
            return
        post = self.posts[identity]
        if kind.endswith("Edited"):
            post["body"], post["text"] = fields["body"], position
        elif kind.endswith("Retracted"):
            post["retracted"] = True
        elif kind.endswith("Removed"):
            post["removed"] = True
        elif kind.endswith("ReportsResolved"):
            post["reports"].clear()
        elif kind.endswith("Reported"):
            post["reports"][fields["by"]] = (position, fields["reason"])
        elif kind == "messagePinned":
            place["pins"].append(identity)
        elif kind == "messageUnpinned":
            place["pins"].remove(identity)
        else:
            raise AssertionError(kind)
        if (post["retracted"] or post["removed"]) and identity in place["pins"]:
            place["pins"].remove(identity)

    # Rights

    @staticmethod
    def inside(intervals, position):
        return next((start for start, end in intervals if start <= position and (end is None or position < end)), None)

    def start(self, viewer, thread, position):
        """The position after which a user may read a thread, by the rights of a position; None if nothing."""
        place, starts = self.threads[thread], []
        if self.inside(self.operators.get(viewer, []), position) and place["opened"] <= position:
            starts.append(self.disclosed(place, position))
        joined = self.inside(self.members.get((thread, viewer), []), position)
        if joined is not None:
            # The history at the join counts, whatever it is later.
            history = next((history for since, _, history in reversed(place["sets"]) if since <= joined), "all")
            # Who returns to a direct thread of three or more people reads what follows.
            stays = sum(since <= position for since, _ in self.members[thread, viewer])
            returned = place["people"] is not None and len(place["people"]) > 2 and stays > 1
            starts.append(joined if history == "sinceJoining" or returned else 0)
        return min((start for start in starts if start is not None), default=None)

    @staticmethod
    def disclosed(place, position):
        """The position at which a thread last ceased to be inviteOnly; 0 if it never was, None while it is."""
        found = 0
        for since, policy, _ in place["sets"]:
            if since <= position:
                found = None if policy == "inviteOnly" else since if found is None else found
        return found

    def readable(self, viewer, thread, position=None):
        """As `start`, by the rights of a position and of now."""
        now = self.start(viewer, thread, self.head)
        then = now if position is None else self.start(viewer, thread, position)
        return None if now is None or then is None else max(now, then)

    def moderates(self, viewer, thread, position=None):
        position = self.head if position is None else position
        role = next((role for since, role in reversed(self.roles.get((thread, viewer), [])) if since <= position), None)
        operates = self.inside(self.operators.get(viewer, []), position) is not None and self.threads[thread]["people"] is None
        return role in ("moderator", "owner") or operates

    def decides(self, viewer, thread, identity=None):
        """Whether an operator, who is no member, decides an open report of a direct thread now: of a post, or of any."""
        operates = self.inside(self.operators.get(viewer, []), self.head) is not None
        if self.threads[thread]["people"] is None or not operates or self.inside(self.members.get((thread, viewer), []), self.head) is not None:
            return False
        return any(post["thread"] == thread and post["reports"] and identity in (None, each) for each, post in self.posts.items())

    def current(self, thread):
        """The members of a thread in the order of joining, as (position, user)."""
        return sorted((stays[-1][0], user) for (place, user), stays in self.members.items() if place == thread and stays[-1][1] is None)

    # Events

    def correlation_owner(self, event, kind, fields, actor):
        """The user whose correlation id an event has: who acted, or opened the direct thread; None for the host."""
        if kind in ("operatorGranted", "operatorRevoked"):
            return None
        place = self.threads.get(fields.get("thread")) if kind == "threadJoined" else None
        if place and place["people"] is not None and event["position"] <= place["opened"] + len(place["people"]):
            return place["people"][0]
        return actor

    def shown(self, event, viewer):
        """Returns an event as a viewer may see it, or None."""
        kind, position = kind_of(event), event["position"]
        fields = dict(event[kind])
        thread, user = fields.get("thread"), fields.get("user")
        actor = fields.get("author") or fields.get("by") or user
        concerned = None if kind in ("userBlocked", "userUnblocked") else user
        if kind in ("messageRemoved", "replyRemoved"):
            concerned = self.posts[fields.get("reply") or fields["message"]]["author"]
        if viewer not in (actor, concerned) and not self.sees(event, kind, fields, viewer):
            return None
        shown = {key: value for key, value in event.items() if key != "correlation" or self.correlation_owner(event, kind, fields, actor) == viewer}
        if actor == viewer:
            return shown
        if (viewer, actor) in self.blocks:
            shown["blocked"] = True
        if concerned == viewer:
            if kind in ("userMuted", "userBanned") and not self.was_member(viewer, thread, position):
                shown[kind], shown["redacted"] = dict(fields, reason=None), ["reason"]
            return shown
        hidden = None
        if kind in ("messagePosted", "messageEdited", "replyPosted", "replyEdited"):
            post = self.posts[fields.get("reply") or fields["message"]]
            is_current = post["text"] == position and not post["retracted"] and (not post["removed"] or self.moderates(viewer, thread))
            hidden = None if is_current else "body"
        elif kind in ("threadOpened", "threadRenamed"):
            hidden = None if self.threads[thread]["named"] == position else "name"
        elif kind == "usernameChanged":
            hidden = None if self.naming(user, self.last_met(viewer, user) or self.head)[0] == position else "username"
        elif kind == "profileSet":
            hidden = None if self.profiles[user][0] == position else "about"
        elif kind == "postcodeSet":
            hidden, fields["outwardCode"] = "postcode", fields["postcode"].split(" ")[0]
        elif kind in ("messageRemoved", "replyRemoved", "userMuted", "userBanned", "memberRemoved"):
            hidden = None if self.moderates(viewer, thread) else "reason"
        if hidden:
            fields[hidden], shown["redacted"] = None, [hidden]
        shown[kind] = fields
        return shown

    def sees(self, event, kind, fields, viewer):
        """Whether a user may see an event of others."""
        position, thread = event["position"], fields.get("thread")
        if kind in ("userRegistered", "threadRead", "sessionStarted", "sessionEnded", "operatorGranted", "operatorRevoked", "userBlocked",
                    "userUnblocked", "userErased", "threadMarkedUnread", "notificationsSet", "inboxRead"):
            return False
        if kind in ("usernameChanged", "profileSet"):
            places = [place for (place, user), stays in self.members.items() if user == fields["user"] and self.inside(stays, position) is not None]
            return any((start := self.readable(viewer, place, position)) is not None and start < position for place in places)
        if kind in REPORTS and self.threads[thread]["people"] is not None:
            return self.decides(viewer, thread, fields.get("reply") or fields["message"])
        start = self.readable(viewer, thread, position) if thread in self.threads else None
        if start is None or (start > 0 and position <= start):
            return False
        if start > 0 and "message" in fields and self.posts[fields["message"]]["position"] <= start:
            return False
        if kind in REPORTS:
            return self.moderates(viewer, thread, position) and self.moderates(viewer, thread)
        return True

    # Answers

    def user(self, identity, viewer, thread=None, event=None):
        """A person as a viewer is shown them: with the name of the last look-up, or of the end in the thread, or of the event."""
        last = self.head if identity == viewer else self.last_met(viewer, identity)
        if last is None and thread is not None:
            if self.readable(viewer, thread) is not None:
                last = self.last_inside(self.members.get((thread, identity), []))
            elif (event := self.told(viewer, thread, event or self.head)) is None:
                return {"id": identity, "username": None}
        return {"id": identity, "username": self.naming(identity, last or event or self.head)[1]}

    def told(self, viewer, thread, event):
        """The position as of which an event names a thread that the viewer cannot read and its people; None for no names."""
        operates = self.inside(self.operators.get(viewer, []), self.head) is not None
        if operates or self.was_member(viewer, thread, self.head):
            return event
        return self.threads[thread]["invited"].get(viewer, (None,))[0]

    def naming(self, user, position):
        """The position of the event of the name that a user had, and the name."""
        return next(found for found in reversed(self.namings[user]) if found[0] <= position)

    def last_inside(self, stays):
        """The last position within stays, or None; stays are intervals without their ends."""
        return None if not stays else self.head if stays[-1][1] is None else stays[-1][1] - 1

    def last_met(self, viewer, person):
        """The last position at which two users were members of one thread, or None."""
        ends = [min(first[1] or self.head + 1, second[1] or self.head + 1) - 1
                for (thread, user), stays in self.members.items() if user == person
                for first in stays for second in self.members.get((thread, viewer), [])
                if max(first[0], second[0]) < min(first[1] or self.head + 1, second[1] or self.head + 1)]
        return max(ends, default=None)

    def was_member(self, user, thread, position):
        return any(stay[0] <= position for stay in self.members.get((thread, user), []))

    def blocked_by(self, viewer):
        return [{"user": user, "since": since} for (by, user), since in sorted(self.blocks.items(), key=lambda item: item[1]) if by == viewer]

    def post(self, identity, viewer):
        """The fields of a message or of a reply that are compared."""
        post = self.posts[identity]
        gone = post["retracted"] or post["removed"]
        found = {"position": post["position"], "id": identity, "author": self.user(post["author"], viewer, post["thread"], post["position"]), "body": None if gone else post["body"],
                 "retracted": post["retracted"]}
        if post["kind"] == "messagePosted":
            found["thread"] = post["thread"]
            found["replyCount"] = sum(reply["message"] == identity and reply["kind"] == "replyPosted" and not reply["retracted"] and not reply["removed"]
                                      for reply in self.posts.values())
        else:
            found["message"] = post["message"]
        if post["removed"]:
            found["removed"] = True
        if (viewer, post["author"]) in self.blocks:
            found["blocked"] = True
        emoji = [] if gone else list(dict.fromkeys(emoji for _, emoji, _ in post["reactions"]))
        if emoji:
            found["reactions"] = [{"emoji": each, "count": len(users), "mine": viewer in users} for each in emoji
                                  for users in [[user for _, other, user in post["reactions"] if other == each]]]
        return found

    def alone(self, identity, viewer):
        """A post that is shown for its report, without what is around it."""
        found = {name: value for name, value in self.post(identity, viewer).items() if name != "reactions"}
        return dict(found, replyCount=0) if "replyCount" in found else found

    def reactions(self, identity, viewer):
        post = self.posts[identity]
        if post["retracted"] or post["removed"]:
            return []
        found = [{"position": position, "emoji": emoji, "user": self.user(user, viewer, post["thread"], position)} for position, emoji, user in post["reactions"]]
        return [dict(item, blocked=True) if (viewer, item["user"]["id"]) in self.blocks else item for item in found]

    def timeline(self, viewer, thread, start):
        return [self.post(identity, viewer) for identity, post in sorted(self.posts.items(), key=lambda found: found[1]["position"])
                if post["kind"] == "messagePosted" and post["thread"] == thread and post["position"] > start]

    def replies(self, viewer, message):
        return [self.post(identity, viewer) for identity, post in sorted(self.posts.items(), key=lambda found: found[1]["position"])
                if post["kind"] == "replyPosted" and post["message"] == message]

    def thread(self, viewer, thread, start):
        place = self.threads[thread]
        found = {"id": thread, "name": place["name"], "outwardCode": place["code"], "members": len(self.current(thread)),
                 "messages": len(self.timeline(viewer, thread, start)), "lastPosition": place["last"]}
        if place["policy"] not in ("open", "residents"):
            found["policy"] = place["policy"]
        found |= self.with_people(thread, viewer)
        if place["history"] != "all":
            found["history"] = place["history"]
        for name in ("locked", "closed"):
            if place[name]:
                found[name] = True
        return found

    def standing(self, viewer, thread):
        """Returns a user's standing in a thread, or None if the thread does not exist for them."""
        place = self.threads[thread]
        members = [user for _, user in self.current(thread)]
        is_known = place["policy"] != "inviteOnly" or viewer in members or viewer in place["invited"]
        if viewer not in place.get("concerned", set()) and not is_known:
            return None
        since, role = self.roles[thread, viewer][-1] if viewer in members else (None, None)
        found = {"role": role, "since": since, "notifications": self.level(viewer, thread)}
        for name, acts in (("mute", place["mute"]), ("ban", place["ban"]), ("removal", place.get("removals", {}))):
            position, fields = acts.get(viewer, (None, None))
            shown = position and self.was_member(viewer, thread, position)
            found[name] = fields and {"position": position, "until": fields.get("until"), "reason": fields["reason"] if shown else None}
        return found if place["people"] is None else dict(found, people=place["people"])

    def has(self, viewer, item, readable):
        """Whether a user may have an entry of their inbox."""
        event = self.events[item["position"] - 1]
        kind, why, thread, identity = kind_of(event), item["why"], item["thread"], item.get("message") or item.get("reply")
        fields = event[kind]
        actor = fields.get("author") or fields.get("by")
        # A user who may no longer read the thread has seen the name that it had then.
        place, then = self.threads[thread], item["position"]
        may_know = thread in readable or why == "invitation"
        told = self.told(viewer, thread, then)
        name = place["name"] if may_know else next((name for since, name in reversed(place["names"]) if since <= (told or 0)), None)
        people = [self.user(user, viewer, thread) for user in place["people"]] if place["people"] and may_know else None
        by = self.user(actor, viewer, thread, then)
        if (item["by"], item["name"], item.get("people")) != (by, name, people) or actor == viewer or (viewer, actor) in self.blocks:
            return False
        if item["unread"] != (item["position"] > self.inbox_markers.get(viewer, 0)) or (why == "moderation") != ("kind" in item):
            return False
        if why == "invitation":
            return kind == "userInvited" and self.threads[thread]["invited"].get(viewer) == (item["position"], actor)
        if why == "moderation":
            concerned = fields.get("user") or self.posts[fields.get("reply") or fields["message"]]["author"]
            shows = kind not in ("userMuted", "userBanned") or self.was_member(viewer, thread, then)
            reason = fields.get("reason") if shows else None
            return (item["kind"], item["reason"], fields["thread"], concerned) == (kind, reason, thread, viewer)
        post = self.posts[identity]
        if why == "report" and self.threads[thread]["people"] is not None:
            return kind in REPORTS and (post["thread"], fields.get("reply") or fields["message"]) == (thread, identity) and self.decides(viewer, thread, identity)
        if post["thread"] != thread or thread not in readable or post["root"] <= readable[thread] or post["retracted"] or post["removed"]:
            return False
        return {"reply": kind == "replyPosted", "mention": viewer in fields.get("mentions", []), "reaction": kind == "reactionAdded" and post["author"] == viewer,
                "report": self.moderates(viewer, thread)}[why]

    def level(self, user, thread, before=float("inf")):
        """Returns what of a thread notified a user before a position."""
        held = [level for position, level in self.levels.get((user, thread), []) if position < before]
        return held[-1] if held else {"level": "all", "until": None}

    def is_silenced(self, viewer, thread, entry):
        level = self.level(viewer, thread, entry["position"])["level"]
        return level == "none" or level == "mentions" and viewer not in entry.get("mentions", [])

    def parts(self, viewer, thread, start):
        """What the routes below a thread show to a reader: by the name of the route, the items, or None for 404."""
        place = self.threads[thread]
        found = {"timeline": self.timeline(viewer, thread, start), "members": [{"user": self.user(user, viewer, thread), "since": since} for since, user in self.current(thread)]}
        found["events"] = [shown for event in self.events if (shown := self.shown(event, viewer)) and
                           shown[kind_of(shown)].get("thread") == thread and "number" in shown[kind_of(shown)]]
        found["custom-events"] = [{"position": shown["position"], **{key: shown["custom"][key] for key in ("id", "kind", "payload", "by")},
                                   "createdAt": shown["recordedAt"], **({"blocked": True} if shown.get("blocked") else {})}
                                  for shown in found["events"] if "custom" in shown and shown["custom"]["payload"] is not None and shown["position"] > start]
        found["residents"] = None if place["code"] is None else [
            {"user": self.user(user, viewer, thread), "since": since, "postcode": self.postcodes[user][-1] if user == viewer else None, "outwardCode": code}
            for user, (code, since) in sorted(self.moved.items(), key=lambda item: item[1][1]) if code == place["code"]]
        found["roles"] = [{"user": self.user(user, viewer, thread), "role": changes[-1][1], "since": changes[-1][0]} for (at, user), changes in self.roles.items()
                          if at == thread and changes[-1][1] in ("moderator", "owner")]
        found["pins"] = [self.post(identity, viewer) for identity in place["pins"] if self.posts[identity]["position"] > start]
        if not self.moderates(viewer, thread):
            return {**found, "sanctions": None, "reports": None, "invitations": None}
        found["sanctions"] = sorted(({"user": self.user(user, viewer, thread, position), "kind": kind, "position": position,
                                      "by": self.user(fields["by"], viewer, thread, position), "reason": fields["reason"],
                                      "until": fields["until"]} for kind in ("mute", "ban") for user, (position, fields) in place[kind].items()),
                                    key=lambda item: item["position"])
        found["reports"] = self.reports(thread, start, viewer)
        found["invitations"] = [self.invitation(thread, user, viewer) for user in sorted(place["invited"], key=lambda user: place["invited"][user])]
        return found

    def reports(self, thread, start, viewer):
        return sorted((self.report(identity, by, position, reason, viewer) for identity, post in self.posts.items() if post["thread"] == thread and post["root"] > start
                       for by, (position, reason) in post["reports"].items()), key=lambda item: item["position"])

    def directory(self, viewer):
        """The listed threads that are not closed, without those from which the user is banned; those with the latest posts last."""
        found = [{"id": thread, "name": place["name"], "members": len(self.current(thread)), "position": place["post"] or place["opened"],
                  "latestPostAt": place["post"] and self.events[place["post"] - 1]["recordedAt"]}
                 for thread, place in self.threads.items() if place["policy"] == "listed" and not place["closed"] and viewer not in place["ban"]]
        return sorted(found, key=lambda item: item["position"])

    def report(self, identity, by, position, reason, viewer):
        post = self.posts[identity]
        found = {"position": position, "message" if post["kind"] == "messagePosted" else "reply": identity, "author": self.user(post["author"], viewer, post["thread"], post["position"]),
                 "body": None if post["retracted"] else post["body"], "by": self.user(by, viewer, post["thread"], position), "reason": reason}
        return dict(found, removed=True) if post["removed"] else found

    def invitation(self, thread, user, viewer):
        position, by = self.threads[thread]["invited"][user]
        found = {"thread": thread, "name": self.threads[thread]["name"], "user": self.user(user, viewer, thread, position),
                 "by": self.user(by, viewer, thread, position), "position": position}
        return dict(found, blocked=True) if (viewer, by) in self.blocks else found

    def invitations(self, user):
        return sorted((self.invitation(thread, user, user) for thread, place in self.threads.items() if user in place["invited"]), key=lambda item: item["position"])

    def common(self, viewer, person):
        """The threads of which both are members, in the order in which the person joined them."""
        return sorted((stays[-1][0], thread) for (thread, user), stays in self.members.items()
                      if user == person and stays[-1][1] is None and self.inside(self.members.get((thread, viewer), []), self.head) is not None)

    def with_people(self, thread, viewer):
        """Returns the field with the people of a direct thread; of another one, none."""
        people = self.threads[thread]["people"]
        return {} if people is None else {"people": [self.user(user, viewer, thread) for user in people]}

    def people(self, viewer, names=""):
        """The people of a user's threads whose names begin with a text."""
        found = [{"id": user, "username": name, "since": self.common(viewer, user)[0][0]} for user, name in self.names.items()
                 if user != viewer and name.lower().startswith(names.lower()) and self.common(viewer, user)]
        return sorted(found, key=lambda item: item["since"])

    def person(self, viewer, person):
        """Returns what a user is shown of a person, or None."""
        common = self.common(viewer, person)
        if not common and person != viewer:
            return None
        return {**self.user(person, viewer), "about": self.profiles.get(person, (0, None))[1] or None,
                "threads": {"items": [{"id": thread, "name": self.threads[thread]["name"], **self.with_people(thread, viewer), "since": since}
                                      for since, thread in common]}}

    def me(self, viewer):
        threads = []
        for since, thread in sorted((stays[-1][0], thread) for (thread, user), stays in self.members.items() if user == viewer and stays[-1][1] is None):
            entries = self.timeline(viewer, thread, self.readable(viewer, thread))
            marker = self.markers.get((viewer, thread), 0)
            unread = [entry["position"] for entry in entries if entry["position"] > max(marker, since) and entry["author"]["id"] != viewer
                      and not entry["retracted"] and "removed" not in entry and "blocked" not in entry and not self.is_silenced(viewer, thread, entry)]
            threads.append({"id": thread, "name": self.threads[thread]["name"], "since": since, "unread": len(unread),
                            "firstUnread": unread[0] if unread else None, "readUpTo": marker, "notifications": self.level(viewer, thread),
                            "lastMessage": entries[-1] if entries else None,
                            **self.with_people(thread, viewer)})
        return {"id": viewer, "username": self.names[viewer], "postcode": self.postcodes.get(viewer, [None])[-1], "threads": threads}


def contains(found, expected):
    """Whether an answer has the expected value; objects may have more fields, if they are optional marks in neither."""
    if isinstance(expected, dict):
        marks = {"removed", "blocked", "reactions", "locked", "closed", "policy", "history", "people"}
        return isinstance(found, dict) and all(name in found and contains(found[name], value) for name, value in expected.items()) and not (
            (set(found) & marks) - set(expected))
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(contains, found, expected))
    return found == expected


class Community:
    """One random community."""

    def __init__(self, tool, directory, document, rng):
        self.server, self.document, self.rng = Server(tool, directory), document, rng
        self.marks, self.requests, self.refused, self.delivered, self.entries = 0, 0, 0, 0, 0

    def mark(self, what):
        self.marks += 1
        return f"{what} q{self.marks:06d}q"

    def run(self, commands, users=8):
        server = self.server.start()
        self.web = server.connection(self.document)
        self.people = [server.person(self.web, self.mark("N")) for _ in range(users)]
        # The first of them is a friend of the others, and so in direct threads.
        self.operators = self.people[-2:]
        grants = [{"grantOperator": {"user": person.id}} for person in self.operators]
        server.stop()
        done = subprocess.run([server.tool, "run", server.journal], input="\n".join(map(json.dumps, grants)).encode(), capture_output=True, check=False)
        if done.returncode != 0:
            raise Failed(f"run: {done.stdout!r} {done.stderr!r}")
        server.start()
        self.web.close()
        self.state, self.thread_ids = model.Model(), {}
        for person in self.people:
            self.state.execute({"registerUser": {"user": person.id, "username": person.name}})
        for grant in grants:
            self.state.execute(grant)
        live = {person.id: Stream(server.port, person.token).opened() for person in self.people}
        self.beginning = live[self.people[-1].id].last
        accepted = 0
        for _ in range(commands):
            accepted += self.execute(*self.choose())
            # A stream that nobody reads is ended.
            for stream in live.values():
                while stream.read(0):
                    pass
        for person in self.people:
            self.execute(person, {"startSession": {"user": person.id, "session": identifier(self.rng), "device": self.mark("last")}})
        history = History(server.events())
        if history.head != self.state.position:
            raise Failed(f"the journal has {history.head} events, the model {self.state.position}")
        self.count(history)
        for person in self.people:
            self.compare_streams(history, person, live[person.id])
            self.compare(history, person)
        self.web.close()
        server.stop()
        return accepted, history.head

    def count(self, history):
        """Counts what a journal has of the rarer rules."""
        directs = {thread: place["people"] for thread, place in history.threads.items() if place["people"] is not None}
        self.seen = {"direct threads": len(directs), "of three": sum(len(people) == 3 for people in directs.values()),
                     "returns to them": sum(len(stays) - 1 for (thread, _), stays in history.members.items() if thread in directs),
                     "posts in them": sum(post["thread"] in directs for post in history.posts.values()),
                     "operators who decide their reports": sum(history.decides(person.id, thread) for thread in directs for person in self.operators),
                     "listed threads": sum(place["policy"] == "listed" and not place["closed"] for place in history.threads.values()),
                     "bans from them": sum(len(place["ban"]) for place in history.threads.values() if place["policy"] == "listed" and not place["closed"]),
                     "renamed threads": sum(place["named"] != place["opened"] for place in history.threads.values())}

    def execute(self, person, command):
        """Executes a command over HTTP and in the model; compares the answers."""
        name, fields = next(iter(command.items()))
        acting = next((field for field in ("author", "by", "user") if field in fields), None)
        outcome = self.state.execute(command)
        # The acting field may be left out.
        sent = {name: {key: value for key, value in fields.items() if key != acting or self.rng.random() < 0.5}}
        sent["correlation"] = self.mark("c")
        answer = self.web.post("/v1/commands", sent, person.token)
        wrong = model.differences(outcome, answer, self.thread_ids)
        leaked = set(MARK.findall(json.dumps(answer))) - set(MARK.findall(json.dumps(sent)))
        if wrong or leaked:
            raise Failed(f"{person.name}: {command}: {'; '.join(wrong)} {leaked}: {answer}")
        return not outcome.code

    def choose(self):
        """Returns an acting person and a command, with the acting field."""
        rng, state = self.rng, self.state
        person = rng.choice(self.people)
        me, other = person.id, rng.choice(self.people[:-1]).id
        threads = list(state.threads)
        mine = [key for key, thread in state.threads.items() if me in thread["members"]] or threads
        posts = list(state.messages)
        near = [key for key in posts if me in state.threads[state.messages[key]["thread"]]["members"]] or posts
        dice = rng.random()
        if len(threads) < 6 or dice < 0.03:
            policy, history = rng.choice(("open", "listed", "inviteOnly")), rng.choice(("all", "sinceJoining"))
            if person in self.operators:
                policy = "open"
            return person, {"openThread": {"thread": identifier(rng), "name": self.mark("T"), "by": me, "policy": policy, "history": history}}
        if state.directs and rng.random() < 0.25:
            return self.talk_directly()
        if dice < 0.10:
            inward = f"{rng.randrange(10)}{rng.choice('ABDEFG')}{rng.choice('HJLNPQ')}"
            return person, {"setPostcode": {"user": me, "postcode": f"{rng.choice(CODES)} {inward}"}}
        thread = rng.choice(mine) if rng.random() < 0.8 else rng.choice(threads)
        if dice < 0.32 or not posts:
            return person, {"postMessage": {"message": identifier(rng), "thread": thread, "author": me, "body": self.mark("m")}}
        message = rng.choice(near) if rng.random() < 0.8 else rng.choice(posts)
        target = {"message": message}
        if state.replies and rng.random() < 0.4:
            target = {"reply": rng.choice(list(state.replies))}
        reported = [{kind: key} for kind, found in (("message", state.messages), ("reply", state.replies)) for key, post in found.items()
                    if post["reporters"] and (person in self.operators or me in state.threads[post["thread"]]["members"])]
        own = [key for key in posts if state.messages[key]["author"] == me]
        choices = [
            (0.10, lambda: {"reply": {"reply": identifier(rng), "message": message, "author": me, "body": self.mark("r")}}),
            (0.06, lambda: {"edit": {"message": rng.choice(own or posts), "by": me, "body": self.mark("e")}}),
            (0.02, lambda: {"edit": {**target, "by": me, "body": self.mark("e")}}),
            (0.03, lambda: {"retract": {"message": rng.choice(own or posts), "by": me}}),
            (0.09, lambda: {"joinThread": {"user": me, "thread": rng.choice(threads)}}),
            (0.04, lambda: {"leaveThread": {"user": me, "thread": thread}}),
            (0.10, lambda: {"invite": {"thread": thread, "user": other, "by": me}}),
            (0.08, lambda: {"acceptInvitation": {"thread": rng.choice(threads), "user": me}}),
            (0.01, lambda: {"declineInvitation": {"thread": rng.choice(threads), "user": me}}),
            (0.01, lambda: {"revokeInvitation": {"thread": thread, "user": other, "by": me}}),
            (0.05, lambda: {"setRole": {"thread": thread, "user": other, "role": rng.choice(("member", "moderator", "moderator", "owner")), "by": me}}),
            (0.03, lambda: {"remove": {**target, "by": me, "reason": self.mark("why")}}),
            (0.08, lambda: {"react": {**target, "by": me, "emoji": rng.choice(("\U0001F44D", "\U0001F44D", "\u2764\uFE0F", ":wave:"))}}),
            (0.02, lambda: {"unreact": {**target, "by": me, "emoji": "\U0001F44D"}}),
            (0.05, lambda: {"report": {**target, "by": me, "reason": self.mark("why")}}),
            (0.01, lambda: {"resolveReport": {**target, "by": me}}),
            (0.03, lambda: {"mute": {"thread": thread, "user": other, "by": me, "reason": self.mark("why"), "until": rng.choice((None, NEVER))}}),
            (0.02, lambda: {"unmute": {"thread": thread, "user": other, "by": me}}),
            (0.03, lambda: {"ban": {"thread": thread, "user": other, "by": me, "reason": self.mark("why")}}),
            (0.02, lambda: {"unban": {"thread": thread, "user": other, "by": me}}),
            (0.02, lambda: {"removeMember": {"thread": thread, "user": other, "by": me, "reason": self.mark("why")}}),
            (0.04, lambda: {"pin": {"message": message, "by": me}}),
            (0.01, lambda: {"unpin": {"message": message, "by": me}}),
            (0.02, lambda: {rng.choice(("lockThread", "unlockThread", "unlockThread")): {"thread": thread, "by": me}}),
            (0.005, lambda: {"closeThread": {"thread": thread, "by": me}}),
            (0.01, lambda: {"resolveReport": {**rng.choice(reported or [target]), "by": me}}),
            (0.01, lambda: {"remove": {**rng.choice(reported or [target]), "by": me, "reason": self.mark("why")}}),
            (0.08, lambda: {"openDirect": self.direct(me)}),
            (0.04, lambda: {"renameThread": {"thread": thread, "by": me, "name": self.mark("T")}}),
            (0.05, lambda: {"setThreadPolicy": {"thread": thread, "policy": rng.choice(("open", "listed", "inviteOnly")), "by": me,
                                                **rng.choice(({}, {}, {"history": "sinceJoining"}, {"history": "all"}))}}),
            (0.03, lambda: {rng.choice(("block", "block", "unblock")): {"user": other, "by": me}}),
            (0.03, lambda: {"changeUsername": {"user": me, "username": self.mark("N")}}),
            (0.03, lambda: {"markRead": {"user": me, "thread": thread, "upTo": rng.randrange(1, state.position + 1)}}),
            (0.02, lambda: {"markUnread": {"user": me, "thread": thread, "from": rng.randrange(1, state.position + 1)}}),
            (0.02, lambda: {"setNotifications": {"user": me, "thread": thread, "level": rng.choice(["all", "mentions", "none"])}}),
            (0.02, lambda: {"markInboxRead": {"user": me, "upTo": rng.randrange(1, state.position + 1)}}),
            (0.04, lambda: {"setProfile": {"user": me, **rng.choice(({}, {"about": self.mark("a")}, {"about": self.mark("a")}))}}),
            (0.02, lambda: {"startSession": {"user": me, "session": identifier(rng), "device": self.mark("d")}}),
            (0.04, lambda: {"custom": {"id": identifier(rng), "kind": "org.example." + rng.choice("abc"), "thread": thread, "by": me, "payload": {"text": self.mark("p")}}}),
        ]
        return person, rng.choices([choice for _, choice in choices], [weight for weight, _ in choices])[0]()

    def direct(self, me):
        """Returns a command that opens a direct thread: of people who have one, or with one or two others."""
        known = sorted(sorted(people) for people in self.state.directs if me in people)
        left = [people for people in known if me not in self.state.threads[self.state.directs[frozenset(people)]]["members"]]
        if known and self.rng.random() < 0.5:
            others = [user for user in self.rng.choice(left or known) if user != me]
        else:
            threads = self.state.threads.values()
            mates = [person.id for person in self.people if person.id != me and any({me, person.id} <= set(place["members"]) for place in threads)]
            others = [person.id for person in self.people if person.id != me]
            others = self.rng.sample(mates if len(mates) > 1 and self.rng.random() < 0.9 else others, self.rng.choice((1, 1, 2)))
        return {"thread": identifier(self.rng), "by": me, "with": others}

    def talk_directly(self):
        """Returns a person and what they do in a direct thread, or an operator who decides its reports."""
        rng, state = self.rng, self.state
        thread = rng.choice(list(state.directs.values()))
        place, people = state.threads[thread], {person.id: person for person in self.people}
        inside, left = list(place["members"]), [user for user in place["people"] if user not in place["members"]]
        me = rng.choice(inside or left)
        posts = [({kind: key}, post) for kind, found in (("message", state.messages), ("reply", state.replies)) for key, post in found.items()
                 if post["thread"] == thread]
        messages = [post["message"] for post, _ in posts if "message" in post]
        reported = [post for post, found in posts if found["reporters"]]
        choices = [
            (0.25, lambda: (me, {"postMessage": {"message": identifier(rng), "thread": thread, "author": me, "body": self.mark("m")}})),
            (0.06, lambda: (me, {"leaveThread": {"user": me, "thread": thread}})),
            (0.03, lambda: (me, {rng.choice(("block", "unblock", "unblock")): {"user": rng.choice(place["people"]), "by": me}})),
        ]
        if left:
            who = rng.choice(left)
            choices.append((0.12, lambda: (who, {"openDirect": {"thread": identifier(rng), "by": who, "with": [user for user in place["people"] if user != who]}})))
        if posts:
            post, found = rng.choice(posts)
            message = rng.choice(messages)
            choices += [
                (0.12, lambda: (me, {"reply": {"reply": identifier(rng), "message": message, "author": me, "body": self.mark("r")}})),
                (0.20, lambda: (me, {"report": {**post, "by": me, "reason": self.mark("why")}})),
                (0.05, lambda: (me, {"react": {**post, "by": me, "emoji": ":wave:"}})),
                (0.03, lambda: (found["author"], {"edit": {**post, "by": found["author"], "body": self.mark("e")}})),
                (0.02, lambda: (found["author"], {"retract": {**post, "by": found["author"]}})),
            ]
        if reported:
            decider, decided = rng.choice(self.operators).id, rng.choice(reported)
            choices += [(0.03, lambda: (decider, {"resolveReport": {**decided, "by": decider}})),
                        (0.03, lambda: (decider, {"remove": {**decided, "by": decider, "reason": self.mark("why")}}))]
        user, command = rng.choices([choice for _, choice in choices], [weight for weight, _ in choices])[0]()
        return people[user], command

    # Comparison

    def compare_streams(self, history, person, live):
        """The stream from the beginning is exact. The live one has no event that the user could not see then."""
        last = MARK.findall(next(reversed([event for event in history.events if kind_of(event) == "sessionStarted" and event["sessionStarted"]["user"] == person.id]))
                            ["sessionStarted"]["device"])[0]
        ended = lambda stream: any(last in data for _, _, data in stream.blocks[-20:])
        streams = [(None, Stream(self.server.port, person.token, after=self.beginning))]
        for thread in history.threads:
            if history.readable(person.id, thread) is not None:
                streams.append((thread, Stream(self.server.port, person.token, after=self.beginning, thread=thread)))
        position = int(self.beginning.split("-")[1])
        for thread, stream in streams:
            expected = [shown for event in history.events[position:] if (shown := history.shown(event, person.id)) and
                        (thread is None or shown[kind_of(shown)].get("thread") == thread and "postcodeSet" not in shown)]
            if thread is None:
                stream.wait(ended, what="the last event")
            else:
                stream.wait(lambda stream: stream.count >= len(expected), what=f"{len(expected)} events of {thread}")
                stream.read(0.05)
            found = stream.events()
            for event in found:
                self.document.check_event(event)
                # Why it came into the inbox of the user: the inbox is checked by itself.
                if event.pop("inbox", None) and (event.get("blocked") or person.id in (event[kind_of(event)].get("by"), event[kind_of(event)].get("author"))):
                    raise Failed(f"the stream of {person.name} has in the inbox {event}")
            if found != expected:
                at = next((index for index, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
                raise Failed(f"the stream of {person.name} ({thread}) differs at {at}: delivered {found[at:at + 1]}, expected {expected[at:at + 1]}, "
                             f"in the journal {[event for event in history.events if event['position'] in [e['position'] for e in found[at:at + 1] + expected[at:at + 1]]]}")
            self.delivered += len(found)
            self.compare_losses(history, person, thread, stream, position)
            stream.close()
        live.wait(ended, what="the last event of the live stream")
        positions = [event["position"] for event in live.events()]
        if positions != sorted(set(positions)):
            raise Failed(f"the live stream of {person.name} is not in order: {positions}")
        for event in live.events():
            kind = kind_of(event)
            fields, raw = event[kind], history.events[event["position"] - 1]
            own = person.id in (fields.get("user"), fields.get("author"), fields.get("by")) and kind not in ("userBlocked", "userUnblocked") or fields.get("by") == person.id
            own = own or kind in ("messageRemoved", "replyRemoved") and history.posts[fields.get("reply") or fields["message"]]["author"] == person.id
            # An operator decides reports of direct threads.
            place = history.threads.get(fields.get("thread"))
            own = own or kind in REPORTS and place["people"] is not None and history.inside(history.operators.get(person.id, []), event["position"]) is not None
            rights = kind in ("usernameChanged", "profileSet") or history.start(person.id, fields.get("thread"), event["position"]) is not None if not own else True
            if not rights or (set(MARK.findall(json.dumps(event))) - set(MARK.findall(json.dumps(raw)))):
                raise Failed(f"the live stream of {person.name} has {event}")
        live.close()

    def compare_losses(self, history, person, thread, stream, position):
        """A stream tells of each thread that the user could no longer read, or read from the same start, after an event."""
        found = stream.notices("accessLost")
        for notice in found:
            self.document.check_notice("accessLost", notice)
        found = [notice["thread"] for notice in found]
        for event in history.events[position:]:
            at = event["position"]
            expected = []
            # The policy of an opening takes nothing from anybody: nobody has read the thread before it.
            if kind_of(event) == "threadPolicySet" and kind_of(history.events[at - 2]) == "threadOpened":
                continue
            for place in history.threads:
                before, after = (history.start(person.id, place, point) for point in (at - 1, at))
                if thread in (None, place) and before is not None and (after is None or after > before):
                    expected.append(place)
            if sorted(found[:len(expected)]) != sorted(expected):
                raise Failed(f"the stream of {person.name} ({thread}) tells of the losses {found} at {event}, expected {expected}")
            del found[:len(expected)]
        if found:
            raise Failed(f"the stream of {person.name} ({thread}) tells of losses that did not happen: {found}")
        if stream.notices("erased"):
            raise Failed(f"the stream of {person.name} tells of an erasure that did not happen")

    def compare(self, history, person):
        viewer, token = person.id, person.token
        self.allowed_postcodes = set(history.postcodes.get(viewer, []))
        readable = {thread: start for thread in history.threads if (start := history.readable(viewer, thread)) is not None}
        threads = sorted((history.thread(viewer, thread, start) for thread, start in readable.items()), key=lambda thread: thread["lastPosition"])
        self.expect(person, "/v1/threads?limit=200", {"items": threads})
        self.expect(person, "/v1/me", history.me(viewer))
        self.expect(person, "/v1/me/threads?limit=200", {"items": history.me(viewer)["threads"]})
        self.expect(person, "/v1/directory?limit=200", {"items": history.directory(viewer)})
        self.expect(person, "/v1/me/blocks?limit=200", {"items": history.blocked_by(viewer)})
        self.expect(person, "/v1/invitations?limit=200", {"items": history.invitations(viewer)})
        self.compare_inbox(history, person, readable)
        unknown = identifier(self.rng)
        self.expect(person, "/v1/people?limit=200", {"items": history.people(viewer)})
        for other in self.people:
            self.expect(person, f"/v1/people/{other.id}?limit=200", history.person(viewer, other.id), f"/v1/people/{unknown}?limit=200")
            names = history.names[other.id][:self.rng.randrange(1, 9)].swapcase()
            self.expect(person, f"/v1/people?limit=200&name={urllib.parse.quote(names)}", {"items": history.people(viewer, names)})
        for thread, place in history.threads.items():
            names = [thread] + ([place["code"], place["code"].lower()] if place["code"] else [])
            parts = history.parts(viewer, thread, readable[thread]) if thread in readable else dict.fromkeys(
                ("timeline", "events", "custom-events", "members", "residents", "roles", "pins", "sanctions", "reports", "invitations"))
            if history.decides(viewer, thread):
                parts["reports"] = history.reports(thread, 0, person.id)
            for name in names:
                standing = history.standing(viewer, thread)
                whole = {**history.thread(viewer, thread, readable[thread]), "me": {"standing": standing}} if thread in readable else None
                self.expect(person, f"/v1/threads/{name}", whole, f"/v1/threads/{unknown}")
                self.expect(person, f"/v1/threads/{name}/standing", standing, f"/v1/threads/{unknown}/standing")
                self.expect(person, f"/v1/events?after={self.beginning}&thread={name}", False if thread in readable else None, f"/v1/events?thread={unknown}")
                posts = history.timeline(viewer, thread, readable[thread]) if thread in readable else []
                activity = {"people": len({post["author"]["id"] for post in posts})} if thread in readable else None
                self.expect(person, f"/v1/threads/{name}/activity", activity, f"/v1/threads/{unknown}/activity")
                if activity and sum(day["messages"] for day in self.web.get(f"/v1/threads/{name}/activity", token)["days"]) != len(posts):
                    raise Failed(f"the activity of {name} for {person.name}, who may read {len(posts)} messages")
                for part, items in parts.items():
                    query = "" if part == "pins" else "?limit=200"
                    expected = None if items is None else {"items": items}
                    self.expect(person, f"/v1/threads/{name}/{part}{query}", expected, f"/v1/threads/{unknown}/{part}{query}", any_order=part == "roles")
        for identity, post in history.posts.items():
            visible = post["kind"] == "messagePosted" and post["thread"] in readable and post["position"] > readable[post["thread"]]
            alone = history.alone(identity, viewer) if history.decides(viewer, post["thread"], identity) else None
            shown = alone if post["kind"] == "messagePosted" else None
            self.expect(person, f"/v1/messages/{identity}", history.post(identity, viewer) if visible else shown, f"/v1/messages/{unknown}")
            self.expect(person, f"/v1/messages/{identity}/replies?limit=200", {"items": history.replies(viewer, identity)} if visible else None,
                        f"/v1/messages/{unknown}/replies?limit=200")
            readable_root = post["thread"] in readable and post["root"] > readable[post["thread"]]
            if post["kind"] == "replyPosted":
                self.expect(person, f"/v1/replies/{identity}", history.post(identity, viewer) if readable_root else alone, f"/v1/replies/{unknown}")
            place = "messages" if post["kind"] == "messagePosted" else "replies"
            self.expect(person, f"/v1/{place}/{identity}/reactions?limit=200",
                        {"items": history.reactions(identity, viewer)} if readable_root else None, f"/v1/{place}/{unknown}/reactions?limit=200")
        # Not the time of the last use, which is that of these questions.
        sessions = [session["id"] for session in self.web.get("/v1/sessions", token)["items"]]
        for other in self.people:
            if other is not person:
                answer = self.web.ask("DELETE", "/v1/sessions/" + self.web.get("/v1/sessions", other.token)["items"][0]["id"], token=token)
                self.same(answer, self.web.ask("DELETE", f"/v1/sessions/{unknown}", token=token), f"another session of {person.name}")
        if [session["id"] for session in self.web.get("/v1/sessions", token)["items"]] != sessions:
            raise Failed("the sessions changed")

    def compare_inbox(self, history, person, readable):
        """Every entry is one that the user may have. Nothing else is in the answer, and the tests of the store say what must be."""
        answer = self.web.ask("GET", "/v1/inbox?limit=200", token=person.token)
        self.requests += 1
        value, items = answer.json(), answer.json()["items"]
        positions = [item["position"] for item in items]
        if positions != sorted(set(positions), reverse=True) or value["older"] is not None or "more" in value:
            raise Failed(f"the inbox of {person.name}: {value}")
        if value["unread"] != {"count": sum(item["unread"] for item in items)}:
            raise Failed(f"the unread entries of the inbox of {person.name}: {value}")
        for item in items:
            if not history.has(person.id, item, readable):
                raise Failed(f"the inbox of {person.name} has {item}, of {history.events[item['position'] - 1]}")
        allowed = json.dumps([[item["by"], item["name"], item.get("people"), item.get("reason")] for item in items])
        if set(MARK.findall(answer.body.decode())) - set(MARK.findall(allowed)) or POSTCODE.search(answer.body.decode()):
            raise Failed(f"the inbox of {person.name} has a text: {value}")
        self.entries += len(items)

    def expect(self, person, target, expected, unknown=None, any_order=False):
        """Compares an answer. None stands for 404, the same as to an unknown id; False for a stream."""
        self.requests += 1
        if expected is False:
            return
        answer = self.web.ask("GET", target, token=person.token)
        if expected is None:
            self.refused += 1
            if answer.status != 404:
                raise Failed(f"{person.name} may not read {target}, but got {answer}")
            self.same(answer, self.web.ask("GET", unknown, token=person.token), f"{person.name}: {target}")
            return
        if answer.status != 200:
            raise Failed(f"{person.name} may read {target}, but got {answer}")
        value, text = answer.json(), answer.body.decode()
        if any_order:
            value["items"].sort(key=json.dumps)
            expected["items"].sort(key=json.dumps)
        if not contains(value, expected):
            raise Failed(f"{person.name}: {target}: expected {json.dumps(expected)}, got {json.dumps(value)}")
        leaked = set(MARK.findall(text)) - set(MARK.findall(json.dumps(expected)))
        postcodes = set(POSTCODE.findall(text)) - self.allowed_postcodes
        if leaked or postcodes or "@example.org" in text or any(other.token in text for other in self.people):
            raise Failed(f"{person.name}: {target} has {leaked or postcodes or 'an address or a token'}: {text}")

    @staticmethod
    def same(answer, unknown, what):
        """Fails unless a forbidden and an unknown thing have the same bytes, but for the date."""
        headers = [[item for item in found.headers if item[0].lower() != "date"] for found in (answer, unknown)]
        if (answer.status, headers[0], answer.body) != (unknown.status, headers[1], unknown.body) or answer.status != 404:
            raise Failed(f"{what}: {answer}, but an unknown one {unknown}")


def check(tool, scratch, document, rng, communities, commands=260):
    began, total, events, accepted, refused, delivered, entries, seen = time.monotonic(), 0, 0, 0, 0, 0, 0, collections.Counter()
    for number in range(communities):
        community = Community(tool, scratch / str(number), document, rng)
        more, head = community.run(commands)
        seen.update(community.seen)
        total, events, accepted = total + community.requests, events + head, accepted + more
        refused, delivered, entries = refused + community.refused, delivered + community.delivered, entries + community.entries
    if not entries:
        raise Failed("no inbox has an entry")
    print(f"leaks: {communities} communities, {accepted} of {communities * commands} commands accepted, {events} events, {total} questions, {refused} of them refused like "
          f"unknown ids, {delivered} events delivered as the tables say, {entries} entries of inboxes, {', '.join(f'{count} {name}' for name, count in seen.items())}, {time.monotonic() - began:.1f} s", flush=True)
