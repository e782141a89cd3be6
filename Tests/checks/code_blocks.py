#!/usr/bin/env python3
"""Checks that the code in the documentation compiles, and that the tool has the commands that it names.

Every fenced block of Swift, in a page or in a documentation comment of Sources, is one of:

- Code whose lines, apart from white space and blank lines, occur one after another in a Swift file of Tests. The
  imports at its beginning occur anywhere in that file.
- A file of a package, named by a comment in the first line: `// Package.swift` is evaluated by SwiftPM, and
  `// Sources/NAME/main.swift` is type-checked against a debug build.
- Not compiled, with the reason in a comment before the block: `<!-- not compiled: REASON -->`.

Every `chat-journal COMMAND` in a page exists, and the help of that command has every option that is used with it. Every
suite (`NameTests`) and program (`name.py`) of the tests and of Converters that a page names exists.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import symbol_graphs

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = PACKAGE / ".build" / "debug"
NOT_COMPILED = re.compile(r"<!-- not compiled: \S.* -->")
PACKAGE_FILE = re.compile(r"// (Package\.swift|Sources/\w+/main\.swift)")


class Block:
    """A fenced block: the file and line of its fence, its lines, and whether it is marked as not compiled."""

    def __init__(self, place, lines, is_exempt):
        self.place = place
        self.lines = lines
        self.is_exempt = is_exempt


def pages():
    """Returns the paths of the pages, without the changelog, which names what earlier versions had."""
    found = [path for path in PACKAGE.rglob("*.md") if not any(part.startswith(".build") for part in path.parts)]
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def blocks(path, lines):
    """Returns the blocks of Swift among the lines of a page, or of the documentation comments of a source."""
    found, fence, marker = [], None, ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if fence is None and text.startswith("```"):
            fence = Block(f"{path.relative_to(PACKAGE)}:{number}", [], bool(NOT_COMPILED.fullmatch(marker)))
            if text == "```swift":
                found.append(fence)
        elif fence is not None and text == "```":
            fence = None
        elif fence is not None:
            fence.lines.append(line)
        if text:
            marker = text
    return found


def documentation(path):
    """Returns the lines of a source, those outside documentation comments blank."""
    comments = (re.match(r"\s*/// ?(.*)", line) for line in path.read_text().splitlines())
    return [comment.group(1) if comment else "" for comment in comments]


def normalised(lines):
    return [" ".join(line.split()) for line in lines if line.strip() and "// swift-format-ignore" not in line]


class Compiled:
    """The lines of the Swift files of Tests, and where each occurs."""

    def __init__(self):
        self.files = [normalised(path.read_text().splitlines()) for path in sorted((PACKAGE / "Tests").rglob("*.swift"))]
        self.places = {}
        for index, lines in enumerate(self.files):
            for number, line in enumerate(lines):
                self.places.setdefault(line, []).append((index, number))

    def contain(self, block):
        lines = normalised(block)
        imports = []
        while lines and lines[0].startswith("import "):
            imports.append(lines.pop(0))
        if not lines:
            return False
        return any(
            self.files[index][number:number + len(lines)] == lines and all(line in self.files[index] for line in imports)
            for index, number in self.places.get(lines[0], []))


def build_package_file(name, block, scratch):
    """Evaluates a manifest, or type-checks a program; returns the error, if any."""
    if name == "Package.swift":
        (scratch / "ChatJournal").symlink_to(PACKAGE)
        program = scratch / "Neighbours" / "Sources" / "Neighbours" / "main.swift"
        program.parent.mkdir(parents=True)
        program.write_text("")
        # The version of the tools has to be in the first line.
        (scratch / "Neighbours" / name).write_text("\n".join(block.lines[1:]) + "\n")
        command = ["swift", "package", "--package-path", str(scratch / "Neighbours"), "show-dependencies"]
    else:
        program = scratch / "main.swift"
        program.write_text("\n".join(block.lines) + "\n")
        command = ["swiftc", "-typecheck", "-swift-version", "6", *symbol_graphs.plain(PACKAGE).arguments(), str(program)]
    ran = subprocess.run(command, capture_output=True, text=True)
    return None if ran.returncode == 0 else (ran.stdout + ran.stderr).strip()


def check_code():
    problems, count = [], 0
    compiled = Compiled()
    found = [block for path in pages() for block in blocks(path, path.read_text().splitlines())]
    for path in sorted((PACKAGE / "Sources").rglob("*.swift")):
        found += blocks(path, documentation(path))
    for block in found:
        named = PACKAGE_FILE.fullmatch(block.lines[0].strip()) if block.lines else None
        if named:
            with tempfile.TemporaryDirectory() as scratch:
                error = build_package_file(named.group(1), block, pathlib.Path(scratch))
            if error:
                problems.append(f"{block.place}: {named.group(1)} does not compile: {error}")
        elif not block.is_exempt and not compiled.contain(block.lines):
            problems.append(f"{block.place}: no file of Tests has this code: {(normalised(block.lines) or ['an empty block'])[0]}")
    for block in found:
        count += not block.is_exempt
    print(f"code_blocks: {count} blocks compile" if not problems else "code_blocks: FAILED")
    return problems


def uses(path):
    """Returns the uses of the tool in a page, each with its line."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        spans = re.findall(r"`([^`]+)`", line)
        texts = [span for span in spans if span.startswith("chat-journal ")]
        if found := re.match(r" *(?:swift run (?:-q )?)?(chat-journal [a-z].*)", line):
            texts = [found.group(1)]
        # The table of the page about the tool: the first cell has the commands, without the name of the tool.
        if path.name == "CommandLineTool.md" and (row := re.match(r"\| (`[a-z][^|]*)\|", line)):
            texts += ["chat-journal " + span for span in re.findall(r"`([^`]+)`", row.group(1)) if not span.startswith("--")]
        for text in texts:
            yield number, text


def check_tool():
    tool = BUILD / "chat-journal"
    if not tool.exists():
        return [f"there is no {tool}; build it first"]
    helps, problems, count = {}, [], 0
    for path in pages():
        for number, text in uses(path):
            words = text.split()[1:]
            command = words[0]
            if not command[0].islower():
                continue
            count += 1
            if command not in helps:
                ran = subprocess.run([tool, command, "--help"], capture_output=True, text=True)
                helps[command] = ran.stdout if ran.returncode == 0 else None
            place = f"{path.relative_to(PACKAGE)}:{number}"
            if helps[command] is None:
                problems.append(f"{place}: chat-journal has no command '{command}'")
                continue
            for option in re.findall(r"--[a-z-]+", " ".join(words[1:])):
                if not re.search(rf"{option}(?![a-z-])", helps[command]):
                    problems.append(f"{place}: '{command}' has no option {option}")
    if not problems:
        print(f"code_blocks: {count} uses of the tool have existing commands and options")
    return problems


def check_names():
    tests = PACKAGE / "Tests"
    known = {path.name for folder in (tests, tests / "checks", PACKAGE / "Converters") for path in folder.iterdir()}
    for path in tests.rglob("*.swift"):
        known |= set(re.findall(r"(?:struct|class|extension) (\w+Tests)\b", path.read_text()))
    problems, count = [], 0
    for path in pages():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in re.findall(r"`(?:Tests/checks/)?(\w+Tests|\w+\.(?:py|sh))\b[^`]*`", line):
                count += 1
                if name not in known:
                    problems.append(f"{path.relative_to(PACKAGE)}:{number}: there is no {name} in Tests or Converters")
    if not problems:
        print(f"code_blocks: {count} uses of names of tests are of existing ones")
    return problems


def main():
    problems = check_code() + check_tool() + check_names()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
