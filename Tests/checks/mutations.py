#!/usr/bin/env python3
"""Mutation tests: breaks one promise at a time in a copy of the sources, and checks that the tests fail.

    mutations.py [--package .] [--check] [--only 1,5,event.messagePosted] [--sample 10 [--seed N]] [--states 60000]
        [--scratch DIR] [--configuration debug] [--jobs 2] [--timeout SECONDS]

A mutation breaks a promise of the README, of SECURITY.md or of the pages: an omitted sync, two steps in the wrong order, a
missing check of access. There is one for each promise, in code that is seldom renamed. It replaces a few words, which must
occur exactly once in the sources of the module (or of the file that is named); otherwise the sources have changed, and the
mutation must be updated. Two sets are made from the sources:

    event.KIND    changes who is shown the events of a kind, in the table of kinds
    access.QUERY  a query that checks the access of the host instead of that of the viewer
    text.QUERY    a query that shows the texts that the host is shown

Few rules have mutations: `random_commands.py` and `decision_table.py` compare them with a second implementation.

Mutations of the journal's writing and recovery run the suites of the simulated disk (`JournalCrashTests`,
`BackupCrashTests`, `ConcurrentCrashTests`) with all repetitions (`CHATJOURNAL_LONG=1`), and if these find nothing, the
long run with --states states (0: no long run). A mutation that no power failure on the assumed disk can reveal names
another suite. A run that takes longer than three times the run with unchanged sources plus a minute is repeated, because the
machine may be busy. If the second one takes as long, the mutation counts as found, with the verdict "time".

First the unchanged sources must pass. The status is 0 if every mutation is found.

Only the targets that the suites need are copied and built, as Package.swift declares them. On two cores a
mutation takes ten seconds to two minutes, one of the crash suites some minutes. --only takes numbers of the table.
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

CRASH = "ChatTestingTests.(JournalCrash|BackupCrash|ConcurrentCrash)Tests"
LONG_CRASH = "ChatTestingTests.JournalCrashTests.*InTheLongRun"
VISIBILITY = "ChatTests.VisibilityProperties"
# The targets of every group; their declarations come from Package.swift.
BASE = ["CHashing", "Locking", "Primitives", "MerkleLog", "EventJournal", "TestSupport"]
# The modules below the facade `Chat`, with it.
STORE = ["Columns", "ChatDomain", "ChatValues", "ChatLive", "Projections", "Chat", "ChatTesting"]
SERVER = [
    "ChatWire", "CCurl", "CSodium", "CSQLite", "CWslay", "CZlib", "CServerFiles", "HTTPTransfers", "LocalStorage", "ChatAccounts", "ChatServer",
]
# The other targets of each group.
TARGETS = {
    "proofs": ["MerkleLogTests"],
    "crash": ["ChatTesting", "ChatTestingTests"],
    "units": ["ChatTesting", "StubRewriter", "ForkedProcess", "EventJournalTests"],
    "store": [*STORE, "StubRewriter", "NaiveViews", "ProjectionsTests", "ChatDomainTests", "ChatTests"],
    "server": [*STORE, *SERVER, "ChatAccountsTests", "ChatServerTests", "ChatWireTests"],
    "postgres": [*STORE, "CPostgreSQL", "JournalPostgres", "JournalPostgresTests"],
}
# The traits of a group.
TRAITS = {"server": ["Server", "Client"], "postgres": ["Postgres"]}
# The parts of a target that a group copies, if not all of it: the rest needs targets that the group does not have.
SEEDED = ["SeededEntropy.swift", "SeededExecutor+Unsafe.swift", "SeededRandom.swift"]
PARTS = {
    ("crash", "ChatTesting"): ["SimulatedDisk", *SEEDED],
    ("crash", "ChatTestingTests"): ["SimulatedDisk"],
    ("units", "ChatTesting"): SEEDED,
}
# Files of other targets that the tests of a group read.
FILES = {"server": ["Tests/FuzzCorpus/requests", "Tests/FuzzCorpus/sockets"]}


class Failed(Exception):
    pass


@dataclasses.dataclass
class Edit:
    """Replaces a text that occurs once: in a module or a file of it, or in one numbered line of a file."""

    # MODULE or MODULE/FILE.
    place: str
    old: str
    new: str
    line: int | None = None

    def apply(self, package, texts):
        """Adds the changed file to the texts by path."""
        module, _, name = self.place.partition("/")
        found = []
        for path in swift_files(package, module):
            if name and path.name != name:
                continue
            lines = texts.get(path, read(path)).splitlines(keepends=True)
            part = slice(self.line, self.line + 1) if self.line is not None else slice(None)
            text = "".join(lines[part])
            if count := len(self.pattern.findall(text)):
                found += [(path, "".join(lines[:part.start or 0]), text, "".join(lines[part.stop:]) if part.stop else "")] * count
        if len(found) != 1:
            raise Failed(f"{len(found)} times in {self.place}: {self.old}")
        path, before, text, after = found[0]
        texts[path] = before + self.pattern.sub(lambda _: self.new, text) + after

    @property
    def pattern(self):
        """The text as an expression that does not depend on where the formatter breaks lines."""
        return re.compile(re.sub(r"(?:\\[ \n]|\n)+", r"\\s+", re.escape(self.old)).replace(r"\(", r"\(\s*"))


@dataclasses.dataclass
class Mutation:
    number: str
    title: str
    edits: list
    # The test target and the suite.
    suite: str

    @property
    def group(self):
        target = self.suite.partition(".")[0]
        return next(group for group, targets in TARGETS.items() if target in targets)

    def texts(self, package):
        """Returns the changed files by path."""
        texts = {}
        for edit in self.edits:
            edit.apply(package, texts)
        return texts


# By suite: the module or file, then the title and one or more pairs of an old and a new text, each in the same place
# unless its old text is a pair (place, text).
PROMISES = {
    # What is acknowledged survives a power failure.
    CRASH: [
        ("EventJournal", "append: no sync", "work.file.sync()", "()"),
        ("EventJournal", "append: a sync that failed is tried again, and trusted",
         "work.file.sync()",
         "{ () throws(StorageError) in do throws(StorageError) { try work.file.sync() } catch { try work.file.sync() } }()"),
        ("EventJournal", "new file: its name before its bytes", "created.sync()", "()"),
        ("EventJournal/JournalDirectory.swift", "new file: no sync of the directory",
         "try directory.storage.syncDirectory(directory.path)", ""),
        ("EventJournal", "framing: a text can imitate a commit", "store(salt, at: 0)", "store(salt & 0, at: 0)"),
        ("EventJournal/SegmentWriter.swift", "backup: added commits are attested before their sync",
         "try file.sync()", "if isNew { try file.sync() }"),
    ],
    "ChatTestingTests.TreeCrashTests": [
        ("EventJournal", "tiles: the checkpoint before the names of the tiles",
         "try syncNames()\n        try write(", "try write("),
    ],
    "EventJournalTests.RemovedFilesTests": [
        ("EventJournal/Journal+Durability.swift", "files: a sync of replaced files is acknowledged",
         "try state.checkFiles(in: directory)", ""),
    ],
    # Damage is an error.
    "EventJournalTests.TearTests": [
        ("EventJournal", "recovery: every tail is a torn one",
         "in: segment.file, size: scan.size) else", "in: segment.file, size: scan.size) || true else"),
    ],
    "ChatTests.(Forged)?Checkpoint": [
        ("EventJournal", "checkpoint: another history is accepted", "== head.chain", "!= nil"),
    ],
    # A change of the history is found by a proof.
    "MerkleLogTests.(MerkleTree|WrongProof|ProofText)Tests": [
        ("MerkleLog", "proof: the earlier root is not compared", "roots.old == old.root", "true"),
        ("MerkleLog/InclusionProof.swift", "proof: the root of a leaf is not compared", "root == head.root", "true"),
    ],
    "ChatTests.EvidenceTests": [
        ("EventJournal", "evidence: the root is not compared", "root == head.root", "true"),
    ],
    # An edit takes effect once, and on the text that its author saw.
    "ChatDomainTests.(ExactlyOnce|EditRules)Tests": [
        ("ChatDomain/Posts.swift", "edit: an id of another post is a duplicate", "ids.postID(ids.post(ofEdit: edit)) == command.postID", "true"),
        ("ChatDomain/Posts.swift", "edit: a text that has changed since is overwritten",
         ", replaces != textPosition(of: found.post, ids) {", ", replaces == 0 {"),
    ],
    # Who may do what in a direct thread.
    "ChatDomainTests.DirectThreadRulesTests": [
        ("ChatDomain/Directs.swift", "direct: a block of one of two people stops nothing",
         "if isBlocked(people[0], by: people[1]) || isBlocked(people[1], by: people[0]) {", "if isBlocked(people[0], by: people[0]) {"),
        ("ChatDomain/Directs.swift", "direct: blocks among the others do not count", "envelope.isAudit || !hasBlock(amongOf: indexes)", "true"),
        ("ChatDomain/Directs.swift", "direct: opened with somebody whom the user does not know",
         "memberships.standing(membership).isMember && isMember(", "memberships.standing(membership).isMember || isMember("),
    ],
    # A thread does not lose its owner with the owner's account.
    "ChatTests.(Succession|Erase)Tests": [
        ("Projections/Succession.swift", "succession: a member before a moderator",
         "if let moderator = earliest(known.filter { !erased.contains($0.user) }.map(\\.membership)) { return moderator }", "_ = known"),
    ],
    "ChatDomainTests.ErasureRulesTests": [
        ("ChatDomain/Succession.swift", "succession: erased users give roles", "guard isEnd || isHandover else { throw .userErased }", ""),
    ],
    # What is shown is durable, whole and as of one point; an answer waits for it.
    "ChatTests.LinearizabilityTests": [
        ("Chat/ReadSide.swift", "query: shows what is not durable", "log.durablePosition", "log.lastPosition"),
        ("Chat/ChatStore+Execute.swift", "execute: a thread is answered before its commit is durable",
         "try log.waitUntilDurable(through)", ""),
    ],
    "ChatTests.ReadYourWritesTests": [
        ("Chat", "execute: a thread is answered before its commit is shown", "readSide.apply(log, through: through)", ""),
    ],
    "ChatTests.WholeCommitTests": [
        ("Chat", "query: shows a part of a commit", "slice.upperBound == last", "slice.upperBound <= last"),
    ],
    # A command and an event count once.
    "ChatTests.DuplicateReceiptTests": [
        ("Chat", "receipt: shows the text of the first caller", "first) { shown.redact(.body) }", "first) {}"),
    ],
    "ChatTests.MentionTests": [
        ("Chat", "post: a withdrawn one shows its mentions", "texts[index].mentions != nil && rows[index].isTextShown",
         "texts[index].mentions != nil"),
    ],
    "ChatTests.Follow": [
        ("Chat", "follower: an event is repeated", "if pending == nil { (position, commit) = (batch.lastScannedPosition, batch.commit) }",
         "if pending == nil { (position, commit) = (batch.lastScannedPosition - (batch.events.isEmpty ? 0 : 1), batch.commit) }"),
        ("Chat", "follower: an event is left out", "position + 1 >= state.recent", "position + 2 >= state.recent"),
    ],
    # New events that reach followers without their tasks.
    "ChatTests.LivePushTests": [
        ("Chat", "live: an event is delivered as it was written",
         "return visible(recorded, through: filter, current: current).map(LiveDelivery.event) ?? .none", "return .event(recorded)"),
        ("Chat", "live: an event that ends the access wakes nobody",
         "if filter.admits(thread), endsAccess(of: viewer, to: thread, at: recorded.position) { return .wake }", ""),
    ],
    "ChatTests.ResumeTokenTests": [
        ("Chat", "follower: a token of another history is accepted", "guard isContained ?? (", "guard isContained != nil || ("),
    ],
    "JournalPostgresTests.LostAnswerTests": [
        ("JournalPostgres", "PostgreSQL: a commit is written twice", "commits = commits[(index + 1)...]", "_ = index"),
        ("JournalPostgres", "PostgreSQL: a commit is lost",
         "if !rest.isEmpty {", "if !rest.isEmpty && writer.head.position % 7 != 3 {"),
    ],
    # A superseded writer writes nothing, and its log is not the log.
    "JournalPostgresTests.PostgresWriterTests": [
        ("JournalPostgres", "PostgreSQL: a superseded writer appends",
         "epoch = $2::bigint AND position = $3::bigint AND chain = $4::bigint AND state",
         "$2::bigint > 0 AND position = $3::bigint AND chain = $4::bigint AND state"),
    ],
    "JournalPostgresTests.OutageTests": [
        ("JournalPostgres/PostgresLog+Following.swift", "PostgreSQL: a reader shows what is not durable",
         "execute(.barrier", "execute(.hasSchema"),
    ],
    # What is erased is shown to nobody and is in no file.
    "ChatTests.BackupRoundsTests": [
        ("EventJournal", "backup: content that is erased meanwhile stays",
         "if let report, try !run.isOutdated() {", "if let report {"),
    ],
    "ChatTests.LedgerTests": [
        ("Chat", "ledger: what only the ledger orders is shown", "orders.add(missing.orders)", ""),
    ],
    "ChatTests.EraseTests": [
        ("EventJournal/Journal+Erase.swift", "erasure: checkpoints stay",
         "try directory.storage.remove(directory.file(name))", ""),
        ("Chat", "erasure: cached texts stay", "add(positions)\n        forgetContent()", "add(positions)"),
        ("Chat", "erasure: a follower delivers its batch", "erasedPositions.contains(recorded.position)", "false"),
    ],
    "ChatTests.UnfinishedErasureTests": [
        ("Chat", "erasure: what is not finished is shown",
         "if !content.positions.isEmpty { log.setHiddenContent(content.positions) }", ""),
        ("Chat", "erasure: stubs without an order are accepted",
         "try notConcerned(erased, by", "try notConcerned(PositionSet(), by"),
    ],
    "ChatTests.NoticeTests": [
        ("Chat", "erasure: a client that was away is told nothing",
         "return manyNotices(of: event, for: viewer, through: filter) != nil ||", "return"),
    ],
    # A repair widens nothing, and one person does not take the place of others.
    "ChatTests.LostRecordTests": [
        ("ChatDomain", "repair: a thread in doubt keeps its policy",
         "return isInDoubt(thread) ? .inviteOnly : threads[thread].policy", "return threads[thread].policy"),
    ],
    "ChatTests.(Inbox|People)": [
        ("Projections", "inbox: one person takes the place of others",
         "return distance == 0 || index + distance >= count", "return true"),
        ("ChatDomain", "people: whoever has an id acts on its user",
         "guard knowsAll || isPerson(user, to: actor, isBlock: isBlock, ids), let found else", "guard let found else"),
    ],
    # Viewers are shown what WhoIsShownWhat.md says; the audiences and queries are below.
    VISIBILITY: [
        ("Chat", "viewer: strangers read",
         "else { return start }\n        let beginsThere", "else { return 0 }\nlet beginsThere"),
        ("Chat", "viewer: members read what was posted before their join",
         "beginsThere ? join : 0", "beginsThere ? join - join : 0"),
        ("Projections", "viewer: operators read private threads",
         "return version.value == 0 ? version.position : nil", "return version.position"),
        ("Chat", "viewer: learns that a private thread exists",
         "viewpoint.currentPosition) else { return }\n        throw .rejected(.unknownThread)",
         "viewpoint.currentPosition) else { return }\nthrow .rejected(.notAMember)"),
        ("Chat", "viewer: former members see what they could read",
         "readingStart(viewer, thread, asOf: current).map { max(then, $0) }", "then"),
        ("Chat", "viewer: sees correlation ids", "correlationOwner(of: event, at: recorded.position) != viewer {", "event.kind == nil {"),
        ("Chat", "viewer: the inbox has posts that the user may not read",
         "posted > start\n        else { return nil }\n        if item.reason", "posted >= start - start\nelse { return nil }\nif item.reason"),
        ("Chat", "viewer: blocked users are in the inbox", "return isBlocked ? nil : (item, event)", "_ = isBlocked\nreturn (item, event)"),
        ("Chat", "viewer: operators read direct threads",
         "start = disclosurePosition(ofThread: index, asOf: position)", "start = identities.directs.contains(index) ? 0 : disclosurePosition(ofThread: index, asOf: position)"),
        ("Projections", "directory: every thread is listed",
         "policyAndHistory(ofThread: thread, asOf: position).policy == .listed", "policyAndHistory(ofThread: thread, asOf: position).policy != .residents"),
        ("Chat", "viewer: sees postcodes", "case .postcode: shown.redact(.postcode)", "case .postcode: break"),
        ("Chat", "viewer: sees former names", "event.user.flatMap({ shownNamePosition(of: $0, to: viewer, current) }) != recorded.position {",
         "event.user.flatMap({ shownNamePosition(of: $0, to: viewer, current) }) == nil {"),
        ("Chat", "viewer: sees former texts in events",
         "            return\n        }\n        shown.redact(.body)", "return\n}"),
        ("Chat", "viewer: sees removed texts", "includesRemoved: false, current", "includesRemoved: true, current"),
        ("Chat", "viewer: sees reasons", "!isReasonShown(to: viewer, in: thread, at: recorded.position) { shown.redact(.reason) }", "false {}"),
    ],
    # The server trusts no client.
    "ChatWireTests.ClientCommandsTests": [
        ("ChatWire", "client: acts as another user", "named != actor {", "named == nil {"),
    ],
    "ChatAccountsTests.(SignUp|Session)Tests": [
        ("ChatAccounts", "sessions: one of another user is ended",
         "id = ? AND account = (SELECT id FROM accounts WHERE user = ?)", "id = ? AND ? IS NOT NULL"),
    ],
    "ChatServerTests.HeadCheckTests": [
        ("ChatServer", "request: the origin is not checked", "if !origins.contains(origin.lowercased())", "if origin.isEmpty"),
        ("ChatServer", "request: every client forwards addresses",
         "guard trustedProxies.contains(peer) else { return peer }", ""),
    ],
    "ChatServerTests.HTTPParserTests": [
        ("ChatServer", "request: it may have a length and a coding", "guard length == nil || coding == nil else", "guard length == nil || coding != nil else"),
    ],
    "ChatServerTests.LimitTests": [
        ("ChatServer", "limits: unread answers have none", "guard let held = memory.hold(byteCount, by: .user(user)) else { throw Problem.busy }", "let held = HeldMemory(memory, .user(user))"),
    ],
    "ChatServerTests.MailboxTests": [
        ("ChatServer", "stream: a client that does not read has any number of bytes",
         "if byteCount >= Mailbox.capacity { return false }", ""),
        ("ChatServer", "stream: what waits for room follows the end of its session", "if Task.isCancelled { throw Ended() }", ""),
    ],
    "ChatServerTests.ReadingServerTests": [
        ("ChatServer", "reading server: every token counts while the writer is away",
         "if let former { return former }", "return former ?? UserID(bits: 1)"),
    ],
}


def promises():
    """Returns the mutations of the table."""
    for suite, rows in PROMISES.items():
        for place, title, *texts in rows:
            pairs = [(old if isinstance(old, tuple) else (place, old), new) for old, new in zip(texts[::2], texts[1::2])]
            yield title, suite, [Edit(*old, new) for old, new in pairs]


# An event of these kinds has no user who shares a thread with others at its position, and no thread.
WITHOUT_OTHERS = {"userRegistered", "userErased", "contentErased", "clockCorrected", "lost", "historyRepaired"}


def audiences(package):
    """Yields a mutation for each row of the table of kinds: another audience."""
    place = "ChatDomain/EventForm.swift"
    text = " ".join(line for _, line in numbered_lines(package, place))
    # The sentence, by which a row is found, the layout, and the other columns.
    for kind, row, layout in re.findall(r"case \.(\w+):\s+Row\(\s*(\"[^\"]+\",\s+\.(\w+)(?:[^()]|\([^()]*\))*)\)", text):
        if kind in WITHOUT_OTHERS:
            continue
        row = re.sub(r"\s+", " ", row)
        if shown := re.search(r", shownTo: \.(\w+)", row):
            new = row.replace(shown[0], {"moderators": ", shownTo: .readers"}.get(shown[1], ""))
        else:
            # Read markers and levels name a thread; the others name their user alone.
            audience = ".readers" if layout in ("marker", "notifications") else ".coMembers"
            new = re.sub(r"(?=, changing|, changesMembership|, causedBy|$)", f", shownTo: {audience}", row, count=1)
        yield Mutation(f"event.{kind}", f"viewer: another audience of {kind}", [Edit(place, row, new)], VISIBILITY)


HOST = "from: Viewpoint(viewer: .host, position: view.position, currentPosition: view.currentPosition"
# The calls that check access or withhold texts, the viewer of each, and the host in its place.
CHECKS = [(r"(require(Readable|Moderated|Shown|ReportsShown)|mayRead)\(", r"from: view\)", HOST + ")"), (r"mark(ing)?\(", r"from: view[,)]", HOST + ")"),
          (r"requireSelf\(", r"requireSelf\((reader\.)?viewer,", "requireSelf(.host")]
# The queries of WhoIsShownWhat.md that must be found: if one is missing, CHECKS no longer fits the sources.
QUERIES = {("access", name) for name in (
    "thread", "timeline", "post", "replies", "reactions", "members", "residents", "profileAndThreads", "memberships", "roles", "sanctions",
    "standing", "pins", "customEvents", "reports", "invitations", "threadInvitations", "blocks", "inboxRows", "PostDetails")}
QUERIES |= {("text", name) for name in ("timeline", "post", "replies", "pins", "profileAndThreads", "PostDetails")}


def queries(package):
    """Yields a mutation for the checks of access of each query, and for its texts: those of the host."""
    edits = {}
    for path in swift_files(package, "Chat"):
        place, query = f"Chat/{path.name}", None
        if path.parent.name not in ("Queries", "Store"):
            continue
        lines = read(path).splitlines(keepends=True)
        for number, line in enumerate(lines):
            if answered := re.search(r"^extension (\w+)Query: StoreQuery", line):
                query = (answered[1][0].lower() + answered[1][1:], place, number)
            elif (declared := re.search(r"\b(?:func (\w+)|(init)\()", line)) and declared[1] != "answer":
                query = (declared[1] or path.stem, place, number)
            if line.lstrip().startswith("//"):
                continue
            for call, old, new in CHECKS:
                if not re.search(r"\b" + call, line):
                    continue
                # A long call goes on in the next line.
                for place_of_viewer in (number, number + 1):
                    if found := re.search(old, lines[place_of_viewer]):
                        what = "text" if "mark" in call else "access"
                        edits.setdefault((what, query), []).append(
                            Edit(place, found[0], new + found[0][-1], place_of_viewer))
                        break
    if missing := QUERIES - {(what, query) for what, (query, _, _) in edits}:
        raise Failed(f"no check found in the queries {', '.join(f'{query} ({what})' for what, query in sorted(missing))}")
    taken = set()
    for (what, (query, _, _)), changes in edits.items():
        # Overloads are numbered.
        number = next(number for index in range(1, 100) if (number := f"{what}.{query}{index if index > 1 else ''}") not in taken)
        taken.add(number)
        # Only a route has the events of a thread.
        suite = "ChatWireTests.ThreadEventRouteTests" if query == "events" else VISIBILITY
        yield Mutation(number, f"viewer: {query} as for the host, {what}", changes, suite)


def mutations(package):
    """Returns all mutations: the table, and those that are made from the sources."""
    table = [Mutation(str(number), title, edits, suite) for number, (title, suite, edits) in enumerate(promises(), 1)]
    return [*table, *audiences(package), *queries(package)]


@functools.cache
def read(path):
    return path.read_text()


@functools.cache
def swift_files(package, module):
    """Returns the paths of a module's Swift files."""
    return sorted((package / "Sources" / module).rglob("*.swift"))


def numbered_lines(package, place):
    """Returns the lines of a file with their numbers, from 0."""
    module, _, name = place.partition("/")
    (path,) = [path for path in swift_files(package, module) if path.name == name]
    return list(enumerate(read(path).splitlines()))


@functools.cache
def declarations(package):
    """Returns the targets of Package.swift by name."""
    result = subprocess.run(["swift", "package", "--ignore-lock", "dump-package"], cwd=package, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failed(f"swift package dump-package: {result.stderr}")
    return {target["name"]: target for target in json.loads(result.stdout)["targets"]}


def folder(target):
    """Returns the folder of a target."""
    return target.get("path") or f"{'Tests' if target['type'] == 'test' else 'Sources'}/{target['name']}"


def declaration(target, names, traits):
    """Returns the declaration of a target for a package with these targets only."""
    if target["type"] == "system":
        library = f', pkgConfig: "{target["pkgConfig"]}"' if target.get("pkgConfig") else ""
        return f'        .systemLibrary(name: "{target["name"]}"{library})'
    kind = "testTarget" if target["type"] == "test" else "target"
    # An entry is {"byName": [NAME, CONDITION]}, or the same with "target".
    dependencies = [name for entry in target["dependencies"] for name, *_ in entry.values() if name in names]
    # Only Swift has settings.
    settings = ", swiftSettings: settings" + "".join(f' + [.define("{trait}")]' for trait in traits) if target["settings"] else ""
    return (f'        .{kind}(\n            name: "{target["name"]}", dependencies: {json.dumps(dependencies)}, path: "{folder(target)}",\n'
            f'            exclude: {json.dumps(target["exclude"])}{settings})')


def check(package, mutations):
    """Returns whether every mutation applies: each old text occurs once, and its targets exist. Prints the others."""
    good = True
    for name in sorted({name for names in [BASE, *TARGETS.values()] for name in names} - set(declarations(package))):
        print(f"Package.swift has no target {name}")
        good = False
    for mutation in mutations:
        try:
            mutation.texts(package)
        except Failed as failure:
            print(f"{mutation.number}. {mutation.title}: {failure}")
            good = False
    print(f"mutations: {len(mutations)} " + ("apply" if good else "FAILED"))
    return good


class Copy:
    """A copy of the sources that a group of suites needs, with at most one mutation."""

    def __init__(self, package, scratch, group, arguments):
        self.root, self.arguments, self.group = scratch / group, arguments, group
        self.pristine = package
        # The time limit of suites in seconds.
        self.limits = {}
        declared, names = declarations(package), [*BASE, *TARGETS[group]]
        paths = [f"{folder(declared[name])}/{part}" for name in names for part in PARTS.get((group, name), [""])]
        for path in [*paths, *FILES.get(group, [])]:
            source, target = package / path, self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target, dirs_exist_ok=True) if source.is_dir() else shutil.copy(source, target)
        manifest = (package / "Package.swift").read_text()
        # A mutated source may have unused values.
        settings = manifest.partition("let package")[0].replace("    .treatAllWarnings(as: .error),\n", "")
        platforms = re.search(r"platforms: \[.*?\],", manifest).group()
        targets = ",\n".join(declaration(declared[name], names, TRAITS.get(group, [])) for name in names)
        (self.root / "Package.swift").write_text(
            settings + f'let package = Package(\n    name: "Mutated", {platforms}\n    targets: [\n{targets}\n    ],\n'
            "    swiftLanguageModes: [.v6]\n)\n")

    def apply(self, mutation):
        """Applies a mutation to the copy; `revert` undoes it."""
        for path, text in mutation.texts(self.pristine).items():
            (self.root / path.relative_to(self.pristine)).write_text(text)

    def revert(self, mutation):
        for path in mutation.texts(self.pristine):
            (self.root / path.relative_to(self.pristine)).write_text(read(path))

    def build(self):
        status, output = self.swift("build", "--build-tests")
        if status != 0:
            raise Failed("the mutated sources do not build:\n" + output[-4000:])

    def test(self, suite, states=None):
        """Returns None if all tests pass, otherwise the first failure."""
        environment = {"CHATJOURNAL_LONG": "1"} | ({"CHATJOURNAL_CRASH_STATES": str(states)} if states else {})
        limit = None if states else self.limits.get(suite)
        options = ["--skip-build", f"--filter={suite}"]
        status, output = self.swift("test", *options, limit=limit, **environment)
        if status is None and limit:
            print("    a run did not end in time; once more", flush=True)
            status, output = self.swift("test", *options, limit=limit, **environment)
        if status != 0:
            return Finding(status, output, suite)
        # A filter without a matching test also succeeds.
        if not re.search(r"Test run with [1-9]\d* tests? .*passed", output):
            raise Failed("no test ran:\n" + output[-2000:])
        return None

    def swift(self, command, *options, limit=None, **environment):
        """Returns (status, output); the status is None after the time limit."""
        release = ["-c", "release", "-Xswiftc", "-enable-testing"] if self.arguments.configuration == "release" else []
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CHATJOURNAL_")}
        with subprocess.Popen(
                ["swift", command, *release, "-j", str(self.arguments.jobs), *options], cwd=self.root, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                env={**inherited, **environment}) as process:
            try:
                output, _ = process.communicate(timeout=limit or self.arguments.timeout)
                return process.returncode, output
            except subprocess.TimeoutExpired:
                # The tests have their own process group, in the session of this process.
                subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
                return None, process.communicate()[0]


class Finding:
    """The result of a failed run: the first test, the replay line of the first failure, the number of tried states.

    A run that did not end may have failed before.
    """

    def __init__(self, status, output, suite):
        test = re.search(r"^\S+ Test (.+?) recorded an issue(?: with \d+ arguments? (.+?))? at (\w+)\.swift", output, re.M)
        replay = re.search(r"CHATJOURNAL_CRASH='[^']+/[^']*'.*", output)
        states = re.search(r"(\d+) states of \d+ crashes, \d+ of them in recovery, [1-9]", output)
        self.did_not_end = status is None
        error = re.search(r"(?:Caught error|Expectation failed|Fatal error): (.*)", output)
        if test:
            name = re.sub(r"\(.*\)", "", test[1])
            argument = re.sub(r"EventJournal\.StorageError\.\w+\.", "", (test[2] or "").rpartition("\u2192 ")[2])
            self.test = f"{test[3]}.{name}" + (f" ({argument})" if argument else "")
        elif trap := re.search(r"^Thread \d+ .*crashed:.*?(\w+Tests)\.(\w+)\(", output, re.M | re.S):
            self.test = f"{trap[1]}.{trap[2]} (trap)"
        elif self.did_not_end:
            self.test = f"{suite}: did not end"
        else:
            self.test = f"{suite}: ended with status {status}"
        self.states = states[1] if states else ""
        self.line = replay.group() if replay else error[1] if error else output.strip().splitlines()[-1]
        # The failure of a history contains the complete history.
        if len(self.line) > 300:
            self.line = self.line[:300] + "..."


def run_mutation(mutation, copy, arguments):
    """Applies one mutation and runs its suites; returns the finding or None."""
    copy.apply(mutation)
    try:
        copy.build()
        finding = copy.test(mutation.suite)
        if finding is None and arguments.states and mutation.suite == CRASH:
            finding = copy.test(LONG_CRASH, arguments.states)
        return finding
    finally:
        copy.revert(mutation)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=".", help="the package's directory")
    parser.add_argument("--check", action="store_true", help="only check that every mutation applies, without a build")
    parser.add_argument("--only", default=None, help="numbers of the table, separated by commas")
    parser.add_argument("--sample", type=int, default=None, help="the number of mutations, chosen by --seed")
    parser.add_argument("--seed", type=int, default=None, help="the seed of the sample; default: a new one, printed")
    parser.add_argument("--states", type=int, default=60_000, help="states of the long run, if the short one finds nothing; 0: no long run")
    parser.add_argument("--configuration", choices=["debug", "release"], default="debug")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for a build or a run of tests")
    parser.add_argument("--scratch", default=None, help="the directory in which the copy is created")
    arguments = parser.parse_args()
    table = mutations(pathlib.Path(arguments.package).resolve())
    numbers = arguments.only.split(",") if arguments.only else [mutation.number for mutation in table]
    if unknown := set(numbers) - {mutation.number for mutation in table}:
        parser.error(f"unknown mutation {', '.join(sorted(unknown))}")
    if arguments.sample is not None and arguments.sample < len(numbers):
        seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
        print(f"a sample of {arguments.sample} mutations: --sample {arguments.sample} --seed {seed}", flush=True)
        numbers = random.Random(seed).sample(numbers, arguments.sample)
    return arguments, [mutation for mutation in table if mutation.number in numbers]


def run(arguments, chosen, scratch):
    """Runs the mutations; returns the rows of the table: each with a finding, None, or why the mutation did not run."""
    package, copies, rows = pathlib.Path(arguments.package).resolve(), {}, []
    # Apply all mutations once, so that changed sources are reported before the long runs.
    for mutation in chosen:
        if mutation.group not in copies:
            copies[mutation.group] = Copy(package, scratch, mutation.group, arguments)
        copies[mutation.group].apply(mutation)
        copies[mutation.group].revert(mutation)
    for group, copy in copies.items():
        start = time.monotonic()
        copy.build()
        for suite in sorted({mutation.suite for mutation in chosen if mutation.group == group}):
            tested = time.monotonic()
            if finding := copy.test(suite):
                raise Failed(f"the unchanged sources fail: {finding.test}\n  {finding.line}")
            # A mutation can make a test wait forever.
            copy.limits[suite] = min(arguments.timeout, 60 + 3 * (time.monotonic() - tested))
            print(f"unchanged sources: {suite} passes, {time.monotonic() - start:.0f} s", flush=True)
            start = time.monotonic()
    for mutation in chosen:
        start = time.monotonic()
        try:
            finding = run_mutation(mutation, copies[mutation.group], arguments)
        except Failed as failure:
            # The others are still worth a run.
            finding = failure
        print(f"{mutation.number}. {mutation.title}, {time.monotonic() - start:.0f} s", flush=True)
        if isinstance(finding, Failed):
            print(f"    FAILED: {finding}", flush=True)
        else:
            print(f"    found by {finding.test}\n    {finding.line}" if finding else "    not found", flush=True)
        rows.append((mutation, finding))
    return rows


def report(rows):
    """Prints the table; returns whether every mutation was found."""
    titles, numbers = max(len(mutation.title) for mutation, _ in rows), max(len(mutation.number) for mutation, _ in rows)
    print(f"\n{'':{numbers}} {'mutation':{titles}}  {'found':8}{'states':>8}  by")
    for mutation, finding in rows:
        start = f"{mutation.number:{numbers}} {mutation.title:{titles}}  "
        if not isinstance(finding, Finding):
            print(start + ("FAILED" if finding else "NO"))
            continue
        verdict = "time" if finding.test.endswith("did not end") else "yes"
        print(f"{start}{verdict:8}{finding.states:>8}  {finding.test}")
    return all(isinstance(finding, Finding) for _, finding in rows)


def main():
    try:
        arguments, chosen = parse()
    except Failed as failure:
        print(f"FAILED {failure}")
        return 1
    if arguments.check:
        return 0 if check(pathlib.Path(arguments.package).resolve(), chosen) else 1
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="mutations-", dir=arguments.scratch))
    try:
        rows = run(arguments, chosen, scratch)
    except Failed as failure:
        print(f"FAILED {failure}")
        return 1
    finally:
        shutil.rmtree(scratch)
    good = report(rows)
    found = sum(isinstance(finding, Finding) for _, finding in rows)
    print(f"\nmutations: {found} of {len(rows)} found; " + ("as expected" if good else "FAILED"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
