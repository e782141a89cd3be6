"""Creates questions to every view as of many moments, with the answers of compare_history.py.

The largest thread, the users with most threads and the message with most replies are always included; the rest is a
sample.
"""

import collections

ALL = 1_000_000  # a --limit greater than any thread of the corpus

# `words` are the command and the arguments after the journal. A question to be rejected has a code and no rows.
Question = collections.namedtuple("Question", "words rows code", defaults=(None,))


class Questions:
    """Creates questions about a history. `now` is a position, and `word` the tool's argument for it, None for now."""

    def __init__(self, history, rng):
        self.history, self.rng, self.source = history, rng, history.source
        self.largest = max(history.messages, key=lambda channel: len(history.messages[channel]))
        self.busiest = sorted(history.channels_of, key=lambda key: -len(history.channels_of[key]))[:3]
        self.most_answered = max(history.answers, key=lambda message: len(history.answers[message]))
        self.users = sorted(history.registered, key=history.registered.get)
        self.answered = sorted(history.answers, key=lambda message: history.message_at[message])

    def moments(self, count):
        """Returns moments across the history: (position, word).

        These are position 0, the first and the last event, one event of each of `count` ranges, and times."""
        last = self.history.count
        spread = [self.rng.randint(last * step // count + 1, last * (step + 1) // count) for step in range(count)]
        moments = [(last, None)] + [(position, str(position)) for position in [0, 1, *spread, last]]
        for position in self.rng.sample(spread, 1):
            time = self.history.recorded[position - 1]
            moments.append((self.history.moment(time), time))
        moments.append((0, "2004-11-15"))  # the first day of the corpus, long before it was recorded
        return moments

    def all(self, moments, thorough=()):
        """Returns questions to every view at each moment; at the `thorough` ones also the complete largest thread."""
        self.history.prepare_activity([now for now, _ in moments])
        asked = []
        for now, word in moments:
            asked += self.of_lists(now, word)
            if now:
                asked += self.of_threads(now, word) + self.of_replies(now, word) + self.of_users(now, word) + self.of_viewers(now, word)
            if now in thorough and self.history.opened[self.largest] <= now:
                asked.append(self.question(("timeline", self.largest), word, self.history.timeline(self.largest, now, limit=ALL), limit=ALL))
        return asked

    def question(self, words, word, rows, code=None, **options):
        """Creates a question. `options` become --name=value; positional arguments follow `--`."""
        command, *places = words
        if word is not None:
            options["as-of"] = word
        named = [f"--{name}={value}" for name, value in options.items()]
        return Question((command, *named, "--", *places), rows, code)

    def paged(self, words, word, find, now, **viewer):
        """Creates a question for one kind of page: latest, before, after, around, from a time, or a combination."""
        limit, here, there = self.rng.choice((1, 2, 7, 50)), *sorted(self.rng.choices(range(now + 2), k=2))
        ways = [{}, {"limit": ALL}, {"limit": limit, "before": there}, {"limit": limit, "after": here}, {"limit": limit, "around": here},
                {"limit": limit, "around": here, "before": there}, {"limit": limit, "after": here, "before": there},
                {"limit": limit, "from": self.history.recorded[min(max(here, 1), self.history.count) - 1]}]
        way = dict(self.rng.choice([ways[0], *ways[2:]] if words[0] == "timeline" else ways))
        bounds = dict(way)
        if "from" in way:
            time = bounds.pop("from")
            bounds["after"] = self.history.before(time)
        return self.question(words, word, find(now=now, **bounds), **way, **viewer)

    def of_lists(self, now, word):
        history, days = self.history, [row["day"] for row in self.history.activity(now)] or ["2004-11-15"]
        first, last = sorted(self.rng.choices(days, k=2))
        return [
            self.question(("threads",), word, history.threads(now, limit=ALL), limit=ALL),
            self.paged(("threads",), word, history.threads, now),
            self.rng.choice((
                self.question(("activity",), word, history.activity(now)),
                self.question(("activity",), word, history.activity(now, first, last), **{"from": first, "to": last})))]

    def open_channels(self, now):
        return [channel for channel, position in self.history.opened.items() if position <= now]

    def of_threads(self, now, word):
        history, asked, there = self.history, [], self.open_channels(now)
        for channel in [self.largest] * (self.largest in there) + self.rng.sample(there, min(1, len(there))):
            asked.append(self.paged(("timeline", channel), word, lambda **page: history.timeline(channel, **page), now))
            asked.append(self.question((self.rng.choice(("members", "readers")), channel), word, history.members(channel, now)))
        later = sorted(set(history.opened) - set(there))
        if later:
            command = self.rng.choice(("timeline", "members", "readers"))
            asked.append(self.question((command, self.rng.choice(later)), word, None, "unknownThread"))
        return asked

    def of_replies(self, now, word):
        history, asked = self.history, []
        posted = [message for message in self.answered if history.message_at[message] <= now]
        later = self.answered[len(posted):]
        # The latest messages have replies both before and after the moment.
        chosen = [self.rng.choice((posted[-1], max(posted[-100:], key=lambda message: len(history.answers[message]))))] if posted else []
        for message in [self.most_answered] * (self.most_answered in posted) + chosen:
            asked.append(self.paged(
                ("replies", history.journal.message_id[message]), word, lambda **page: history.replies(message, **page), now))
        if later:
            asked.append(self.question(("replies", history.journal.message_id[self.rng.choice(later)]), word, None, "unknownMessage"))
        return asked

    def of_users(self, now, word):
        history, asked = self.history, []
        registered = [key for key in self.users if history.registered[key] <= now]
        for key in self.rng.sample(registered, min(1, len(registered))):
            name = self.rng.choice((history.source.first_spelt[key].swapcase(), history.user_id(key)))
            asked.append(self.question(("user", name), word, history.user(key, now)))
            asked.append(self.question(("access", name), word, history.access(key, now)))
        later = self.users[len(registered):]
        if later:
            asked.append(self.question(("user", history.source.first_spelt[self.rng.choice(later)]), word, None, "unknownUser"))
        return asked

    def of_people(self, count):
        """Returns questions about some users now, including the busiest."""
        history, now = self.history, self.history.count
        return [self.question((command, history.user_id(key)), None, find(key, now))
                for key in self.busiest + self.rng.sample(self.users, count)
                for command, find in (("user", history.user), ("access", history.access))]

    def departures(self, count):
        """Returns commands of one event each, by which users leave, rejoin and read: (command, payload, fold key, channel)."""
        history, commands = self.history, []
        pairs = self.rng.sample([(key, channel) for channel, stays in history.stays.items() for key in stays], count)
        pairs.append(next(
            (key, self.largest) for key in self.busiest + self.users
            if key in history.stays[self.largest] and (key, self.largest) not in pairs))
        for index, (key, channel) in enumerate(pairs):
            place = {"user": history.user_id(key), "thread": history.thread_id(channel)}
            kinds = (["leaveThread"], ["markRead", "leaveThread", "joinThread"], ["markRead"])[index % 3]
            for kind in kinds:
                up_to = {"upTo": self.rng.randint(history.stays[channel][key][0][0], history.count)} if kind == "markRead" else {}
                commands.append((kind, place | up_to, key, channel))
        # Interleaved, so that the events of one user lie between those of others.
        return sorted(commands, key=lambda command: ("markRead", "leaveThread", "joinThread").index(command[0]))

    def as_viewer(self, key, channel, now, word):
        """Returns a viewer's questions about a thread and the viewer, at a moment at which both exist."""
        history, viewer = self.history, {"viewer": self.history.user_id(key)}
        # A viewer finds only readable threads by name, and any thread by id.
        may, by_name = history.may_read(key, channel, now), self.rng.random() < 0.5
        place = channel if by_name else history.thread_id(channel)
        questions = [
            self.paged(("timeline", place), word, lambda **page: history.timeline(channel, **page), now, **viewer),
            self.question(("members", place), word, history.members(channel, now), **viewer)]
        if not may:
            questions = [question._replace(rows=None, code="unknownThread" if by_name else "notAMember") for question in questions]
        posted = [message for message in self.answered if message[0] == channel and history.message_at[message] <= now]
        if posted:
            message = self.rng.choice(posted)
            replies = self.paged(
                ("replies", history.journal.message_id[message]), word, lambda **page: history.replies(message, **page), now, **viewer)
            questions.append(replies if may else replies._replace(rows=None, code="notAMember"))
        questions.append(self.question(("readers", history.thread_id(channel)), word, None, "notAllowed", **viewer))
        questions.append(self.question(("threads",), word, history.threads(now, key, limit=ALL), limit=ALL, **viewer))
        return questions

    def of_viewers(self, now, word):
        history, asked = self.history, []
        registered = [key for key in self.users if history.registered[key] <= now]
        there = self.open_channels(now)
        if not registered or not there:
            return asked
        key = self.rng.choice(registered)
        inside = [channel for channel in history.channels_of[key] if history.may_read(key, channel, now)]
        outside = [channel for channel in there if channel not in inside]
        channels = self.rng.choice([channels for channels in (inside, outside) if channels])
        asked += self.rng.sample(self.as_viewer(key, self.rng.choice(channels), now, word), 2)
        viewer, other = {"viewer": history.user_id(key)}, self.rng.choice(registered)
        command, find = self.rng.choice((("user", history.own_view), ("access", history.access)))
        asked.append(self.question((command, history.user_id(key)), word, find(key, now), **viewer))
        if other != key:
            asked.append(self.question((command, history.user_id(other)), word, None, "notAllowed", **viewer))
        if len(registered) < len(self.users):
            later = {"viewer": history.user_id(self.users[-1])}
            asked.append(self.question(("threads",), word, None, "unknownUser", **later))
        return asked

    def of_joins(self, count):
        """Returns questions of viewers just before and after they joined, and just before and after they left."""
        history, asked = self.history, []
        joins = [(key, channel, start, end) for channel, stays in history.stays.items() for key, all_stays in stays.items()
                 for start, end in all_stays if history.registered[key] < start and history.opened[channel] < start]
        ended = [join for join in joins if join[3] is not None]
        for key, channel, start, end in self.rng.sample(joins, count) + ended:
            for now in (start - 1, start) + ((end - 1, end) if end else ()):
                if history.registered[key] <= now and history.opened[channel] <= now:
                    asked += self.rng.sample(self.as_viewer(key, channel, now, str(now)), 1)
        return asked

    def beyond(self):
        """Returns questions as of a future position, which every view rejects."""
        beyond = str(self.history.count + 1)
        key = self.rng.choice(self.users)
        return [self.question(words, beyond, None, "invalidPosition") for words in (
            ("threads",), ("activity",), ("timeline", self.largest), ("members", self.largest), ("readers", self.largest),
            ("replies", self.history.journal.message_id[self.most_answered]), ("user", self.history.user_id(key)),
            ("access", self.history.user_id(key)))]

