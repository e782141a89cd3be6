"""The scenes and the rows of decision_table.py: how each cell of DecisionTable.md is set up, and its command."""

import itertools

LATER, PAST = "9999-12-31T00:00:00.000Z", "2000-01-01T00:00:00.000Z"
ELSEWHERE = "M1 1AE"
REASON = "Against the rules of the street"
STATES = [
    "stranger", "invited", "member", "muted", "banned", "moderator", "owner", "operator", "former invited",
    "former member", "former muted", "former banned", "former moderator", "former owner", "former operator",
]
NEVER_MEMBERS = ("stranger", "invited", "operator", "former invited", "former operator")
OPENERS = ("owner", "former owner")
LEFT = ("banned", "former member", "former banned")
THREADS = ("open", "inviteOnly", "residents", "locked", "closed")
# The numbers of people of the direct threads, by table, and the states of the acting user there.
DIRECTS = {"direct": 2, "group": 3}
DIRECT_STATES = ["stranger", "member", "former member", "returned member", "blocking member", "blocked member", "operator", "deciding operator",
                 "member and operator"]
NOT_OF_THE_PEOPLE = ("stranger", "operator", "deciding operator")
USER_STATES = ["unknown", "registered", "operator", "former operator"]

# More outward codes than there are cells, none of which is that of ELSEWHERE.
CODES = ["".join(parts) for parts in itertools.product(
    "ABCDEFGHIJKLMNOPRSTUWYZ", "ABCDEFGHKLMNOPQRSTUVWXY", "123456789", "0123456789")]


class NotApplicable(Exception):
    """A cell that cannot occur."""


class Scene:
    """The setup of one cell: its users, its thread and its posts, with ids that no other cell has.

    `execute` sends a line to the model. Every line of a setup must append events, except in `attempt`.
    """

    def __init__(self, rules, number):
        self.rules, self.number, self.lines, self.outcomes = rules, number, [], []
        self.ids = itertools.count(1)

    def new_id(self):
        return f"{self.number:08x}-0000-7000-8000-{next(self.ids):012x}"

    def attempt(self, command, **fields):
        self.lines.append({command: fields})
        self.outcomes.append(self.rules.execute(self.lines[-1]))
        return self.outcomes[-1]

    def execute(self, command, **fields):
        outcome = self.attempt(command, **fields)
        if outcome.code or outcome.duplicate or not outcome.events:
            raise RuntimeError(f"the setup of cell {self.number} is wrong: {command} {fields}: {outcome}")

    def register(self, name):
        user = self.new_id()
        self.execute("registerUser", user=user, username=f"{self.number} {name}")
        return user


class ThreadScene(Scene):
    """The setup of a cell for an acting user and a thread.

    `thread` is one of THREADS and `state` one of STATES. The attributes are the ids of the users (`actor`, `host`,
    `member`, `moderator`, `stranger`, `operator`, who have met, and `outsider`, whom nobody knows) and of the posts
    (`message` and `reply` of the member, `moderators_message`, `own` and `own_reply` of the actor).
    """

    def __init__(self, rules, number, thread, state, row):
        super().__init__(rules, number)
        self.kind, self.state, self.row, self.living_here = thread, state, row, set()
        self.is_outward, self.takes_invited_only = thread == "residents", thread == "inviteOnly"
        if self.is_outward and state in OPENERS:
            raise NotApplicable
        if row.needs_own_posts and state in NEVER_MEMBERS:
            raise NotApplicable
        if (row.as_only_owner and state != "owner") or (row.without_owner and state == "owner"):
            raise NotApplicable
        for name in ("actor", "host", "member", "moderator", "stranger", "operator"):
            setattr(self, name, self.register(name))
        self.outsider = self.register("outsider")
        self.execute("grantOperator", user=self.operator)
        self.meet(self.actor, self.host, self.member, self.moderator, self.stranger, self.operator)
        self.open_thread()
        self.message, self.reply, self.moderators_message = self.new_id(), self.new_id(), self.new_id()
        self.post(self.message, self.member)
        self.post_reply(self.reply, self.message, self.member)
        self.post(self.moderators_message, self.moderator)
        if state in NEVER_MEMBERS:
            if self.is_outward:
                self.move_in_without_joining()
        else:
            self.be_member()
        self.enter_state()
        if row.without_owner and not self.is_outward:
            self.moderate("removeMember", self.host)
        row.before(self)
        if thread == "locked":
            self.lock()
        if thread == "closed":
            self.close()
        row.late(self)
        (command, fields), = row.command(self).items()
        self.outcome = self.attempt(command, **fields)

    # The steps of every setup

    def meet(self, *users):
        """Users mention one another in a thread that they leave, and so may act on one another."""
        square, warden = self.new_id(), self.register("warden")
        self.execute("openThread", thread=square, name=f"Square {self.number}", by=warden)
        for user in users:
            self.execute("joinThread", thread=square, user=user)
        for user in users:
            self.execute("postMessage", message=self.new_id(), thread=square, author=user, body="Hello everybody",
                         mentions=[other for other in users if other != user])
        for user in users:
            self.execute("leaveThread", thread=square, user=user)

    def open_thread(self):
        if self.is_outward:
            self.thread = CODES[self.number]
            for user in (self.host, self.member, self.moderator):
                self.join(user)
            self.execute("setRole", thread=self.thread, user=self.moderator, role="moderator", by=self.operator)
            self.inviter = self.moderator
            return
        self.thread, opener = self.new_id(), self.actor if self.state in OPENERS else self.host
        self.inviter = opener
        policy = {"policy": "inviteOnly"} if self.kind == "inviteOnly" else {}
        history = {"history": "sinceJoining"} if self.row.since_joining else {}
        self.execute("openThread", thread=self.thread, name=f"Thread {self.number}", by=opener, **policy, **history)
        for user in (self.host, self.member, self.moderator):
            if user != opener:
                self.join(user)
        if opener == self.actor and not self.row.as_only_owner:
            self.execute("setRole", thread=self.thread, user=self.host, role="owner", by=self.actor)
        self.execute("setRole", thread=self.thread, user=self.moderator, role="moderator", by=opener)
        self.inviter = self.moderator

    def be_member(self):
        if self.state not in OPENERS:
            self.join(self.actor)
        self.own, self.own_reply = self.new_id(), self.new_id()
        self.post(self.own, self.actor)
        self.post_reply(self.own_reply, self.own, self.actor)
        self.row.early(self)
        if self.row.since_joining:
            self.rejoin()
            if self.state in OPENERS:
                self.execute("setRole", thread=self.thread, user=self.actor, role="owner", by=self.host)

    def enter_state(self):
        state = self.state.removeprefix("former ")
        boss = self.operator if self.is_outward else self.host
        if state == "invited":
            self.invite(self.actor)
        if state == "muted":
            self.moderate("mute", self.actor)
        if state == "banned":
            self.moderate("ban", self.actor)
        if state == "moderator":
            self.execute("setRole", thread=self.thread, user=self.actor, role="moderator", by=boss)
        if state == "operator":
            self.execute("grantOperator", user=self.actor)
        if self.state == "former invited":
            self.execute("revokeInvitation", thread=self.thread, user=self.actor, by=self.operator)
        if self.state == "former member":
            self.execute("leaveThread", thread=self.thread, user=self.actor)
        if self.state == "former muted":
            self.execute("unmute", thread=self.thread, user=self.actor, by=self.operator)
        if self.state == "former banned":
            self.execute("unban", thread=self.thread, user=self.actor, by=self.operator)
        if self.state == "former moderator":
            self.execute("setRole", thread=self.thread, user=self.actor, role="member", by=boss)
        if self.state == "former owner":
            self.execute("setRole", thread=self.thread, user=self.actor, role="member", by=self.actor)
        if self.state == "former operator":
            self.execute("revokeOperator", user=self.actor)

    # The steps that rows use

    @property
    def is_member(self):
        """Whether the acting user is a member. The setup knows it without the model."""
        return self.state not in NEVER_MEMBERS + LEFT

    def here(self):
        return self.thread + " 1AA"

    def join(self, user):
        if self.is_outward and user not in self.living_here:
            self.living_here.add(user)
            self.execute("setPostcode", user=user, postcode=self.here())
        elif self.takes_invited_only:
            self.invite(user)
            self.execute("acceptInvitation", thread=self.thread, user=user)
        else:
            self.execute("joinThread", thread=self.thread, user=user)

    def rejoin(self):
        self.execute("leaveThread", thread=self.thread, user=self.actor)
        self.join(self.actor)

    def join_anew(self):
        """The acting user leaves, if a member, and joins again, if not banned."""
        if self.is_member:
            self.execute("leaveThread", thread=self.thread, user=self.actor)
        if self.state != "banned":
            self.join(self.actor)

    def move_in_without_joining(self):
        self.lock()
        self.living_here.add(self.actor)
        self.execute("setPostcode", user=self.actor, postcode=self.here())
        self.execute("unlockThread", thread=self.thread, by=self.operator)

    def move_out(self):
        self.execute("setPostcode", user=self.actor, postcode=ELSEWHERE)

    def move_in(self):
        self.execute("setPostcode", user=self.actor, postcode=self.here())

    def invite(self, user):
        self.execute("invite", thread=self.thread, user=user, by=self.inviter)

    def invite_for_ban(self, user):
        """Invites a user; without an owner the operator does."""
        self.execute("invite", thread=self.thread, user=user, by=self.moderator)

    def moderate(self, command, user, **fields):
        self.execute(command, thread=self.thread, user=user, by=self.operator, reason=REASON, **fields)

    def post(self, message, author):
        self.execute("postMessage", message=message, thread=self.thread, author=author, body="Hello")

    def post_reply(self, reply, message, author):
        self.execute("reply", reply=reply, message=message, author=author, body="Hello again")

    def remove(self, **post):
        self.execute("remove", by=self.operator, reason=REASON, **post)

    def pin(self, message):
        self.execute("pin", message=message, by=self.operator)

    def report(self, by, **post):
        self.execute("report", by=by, reason=REASON, **post)

    def lock(self):
        self.execute("lockThread", thread=self.thread, by=self.operator)

    def close(self):
        self.execute("closeThread", thread=self.thread, by=self.operator)

    def set_policy(self, policy, history=None):
        """The owner sets the policy."""
        fields = {"history": history} if history else {}
        self.execute("setThreadPolicy", thread=self.thread, policy=policy, by=self.host, **fields)
        self.takes_invited_only = policy == "inviteOnly"

    def outsider_visits(self):
        """The outsider joins, and leaves."""
        self.execute("joinThread", thread=self.thread, user=self.outsider)
        self.execute("leaveThread", thread=self.thread, user=self.outsider)

    def outsider_posts(self):
        """The outsider joins, posts and leaves."""
        self.execute("joinThread", thread=self.thread, user=self.outsider)
        self.post(self.new_id(), self.outsider)
        self.execute("leaveThread", thread=self.thread, user=self.outsider)

    def lock_and_close(self):
        self.lock()
        self.close()

    def mute_actor(self):
        if self.state != "muted":
            self.sanction_actor("mute")

    def ban_actor(self):
        if self.state != "banned":
            self.sanction_actor("ban")

    def sanction_actor(self, command):
        """Mutes or bans the acting user, who for that needs an invitation if they never were a member."""
        needs_one = self.state in NEVER_MEMBERS and self.actor not in self.rules.threads[self.thread]["invited"]
        if needs_one:
            self.invite_for_ban(self.actor)
        self.moderate(command, self.actor)
        if needs_one and command == "mute":
            self.execute("revokeInvitation", thread=self.thread, user=self.actor, by=self.operator)

    def pin_fifty(self):
        """Pins 50 messages of the member; `first_pin` is the first of them."""
        pinned = [self.new_id() for _ in range(50)]
        for message in pinned:
            self.post(message, self.member)
            self.pin(message)
        self.first_pin = pinned[0]

    def react_often(self, by, count, first=0):
        """Reacts to the member's message with so many names, from `first` on."""
        for number in range(first, first + count):
            self.execute("react", message=self.message, by=by, emoji=f":n{number}:")

    def react_fifty_times(self):
        """Others react to the member's message with 50 different names."""
        for index, user in enumerate((self.member, self.moderator, self.host)):
            self.react_often(user, 20 if index < 2 else 10, first=20 * index)

    def invite_if_possible(self):
        if self.state not in ("invited", "banned") and not self.is_member:
            self.invite(self.actor)

    def invite_and_decline(self):
        self.invite_if_possible()
        if self.state != "banned" and not self.is_member:
            self.execute("declineInvitation", thread=self.thread, user=self.actor)

    def end_invitation_by_ban(self):
        """An invitation of the acting user is ended by a ban, and then the ban is ended."""
        self.invite_if_possible()
        self.ban_actor()
        self.execute("unban", thread=self.thread, user=self.actor, by=self.operator)


class DirectScene(Scene):
    """The setup of a cell for an acting user and a direct thread of `count` people; `state` is one of DIRECT_STATES.

    The people are the acting user, `member` and, of three, `third`; if the acting user is none of them, `member`, `third`
    and `fourth`. They and the stranger are members of an open thread too.
    """

    def __init__(self, rules, number, count, state, row):
        super().__init__(rules, number)
        self.state, self.is_one_of_them = state, state not in NOT_OF_THE_PEOPLE
        if row.needs_own_posts and not self.is_one_of_them:
            raise NotApplicable
        names = ("member", "actor", "third", "fourth", "stranger")
        for name in names:
            setattr(self, name, self.register(name))
        self.operator, self.hall, self.thread = self.register("operator"), self.new_id(), self.new_id()
        self.execute("grantOperator", user=self.operator)
        self.execute("openThread", thread=self.hall, name=f"Hall {number}", by=self.member)
        for name in names[1:]:
            self.execute("joinThread", thread=self.hall, user=getattr(self, name))
        others = (self.actor, self.third) if self.is_one_of_them else (self.third, self.fourth)
        self.people = [self.member, *others[:count - 1]]
        self.execute("openDirect", thread=self.thread, by=self.member, **{"with": self.people[1:]})
        self.message, self.reply = self.new_id(), self.new_id()
        self.execute("postMessage", message=self.message, thread=self.thread, author=self.member, body="Hello")
        self.execute("reply", reply=self.reply, message=self.message, author=self.member, body="Hello again")
        if self.is_one_of_them:
            self.own, self.own_reply = self.new_id(), self.new_id()
            self.execute("postMessage", message=self.own, thread=self.thread, author=self.actor, body="Good morning")
            self.execute("reply", reply=self.own_reply, message=self.own, author=self.actor, body="And good night")
            row.early(self)
        self.enter_state()
        row.before(self)
        (command, fields), = row.command(self).items()
        self.outcome = self.attempt(command, **fields)

    def enter_state(self):
        if self.state in ("former member", "returned member"):
            self.execute("leaveThread", thread=self.thread, user=self.actor)
        if self.state == "returned member":
            self.execute("openDirect", by=self.actor, **{"with": self.others()})
        if self.state == "blocking member":
            self.execute("block", user=self.member, by=self.actor)
        if self.state == "blocked member":
            self.execute("block", user=self.actor, by=self.member)
        if "operator" in self.state:
            self.execute("grantOperator", user=self.actor)
        if self.state == "deciding operator":
            self.report(self.third, message=self.message)

    def others(self):
        return [user for user in self.people if user != self.actor]

    def report(self, by, **post):
        self.execute("report", by=by, reason=REASON, **post)


class UserScene(Scene):
    """The setup of a cell for a command without a thread. `user` is the user that the command names."""

    def __init__(self, rules, number, state, row):
        super().__init__(rules, number)
        self.user, self.session = self.new_id(), self.new_id()
        if state != "unknown":
            self.execute("registerUser", user=self.user, username=f"{number} user")
            row.before(self)
        if state in ("operator", "former operator"):
            self.execute("grantOperator", user=self.user)
        if state == "former operator":
            self.execute("revokeOperator", user=self.user)
        (command, fields), = row.command(self).items()
        self.outcome = self.attempt(command, **fields)


def nothing(scene):
    """No step."""


class Row:
    """A row of a table: its name, its command, and what its setup adds to that of the state.

    `early` happens while the acting user is a member, before the state is entered. `before` happens before the thread
    is locked or closed, and `late` after that. `thread` replaces the thread of the table.
    """

    def __init__(self, name, command, *, early=nothing, before=nothing, late=nothing, needs_own_posts=False,
                 as_only_owner=False, without_owner=False, since_joining=False, thread=None):
        self.name, self.command, self.early, self.before, self.late = name, command, early, before, late
        self.needs_own_posts, self.as_only_owner, self.without_owner = needs_own_posts, as_only_owner, without_owner
        self.since_joining, self.thread = since_joining, thread


def own(name, command, **options):
    """A row that needs a post or a report of the acting user."""
    return Row(name, command, needs_own_posts=True, **options)


def past(name, command, **options):
    """A row of a thread with the history sinceJoining. The posts of every setup are from before the latest join."""
    return Row(name, command, since_joining=True, **options)


# The commands of the rows. Each function takes a scene and returns a line.

def on_user(command, target, **fields):
    """A moderator's command: `by` is the acting user, `target` the name of the other user."""
    return lambda scene: {command: {
        "thread": scene.thread, "user": getattr(scene, target), "by": scene.actor, **fields}}


def sanction(command, target, **fields):
    return on_user(command, target, **{"reason": REASON, **fields})


def set_role(target, role):
    return on_user("setRole", target, role=role)


def oneself(command, **fields):
    """A command of the acting user for themselves."""
    return lambda scene: {command: {"thread": scene.thread, "user": scene.actor, **fields}}


def thread_command(command):
    return lambda scene: {command: {"thread": scene.thread, "by": scene.actor}}


def set_policy(policy, **fields):
    return lambda scene: {"setThreadPolicy": {
        "thread": scene.thread, "policy": policy, "by": scene.actor, **fields}}


def on_message(command, post="message", **fields):
    return lambda scene: {command: {"message": getattr(scene, post), "by": scene.actor, **fields}}


def on_reply(command, post="reply", **fields):
    return lambda scene: {command: {"reply": getattr(scene, post), "by": scene.actor, **fields}}


def mentioning(make, *users):
    """The command of another row, which mentions users: names of attributes, or ids."""
    def command(scene):
        (name, fields), = make(scene).items()
        return {name: dict(fields, mentions=[getattr(scene, user, user) for user in users])}
    return command


def post_message(message=None, thread=None, body="Milk?"):
    """`message` is the name of an attribute, or None for a new id."""
    return lambda scene: {"postMessage": {
        "message": getattr(scene, message) if message else scene.new_id(), "thread": thread or scene.thread,
        "author": scene.actor, "body": body}}


def reply_to(message="message", reply=None, body="Yes"):
    return lambda scene: {"reply": {
        "reply": getattr(scene, reply) if reply else scene.new_id(), "message": getattr(scene, message),
        "author": scene.actor, "body": body}}


POLL = {"question": "Tea?", "options": [1, True, None]}


def custom(by="actor", identifier=None, kind="org.example.poll", payload=POLL):
    return lambda scene: {"custom": {
        "id": getattr(scene, identifier) if identifier else scene.new_id(), "kind": kind, "thread": scene.thread,
        "by": getattr(scene, by), "payload": payload}}


def open_thread(name="Another thread", **fields):
    return lambda scene: {"openThread": {"thread": scene.new_id(), "name": name, "by": scene.actor, **fields}}


def rename_thread(name="Another name"):
    return lambda scene: {"renameThread": {"thread": scene.thread, "name": name, "by": scene.actor}}


def open_direct(*users, by="actor", thread=None):
    """`users` are names of attributes, or ids; `thread` is one of them, or None for a new id."""
    return lambda scene: {"openDirect": {
        "thread": getattr(scene, thread) if thread else scene.new_id(), "by": getattr(scene, by),
        "with": [getattr(scene, user, user) for user in users]}}


def open_same_direct(thread=None):
    """Opens the direct thread of a DirectScene again."""
    return lambda scene: {"openDirect": {
        "thread": getattr(scene, thread) if thread else scene.new_id(), "by": scene.actor, "with": scene.others()}}


def leave_direct(scene):
    """The acting user opens a direct thread with the member, and leaves it."""
    (command, fields), = open_direct("member")(scene).items()
    scene.execute(command, **fields)
    scene.execute("leaveThread", thread=fields["thread"], user=scene.actor)


def on_other(command, user="member"):
    return lambda scene: {command: {"user": getattr(scene, user), "by": scene.actor}}


def set_postcode(postcode=None):
    """`postcode` is None for one of the outward code of the thread."""
    return lambda scene: {"setPostcode": {"user": scene.actor, "postcode": postcode or scene.here()}}


def change_username(template):
    """`template` is the name, with `{}` for the number of the cell."""
    return lambda scene: {"changeUsername": {"user": scene.actor, "username": template.format(scene.number)}}


def mark_inbox_read(position):
    return lambda scene: {"markInboxRead": {"user": scene.actor, "upTo": position}}


def set_profile(about="Shops on Tuesdays."):
    return lambda scene: {"setProfile": {"user": scene.actor, "about": about}}


def register_user(name="user", identifier="user"):
    return lambda scene: {"registerUser": {
        "user": getattr(scene, identifier), "username": f"{scene.number} {name}"}}


def start_session(scene):
    return {"startSession": {"user": scene.user, "session": scene.session, "device": "telephone"}}


def end_session(scene):
    return {"endSession": {"session": scene.session}}


def send(line):
    """A step of a setup that executes a command."""
    def step(scene):
        (command, fields), = line(scene).items()
        scene.execute(command, **fields)
    return step


def send_custom(by):
    """A step that executes a custom command whose id is `known_id`."""
    def step(scene):
        scene.known_id = scene.new_id()
        send(custom(by, "known_id"))(scene)
    return step


def step(method, *arguments, **fields):
    """A step of a setup: a method of the scene, whose arguments are names of attributes."""
    return lambda scene: getattr(scene, method)(
        *(getattr(scene, name) for name in arguments), **{key: getattr(scene, name) for key, name in fields.items()})


def policy(name, history=None):
    """A step in which the owner sets the policy of the thread."""
    return lambda scene: scene.set_policy(name, history)


def steps(*several):
    def run(scene):
        for one in several:
            one(scene)
    return run


EDIT = {"body": "Milk and bread?"}
BLANK = {"reason": " \n "}
retract_own = send(on_message("retract", "own"))
retract_message = send(lambda scene: {"retract": {"message": scene.message, "by": scene.member}})
remove_message, remove_own = step("remove", message="message"), step("remove", message="own")
pin_message = step("pin", "message")
report_message = step("report", "actor", message="message")
report_by_moderator = step("report", "moderator", message="message")
REACTION = {"emoji": "\U0001F44D"}


def react_twenty_times(scene):
    scene.react_often(scene.actor, 20)


react_to_message = send(on_message("react", **REACTION))


def mute_member_until(scene):
    scene.moderate("mute", scene.member, until=LATER)


def mute_moderator(scene):
    scene.moderate("mute", scene.moderator)


def ban_stranger(scene):
    """Only who was a member or is invited can be banned."""
    scene.invite_for_ban(scene.stranger)
    scene.moderate("ban", scene.stranger)


def ban_stranger_until(scene):
    scene.invite_for_ban(scene.stranger)
    scene.moderate("ban", scene.stranger, until=LATER)


def unpin_message(scene):
    scene.execute("unpin", message=scene.message, by=scene.operator)


def resolve_report(scene):
    scene.execute("resolveReport", message=scene.message, by=scene.operator)


def retract_first_pin(scene):
    scene.execute("retract", message=scene.first_pin, by=scene.member)


def remove_first_pin(scene):
    scene.remove(message=scene.first_pin)


def post_by_host(scene):
    scene.hosts_message = scene.new_id()
    scene.post(scene.hosts_message, scene.host)


def post_later(scene):
    """The member posts after the acting user joined: a message, a reply to it, and a reply to the first message."""
    scene.later_message, scene.reply_to_later, scene.later_reply = scene.new_id(), scene.new_id(), scene.new_id()
    scene.post(scene.later_message, scene.member)
    scene.post_reply(scene.reply_to_later, scene.later_message, scene.member)
    scene.post_reply(scene.later_reply, scene.message, scene.member)


def main_rows(thread):
    """The rows of the table of a thread."""
    named, residents = thread != "residents", thread == "residents"
    rows = [
        Row("`changeUsername`", change_username("{} renamed")),
        Row("`setPostcode` to another outward code", set_postcode(ELSEWHERE)),
        residents and Row("`setPostcode` into the outward code", set_postcode(), before=step("move_out")),
        residents and Row("`leaveThread` after moving into the outward code", oneself("leaveThread"),
                          before=step("move_out"), late=step("move_in")),
        Row("`openThread`", open_thread()),
        Row("`joinThread`", oneself("joinThread")),
        residents and Row("`joinThread` (lives elsewhere)", oneself("joinThread"), before=step("move_out")),
        Row("`leaveThread`", oneself("leaveThread")),
        named and Row("`leaveThread` as the only owner", oneself("leaveThread"), as_only_owner=True),
        Row("`markRead`", oneself("markRead", upTo=1)),
        own("`markRead` again", oneself("markRead", upTo=1), early=send(oneself("markRead", upTo=1))),
        own("`markUnread`", oneself("markUnread", **{"from": 1}), early=send(oneself("markRead", upTo=1))),
        Row("`markUnread` of what is unread", oneself("markUnread", **{"from": 1})),
        Row("`setNotifications`", oneself("setNotifications", level="none", until=LATER)),
        own("`setNotifications` again", oneself("setNotifications", level="none", until=LATER),
            early=send(oneself("setNotifications", level="none", until=LATER))),
        Row("`markInboxRead`", mark_inbox_read(1)),
        Row("`markInboxRead` again", mark_inbox_read(1), before=send(mark_inbox_read(1))),
        Row("`setProfile`", set_profile()),
        Row("`setProfile` again", set_profile(), before=send(set_profile())),
        Row("`setProfile` to nothing", set_profile(None)),

        Row("`invite` a stranger", on_user("invite", "stranger")),
        Row("`invite` a member", on_user("invite", "member")),
        Row("`invite` an invited user", on_user("invite", "stranger"), before=step("invite", "stranger")),
        Row("`invite` a banned user", on_user("invite", "stranger"), before=ban_stranger),
        Row("`invite` an operator", on_user("invite", "operator")),
        Row("`invite` oneself", on_user("invite", "actor")),
        named and Row("`invite` a stranger without an owner", on_user("invite", "stranger"), without_owner=True),
        named and Row("`invite` an operator without an owner", on_user("invite", "operator"), without_owner=True),
        named and Row("`invite` oneself without an owner", on_user("invite", "actor"), without_owner=True),
        Row("`acceptInvitation`", oneself("acceptInvitation")),
        residents and Row("`acceptInvitation` (lives elsewhere)", oneself("acceptInvitation"), before=step("move_out")),
        Row("`declineInvitation`", oneself("declineInvitation")),
        Row("`revokeInvitation` of an invited user", on_user("revokeInvitation", "stranger"),
            before=step("invite", "stranger")),
        Row("`revokeInvitation` of a stranger", on_user("revokeInvitation", "stranger")),

        Row("`setRole` of a member to moderator", set_role("member", "moderator")),
        Row("`setRole` of a member to owner", set_role("member", "owner")),
        Row("`setRole` of a moderator to member", set_role("moderator", "member")),
        Row("`setRole` of a moderator to moderator", set_role("moderator", "moderator")),
        named and Row("`setRole` of an owner to member", set_role("host", "member")),
        Row("`setRole` of a stranger to moderator", set_role("stranger", "moderator")),
        Row("`setRole` of oneself to member", set_role("actor", "member")),
        Row("`setRole` of oneself to moderator", set_role("actor", "moderator")),
        Row("`setRole` of oneself to owner", set_role("actor", "owner")),
        named and Row("`setRole` of oneself to member as the only owner", set_role("actor", "member"),
                      as_only_owner=True),
        named and Row("`setRole` of oneself to owner as the only owner", set_role("actor", "owner"),
                      as_only_owner=True),
        named and Row("`setRole` of a member to moderator without an owner",
                      set_role("member", "moderator"), without_owner=True),
        named and Row("`setRole` of a member to owner without an owner", set_role("member", "owner"),
                      without_owner=True),
        named and Row("`setRole` of oneself to owner without an owner", set_role("actor", "owner"), without_owner=True),

        Row("`postMessage`", post_message()),
        own("`postMessage` repeated", post_message("own")),
        Row("`reply` to a member", reply_to()),
        own("`reply` repeated", reply_to("own", "own_reply")),
        own("`edit` an own message", on_message("edit", "own", **EDIT)),
        own("`edit` an own reply", on_reply("edit", "own_reply", **EDIT)),
        Row("`edit` a member's message", on_message("edit", **EDIT)),
        own("`retract` an own message", on_message("retract", "own")),
        Row("`retract` a member's message", on_message("retract")),
        Row("`custom`", custom()),
        own("`custom` repeated", custom(identifier="known_id"), early=send_custom("actor")),

        Row("`remove` a member's message", on_message("remove", reason=REASON)),
        Row("`remove` a moderator's message", on_message("remove", "moderators_message", reason=REASON)),
        own("`remove` an own message", on_message("remove", "own", reason=REASON)),
        Row("`remove` a removed message", on_message("remove", reason=REASON), before=remove_message),

        Row("`mute` a member", sanction("mute", "member", until=None)),
        Row("`mute` a moderator", sanction("mute", "moderator", until=None)),
        named and Row("`mute` an owner", sanction("mute", "host", until=None)),
        Row("`mute` a stranger", sanction("mute", "stranger", until=LATER)),
        Row("`mute` oneself", sanction("mute", "actor", until=LATER)),
        Row("`mute` a muted member until the same time", sanction("mute", "member", until=LATER),
            before=mute_member_until),
        Row("`unmute` a muted member", on_user("unmute", "member"), before=mute_member_until),
        Row("`unmute` a muted moderator", on_user("unmute", "moderator"),
            before=mute_moderator),
        Row("`unmute` a member who is not muted", on_user("unmute", "member")),
        Row("`unmute` a moderator who is not muted", on_user("unmute", "moderator")),
        Row("`unmute` oneself after a mute", on_user("unmute", "actor"), before=step("mute_actor")),

        Row("`ban` a member", sanction("ban", "member", until=None)),
        Row("`ban` a moderator", sanction("ban", "moderator", until=None)),
        named and Row("`ban` an owner", sanction("ban", "host", until=None)),
        Row("`ban` a stranger", sanction("ban", "stranger", until=LATER)),
        Row("`ban` oneself", sanction("ban", "actor", until=LATER)),
        named and Row("`ban` oneself as the only owner", sanction("ban", "actor", until=LATER), as_only_owner=True),
        Row("`ban` a banned user until the same time", sanction("ban", "stranger", until=LATER),
            before=ban_stranger_until),
        Row("`unban` a banned user", on_user("unban", "stranger"), before=ban_stranger),
        Row("`unban` a user who is not banned", on_user("unban", "stranger")),
        Row("`unban` a moderator who is not banned", on_user("unban", "moderator")),
        Row("`unban` oneself", on_user("unban", "actor")),

        Row("`removeMember` a member", sanction("removeMember", "member")),
        Row("`removeMember` a moderator", sanction("removeMember", "moderator")),
        named and Row("`removeMember` an owner", sanction("removeMember", "host")),
        Row("`removeMember` a stranger", sanction("removeMember", "stranger")),
        Row("`removeMember` oneself", sanction("removeMember", "actor")),
        named and Row("`removeMember` oneself as the only owner", sanction("removeMember", "actor"),
                      as_only_owner=True),

        Row("`pin` a message", on_message("pin")),
        Row("`pin` a pinned message", on_message("pin"), before=pin_message),
        Row("`unpin` a pinned message", on_message("unpin"), before=pin_message),
        Row("`unpin` a message that is not pinned", on_message("unpin")),
        Row("`lockThread`", thread_command("lockThread")),
        Row("`unlockThread`", thread_command("unlockThread")),
        Row("`closeThread`", thread_command("closeThread")),

        Row("`report` a member's message", on_message("report", reason=REASON)),
        own("`report` an own message", on_message("report", "own", reason=REASON)),
        own("`report` a message again", on_message("report", reason=REASON), early=report_message),
        Row("`resolveReport` of a reported message", on_message("resolveReport"), before=report_by_moderator),
        Row("`resolveReport` of a message without a report", on_message("resolveReport")),

        Row("`react` to a member's message", on_message("react", **REACTION)),
        own("`react` again", on_message("react", **REACTION), early=react_to_message),
        own("`unreact` an own reaction", on_message("unreact", **REACTION), early=react_to_message),
        Row("`unreact` without a reaction", on_message("unreact", **REACTION)),

        Row("`block` a member", on_other("block")),
        Row("`block` a blocked member", on_other("block"), before=send(on_other("block"))),
        Row("`unblock` a blocked member", on_other("unblock"), before=send(on_other("block"))),
        Row("`unblock` a member who is not blocked", on_other("unblock")),

        Row("`setThreadPolicy` to inviteOnly", set_policy("inviteOnly")),
        Row("`setThreadPolicy` to open", set_policy("open")),
        Row("`setThreadPolicy` to inviteOnly and sinceJoining", set_policy("inviteOnly", history="sinceJoining")),
        Row("`setThreadPolicy` to open and all", set_policy("open", history="all")),
        Row("`setThreadPolicy` to residents", set_policy("residents")),
        named and Row("`setThreadPolicy` to inviteOnly without an owner", set_policy("inviteOnly"), without_owner=True),
        named and Row("`setThreadPolicy` to open without an owner", set_policy("open"), without_owner=True),
        Row("`setThreadPolicy` to listed", set_policy("listed")),
        Row("`renameThread`", rename_thread()),
        named and Row("`renameThread` without an owner", rename_thread(), without_owner=True),

        Row("`openDirect` with a member", open_direct("member")),
        Row("`openDirect` with a member and a stranger", open_direct("member", "stranger")),
        own("`openDirect` with a member again", open_direct("member"), early=send(open_direct("member"))),
        own("`openDirect` with a member who opened it", open_direct("member"), early=send(open_direct("actor", by="member"))),
        own("`openDirect` with a member after leaving it", open_direct("member"), early=leave_direct),
    ]
    return [row for row in rows if row]


def direct_rows():
    """The rows of the tables of the direct threads."""
    return [
        Row("`openDirect` of its people", open_same_direct()),
        Row("`openDirect` of its people with the id of the other thread", open_same_direct("hall")),
        Row("`openThread` with its id", lambda scene: {
            "openThread": {"thread": scene.thread, "name": "Another thread", "by": scene.actor}}),
        Row("`joinThread`", oneself("joinThread")),
        Row("`leaveThread`", oneself("leaveThread")),
        Row("`markRead`", oneself("markRead", upTo=1)),
        Row("`markUnread` of what is unread", oneself("markUnread", **{"from": 1})),
        Row("`setNotifications`", oneself("setNotifications", level="none", until=LATER)),
        Row("`invite` a stranger", on_user("invite", "stranger")),
        Row("`invite` oneself", on_user("invite", "actor")),
        Row("`acceptInvitation`", oneself("acceptInvitation")),
        Row("`declineInvitation`", oneself("declineInvitation")),
        Row("`revokeInvitation` of a stranger", on_user("revokeInvitation", "stranger")),
        Row("`setRole` of a member to moderator", set_role("member", "moderator")),
        Row("`setRole` of oneself to owner", set_role("actor", "owner")),
        Row("`setRole` of oneself to member", set_role("actor", "member")),
        Row("`postMessage`", post_message()),
        own("`postMessage` repeated", post_message("own")),
        Row("`postMessage` with an invalid body", post_message(body=" ")),
        Row("`postMessage` after the member has left", post_message(), before=leave_as_member),
        Row("`postMessage` after the member has left every thread", post_message(), before=leave_all_as_member),
        Row("`reply` to a member", reply_to()),
        Row("`reply` to a member who has left", reply_to(), before=leave_as_member),
        Row("`reply` to a member who has left every thread", reply_to(), before=leave_all_as_member),
        own("`edit` an own message", on_message("edit", "own", **EDIT)),
        own("`edit` an own message after the member has left", on_message("edit", "own", **EDIT), before=leave_as_member),
        own("`edit` an own reply", on_reply("edit", "own_reply", **EDIT)),
        Row("`edit` a member's message", on_message("edit", **EDIT)),
        own("`retract` an own message", on_message("retract", "own")),
        Row("`retract` a member's message", on_message("retract")),
        Row("`custom`", custom()),
        Row("`remove` a member's message", on_message("remove", reason=REASON)),
        Row("`remove` a member's message with an invalid reason", on_message("remove", **BLANK)),
        Row("`remove` a member's message whose reports are resolved", on_message("remove", reason=REASON), before=resolve_if_reported),
        Row("`remove` a member's reply", on_reply("remove", reason=REASON)),
        own("`remove` an own message", on_message("remove", "own", reason=REASON)),
        Row("`mute` a member", sanction("mute", "member", until=None)),
        Row("`unmute` a member who is not muted", on_user("unmute", "member")),
        Row("`ban` a member", sanction("ban", "member", until=None)),
        Row("`ban` a stranger", sanction("ban", "stranger", until=None)),
        Row("`unban` a user who is not banned", on_user("unban", "stranger")),
        Row("`removeMember` a member", sanction("removeMember", "member")),
        Row("`pin` a message", on_message("pin")),
        Row("`unpin` a message that is not pinned", on_message("unpin")),
        Row("`lockThread`", thread_command("lockThread")),
        Row("`unlockThread`", thread_command("unlockThread")),
        Row("`closeThread`", thread_command("closeThread")),
        Row("`setThreadPolicy` to open", set_policy("open")),
        Row("`setThreadPolicy` to inviteOnly", set_policy("inviteOnly")),
        Row("`renameThread`", rename_thread()),
        Row("`report` a member's message", on_message("report", reason=REASON)),
        Row("`report` a member's reply", on_reply("report", reason=REASON)),
        Row("`resolveReport` of a member's message", on_message("resolveReport")),
        Row("`resolveReport` of a member's reply", on_reply("resolveReport")),
        Row("`react` to a member's message", on_message("react", **REACTION)),
        Row("`unreact` without a reaction", on_message("unreact", **REACTION)),
        own("`unreact` an own reaction", on_message("unreact", **REACTION), early=react_to_message),
    ]


def leave_as_member(scene):
    scene.execute("leaveThread", thread=scene.thread, user=scene.member)


def leave_all_as_member(scene):
    leave_as_member(scene)
    # The member opened the hall: another one becomes an owner.
    scene.execute("setRole", thread=scene.hall, user=scene.stranger, role="owner", by=scene.member)
    scene.execute("leaveThread", thread=scene.hall, user=scene.member)


def resolve_if_reported(scene):
    if scene.state == "deciding operator":
        scene.execute("resolveReport", message=scene.message, by=scene.operator)


UNKNOWN = "ffffffff-0000-7000-8000-000000000001"
# Unknown users, one more than a text mentions.
CROWD = [f"ffffffff-0000-7000-8000-{number:012x}" for number in range(100, 151)]


# The commands that name another user.
OF_OUTSIDERS = [
    ("invite", "", lambda user: on_user("invite", user)), ("revokeInvitation", "of ", lambda user: on_user("revokeInvitation", user)),
    ("mute", "", lambda user: sanction("mute", user, until=None)), ("unmute", "", lambda user: on_user("unmute", user)),
    ("ban", "", lambda user: sanction("ban", user, until=None)), ("unban", "", lambda user: on_user("unban", user)),
    ("removeMember", "", lambda user: sanction("removeMember", user)), ("setRole", "of ", lambda user: set_role(user, "moderator")),
    ("block", "", lambda user: on_other("block", user=user)), ("unblock", "", lambda user: on_other("unblock", user=user)),
]


def further_rows():
    """The rows of the table of further cases. The thread is open, or the one that the row names."""
    return [
        # The history sinceJoining
        past("`reply` to a message before the join", reply_to()),
        past("`edit` an own message before the join", on_message("edit", "own", **EDIT), needs_own_posts=True),
        past("`edit` an own reply before the join", on_reply("edit", "own_reply", **EDIT), needs_own_posts=True),
        past("`pin` a message before the join", on_message("pin")),
        past("`report` a message before the join", on_message("report", reason=REASON)),
        past("`report` a reply before the join", on_reply("report", reason=REASON)),
        past("`report` a reply after the join to a message before it", on_reply("report", "later_reply", reason=REASON),
             before=post_later),
        past("`retract` an own message before the join", on_message("retract", "own"), needs_own_posts=True),
        past("`remove` a message before the join", on_message("remove", reason=REASON)),
        past("`unpin` a message before the join", on_message("unpin"), before=pin_message),
        past("`resolveReport` of a message before the join", on_message("resolveReport"), before=report_by_moderator),
        past("`reply` to a message before the join in a locked thread", reply_to(), late=step("lock")),
        past("`pin` a message before the join in a closed thread", on_message("pin"), late=step("close")),
        past("`report` a retracted message before the join", on_message("report", reason=REASON),
             before=retract_message),
        past("`reply` to a message after the join", reply_to("later_message"), before=post_later),
        past("`pin` a message after the join", on_message("pin", "later_message"), before=post_later),
        past("`report` a message after the join", on_message("report", "later_message", reason=REASON),
             before=post_later),
        past("`report` a reply to a message after the join", on_reply("report", "reply_to_later", reason=REASON),
             before=post_later),

        # Policies that change
        Row("`joinThread` after the policy became inviteOnly", oneself("joinThread"), before=policy("inviteOnly")),
        Row("`joinThread` after the policy became open", oneself("joinThread"), before=policy("open"), thread="inviteOnly"),
        Row("`setThreadPolicy` to inviteOnly after the policy became open", set_policy("inviteOnly"), before=policy("open"),
            thread="inviteOnly"),
        Row("`setThreadPolicy` to open and all after the history became sinceJoining", set_policy("open", history="all"),
            before=policy("open", "sinceJoining")),
        Row("`setThreadPolicy` to open and sinceJoining after the history became sinceJoining",
            set_policy("open", history="sinceJoining"), before=policy("open", "sinceJoining")),
        Row("`reply` to an earlier message after the history became sinceJoining", reply_to(),
            before=policy("open", "sinceJoining")),
        Row("`reply` to an earlier message after the history became sinceJoining and a new join", reply_to(),
            before=policy("open", "sinceJoining"), late=step("join_anew")),
        Row("`reply` to an earlier message after the policy became open and a new join", reply_to(), before=policy("open"),
            late=step("join_anew"), thread="inviteOnly"),
        Row("`reply` to a later message after the policy became open and a new join", reply_to("later_message"),
            before=steps(policy("open"), post_later), late=step("join_anew"), thread="inviteOnly"),
        Row("`remove` an earlier message after the policy became open", on_message("remove", reason=REASON),
            before=policy("open"), thread="inviteOnly"),

        # Posts that are retracted or removed, and replies
        Row("`reply` to a retracted message", reply_to(), before=retract_message),
        Row("`reply` to a removed message", reply_to(), before=remove_message),
        own("`edit` an own retracted message", on_message("edit", "own", **EDIT), before=retract_own),
        own("`edit` an own removed message", on_message("edit", "own", **EDIT), before=remove_own),
        Row("`edit` a member's retracted message", on_message("edit", **EDIT), before=retract_message),
        own("`edit` an own reply to a retracted message", on_reply("edit", "own_reply", **EDIT), before=retract_own),
        own("`edit` an own reply to a removed message", on_reply("edit", "own_reply", **EDIT), before=remove_own),
        Row("`retract` a member's retracted message", on_message("retract"), before=retract_message),
        own("`retract` a retracted message", on_message("retract", "own"), before=retract_own),
        own("`retract` a removed message", on_message("retract", "own"), before=remove_own),
        own("`retract` an own reply", on_reply("retract", "own_reply")),
        Row("`retract` a member's reply", on_reply("retract")),
        Row("`remove` a retracted message", on_message("remove", reason=REASON), before=retract_message),
        Row("`remove` a member's reply", on_reply("remove", reason=REASON)),
        Row("`pin` a retracted message", on_message("pin"), before=retract_message),
        Row("`pin` a retracted message in a closed thread", on_message("pin"), before=retract_message,
            late=step("close")),
        Row("`pin` a message that was unpinned", on_message("pin"), before=steps(pin_message, unpin_message)),
        Row("`pin` a removed message", on_message("pin"), before=remove_message),
        own("`pin` an own message", on_message("pin", "own")),
        Row("`unpin` a message that was pinned and retracted", on_message("unpin"),
            before=steps(pin_message, retract_message)),
        Row("`unpin` a message that was pinned and removed", on_message("unpin"),
            before=steps(pin_message, remove_message)),
        Row("`report` a retracted message", on_message("report", reason=REASON), before=retract_message),
        Row("`report` a removed message", on_message("report", reason=REASON), before=remove_message),
        own("`report` a message again after its removal", on_message("report", reason=REASON), early=report_message,
            before=remove_message),
        own("`report` a message again after the reports are resolved", on_message("report", reason=REASON),
            early=report_message,
            before=resolve_report),
        Row("`report` a message that another user reported", on_message("report", reason=REASON),
            before=report_by_moderator),
        Row("`report` a member's reply", on_reply("report", reason=REASON)),
        Row("`react` to a retracted message", on_message("react", **REACTION), before=retract_message),
        Row("`react` to a removed message", on_message("react", **REACTION), before=remove_message),
        Row("`react` to a member's reply", on_reply("react", **REACTION)),
        Row("`react` with another text than an emoji", on_message("react", emoji="ok")),
        Row("`react` to a retracted message with another text than an emoji", on_message("react", emoji="ok"), before=retract_message),
        own("`react` to an own message", on_message("react", "own", **REACTION)),
        Row("`unreact` with another text than an emoji", on_message("unreact", emoji="ok")),
        own("`unreact` a reaction to a message that is retracted", on_message("unreact", **REACTION), early=react_to_message,
            before=retract_message),
        own("`unreact` a reaction in a closed thread", on_message("unreact", **REACTION), early=react_to_message, late=step("close")),
        past("`react` to a message before the join", on_message("react", **REACTION)),
        Row("`resolveReport` of a reported reply", on_reply("resolveReport"),
            before=step("report", "moderator", reply="reply")),
        Row("`resolveReport` of a reported message that is removed", on_message("resolveReport"),
            before=steps(report_by_moderator, remove_message)),

        # Limits, and what outlasts a membership
        own("`react` with 20 own reactions", on_message("react", **REACTION), early=react_twenty_times),
        own("`react` again with 20 own reactions", on_message("react", emoji=":n0:"), early=react_twenty_times),
        Row("`react` to a message with 50 different reactions", on_message("react", **REACTION), before=step("react_fifty_times")),
        Row("`react` as others to a message with 50 different reactions", on_message("react", emoji=":n0:"),
            before=step("react_fifty_times")),
        Row("`pin` with 50 pins", on_message("pin"), before=step("pin_fifty")),
        Row("`pin` a pinned message with 50 pins", on_message("pin", "first_pin"), before=step("pin_fifty")),
        Row("`pin` with 50 pins, one of them retracted", on_message("pin"),
            before=steps(step("pin_fifty"), retract_first_pin)),
        Row("`pin` with 50 pins, one of them removed", on_message("pin"),
            before=steps(step("pin_fifty"), remove_first_pin)),
        Row("`postMessage` after a mute and a new join", post_message(),
            late=steps(step("mute_actor"), step("join_anew"))),
        Row("`mute` a member after a new join", sanction("mute", "member", until=None), late=step("join_anew")),
        Row("`acceptInvitation` after an invitation, a ban and its end", oneself("acceptInvitation"),
            before=step("end_invitation_by_ban"), thread="inviteOnly"),
        Row("`joinThread` after an invitation, a ban and its end", oneself("joinThread"),
            before=step("end_invitation_by_ban"),
            thread="inviteOnly"),
        Row("`acceptInvitation` after declining an invitation", oneself("acceptInvitation"),
            before=step("invite_and_decline")),
        Row("`mute` a muted member until another time", sanction("mute", "member", until=None),
            before=mute_member_until),
        Row("`ban` a banned user until another time", sanction("ban", "stranger", until=None),
            before=ban_stranger_until),
        Row("`unban` oneself after a ban", on_user("unban", "actor"), before=step("ban_actor")),
        Row("`mute` a muted moderator until the same time", sanction("mute", "moderator", until=None),
            before=mute_moderator),
        Row("`mute` an operator", sanction("mute", "operator", until=None)),
        Row("`ban` an operator", sanction("ban", "operator", until=None)),
        Row("`remove` an owner's message", on_message("remove", "hosts_message", reason=REASON), before=post_by_host),
        Row("`leaveThread` after moving into an outward code whose thread is locked", oneself("leaveThread"),
            before=steps(step("move_out"), step("lock")), late=step("move_in"), thread="residents"),
        Row("`leaveThread` after moving into an outward code whose thread is closed", oneself("leaveThread"),
            before=steps(step("move_out"), step("close")), late=step("move_in"), thread="residents"),
        Row("`block` a member who was unblocked", on_other("block"),
            before=steps(send(on_other("block")), send(on_other("unblock")))),
        Row("`block` oneself", on_other("block", user="actor")),

        # A thread that is locked and closed
        Row("`joinThread` in a locked and closed thread", oneself("joinThread"), late=step("lock_and_close")),
        Row("`acceptInvitation` in a locked and closed thread", oneself("acceptInvitation"),
            late=step("lock_and_close")),
        Row("`postMessage` in a locked and closed thread", post_message(), late=step("lock_and_close")),
        Row("`reply` in a locked and closed thread", reply_to(), late=step("lock_and_close")),
        own("`edit` in a locked and closed thread", on_message("edit", "own", **EDIT), late=step("lock_and_close")),
        Row("`custom` in a locked and closed thread", custom(), late=step("lock_and_close")),

        # Invalid fields
        Row("`changeUsername` to an invalid name", change_username(" ")),
        Row("`changeUsername` to the name of another user", change_username("{} host")),
        Row("`changeUsername` to the current name", change_username("{} actor")),
        Row("`setPostcode` to an invalid postcode", set_postcode("SW1A")),
        Row("`setPostcode` to the same postcode", set_postcode(ELSEWHERE), before=step("move_out")),
        Row("`openThread` with the policy residents", open_thread(policy="residents")),
        Row("`openThread` with an invalid name and the policy residents", open_thread(name=" ", policy="residents")),
        Row("`openThread` with the id of the thread", lambda scene: {
            "openThread": {"thread": scene.thread, "name": "Another thread", "by": scene.actor}}),
        Row("`renameThread` to an invalid name", rename_thread(" ")),
        Row("`renameThread` to an outward code", rename_thread("SW1A")),
        Row("`renameThread` to the same name", rename_thread(), before=send(lambda scene: {
            "renameThread": {"thread": scene.thread, "name": "Another name", "by": scene.host}})),
        Row("`openDirect` with oneself", open_direct("actor")),
        Row("`openDirect` with nobody", open_direct()),
        Row("`openDirect` with 8 others", open_direct("member", *CROWD[:7])),
        Row("`openDirect` with a member, twice, and oneself", open_direct("member", "actor", "member")),
        Row("`openDirect` with an unknown user", open_direct("member", UNKNOWN)),
        Row("`openDirect` with two members", open_direct("member", "host")),
        Row("`openDirect` with two members of whom one has blocked the other", open_direct("member", "host"), before=send(lambda scene: {
            "block": {"user": scene.host, "by": scene.member}})),
        Row("`openDirect` with a stranger", open_direct("stranger")),
        Row("`openDirect` with an operator", open_direct("operator")),
        Row("`openDirect` with a blocked member", open_direct("member"), before=send(on_other("block"))),
        Row("`openDirect` with a member who has blocked the user", open_direct("member"), before=send(lambda scene: {
            "block": {"user": scene.actor, "by": scene.member}})),
        Row("`openDirect` with the id of the thread", open_direct("member", thread="thread")),
        Row("`openDirect` with a stranger and the id of the thread", open_direct("stranger", thread="thread")),
        Row("`markRead` after the last position", oneself("markRead", upTo=1 << 40)),
        Row("`markUnread` after the last position", oneself("markUnread", **{"from": 1 << 40})),
        Row("`setNotifications` with an invalid until", oneself("setNotifications", level="none", until=PAST)),
        Row("`markInboxRead` after the last position", mark_inbox_read(1 << 40)),
        Row("`setProfile` to an invalid text", set_profile("about" * 101)),
        Row("`postMessage` with an invalid body", post_message(body=" \n ")),
        Row("`postMessage` mentioning members, one of them twice", mentioning(post_message(), "member", "host", "member")),
        Row("`postMessage` mentioning oneself", mentioning(post_message(), "actor")),
        Row("`postMessage` mentioning a stranger", mentioning(post_message(), "member", "stranger")),
        Row("`postMessage` mentioning an operator who is no member", mentioning(post_message(), "operator")),
        Row("`postMessage` mentioning an unknown user", mentioning(post_message(), UNKNOWN)),
        Row("`postMessage` mentioning 51 users", mentioning(post_message(), *CROWD)),
        Row("`postMessage` mentioning 51 users, with an invalid body", mentioning(post_message(body=" "), *CROWD)),
        own("`postMessage` repeated, mentioning a stranger", mentioning(post_message("own"), "stranger")),
        Row("`postMessage` with the id of a member's message", post_message("message")),
        Row("`postMessage` in an unknown thread", post_message(thread=UNKNOWN)),
        Row("`reply` with an invalid body", reply_to(body=" \n ")),
        Row("`reply` with an invalid body to a retracted message", reply_to(body=" \n "), before=retract_message),
        Row("`reply` mentioning a member", mentioning(reply_to(), "member")),
        Row("`reply` mentioning a stranger", mentioning(reply_to(), "stranger")),
        Row("`reply` mentioning 51 users", mentioning(reply_to(), *CROWD)),
        Row("`reply` to an unknown message", lambda scene: {"reply": {
            "reply": scene.new_id(), "message": UNKNOWN, "author": scene.actor, "body": "Yes"}}),
        Row("`reply` with the id of a member's reply", reply_to("message", "reply")),
        own("`edit` with an invalid body", on_message("edit", "own", body=" \n ")),
        own("`edit` with an invalid body of a retracted message", on_message("edit", "own", body=" \n "),
            before=retract_own),
        own("`edit` mentioning a member", mentioning(on_message("edit", "own", **EDIT), "member")),
        own("`edit` mentioning a stranger", mentioning(on_message("edit", "own", **EDIT), "stranger")),
        own("`edit` mentioning 51 users", mentioning(on_message("edit", "own", **EDIT), *CROWD)),
        Row("`edit` an unknown reply", lambda scene: {"edit": {"reply": UNKNOWN, "by": scene.actor, **EDIT}}),
        Row("`custom` with an invalid kind and payload", custom(kind="poll", payload="x" * 16_400)),
        Row("`custom` with an invalid payload", custom(payload="x" * 16_400)),
        Row("`custom` with the id of a member's custom event", custom(identifier="known_id"),
            before=send_custom("member")),
        Row("`remove` with an invalid reason", on_message("remove", **BLANK)),
        Row("`remove` a removed message with an invalid reason", on_message("remove", **BLANK), before=remove_message),
        Row("`mute` with an invalid reason and until", sanction("mute", "member", until=PAST, **BLANK)),
        Row("`mute` a moderator with an invalid reason", sanction("mute", "moderator", until=None, **BLANK)),
        Row("`mute` with an invalid until", sanction("mute", "member", until=PAST)),
        Row("`mute` until the same time with an invalid reason", sanction("mute", "member", until=LATER, **BLANK),
            before=mute_member_until),
        Row("`ban` with an invalid reason and until", sanction("ban", "member", until=PAST, **BLANK)),
        Row("`ban` a moderator with an invalid reason", sanction("ban", "moderator", until=None, **BLANK)),
        Row("`ban` with an invalid until", sanction("ban", "member", until=PAST)),
        Row("`ban` until the same time with an invalid reason", sanction("ban", "stranger", until=LATER, **BLANK),
            before=ban_stranger_until),
        Row("`ban` oneself as the only owner with an invalid reason", sanction("ban", "actor", until=None, **BLANK),
            as_only_owner=True),
        Row("`removeMember` with an invalid reason", sanction("removeMember", "member", **BLANK)),
        Row("`removeMember` a moderator with an invalid reason", sanction("removeMember", "moderator", **BLANK)),
        Row("`removeMember` a stranger with an invalid reason", sanction("removeMember", "stranger", **BLANK)),
        Row("`report` with an invalid reason", on_message("report", **BLANK)),
        own("`report` a message again with an invalid reason", on_message("report", **BLANK), early=report_message),
        Row("`invite` an unknown user", lambda scene: {
            "invite": {"thread": scene.thread, "user": UNKNOWN, "by": scene.actor}}),
        # Whom one does not know
        *(Row(f"`{name}` {of}a user whom nobody knows", command("outsider")) for name, of, command in OF_OUTSIDERS),
        *(Row(f"`{name}` {of}a user who was a member", command("outsider"), before=step("outsider_visits"))
          for name, of, command in OF_OUTSIDERS),
        *(Row(f"`{name}` {of}an author who has left", command("outsider"), before=step("outsider_posts"))
          for name, of, command in OF_OUTSIDERS),
        past("`block` an author who has left, of a message before the join", on_other("block", user="outsider"),
            early=step("outsider_posts")),
        Row("`mute` an invited user", sanction("mute", "stranger", until=None), before=step("invite", "stranger")),
        Row("`ban` an invited user", sanction("ban", "stranger", until=None), before=step("invite", "stranger")),
        Row("`pin` an unknown message", lambda scene: {"pin": {"message": UNKNOWN, "by": scene.actor}}),
        Row("`resolveReport` of an unknown reply", lambda scene: {
            "resolveReport": {"reply": UNKNOWN, "by": scene.actor}}),
    ]


USER_ROWS = [
    Row("`registerUser` with the user's id and name", register_user()),
    Row("`registerUser` with the user's id and another name", register_user("other")),
    Row("`registerUser` with another id and the user's name", register_user(identifier="session")),
    Row("`startSession`", start_session),
    Row("`startSession` repeated", start_session, before=send(start_session)),
    Row("`endSession` of the user's session", end_session, before=send(start_session)),
    Row("`endSession` of an ended session", end_session, before=steps(send(start_session), send(end_session))),
    Row("`grantOperator`", lambda scene: {"grantOperator": {"user": scene.user}}),
    Row("`revokeOperator`", lambda scene: {"revokeOperator": {"user": scene.user}}),
]
