#!/usr/bin/env python3
"""Runs the examples and compares every answer with its expectation.

    example.py --tool PATH [--keep DIR]

There are two expectations for each line: the table of its page (Examples/README.md, Examples/moderators-day.md), and the
independent model of the rules (model.py). Then some views are compared.
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


def neighbours(ask, same):
    """Compares the views of isolation-nation.jsonl."""
    timeline = ask("timeline", "SW1A")
    same("timeline of SW1A", [(row["position"], row["author"]["username"], row["replyCount"]) for row in timeline],
         [(9, "Maureen", 0), (10, "priya_k", 0), (14, "Maureen", 2), (31, "priya_k", 1), (49, "Declan", 2), (59, "Maureen", 0)])
    same("a retracted message", [(row["retracted"], row["body"], row["replyCount"]) for row in ask("timeline", "SW1V")[:1]],
         [(True, None, 1)])
    same("members of the soup rota", sorted(row["user"]["username"] for row in ask("members", "Soup rota")),
         ["Chidi Okafor", "Declan", "priya_k"])
    same("residents of SW1V", sorted(row["user"]["username"] for row in ask("residents", "SW1V")),
         ["Chidi Okafor", "Declan", "Tomasz Ł.", "Zoë"])
    same("Declan's unread messages", [{thread["name"]: thread["unread"] for thread in user["threads"]} for user in ask("user", "Declan")],
         [{"SW1A": 3, "SW1V": 1, "Soup rota": 1}])
    same("verify", [(report["ok"], report["position"]) for report in ask("verify")], [(True, 60)])


def party(ask, same):
    """Compares the views of moderators-day.jsonl: the auditor's questions about it."""
    thread = "Street party"
    same("the reports", [(row["by"]["username"], row["author"]["username"], row["body"], row["reason"])
                         for row in ask("reports", thread, "--viewer", "Cem", "--as-of", "31")],
         [("Dee", "Bob", "CHEAP WATCHES, write to me", "advertising"),
          ("Ann", "Bob", "CHEAP WATCHES, write to me", "third time this week")])
    same("the reports after they were resolved", ask("reports", thread), [])
    same("the sanctions", [[(row["kind"], row["user"]["username"], row["until"], row["by"]["username"])
                            for row in ask("bans", thread, "--as-of", position)] for position in ("32", "33", "37", "41", "42")],
         [[], [("mute", "Bob", "2130-01-01T00:00:00.000Z", "Cem")], [], [("ban", "Bob", None, "Olu")], []])
    same("the readers", [[row["user"]["username"] for row in ask("readers", thread, "--as-of", position)] for position in ("37", "42", "48")],
         [["Ann", "Bob", "Cem", "Dee"], ["Ann", "Cem", "Dee"], ["Cem", "Dee", "Bob"]])
    same("Dee's timeline", [(row["position"], row["body"], row.get("removed", False), row.get("blocked", False))
                            for row in ask("timeline", thread, "--viewer", "Dee")],
         [(27, "Saturday at four, in front of number 12", False, False), (29, None, True, True),
          (36, "Bob has apologised, and may post again.", False, False)])
    same("Bob's timeline after he has come back", ask("timeline", thread, "--viewer", "Bob"), [])
    same("the pins", [row["position"] for row in ask("pins", thread)], [27])
    same("the roles", [[(row["role"], row["user"]["username"]) for row in ask("roles", thread, *moment)]
                       for moment in (("--as-of", "47"), ())],
         [[("owner", "Ann"), ("moderator", "Cem")], [("moderator", "Cem")]])
    same("the operators", [row["user"]["username"] for row in ask("roles")], ["Olu"])
    same("Bob's access", [(row["from"], row["to"]) for row in ask("access", "Bob")], [(10, None), (23, 41), (44, None)])
    same("verify", [(report["ok"], report["position"]) for report in ask("verify")], [(True, 48)])


EXAMPLES = [("isolation-nation.jsonl", "README.md", "neighbours", neighbours), ("moderators-day.jsonl", "moderators-day.md", "party", party)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the chat-journal binary")
    parser.add_argument("--keep", help="an empty directory in which the journals are kept")
    arguments = parser.parse_args()
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for script, page, name, views in EXAMPLES:
            commands = (ROOT / "Examples" / script).read_text(encoding="utf-8").splitlines()
            rows = table(ROOT / "Examples" / page)
            journal = str(pathlib.Path(arguments.keep or scratch) / name)

            def run(*words, status=0):
                done = subprocess.run([arguments.tool, *words], stdout=subprocess.PIPE, check=False)
                if done.returncode != status:
                    failures.append(f"{' '.join(words)}: exit status {done.returncode}, expected {status}")
                return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]

            def ask(command, *words):
                return run(command, journal, *words, "--json")

            def same(what, got, expected):
                if got != expected:
                    failures.append(f"{what}: expected {expected}, got {got}")

            answers = run("run", journal, str(ROOT / "Examples" / script), status=1)
            count += len(answers)
            if not len(answers) == len(commands) == len(rows):
                failures.append(f"{script}: {len(commands)} lines, {len(rows)} rows in the table, {len(answers)} answers")
            rules, thread_ids = model.Model(), {}
            for number, (command, answer) in enumerate(zip(commands, answers), 1):
                outcome = rules.execute(json.loads(command))
                if rows.get(number) != (written(outcome), str(outcome)):
                    failures.append(
                        f"{script}, line {number}: the table has {rows.get(number)}, the model {written(outcome), str(outcome)}")
                found = model.differences(outcome, answer, thread_ids)
                if answer.get("line") != number:
                    found.append(f"the answer is for line {answer.get('line')}")
                failures += [f"{script}, line {number}: {difference}" for difference in found]
            views(ask, same)

    for failure in failures:
        print("FAILED " + failure)
    print(f"example: {count} answers, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
