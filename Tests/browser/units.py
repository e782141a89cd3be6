"""The modules of the page that compute, in a browser: ids, links, and the counts of the chart."""

from conversation import people
from harness import Failed

SCRIPT = """
const done = arguments[0];
Promise.all(["/ids.js", "/format.js", "/activity.js"].map((path) => import(path))).then(([ids, format, activity]) => {
  const made = Array.from({ length: 10000 }, () => ids.newID());
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const links = (text) => format.linkedText(text).filter((node) => typeof node !== "string").map((node) => node.getAttribute("href"));
  const joined = (text) => format.linkedText(text).map((node) => node.textContent ?? node).join("");
  const texts = ["https://a.example/b?c=d.", "(http://a.example)", "javascript:alert(1)", "data:text/html,x", "https://user@a.example", "http://a.example\\u202e/gpj.exe",
                 "HTTPS://A.example", "https://", "ftp://a.example", "xhttps://a.example", "https://a.example/(b)", "https://a.example\\u200b.evil.example"];
  const now = new Date(2026, 2, 30, 12);
  const at = (day, hour) => ({ createdAt: new Date(2026, 2, day, hour).toISOString() });
  done({
    shapes: made.every((id) => shape.test(id)), ascends: made.every((id, index) => index === 0 || id > made[index - 1]),
    time: Number.parseInt(ids.newID(Date.UTC(2050, 0, 1)).replaceAll("-", "").slice(0, 12), 16) === Date.UTC(2050, 0, 1),
    links: texts.map(links), unchanged: texts.every((text) => joined(text) === text),
    days: activity.messagesByDay([at(30, 0), at(30, 23), at(29, 1), at(28, 23), at(3, 5), at(2, 5)], now).map(({ number }) => number),
    excerpt: format.excerpt("a\\n\\n b   c " + "\\u{1F95B}".repeat(200), 8),
  });
}, (error) => done({ error: String(error) }));
"""

# Events that arrive while a page is read, and are not in it: the answer is given after the event.
RACES = """
const done = arguments[0];
const { Timeline } = await import("/timeline.js");
let answer = null;
window.fetch = () => new Promise((resolve) => {
  answer = (items, older = null) => resolve(new Response(JSON.stringify({ items, older, newer: 9 })));
});
const moment = () => new Promise((resolve) => setTimeout(resolve, 20));
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
await moment();
found.one = texts(timeline);
const behind = new Timeline("message", "t");
loading = behind.load();
answer([entry(20, "a")], 20);
await loading;
behind.apply(posted(15, "y"));
found.behind = texts(behind);
done(found);
"""

RACED = {"first": "a B c", "again": "a B c d", "older": "Z a B c d", "one": "Z a B C d", "behind": "a"}

EXPECTED = {
    "shapes": True, "ascends": True, "time": True, "unchanged": True,
    "links": [["https://a.example/b?c=d"], ["http://a.example/"], [], [], [], ["http://a.example/"], ["https://a.example/"], [], [], [],
              ["https://a.example/(b)"], ["https://a.example/"]],
    # The last of March of 2026 has a day of 23 hours in most of Europe.
    "days": [1] + [0] * 24 + [1, 1, 2], "excerpt": "a b c \U0001F95B\u2026",
}


def run(tool, directory):
    """Compares what the modules compute. Returns the number of results."""
    with people(tool, directory, ["Ann"]) as (_, (ann,)):
        ann.open("sign-in")
        ann.see("Sign in", "h1")
        ann.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Europe/London"})
        found = ann.driver.execute_async_script(SCRIPT)
        for name, value in EXPECTED.items():
            if found.get(name) != value:
                raise Failed(f"{name}: {found.get(name, found)}, not {value}")
        found = ann.driver.execute_async_script(f"(async (...arguments) => {{ {RACES} }})(arguments[0]).catch((error) => arguments[0]({{ error: error.stack }}))")
        if found != RACED:
            raise Failed(f"events during a request: {found}, not {RACED}")
        return {"results": len(EXPECTED) + len(RACED)}
