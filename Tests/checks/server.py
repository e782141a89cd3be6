#!/usr/bin/env python3
"""Checks `chat-journal serve` from outside, over HTTP.

    server.py --tool PATH [--scratch DIR] [--seed S] [CHECK ...]

Starts the server itself, with a journal, accounts and mails in the scratch directory. The checks, all by default:

    routes         every operation of the OpenAPI document, with its problems: each answer is as the document says
    curl           the transcript of ChatServer.docc/Transcript.md, with curl alone
    proxy          the same transcript over TLS through nginx, with the configuration of ChatServer.docc/OperatingAServer.md
    conversations  people who talk while the server is killed with SIGKILL: nothing acknowledged is lost, nothing twice
    reader         `routes`, and a few `conversations`, through a server with `--writer`
    mentions       each text of mentions.jsonl mentions the people of the table, over HTTP, in a WebSocket and by a client
    leaks          random communities: each answer to each user has what WhoIsShownWhat.md allows, and nothing else
    hostile        attacks with raw sockets; the server still answers, and its memory stays bounded
    limits         every limit at its product at once, over every transport: the memory of the server while all is held, and ten
                   seconds after the close; --share 1 is the documented limits themselves, CI runs a tenth

and, only if it is named:

    load           requests and deliveries per second, delays, memory for each follower; needs wrk for the first
    fair           the median of others' posts while one user does as much as they may, by that in silence

The seed determines the commands, and is printed. A failure keeps the scratch directory.
"""

import sys

sys.dont_write_bytecode = True

import openapi
import program
import server_client
from server_client import ReadingServer, Server

DEFAULT = ("routes", "curl", "proxy", "conversations", "reader", "mentions", "leaks", "hostile", "limits")


def run(name, scratch, rng, arguments):
    document = server_client.load_document(arguments.tool)
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
    elif name == "mentions":
        import server_mentions
        server_mentions.check(arguments.tool, scratch)
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
    arguments = program.parse_server(
        __doc__, "check", (*DEFAULT, "load", "fair"), DEFAULT, conversations=(200, None), kills=(7, None),
        communities=(1, "the number of random histories of leaks"), idle=(2000, "the idle connections of hostile"),
        share=(0.1, "the part of the documented limits that limits drives"), followers=(1000, "the followers of load"),
        seconds=(10.0, "the duration of limits, and of each measurement of load and fair"))
    server_client.raise_open_files_limit()
    return program.run_checks("server", arguments, lambda *check: run(*check, arguments), Server.kill_all, [openapi.Invalid])


if __name__ == "__main__":
    sys.exit(main())
