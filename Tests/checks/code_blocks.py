#!/usr/bin/env python3
"""Checks that the code in the documentation compiles, and that the tool has the commands that it names.

Every fenced block of Swift, in a page or in a documentation comment of Sources, is one of:

- Code that occurs in a Swift file of Tests, apart from where its lines break. The imports at its beginning occur anywhere
  in that file.
- A file of a package, named by a comment in the first line: `// Package.swift` is evaluated by SwiftPM, and the files
  `// Sources/NAME/FILE.swift` and `// Tests/NAME/FILE.swift` of a page are type-checked together against a debug build. Those of a
  page about a module of the trait Server are checked with `--server`, against the build in `.build/traits`, and nothing else is.
- Not compiled, with the reason in a comment before the block: `<!-- not compiled: REASON -->`.

Every `chat-journal COMMAND` in a page exists, and the help of that command has every option that is used with it. Every
suite (`NameTests`) and program (`name.py`) of the tests and of Converters that a page names exists.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import symbol_graphs

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = PACKAGE / ".build" / "debug"
NOT_COMPILED = re.compile(r"<!-- not compiled: \S.* -->")
PACKAGE_FILE = re.compile(r"// (Package\.swift|(?:Sources|Tests)/\w+/\w+\.swift)")


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


def lines_of_code(text):
    return [line.strip() for line in text if line.strip() and "// swift-format-ignore" not in line]


def flattened(lines):
    """Returns lines without white space, markers of comments and trailing commas: the formatter breaks them elsewhere in a test."""
    text = "".join("".join(re.sub(r"^///? ", "", line).split()) for line in lines)
    return re.sub(r",(?=[)\]])", "", text)


class Compiled:
    """The code of the Swift files of Tests, by file."""

    def __init__(self):
        files = [lines_of_code(path.read_text().splitlines()) for path in sorted((PACKAGE / "Tests").rglob("*.swift"))]
        self.files = [(flattened(lines), set(lines)) for lines in files]

    def contain(self, block):
        lines = lines_of_code(block)
        imports = []
        while lines and lines[0].startswith("import "):
            imports.append(lines.pop(0))
        code = flattened(lines)
        return bool(code) and any(code in text and imported.issuperset(imports) for text, imported in self.files)


def check_manifest(block, files, scratch):
    """Evaluates a manifest beside the other files of its page; returns the error, if any."""
    package = scratch / "Example"
    for name in files:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    (scratch / "ChatJournal").symlink_to(PACKAGE)
    # The version of the tools has to be in the first line.
    (package / "Package.swift").write_text("\n".join(block.lines[1:]) + "\n")
    return run("swift", "package", "--package-path", package, "show-dependencies")


def check_sources(files, graphs, scratch):
    """Type-checks the files of the modules of a package, those of tests last; returns the error, if any."""
    modules = {}
    for name, block in files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(block.lines) + "\n")
        modules.setdefault(path.parent.name, []).append(path)
    for module, paths in sorted(modules.items(), key=lambda item: item[1][0].parent.parent.name):
        options = ["-swift-version", "6", "-module-name", module, "-enable-testing", "-I", scratch, *graphs.arguments(), *paths]
        if all(path.name != "main.swift" for path in paths):
            options.append("-parse-as-library")
        if error := run("swiftc", "-typecheck", *options):
            return error
        if error := run("swiftc", "-emit-module", "-o", scratch / f"{module}.swiftmodule", *options):
            return error
    return None


def run(*command):
    """Runs a command; returns its output if it fails."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return None if ran.returncode == 0 else (ran.stdout + ran.stderr).strip()


def package_files(path):
    """Returns the blocks of a page that are files of a package, by name."""
    files = {}
    for block in blocks(path, path.read_text().splitlines()):
        if block.lines and (named := PACKAGE_FILE.fullmatch(block.lines[0].strip())):
            files[named.group(1)] = block
    return files


def check_packages(trait):
    """Checks the files of the packages in the pages about the modules of a trait, or in all others."""
    of_trait = symbol_graphs.TRAITS["server"][0]
    problems, count = [], 0
    for path in pages():
        place = path.relative_to(PACKAGE).parts
        if (place[0] == "Sources" and place[1] in of_trait) != (trait == "server"):
            continue
        files = package_files(path)
        count += len(files)
        manifest = files.pop("Package.swift", None)
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            error = check_manifest(manifest, files, scratch) if manifest else None
            if error is None and files:
                error = check_sources(files, symbol_graphs.of_trait(trait), scratch / "files")
        if error:
            problems.append(f"{path.relative_to(PACKAGE)}: the package does not compile: {error}")
    print(f"code_blocks: {count} files of packages compile" if not problems else "code_blocks: FAILED")
    return problems


def check_code():
    problems, count = [], 0
    compiled = Compiled()
    found = [block for path in pages() for block in blocks(path, path.read_text().splitlines())]
    for path in sorted((PACKAGE / "Sources").rglob("*.swift")):
        found += blocks(path, documentation(path))
    for block in found:
        if block.is_exempt or block.lines and PACKAGE_FILE.fullmatch(block.lines[0].strip()):
            continue
        count += 1
        if not compiled.contain(block.lines):
            problems.append(f"{block.place}: no file of Tests has this code: {(lines_of_code(block.lines) or ['an empty block'])[0]}")
    print(f"code_blocks: {count} blocks are code of Tests" if not problems else "code_blocks: FAILED")
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    symbol_graphs.add_trait_options(parser)
    arguments = parser.parse_args()
    if reason := symbol_graphs.missing_for(arguments.trait):
        print(f"code_blocks: SKIPPED: the trait {arguments.trait.title()}: {reason}")
        return 0
    problems = check_packages(arguments.trait)
    if arguments.trait is None:
        problems += check_code() + check_tool() + check_names()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
