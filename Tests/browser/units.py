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
        return {"results": len(EXPECTED)}
