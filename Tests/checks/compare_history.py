"""Computes the expected answer of every view as of any position from a chat corpus.

The events and their positions follow from the corpus alone. The journal only provides the ids that it created and the
times at which it recorded. This module does not query a view.
"""

import collections
from bisect import bisect_left, bisect_right

NEVER = float("inf")


def page(positions, now, limit=50, before=NEVER, after=None, around=None):
    """Returns the indices of a page of a list with ascending positions, as the tool's help defines it."""
    end = min(bisect_right(positions, now), bisect_left(positions, before))
    start = 0 if after is None else bisect_right(positions, after)
    end = max(start, end)
    if around is not None:
        middle = min(max(bisect_left(positions, around), start), end)
        return range(max(start, middle - limit // 2), min(end, middle + limit - limit // 2))
    return range(start, min(end, start + limit)) if after is not None else range(max(start, end - limit), end)


class History:
    """The corpus as a sequence of events, and the views as of any moment.

    Users are named by fold key, threads by channel, messages by (channel, corpus id).
    """

    def __init__(self, source, journal):
        self.source, self.journal = source, journal
        self.recorded = journal.recorded  # recordedAt of position p at p - 1
        self.steps = [step[:4] for step in source.steps]  # (kind, fold key, channel or None, t or None) of position p at p - 1
        self.registered, self.opened, self.markers = {}, {}, collections.defaultdict(list)
        self.stays = collections.defaultdict(lambda: collections.defaultdict(list))  # channel -> fold key -> [[from, to or None]]
        self.channels_of = collections.defaultdict(dict)  # fold key -> all channels that the user ever joined
        self.touched = collections.defaultdict(list)      # channel -> positions of its events, except markers
        self.messages = collections.defaultdict(list)     # channel -> positions
        self.own = collections.defaultdict(list)          # (channel, fold key) -> positions of its messages
        self.message_at, self.answers = {}, collections.defaultdict(list)  # message -> position; message -> positions of its replies
        for position, (kind, key, channel, _, post) in enumerate(source.steps, 1):
            if channel is not None:
                self.touched[channel].append(position)
            if kind == "userRegistered":
                self.registered[key] = position
            elif kind == "threadOpened":
                self.opened[channel] = position
            elif kind == "threadJoined":
                self.join(key, channel, position)
            elif kind == "messagePosted":
                self.messages[channel].append(position)
                self.own[channel, key].append(position)
                self.message_at[channel, post[0]] = position
            else:
                self.answers[channel, post[5]].append(position)
        self.answer_rows = {}
        self.activities = {}

    @property
    def count(self):
        return len(self.steps)

    # Events after the import.

    def join(self, key, channel, position):
        self.stays[channel][key].append([position, None])
        self.channels_of[key][channel] = None

    def append(self, kind, key, channel, recorded_at, up_to=None):
        """Appends a native event."""
        self.steps.append((kind, key, channel, None))
        self.recorded.append(recorded_at)
        self.activities.clear()
        if kind == "threadRead":
            self.markers[channel, key].append((self.count, up_to))
            return
        self.touched[channel].append(self.count)
        if kind == "threadJoined":
            self.join(key, channel, self.count)
        else:
            self.stays[channel][key][-1][1] = self.count

    # The views.

    def moment(self, time):
        """Returns the position of the last event that was recorded at a time or earlier."""
        return bisect_right(self.recorded, time)

    def before(self, time):
        """Returns the position of the last event that was recorded before a time."""
        return bisect_left(self.recorded, time)

    def since(self, key, channel, now):
        """Returns the position at which a member joined; None if the user is not a member."""
        for start, end in self.stays[channel].get(key, ()):
            if start <= now and (end is None or end > now):
                return start
        return None

    def user_id(self, key):
        return self.journal.users[key][0]

    def thread_id(self, channel):
        return self.journal.threads[channel][0]

    def created(self, position):
        return self.steps[position - 1][3] or self.recorded[position - 1]

    def may_read(self, key, channel, now):
        """Returns whether a viewer is a member both as of the moment and at the end."""
        return self.since(key, channel, now) is not None and self.since(key, channel, self.count) is not None

    def message(self, channel, index, now):
        row, post = self.journal.rows[channel][index], self.source.by_channel[channel][index]
        count = bisect_right(self.answers.get((channel, post[0]), ()), now)
        return row if row["replyCount"] == count else dict(row, replyCount=count)

    def timeline(self, channel, now, **bounds):
        return [self.message(channel, index, now) for index in page(self.messages[channel], now, **bounds)]

    def replies(self, message, now, **bounds):
        if message not in self.answer_rows:
            self.answer_rows[message] = [self.journal.row(post) for post in self.source.replies.get(message, ())]
        return [self.answer_rows[message][index] for index in page(self.answers.get(message, []), now, **bounds)]

    def threads(self, now, viewer=None, **bounds):
        rows = []
        for channel, opened in self.opened.items():
            if opened > now or (viewer is not None and not self.may_read(viewer, channel, now)):
                continue
            touched = self.touched[channel]
            rows.append({
                "id": self.thread_id(channel), "name": channel, "outwardCode": None,
                "members": sum(self.since(key, channel, now) is not None for key in self.stays[channel]),
                "messages": bisect_right(self.messages[channel], now), "lastPosition": touched[bisect_right(touched, now) - 1],
                "createdAt": self.created(opened)})
        rows.sort(key=lambda row: row["lastPosition"])
        return [rows[index] for index in page([row["lastPosition"] for row in rows], now, **bounds)]

    def members(self, channel, now):
        there = [(self.since(key, channel, now), key) for key in self.stays[channel]]
        return [{"user": {"id": self.user_id(key), "username": self.source.first_spelt[key]}, "since": since}
                for since, key in sorted((since, key) for since, key in there if since is not None)]

    def own_view(self, key, now):
        """Returns a user's own view, with the threads of which the user is still a member at the end."""
        shown = {self.thread_id(channel) for channel in self.channels_of[key] if self.may_read(key, channel, now)}
        return [dict(row, threads=[thread for thread in row["threads"] if thread["id"] in shown]) for row in self.user(key, now)]

    def user(self, key, now):
        threads = []
        there = [(self.since(key, channel, now), channel) for channel in self.channels_of[key]]
        for since, channel in sorted((since, channel) for since, channel in there if since is not None):
            read = max([up_to for position, up_to in self.markers[channel, key] if position <= now], default=0)
            seen, messages, own = max(since, read), self.messages[channel], self.own[channel, key]
            last, mine = bisect_right(messages, now), set(own)
            threads.append({
                "id": self.thread_id(channel), "name": channel, "since": since,
                "unread": last - bisect_right(messages, seen) - (bisect_right(own, now) - bisect_right(own, seen)),
                "firstUnread": next((position for position in messages[bisect_right(messages, seen):last] if position not in mine), None),
                "readUpTo": read, "notifications": {"level": "all", "until": None}, "lastMessage": self.message(channel, last - 1, now) if last else None})
        return [{"id": self.user_id(key), "username": self.source.first_spelt[key], "postcode": None,
                 "createdAt": self.created(self.registered[key]), "threads": threads}]

    def access(self, key, now):
        stays = [(start, end, channel) for channel in self.channels_of[key] for start, end in self.stays[channel][key] if start <= now]
        return [{"thread": self.thread_id(channel), "name": channel, "from": start, "to": end if end is not None and end <= now else None}
                for start, end, channel in sorted(stays, key=lambda stay: stay[0])]

    def prepare_activity(self, moments):
        """Computes the activity as of several moments in one pass."""
        days, pending = {}, sorted(set(moments) - set(self.activities), reverse=True)
        for position in range(self.count + 1):
            if position:
                kind, key, _, _ = self.steps[position - 1]
                active, counts = days.setdefault(self.created(position)[:10], (set(), collections.Counter()))
                active.add(key)
                counts[kind] += 1
            while pending and pending[-1] == position:
                self.activities[pending.pop()] = [
                    {"day": day, "registrations": counts["userRegistered"], "sessions": 0, "activeUsers": len(active),
                     "messages": counts["messagePosted"], "replies": counts["replyPosted"]}
                    for day, (active, counts) in sorted(days.items())]

    def activity(self, now, first="", last="9"):
        return [row for row in self.activities[now] if first <= row["day"] <= last]
