#!/usr/bin/env python3
"""Checks that dependencies run one way: between the modules of Sources, and between the folders of a module.

A reference from a file to a declaration in another file is a dependency of the first file's folder on the other's.
Declarations and references come from the index that the compiler writes with a debug build (`swift build`), not from
names or imports. A file at the top of a module belongs to the folder `(top)`. Folders that reach one another form a
cycle, and so do modules. If there is a cycle, the references that close it are listed, and the exit status is 1.

    Tests/checks/arrows.py                  the cycles, and the dependencies of each module
    Tests/checks/arrows.py --from Chat/Following --to Chat/Reading    the references behind one dependency
"""
import argparse
import os
import sys
from collections import defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from index_store import DECLARATION, DEFINITION, REFERENCE, IndexStore  # noqa: E402


def place(path):
    """Returns the module and the folder of a file of Sources: `Chat/Following`, `Chat/(top)`."""
    parts = path.split(os.sep)
    if len(parts) < 3 or parts[0] != "Sources":
        return None
    return parts[1] + "/" + (parts[2] if len(parts) > 3 else "(top)")


def references(package, store):
    """Returns the references between folders, by pair of origin and target."""
    root = os.path.realpath(package) + os.sep
    occurrences = {}
    for unit in store.units():
        path = os.path.realpath(unit.file)
        if not path.startswith(root) or not os.path.exists(path) or place(path[len(root):]) is None:
            continue
        for _, record, file, _ in unit.records:
            if os.path.realpath(file) == path:
                occurrences[path[len(root):]] = store.occurrences(record)
    definitions = {}
    for path, found in occurrences.items():
        for occurrence in found:
            # An extension has its own symbol; the extended type is a reference.
            if occurrence.roles & (DEFINITION | DECLARATION):
                definitions.setdefault(occurrence.usr, path)
    arrows = defaultdict(list)
    for path, found in occurrences.items():
        for occurrence in found:
            target = definitions.get(occurrence.usr)
            if occurrence.roles & REFERENCE and target and place(target) != place(path):
                arrows[place(path), place(target)].append((path, occurrence.line, occurrence.name, target))
    if not occurrences:
        sys.exit("The index contains no files of this package. Run `swift build` first.")
    return arrows


def components(edges):
    """Returns the strongly connected components of more than one node (Tarjan 1972)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                other = stack.pop()
                on_stack.discard(other)
                component.append(other)
                if other == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--index", help="the index store (default: .build/debug/index/store of the package)")
    parser.add_argument("--from", dest="origin", help="MODULE/FOLDER: list the references of one dependency")
    parser.add_argument("--to", dest="target")
    arguments = parser.parse_args()
    store = IndexStore(arguments.index or os.path.join(arguments.package, ".build", "debug", "index", "store"))
    arrows = references(arguments.package, store)
    if arguments.origin:
        for path, line, name, target in sorted(set(arrows.get((arguments.origin, arguments.target), []))):
            print(f"{path}:{line}: {name} ({target})")
        return 0

    modules, folders = defaultdict(set), defaultdict(lambda: defaultdict(set))
    for origin, target in arrows:
        (first, _), (second, _) = origin.split("/"), target.split("/")
        if first == second:
            folders[first][origin].add(target)
        else:
            modules[first].add(second)
    print("Modules:")
    for module in sorted(modules):
        print(f"  {module} -> {', '.join(sorted(modules[module]))}")
    circles = components(modules)
    for module in sorted(folders):
        print(f"{module}:")
        for origin in sorted(folders[module]):
            targets = sorted(folders[module][origin], key=lambda target: -len(arrows[origin, target]))
            text = ", ".join(f"{target.split('/')[1]} {len(arrows[origin, target])}" for target in targets)
            print(f"  {origin.split('/')[1]} -> {text}")
        circles += components(folders[module])
    for circle in circles:
        print(f"CYCLE: {', '.join(circle)}")
        for origin in circle:
            for target in circle:
                found = sorted(set(arrows.get((origin, target), [])))
                for path, line, name, defined in found[:3]:
                    print(f"  {path}:{line}: {name} ({defined})")
                if len(found) > 3:
                    print(f"  ... {len(found) - 3} more from {origin} to {target}")
    return 1 if circles else 0


if __name__ == "__main__":
    sys.exit(main())
