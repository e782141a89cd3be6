#!/usr/bin/env python3
"""Executes every cell of DecisionTable.md with the independent model of the rules, and with the tool.

    decision_table.py [--tool PATH] [--keep DIR]
    decision_table.py --write

decision_rows.py defines the tables: their rows, their columns, and the setup and the command of each cell. The page
has the expected outcome of each cell: `ok`, `-`, the code of a rejection, or `n/a` for a cell that cannot occur. A
table, row or column that the page does not have, or has twice, is a failure, and so is an `n/a` in a cell that can
occur.

With `--tool`, one `run` of the tool executes the setups and the commands of all cells, each cell with its own ids.
Every answer is compared with the model, and the answer to the command of each cell with the page.

`--write` replaces the tables of the page by the outcomes of the model.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import decision_rows
import model

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Sources/ChatDomain/ChatDomain.docc/DecisionTable.md"
BEGIN, END = "<!-- table: ", "<!-- end of table -->"
USERS = "users"
# The cells of a command that has no acting user in a thread.
USER_COMMANDS = {"registerUser", "startSession", "endSession", "grantOperator", "revokeOperator"}
# The commands that are not about a thread: the tables of the direct threads do not have them.
ELSEWHERE = {"changeUsername", "setPostcode", "markInboxRead", "setProfile", "block", "unblock"}

Table = collections.namedtuple("Table", "name corner columns rows")
# `scene` is None for a cell that cannot occur.
Cell = collections.namedtuple("Cell", "table row column scene outcome")


def tables():
    """Returns the tables in the order of the page."""
    found = [Table(thread, "command", decision_rows.STATES, decision_rows.main_rows(thread))
             for thread in decision_rows.THREADS]
    found += [Table(name, "command", decision_rows.DIRECT_STATES, decision_rows.direct_rows()) for name in decision_rows.DIRECTS]
    found.append(Table("further", "command", decision_rows.STATES, decision_rows.further_rows()))
    found.append(Table(USERS, "command", decision_rows.USER_STATES, decision_rows.USER_ROWS))
    return found


def cell_text(outcome):
    """Returns an outcome of the model in the form of the page."""
    if outcome.code:
        return outcome.code
    return "-" if outcome.duplicate or not outcome.events else "ok"


def answer_text(answer):
    """Returns an answer of the tool in the form of the page."""
    for failure in ("rejection", "error"):
        if failure in answer:
            return ("" if failure == "rejection" else "error ") + answer[failure]["code"]
    return "-" if answer["duplicate"] or answer["positions"] is None else "ok"


def cells(rules):
    """Returns the cells of all tables, executed with the model one after another."""
    found = []
    for table in tables():
        for row in table.rows:
            for column in table.columns:
                number = len(found)
                try:
                    if table.name == USERS:
                        scene = decision_rows.UserScene(rules, number, column, row)
                    elif table.name in decision_rows.DIRECTS:
                        scene = decision_rows.DirectScene(rules, number, decision_rows.DIRECTS[table.name], column, row)
                    else:
                        thread = row.thread or ("open" if table.name == "further" else table.name)
                        scene = decision_rows.ThreadScene(rules, number, thread, column, row)
                except decision_rows.NotApplicable:
                    found.append(Cell(table.name, row.name, column, None, "n/a"))
                else:
                    found.append(Cell(table.name, row.name, column, scene, cell_text(scene.outcome)))
    return found


def written(table, found):
    """Returns the lines of a table, with the outcomes of the model."""
    outcomes = {(cell.row, cell.column): cell.outcome for cell in found if cell.table == table.name}
    lines = [" | ".join(("| " + table.corner, *table.columns)) + " |", "|" + " --- |" * (1 + len(table.columns))]
    for row in table.rows:
        lines.append(" | ".join(("| " + row.name, *(outcomes[row.name, column] for column in table.columns))) + " |")
    return lines


def split_page(lines):
    """Returns the lines between the markers of each table, by its name, as a range of indexes; and the faults."""
    found, faults, name = {}, [], None
    for index, line in enumerate(lines):
        if line.startswith(BEGIN):
            if name:
                faults.append(f"the table {name} has no end")
            name, first = line.removeprefix(BEGIN).removesuffix(" -->"), index + 1
            if name in found:
                faults.append(f"the table {name} occurs twice")
        elif line == END and name:
            found[name] = range(first, index)
            name = None
        elif line == END:
            faults.append(f"line {index + 1}: the end of a table without its beginning")
    if name:
        faults.append(f"the table {name} has no end")
    return found, faults


def columns_of(line):
    return [text.strip() for text in line.strip().strip("|").split("|")]


def read_page(expected):
    """Returns the outcome of each cell of the page, by table, row and column; and the faults of its form."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    ranges, faults = split_page(lines)
    names = [table.name for table in expected]
    faults += [f"the page has no table {name}" for name in names if name not in ranges]
    faults += [f"decision_rows.py does not define the table {name}" for name in ranges if name not in names]
    outcomes = {}
    for table in expected:
        rows = [columns_of(lines[index]) for index in ranges.get(table.name, ()) if lines[index].strip()]
        if not rows:
            faults.append(f"the table {table.name} is empty")
            continue
        if rows[0] != [table.corner, *table.columns]:
            faults.append(f"table {table.name}: expected the columns {table.columns}, the page has {rows[0][1:]}")
        for row in rows[2:]:
            if len(row) != 1 + len(table.columns):
                fault = f"expected {len(table.columns)} cells, found {len(row) - 1}"
                faults.append(f"table {table.name}, {row[0]}: {fault}")
            for column, outcome in zip(table.columns, row[1:]):
                if (table.name, row[0], column) in outcomes:
                    faults.append(f"table {table.name}, {row[0]}, {column}: occurs twice")
                outcomes[table.name, row[0], column] = outcome
    return outcomes, faults


def documented_commands():
    """Returns the commands of the two tables of the rules, each with the kinds of its events and the codes of its rejections."""
    found = {}
    for page in ("ChatDomain.md", "Community.md"):
        lines = iter((PAGE.parent / page).read_text(encoding="utf-8").splitlines())
        for line in lines:
            if columns_of(line) == ["command", "events", "rejections"]:
                next(lines)
                for row in lines:
                    if not row.startswith("|"):
                        break
                    name, *columns = columns_of(row)
                    # What stands in brackets is no rejection, or says of whom.
                    plain = (re.sub(r"\[[^]]*\]|\([^)]*\)|;.*", "", column) for column in columns)
                    found[name] = [set(re.findall(r"\b(?:[a-z]+[A-Z]\w*|custom|banned|muted|retracted|edited)\b", text)) for text in plain]
    return found


def commands_of(found):
    """Returns the commands of the last lines of the cells, by table."""
    by_table = collections.defaultdict(set)
    for cell in found:
        if cell.scene:
            by_table[cell.table] |= cell.scene.lines[-1].keys()
    return by_table


def missing_commands(found):
    """Returns the faults of the rows: a repeated cell, and a documented command that a table does not have."""
    documented, by_table = set(documented_commands()), commands_of(found)
    repeated = [key for key, count in collections.Counter(cell[:3] for cell in found).items() if count > 1]
    faults = [f"{', '.join(key)}: decision_rows.py defines it twice" for key in repeated]
    if len(documented) < 30:
        faults.append(f"only {len(documented)} commands in the tables of the rules")
    for thread in decision_rows.THREADS:
        missing = documented - USER_COMMANDS - by_table[thread]
        faults += [f"the table {thread} has no row for {name}" for name in sorted(missing)]
    for thread in decision_rows.DIRECTS:
        missing = documented - USER_COMMANDS - ELSEWHERE - by_table[thread]
        faults += [f"the table {thread} has no row for {name}" for name in sorted(missing)]
    faults += [f"the table {USERS} has no row for {name}" for name in sorted(USER_COMMANDS - by_table[USERS])]
    faults += [f"{name} is in no table of the rules" for name in sorted(set().union(*by_table.values()) - documented)]
    return faults


def run_tool(tool, journal, commands, scratch, batch=256):
    """Executes the lines in one `run`; returns its answers."""
    script = pathlib.Path(scratch) / "commands.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in commands), encoding="utf-8")
    done = subprocess.run([tool, "run", journal, str(script), "--durability", "written", "--batch", str(batch)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    if done.returncode not in (0, 1) or len(answers) != len(commands):
        said = done.stderr.decode("utf-8", "replace")[:2000]
        sys.exit(f"FAILED: {len(answers)} answers to {len(commands)} lines, exit status {done.returncode}: {said}")
    return answers


def compare_cell(cell, expected, answers, thread_ids):
    """Returns the differences of one cell between the tool, the page and the model.

    Positions are not compared: one difference would change those of all later cells.
    """
    found = []
    for line, outcome, answer in zip(cell.scene.lines, cell.scene.outcomes, answers):
        got, wanted = answer_text(answer), cell_text(outcome)
        command = json.dumps(line)[:200]
        if got != wanted:
            found.append(f"the tool has {got}, the model {wanted}: {command}")
        elif "events" in answer and answer["duplicate"] != outcome.duplicate:
            found.append(f"the tool has duplicate {answer['duplicate']}, the model {outcome.duplicate}: {command}")
        elif "events" in answer:
            wrong = model.event_differences(outcome.events, answer["events"], thread_ids)
            found += [f"{difference}: {command}" for difference in wrong]
    if answer_text(answers[-1]) != expected:
        found.append(f"the page has {expected}, the tool {answer_text(answers[-1])}")
    return found


def write(found):
    """Replaces the tables of the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for table in tables():
        ranges, faults = split_page(lines)
        if faults or table.name not in ranges:
            sys.exit(f"FAILED: {table.name}: {'; '.join(faults) or 'the page has no such table'}")
        lines[ranges[table.name].start:ranges[table.name].stop] = ["", *written(table, found), ""]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"decision_table: {len(found)} cells written")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="the chat-journal binary; default: only the model")
    parser.add_argument("--keep", help="an empty directory in which the journal is kept")
    parser.add_argument("--write", action="store_true", help="replace the tables of the page")
    arguments = parser.parse_args()
    found = cells(model.Model())
    if arguments.write:
        write(found)
        return 0
    outcomes, failures = read_page(tables())
    failures += missing_commands(found)
    executed = 0
    for cell in found:
        key = cell[:3]
        if key not in outcomes:
            failures.append(f"{', '.join(key)}: not on the page")
        elif outcomes[key] != cell.outcome:
            failures.append(f"{', '.join(key)}: the page has {outcomes[key]}, the model {cell.outcome}")
        executed += cell.scene is not None
    undefined = outcomes.keys() - {cell[:3] for cell in found}
    failures += [f"{', '.join(key)}: decision_rows.py does not define this cell" for key in sorted(undefined)]
    by_tool = 0
    if arguments.tool:
        with tempfile.TemporaryDirectory() as scratch:
            journal = str(pathlib.Path(arguments.keep or scratch) / "decisions")
            lines = [line for cell in found if cell.scene for line in cell.scene.lines]
            answers, thread_ids, first = run_tool(arguments.tool, journal, lines, scratch), {}, 0
        for cell in found:
            if cell.scene:
                end = first + len(cell.scene.lines)
                wrong = compare_cell(cell, outcomes.get(cell[:3]), answers[first:end], thread_ids)
                failures += [f"{', '.join(cell[:3])}: {difference}" for difference in wrong]
                first, by_tool = end, by_tool + 1
        if by_tool != executed:
            failures.append(f"the tool executed {by_tool} of {executed} cells")
    for failure in failures:
        print("FAILED " + failure)
    tool = f"{by_tool} with the tool" if arguments.tool else "none with the tool (no --tool)"
    print(f"decision_table: {len(found)} cells: {executed} executed with the model, {tool}, "
          f"{len(found) - executed} n/a, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
