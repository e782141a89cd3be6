"""The modules of the page that compute, in a browser: ids, the marks in texts, and the counts of the chart."""

import json
import re

from conversation import people
from harness import Failed, wait
from server_mentions import MEMBERS, ROWS, compare, register

SCRIPT = """
const done = arguments[0];
Promise.all(["/ids.js", "/format.js", "/activity.js", "/markdown.js"].map((path) => import(path))).then(([ids, format, activity, { markdown, plainText }]) => {
  const made = Array.from({ length: 10000 }, () => ids.newID());
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const body = (text) => {
    const element = document.createElement("div");
    element.append(...markdown(text, [{ id: "1", name: "Ann B", isMe: true }, { id: "2", name: "Ann" }]));
    return element;
  };
  const links = (text) => [...body(text).querySelectorAll("a")].map((link) => link.getAttribute("href"));
  /** The marks without the properties of links that are always the same. */
  const marked = (text) => body(text).innerHTML.replaceAll(' rel="noopener noreferrer nofollow ugc" target="_blank"', "").replaceAll(' dir="ltr"', "").replaceAll(/<\/?bdi>/g, "");
  const long = {
    stars: "*a ".repeat(5_400), marks: "*_~~**__".repeat(2_000), ticks: Array.from({ length: 170 }, (_, index) => "`".repeat(index + 1) + "a").join(""), quotes: ">".repeat(16_000),
    brackets: "https://a" + ")".repeat(16_000), labels: "[a](".repeat(4_000), dots: "a.".repeat(8_000), items: "- a\\n".repeat(4_000), fences: "```\\n".repeat(4_000),
    nested: Array.from({ length: 120 }, (_, index) => "  ".repeat(index) + "- a").join("\\n"), addresses: "http://a/".repeat(1_800), names: "@Ann ".repeat(3_200),
    lines: "a" + "\\n".repeat(16_000) + "b", code: "` " + "a".repeat(15_990) + "`",
  };
  const texts = ["https://a.example/b?c=d.", "(http://a.example)", "javascript:alert(1)", "data:text/html,x", "https://user@a.example", "http://a.example\\u202e/gpj.exe",
                 "HTTPS://A.example", "https://", "ftp://a.example", "xhttps://a.example", "https://a.example/(b)", "https://a.example\\u200b.evil.example",
                 "(see https://a.example/(b)).", "[https://a.example/[c]]", "see (https://a.example/b), or"];
  done({
    shapes: made.every((id) => shape.test(id)), ascends: made.every((id, index) => index === 0 || id > made[index - 1]),
    time: Number.parseInt(ids.newID(Date.UTC(2050, 0, 1)).replaceAll("-", "").slice(0, 12), 16) === Date.UTC(2050, 0, 1),
    links: texts.map(links), unchanged: texts.every((text) => body(text).textContent === text),
    marked: MARKED.map(marked), plain: plainText("**a** `b`\\n- [c](https://d.example)\\n1) e\\n\\n30. f"),
    // Each of the longest texts is shown, to whatever depth it has marks inside marks.
    long: Object.entries(long).filter(([, text]) => body(text).textContent.replace(/[^a-z]/giu, "") !== text.replace(/[^a-z]/giu, "")).map(([name]) => name),
    days: activity.messagesByDay({ from: "2026-03-03", to: "2026-03-30", days: [["2026-03-03", 1], ["2026-03-29", 1], ["2026-03-30", 2]].map(([day, messages]) => ({ day, messages })) })
      .map(({ number }) => number),
    // Each row of the table of mentions: the names that are drawn.
    drawn: MENTIONS.map(([text]) => {
      const element = document.createElement("div");
      element.append(...markdown(text, MEMBERS.map((name) => ({ id: name, name }))));
      return [...new Set([...element.querySelectorAll(".mention")].map((span) => span.dataset.user))];
    }),
    excerpt: format.excerpt("a\\n\\n b   c " + "\\u{1F95B}".repeat(200), 8),
  });
}, (error) => done({ error: String(error) }));
"""

# Texts of messages, and the elements that are made of them.
MARKED = {
    "*b* **c** ***d*** _e_ __f__ ~~g~~": "<em>b</em> <strong>c</strong> <strong><em>d</em></strong> <em>e</em> <strong>f</strong> <del>g</del>",
    "2*3*4 snake_case_name a * b * c **": "2*3*4 snake_case_name a * b * c **",
    "**a *b* c** *a **b* c**": "<strong>a <em>b</em> c</strong> <em>a **b</em> c**",
    "\u4e2d**\u6587**\u4e2d (*x*)": "\u4e2d<strong>\u6587</strong>\u4e2d (<em>x</em>)",
    "\\*not\\* \u00af\\_(\u30c4)_/\u00af": "*not* \u00af\\_(\u30c4)_/\u00af",
    "`*x*` ``a`b`` `open": "<code>*x*</code> <code>a`b</code> `open",
    "```js\nlet *a*\n```\nafter\n```": "<pre><code>let *a*</code></pre>after\n```",
    "> q\n> > r\n> - l\nend": "<blockquote>q<blockquote>r</blockquote><ul><li>l</li></ul></blockquote>end",
    "- a\n- b *c*\n  - d\n\n3. x\n4. y": "<ul><li>a</li><li>b <em>c</em><ul><li>d</li></ul></li></ul><ol><li value=\"3\">x</li><li value=\"4\">y</li></ol>",
    "1) a\n3) b\n7. c": '<ol class="bracket"><li value="1">a</li><li value="3">b</li></ol><ol><li value="7">c</li></ol>',
    "- 5\n+ 3,5 \u00b0C\n\n* 5\n\n100. 30. May": "- 5\n+ 3,5 \u00b0C<ul><li>5</li></ul>100. 30. May",
    "- 5 eggs\n- milk\n  - 7\n- -1": "<ul><li>5 eggs</li><li>milk\n- 7</li><li>-1</li></ul>",
    ">_<\n>:( x\n>\n>>\n> >_<\n>\n>> s": "&gt;_&lt;\n&gt;:( x\n&gt;\n&gt;&gt;<blockquote>&gt;_&lt;<blockquote>s</blockquote></blockquote>",
    "a\n\nb\n": "a\n\nb",
    "<b>x</b> &amp; <img src=x onerror=alert(1)>": "&lt;b&gt;x&lt;/b&gt; &amp;amp; &lt;img src=x onerror=alert(1)&gt;",
    "[text](https://a.example/b)": '<a href="https://a.example/b">text</a><span class="host"> (a.example)</span>',
    "[a.example](https://a.example)": '<a href="https://a.example/">a.example</a>',
    "[https://good.example](https://evil.example/)": '<a href="https://evil.example/">https://good.example</a><span class="host"> (evil.example)</span>',
    "[https://good.example/?evil.example](https://evil.example/)": '<a href="https://evil.example/">https://good.example/?evil.example</a><span class="host"> (evil.example)</span>',
    "[https://bank.com](https://k.com)": '<a href="https://k.com/">https://bank.com</a><span class="host"> (k.com)</span>',
    "[see a.example](https://a.example)": '<a href="https://a.example/">see a.example</a><span class="host"> (a.example)</span>',
    "https://\u0430pple.com/b": '<a href="https://xn--pple-43d.com/b">https://\u0430pple.com/b</a><span class="host"> (xn--pple-43d.com)</span>',
    "[\u202egro.knab](https://a.example)": '[\u202egro.knab](<a href="https://a.example/">https://a.example</a>)',
    "[x](javascript:alert(1)) [y](https://u@a.example)": "[x](javascript:alert(1)) [y](https://u@a.example)",
    "example.org/b, www.foo.co.uk. file.txt bob@example.org": '<a href="https://example.org/b">example.org/b</a>, <a href="https://www.foo.co.uk/">www.foo.co.uk</a>. file.txt bob@example.org',
    "**https://a.example**": '<strong><a href="https://a.example/">https://a.example</a></strong>',
    "@Ann B, (@Ann) @Anna x@Ann": '<span class="mention me" data-user="1">@Ann B</span>, (<span class="mention" data-user="2">@Ann</span>) @Anna x@Ann',
}

# The texts with the people whom the server finds in them. The page draws a name that is written as it is, in any case, and
# takes marks such as _ away before.
WRITTEN_OTHERWISE = {"@e\u0301mile", "@Ann  Lee", "@Ann\u00a0Lee", "@Ann\nLee", "> @Ann\n> Lee", "@Ann\u200dx", "@A\u200dnn", "@STRASSE", "@Sam\t\tHill"}
MENTIONS = [(text, names) for text, names in ROWS if text not in WRITTEN_OTHERWISE and not re.search(r"_@|_x$|__", text)]

SCRIPT = SCRIPT.replace("MARKED", json.dumps(list(MARKED))).replace("MENTIONS", json.dumps(MENTIONS)).replace("MEMBERS", json.dumps(MEMBERS))

# Events that arrive while a page is read, and are not in it: the answer is given after the event.
RACES = """
const done = arguments[0];
const { Timeline } = await import("/timeline.js");
let answer = null;
/** What answers each request, by its address. */
let answers = new Map();
window.fetch = (address) => new Promise((resolve) => {
  answer = (items, older = null, newer = 9) => resolve(new Response(JSON.stringify({ items, older, newer })));
  answers.set(address.split("?")[1], answer);
});
const entry = (position, body) => ({
  position, id: "m" + position, thread: "t", author: { id: "a", username: "A" }, body, createdAt: "2026-11-24T10:00:00.000Z", editedAt: null, retracted: false, replyCount: 0,
});
const posted = (position, body) => ({
  kind: "messagePosted", fields: { thread: "t", message: "m" + position, author: "a", body }, event: { position, recordedAt: "2026-11-24T10:00:00.000Z" },
});
const edited = (position, message, body) => ({
  kind: "messageEdited", fields: { thread: "t", message, by: "a", body }, event: { position, recordedAt: "2026-11-24T10:00:01.000Z" },
});
const texts = (timeline) => timeline.entries.map(({ body }) => body).join(" ");
const found = {};
const timeline = new Timeline("message", "t");
let loading = timeline.load();
timeline.apply(posted(22, "c"));
timeline.apply(edited(23, "m21", "B"));
answer([entry(20, "a"), entry(21, "b")], 20);
await loading;
found.first = texts(timeline);
loading = timeline.load();
timeline.apply(posted(24, "d"));
answer([entry(20, "a"), entry(21, "B"), entry(22, "c")], 20);
await loading;
found.again = texts(timeline);
loading = timeline.loadOlder();
timeline.apply(edited(25, "m10", "Z"));
answer([entry(10, "z")], null);
await loading;
found.older = texts(timeline);
loading = timeline.refresh(timeline.byID.get("m22"));
timeline.apply(edited(26, "m22", "C"));
answer([entry(22, "c")]);
await loading;
found.one = texts(timeline);
const behind = new Timeline("message", "t");
loading = behind.load();
answer([entry(20, "a")], 20);
await loading;
behind.apply(posted(15, "y"));
found.behind = texts(behind);
// The part around a position has two answers. An event can be in neither.
const around = new Timeline("message", "t");
loading = around.loadAround(50);
around.apply(edited(90, "m40", "C"));
answers.get("limit=30&before=50")([entry(40, "c")], 40);
await new Promise((resolve) => setTimeout(resolve, 50));
const after = () => [...answers.keys()].find((query) => query.endsWith("after=49"));
answers.get(after())(Array.from({ length: 100 }, (_, index) => entry(50 + index, "x")), null, 149);
await loading;
found.around = [around.byID.get("m40").body, around.entries.length, around.newer];
// What is posted beyond the part is not in it.
around.apply(posted(300, "later"));
found.beyond = around.byID.has("m300");
// The end is shown while a newer page and an older one are on their way: they belong to what was shown before.
const newer = around.loadNewer();
const [toNewer, older] = [answer, around.loadOlder()];
const toOlder = answer;
loading = around.load();
answer([entry(299, "y"), entry(300, "later")], 299);
await loading;
toNewer([entry(150, "gap")], null, 150);
toOlder([entry(10, "gap")], null);
await Promise.all([newer, older]);
found.end = [texts(around), around.older, around.newer];
done(found);
"""

RACED = {"first": "a B c", "again": "a B c d", "older": "Z a B c d", "one": "Z a B C d", "behind": "a",
         "around": ["C", 101, 149], "beyond": False, "end": ["y later", 299, None]}

# The outbox, against a server whose answers are lost, rejected or refused.
OUTBOX = """
const done = arguments[0];
const outbox = await import("/outbox.js");
const requests = [];
let answers = [];
// No item is sent again by itself: a timer of the outbox would be another request at any moment.
const setTimer = window.setTimeout.bind(window);
window.setTimeout = (body, delay) => delay < 300 ? setTimer(body, delay) : 0;
window.fetch = async (path, { body }) => {
  const commands = JSON.parse(body).map((command) => command.postMessage ?? command.reply);
  requests.push(commands.map(({ message, reply, body }) => [reply ?? message, body]));
  const answer = answers.shift();
  if (!answer) throw new TypeError("no connection");
  return answer(commands);
};
const accept = (commands) => new Response(JSON.stringify(commands.map((_, index) => ({ line: index + 1, positions: null, events: [], duplicate: true }))));
const reject = (commands) => new Response(JSON.stringify(commands.map((command) => command.body === "muted" ? { rejection: { code: "muted", message: "You are muted." } } : { positions: null, events: [] })));
const refuse = (status, code) => () => new Response(JSON.stringify({ status, code, detail: code }), { status });
// Waits until the outbox neither sends nor is about to: it sends under a lock, and what follows a run begins at once.
const idle = async () => {
  let locks;
  do {
    await navigator.locks.request("chat-outbox", () => {});
    await new Promise((resolve) => setTimer(resolve, 20));
    locks = await navigator.locks.query();
  } while ([...locks.held, ...locks.pending].some(({ name }) => name === "chat-outbox"));
};
const found = {};
await outbox.clear("u");
await outbox.start("u");
await idle();
await outbox.add({ id: "1", thread: "t", body: "a" });
await idle();
await outbox.add({ id: "2", thread: "t", message: "m", body: "b" });
await idle();
answers = [refuse(503, "busy"), accept];
outbox.flush();
await idle();
outbox.flush();
await idle();
found.lost = requests.splice(0);
answers = [reject];
await outbox.add({ id: "3", thread: "t", body: "muted" });
await idle();
found.rejected = outbox.waitingIn("t").map(({ id, rejection }) => [id, rejection.code]);
answers = [accept];
await outbox.add({ id: "4", thread: "t", body: "c" });
await idle();
found.goesOn = [requests.splice(0).at(-1), outbox.waitingCount()];
await outbox.drop(outbox.waitingIn("t")[0]);
await outbox.add({ id: "5", thread: "t", body: "d" });
await idle();
await outbox.add({ id: "6", thread: "t", body: "e" });
await idle();
answers = [refuse(400, "invalidValue"), refuse(400, "invalidValue"), accept];
outbox.flush();
await idle();
found.hopeless = [requests.at(-1), outbox.waitingIn("t").map(({ id, rejection }) => [id, rejection.code])];
await outbox.clear("u");
requests.length = 0;
answers = [refuse(401, "notSignedIn")];
await outbox.add({ id: "7", thread: "t", body: "f" });
await idle();
outbox.stop();
await outbox.start("other");
await idle();
found.other = [requests.length, outbox.waitingCount()];
answers = [accept];
await outbox.start("u");
await idle();
found.later = requests.at(-1);
outbox.stop();
window.setTimeout = setTimer;
done(found);
"""

SENT = {
    # The same ids in the same order until there is an answer.
    "lost": [[["1", "a"]], [["1", "a"], ["2", "b"]], [["1", "a"], ["2", "b"]], [["1", "a"], ["2", "b"]]],
    "rejected": [["3", "muted"]], "goesOn": [[["4", "c"]], 1], "hopeless": [[["6", "e"]], [["5", "invalidValue"]]], "other": [1, 0], "later": [["7", "f"]],
}

# What the page keeps of a user, against a server that answers when it is told to.
STORE = """
const done = arguments[0];
const store = await import("/store.js");
const api = await import("/api.js");
const { sidebar } = await import("/threads.js");
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
const until = async (condition) => { for (let turn = 0; turn < 200 && !condition(); turn += 1) await settle(); };
let waiting = [];
window.fetch = (path, options) => new Promise((resolve) => {
  waiting.push({ path, options, answer: (value, status = 200) => resolve(new Response(JSON.stringify(value), { status })) });
});
const me = (id, ...threads) => ({ id, username: id.toUpperCase(), threads: threads.map((thread) => ({ id: thread, unread: 0, readUpTo: 0, lastMessage: null })) });
const summary = (id, name) => ({ id, name, lastPosition: 1 });
// Answers the four requests of a reading. The list of threads is complete without an older page.
const answer = (user, items, older = null) => {
  for (const request of waiting.splice(0)) {
    if (request.path === "/v1/me") request.answer(user);
    else if (request.path.startsWith("/v1/threads")) request.answer({ items, older, newer: null });
    else request.answer({ items: [], older: null, unread: { count: 0 } });
  }
};
const paths = () => waiting.map(({ path }) => path.split("?")[0]).sort();
const found = {};

// The first person signs out while an answer is on its way.
let loading = store.load();
await settle();
store.forget();
answer(me("ann", "t1"), [summary("t1", "Ann's")]);
await loading;
found.late = [store.state.me, store.state.threads.size, store.state.names.size];

// A thread that the user has left, with a list that is too long for one page.
loading = store.load();
await settle();
answer(me("bob", "t1", "t2"), [summary("t1", "One"), summary("t2", "Two")]);
await loading;
found.loaded = [...store.state.threads.keys()];
store.state.isOperator = false;
store.apply({ position: 9, memberRemoved: { thread: "t2", user: "cal" } });
store.apply({ position: 10, threadLeft: { thread: "t1", user: "bob" } });
await until(() => waiting.length === 4);
answer(me("bob", "t2"), [summary("t2", "Two")], 5);
await until(() => store.state.threads.size === 1);
found.left = [...store.state.threads.keys()];

// Events were missed while a part is read: everything is read after it.
store.refreshSoon({ delay: 0 });
await until(() => waiting.length === 4);
store.refreshSoon({ delay: 0, isComplete: true });
answer(me("bob", "t2"), [summary("t2", "Two")], 5);
await until(() => waiting.length === 4);
answer(me("bob", "t2"), [summary("t2", "Two")], 5);
await until(() => waiting.length === 1);
found.missed = paths();
answer(me("bob", "t2"), [], null);

// A direct thread has the names of the other people, also after a change of name and an erasure; a thread is renamed.
const names = () => [...store.state.threads.values()].map(store.threadName);
const user = me("bob", "t3", "t4");
user.threads[0].name = "Old";
Object.assign(user.threads[1], { name: null, people: [{ id: "bob", username: "BOB" }, { id: "ann", username: "Ann" }, { id: "cal", username: "Cal" }] });
loading = store.load();
await until(() => waiting.length === 4);
answer(user, []);
await loading;
found.names = [names()];
store.apply({ position: 11, usernameChanged: { user: "ann", username: "Anne" } });
store.apply({ position: 12, threadRenamed: { thread: "t3", number: 2, name: null, by: "bob" } });
store.apply({ position: 13, threadRenamed: { thread: "t3", number: 3, name: "New", by: "bob" } });
found.names.push(names());
store.apply({ position: 14, threadPolicySet: { thread: "t3", number: 4, policy: "listed", history: "all", by: "bob" } });
found.policies = [store.state.threads.get("t3").policy];
store.apply({ position: 15, threadPolicySet: { thread: "t3", number: 5, policy: "open", history: "all", by: "bob" } });
found.policies.push(store.state.threads.get("t3").policy ?? null);
store.forgetErased({ messages: [], replies: [], namelessUsers: ["cal"], namelessThreads: [] });
found.names.push(names());
await until(() => waiting.length === 4);
answer(me("bob", "t2"), [summary("t2", "Two")]);
await until(() => store.state.threads.has("t2"));

// What an event takes away is in no list at once, also if an answer was asked for before it.
const taker = me("bob", "t5");
taker.threads[0].lastMessage = { id: "m1", position: 20, body: "Secret", author: { id: "ann", username: "Anne" }, createdAt: "2026-01-01T00:00:00Z" };
const shown = () => { const { body, author } = store.state.threads.get("t5").lastMessage; return [body, author.username]; };
loading = store.load();
await until(() => waiting.length === 4);
answer(taker, [summary("t5", "Five")]);
await loading;
found.taken = [shown()];
store.apply({ position: 21, recordedAt: "2026-01-01T00:00:00Z", messageEdited: { thread: "t5", message: "m1", author: "ann", body: "Other" } });
store.apply({ position: 22, usernameChanged: { user: "ann", username: "Ann" } });
found.taken.push(shown());
await until(() => waiting.length === 4);
store.apply({ position: 23, messageRetracted: { thread: "t5", message: "m1", author: "ann" } });
store.apply({ position: 24, usernameChanged: { user: "ann", username: "Ann B" } });
answer(taker, [summary("t5", "Five")]);
await until(() => waiting.length === 4);
found.taken.push(shown());
answer(me("bob", "t2"), [summary("t2", "Two")]);
await until(() => store.state.threads.has("t2"));

// The lists of earlier sign-ins show nothing.
const lists = [sidebar("First"), sidebar("Second")];
lists[0].close?.();
loading = store.load();
await until(() => waiting.length === 4);
answer(me("bob", "t2"), [summary("t2", "Two")]);
await loading;
found.lists = lists.map(({ element }) => element.querySelectorAll("li").length);
lists[1].close?.();

// Whether a person is an operator is asked again for the next one.
store.forget();
found.operator = store.state.isOperator;

// A request that can take minutes has no time limit of its own.
for (const limit of [undefined, null]) api.post("/v1/x", {}, ...(limit === null ? [{ timeLimit: null }] : [])).catch(() => {});
await settle();
found.limits = waiting.map(({ options }) => Boolean(options.signal));
done(found);
"""

# Commands, against a server whose answers are lost or refused: the ids beside them, in the order of the requests.
COMMANDS = """
const done = arguments[0];
const store = await import("/store.js");
const { execute } = await import("/commands.js");
const ids = [];
let answers = [];
window.fetch = async (path, { body }) => {
  const { once = null } = JSON.parse(body);
  ids.push(once);
  const answer = answers.shift();
  if (!answer) throw new TypeError("no connection");
  return new Response(JSON.stringify(answer.value ?? { status: answer.status, code: "x", detail: "x" }), { status: answer.status ?? 200 });
};
const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const accepted = { value: { positions: null, events: [] } };
const again = { value: { positions: null, events: [{ position: 9, userBlocked: { user: "cal", by: "u" } }], duplicate: true } };
const rejected = { value: { rejection: { code: "banned", message: "x" } } };
store.state.me = { id: "u" };
const join = (thread = "t") => execute("joinThread", { thread }).catch(() => {});
/** Which of the requests since the last call have the same id: numbers from 0, null for none. */
const pattern = () => {
  const taken = ids.splice(0);
  return taken.map((id) => (id === null ? null : shape.test(id) ? taken.indexOf(id) : "no id"));
};
const found = {};
// Each of these leaves open whether the first one took effect, up to the last one.
answers = [null, { status: 502 }, { status: 503 }, { status: 504 }, { status: 429 }, { status: 401 }, accepted, accepted];
for (let turn = 0; turn < 8; turn += 1) await join();
found.open = pattern();
answers = [null, rejected, null, again, null, { status: 400 }, accepted];
for (let turn = 0; turn < 7; turn += 1) await join();
found.decided = pattern();
// The events of a duplicate may have been undone since.
found.blocked = store.state.blocked.has("cal");
// Two at once are one; another thread and another user have another one.
answers = [accepted, accepted];
await Promise.all([join(), join()]);
await join();
await join("t2");
store.state.me = { id: "v" };
await join();
found.others = pattern();
// A command of which the event tells that it took effect, and another one about the same after it, is wanted anew.
answers = [null, accepted, accepted];
await join("t3");
store.apply({ position: 1, once: ids.at(-1), threadJoined: { thread: "t3", user: "v" } });
await execute("leaveThread", { thread: "t3" });
await join("t3");
found.anew = pattern();
answers = [accepted, accepted, accepted, accepted, accepted, accepted];
for (const name of ["markRead", "markUnread", "react", "unreact", "markInboxRead", "edit"]) await execute(name, {});
found.without = pattern();
done(found);
"""

ONCE = {
    "open": [0, 0, 0, 0, 0, 0, 0, 7], "decided": [0, 0, 2, 2, 4, 4, 6], "blocked": False, "others": [0, 0, 2, 3, 4], "anew": [0, 1, 2], "without": [None] * 6,
}

KEPT = {
    "late": [None, 0, 0], "loaded": ["t1", "t2"], "left": ["t2"], "missed": ["/v1/threads"], "lists": [0, 1],
    "names": [["Old", "Ann, Cal"], ["New", "Anne, Cal"], ["New", "Anne, Deleted account"]], "policies": ["listed", None], "taken": [["Secret", "Anne"], ["Other", "Ann"], [None, "Ann B"]], "operator": None, "limits": [True, False],
}

EXPECTED = {
    "marked": list(MARKED.values()), "plain": "a b\nc (d.example)\n1) e\n30. f", "long": [],
    "drawn": [names for _, names in MENTIONS], "shapes": True, "ascends": True, "time": True, "unchanged": True,
    "links": [["https://a.example/b?c=d"], ["http://a.example/"], [], [], [], ["http://a.example/"], ["https://a.example/"], [], [], [],
              ["https://a.example/(b)"], ["https://a.example/"], ["https://a.example/(b)"], ["https://a.example/[c]"],
              ["https://a.example/b"]],
    # The last of March of 2026 has a day of 23 hours in most of Europe.
    "days": [1] + [0] * 25 + [1, 2], "excerpt": "a b c \U0001F95B\u2026",
}


# Texts that the page sends by its outbox.
SEND = """
return (async (user, thread, bodies) => {
  const [{ add, start }, { newID }] = [await import("/outbox.js"), await import("/ids.js")];
  await start(user);
  for (const body of bodies) await add({ id: newID(), thread, body });
})(...arguments);
"""


def named(writer, thread, names):
    """The texts that the page sends mention the people of the table."""
    writer.check()
    # The scripts above have replaced functions of the window.
    writer.driver.refresh()
    writer.sign_up("Writer")
    writer.commands([{"joinThread": {"thread": thread}}])
    writer.run(SEND, writer.id, thread, [text for text, _ in ROWS])
    sent = wait("the texts are sent", lambda: len(posts := writer.timeline(thread)) == len(ROWS) and posts)
    compare("the page", [post.get("mentions", []) for post in sent], names)


def run(tool, directory):
    """Compares what the modules compute. Returns the number of results."""
    thread, names = register(tool, str(directory / "server" / "journal"))
    with people(tool, directory, ["Ann"]) as (_, (ann,)):
        ann.open("sign-in")
        ann.see("Sign in", "h1")
        ann.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Europe/London"})
        found = ann.driver.execute_async_script(SCRIPT)
        for name, value in EXPECTED.items():
            if found.get(name) != value:
                raise Failed(f"{name}: {found.get(name, found)}, not {value}")
        for what, script, expected in (("events during a request", RACES, RACED), ("the outbox", OUTBOX, SENT), ("the store", STORE, KEPT), ("commands", COMMANDS, ONCE)):
            found = ann.driver.execute_async_script(
                f"(async (...arguments) => {{ {script} }})(arguments[0]).catch((error) => arguments[0]({{ error: error.stack }}))")
            if found != expected:
                raise Failed(f"{what}: {found}, not {expected}")
        named(ann, thread, names)
        return {"results": len(EXPECTED) + len(RACED) + len(SENT) + len(KEPT) + len(ONCE)}
