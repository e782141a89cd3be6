#!/usr/bin/env python3
"""Checks `chat-journal serve` from outside, over HTTP.

    server.py --tool PATH [--scratch DIR] [--seed S] [CHECK ...]

Starts the server itself, with a journal, accounts and mails in the scratch directory. The checks, all by default:

    routes         every operation of the OpenAPI document, with its problems: each answer is as the document says
    curl           the transcript of ChatServer.docc/Transcript.md, with curl alone
    proxy          the same transcript over TLS through nginx, with the configuration of ChatServer.docc/OperatingAServer.md
    conversations  people who talk while the server is killed with SIGKILL: nothing acknowledged is lost, nothing twice
    reader         `routes`, and a few `conversations`, through a server with `--writer`
    leaks          random communities: each answer to each user has what WhoIsShownWhat.md allows, and nothing else
    hostile        attacks with raw sockets; the server still answers, and its memory stays bounded
    limits         every limit at its product at once, over every transport: the memory of the server while all is held, and ten
                   seconds after the close; --share 1 is the documented limits themselves, CI runs a tenth

and, only if it is named:

    load           requests and deliveries per second, delays, memory for each follower; needs wrk for the first
    fair           the median of others' posts while one user does as much as they may, by that in silence

The seed determines the commands, and is printed. A failure keeps the scratch directory.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import openapi
import server_client
from server_client import Failed, ReadingServer, Server

DEFAULT = ("routes", "curl", "proxy", "conversations", "reader", "leaks", "hostile", "limits")


def run(name, arguments, scratch):
    document = server_client.load_document(arguments.tool)
    rng = random.Random(f"{arguments.seed}/{name}")
    if name == "routes":
        import server_routes
        with Server(arguments.tool, scratch) as server:
            server_routes.check(server, document)
    elif name in ("curl", "proxy"):
        import server_transcript
        getattr(server_transcript, name)(arguments.tool, scratch)
    elif name == "conversations":
        import server_conversations
        server_conversations.check(arguments.tool, scratch, rng, arguments.conversations, arguments.kills)
    elif name == "reader":
        import server_conversations
        import server_routes
        with ReadingServer(arguments.tool, scratch / "routes") as server:
            server_routes.check(server, document)
        server_conversations.check(arguments.tool, scratch / "conversations", rng, arguments.conversations // 4, 2, ReadingServer)
    elif name == "leaks":
        import server_leaks
        server_leaks.check(arguments.tool, scratch, document, rng, arguments.communities)
    elif name == "hostile":
        import server_hostile
        server_hostile.check(arguments.tool, scratch, document, arguments.idle)
    elif name == "limits":
        import server_limits
        server_limits.check(arguments.tool, scratch, rng, arguments.share, arguments.seconds)
    elif name == "fair":
        import server_fair
        server_fair.measure(arguments.tool, scratch, rng, arguments.seconds)
    else:
        import server_load
        server_load.measure(arguments.tool, scratch, arguments.followers, arguments.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="default: all but load and fair")
    parser.add_argument("--tool", required=True, help="the chat-journal binary, built with the trait Server")
    parser.add_argument("--scratch", default=None, help="the directory in which the journals are created")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=7)
    parser.add_argument("--communities", type=int, default=1, help="the number of random histories of leaks")
    parser.add_argument("--idle", type=int, default=2000, help="the idle connections of hostile")
    parser.add_argument("--share", type=float, default=0.1, help="the part of the documented limits that limits drives")
    parser.add_argument("--followers", type=int, default=1000, help="the followers of load")
    parser.add_argument("--seconds", type=float, default=10, help="the duration of limits, and of each measurement of load and fair")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    if unknown := set(arguments.checks) - {*DEFAULT, "load", "fair"}:
        parser.error(f"unknown checks: {', '.join(sorted(unknown))}")
    server_client.raise_open_files_limit()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="server-", dir=arguments.scratch))
    print(f"server: {', '.join(arguments.checks or DEFAULT)}, seed {arguments.seed}", flush=True)
    failed = False
    for name in arguments.checks or DEFAULT:
        began = time.monotonic()
        try:
            run(name, arguments, scratch / name)
        except (Failed, openapi.Invalid, OSError) as failure:
            print(f"FAILED {name}, seed {arguments.seed}\n  files: {scratch / name}\n  {failure!r}", flush=True)
            failed = True
        else:
            print(f"{name}: passed in {time.monotonic() - began:.0f} s", flush=True)
        finally:
            Server.kill_all()
    if not failed:
        shutil.rmtree(scratch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
