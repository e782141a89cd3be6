"""What the programs of this folder share: arguments, failures, and checks in directories that stay after a failure."""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import time


class Failed(Exception):
    """A promise is broken."""


class Skipped(Exception):
    """Something that a check needs is missing."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


def wait_until(what, condition, patience=600, pause=0.1):
    """Waits until a condition returns a true value, and returns it."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failed(f"after {patience} s still not: {what}")
        time.sleep(pause)
    return value


def identifier(rng=random):
    """Returns a UUID of version 7 in form, at random."""
    digits = f"{rng.getrandbits(128):032x}"
    digits = digits[:12] + "7" + digits[13:16] + "8" + digits[17:]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def run_tool(tool, command, *words, where=""):
    """Runs a command of the tool, which must succeed; returns what it printed, in bytes."""
    done = subprocess.run([tool, command, *words], capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{where}{command} ended with status {done.returncode}: {done.stdout[-1000:]!r} {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def events(tool, journal, *options, where=""):
    """Returns the events of a journal in the raw form. No server may run, or its events may be missing."""
    return [json.loads(line) for line in run_tool(tool, "events", journal, "--json", *options, where=where).splitlines()]


def parser(description, tool="the chat-journal binary"):
    """Returns a parser with the arguments that most programs have."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--tool", required=True, help=tool)
    made.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="default: a new one, printed")
    made.add_argument("--scratch", default=None, help="the directory in which the journals are created")
    return made


def parse_server(description, noun, known, by_default=None, **options):
    """Parses the arguments of a program that checks a server: some of its known checks, or all; and options with their defaults."""
    made = parser(description, "the chat-journal binary, built with the trait Server")
    made.add_argument("names", nargs="*", metavar=noun.upper(), help=f"default: {' '.join(by_default or known)}")
    for name, (default, text) in options.items():
        made.add_argument(f"--{name}", type=type(default), default=default, help=text)
    arguments = made.parse_args()
    if unknown := set(arguments.names) - set(known):
        made.error(f"unknown {noun}s: {', '.join(sorted(unknown))}")
    arguments.names = arguments.names or list(by_default or known)
    arguments.tool = str(pathlib.Path(arguments.tool).resolve())
    return arguments


def run_checks(program, arguments, check, clean, failures=()):
    """Runs checks, each in a directory and with random numbers of its own; returns the exit status.

    `clean` is called after each check. A failure keeps the files.
    """
    scratch, failed = pathlib.Path(tempfile.mkdtemp(prefix=f"{program}-", dir=arguments.scratch)), False
    print(f"{program}: {', '.join(arguments.names)}, seed {arguments.seed}", flush=True)
    for name in arguments.names:
        began = time.monotonic()
        try:
            check(name, scratch / name, random.Random(f"{arguments.seed}/{name}"))
        except Skipped as reason:
            print(f"{name}: SKIPPED: {reason}", flush=True)
        except (Failed, OSError, subprocess.SubprocessError, *failures) as failure:
            print(f"FAILED {name}, seed {arguments.seed}, after {time.monotonic() - began:.0f} s\n  files: {scratch / name}\n  {failure!r}", flush=True)
            failed = True
        else:
            print(f"{name}: passed in {time.monotonic() - began:.0f} s", flush=True)
        finally:
            clean()
    if not failed:
        shutil.rmtree(scratch)
    return 1 if failed else 0
