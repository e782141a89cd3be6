#!/usr/bin/env python3
"""Runs Examples/isolation-nation.jsonl and compares every answer with its expectation.

    example.py --tool PATH [--keep DIR]

There are two expectations for each line: the table of Examples/README.md, and the independent model of the rules
(model.py). Then the timeline, the members and a user view are compared.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import model

ROOT = pathlib.Path(__file__).resolve().parents[2]


def table(path):
    """Returns the rows of the table: line -> (positions, outcome)."""
    rows = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\| (\d+) \| ([0-9-]+) \| ([^|]+) \|", text)
        if match:
            rows[int(match[1])] = (match[2], match[3].strip())
    return rows


def written(outcome):
    """Returns the positions of an outcome in the form of the table."""
    if not outcome.positions:
        return "-"
    first, last = outcome.positions
    return str(first) if first == last else f"{first}-{last}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the chat-journal binary")
    parser.add_argument("--keep", help="an empty directory in which the journal is kept")
    arguments = parser.parse_args()
    commands = (ROOT / "Examples/isolation-nation.jsonl").read_text(encoding="utf-8").splitlines()
    rows = table(ROOT / "Examples/README.md")
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        journal = str(pathlib.Path(arguments.keep or scratch) / "neighbours")

        def ask(*words, status=0):
            done = subprocess.run([arguments.tool, *words], stdout=subprocess.PIPE, check=False)
            if done.returncode != status:
                failures.append(f"{' '.join(words)}: exit status {done.returncode}, expected {status}")
            return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]

        answers = ask("run", journal, str(ROOT / "Examples/isolation-nation.jsonl"), status=1)
        if not len(answers) == len(commands) == len(rows):
            failures.append(f"{len(commands)} lines, {len(rows)} rows in the table, {len(answers)} answers")
        rules, thread_ids = model.Model(), {}
        for number, (command, answer) in enumerate(zip(commands, answers), 1):
            outcome = rules.execute(json.loads(command))
            if rows.get(number) != (written(outcome), str(outcome)):
                failures.append(f"line {number}: the table has {rows.get(number)}, the model {written(outcome), str(outcome)}")
            found = model.differences(outcome, answer, thread_ids)
            if answer.get("line") != number:
                found.append(f"the answer is for line {answer.get('line')}")
            failures += [f"line {number}: {difference}" for difference in found]

        def same(what, got, expected):
            if got != expected:
                failures.append(f"{what}: expected {expected}, got {got}")

        timeline = ask("timeline", journal, "SW1A", "--json")
        same("timeline of SW1A", [(row["position"], row["author"]["username"], row["replyCount"]) for row in timeline],
             [(9, "Maureen", 0), (10, "priya_k", 0), (14, "Maureen", 2), (31, "priya_k", 1), (49, "Declan", 2), (59, "Maureen", 0)])
        same("a retracted message",
             [(row["retracted"], row["body"], row["replyCount"]) for row in ask("timeline", journal, "SW1V", "--json")[:1]],
             [(True, None, 1)])
        same("members of the soup rota", sorted(row["user"]["username"] for row in ask("members", journal, "Soup rota", "--json")),
             ["Chidi Okafor", "Declan", "priya_k"])
        same("residents of SW1V", sorted(row["user"]["username"] for row in ask("residents", journal, "SW1V", "--json")),
             ["Chidi Okafor", "Declan", "Tomasz Ł.", "Zoë"])
        declan = ask("user", journal, "Declan", "--json")
        same("Declan's unread messages", [{thread["name"]: thread["unread"] for thread in user["threads"]} for user in declan],
             [{"SW1A": 3, "SW1V": 1, "Soup rota": 1}])
        same("verify", [(report["ok"], report["position"]) for report in ask("verify", journal, "--json")], [(True, 60)])

    for failure in failures:
        print("FAILED " + failure)
    print(f"example: {len(answers)} answers, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
