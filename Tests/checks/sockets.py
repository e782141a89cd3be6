#!/usr/bin/env python3
"""Checks the WebSockets of `chat-journal serve` from outside.

    sockets.py --tool PATH [--scratch DIR] [CHECK ...]

Starts the server itself. The client is written from RFC 6455 (socket_client.py). The checks, all by default:

    handshake    the opening handshake: methods, headers, origins, sessions, subprotocols
    conformance  frames, fragments, control frames, UTF-8, close codes, sizes: right and wrong ones
    messages     each message of `/v1/socket`, with the same events as `/v1/events`; ends of sessions, SIGTERM, SIGKILL
    attack       clients that flood, that do not read, that forge; the server answers others and its memory is bounded
    tutorial     `/chat`, in the bytes of the SwiftUI tutorials

`attack` waits most of its time, for a limit of the server: it runs beside the others. A failure keeps the scratch directory.
"""

import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

import program
import server_client
from socket_client import Failed, Server

CHECKS = ("handshake", "conformance", "messages", "attack", "tutorial")
# Seconds for one check: if one answer is missing others often are too, and each is waited for long.
LIMIT = 900


class TooLong(BaseException):
    """A check did not end. It is no Failed: that would end only the part that waits, and the next one would wait too."""


def end_check(*_):
    raise TooLong(f"not over after {LIMIT} s")


def run(name, tool, scratch):
    if name == "handshake":
        import socket_handshake
        with Server(tool, scratch) as server:
            socket_handshake.check(server)
    elif name == "conformance":
        import socket_conformance
        with Server(tool, scratch) as server:
            socket_conformance.check(server)
    elif name == "messages":
        import socket_messages
        socket_messages.check(tool, scratch)
    elif name == "attack":
        import socket_attack
        socket_attack.check(tool, scratch)
    else:
        import socket_tutorial
        socket_tutorial.check(tool, scratch)


def main():
    arguments = program.parse_server(__doc__, "check", CHECKS)
    server_client.raise_open_files_limit()
    signal.signal(signal.SIGALRM, end_check)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="sockets-", dir=arguments.scratch))
    failed, checks, beside = [], arguments.names, None
    if "attack" in checks and len(checks) > 1:
        checks.remove("attack")
        command = [sys.executable, __file__, "--tool", arguments.tool, "--scratch", str(scratch), "attack"]
        beside = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for name in checks:
        start = time.monotonic()
        try:
            signal.alarm(LIMIT)
            run(name, arguments.tool, scratch / name)
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
        except (Failed, OSError, TooLong) as error:
            failed.append(name)
            print(f"{name}: FAILED: {type(error).__name__}: {error}", flush=True)
            if isinstance(error, TooLong):
                traceback.print_tb(error.__traceback__, file=sys.stdout)
        signal.alarm(0)
    if beside:
        print(beside.communicate()[0], end="", flush=True)
        if beside.returncode != 0:
            failed.append("attack")
    if failed:
        print(f"FAILED: {', '.join(failed)}; see {scratch}")
        return 1
    shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
