#!/usr/bin/env python3
"""Uses the page of the server in a real browser, as two people do.

    run.py --tool PATH [--runs 1] [--seed S] [--screenshots DIR] [--only PART]

Needs Debian's packages chromium and chromium-driver, and from PyPI selenium and axe-playwright-python, without its
dependencies, or, with an older axe-core, axe-core-python or axe-selenium-python; prints SKIPPED without them. Every run starts a server with a new journal, and two browsers with new profiles:

- units: the modules that compute ids, links and counts; texts that the page sends mention the people of the table.
- features: every control is used once: accounts, invitations, roles, moderation, blocking, direct threads, the directory,
  profiles, sessions, deletion.
- writing: marks of Markdown, mentions, reactions, menus that stay open, links to messages, days, what Enter does, and the heights of the list.
- account: common passwords, the operator's texts, the mails, a change of the address, the download of one's data, and links over a sign-in.
- again: a command whose answer is lost and that is sent again undoes nothing that somebody else did meanwhile.
- reading: a thread opens at its first unread message, and only what was on the screen is read, in one, two and three columns.
- keyboard: a journey by keyboard alone, from the sign-in to the sign-out; its transcript is printed.
- notified: the title, the icon and the system's notifications tell what is new, once, and nothing that is visible or gone.
- media: feedback covers nothing that it is about; the page on paper, and in forced colours.
- told: a journey that knows only the accessibility tree; its transcript is printed.
- drafts: drafts and begun edits are in all tabs, after a reload, and for their person alone after a session that ended by itself.
- gone: the next person at a tab finds no draft of the one before; an open page forgets what is erased, and a thread that
  its person can no longer read, also after it was away.
- conversation: from sign-up to messages, replies, edits and unread counts; a thread of 1,000 messages is scrolled to its
  beginning; one person loses the connection, with one and with two tabs; the server is killed with SIGKILL and started
  again while both write; texts and names with script are shown as text. Nothing is lost, nothing is there twice, and both
  sides have the same order.
- views: every view at a width of 320, 390, 768 and 1,280 pixels, each in light or in dark colours (with --screenshots in both), has no finding of axe-core (WCAG 2.2 A
  and AA, and its best practices), does not scroll sideways, and has its own title. With --screenshots their pictures are kept.
- offline: the page starts without a server, with what was seen last; nothing is kept that was erased, that the person can no
  longer read, or after the session has ended.
- speed: at most 45 kB are transferred before the first message. speed.py measures more.

The seed determines when the server is killed.
"""

import argparse
import importlib
import importlib.util
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import axe

# The modules of the parts, in their order.
PARTS = [
    "units", "features", "account", "writing", "again", "reading", "keyboard", "notified", "media",
    "told", "drafts", "gone", "conversation", "views", "offline", "speed",
]


def missing():
    """Returns what the programs need and this machine lacks."""
    names = [] if importlib.util.find_spec("selenium") else ["selenium"]
    if axe.script() is None:
        names.append("axe-playwright-python")
    return names + [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program with the command serve")
    parser.add_argument("--runs", type=int, default=1, help="runs of the conversation (default 1)")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--screenshots", type=pathlib.Path, help="keeps pictures of all views in this directory")
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    if lacks := missing():
        print(f"SKIPPED: not installed: {', '.join(lacks)}")
        return 0

    from harness import Failed

    tool = shutil.which(arguments.tool) or arguments.tool
    # Ends the browsers and the servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    # What a part takes besides the tool and the directory.
    more = {"conversation": [rng], "views": [arguments.screenshots]}
    parts = [name for name in PARTS for _ in range(arguments.runs if name == "conversation" else 1) if arguments.only in (None, name)]
    failures = 0
    for number, name in enumerate(parts, 1):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="chat-page-", ignore_cleanup_errors=True) as directory:
            try:
                result = importlib.import_module(name).run(tool, pathlib.Path(directory), *more.get(name, []))
                print(f"{number} {name}: {result}, {time.monotonic() - began:.0f} s", flush=True)
            except Failed as error:
                failures += 1
                print(f"{number} {name}: FAILED: {error}", flush=True)
    print(f"{len(parts) - failures} of {len(parts)} passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
