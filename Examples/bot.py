#!/usr/bin/env python3
"""Answers every message of a thread that asks for the time: bot.py THREAD CHAT-JOURNAL chat URL --lines ..."""

import json
import subprocess
import sys
import time

thread, *command = sys.argv[1:]
chat = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def write(line):
    print(json.dumps(line), file=chat.stdin, flush=True)


me = None
write({"user": {}})
write({"follow": {"thread": thread}})
for line in map(json.loads, chat.stdout):
    me = line["user"]["id"] if "user" in line else me
    post = line.get("post")
    if line.get("new") and post["author"]["id"] != me and "what time is it" in (post["body"] or "").lower():
        write({"reply": {"message": post["id"], "body": time.strftime("It is %H:%M.")}})
        write({"read": {"thread": thread}})
