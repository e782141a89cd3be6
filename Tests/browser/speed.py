#!/usr/bin/env python3
"""Measures how fast the page is on a slow network, and while a long thread is scrolled.

    speed.py --tool PATH [--messages 3400] [--runs 3]

Needs what run.py needs. Chromium has a latency of 400 ms and 50 kB/s. Prints, as the median of the runs:

- the files of the page: bytes, and bytes with gzip;
- cold: without anything in the browser but the session, the bytes that were transferred before the first message was
  shown, their requests, and the time from the navigation;
- warm: the same after a visit;
- scrolling: from the latest message to the first one by a quarter of the window in each frame, at the full speed of the
  network, on a processor that is slowed down four times: the time between frames, and the tasks over 50 ms.

`run` is a part of run.py: it fails if more than 45 kB are transferred before the first message.
"""

import argparse
import json
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request

from conversation import people
from harness import Failed, wait

LATENCY_MS, BYTES_PER_SECOND = 400, 50_000
MOST_BYTES = 45_000

# Notes when the first message is in the document and in a frame, and the requests that began before it.
FIRST = """
new MutationObserver((_, observer) => {
    if (!document.querySelector("main .timeline .entry[data-id]")) return;
    observer.disconnect();
    window.firstInserted = performance.now();
    requestAnimationFrame(() => setTimeout(() => { window.firstMessage = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""

FOUND = """
if (!window.firstMessage) return null;
const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
const before = all.filter((entry) => entry.startTime < window.firstInserted && entry.transferSize > 0);
return {
    milliseconds: Math.round(window.firstMessage),
    bytes: before.reduce((sum, entry) => sum + entry.transferSize, 0),
    requests: before.map((entry) => [new URL(entry.name).pathname.replace(/[0-9a-f-]{36}/, "ID"), entry.transferSize, Math.round(entry.startTime), Math.round(entry.responseEnd)]),
};
"""

SCROLL = """
const [done] = arguments;
const timeline = document.querySelector("main .timeline");
const frames = [], tasks = [];
new PerformanceObserver((list) => { for (const entry of list.getEntries()) tasks.push(Math.round(entry.duration)); }).observe({ type: "longtask" });
let last = null;
const began = performance.now();
const step = (now) => {
    if (last !== null) frames.push(now - last);
    last = now;
    timeline.scrollBy(0, -timeline.clientHeight / 4);
    const isAtEnd = timeline.scrollTop === 0 && document.querySelector("main .timeline-top").textContent.startsWith("This is the beginning");
    if (isAtEnd || performance.now() - began > 120000) setTimeout(() => done({ frames, tasks, isAtEnd, seconds: (performance.now() - began) / 1000 }), 500);
    else requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def prepare(ann, count):
    """A thread of so many messages, of which none is unread. Returns its id."""
    thread = ann.open_thread("A long thread")
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(2, 9))) for _ in range(2_000)]
    ann.commands([{"postMessage": {"thread": thread, "body": " ".join(rng.choices(words, k=min(60, 1 + int(rng.expovariate(0.08)))))}}
                  for _ in range(count)])
    return thread


def throttle(person, is_slow):
    person.driver.execute_cdp_cmd("Network.enable", {})
    person.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": LATENCY_MS if is_slow else 0,
        "downloadThroughput": BYTES_PER_SECOND if is_slow else -1, "uploadThroughput": BYTES_PER_SECOND if is_slow else -1})


def clear(person):
    """Removes everything from the browser but the session."""
    person.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {
        "origin": person.server.url, "storageTypes": "service_workers,cache_storage,indexeddb,local_storage"})
    person.driver.execute_cdp_cmd("Network.clearBrowserCache", {})


def visit(person, thread, is_cold):
    """Loads the page at a thread on the slow network. Returns what was measured."""
    person.driver.get("about:blank")
    if is_cold:
        clear(person)
    throttle(person, True)
    person.driver.get(f"{person.server.url}/#/t/{thread}")
    found = wait("the first message", lambda: person.run(FOUND))
    # What is loaded after the first message is part of the visit.
    time.sleep(6)
    throttle(person, False)
    return found


def scroll(person, thread):
    person.driver.get("about:blank")
    person.driver.get(f"{person.server.url}/#/t/{thread}")
    wait("the first message", lambda: person.run(FOUND))
    time.sleep(2)
    person.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 4})
    found = person.driver.execute_async_script(SCROLL)
    person.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    if not found["isAtEnd"]:
        raise Failed(f"the beginning was not reached: {found}")
    frames = sorted(found["frames"])
    return {
        "seconds": round(found["seconds"], 1), "frames": len(frames), "median": round(statistics.median(frames)),
        "p95": round(frames[int(len(frames) * 0.95)]), "p99": round(frames[int(len(frames) * 0.99)]), "longest": round(frames[-1]),
        "tasks over 50 ms": len(found["tasks"]), "longest task": max(found["tasks"], default=0),
    }


def files(server):
    """Returns the bytes of each file that the page has loaded, without and with gzip."""
    def size(path, coding):
        request = urllib.request.Request(server.url + path, headers={"Accept-Encoding": coding})
        with urllib.request.urlopen(request) as answer:
            return len(answer.read())
    page = urllib.request.urlopen(server.url + "/").read().decode()
    names = ["/"] + [part.split('"')[1] for part in page.replace("href=", "src=").split("src=")[1:] if part.startswith('"/')]
    return {name: [size(name, "identity"), size(name, "gzip")] for name in names}


def run(tool, directory):
    """Fails if more than 45 kB are transferred before the first message of a cold visit."""
    with people(tool, directory, ["Ann"]) as (server, (ann,)):
        ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FIRST})
        ann.sign_up("Ann")
        thread = prepare(ann, 300)
        ann.driver.get("about:blank")
        clear(ann)
        ann.driver.get(f"{server.url}/#/t/{thread}")
        found = wait("the first message", lambda: ann.run(FOUND))
        if found["bytes"] > MOST_BYTES:
            raise Failed(f"{found['bytes']} bytes before the first message, at most {MOST_BYTES}: {found['requests']}")
        for name in files(server):
            with urllib.request.urlopen(server.url + name) as answer:
                control = answer.headers["Cache-Control"]
            if control != ("public, max-age=31536000, immutable" if name.startswith(("/app.", "/style.")) else "no-cache"):
                raise Failed(f"{name}: {control}")
        return {"bytes before the first message": found["bytes"], "requests": len(found["requests"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program with the command serve")
    parser.add_argument("--messages", type=int, default=3_400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-scroll", action="store_true")
    arguments = parser.parse_args()
    tool = shutil.which(arguments.tool) or arguments.tool
    with tempfile.TemporaryDirectory(prefix="chat-speed-", ignore_cleanup_errors=True) as directory:
        with people(tool, pathlib.Path(directory), ["Ann"]) as (server, (ann,)):
            for name, (plain, compressed) in files(server).items():
                print(f"{compressed:7} of {plain:7} bytes  {name}")
            ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FIRST})
            ann.sign_up("Ann")
            thread = prepare(ann, arguments.messages)
            for name, is_cold in (("cold", True), ("warm", False)):
                found = sorted((visit(ann, thread, is_cold) for _ in range(arguments.runs)), key=lambda visit: visit["milliseconds"])
                middle = found[len(found) // 2]
                print(f"{name}: first message after {[one['milliseconds'] for one in found]} ms, {middle['bytes']} bytes in {len(middle['requests'])} requests", flush=True)
                for request in middle["requests"]:
                    print("   ", *request)
            if not arguments.no_scroll:
                for _ in range(arguments.runs):
                    print("scrolling:", json.dumps(scroll(ann, thread)), flush=True)


if __name__ == "__main__":
    main()
