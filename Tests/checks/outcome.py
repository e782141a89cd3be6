"""The outcome of a command of the model: its events, no change, a duplicate, or a rejection."""


class Outcome:
    """The outcome of a command: `events` (kind and known fields of each), no change, or a rejection."""

    def __init__(self, events=(), positions=None, duplicate=False, code=None):
        self.events, self.positions, self.duplicate, self.code = list(events), positions, duplicate, code

    def __str__(self):
        if self.code:
            return "rejected: " + self.code
        kinds = ", ".join(kind for kind, _ in self.events)
        return ("duplicate: " + kinds) if self.duplicate else (kinds or "no change")


class Refusal(Exception):
    pass
