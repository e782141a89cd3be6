"""People who talk while the server is killed: nothing acknowledged is lost, nothing is there twice, followers miss nothing."""

import json
import queue
import selectors
import threading
import time

import openapi
from server_client import PATIENCE, Connection, Failed, Server, Stream, identifier

WORKERS = 12
POOL = 24
BODIES = ["Could someone pick up milk?", "At noon.", "Dzi\u0119ki \U0001F95B", "x" * 900, "one\ntwo"]


class Conversation:
    """A thread of two people: the commands in order, what was acknowledged, and the followers."""

    def __init__(self, rng, people):
        first, second = rng.sample(people, 2)
        self.people, self.thread, self.steps = (first, second), identifier(rng), []
        self.answers, self.followers = [], []
        private = rng.random() < 0.5
        self.opening = [(first, {"openThread": {"thread": self.thread, "name": f"Talk {self.thread[:8]}", **({"policy": "inviteOnly"} if private else {})}})]
        if private:
            self.opening.append((first, {"invite": {"thread": self.thread, "user": second.id}}))
        self.opening.append((second, {"acceptInvitation" if private else "joinThread": {"thread": self.thread}}))
        messages, own = [], []
        for _ in range(rng.randrange(5, 10)):
            person, body = rng.choice(self.people), rng.choice(BODIES)
            if messages and rng.random() < 0.3:
                self.steps.append((person, {"reply": {"reply": identifier(rng), "message": rng.choice(messages), "body": body}}))
            elif own and rng.random() < 0.15:
                author, message = own.pop(rng.randrange(len(own)))
                self.steps.append((author, {"retract": {"message": message}}))
                messages.remove(message)
            else:
                message = identifier(rng)
                messages.append(message)
                own.append((person, message))
                self.steps.append((person, {"postMessage": {"message": message, "thread": self.thread, "body": body}}))


class Hub(threading.Thread):
    """Follows many streams in one thread, and reconnects each with its last id."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.streams, self.new = port, [], queue.SimpleQueue()
        self.selector, self.stopping, self.fault, self.reconnects = selectors.DefaultSelector(), False, None, 0

    def follow(self, person, thread, token):
        stream = Stream(self.port, person.token, thread=thread, last=token, connect=False)
        self.new.put(stream)
        return stream

    def run(self):
        try:
            while not self.stopping:
                while not self.new.empty():
                    self.streams.append(self.new.get())
                for stream in self.streams:
                    if stream.socket is None:
                        self.connect(stream)
                for key, _ in self.selector.select(0.05):
                    self.receive(key.data)
        except Exception as fault:  # a fault of this program or a wrong stream: raised again in the main thread
            self.fault = fault

    def connect(self, stream):
        stream.answer, stream.head, stream.text, stream.ended = None, b"", b"", False
        try:
            stream.connect(PATIENCE)
        except OSError:
            stream.socket = None  # the server does not run at this moment
            return
        stream.socket.setblocking(False)
        self.selector.register(stream.socket, selectors.EVENT_READ, stream)

    def receive(self, stream):
        try:
            data = stream.socket.recv(65536)
        except OSError:
            data = b""
        stream.feed(data)
        if stream.answer is not None and stream.answer.status not in (200, 503):
            raise Failed(f"a follower got {stream.answer}")
        if stream.ended:
            self.selector.unregister(stream.socket)
            stream.close()
            self.reconnects += 1


class Talk:
    def __init__(self, tool, scratch, rng, conversations, kills, kind):
        self.rng, self.kills = rng, kills
        self.server = kind(tool, scratch)
        self.count = conversations
        self.todo, self.faults = queue.SimpleQueue(), []
        self.acknowledged, self.repeats, self.lock = 0, 0, threading.Lock()

    def run(self):
        began = time.monotonic()
        self.server.start()
        with self.server.connection() as web:
            people = [self.server.person(web) for _ in range(min(POOL, 2 * self.count))]
            # Neighbours, who may invite one another.
            for person in people:
                web.post("/v1/commands", {"setPostcode": {"postcode": "SW1A 1AA"}}, person.token)
        self.conversations = [Conversation(self.rng, people) for _ in range(self.count)]
        total = sum(len(talk.opening) + len(talk.steps) for talk in self.conversations)
        for talk in self.conversations:
            self.todo.put(talk)
        self.hub = Hub(self.server.port)
        self.hub.start()
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        moments = sorted(self.rng.randrange(total * 9 // 10) for _ in range(self.kills))
        for moment in moments:
            self.wait(lambda: self.acknowledged >= moment, f"{moment} of {total} answers")
            time.sleep(self.rng.random() * 0.02)
            self.server.kill()
            self.server.start()
        self.wait(lambda: not any(worker.is_alive() for worker in workers), "the end of the conversations")
        last = {talk.thread: max(event["position"] for answer in talk.answers for event in answer["events"]) for talk in self.conversations}
        self.wait(lambda: all(self.reached(follower, last[talk.thread]) for talk in self.conversations for follower in talk.followers), "every follower")
        self.hub.stopping = True
        self.hub.join()
        self.server.stop()
        events = self.check()
        self.server.verify()
        print(f"conversations: {self.count} conversations of two people, {self.kills} kills, {self.acknowledged} answers, {events} events, "
              f"{2 * self.count} followers that reconnected {self.hub.reconnects} times: 0 lost, 0 twice, {self.repeats} commands sent again, "
              f"{time.monotonic() - began:.1f} s", flush=True)

    @staticmethod
    def reached(follower, position):
        last = next((data for _, event, data in reversed(follower.blocks) if event == "message" and data), None)
        return last is not None and json.loads(last)["position"] >= position

    def wait(self, condition, what):
        """Waits while anything goes on: fails if no command is answered and no event arrives for a long time."""
        progress, since = None, time.monotonic()
        while not condition():
            if self.faults or self.hub.fault:
                raise self.faults[0] if self.faults else self.hub.fault
            now, reached = time.monotonic(), (self.acknowledged, sum(stream.count for stream in self.hub.streams))
            if reached != progress:
                progress, since = reached, now
            elif now - since > PATIENCE:
                raise Failed(f"nothing has happened for {PATIENCE} s: {what}")
            time.sleep(0.002)
        if self.faults or self.hub.fault:
            raise self.faults[0] if self.faults else self.hub.fault

    def work(self):
        try:
            with Connection(self.server.port) as web:
                while not self.todo.empty():
                    try:
                        talk = self.todo.get_nowait()
                    except queue.Empty:
                        return
                    for person, command in talk.opening:
                        talk.answers.append(self.send(web, person, command))
                    answer = self.persist(web, lambda: web.ask("GET", f"/v1/threads/{talk.thread}/timeline", token=talk.people[0].token))
                    token = answer.header("Resume-Token")
                    talk.followers = [self.hub.follow(person, talk.thread, token) for person in talk.people]
                    talk.start = int(token.split("-")[1])
                    for person, command in talk.steps:
                        talk.answers.append(self.send(web, person, command))
        except Exception as fault:  # raised again in the main thread
            self.faults.append(fault)

    def send(self, web, person, command):
        answer = self.persist(web, lambda: web.ask("POST", "/v1/commands", command, person.token)).json()
        if "rejection" in answer:
            raise Failed(f"{command}: {answer}")
        with self.lock:
            self.acknowledged += 1
        return dict(answer, command=command)

    def persist(self, web, ask):
        """Repeats a request until the server answers it."""
        while True:
            try:
                answer = ask()
                if answer.status == 200:
                    return answer
                if answer.status != 503:
                    raise Failed(f"a request of a conversation: {answer}")
            except (OSError, Failed) as fault:
                web.close()
                if isinstance(fault, Failed):
                    raise
            self.repeats += 1
            time.sleep(0.02)

    # The remaining journal

    def check(self):
        events = self.server.events()
        by_thread, created = {}, {}
        for event in events:
            kind = next(key for key, value in event.items() if isinstance(value, dict))
            fields = event[kind]
            by_thread.setdefault(fields.get("thread"), []).append((event["position"], kind, fields))
            identity = {"messagePosted": "message", "replyPosted": "reply", "threadOpened": "thread"}.get(kind)
            if identity:
                if (kind, fields[identity]) in created:
                    raise Failed(f"twice in the journal: {event}")
                created[kind, fields[identity]] = event["position"]
        for talk in self.conversations:
            self.check_answers(talk, events)
            expected = by_thread[talk.thread]
            commands = [next(iter(command)) for _, command in talk.opening + talk.steps]
            # openThread appends two or three events, every other command one.
            private = "invite" in commands
            if len(expected) != len(commands) + (2 if private else 1):
                raise Failed(f"the thread {talk.thread} has {len(expected)} events of {len(commands)} commands: {expected}")
            self.check_followers(talk, [event for event in expected if event[0] > talk.start])
        return len(events)

    @staticmethod
    def check_answers(talk, events):
        for answer in talk.answers:
            for event in answer["events"]:
                if event["position"] > len(events) or events[event["position"] - 1] != event:
                    raise Failed(f"acknowledged, but not in the journal: {event}; there is {events[event['position'] - 1:event['position']]}")
            if not answer["events"] and next(iter(answer["command"])) in ("openThread", "postMessage", "reply"):
                raise Failed(f"acknowledged without an event: {answer}")

    @staticmethod
    def check_followers(talk, expected):
        for follower in talk.followers:
            seen = []
            for event in map(openapi.parse_json, (data.encode() for _, name, data in follower.blocks if name == "message" and data)):
                kind = next(key for key, value in event.items() if isinstance(value, dict))
                seen.append((event["position"], kind, event[kind]))
            if [event[:2] for event in seen] != [event[:2] for event in expected]:
                raise Failed(f"a follower of {talk.thread} saw {[event[:2] for event in seen]}, the thread has {[event[:2] for event in expected]}")
            retracted = {fields["message"] for _, kind, fields in expected if kind == "messageRetracted"}
            for (position, kind, fields), (_, _, journal) in zip(seen, expected):
                hidden = kind == "messagePosted" and fields["message"] in retracted and fields["body"] is None
                if fields != (dict(journal, body=None) if hidden else journal):
                    raise Failed(f"a follower saw at {position} {fields}, the journal has {journal}")


def check(tool, scratch, rng, conversations, kills, kind=Server):
    Talk(tool, scratch, rng, conversations, kills, kind).run()
