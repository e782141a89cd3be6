#!/usr/bin/env python3
"""Generates clients from the OpenAPI document, which the tool prints, and runs a conversation with each.

    generated_clients.py --tool PATH [--scratch DIR] [--packages DIR]

The document is valid (openapi-spec-validator), and has no rule that generators are known to misunderstand.
openapi-python-client and openapi-generator make a client of it, without a warning that something is left out, and
generated_conversation.py talks with a server through each of them, and with one of a later version, whose codes and kinds
of events the document does not have.

The generators come from PyPI, into an environment of their own in the scratch directory, or in DIR, where they stay for
a next time. Without PyPI the program is SKIPPED, and openapi-generator without Java.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import server_client

PACKAGES = ["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1", "openapi-generator-cli==7.26.0"]
# What the generated code of openapi-generator needs; that of the other one needs what the generator itself needs.
NEEDED = ["urllib3>=2.7", "python-dateutil", "pydantic>=2.11", "typing-extensions"]
# openapi-generator says that its support of OpenAPI 3.1 is in beta, that a payload is any value, and, of any document, that
# a reference which it does not look for has no name.
EXPECTED = ("3.1 support is still in beta", "Default to typing.Any", "Failed to get the schema name: null")
CHECKS = pathlib.Path(__file__).resolve().parent


def misunderstood(node, place):
    """Yields the places of rules that generators of several languages do not understand, and what to write instead."""
    if isinstance(node, list):
        for number, part in enumerate(node):
            yield from misunderstood(part, f"{place}/{number}")
    if not isinstance(node, dict):
        return
    if node.get("type") == "boolean" and "const" in node:
        yield f"{place}: `const` of a Boolean; write `x-const`"
    if any(isinstance(part, dict) and set(part) == {"required"} for part in node.get("oneOf", ())):
        yield f"{place}: `oneOf` of required fields; write `x-one-of`"
    if "enum" in node and place.endswith(("/code", "/warnings/items", "/redacted/items")):
        yield f"{place}: `enum` of codes, of which later versions have more; write `x-known-values`"
    if isinstance(node.get("maximum"), int) and node["maximum"] >= 1 << 63:
        yield f"{place}: a maximum beyond 2^63 - 1"
    if place.startswith("#/components/schemas/") and isinstance(node.get("title"), str):
        yield f"{place}: a title can be the name of another schema"
    for name, part in node.items():
        if name not in ("example", "examples"):
            yield from misunderstood(part, f"{place}/{name}")


def run(words, **options):
    return subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def environment(folder):
    """Returns the directory of the programs of an environment with the packages; None if they cannot be installed."""
    programs = folder / "bin"
    if run([sys.executable, "-m", "venv", folder]).returncode != 0:
        return None
    # A first failure is an answer: there is no PyPI here.
    installed = run([programs / "pip", "install", "--quiet", "--retries", "1", *PACKAGES, *NEEDED])
    if installed.returncode != 0:
        print(installed.stdout[-500:])
    return programs if installed.returncode == 0 else None


def generate_python_client(programs, document, folder):
    """Returns the problems of openapi-python-client."""
    words = [programs / "openapi-python-client", "generate", "--path", document, "--meta", "none"]
    # The generator formats its code with `ruff`, which it looks for in the path.
    path = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = run([*words, "--output-path", folder / "chat_client", "--fail-on-warning"], env=path)
    return [done.stdout] if done.returncode != 0 else []


def generate_generator(programs, document, folder):
    """Returns the problems of openapi-generator: it leaves out silently what it does not understand, but logs it."""
    words = [programs / "openapi-generator-cli", "generate", "-g", "python", "-i", document, "-o", folder]
    done = run([*words, "--package-name", "chat_client"])
    lines = [line for line in done.stdout.splitlines() if " WARN " in line or " ERROR " in line]
    lines = [line for line in lines if not any(text in line for text in EXPECTED)]
    return [done.stdout[-3000:]] if done.returncode != 0 else lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the chat-journal binary, built with the trait Server")
    parser.add_argument("--scratch", default=None, help="the directory in which the clients and the journals are created")
    parser.add_argument("--packages", type=pathlib.Path, help="the directory of the generators (default: in the scratch directory)")
    arguments = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="generated-", dir=arguments.scratch))
    programs = environment(arguments.packages or scratch / "packages")
    if programs is None:
        print("SKIPPED: generated clients: PyPI does not have the generators")
        return 0
    document = scratch / "openapi.json"
    document.write_bytes(subprocess.run([arguments.tool, "openapi"], check=True, stdout=subprocess.PIPE).stdout)
    valid = run([programs / "openapi-spec-validator", document])
    failures = [] if valid.returncode == 0 else [f"openapi-spec-validator: {valid.stdout}"]
    failures += misunderstood(json.loads(document.read_bytes()), "#")
    for name, generate in (("openapi-python-client", generate_python_client), ("openapi-generator", generate_generator)):
        if name == "openapi-generator" and shutil.which("java") is None:
            print(f"SKIPPED: {name}: Java is missing")
            continue
        folder = scratch / name
        folder.mkdir()
        problems = generate(programs, document, folder)
        failures += [f"{name}: {problem}" for problem in problems]
        if not (folder / "chat_client").is_dir():
            continue
        with server_client.Server(arguments.tool, scratch / f"server-{name}") as server:
            words = [programs / "python", "-B", CHECKS / "generated_conversation.py", name, folder, server.url, server.mail]
            done = run(words, timeout=600)
        failures += [f"{name}: {done.stdout}"] if done.returncode != 0 else []
        print(f"{name}: {'failed' if done.returncode or problems else 'a conversation through the generated client passed'}")
    for failure in failures:
        print(f"FAILED {failure}")
    if not failures:
        shutil.rmtree(scratch)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
