#!/usr/bin/env python3
"""Mutation tests: changes a copy of the sources, one mutation at a time, and checks that the tests fail.

    mutations.py [--package .] [--check] [--only 1,5,16b] [--sample 10 [--seed N]] [--states 60000] [--scratch DIR]
        [--configuration debug] [--jobs 2] [--timeout SECONDS]

A mutation is a plausible mistake: an omitted sync, two steps in the wrong order, a missing check. It replaces lines of the
sources. Each of these lines must occur exactly once; otherwise the sources have changed, and the mutation must be updated.

Mutations of the journal's writing and recovery run the suites of the simulated disk (`JournalCrashTests`,
`BackupCrashTests`, `ConcurrentCrashTests`) with all repetitions (`CHATJOURNAL_LONG=1`), and if these find nothing, the
long run with --states states (0: no long run). A mutation that no power failure on the assumed disk can reveal names
another suite. A run that takes longer than three times the run with unchanged sources plus a minute is repeated, because the
machine may be busy. If the second one takes as long, the mutation counts as found, with the verdict "time".

First the unchanged sources must pass. The status is 0 if every mutation is found, except for mutations of redundant
checks. These protect on disks that violate the assumptions of `CrashSafety.md`; each has its reason below. If one of them
is found, the reason is wrong, and the status is 1.

Only the targets that the suites need are copied and built, as Package.swift declares them. On two cores a
mutation takes ten seconds to a minute, one of the crash suites some minutes. --only takes numbers of the table.
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

CRASH = ("JournalCrashTests", "BackupCrashTests", "ConcurrentCrashTests")
# The targets of every group; their declarations come from Package.swift.
BASE = ["CHashing", "Locking", "Primitives", "MerkleLog", "EventJournal", "TestSupport"]
# The modules below the facade `Chat`, with it.
STORE = ["Columns", "ChatDomain", "Projections", "Chat", "ChatTesting"]
# The other targets of each group.
TARGETS = {
    "locks": ["LockingTests"],
    "accounts": ["Columns", "ChatDomain", "CSodium", "CSQLite", "ChatAccounts", "ChatAccountsTests"],
    "wire": [*STORE, "ChatWire", "ChatWireTests"],
    "postgres": [*STORE, "CPostgreSQL", "JournalPostgres", "JournalPostgresTests"],
    "server": [*STORE, "ChatWire", "CSodium", "CSQLite", "CMicroHTTPD", "CWslay", "CServerFiles", "ChatAccounts", "ChatServer", "ChatServerTests"],
    "proofs": ["MerkleLogTests"],
    "crash": ["ChatTesting", "ChatTestingTests"],
    "units": ["ChatTesting", "StubRewriter", "ForkedProcess", "EventJournalTests"],
    "domain": ["Columns", "ChatDomain", "ChatTesting", "PrimitivesTests", "ColumnsTests", "ChatDomainTests"],
    "store": [*STORE, "StubRewriter", "NaiveViews", "ChatTests", "ProjectionsTests"],
}
# The trait of a group.
TRAITS = {"accounts": "Server", "server": "Server", "postgres": "Postgres"}
# The parts of a target that a group copies, if not all of it: the rest needs targets that the group does not have.
SEEDED = ["SeededEntropy.swift", "SeededExecutor+Unsafe.swift", "SeededRandom.swift"]
PARTS = {
    ("crash", "ChatTesting"): ["SimulatedDisk", *SEEDED],
    ("crash", "ChatTestingTests"): ["SimulatedDisk"],
    ("units", "ChatTesting"): SEEDED,
    ("domain", "ChatTesting"): ["CommandGenerator.swift", "DeciderSpecification.swift", "GeneratedEntities.swift", "SeededRandom.swift"],
    ("domain", "ChatDomainTests"): ["Encoding", "JSON", "Model", "Properties", "Rules", "Support", "Text", "Values"],
}
# Files of other targets that the tests of a group read.
FILES = {"wire": ["Sources/ChatServer/openapi.json", "Tests/FuzzCorpus/requests", "Tests/FuzzCorpus/sockets"]}
# The group of each test target.
GROUPS = {"ChatTestingTests": "crash", "LockingTests": "locks", "MerkleLogTests": "proofs", "EventJournalTests": "units", "PrimitivesTests": "domain", "ColumnsTests": "domain",
          "ChatDomainTests": "domain", "ChatTests": "store", "ProjectionsTests": "store", "ChatAccountsTests": "accounts",
          "ChatWireTests": "wire", "ChatServerTests": "server", "JournalPostgresTests": "postgres"}


class Failed(Exception):
    pass


@dataclasses.dataclass
class Mutation:
    number: str
    title: str
    # (file of the target, old text, new text).
    edits: list
    # The reason why no test can find it on the assumed disk; None if a test must find it.
    redundant: str | None = None
    # The test target and the suite, for a mutation that no power failure reveals.
    test_filter: str | None = None
    target: str = "EventJournal"

    @property
    def group(self):
        return GROUPS[self.test_filter.partition(".")[0]] if self.test_filter else "crash"


def account_mutation(number, title, file, old, new, test_filter):
    return Mutation(number, f"accounts: {title}", [(file, old, new)], test_filter=f"ChatAccountsTests.{test_filter}", target="ChatAccounts")


def wire_mutation(number, title, file, old, new, test_filter):
    return Mutation(number, f"wire: {title}", [(file, old, new)], test_filter=f"ChatWireTests.{test_filter}", target="ChatWire")


def server_mutation(number, title, file, old, new, test_filter, target="ChatServer"):
    return Mutation(number, f"server: {title}", [(file, old, new)], test_filter=f"ChatServerTests.{test_filter}", target=target)


def postgres_mutation(number, title, file, old, new, test_filter):
    return Mutation(number, f"PostgreSQL: {title}", [(file, old, new)], test_filter=f"JournalPostgresTests.{test_filter}", target="JournalPostgres")


def store_mutation(number, title, edits, test_filter="LinearizabilityTests", target="Chat"):
    return Mutation(number, title, edits, test_filter=f"ChatTests.{test_filter}", target=target)


def checkpoint_mutation(number, title, edits):
    return store_mutation(number, title, edits, test_filter="(Forged)?Checkpoint", target="EventJournal")


# Shows all threads to every viewer.
ALL_THREADS_SHOWN = [
    ("Sections.swift", "guard let viewer, !models.isOperator(viewer, asOf: view.currentPosition) else", "guard let viewer, viewer.bits == 0 else"),
    ("Sections.swift", "guard viewpoint.viewer != nil else", "guard viewpoint.viewer != nil, row < 0 else"),
]


def unread_mutation(number, title, old, new):
    edits = [("UnreadCounts.swift", old, new)]
    return Mutation(number, f"unread: {title}", edits, test_filter="ProjectionsTests.UnreadTests", target="Projections")


def viewer_mutation(number, asked, *edit):
    return store_mutation(number, f"viewer: no check in the query for {asked}", [edit], test_filter="QueryTests")


def visibility_mutation(number, row, *edits, target="Chat"):
    return store_mutation(number, f"table: {row}", list(edits), test_filter="VisibilityProperties", target=target)


def audience_mutation(number, title, row, changed):
    """Changes the audience of a kind in the table of kinds."""
    return visibility_mutation(number, title, ("EventForm.swift", row, changed), target="ChatDomain")


def receipt_mutation(number, field, old, new):
    return store_mutation(number, f"receipt: show the {field} of the first caller", [("Visibility.swift", old, new)], test_filter="DuplicateReceiptTests")


def table_mutation(number, title, edits):
    return Mutation(number, title, edits, test_filter="ColumnsTests.(Key|Slot)TableTests", target="Columns")


def column_mutation(number, title, file, old, new):
    return Mutation(number, title, [(f"{file}.swift", old, new)], test_filter="ColumnsTests", target="Columns")


def decoder_mutation(number, title, edits):
    return Mutation(number, title, [(name, old, new) for name, old, new in edits],
               test_filter="ChatDomainTests.(DamagedBytes|Documentation|EncodingLayout|EncodingProperty)Tests", target="ChatDomain")


def rule_mutation(number, title, file, old, new):
    return Mutation(number, f"rules: {title}", [(f"{file}.swift", old, new)], test_filter="ChatDomainTests.(RejectionOrder|\\w+Rules)Tests", target="ChatDomain")


def json_mutation(number, title, file, old, new):
    test_filter = "ChatDomainTests.((Malformed)?(Command|Event)JSON|ExportedEvent)Tests"
    return Mutation(number, f"JSON: {title}", [(f"{file}.swift", old, new)], test_filter=test_filter, target="ChatDomain")


def community_mutation(number, title, file, old, new):
    return Mutation(number, f"read models: {title}", [(f"{file}.swift", old, new)], test_filter="ProjectionsTests.CommunityTests", target="Projections")


def column_check_mutation(number, title, file, old, new, target="Projections"):
    return Mutation(number, f"checkpoint: {title}", [(f"{file}.swift", old, new)], test_filter="ProjectionsTests.CheckpointTests", target=target)


def shown_mutation(number, title, file, old, new, target="Chat"):
    return store_mutation(number, f"viewer: {title}", [(f"{file}.swift", old, new)], test_filter="VisibilityProperties", target=target)


def number_mutation(number, title, old, new):
    return Mutation(number, f"LEB128: {title}", [("LEB128.swift", old, new)], test_filter="PrimitivesTests.LEB128Tests", target="Primitives")


def erasure_mutation(number, title, file, old, new, test_filter="EraseTests", target="Chat"):
    return store_mutation(number, f"erasure: {title}", [(f"{file}.swift", old, new)], test_filter=test_filter, target=target)


def proof_mutation(number, title, file, old, new, test_filter="(MerkleTree|WrongProof|ProofText)Tests"):
    return Mutation(number, f"proofs: {title}", [(f"{file}.swift", old, new)], test_filter=f"MerkleLogTests.{test_filter}", target="MerkleLog")


def evidence_mutation(number, title, file, old, new, target="Chat"):
    return store_mutation(number, f"evidence: {title}", [(f"{file}.swift", old, new)], test_filter="EvidenceTests", target=target)


def stored_tree_mutation(number, title, file, old, new, test_filter="StoredTreeTests", target="EventJournal"):
    return Mutation(number, f"tree file: {title}", [(f"{file}.swift", old, new)], test_filter=f"EventJournalTests.{test_filter}", target=target)


def tree_mutation(number, title, file, old, new):
    return Mutation(number, f"tree: {title}", [(f"{file}.swift", old, new)], test_filter="EventJournalTests.TreeTests")


def move_mutation(number, title, file, old, new):
    return Mutation(number, f"move: {title}", [(f"{file}.swift", old, new)], test_filter="EventJournalTests.LogCopyTests")


MUTATIONS = [
    Mutation("1", "append: acknowledge without the sync", [
        ("Journal+Durability.swift",
         "                try convertingStorageErrors { () throws(StorageError) in try work.file.sync() }\n", "")]),
    Mutation("2", "append: write the slot before the sync", [
        ("Journal+Durability.swift",
         "            do throws(JournalError) {\n                try convertingStorageErrors { () throws(StorageError) in try work.file.sync() }\n",
         "            do throws(JournalError) {\n                try sync.write(slot(work.position, work.chain, isClean: false))\n"
         "                try convertingStorageErrors { () throws(StorageError) in try work.file.sync() }\n"),
        ("Journal+Durability.swift",
         "                try sync.write(slot(work.position, work.chain, isClean: false))\n                if durability", "                if durability")]),
    Mutation("3", "new file: omit the sync of the directory after the rename", [
        ("JournalDirectory.swift", "            try directory.storage.syncDirectory(directory.path)\n", "")]),
    Mutation("4", "new file: rename before the sync", [
        ("JournalDirectory.swift",
         "            try convertingStorageErrors { () throws(StorageError) in try created.sync() }\n", ""),
        ("JournalDirectory.swift",
         "            return try directory.storage.open(directory.file(name), .readWrite)\n",
         "            let file = try directory.storage.open(directory.file(name), .readWrite)\n"
         "            try file.sync()\n"
         "            return file\n")]),
    Mutation("5", "recovery: do not rewrite the kept bytes", [
        ("RecoveryWriter.swift",
         "        if let start = recovery.rewriteOffset {\n"
         "            try copy(start..<segment.end, of: segment) { (bytes, offset) throws(StorageError) in "
         "try segment.file.write(bytes, at: offset) }\n"
         "        }\n", "")]),
    Mutation("6", "rotation: omit the sync of the old segment", [
        ("Journal+Append.swift",
         "                        try active.file.sync()\n                        try active.seal(state.lastChain)\n",
         "                        let footer = active.footer(state.lastChain)\n"
         "                        try footer.withBytes(0..<footer.count) { (span) throws(StorageError) in\n"
         "                            try active.file.write(span, at: active.end)\n"
         "                        }\n"
         "                        try active.file.truncate(to: active.end + UInt64(footer.count))\n")]),
    Mutation("7", "rotation: write the footer before the sync of the commits", [
        ("Journal+Append.swift",
         "                        try active.file.sync()\n                        try active.seal(state.lastChain)\n",
         "                        try active.seal(state.lastChain)\n")],
        redundant="A footer counts only if all commits before it were read and are valid, or if another segment follows, which is "
               "named after the second sync. The first sync is for readers that trust a footer alone."),
    Mutation("8", "chain: never compare it while reading commits", [
        ("CommitParser.swift",
         "        if isChainKnown && chain != commit.chain { return problem(.chain, range, commit.firstPosition, commit.lastPosition) }\n", ""),
        ("CommitParser.swift", "            return isChainKnown && header.chain != chain\n",
         "            return isChainKnown && header.chain != chain && header.length == 0\n"),
        ("Recovery.swift", "        guard opened.segment.header.chain == chain else {\n",
         "        guard opened.segment.header.chain == chain || first > 0 else {\n"),
        ("Journal+Following.swift", "        guard opened.segment.header.chain == chain else {\n",
         "        guard opened.segment.header.chain == chain || first > 0 else {\n")], test_filter="EventJournalTests.TearTests"),
    Mutation("9", "framing salt: none", [
        ("SegmentHeader.swift", "        bytes.store(salt, at: 0)\n", "        bytes.store(salt & 0, at: 0)\n")]),
    Mutation("9b", "framing salt: the journal's id, which every head shows", [
        ("SegmentHeader.swift", "        bytes.store(salt, at: 0)\n",
         "        bytes.store(UInt64(truncatingIfNeeded: journal.bits), at: 0)\n")]),
    Mutation("10", "recovery: write the footer before the sync of the rest", [
        ("RecoveryWriter.swift", "            try segment.file.sync()\n        }\n        recovery.lastFileSize", "        }\n        recovery.lastFileSize")],
        redundant="As 7: no footer follows missing commits, and the sync after it covers both."),
    Mutation("10b", "recovery: omit the sync", [
        ("RecoveryWriter.swift", "            try segment.file.sync()\n        }\n        recovery.lastFileSize", "        }\n        recovery.lastFileSize"),
        ("RecoveryWriter.swift", "            try segment.seal(recovery.chain)\n",
         "            let footer = segment.footer(recovery.chain)\n"
         "            try footer.withBytes(0..<footer.count) { (span) throws(StorageError) in try segment.file.write(span, at: segment.end) }\n"
         "            try segment.file.truncate(to: segment.end + UInt64(footer.count))\n")]),
    Mutation("11", "recovery: continue in the same segment", [
        ("RecoveryWriter.swift", "        if segment.isEmpty { return }\n",
         "        if segment.isEmpty || !recovery.isLastSealed { return }\n"),
        ("Journal+Open.swift", "                if isClean && !isSealed { return }\n",
         "                if !isSealed { return }\n")],
        redundant="The file was truncated and synced before, so removed bytes do not return. The new segment is for disks that restore them."),
    Mutation("12", "close: clean mark without the second sync", [
        ("Journal+Open.swift",
         "                        try active.file.truncate(to: active.end)\n                        try active.file.sync()\n",
         "                        try active.file.truncate(to: active.end)\n")],
        redundant="Zeros may return after the commits; opening treats a file as clean only if it ends with its commits."),
    Mutation("13", "rotation: omit the sync of the slots", [
        ("Journal+Append.swift",
         "        try sync.syncSlots()\n        (state.syncedPosition",
         "        if isClean { try sync.syncSlots() }\n        (state.syncedPosition")],
        redundant="The header of the new segment attests the same, and is durable before it is relied on."),
    Mutation("13b", "synchronize: omit the sync of the slots", [
        ("Journal+Durability.swift",
         "            try syncSlots(&sync)\n        }\n    }\n\n    private enum TaskStep",
         "        }\n    }\n\n    private enum TaskStep")],
        redundant="The commits are synced and found without the slot. Its attestation detects a disk that loses them."),
    Mutation("14", "sync: repeat a failed sync and trust it", [
        ("Journal+Durability.swift",
         "                try convertingStorageErrors { () throws(StorageError) in try work.file.sync() }\n",
         "                try convertingStorageErrors { () throws(StorageError) in\n"
         "                    do throws(StorageError) { try work.file.sync() } catch { try work.file.sync() }\n"
         "                }\n")]),
    Mutation("15", "creation: omit the sync of the parent directory", [
        ("Journal+Open.swift",
         "            try convertingStorageErrors { () throws(StorageError) in try options.storage.syncDirectory(directory.parent) }\n", "")]),
    Mutation("15a", "opening: omit the sync of names that a killed process created", [
        ("Journal+Open.swift",
         "        try convertingStorageErrors { () throws(StorageError) in try options.storage.syncDirectory(directory.path) }\n", "")]),
    Mutation("15b", "backup: omit the sync of the parent directory", [
        ("BackupTarget.swift",
         "        try convertingStorageErrors { () throws(StorageError) in try directory.storage.syncDirectory(directory.parent) }\n", "")]),
    Mutation("16", "backup: attest added commits in the slot before they are durable", [
        ("SegmentWriter.swift", "            try file.sync()\n            guard isNew else { return }\n",
         "            guard isNew else { return }\n            try file.sync()\n")]),
    Mutation("16b", "backup: attest a new segment without a sync", [
        ("SegmentWriter.swift", "            try file.sync()\n            guard isNew else { return }\n",
         "            guard isNew else { return try file.sync() }\n")]),
    Mutation("17", "recovery: remove a tail without the tear rule", [
        ("Recovery.swift", "        guard try TearRule.explains(problem, in: segment.file, size: scan.size) else {\n",
         "        guard try TearRule.explains(problem, in: segment.file, size: scan.size) || scan.size > 0 else {\n")], test_filter="EventJournalTests.TearTests"),
    Mutation("17b", "recovery: reject every tail", [
        ("Recovery.swift", "        guard try TearRule.explains(problem, in: segment.file, size: scan.size) else {\n",
         "        guard try TearRule.explains(problem, in: segment.file, size: scan.size) && scan.size == 0 else {\n")]),
    Mutation("18", "recovery: trust a torn footer of the last segment", [
        ("Segment.swift",
         "        guard let footer = scan.footer, size == scan.segment.end + UInt64(footer.length) else { return false }\n",
         "        guard let footer = scan.footer else { return false }\n"
         "        if footer.length > 0 { return true }\n")]),
    Mutation("18b", "recovery: reject a torn footer of the last segment", [
        ("Recovery.swift",
         "                isLastSealed = try opened.isSealed(at: scan)\n",
         "                isLastSealed = try opened.isSealed(at: scan)\n"
         "                if scan.footer != nil && !isLastSealed {\n"
         "                    throw JournalError(.damaged, \"The footer is torn.\", segment: opened.segment.name)\n"
         "                }\n")]),
    Mutation("19", "commits of a round: sync before the write", [
        ("Journal+Durability.swift",
         "                    try state.writePending()\n                    state.zeroFillIfUseful(commitCount: commitCount, byteCount: byteCount)\n",
         "                    if commitCount < 2 || byteCount < 0 { try state.writePending() }\n")]),
    Mutation("20", "commits of a round: omit the write at the end of the leadership", [
        ("Journal+Durability.swift",
         "            if !state.waiters.hasLeader { do throws(JournalError) { try state.writePending() } catch {} }\n", "")],
        test_filter="EventJournalTests.GroupWriteTests"),
    store_mutation("21", "query: as of the previous position", [
        ("Sections.swift",
         "            let viewpoint = Viewpoint(viewer: viewer, position: asked ?? shown.position, currentPosition: shown.position)\n",
         "            let present = shown.position - (shown.position > 0 ? 1 : 0)\n"
         "            let viewpoint = Viewpoint(viewer: viewer, position: asked ?? present, currentPosition: present)\n")]),
    store_mutation("22", "query: as of the decided position, durable or not", [
        ("ReadSide.swift", "            let durable = log.durablePosition\n", "            let durable = log.lastPosition\n")]),
    store_mutation("23", "execute: answer a task without the wait", [
        ("ChatStore+Execute.swift",
         "        do { try await log.waitUntilDurable(decided.requiredPosition) } catch { throw stopping(after: error) }\n",
         "        await Task.yield()\n")]),
    store_mutation("23b", "execute: answer a thread without the wait", [
        ("ChatStore+Execute.swift",
         "        do throws(JournalError) { try log.waitUntilDurable(through) } catch { throw stopping(after: error) }\n        readSide",
         "        readSide")]),
    store_mutation("24", "execute: wait for appended events only, not for the events behind a rejection", [
        ("ChatStore+Execute.swift",
         "        do { try await log.waitUntilDurable(decided.requiredPosition) } catch { throw stopping(after: error) }\n",
         "        if decided.answers.contains(where: { if case .success(let receipt) = $0 { receipt.positions != nil } else { false } }) {\n"
         "            do { try await log.waitUntilDurable(decided.requiredPosition) } catch { throw stopping(after: error) }\n"
         "        }\n")]),
    store_mutation("25", "texts: show an edit with the text of the post", [
        ("ChatStore+Texts.swift", "        let edits = try texts(at: textPositions.edits)\n", "        let edits = try texts(at: textPositions.edited.map { textPositions.posted[$0] })\n")]),
    store_mutation("25b", "texts: show the time of the edit as the time of creation", [
        ("ChatStore+Texts.swift", "            posts[index].body = edits[edit].body\n", "            posts[index] = edits[edit]\n")], test_filter="QueryTests"),
    store_mutation("26", "activity: always as of now", [
        ("ChatStore+Queries.swift", "from: first, to: last, asOf: sections.viewpoint.position)", "from: first, to: last, asOf: .max)")]),
    store_mutation("27", "access: always as of now", [
        ("Sections.swift", "changeCount(ofMembership: $1, asOf: viewpoint.position)", "changeCount(ofMembership: $1, asOf: .max)")]),
    store_mutation("28", "readers: always as of now", [
        ("ChatStore+Queries.swift", "readers(of: thread, scan, asOf: sections.viewpoint.position)", "readers(of: thread, scan, asOf: .max)")]),
    store_mutation("28b", "user: later sections as of now", [
        ("ChatStore+Queries.swift", "        let (view, user) = (sections.viewpoint, id)\n",
         "        let now = sections.withSection { $0.position }\n"
         "        let (view, user) = (Viewpoint(viewer: viewer, position: point == .now ? now : sections.viewpoint.position, currentPosition: now), id)\n")],
        test_filter="SectionsTests"),
    store_mutation("28c", "sections: as long as the query", [
        ("Sections.swift", "static let rowCount = 512\n", "static let rowCount = 51_200\n")], test_filter="SectionsTests"),
    store_mutation("29", "page: the older cursor from the decided position, durable or not", [
        ("ChatStore+Paging.swift", "models.messages(of: thread, $0, asOf: view.position, after: start)",
         "models.messages(of: thread, $0, asOf: models.position, after: start)")]),
    store_mutation("30", "page: accept a cursor from beyond the end", [
        ("ChatStore+Paging.swift", "            guard cursor.bound <= end else { throw .rejected(.invalidPosition) }\n", "")]),
    store_mutation("31", "decide: record the clock's time, even if it was set back", [
        ("Decide.swift", "max(recordableTime(at: now), lastRecordedAt)", "recordableTime(at: now)")],
        test_filter="ClockTests", target="ChatDomain"),
    table_mutation("32", "table: do not search the old array during growth", [
        ("SlotTable.swift", "        guard index < 0, let previous else", "        guard index < 0, let previous, usedSlotCount == 0 else")]),
    table_mutation("32b", "table: drop the old array before its last keys are moved", [
        ("SlotTable.swift", "        if movedCount == oldIndexCount {", "        if movedCount + Self.step > oldIndexCount {")]),
    table_mutation("32c", "table: change a copy's slots with the original's", [
        ("SlotTable.swift", "        makeUnique()\n        current[", "        current[")]),
    table_mutation("33", "table: release the memory of an array while a copy reads it", [
        ("SlotTable.swift", "if !isKnownUniquelyReferenced(&retired) || retired?", "if retired?")]),
    table_mutation("33b", "table: too few bits of a slot for its index", [
        ("SlotArray+Unsafe.swift", "        indexMask = .max >> UInt32((maximumEntryCount + 1)", "        indexMask = .max >> UInt32((maximumEntryCount / 2)")]),
    table_mutation("33c", "table: keep the seed after long probes", [
        ("SlotTable.swift", "> Self.maximumProbeLength { needsNewSeed = true }", "> Self.maximumProbeLength { needsNewSeed = false }")]),
    table_mutation("33d", "table: write the slots unchanged during growth", [
        ("KeyTable.swift", "        if !slots.isGrowing && slots.usedSlotCount == keys.count { return", "        if slots.usedSlotCount > 0 { return")]),
    table_mutation("33e", "table: growth that stops without further keys", [
        ("KeyTable.swift", "            if slots.isGrowing { slots.continueGrowth { index, seed in seed.hash(keys[index]) } }\n", "")]),
    table_mutation("33f", "table: change a copy's slots during growth", [
        ("SlotTable.swift", "        makeUnique()\n        moveIndexes(Self.step, hash)", "        moveIndexes(Self.step, hash)")]),
    table_mutation("33g", "table: look up a group in the current array only", [
        ("KeyTable.swift", "        Self.find(&group, keys, in: old)\n", "        _ = old\n")]),
    table_mutation("33h", "table: growth that stops while keys are looked up in groups", [
        ("KeyTable.swift", "            slots.continueGrowth { [keys] index, seed in seed.hash(keys[index]) }\n", "            _ = index\n")]),
    table_mutation("33i", "table: take the first entry with equal bits of the hash for the key of a group", [
        ("KeyTable.swift", "if ordinal != 0, keys[Int(ordinal) &- 1] == group.keys[index] {", "if ordinal != 0 {")]),
    column_mutation("34f", "zeros: leave the numbers of the packed piece in the last piece", "PackedColumn",
               "            for index in tailCount..<end { tail[index] = 0 }\n", ""),
    column_mutation("34g", "zeros: compare only the stored numbers", "MostlyZeroColumn",
               "first.length == second.length && first.numbers == second.numbers", "first.length == second.length && first.stored == second.stored"),
    column_mutation("34h", "zeros: write only the stored numbers", "MostlyZeroColumn", "{ numbers.write(to: &writer) }", "{ stored.write(to: &writer) }"),
    table_mutation("34b", "table: trust an index beyond the number of keys", [
        ("KeyTable.swift", "usedInBlock == indexed && Int(largest) <= keys.count", "usedInBlock == indexed && Int(largest) <= keys.count + 1")]),
    Mutation("34e", "row index: take an entry of the old array for a final one", [
        ("SlotTable.swift", "        let (present, slot) = current.search(hashed) { $0 == index }\n        if present < 0 {",
         "        let (present, slot) = current.search(hashed) { $0 == index }\n"
         "        let former = previous.map { old in hash(index, old.seed).map { old.search($0) { $0 == index }.index } ?? -1 } ?? -1\n"
         "        if present < 0, former < 0 {")], test_filter="ColumnsTests.RowIndexTests", target="Columns"),
    decoder_mutation("35", "decoder: read a byte beyond the end", [
        ("ByteReader.swift", "guard bytes.byteCount - offset >= count else", "guard bytes.byteCount - offset >= count - 1 else")]),
    decoder_mutation("35b", "decoder: load a whole number at the end of the part", [
        ("ByteReader.swift", "        if bytes.byteCount - start >= 8 {", "        if bytes.byteCount - start >= byteCount {")]),
    decoder_mutation("35c", "decoder: load a number with the bytes after it", [
        ("ByteReader.swift", " & (1 << UInt64(8 * byteCount) - 1) }", " }")]),
    decoder_mutation("35d", "decoder: swap the halves of an id", [
        ("ByteReader.swift", "UInt128(high) << 64 | UInt128(low)", "UInt128(low) << 64 | UInt128(high)")]),
    number_mutation("36", "take a first byte with a continuation bit for the whole number", "if first < 0x80, first", "if first <= 0x80, first"),
    number_mutation("36b", "accept a number of 65 bits", "            guard (bits << shift) >> shift == bits else { return .invalid }\n", ""),
    number_mutation("36c", "accept a number that is not in its shortest form", "guard byte != 0 || shift == 0, value", "guard value"),
    number_mutation("36d", "accept a number beyond the limit", "shift == 0, value <= limit else", "shift == 0 else"),
    decoder_mutation("37", "events: swap user and thread of a read marker", [
        ("EventLayout.swift", "case .marker: [.user, .thread, .upTo]\n        case .session: [.user, .session]\n        case .member: [.thread, .user, .otherActor, .number]",
         "case .marker: [.thread, .user, .upTo]\n        case .session: [.user, .session]\n        case .member: [.thread, .user, .otherActor, .number]")]),
    decoder_mutation("37b", "events: swap a reply and its message", [
        ("EventLayout.swift", "[.thread, .parent, .reply, .user, .number]", "[.thread, .reply, .parent, .user, .number]")]),
    decoder_mutation("38", "decoder: accept empty content before the length of later fields", [
        ("EventDecoder.swift", "        guard reader.offset >= offset else { throw error(.tooShort) }\n", "")]),
    decoder_mutation("38b", "decoder: accept content that ends before its start", [
        ("EventDecoder.swift", "guard extra <= erasable.byteCount - 4 - offset else", "guard extra <= erasable.byteCount - 4 else")]),
    decoder_mutation("38c", "decoder: read content at the offset of the correlation id", [
        ("EventDecoder.swift", "        _ = try reader.correlation(row, erasable)\n", "")]),
    store_mutation("39", "cursor: accept one of another journal", [
        ("ChatStore+Paging.swift", "guard cursor.journal == log.id, cursor.list == list else", "guard cursor.list == list else")], test_filter="PagingTests"),
    store_mutation("39b", "cursor: accept one of another list", [
        ("ChatStore+Paging.swift", "guard cursor.journal == log.id, cursor.list == list else", "guard cursor.journal == log.id else")],
        test_filter="PagingTests"),
    store_mutation("40", "cursor: the older one leads to newer entries", [
        ("ChatStore+Paging.swift", "found.older.map { cursor(.older, $0) }", "found.older.map { cursor(.newer, $0) }")], test_filter="PagingTests"),
    store_mutation("40b", "cursor: the older page repeats the edge", [
        ("ChatStore+Paging.swift", "before: cursor.bound)", "before: cursor.bound + 1)")], test_filter="PagingTests"),
    store_mutation("40c", "cursor: the older page misses the entry before the edge", [
        ("ChatStore+Paging.swift", "before: cursor.bound)", "before: max(cursor.bound, 1) - 1)")], test_filter="PagingTests"),
    store_mutation("40d", "cursor: the newer page repeats the edge", [
        ("ChatStore+Paging.swift", "after: cursor.bound)", "after: max(cursor.bound, 1) - 1)")], test_filter="PagingTests"),
    store_mutation("40e", "cursor: the newer page misses the entry after the edge", [
        ("ChatStore+Paging.swift", "after: cursor.bound)", "after: cursor.bound + 1)")], test_filter="PagingTests"),
    store_mutation("41", "cursor: reject the one from the end", [
        ("ChatStore+Paging.swift", "guard cursor.bound <= end + 1 else", "guard cursor.bound <= end else")], test_filter="PagingTests"),
    store_mutation("41b", "cursor: an empty page always continues at the end", [
        ("ChatStore+Paging.swift", "newer = min(now, page.after ?? (page.before ?? page.around).map { max($0, 1) - 1 } ?? now)", "newer = now")],
        test_filter="PagingTests"),
    store_mutation("41c", "cursor: no older cursor before one entry", [
        ("ChatStore+Paging.swift", "find(PageRequest(limit: 1, before: start)).isEmpty ? nil : start", "find(PageRequest(limit: 2, before: start)).count < 2 ? nil : start")],
        test_filter="PagingTests"),
    store_mutation("42", "page: include the entry at the lower bound", [
        ("PageRequest.swift", "from: $0 + 1, position)", "from: $0, position)")], test_filter="PagingTests", target="Projections"),
    store_mutation("42b", "page: include the entry at the upper bound", [
        ("PageRequest.swift", "from: $0, position)", "from: $0 + 1, position)")], test_filter="PagingTests", target="Projections"),
    store_mutation("42c", "page: one entry more than the limit", [
        ("PageRequest.swift", "lower..<min(upper, lower + min(limit, upper - lower))", "lower..<min(upper, lower + min(limit, upper - lower) + 1)")],
        test_filter="PagingTests", target="Projections"),
    unread_mutation("42d", "count own retractions twice", "{ _ in inBlock }", "{ _ in 2 * inBlock }"),
    unread_mutation("42da", "count the messages of blocked users", "blocked.reduce(written(by: membership)) { $0 + written(by: $1) }", "written(by: membership)"),
    Mutation("42db", "unread: a block never ends", [("CommunityHistory.swift", "        if !isBlocked, isListed { users.remove(at: index) }\n", "")],
             test_filter="ProjectionsTests.UnreadTests", target="Projections"),
    rule_mutation("42dc", "any number of blocks", "DecideUsers", "        if isBlocked, hasMaximumBlocks(actor), !envelope.isAudit { throw .tooManyBlocks }\n", ""),
    unread_mutation("42e", "omit the update of a thread's tree", "        withdrawnCounts.mark(index, of: indexes.thread, at: position)\n", ""),
    unread_mutation("42f", "omit the update of a member's tree", "        if isOwn { ownWithdrawnCounts.mark(rank, of: indexes.membership, at: position) }\n",
               "        if isOwn, rank == 0 { ownWithdrawnCounts.mark(rank, of: indexes.membership, at: position) }\n"),
    unread_mutation("42g", "count later retractions", "versions.count(links[index], asOf: position)", "versions.count(links[index], asOf: .max)"),
    unread_mutation("42i", "count a member's messages modulo 32", "(former.countInBlock + 1) & Self.blockMask", "(former.countInBlock + 1) & 31"),
    unread_mutation("42j", "forget the link to a member's 64th messages", "blockLink: link)\n    }", "blockLink: 0)\n    }"),
    Mutation("42k", "activity: lose the posts of a run that ends", [
        ("Activity.swift", "        if latestDay >= 0 { counts[latestDay] &+= latestRunCount }\n", "")],
        test_filter="ProjectionsTests.ActivityTests", target="Projections"),
    Mutation("42l", "versions: count a chain's versions without the latest", [
        ("VersionChains.swift", "            earlierCounts[index] = rank(newest)\n", "            earlierCounts[index] = rank(newest) - 1\n")],
        test_filter="ProjectionsTests.VersionsTests", target="Projections"),
    unread_mutation("42h", "omit the 64th message of a member", "        if count == 0 { blockVersions", "        if count == 0, index < 0 { blockVersions"),
    store_mutation("43", "viewer: every user may read everything", [
        ("UserQueries.swift", "guard let join = joinPosition(viewer, in: thread, asOf: position) else { return start }\n",
         "guard let join = joinPosition(viewer, in: thread, asOf: position) else { return 0 }\n")], test_filter="QueryTests", target="Projections"),
    store_mutation("43b", "viewer: former members may read", [
        ("UserQueries.swift", "guard let join = joinPosition(viewer, in: thread, asOf: position) else { return start }\n",
         "guard let join = joinPosition(viewer, in: thread, asOf: position) ?? (hasBeenMember(viewer, of: thread, asOf: position) ? 0 : nil)"
         " else { return start }\n")], test_filter="QueryTests", target="Projections"),
    store_mutation("43c", "viewer: no check in the query for the threads", ALL_THREADS_SHOWN, test_filter="QueryTests"),
    viewer_mutation("43d", "a thread", "ChatStore+Queries.swift", "            let start = try models.requireReadable(id, from: view)\n", "            let start: Position = 0\n"),
    viewer_mutation("43e", "a timeline", "ChatStore+Queries.swift",
               "            let start = try models.requireReadable(thread, from: view)\n", "            let start: Position = 0\n"),
    viewer_mutation("43f", "a message", "ChatStore+Queries.swift", "            let thread = try models.requireReadable(id, from: view)\n",
               "            guard let thread = models.thread(of: id, asOf: view.position) else { throw .rejected(.unknownMessage) }\n"),
    viewer_mutation("43g", "replies", "ChatStore+Queries.swift", "            let thread = try models.requireReadable(message, from: view)\n",
               "            guard let thread = models.thread(of: message, asOf: view.position) else { throw .rejected(.unknownMessage) }\n"),
    viewer_mutation("43h", "the members", "ChatStore+Queries.swift",
               " in\n            try models.requireReadable(thread, from: view)\n            return models.scan", " in\n            return models.scan"),
    viewer_mutation("43i", "the readers", "ChatStore+Queries.swift",
               "            try requireHost(viewer)\n            try models.requireReadable(thread", "            try models.requireReadable(thread"),
    viewer_mutation("43j", "the residents", "ChatStore+Queries.swift",
               "            guard models.mayRead(ThreadID(code), from: view) else { throw .rejected(.notAMember) }\n", ""),
    viewer_mutation("43k", "a user", "ChatStore+Queries.swift", "            try requireSelf(viewer, id)\n", ""),
    viewer_mutation("43l", "the access of a user", "ChatStore+Queries.swift", "            try requireSelf(viewer, user)\n", ""),
    viewer_mutation("43m", "a page of a timeline", "ChatStore+Paging.swift", "            let start = try models.requireReadable(thread, from: view)\n",
               "            let start: Position = 0\n"),
    viewer_mutation("43n", "a page of replies", "ChatStore+Paging.swift", "            let thread = try models.requireReadable(message, from: view)\n",
               "            guard let thread = models.thread(of: message, asOf: view.position) else { throw .rejected(.unknownMessage) }\n"),
    store_mutation("43o", "viewer: list a thread that the viewer has left", [
        ("Sections.swift", "models.mayRead(models.threadID(ofThread: thread), from: viewpoint) ? thread : nil", "thread")], test_filter="(Query|Paging)Tests|VisibilityProperties"),
    store_mutation("43p", "viewer: no check in a follower", [
        ("Visibility.swift", "case .readers(let thread): return maySee(viewer, event, in: thread, at: position, current: current)",
         "case .readers: return true")],
        test_filter="SharedFeedTests"),
    viewer_mutation("43q", "the history of a message", "ChatStore+PostDetails.swift", "            thread = try models.requireReadable(id, from: view)\n",
               "            guard let found = models.thread(of: id, asOf: now) else { throw .rejected(.unknownMessage) }\n"
               "            thread = found\n"),
    viewer_mutation("43s", "the history of a reply", "ChatStore+PostDetails.swift", "            let readable = try models.requireReadable(id, from: view)\n",
               "            guard let answered = models.message(answeredBy: id, asOf: now), let found = models.thread(of: answered, asOf: now)\n"
               "            else { throw .rejected(.unknownReply) }\n"
               "            let readable = (message: answered, thread: found)\n"),
    viewer_mutation("43r", "the activity", "ChatStore+Queries.swift",
               "            try requireHost(viewer)\n            return models.dayScan", "            return models.dayScan"),
    # The rows of `WhoIsShownWhat.md`, one mutation each.
    visibility_mutation("80", "userRegistered: shown to every user", (
        "Visibility.swift", "        if actor == viewer { return recorded }\n",
        "        if actor == viewer || event.kind == .userRegistered { return recorded }\n"), (
        "Visibility.swift", "        if event.isOwn(of: viewer) || removesPost(of: viewer, event) { return true }\n",
        "        if event.isOwn(of: viewer) || removesPost(of: viewer, event) || event.kind == .userRegistered { return true }\n")),
    visibility_mutation("80b", "usernameChanged: show a former name", (
        "Visibility.swift", "            if event.user.flatMap({ namePosition(of: $0, asOf: current) }) != recorded.position { shown.redact(.username) }\n", "            break\n")),
    store_mutation("80c", "table: usernameChanged: acquaintances as of now", [(
        "Visibility.swift", "threads(of: user, asOf: position).contains", "threads(of: user, asOf: current).contains")], test_filter="AcquaintanceTests"),
    visibility_mutation("80d", "postcodeSet: show the postcode", ("Visibility.swift", "        case .postcode: shown.redact(.postcode)\n", "        case .postcode: break\n")),
    visibility_mutation("80e", "events of others: show the correlation id", ("Visibility.swift", "        shown.event.correlation = nil\n        if let", "        if let")),
    visibility_mutation("80f", "messagePosted: show former text", (
        "Visibility.swift", "        switch form.redactable {\n", "        switch event.kind == .messagePosted ? [] : form.redactable {\n")),
    visibility_mutation("80g", "messageEdited: show former text", (
        "Visibility.swift", "        switch form.redactable {\n", "        switch event.kind == .messageEdited ? [] : form.redactable {\n")),
    visibility_mutation("80h", "replyPosted: show former text", (
        "Visibility.swift", "        switch form.redactable {\n", "        switch event.kind == .replyPosted ? [] : form.redactable {\n")),
    visibility_mutation("80i", "replyEdited: show former text", (
        "Visibility.swift", "        switch form.redactable {\n", "        switch event.kind == .replyEdited ? [] : form.redactable {\n")),
    visibility_mutation("80j", "former members: show what they could read", (
        "Visibility.swift", "        return readingStart(viewer, thread, asOf: current).map { max(then, $0) }\n", "        return then\n")),
    visibility_mutation("80k", "new members: show events before the join", (
        "Visibility.swift", "guard let then = readingStart(viewer, thread, asOf: position) else", "guard let then = readingStart(viewer, thread, asOf: current) else")),
    audience_mutation("80l", "threadRead: shown to members", "EventForm(.marker, changesMembership", "EventForm(.marker, shownTo: .readers, changesMembership"),
    audience_mutation("80m", "sessionStarted: shown to acquaintances", "EventForm(.session, .device)", "EventForm(.session, .device, shownTo: .coMembers)"),
    visibility_mutation("80n", "own events: incomplete", ("Visibility.swift", "        if actor == viewer { return recorded }\n", "")),
    audience_mutation("80o", "retractions: shown to no user", "case .messageRetracted: EventForm(.message, userKey: .by, shownTo: .readers)", "case .messageRetracted: EventForm(.message, userKey: .by)"),
    audience_mutation("80s", "policies: shown to no user", "EventForm(.policy, userKey: .by, shownTo: .readers)", "EventForm(.policy, userKey: .by)"),
    store_mutation("80p", "table: lost: shown to every user", [(
        "Visibility.swift", "        if actor == viewer { return recorded }\n", "        if actor == viewer || event.user == nil { return recorded }\n"), (
        "Visibility.swift", "        if event.isOwn(of: viewer) || removesPost(of: viewer, event) { return true }\n",
        "        if event.isOwn(of: viewer) || removesPost(of: viewer, event) || event.user == nil { return true }\n")],
        test_filter="LostEventVisibilityTests"),
    visibility_mutation("81", "threads by name: find those of others", *ALL_THREADS_SHOWN),
    visibility_mutation("81b", "timeline: show former text", (
        "ChatStore+Queries.swift", "models.marking(models.messages(of: thread, page, asOf: view.position, after: start), in: thread, from: view)",
        "models.messages(of: thread, page, asOf: view.position, after: start)")),
    visibility_mutation("81c", "message: show former text", ("ChatStore+Queries.swift", "            return (models.marking([row], in: thread, from: view), thread)\n", "            return ([row], thread)\n")),
    visibility_mutation("81d", "replies: show former text", (
        "ChatStore+Queries.swift", "models.marking(models.replies(to: message, page, asOf: view.position), in: thread, from: view)",
        "(thread.bits > 0 ? models.replies(to: message, page, asOf: view.position) : [])")),
    visibility_mutation("81e", "page of a timeline: show former text", (
        "ChatStore+Paging.swift", "models.marking(models.messages(of: thread, $0, asOf: view.position, after: start), in: thread, from: view)",
        "models.messages(of: thread, $0, asOf: view.position, after: start)")),
    visibility_mutation("81f", "page of replies: show former text", (
        "ChatStore+Paging.swift", "models.marking(models.replies(to: message, $0, asOf: view.position), in: thread, from: view)",
        "(thread.bits > 0 ? models.replies(to: message, $0, asOf: view.position) : [])")),
    visibility_mutation("81g", "user: show the former text of a last message", ("ChatStore+Queries.swift", "models.marking(last.map { [$0] } ?? [], in: id, from: view)", "last.map { [$0] } ?? []")),
    visibility_mutation("81h", "user: list threads that the viewer has left", ("ChatStore+Queries.swift", "models.mayRead(models.threadID($0), from: view) ? $0 : nil", "$0")),
    visibility_mutation("81i", "timeline: withhold own former text", ("Visibility.swift", " where rows[index].author != viewer {", " where rows[index].author != viewer || true {")),
    visibility_mutation("81j", "residents: show postcodes", ("Visibility.swift", "viewer == nil || viewer == user ? postcode : nil", "postcode")),
    visibility_mutation("81k", "history of a message: show former text", (
        "ChatStore+PostDetails.swift", "(rootMessage, message, reply, posted) = (id, models.marking([row], in: thread, from: view), [], row.position)",
        "(rootMessage, message, reply, posted) = (id, [row], [], row.position)")),
    visibility_mutation("81l", "history of a reply: show former text", (
        "ChatStore+PostDetails.swift", "(readable.message, [], models.marking([row], in: thread, from: view), row.position)",
        "(readable.message, [], [row], row.position)")),
    visibility_mutation("81m", "history: events in their raw form", (
        "ChatStore+PostDetails.swift", "visibleEvent(recorded, through: EventFilter(viewer: viewer))", "visibleEvent(recorded, through: EventFilter(viewer: nil))")),
    visibility_mutation("81n", "history: show the readers", ("ChatStore+PostDetails.swift", "view.viewer == nil ? models.scan", "view.position > 0 ? models.scan")),
    visibility_mutation("81o", "message that a reply answers: shown to every user", ("ChatStore+Queries.swift", "return try? models.requireReadable(reply, from: view).message",
        "return (try? models.requireReadable(reply, from: view).message) ?? models.message(answeredBy: reply, asOf: now)")),
    store_mutation("81p", "table: follower: decide at the read, not at the delivery", [(
        "Following/ChatUpdates.swift", "if let visibleEvent = follower.store.visibleEvent(event.recorded, through: follower.filter) {",
        "if case let visibleEvent = event.recorded, visibleEvent.position > 0 {")], test_filter="FollowingContractTests"),
    receipt_mutation("82", "subject", "            } else if first?.isIdentical(to: subject ?? \"\") != true {\n", "            } else if first == nil {\n"),
    receipt_mutation("82b", "correlation", "        if shown.event.correlation != request.correlation { shown.event.correlation = nil }\n", ""),
    receipt_mutation("82c", "body", "            if !body.isIdentical(to: first) { shown.redact(.body) }\n", "            break\n"),
    receipt_mutation("82d", "username", "!(Username(name)?.text ?? name).isIdentical(to: username.text)", "username.text.isEmpty"),
    receipt_mutation("82e", "thread's name", "            if !(ThreadName(name)?.text ?? name).isIdentical(to: first) { shown.redact(.name) }\n", "            break\n"),
    receipt_mutation("82f", "device", "            if !device.isIdentical(to: first) { shown.redact(.device) }\n", "            break\n"),
    receipt_mutation("82g", "canonically equal text", "{ utf8.elementsEqual(other.utf8) }", "{ self == other }"),
    Mutation("82h", "registration: another subject is a duplicate", [(
        "DecideUsers.swift", "            if let subject, !Subject.isValid(subject) || owner(ofSubject: ids.subjects.find(subject)) != user { throw .subjectMismatch }\n", "")],
        test_filter="ChatTests.DuplicateReceiptTests", target="ChatDomain"),
    # The rules of `Community.md`.
    rule_mutation("90", "a ban does not end the membership", "DecideModeration",
             "        if kind == .ban, action.userStanding.isMember { append(.memberRemoved, action, after: 1, envelope, &batch) }\n", ""),
    rule_mutation("90b", "a ban and the removal have one number", "DecideModeration", "after: 1, envelope", "after: 0, envelope"),
    rule_mutation("90c", "a sanction is in effect at its end", "RuleState+Queries", "{ time < $0 } ?? true", "{ time <= $0 } ?? true"),
    rule_mutation("90d", "a sanction does not end by itself", "RuleState+Queries", "{ time < $0 } ?? true", "{ _ in true } ?? true"),
    rule_mutation("90e", "the last owner leaves", "DecideThreads",
             "        guard !isLastOwner(standing, of: thread) else { throw .lastOwner }\n", ""),
    rule_mutation("90f", "the last owner steps down", "DecideThreads",
             "        guard !isLastOwner(action.userStanding, of: action.thread) else { throw .lastOwner }\n", ""),
    rule_mutation("90g", "the last owner bans themselves", "DecideModeration",
             "        if kind == .ban { try requireNotLastOwner(action) }\n", ""),
    rule_mutation("90h", "the last owner removes themselves", "DecideModeration",
             "        try requireNotLastOwner(action)\n        guard action.userStanding.isMember", "        guard action.userStanding.isMember"),
    rule_mutation("90i", "nobody can remove the last owner", "DecideModeration",
             "if action.actor == action.user, isLastOwner", "if isLastOwner"),
    rule_mutation("90j", "the last owner of a closed thread cannot leave", "Decide",
             "ownerCount == 1 && !threads[thread].isClosed\n", "ownerCount == 1\n"),
    rule_mutation("90k", "members reply to, edit and report messages before their join", "RuleState+Queries",
             "> community.joins[membership]", "> min(community.joins[membership], 0)"),
    rule_mutation("90l", "the first join decides the visible history", "RuleState+Apply",
             "history == .sinceJoining {\n", "history == .sinceJoining, community.joins[indexes.membership] == 0 {\n"),
    rule_mutation("90m", "members reply to messages before their join", "DecidePosts",
             "        guard isVisible(message: message, to: membership, ids) else { throw .unknownMessage }\n", ""),
    rule_mutation("90n", "members edit their posts before their join", "DecidePosts",
             "        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }\n", ""),
    rule_mutation("90o", "members report posts before their join", "DecideModeration",
             "        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }\n", "        _ = membership\n"),
    rule_mutation("90p", "operators see the history of an inviteOnly thread", "RuleState+Queries",
             "            || threads[thread].policy != .inviteOnly && position", "            || position"),
    rule_mutation("90q", "operators see what was posted before a thread ceased to be inviteOnly", "RuleState+Queries",
             " && position > threads[thread].disclosedAt\n", "\n"),
    rule_mutation("90r", "an operator invites where there is an owner", "DecideThreads",
             "return threads[thread].ownerCount == 0 && !isOperator(user)", "return !isOperator(user)"),
    rule_mutation("90s", "an operator invites an operator", "DecideThreads", "ownerCount == 0 && !isOperator(user) &&", "ownerCount == 0 &&"),
    rule_mutation("90t", "an operator invites to an imported thread of two people", "DecideThreads",
             "&& !isOperator(user) && !isImportedPair(thread, ids)\n", "&& !isOperator(user)\n"),
    rule_mutation("90u", "an operator opens an imported thread of two people", "DecideThreads",
             "        guard policy != .open || threads[thread].policy != .inviteOnly || !isImportedPair(thread, ids) else { throw .notAnOwner }\n", ""),
    rule_mutation("90v", "a thread that ceases to be inviteOnly keeps its history", "DecideThreads",
             "let isDisclosed = row.policy == .inviteOnly && policy == .open\n", "let isDisclosed = false\n"),
    rule_mutation("90w", "an operator sets the policy beside an owner", "DecideThreads",
             "guard threads[thread].ownerCount == 0, isOperator(actor) else", "guard isOperator(actor) else"),
    rule_mutation("90x", "a member who comes back is a third person", "RuleState+Apply",
             "} else if row.oneBasedSecondMember != member {", "} else {"),
    rule_mutation("90y", "an import joins every private thread", "DecideThreads",
             "origin != .native && isImportedNamedThread(thread, ids)\n", "origin != .native\n"),
    rule_mutation("91", "a banned user joins", "DecideThreads",
             "        return isBanned(user, from: thread, at: time, ids) ? .banned : nil\n", "        return nil\n"),
    rule_mutation("91b", "an accepted invitation is not required", "DecideThreads", "isAccepting || policy == .inviteOnly, ", "policy == .inviteOnly, "),
    rule_mutation("91c", "a banned user is invited", "DecideThreads",
             "        if let membership = action.membership, isSanctioned(.ban, membership, at: envelope.recordedAt) { throw .banned }\n", ""),
    rule_mutation("91d", "a postcode joins a banned user, and a locked thread", "DecideUsers",
             ", lockOrBanRejection(user, thread, at: envelope.recordedAt, ids) == nil {", " {"),
    rule_mutation("91e", "a join enters a locked thread", "DecideThreads", "        if threads[thread].isLocked { return .threadLocked }\n", ""),
    rule_mutation("91f", "a muted member posts", "Decide", "        if isSanctioned(.mute, membership, at: time) { throw .muted }\n", ""),
    rule_mutation("91g", "muted precedes locked and closed", "Decide",
             "        try requireUnlocked(thread)\n        if isSanctioned(.mute, membership, at: time) { throw .muted }\n",
             "        if isSanctioned(.mute, membership, at: time) { throw .muted }\n        try requireUnlocked(thread)\n"),
    rule_mutation("91h", "locked precedes closed", "Decide",
             "        if threads[thread].isClosed { throw .threadClosed }\n        if threads[thread].isLocked { throw .threadLocked }\n",
             "        if threads[thread].isLocked { throw .threadLocked }\n        if threads[thread].isClosed { throw .threadClosed }\n"),
    rule_mutation("91i", "a moderator acts against a moderator", "DecideModeration",
             "        if let role = action.userStanding.role, role >= .moderator { throw .notAnOwner }\n", ""),
    rule_mutation("91j", "an operator does not act against a moderator", "DecideModeration",
             "        if action.actorStanding.role == .owner || isOperator(action.actor) { return }\n", "        if action.actorStanding.role == .owner { return }\n"),
    rule_mutation("91k", "an operator gives roles in a thread with an owner", "DecideThreads", "row.ownerCount == 0 && isOperator", "isOperator"),
    rule_mutation("91l", "the thread of an outward code gets an owner", "DecideThreads", ", role != .owner || row.canHaveOwners else", ", row.openedAt > 0 else"),
    rule_mutation("91m", "a member gives themselves a higher role", "DecideThreads",
             "action.userStanding.role.map { role < $0 } ?? false", "action.userStanding.role != nil"),
    rule_mutation("91n", "the opener who joins again is an owner", "RuleState+Apply",
             "        if threads[indexes.thread].awaitsOpener { threads[indexes.thread].awaitsOpener = false }\n", ""),
    rule_mutation("91o", "a removed owner still counts", "RuleState+Apply",
             "case .memberRemoved: changeRole(indexes, to: nil)", "case .memberRemoved: changeStanding(indexes) { $0.role = nil }"),
    rule_mutation("91p", "a ban keeps the invitation", "RuleState+Apply",
             "($0.hasBan, $0.isInvited) = (true, false)", "$0.hasBan = true"),
    rule_mutation("91q", "a join keeps the invitation", "RuleState+Apply", "            standing.isInvited = false\n", ""),
    rule_mutation("91r", "a user without an invitation joins", "DecideThreads",
             "if isAccepting || policy == .inviteOnly, ", "if isAccepting, "),
    rule_mutation("92", "a removed message counts as a pin", "RuleState+Apply",
             "        if marks.remove(.pinned) != nil { threads[thread].pinCount &-= 1 }\n", "        marks.remove(.pinned)\n"),
    rule_mutation("92b", "a thread has 51 pins", "DecideModeration", "pinCount >= Self.maximumPinCount", "pinCount > Self.maximumPinCount"),
    rule_mutation("92c", "the reason precedes the effect of a removal", "DecideModeration",
             "        guard !found.marks.contains(.removed) else { return .unchanged }\n        try requireReason(reason)\n",
             "        try requireReason(reason)\n        guard !found.marks.contains(.removed) else { return .unchanged }\n"),
    rule_mutation("92d", "a sanction ends at its recording time", "DecideModeration", "until > envelope.recordedAt, ", "until >= envelope.recordedAt, "),
    rule_mutation("92e", "a sanction with another end has no effect", "DecideModeration",
             "            sanctionEnd(kind, membership) == until\n", "            threads.count > 0\n"),
    rule_mutation("92f", "a second reporter has no effect", "DecideModeration",
             "guard !reports(of: post).isReported(found.post, by: actor) else", "guard !reports(of: post).hasOpenReports(found.post) else"),
    rule_mutation("92g", "a resolution resolves one report", "CommunityState", "openCounts[post] = 0", "openCounts[post] -= 1"),
    rule_mutation("92h", "a resolved report cannot be repeated", "CommunityState", "        rounds[post] &+= 1\n", ""),
    rule_mutation("92i", "a report of a message has a number", "EventLayout",
             "case .messageReport: [.thread, .message, .user]\n", "case .messageReport: [.thread, .message, .user, .number]\n"),
    rule_mutation("92j", "a moderator closes a thread", "DecideThreads",
             "guard standing(of: user, in: thread, ids).role == .owner ||", "guard (standing(of: user, in: thread, ids).role ?? .member) > .member ||"),
    rule_mutation("92k", "a closed thread is unlocked", "DecideThreads",
             "        guard !threads[thread].isClosed else { throw .threadClosed }\n        guard threads[thread].isLocked",
             "        guard threads[thread].isLocked"),
    rule_mutation("92l", "a block is of both directions", "DecideUsers",
             "community.blockPairs.find(blocker, user).map { community.blocks[$0] != 0 } ?? false",
             "[(blocker, user), (user, blocker)].contains { community.blockPairs.find($0, $1).map { community.blocks[$0] != 0 } ?? false }"),
    rule_mutation("92m", "a payload has any length", "DecidePosts", "        guard payload.isWithinLimit else { throw .invalidPayload }\n", ""),
    rule_mutation("92n", "a repeated opening has two events, whatever its history", "DecideThreads",
             "(threads[thread].wasOpenedWithPolicy ? 2 : 1)", "(threads[thread].policy != .open ? 2 : 1)"),
    rule_mutation("92o", "an import opens a thread without the whole history", "DecideThreads",
             ", envelope.origin == .native || history == .all else", " else"),
    rule_mutation("92p", "a removed post cannot be retracted", "DecidePosts",
             "guard !found.marks.contains(.retracted) else { return .unchanged }", "guard !found.marks.isWithdrawn else { return .unchanged }"),
    # The encoding and the JSON of roles, moderation and custom events.
    decoder_mutation("93", "events: swap the policy and the history", [
        ("EventLayout.swift", "[.thread, .user, .number, .policy, .history]", "[.thread, .user, .number, .history, .policy]")]),
    decoder_mutation("93b", "decoder: accept any role", [("EventDecoder.swift", "{ ThreadRole(code: $0) != nil }", "{ _ in true }")]),
    decoder_mutation("93c", "decoder: accept any end of a sanction", [("EventDecoder.swift", "{ SanctionEnd.isValid($0) }", "{ _ in true }")]),
    decoder_mutation("93d", "decoder: accept any history of a thread", [("EventDecoder.swift", "{ ThreadHistory(code: $0) != nil }", "{ _ in true }")]),
    decoder_mutation("93e", "events: swap the user and the acting user", [
        ("EventLayout.swift", "        case .member: [.thread, .user, .otherActor, .number]\n", "        case .member: [.thread, .otherActor, .user, .number]\n")]),
    store_mutation("93f", "import: erase the kind of a custom event with its payload", [
        ("EventEncoder.swift", "kept.content = .custom(kind: kind, payload:", "kept.content = .custom(kind: String(kind.prefix(1)), payload:")],
        test_filter="EventImportTests", target="ChatDomain"),
    json_mutation("94", "accept a sanction that ends before any recording time", "EventFields",
             "guard until > Timestamp(millisecondsSince1970: 0), ", "guard "),
    json_mutation("94b", "accept a payload of an erased custom event", "EventFields",
             "            try requireNull(.payload)\n", ""),
    json_mutation("94c", "omit the history of an opening", "CommandJSON",
             "            if history != .all { try inner.encode(history, forKey: .history) }\n", "            _ = history\n"),
    json_mutation("94d", "omit the end of a ban", "CommandJSON",
             "            try encode(\"ban\", user: user, thread: thread, by: by) {\n                try $0.encode(reason, forKey: .reason)\n"
             "                try $0.encode(until, forKey: .until)\n",
             "            _ = until\n            try encode(\"ban\", user: user, thread: thread, by: by) {\n                try $0.encode(reason, forKey: .reason)\n"),
    json_mutation("94e", "omit the mark of a blocked author", "EventJSON",
             "        if isFromBlockedUser { try object.encode(true, forKey: .blocked) }\n", ""),
    # The histories of roles, moderation and operators.
    community_mutation("95", "the opener is no owner", "CommunityHistory", "if opener == UInt32(indexes.user), membersChange == 1 { roles", "if opener == .max { roles"),
    community_mutation("95b", "a ban keeps the invitation", "CommunityHistory",
                  "            bans.set(1, at: position, of: membership)\n            invitations.clear(at: position, of: membership)\n",
                  "            bans.set(1, at: position, of: membership)\n"),
    community_mutation("95c", "a removed message stays pinned", "CommunityHistory",
                  "case .messageUnpinned, .messageRetracted, .messageRemoved:", "case .messageUnpinned, .messageRetracted:"),
    community_mutation("95d", "a closed thread is not locked", "CommunityHistory", "locks.value(of: thread) | Lock.closed", "Lock.closed"),
    community_mutation("95e", "reports are open as of now", "CommunityHistory", "Int(posts[row]), asOf: position)", "Int(posts[row]), asOf: .max)"),
    community_mutation("95f", "a report stays open after its resolution", "CommunityHistory", "?.position ?? 0) < made", "?.position ?? 0) <= position"),
    community_mutation("95g", "blocks as of now", "CommunityQueries",
                  "views.community.blocks.value(of: pair, asOf: position) != 0", "views.community.blocks.value(of: pair) != 0"),
    community_mutation("95h", "operators do not moderate", "CommunityQueries",
                  "return true }\n        return isOperator(user, asOf: position)", "return true }\n        return false"),
    # A departure also clears the role, so only the position of the new membership is wrong.
    community_mutation("95i", "a role of an earlier membership", "CommunityQueries", ", version.position >= join else", " else"),
    community_mutation("95j", "the latest end of overlapping access", "UserQueries", "range.to.map { max(end, $0) }", "range.to.map { min(end, $0) }"),
    community_mutation("95k", "operators have access to private threads", "CommunityQueries",
                  "        if changes.lowerBound == 0, periods[0].to == thread.openedAt + 1 { periods.removeFirst() }\n", ""),
    community_mutation("95l", "a second grant begins a second period", "CommunityHistory",
                  "if operators.value(of: indexes.user) == 0 { operators.set(1, at: position, of: indexes.user) }",
                  "operators.set(1, at: position, of: indexes.user)"),
    # Who sees what of private and moderated threads.
    shown_mutation("96", "operators read private threads", "CommunityQueries", "return version.value == 0 ? version.position : nil",
              "return version.position", target="Projections"),
    shown_mutation("96b", "members read messages before their join", "UserQueries", ".history == .sinceJoining ? join : 0",
              ".history == .sinceJoining ? min(join, 0) : 0", target="Projections"),
    shown_mutation("96ya", "the present history decides, not that of the join", "UserQueries", "policyAndHistory(ofThread: index, asOf: join)",
              "policyAndHistory(ofThread: index, asOf: position)", target="Projections"),
    shown_mutation("96yb", "operators read what was posted while a thread was private", "CommunityQueries",
              "return version.value == 0 ? version.position : nil", "return version.value == 0 ? 0 : nil", target="Projections"),
    store_mutation("96c", "viewer: pins before the join", [
        ("CommunityQueries.swift", "identities.messageFacts.position(message) > start\n            else",
         "identities.messageFacts.position(message) > min(start, 0)\n            else")], test_filter="JoinedLaterTests", target="Projections"),
    store_mutation("96d", "viewer: reports of messages before the join", [
        ("CommunityQueries.swift", "            identities.messageFacts.position(message) > start\n        else",
         "            identities.messageFacts.position(message) > min(start, 0)\n        else")], test_filter="JoinedLaterTests", target="Projections"),
    shown_mutation("96e", "one message before the join", "Visibility",
              "        guard posted > start else { throw .rejected(.unknownMessage) }\n        return thread", "        guard posted > min(start, 0) else { throw .rejected(.unknownMessage) }\n        return thread"),
    shown_mutation("96ea", "tell that a private thread exists", "Visibility",
                   "guard let viewer = viewpoint.viewer, isKnown(thread, to: viewer, asOf: viewpoint.currentPosition) else {\n            throw .rejected(.unknownThread)",
                   "guard let viewer = viewpoint.viewer, isKnown(thread, to: viewer, asOf: viewpoint.currentPosition) else {\n            throw .rejected(.notAMember)"),
    shown_mutation("96eb", "private threads are unknown to invited users", "UserQueries",
                   " || invitation(ofMembership: membership, asOf: position) != nil\n", "\n", target="Projections"),
    shown_mutation("96ec", "private threads are known by the policy of then", "Visibility",
                   "isKnown(thread, to: viewer, asOf: viewpoint.currentPosition)", "isKnown(thread, to: viewer, asOf: viewpoint.position)"),
    shown_mutation("96ed", "the messages of a private thread tell that it exists", "Visibility",
                   "            if case .rejected(.unknownThread) = error { throw .rejected(.unknownMessage) }\n", ""),
    shown_mutation("96ee", "an unknown viewer learns whether a message exists", "Visibility",
                   "        // First, so that an unknown viewer has the same answer whether or not the message exists.\n        try requireViewer(of: viewpoint)\n", ""),
    rule_mutation("96ef", "a private thread is known to everyone", "Decide",
                  "guard isInviteOnly(thread, ids), envelope.origin == .native,", "guard isInviteOnly(thread, ids), envelope.origin != .native,"),
    rule_mutation("96eg", "a private thread is unknown to invited users", "Decide", "return standing.isMember || standing.isInvited ||", "return standing.isMember ||"),
    rule_mutation("96eh", "a private thread is unknown to operators", "Decide", " || act == .ofModerator && isOperator(actor)\n", "\n"),
    rule_mutation("96ei", "a private thread is known to operators who do not moderate", "Decide", " || act == .ofModerator && isOperator(actor)\n", " || isOperator(actor)\n"),
    rule_mutation("96ej", "the posts of a private thread are known to everyone", "Decide",
                  "        guard isOwn || isKnown(found.thread, to: actor, as: act, ids, envelope) else { throw .unknown(post) }\n", "        _ = isOwn\n"),
    rule_mutation("96ek", "a former member cannot retract", "Decide", "let isOwn = act == .ofAuthor && found.author == actor", "let isOwn = act == .ofAuthor && found.author < 0"),
    rule_mutation("96el", "a former member edits", "Decide", "let isOwn = act == .ofAuthor && found.author == actor", "let isOwn = found.author == actor"),
    shown_mutation("96f", "events before the join", "Visibility", "        guard position > start else { return false }\n", ""),
    shown_mutation("96g", "events of messages before the join", "Visibility",
              "return postingPosition(of: message, asOf: current).map { $0 > start } ?? false", "return postingPosition(of: message, asOf: current) != nil"),
    shown_mutation("96h", "members see reasons", "Visibility", "if !moderates(viewer, thread, asOf: current) { shown.redact(.reason) }",
              "if !moderates(viewer, thread, asOf: current), shown.position == 0 { shown.redact(.reason) }"),
    shown_mutation("96i", "the author of a removed message does not see the reason", "Visibility",
              "if event.user == viewer || removesPost(of: viewer, event) { return shown }", "if event.user == viewer { return shown }"),
    shown_mutation("96ia", "an author who has left is not shown the removal", "Visibility",
                   "        if event.isOwn(of: viewer) || removesPost(of: viewer, event) { return true }\n", "        if event.isOwn(of: viewer) { return true }\n"),
    store_mutation("96if", "follower: an author is not woken for a removal", [
        ("FeedWaiters.swift", "        if let author = removedPost.flatMap(author) { keys.append(.user(author)) }\n", "        _ = author\n")],
        test_filter="CommunityFollowingTests"),
    shown_mutation("96ib", "the standing tells that a private thread exists", "ChatStore+CommunityQueries",
                   "            if let viewer, !models.isKnown(thread, to: viewer, asOf: view.currentPosition) { throw .rejected(.unknownThread) }\n", ""),
    shown_mutation("96ic", "everyone asks for the standing of everyone", "ChatStore+CommunityQueries",
                   "            try requireSelf(viewer, user)\n            try models.requireUser(user, asOf: view.position)\n            guard models.hasThread",
                   "            try models.requireUser(user, asOf: view.position)\n            guard models.hasThread"),
    shown_mutation("96id", "a removed user has no standing", "CommunityQueries",
                   "            views.membership.changeCount(membership, asOf: position) > 0 || mute", "            views.membership.joinPosition(membership, asOf: position) != nil || mute", target="Projections"),
    shown_mutation("96j", "members see removed texts", "Visibility",
              "if isCurrentText(of: post, writtenAt: shown.position, includesRemoved: false,", "if isCurrentText(of: post, writtenAt: shown.position, includesRemoved: true,"),
    shown_mutation("96k", "moderators do not see removed texts", "Visibility",
              "        if moderates(viewer, thread, asOf: current),\n", "        if moderates(viewer, thread, asOf: current), shown.position == 0,\n"),
    shown_mutation("96l", "members see reports", "Visibility", "\n                && moderates(viewer, thread, at: position, current: current)\n", "\n"),
    shown_mutation("96m", "former moderators see reports", "Visibility",
              "asOf: position) && (position == current || moderates(viewer, thread, asOf: current))", "asOf: position)"),
    shown_mutation("96n", "new moderators see earlier reports", "Visibility",
              "moderates(viewer, thread, asOf: position) && (position == current || moderates(viewer, thread, asOf: current))",
              "moderates(viewer, thread, asOf: current)"),
    shown_mutation("96o", "events of blocked users are not marked", "Visibility", "isFromBlockedUser = isBlocked(actor, by: viewer, asOf: current)",
              "isFromBlockedUser = isBlocked(actor, by: actor, asOf: current)"),
    shown_mutation("96p", "posts of users who block the viewer are marked", "Visibility", "isBlocked(rows[index].author, by: viewer, asOf:",
              "isBlocked(viewer, by: rows[index].author, asOf:"),
    shown_mutation("96q", "a removed former text is withheld from moderators", "Visibility",
              "let seesRemoved = moderates(viewer, thread, asOf: viewpoint.currentPosition)\n",
              "let seesRemoved = rows.isEmpty && moderates(viewer, thread, asOf: viewpoint.currentPosition)\n"),
    shown_mutation("96r", "events about the viewer are incomplete", "Visibility", "self.user == user || otherActor == user", "otherActor == user"),
    shown_mutation("96s", "members read what is for moderators", "Visibility",
              "guard moderates(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition) else",
              "guard moderates(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition) || start < .max else"),
    shown_mutation("96t", "former operators read the list of operators", "ChatStore+CommunityQueries",
              " || !models.isOperator(viewer, asOf: view.currentPosition) {", " {"),
    shown_mutation("96u", "a report shows the former text", "ChatStore+CommunityQueries",
              "let asOf = viewer == nil ? position : sections.viewpoint.currentPosition", "let asOf = viewer == nil ? position : min(position, .max)"),
    # The checkpoint's columns of roles, moderation and operators.
    column_check_mutation("97", "lose the number of owners", "RuleState+Columns",
                     "writer.write(threads.indices) { threads[$0].ownerCount }", "writer.write(threads.indices) { _ in 0 as UInt32 }", target="ChatDomain"),
    column_check_mutation("97b", "lose whether a thread has owners", "RuleState+Columns", "(canHaveOwners ? 32 : 0)", "0", target="ChatDomain"),
    column_check_mutation("97c", "swap mutes and bans", "CommunityState", "        mutes.write(to: &writer)\n        bans.write(to: &writer)\n",
                     "        bans.write(to: &writer)\n        mutes.write(to: &writer)\n", target="ChatDomain"),
    column_check_mutation("97d", "swap mutes and bans of the read models", "CommunityHistory",
                     "        mutes.write(to: &writer)\n        bans.write(to: &writer)\n", "        bans.write(to: &writer)\n        mutes.write(to: &writer)\n"),
    column_check_mutation("97e", "accept reports of no post", "CommunityHistory",
                     "            try require(posts[row] >> 1 < (posts[row] & 1 == 0 ? ids.messages.count : ids.replies.count), \"a report of no post\")\n",
                     "            _ = posts[row]\n"),
    column_check_mutation("97f", "accept histories of rows that do not exist", "CommunityHistory", "        try rows.check(below: entries)\n", "        _ = entries\n"),
    column_check_mutation("97g", "accept blocks of users who do not exist", "CommunityHistory",
                     "        try blockPairs.check(firstBelow: ids.users.count, secondBelow: ids.users.count)\n", ""),
    store_mutation("44", "texts: keep more than the capacity", [
        ("TextCache.swift", "        while byteCount + bytes > capacity { advanceHand() }\n", "")], test_filter="TextCacheTests"),
    store_mutation("44b", "texts: evict the next one even if it was requested", [
        ("TextCache.swift", "        if isReferenced[hand] { isReferenced[hand] = false } else { remove(hand) }\n", "        remove(hand)\n")],
        test_filter="TextCacheTests"),
    store_mutation("44c", "texts: find one of another position", [
        ("TextCache.swift", "where tags[location.tags + way] == location.tag && slots[location.slots + way].position == position {",
         "where slots[location.slots + way].position != 0 {")], test_filter="TextCacheTests"),
    store_mutation("44d", "texts: keep one at the first request although another is evicted", [
        ("TextCache.swift", "byteCount + bytes <= capacity || findOrRecordGhost(location) else", "byteCount + bytes <= capacity || location.tag > 0 else")],
        test_filter="TextCacheTests"),
    store_mutation("44e", "texts: remember only the last ghost entry of a place", [
        ("TextCache.swift", "in location.tags + Self.ways..<location.tags + 2 * Self.ways {", "in location.tags + Self.ways...location.tags + Self.ways {")],
        test_filter="TextCacheTests"),
    checkpoint_mutation("45", "checkpoint: accept one of another version", [
        ("Journal+Checkpoint.swift", "guard header.version == version else", "guard header.version >= version else")]),
    checkpoint_mutation("45b", "checkpoint: report another journal as another history", [
        ("Journal+Checkpoint.swift", "guard header.journal == id else", "guard header.journal == id || header.position > 0 else")]),
    checkpoint_mutation("45c", "checkpoint: report one from beyond the end as another history", [
        ("Journal+Checkpoint.swift", "guard header.position <= end else", "guard header.position <= end || end > 0 else")]),
    checkpoint_mutation("45d", "checkpoint: do not compare the chain value", [
        ("Journal+Heads.swift", "        return try chain(at: head.position) == head.chain\n", "        return try chain(at: head.position) != nil\n")]),
    checkpoint_mutation("45e", "checkpoint: accept one from before an erasure", [
        ("Journal+Checkpoint.swift", "guard header.erasureMark == erasureMark(through: header.position) else",
         "guard header.erasureMark <= erasureMark(through: header.position) else")]),
    checkpoint_mutation("45f", "checkpoint: accept one of another projection", [
        ("Journal+Checkpoint.swift", "guard header.name == name, header", "guard header.name != \"\", header")]),
    checkpoint_mutation("46", "checkpoint: do not compare the header's checksum", [
        ("CheckpointHeader.swift", "guard isIntact else", "guard isIntact || count > 0 else")]),
    checkpoint_mutation("46b", "checkpoint: do not compare a block's checksum", [
        ("CheckpointReader.swift", "as: UInt32.self) }) == checksum else", "as: UInt32.self) }) == checksum || count > 0 else")]),
    checkpoint_mutation("46c", "checkpoint: accept a file of another length", [
        ("CheckpointReader.swift", "offsets.last == fileSize else", "offsets.last ?? .max <= fileSize else")]),
    checkpoint_mutation("46d", "checkpoint: accept a file of another format version", [
        ("CheckpointHeader.swift", "guard version == Self.formatVersion else", "guard version >= Self.formatVersion else")]),
    checkpoint_mutation("46e", "checkpoint: rename without a sync", [
        ("CheckpointWriter.swift", "            try convertingStorageErrors { () throws(StorageError) in try file.sync() }\n            _ = try temporaryFile.publish()",
         "            _ = try (file.size, temporaryFile.publish())")]),
    store_mutation("47", "checkpoint: accept a state of another position", [
        ("StoreModels.swift",
         "        try require(rules.head == position, \"the rules of position \\(rules.head), not of \\(position)\")\n", "")],
        test_filter="(Forged)?Checkpoint", target="Projections"),
    store_mutation("47b", "checkpoint: accept a history with unknown events", [
        ("CheckpointFile.swift",
         "        guard !rules.hasUnknownEvents else {\n            throw", "        if rules.hasUnknownEvents, position == 0 {\n            throw")],
        test_filter="(Forged)?Checkpoint"),
    store_mutation("47c", "checkpoint: never report a difference from a rebuild", [
        ("HistoryVerification.swift", "rebuiltDigests[$0] != digests[$0]", "rebuiltDigests[$0] == nil && digests[$0] == nil")],
        test_filter="(Forged)?Checkpoint"),
    store_mutation("48", "feed: wait for the log on another executor", [
        ("EventFeed.swift", "Task.detached(executorPreference: executor) { await self.watchLog", "Task.detached { await self.watchLog")],
        test_filter="SeededHistoryTests"),
    store_mutation("48b", "feed: wake followers in the order of a set", [
        ("FeedWaiters.swift", "ids.sorted().compactMap", "ids.compactMap")], test_filter="SeededHistoryTests"),
    store_mutation("48c", "journal: wake followers in the order of a dictionary", [
        ("WaitQueue.swift", "for waiter in waiters {", "for waiter in waiters.shuffled() {")], test_filter="SeededHistoryTests", target="EventJournal"),
    Mutation("48m", "sync queue: the tasks of the group that a sync does not cover wait on", [
        ("SyncQueue.swift", "                next.tasks.removeReady(durable: synced, failure: failure),\n",
         "                hasFailed ? next.tasks.removeReady(durable: synced, failure: failure) : nil,\n")],
        test_filter="EventJournalTests.SyncQueueTests"),
    store_mutation("48d", "feed: omit the first of the recent events", [
        ("EventFeed.swift", "guard position + 1 >= state.recent.firstPosition else", "guard position + 2 >= state.recent.firstPosition else")],
        test_filter="Follow"),
    store_mutation("48e", "follower: repeat the last event of a batch", [
        ("Follower.swift", "(position, commit) = (batch.lastScannedPosition, batch.commit)",
         "(position, commit) = (batch.lastScannedPosition - (batch.events.isEmpty ? 0 : 1), batch.commit)")],
        test_filter="Follow"),
    store_mutation("48g", "follower: deliver an event after the last position", [
        ("Follower.swift", "events.prefix { $0.recorded.position <= end }", "events.prefix { $0.recorded.position <= end + 1 }")],
        test_filter="FiniteFollowingTests"),
    store_mutation("48h", "follower: end at the last position only if an event matches", [
        ("Follower.swift", "end == nil ? filter : EventFilter()", "filter")], test_filter="FiniteFollowingTests"),
    store_mutation("48f", "token: accept one of another history", [
        ("ResumeTokens.swift", "guard isContained ?? (token.head.position", "guard isContained != nil || (token.head.position")],
        test_filter="ResumeTokenTests"),
    store_mutation("49", "journal: a thread waits for a leader that needs this thread", [
        ("Journal+Durability.swift", "state.waiters.leader == .scheduled && background.hasInjectedExecutor",
         "state.waiters.leader == .scheduled && background.hasInjectedExecutor && position == 0")], test_filter="SeededHistoryTests", target="EventJournal"),
    store_mutation("50", "checkpoints: write on another executor", [
        ("ChatStore.swift", "$0, clock, statistics, erasedPositions, options.journal.executor, options.journal.log)\n        }", "$0, clock, statistics, erasedPositions, nil, options.journal.log)\n        }")], test_filter="SeededHistoryTests"),
    store_mutation("51", "sync: write the slot twice", [
        ("Journal+Durability.swift", "                try sync.write(slot(work.position, work.chain, isClean: false))\n",
         "                try sync.write(slot(work.position, work.chain, isClean: false))\n" * 2)], test_filter="OperationCountTests", target="EventJournal"),
    column_mutation("52", "row lists: link a row to the newest row of another owner", "RowLists", "previous.append(newest[owner])",
               "previous.append(newest.last ?? 0)"),
    number_mutation("53", "accept a number with a superfluous byte", "if second > 0, second < 0x80,", "if second < 0x80,"),
    Mutation("53c", "record: skip a stub as a whole record", [
        ("RecordLayout.swift", ", low & 3 == UInt32(RecordContentState.whole.rawValue) else", " else")],
        test_filter="EventJournalTests.FormatTests"),
    decoder_mutation("53d", "event: read a text at the offset of the correlation id", [
        ("EventDecoder.swift", "            _ = try rest.correlation(row, erasable)\n", "")]),
    store_mutation("54", "log: accept positions that do not ascend", [
        ("CommitLog.swift", "        try checkAscending(positions)\n", "")], test_filter="CommitLog", target="EventJournal"),
    Mutation("54b", "reading: continue a reader beyond the record", [
        ("CommitReader.swift", ", parser.position <= positions.lowerBound {", " {")],
        test_filter="EventJournalTests.PositionReadingTests"),
    Mutation("54c", "reading: continue a reader of the previous record", [
        ("CommitReader.swift", "            parser.range = positions\n", "")],
        test_filter="EventJournalTests.PositionReadingTests"),
    Mutation("57", "background sync: none at the start of a segment", [
        ("JournalState.swift", "        zeroFilledEnd = 0\n        backgroundSyncEnd = active.end\n", "        zeroFilledEnd = 0\n")],
        test_filter="EventJournalTests.BackgroundSyncTests"),
    Mutation("57b", "background sync: one for each commit after the first", [
        ("JournalState.swift", "        backgroundSyncEnd = active.end\n        waiters.lead", "        waiters.lead")],
        test_filter="EventJournalTests.BackgroundSyncTests"),
    Mutation("57c", "background sync: attest commits after a failed write", [
        ("Journal+Durability.swift", "                if state.withLock({ $0.failure != nil }) { return }\n", "")],
        test_filter="EventJournalTests.BackgroundSyncTests"),
    Mutation("57d", "readers: read commits that are only in memory from the file", [
        ("PublishedState.swift", "        if state.pending.isEmpty {\n", "        if state.pending.byteCount >= 0 {\n")],
        test_filter="EventJournalTests.GroupWriteTests"),
    Mutation("57e", "readers: wait for the writer", [
        ("Journal.swift", "durablePosition: Position { published.withLock", "durablePosition: Position { state.withLock")],
        test_filter="EventJournalTests.ReaderLockTests"),
    Mutation("57f", "readers: open a segment that another reader is opening", [
        ("SealedSegments.swift", "            cached[first] = new\n", "")], test_filter="EventJournalTests.ReaderLockTests"),
    Mutation("57g", "followers: not woken when the journal is closed", [
        ("Journal+Open.swift", "        defer { published.withLock { $0.close() }?.deliver() }\n",
         "        defer { _ = published.withLock { $0.close() } }\n")], test_filter="EventJournalTests.FollowingTests"),
    Mutation("58", "pipeline: two threads at one stage", [
        ("Pipeline.swift", "state.batches[slot].take()", "state.batches[slot]")], test_filter="ChatTests.PipelineTests", target="Chat"),
    Mutation("58b", "pipeline: unbounded number of batches", [
        ("Pipeline.swift", "work(prefersEarliestStage: true) { $0.hasRoom }", "work(prefersEarliestStage: true) { _ in true }")],
        test_filter="ChatTests.PipelineTests", target="Chat"),
    Mutation("58c", "pipeline: do not wake a waiting thread when a batch leaves", [
        ("Pipeline.swift", "            state.passedCounts[stage + 1] += 1\n            wakeAll(&state)\n", "            state.passedCounts[stage + 1] += 1\n")],
        test_filter="ChatTests.PipelineTests", target="Chat"),
    Mutation("58d", "pipeline: end while batches are in flight", [
        ("Pipeline.swift", "var isDone: Bool { hasEnded && passedCounts[0] == passedCounts[passedCounts.count - 1] }", "var isDone: Bool { hasEnded }")],
        test_filter="ChatTests.PipelineTests", target="Chat"),
    store_mutation("63", "live timeline: keep the reply count after the retraction of a reply", [
        ("LiveTimeline.swift", ".messageRetracted, .replyRetracted, .messageRemoved", ".messageRetracted, .messageRemoved")],
        test_filter="LiveViewChangeTests"),
    store_mutation("63b", "live timeline: keep the reply count after a reply", [
        ("LiveTimeline.swift", ".messagePosted, .replyPosted, .messageEdited, ", ".messagePosted, .messageEdited, ")], test_filter="LiveViewChangeTests"),
    store_mutation("63c", "live timeline: follow only events that the viewer may see", [
        ("LiveTimeline.swift", "            ])\n        filter.includesThreadlessEvents", "            ], viewer: viewer)\n        filter.includesThreadlessEvents")],
        test_filter="LiveViewChangeTests"),
    store_mutation("63d", "live timeline: lose changes while earlier messages are loaded", [
        ("LiveTimeline.swift", "for change in changes { source", "for change in changes.prefix(0) { source")],
        test_filter="LiveViewChangeTests"),
    store_mutation("63e", "live threads: drop the latest thread", [
        ("LiveThreads.swift", "threads.removeFirst()", "threads.removeLast()")], test_filter="LiveViewTests"),
    store_mutation("63f", "live threads: do not replace a thread that the viewer has left", [
        ("LiveThreads.swift", "threads = all\n", "threads.removeAll { thread in !all.contains { $0.id == thread.id } }\n")],
        test_filter="LiveViewChangeTests"),
    store_mutation("63g", "live user: keep the former name of a former member", [
        ("LiveUser.swift", "        filter.kindsWithoutViewer = [.usernameChanged]\n", "")],
        test_filter="LiveViewChangeTests"),
    store_mutation("63h", "live timeline: fail the view after a failed load of earlier messages", [
        ("LiveTimeline.swift", "        if case .rejected = error { fail(with: error) } else if", "        fail(with: error)\n        if")],
        test_filter="LiveViewTests"),
    store_mutation("63i", "live timeline: keep the messages after a rejected load of earlier ones", [
        ("LiveTimeline.swift", "        if case .rejected = error { fail(with: error) } else if", "        if")],
        test_filter="LiveViewTests"),
    store_mutation("63j", "live view: do not reload when the source asks for it", [
        ("LiveView.swift", "case .reload: return .outdated", "case .reload: break")],
        test_filter="CommunityFollowingTests"),
    Mutation("64", "repair: do not report records as lost that only the slots attest", [
        ("Repair.swift",
         "        if last < source.attestedPosition {\n",
         "        if last > source.attestedPosition {\n")], test_filter="EventJournalTests.RepairTests"),
    store_mutation("70", "import: decide a batch on an outdated state", [
        ("MessageImporter.swift", "if !batch.isValid(in: models) {", "if batch.isEmpty {")], test_filter="ImportIdentityTests"),
    store_mutation("70b", "import: post as a native user with a derived id", [
        ("ImportBatch.swift", "            guard profile.isImported else { throw .identifierTaken }\n",
         "            guard profile.id == user else { throw .identifierTaken }\n")], test_filter="Import"),
    store_mutation("70c", "import: post to a native thread with a derived id", [
        ("Import/ImportBatch.swift",
         "            guard existing.isImported else { throw .identifierTaken }\n            return line.channel\n",
         "            guard existing.id == line.thread else { throw .identifierTaken }\n            return line.channel\n")],
        test_filter="Import"),
    store_mutation("70d", "import: treat a native message with a derived id as imported", [
        ("ImportBatch.swift", "if let posted = postedMessage, posted.isImported {", "if let posted = postedMessage {")],
        test_filter="Import"),
    store_mutation("70e", "import: attribute a post of a former owner of the name to another user", [
        ("UserViews.swift", "$0.value == 0 || names[Int($0.value) - 1].foldKey == name.map { UInt32(truncatingIfNeeded: $0) }", "$0.value == 0")],
        test_filter="ImportIdentityTests", target="Projections"),
    store_mutation("70f", "import: a join brings back a user who left", [
        ("ImportBatch.swift", " || models.hasBeenMember(user, of: line.thread, asOf: now)", "")], test_filter="ImportFormTests"),
    store_mutation("70g", "import: edit a post that was edited natively", [
        ("ImportAssumptions.swift", "models.message(id, asOf: now).map { $0.editPosition == nil && ", "models.message(id, asOf: now).map { ")],
        test_filter="ImportFormTests"),
    store_mutation("70h", "import: merge an account and a nickname", [
        ("ImportedMessage.swift", 'derive("a", [id])', 'derive("u", [id])')], test_filter="ImportFormTests"),
    store_mutation("70i", "import: give the name of a native user without a suffix", [
        ("ImportBatch.swift", "newNames.contains(username.foldKey) || models.user(withFoldKey: username.foldKey, asOf: now) != nil",
         "newNames.contains(username.foldKey)")], test_filter="ImportIdentityTests"),
    store_mutation("70j", "import: reply to or edit a post whose id is taken before the commit", [
        ("ImportAssumptions.swift", "if models.message(post.message, asOf: now) != nil || models.reply(post.reply, asOf: now) != nil {",
         "if now == 0 {")], test_filter="ImportAttackTests"),
    store_mutation("70k", "import: register the author of a reply to a post that is retracted before the commit", [
        ("ImportAssumptions.swift", "models.message(answered, asOf: now)?.isWithdrawn == true { return false }",
         "answered.bits == 0 { return false }")], test_filter="ImportAttackTests"),
    store_mutation("70l", "import: lose the post of a user who leaves before the commit", [
        ("ImportAssumptions.swift", "for member in existingMembers where models.joinPosition(member.user, in: member.thread, asOf: now) == nil",
         "for _ in existingMembers where now == 0")], test_filter="ImportAttackTests"),
    store_mutation("70m", "import: a join brings back a user who left before the commit", [
        ("ImportAssumptions.swift", "for join in newJoins where models.hasBeenMember(join.user, of: join.thread, asOf: now)",
         "for _ in newJoins where now == 0")], test_filter="ImportAttackTests"),
    store_mutation("70n", "import: edit a post of a native user with a nickname's id", [
        ("ImportBatch.swift", "guard models.profile(existing.author, asOf: now)?.isImported == true else { return false }",
         "")], test_filter="ImportAttackTests"),
    store_mutation("70o", "import: a native message hides an imported reply", [
        ("ImportBatch.swift", "        if let posted = models.reply(reply, asOf: now), let answered",
         "        if postedMessage == nil, let posted = models.reply(reply, asOf: now), let answered")], test_filter="ImportAttackTests"),
    store_mutation("70p", "import: a reply stays before its message", [
        ("ImportOrder.swift", "guard entry.parent != entry.id, pending.contains(entry.parent) else",
         "guard entry.parent != entry.id, pending.isEmpty else")], test_filter="ImportOrderTests"),
    store_mutation("70q", "import: a part of a split body has the id of another message", [
        ("ImportedMessage.swift", 'derive("p", texts)', 'derive("m", [channel, "\\(number)"])')], test_filter="ImportAdaptationTests"),
    store_mutation("70r", "import: a reply without its message is added again as a reply", [
        ("ImportBatch.swift", "        if existing.isReply {\n            guard let replyTo",
         "        if existing.isReply || message.replyTo != nil {\n            guard let replyTo")], test_filter="ImportOrderTests"),
    Mutation("71", "username: accept invisible scalars", [
        ("NameRules.swift", "default: !blanks.contains(scalar)", "default: true")],
        test_filter="ChatDomainTests.UsernameTests", target="ChatDomain"),
    Mutation("56", "entropy: use a block twice", [
        ("EntropySource.swift", "state.ready.popLast()", "state.ready.last")], test_filter="EventJournalTests.EntropyTests"),
    Mutation("56b", "entropy: use half of a salt twice", [
        ("EntropySource.swift", "defer { used += count }", "defer { used += count / 2 }")], test_filter="EventJournalTests.EntropyTests"),
    Mutation("56c", "entropy: a fork draws the prepared bytes of its parent", [
        ("EntropySource.swift", "Self.blockSize, ForkMark.current == process else", "Self.blockSize else")],
        test_filter="EventJournalTests.ForkTests"),
    Mutation("56d", "entropy: a fork continues with a block of its parent", [
        ("EntropySource.swift", "> Self.blockSize || process != current {", "> Self.blockSize {")], test_filter="EventJournalTests.ForkTests"),
    Mutation("61", "paths: split by characters", [
        ("StoragePath.swift", "path.utf8.lastIndex(of: slash).map { path.utf8.index(after: $0) }",
         "path.lastIndex(of: \"/\").map { path.index(after: $0) }")], test_filter="EventJournalTests.StoragePathTests"),
    Mutation("61b", "paths: the parent of a path that ends with a dot", [
        ("StoragePath.swift", "        if name.elementsEqual(\".\".utf8)", "        if name.isEmpty && name.elementsEqual(\".\".utf8)")],
        test_filter="EventJournalTests.StoragePathTests"),
    Mutation("62", "opening: do not retry while another writer has the journal", [
        ("Journal+Open.swift", "guard remaining > .zero else", "guard remaining > .seconds(1_000_000) else")],
        test_filter="EventJournalTests.LockTimeoutTests"),
    Mutation("83", "shared lock: readers without the gate", [
        ("SharedLock+Unsafe.swift",
         "        gate.withLock { _ in\n            let status = unsafe pthread_rwlock_rdlock(access)\n"
         "            precondition(status == 0, \"a shared section inside an exclusive one, or too many readers\")\n        }\n",
         "        _ = unsafe pthread_rwlock_rdlock(access)\n")], test_filter="LockingTests.SharedLockTests", target="Locking"),
    Mutation("83b", "shared lock: writers without the gate", [
        ("SharedLock+Unsafe.swift",
         "        gate.withLock { _ in\n            let status = unsafe pthread_rwlock_wrlock(access)\n"
         "            precondition(status == 0, \"an exclusive section inside another one\")\n        }\n",
         "        _ = unsafe pthread_rwlock_wrlock(access)\n")], test_filter="LockingTests.SharedLockTests", target="Locking"),
    Mutation("83c", "fair lock: new threads overtake an overdue one", [
        ("FairLock+Unsafe.swift", "        if overdueCount.load(ordering: .relaxed) != 0 { gate.withLock { _ in } }\n", "")],
        test_filter="LockingTests.FairLockTests", target="Locking"),
    store_mutation("84", "execute: answer a thread before its commit is applied", [
        ("ChatStore+Execute.swift", "        readSide.apply(log, through: through)\n", "")], test_filter="ReadYourWritesTests"),
    store_mutation("84b", "execute: answer a task before its commit is applied", [
        ("ChatStore+Execute.swift", "        readSide.apply(log, through: decided.requiredPosition)\n", "")], test_filter="ReadYourWritesTests"),
    store_mutation("84c", "head: advance before the commit is applied", [
        ("ChatStore.swift", "        readSide.apply(log, through: head.position)\n", "")], test_filter="ReadYourWritesTests"),
    store_mutation("84d", "execute: apply only appended events before the answer", [
        ("ChatStore+Execute.swift", "        readSide.apply(log, through: through)\n",
         "        if decided.answers.contains(where: { if case .success(let receipt) = $0 { receipt.positions != nil } else { false } }) {\n"
         "            readSide.apply(log, through: through)\n"
         "        }\n")], test_filter="ReadYourWritesTests"),
    store_mutation("85", "apply: show a part of a commit", [
        ("ReadSide.swift", "if slice.upperBound == last {", "if slice.upperBound <= last {")], test_filter="WholeCommitTests"),
    store_mutation("85b", "refresh: show a part of a commit", [
        ("ReadSide.swift",
         "{ $0.models.views.apply(batch, start..<min(batch.count, start + Self.rowsPerSection)) }",
         "{ shown in\n"
         "                        shown.models.views.apply(batch, start..<min(batch.count, start + Self.rowsPerSection))\n"
         "                        shown.position = shown.models.position\n"
         "                    }")], test_filter="WholeCommitTests"),
    store_mutation("85c", "refresh: show a commit up to a record that is not an event", [
        ("ChatStore+Refresh.swift", "if position == commit.position { end = commit }", "if position <= commit.position { end = JournalHead(journal: commit.journal, position: position, chain: commit.chain) }")],
        test_filter="WholeCommitTests"),
    store_mutation("86", "users: trust an index of an event that is not applied", [
        ("UserViews.swift", "        user < users.count && users[user].registeredAt > 0", "        users[user].registeredAt > 0")],
        test_filter="LostCommitTests", target="Projections"),
    store_mutation("86b", "users: trust the index of a name that is not applied", [
        ("UserViews.swift", "guard let name, name < nameOwnerLinks.count, let version", "guard let name, let version")],
        test_filter="LostCommitTests", target="Projections"),
    store_mutation("86c", "threads: trust an index of an event that is not applied", [
        ("ThreadQueries.swift", "identities.index(ofThread: id), thread < views.timelines.threads.count, threadExists",
         "identities.index(ofThread: id), threadExists")], test_filter="LostCommitTests", target="Projections"),
    store_mutation("86d", "posts: show a message that is not applied", [
        ("PostQueries.swift",
         "let message = identities.messages.find(id.bits), identities.messageFacts.position(message) <= position else",
         "let message = identities.messages.find(id.bits) else")], test_filter="LostCommitTests", target="Projections"),
    store_mutation("87", "checkpoint: take a snapshot of the views a commit late", [
        ("ReadSide.swift", "through: due.map { rows.snapshots[$0].position } ?? durable)", "through: durable)")],
        test_filter="CheckpointSnapshotTests"),
    store_mutation("87b", "checkpoint: take a snapshot of the views an event early", [
        ("ReadSide.swift", "through: due.map { rows.snapshots[$0].position } ?? durable)",
         "through: due.map { max(rows.snapshots[$0].position, 1) - 1 } ?? durable)")],
        test_filter="CheckpointSnapshotTests"),
    store_mutation("88", "receipt: events created later lack the correlation id", [
        ("Receipt.swift", "correlation: request.correlation)]", "correlation: nil)]")], test_filter="ReceiptEventsTests"),
    store_mutation("88b", "receipt: events created at once lack the correlation id", [
        ("Decision.swift", "content($0, of: request), correlation: request.correlation)", "content($0, of: request), correlation: nil)")],
        test_filter="ReceiptEventsTests", target="ChatDomain"),
    store_mutation("88c", "receipt: events created later lack the text", [
        ("Receipt.swift", "request.command.unindexedContent(of: row.kind), correlation", ".none, correlation")], test_filter="ReceiptEventsTests"),
    erasure_mutation("98", "keep the checkpoints", "Journal+Erase", "                try directory.storage.remove(directory.file(name))\n            }\n",
                "                _ = name\n            }\n", target="EventJournal"),
    erasure_mutation("98b", "keep what the user wrote about others", "ErasureOrders",
                "            body(UserID(bits: otherActor))\n", "            _ = otherActor\n"),
    erasure_mutation("98c", "keep the reasons of removals", "ErasureOrders", "            body(author)\n", "            _ = author\n"),
    rule_mutation("98d", "erasure: keep the subject taken", "RuleState+Apply",
             "if subject >= 0, subjectOwners[subject] == owner { subjectOwners[subject] = 0 }", "_ = subject"),
    erasure_mutation("98e", "let an erased user act", "Decide", "guard !users[user].isErased else { throw .userErased }\n", "", target="ChatDomain"),
    rule_mutation("98ea", "erasure: let an erased user be invited, muted, banned and blocked", "Decide",
                  "if users[user].isErased, !envelope.isAudit { throw .userErased }", "_ = envelope"),
    rule_mutation("98eb", "earlier rules: the audit does not follow them", "Decide",
                  "if users[user].isErased, !envelope.isAudit { throw", "if users[user].isErased { throw"),
    erasure_mutation("98f", "keep cached texts", "ChatStore+Erase", "        erasedPositions.add(positions)\n        forgetContent()\n", "        erasedPositions.add(positions)\n"),
    erasure_mutation("98g", "deliver the batch of a follower", "ChatStore+Reading", "if erasedPositions.contains(recorded.position) {", "if erasedPositions.contains(0) {"),
    erasure_mutation("98h", "readers ignore new orders", "ChatStore+Refresh", "if ordersErasure, let end { try applyNewErasures(through: end.position, &rules) }", "_ = ordersErasure"),
    erasure_mutation("98i", "show what an unfinished erasure left", "ChatStore+PendingErasures", "        if !content.positions.isEmpty { log.setHiddenContent(content.positions) }\n", "",
                test_filter="UnfinishedErasureTests"),
    erasure_mutation("98j", "do not complete at the opening", "ChatStore", "        complete(erasure, options.journal.log)\n", "",
                test_filter="UnfinishedErasureTests"),
    erasure_mutation("98k", "accept stubs without an order", "ErasureVerification", "try notConcerned(erased, by: known, log, identities).ranges.map", "try notConcerned(PositionSet(), by: known, journal, identities).ranges.map",
                test_filter="UnfinishedErasureTests"),
    erasure_mutation("98l", "accept orders without stubs", "ErasureVerification", "var findings = unfinished.ranges.map", "var findings = unfinished.ranges.prefix(0).map", test_filter="UnfinishedErasureTests"),
    erasure_mutation("98m", "keep the state of a projection", "ProjectionHandle", "                replay = Replay(of: epoch)\n", ""),
    erasure_mutation("98n", "erase again what came later", "ChatStore+Erase", "let isUnchanged = try isUnchanged(requests, isRepetition)\n", "let isUnchanged = try isUnchanged(requests, isRepetition) && requests.allSatisfy({ $0.user == nil })\n"),
    erasure_mutation("98o", "keep the messages of a live view", "LiveView", "guard case .event(let event) = update, !event.recorded.event.isErasure else { return .forbidden }",
                     "guard case .event(let event) = update else { continue }"),
    erasure_mutation("98s", "tell a viewer of events that they could not see", "Visibility", "models.maySee(viewer, event, at: concerned.position, current: current)", "true", test_filter="NoticeTests"),
    erasure_mutation("98t", "tell a viewer of posts before their history", "Visibility", ".map { start < $0 } ?? false", ".map { 0 < $0 } ?? false", test_filter="NoticeTests"),
    erasure_mutation("98u", "do not tell of a post that was written before the join", "Visibility", "case (.messagePosted, _), (.replyPosted, _): return true", "case (.messagePosted, _), (.replyPosted, _): return false",
                     test_filter="NoticeTests"),
    erasure_mutation("98v", "do not tell of a thread that is lost", "Visibility", "asOf: position).map { $0 > before } ?? true", "asOf: position).map { $0 > before } ?? false", test_filter="NoticeTests"),
    erasure_mutation("98w", "give a piece the token after the order", "Follower", "updates = notices.map { $0(event.tokenBefore) }", "updates = notices.map { $0(event.resumeToken) }",
                     test_filter="NoticeTests"),
    erasure_mutation("98x", "give a notice the token after its event", "Follower", "notice(isVisible || index + 1 < notices.count ? event.tokenBefore : event.resumeToken)", "notice(event.resumeToken)",
                     test_filter="NoticeTests"),
    erasure_mutation("98y", "do not tell a client that was away", "EventFeed", "return manyNotices(of: event, for: viewer, through: filter) != nil || lostThread(event, for: viewer, through: filter) != nil", "return false",
                     test_filter="NoticeTests"),
    erasure_mutation("98z", "let an order wake nobody", "FeedWaiters", "filter.includesNotices && (event.isErasure || event.mayEndAccess)", "false", test_filter="NoticeTests"),
    erasure_mutation("98p", "complete only if segments have content", "ChatStore+PendingErasures", "isUnfinished: true, hasContent", "isUnfinished: !content.positions.isEmpty, hasContent", test_filter="EraseCrashTests"),
    erasure_mutation("98q", "show pins of another thread", "CommunityQueries", "identities.messageFacts.parent(message) == index, ", "index != nil, ", test_filter="ViewerAttackTests",
                target="Projections"),
    erasure_mutation("98r", "rebuild without the order's models", "ChatStore+Erase", "            decider.rules = rebuilt.rules\n", ""),
    erasure_mutation("99", "erase other events at the positions", "MissingOrders", "if leaf == leaves[index] {", "if leaf != .emptyTree {", test_filter="LedgerTests"),
    erasure_mutation("99b", "forget an erased user whose registration is lost", "MissingOrders", "if !unregistered.isEmpty {", "if unregistered.count > 99 {", test_filter="LedgerTests"),
    erasure_mutation("99c", "erase a user who registered after the order", "MissingOrders", "row.registeredAt <= (try lastPosition(before: entry))",
                "true", test_filter="LedgerTests"),
    erasure_mutation("99d", "ignore a changed ledger", "Journal+Erase", "            let checksum = try? ledgerChecksum(), note.checksum == checksum\n", "            true\n", target="EventJournal", test_filter="LedgerTests"),
    erasure_mutation("99e", "copy what an unfinished erasure has left", "Journal+Backup", "if !pending.isEmpty { try Self.erase(pending, in: target) }", "", test_filter="UnfinishedErasureTests", target="EventJournal"),
    erasure_mutation("99f", "copy no ledger", "Copying", "merged.add(try ledger(log).entries)", "_ = log", test_filter="LedgerTests"),
    erasure_mutation("99g", "repair without the ledger", "Copying", "try journal.writeLedger(ledger)", "_ = ledger", test_filter="LedgerTests"),
    erasure_mutation("99h", "verify without the journal's own ledger", "ErasureVerification", "        known.add(try MissingOrders(own, besides: known, in: models, of: log).orders)\n", "", test_filter="LedgerTests"),
    erasure_mutation("99i", "accept a changed ledger", "ErasureLedger", "guard last.dropFirst(\"crc32c \".count) == Self.checksum(of: checked) else", "guard !checked.isEmpty else", test_filter="LedgerTests"),
    erasure_mutation("99j", "show what only the ledger orders", "ChatStore+PendingErasures", "orders.add(missing.orders)", "orders.add(ErasureOrders())", test_filter="LedgerTests"),
    erasure_mutation("99k", "list no user's events for other systems", "ChatStore+Ledger", "position < entries[index].position", "position > entries[index].position", test_filter="LedgerTests"),
    erasure_mutation("99l", "repeat no order if nothing is left to erase", "ChatStore+PendingErasures", "try order(pending.missing, isRepetition: true, in: log)", "try order(pending.missing, in: log)", test_filter="LedgerTests"),
    proof_mutation("89", "a last node without a sibling is not moved up", "InclusionProof", "if node & 1 == 1 || node == last {", "if node & 1 == 1 {"),
    proof_mutation("89b", "the earlier root is not compared", "ConsistencyProof",
              '        guard roots.old == old.root else { throw ProofError("The hashes do not lead to the root of the earlier head.") }\n', ""),
    proof_mutation("89c", "the later root is not compared", "ConsistencyProof",
              '        guard roots.new == head.root else { throw ProofError("The hashes do not lead to the root of the later head.") }\n', ""),
    proof_mutation("89d", "the earlier size is not compared", "ConsistencyProof", "guard old.size == oldSize else", "guard old.size > 0 else"),
    proof_mutation("89e", "a power of two is in its own proof", "MerklePath", "if tree.lowerBound > 0 { path.append(tree) }", "path.append(tree)"),
    proof_mutation("89f", "accept leading zeros and signs", "ProofText", 'guard let number = UInt64(text), "\\(number)" == text else',
              "guard let number = UInt64(text) else"),
    proof_mutation("106", "two hashes in the place of one", "MerkleCover", "guard left.isShown || right.isShown else {", "guard true else {", test_filter="MerkleCoverTests"),
    proof_mutation("106b", "the sibling is the leaf's own subtree", "MerkleCover", "left.leaves.contains(index) ? right.hash : left.hash",
              "left.leaves.contains(index) ? left.hash : right.hash", test_filter="MerkleCoverTests"),
    proof_mutation("106c", "an incomplete cover has a root", "MerkleCover", "        guard steps.isEmpty else { return nil }\n", "", test_filter="MerkleCoverTests"),
    evidence_mutation("106d", "the root is not compared", "TreeCover", "guard root == head.root else {", "guard root != .emptyTree else {", target="EventJournal"),
    evidence_mutation("106e", "accept an event of another thread", "EvidenceVerification", "guard itsThread == thread ?? itsThread else {", "guard true else {"),
    evidence_mutation("106f", "accept a gap in the numbers", "EvidenceVerification", "last == .max || number != last + 1 {", "number <= last {"),
    evidence_mutation("106g", "accept a registration of a stranger", "EvidenceVerification",
                 "where: { !users.contains($0) && stated[$0] == nil }", "where: { !users.contains($0) && stated[$0] == nil && false }"),
    evidence_mutation("106h", "accept readers without a proven member", "EvidenceVerification", "for (user, join) in joins where stated[user]?.since != join {",
                 "for (user, join) in joins where stated[user] == nil && join == 0 {"),
    evidence_mutation("106i", "a removed member is a proven reader", "EvidenceVerification", "(.threadLeft, let user?), (.memberRemoved, let user?): joins[user]", "(.threadLeft, let user?): joins[user]"),
    evidence_mutation("106j", "disclose read markers and reports", "Evidence", "guard let number = event.threadNumber else { return }",
                 "let number = event.threadNumber ?? (numbers?.upperBound ?? 0) &+ 1"),
    evidence_mutation("106k", "evidence over a lost event", "Evidence", "        guard !found.hasGap else { throw .incompleteThread(before: found.last) }\n", ""),
    Mutation("89g", "base64: accept bits that the last digit does not need", [
        ("Base64.swift", "            guard bits & (0xFF_FFFF >> UInt32(8 * count)) == 0 else { return nil }\n", "")],
        test_filter="PrimitivesTests.Base64Tests", target="Primitives"),
    Mutation("89h", "SHA-256: no second block for the padding of 57 bytes", [
        ("SHA256+Unsafe.swift", "if hasher.blockByteCount > 56 {", "if hasher.blockByteCount > 57 {")],
        test_filter="PrimitivesTests.SHA256Tests", target="Primitives"),
    tree_mutation("89i", "hash an entry without its first byte", "DisclosedRecord", "        hasher.update(DisclosedRecord.entryVersion)\n", ""),
    tree_mutation("89j", "hash the digest of a stub again", "DisclosedRecord", "        if state == .whole {\n            MerkleHash(digestOf",
             "        if state.rawValue < 4 {\n            MerkleHash(digestOf"),
    tree_mutation("89k", "the size of a tree may exceed the durable position", "RecordTree", "guard size <= last else", "guard size <= log.lastPosition else"),
    store_mutation("89l", "verify: accept the checkpoint of another log",
              [("TreeVerification.swift", "if expected.origin != origin {", "if expected.origin.isEmpty {")], test_filter="ProofTests", target="EventJournal"),
    stored_tree_mutation("89m", "store a page of records that are not synced", "Journal+StoredTree",
                    "published.withLock({ $0.syncedPosition }) >= end else", "lastPosition >= end else"),
    stored_tree_mutation("89n", "use the pages of another history", "Journal+StoredTree",
                    "(try? contains(last.head)) == true else", "last.head.position > 0 else"),
    stored_tree_mutation("89o", "the CRC of a page does not continue", "TreeFile",
                    "CRC32C.checksum(of: previous, continuing: 0)", "CRC32C.checksum(of: previous & 0, continuing: 0)"),
    stored_tree_mutation("89oa", "do not sync a page", "TreeFile",
                    "file.write(span, at: offset) }\n                try file.sync()\n", "file.write(span, at: offset) }\n",
                    test_filter="TreeBackgroundTests"),
    stored_tree_mutation("89ob", "continue after a page that a killed writer has not synced", "TreeFile",
                    "(ofPage: pageCount))\n        try file.sync()\n", "(ofPage: pageCount))\n", test_filter="TreeBackgroundTests"),
    Mutation("89oc", "verify: a torn last page of the tree file is a finding", [
        ("DerivedFiles.swift", "return page > 0 && size <= place.upperBound ? nil : damaged(place)", "return damaged(place)")],
        test_filter="ChatTestingTests.TreeCrashTests"),
    stored_tree_mutation("89p", "take a subtree that exceeds the tree", "MerkleRows", "end - leaf >= size {", "end > leaf {", target="MerkleLog"),
    stored_tree_mutation("89q", "verify: do not compare the pages", "TreeVerification", "if index < stored.count, stored", "if index < 0, stored"),
    stored_tree_mutation("89r", "a close does not wait for the page that is being written", "Journal+StoredTree",
                    "        treeFile.withLock { $0.isClosed = true }\n", "", test_filter="TreeBackgroundTests"),
    stored_tree_mutation("89s", "tiles: continue another history", "RecordTree+Tiles",
                    "        guard try head(at: old.size, of: log) == old else", "        guard try head(at: old.size, of: log).size == old.size else",
                    test_filter="TilesTests"),
    stored_tree_mutation("107", "tiles: write through a link", "TileDirectory",
                    "        try createDirectories(through: parent)\n        try Self.checkIsNoLink(path, on: directory.storage)\n",
                    "        try createDirectories(through: parent)\n", test_filter="TilesTests"),
    stored_tree_mutation("107b", "tiles: remove partial tiles through a link", "TileDirectory",
                    "        try checkDirectories(through: path)\n        counts", "        counts", test_filter="TilesTests"),
    stored_tree_mutation("107c", "tiles: lock a directory before it is rejected", "TileDirectory",
                    "        if try Self.hasTreeCheckpoint(directory) { try check(try Self.readHead(directory)) }\n",
                    "        _ = try Self.hasTreeCheckpoint(directory)\n", test_filter="TilesTests"),
    stored_tree_mutation("107d", "files: empty the directory that a link named cut leads to", "Journal+Erase", "        try cut.checkIsNoLink()\n", "",
                    test_filter="HostileFilesTests"),
    stored_tree_mutation("107e", "files: copy torn bytes through a link", "RecoveryWriter", "if recovery.report.cutBytes != nil { try cut.checkIsNoLink() }", "", test_filter="HostileFilesTests"),
    stored_tree_mutation("107f", "files: create the file that a link named lock leads to", "SystemCalls+Unsafe",
                    "O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW", "O_CREAT | O_CLOEXEC | O_NONBLOCK", test_filter="HostileFilesTests"),
    stored_tree_mutation("107g", "files: read through a link", "SystemCalls+Unsafe", "O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW",
                    "O_RDONLY | O_CLOEXEC | O_NONBLOCK", test_filter="HostileFilesTests"),
    stored_tree_mutation("107h", "files: write through a link", "SystemCalls+Unsafe", "O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW",
                    "O_RDWR | O_CLOEXEC | O_NONBLOCK", test_filter="HostileFilesTests"),
    store_mutation("107i", "opening: change the files before the events are read", [
        ("ChatStore.swift", "try Journal.prepare(directory, options: options.journal)", "try Journal.open(directory, options: options.journal)")],
        test_filter="RefusedOpeningTests"),
    stored_tree_mutation("107j", "files: acknowledge a sync of replaced files", "Journal+Durability", "                    try state.checkFiles(in: directory)\n", "",
                    test_filter="RemovedFilesTests"),
    stored_tree_mutation("107k", "files: acknowledge a write to replaced files", "Journal+Append",
                    "                if durability == .written { try state.checkFiles(in: directory) }\n", "", test_filter="RemovedFilesTests"),
    stored_tree_mutation("107l", "files: rotate without a check", "Journal+Append",
                    "        try state.checkFiles(in: directory, at: start, always: true)\n", "", test_filter="RemovedFilesTests"),
    stored_tree_mutation("107m", "files: do not watch an idle journal", "Journal+Open", "        watchFiles()\n", "", test_filter="RemovedFilesTests"),
    move_mutation("110o", "a moved journal keeps its version", "Journal+Move", "                try writeSlots(hasRole: true)\n", ""),
    store_mutation("89w", "tree file: a close leaves the completed pages to the next run", [
        ("ChatStore.swift", "                journal?.storeCompletedTreePages()\n", "")], test_filter="DerivedFilesTests"),
    store_mutation("89x", "verify: ignore the checksums of checkpoints", [
        ("Verification.swift", "            findings += try (log as? any CheckpointLog)?.checkpointFindings() ?? []\n", "")], test_filter="DerivedFilesTests"),
    store_mutation("89y", "verify: ignore the checksums of the tree file", [
        ("Verification.swift", "            findings += (log as? Journal)?.storedTreeFindings() ?? []\n", "")], test_filter="DerivedFilesTests"),
    stored_tree_mutation("89z", "scrub: begin a pass at each opening", "Journal+Scrub",
                    "guard position == 0, let lastPass else", "guard position == 0, let lastPass, pause < .zero else", test_filter="ScrubTests"),
    stored_tree_mutation("89t", "tiles: omit the entries of the earlier size", "RecordTree+Tiles", "                (first, isMissing) = (0, true)\n",
                    "                isMissing = true\n", test_filter="TilesTests"),
    Mutation("89u", "tiles: write the checkpoint before the names of the tiles are synced", [
        ("TileDirectory.swift", "        try syncNames()\n        try write(Array(head.text.utf8), Self.treeCheckpointName)\n",
         "        try write(Array(head.text.utf8), Self.treeCheckpointName)\n")], test_filter="ChatTestingTests.TreeCrashTests"),
    Mutation("89v", "tiles: omit the sync of a tile", [("TileDirectory.swift", "            try file.sync()\n", "")],
        test_filter="ChatTestingTests.TreeCrashTests"),
    Mutation("110a", "move: open the copy before the journal has moved", [
        ("LogCopy.swift", "        if try source.movedTo() == nil { try source.fence(at: destination.position, destination: name) }\n"
         "        try destination.activateAndClose()\n",
         "        let end = destination.position\n        try destination.activateAndClose()\n"
         "        if try source.movedTo() == nil { try source.fence(at: end, destination: name) }\n")],
        test_filter="ChatTestingTests.MoveCrashTests"),
    Mutation("110b", "move: omit the sync of the copy", [
        ("JournalCopy.swift", "        nextRecordsLeft = nil\n        try journal.synchronize()\n", "        nextRecordsLeft = nil\n")],
        test_filter="ChatTestingTests.MoveCrashTests"),
    move_mutation("110c", "the open journal still accepts appends", "Journal+Move",
             "                state.fence = JournalError(role, path: directory.path)\n", ""),
    move_mutation("110d", "do not compare the last position", "Journal+Move",
             "guard state.lastPosition == position else {\n                    throw JournalError(\n                        .conflict",
             "guard state.lastPosition >= position else {\n                    throw JournalError(\n                        .conflict"),
    move_mutation("110e", "open a copy for writing", "JournalPurpose", "if let found { throw JournalError(found.role, path: path) }",
             "if let found, found.role != .copy { throw JournalError(found.role, path: path) }"),
    move_mutation("110f", "a journal with another history can be the copy", "JournalCopy", "guard try source.contains(head) else {",
             "guard try source.contains(head) || head.position > 0 else {"),
    move_mutation("110g", "accept a record of another commit", "JournalCopy", "recordsLeft == nextRecordsLeft ?? recordsLeft else", "recordsLeft < 9 else"),
    move_mutation("110h", "omit the ledger", "LogCopy", "        if let ledger = try source.readLedger() { try destination.writeLedger(ledger) }\n", ""),
    move_mutation("110i", "move to a second place", "LogCopy", "if let place = try source.movedTo(), place != name {",
             "if let place = try source.movedTo(), place.isEmpty {"),
    store_mutation("110j", "backup of a log: keep content that was erased since",
              [("RecordSource.swift", "{ copy.header.generation == original.header.generation }", "{ copy.header.journal == original.header.journal }")],
              test_filter="RecordLogTests", target="EventJournal"),
    store_mutation("110l", "backup: keep content that is erased meanwhile",
              [("Journal+Backup.swift", "if let report, try !run.isOutdated() { return report }", "if let report { return report }")],
              test_filter="BackupRoundsTests", target="EventJournal"),
    store_mutation("110m", "backup: write the ledger last",
              [("Backup.swift", "        try ledger.carry()\n", ""), ("Backup.swift", "willWrite: ledger.carry)\n            isContinued = true", "willWrite: {})\n            isContinued = true"),
               ("Backup.swift", "willWrite: ledger.carry)\n            isContinued = false", "willWrite: {})\n            isContinued = false"),
               ("Backup.swift", "        report.head = JournalHead(journal: source.journal, position: target", "        try ledger.carry()\n        report.head = JournalHead(journal: source.journal, position: target")],
              test_filter="BackupRoundsTests", target="EventJournal"),
    store_mutation("110k", "verify a log: accept another chain value", [("VerifiableLog.swift", "} else if chain != head.chain {", "} else if chain == 0 {")],
              test_filter="RecordLogTests", target="EventJournal"),
    postgres_mutation("111a", "an append does not compare the epoch", "Statement+Writing.swift", "WHERE number = $1::int AND epoch = $2::bigint AND position = $3::bigint AND chain = $4::bigint AND state = $7::text",
                 "WHERE number = $1::int AND $2::bigint > 0 AND position = $3::bigint AND chain = $4::bigint AND state = $7::text", "PostgresWriterTests"),
    postgres_mutation("113b", "an append does not compare the chain value", "Statement+Writing.swift",
                 "AND position = $3::bigint AND chain = $4::bigint AND state = $7::text", "AND position = $3::bigint AND $4::bigint IS NOT NULL AND state = $7::text",
                 "PostgresFailureTests"),
    postgres_mutation("113c", "a writer without commands does not look at its log", "CommitWriter.swift",
                 ">= writer.database.options.heartbeatInterval, let connection", ">= .seconds(86_400), let connection", "PostgresFailureTests"),
    postgres_mutation("113d", "a read of a log that was set back does not stop it", "PostgresLog+Checks.swift",
                 "                let error = setBack(from: head)\n                stop(error)\n", "                let error = setBack(from: head)\n", "PostgresFailureTests"),
    postgres_mutation("113e", "an announcement that was not made waits for the writer", "PostgresLog+Following.swift",
                 "confirms: isQuiet && last > durablePosition", "confirms: isQuiet && last == .max", "AnnouncementTests"),
    store_mutation("113f", "the failure of a log is not that of its store", [
        ("ChatStore+Failure.swift", "stopped.withLock { $0 } ?? log.failure", "stopped.withLock { $0 }")], test_filter="StoppedStoreTests"),
    postgres_mutation("111b", "a warning is a confirmation", "DatabaseConnection+Unsafe.swift", "if notices.hasWarning && !statement.mayWarn {", "if notices.hasWarning && statement.mayWarn {", "OutageTests"),
    postgres_mutation("111c", "a lost commit is written again without a look", "CommitWriter.swift", "commits = commits[(index + 1)...]", "_ = index", "LostAnswerTests"),
    postgres_mutation("111d", "a lost commit is not written again", "CommitWriter.swift", "                if !rest.isEmpty { try writer.insert(rest) }\n",
                 "                if !rest.isEmpty && writer.head.position % 7 != 3 { try writer.insert(rest) }\n", "LostAnswerTests"),
    postgres_mutation("111e", "a superseded writer forgets what the database has", "CommitWriter.swift", "chains[first.last] == first.chain", "chains[first.last] == nil",
                 "PostgresWriterTests"),
    postgres_mutation("111f", "a reader shows what is not durable", "PostgresLog+Following.swift", "                    try connection.execute(.barrier, timeout: timeout)\n",
                 "                    try connection.execute(.hasSchema, timeout: timeout)\n",
                 "OutageTests"),
    postgres_mutation("111g", "a reader keeps weak settings", "Database.swift", "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END",
                 "WHEN 'off' THEN 'off' ELSE 'on' END", "OutageTests"),
    postgres_mutation("111h", "the last commit is not announced", "LogState.swift", "if isAnnouncementScheduled || isClosed || failure != nil || durable.position <= announced {",
                 "if isAnnouncementScheduled || isClosed || failure != nil || durable.position <= announced || announced > 0 {", "LogStateTests"),
    postgres_mutation("111i", "a log that was set back is followed", "PostgresLog+Following.swift", "if let end, end.head.journal == id, !end.isSetBack {", "if let end, end.head.journal == id {",
                 "OutageTests"),
    postgres_mutation("111j", "a record of another place is read", "PostgresLog+Read.swift", "try checksChain\n", "try !checksChain\n", "OutageTests"),
    postgres_mutation("111k", "the time limit of a read includes its consumer", "DatabaseConnection+Unsafe.swift",
                 "            var (count, goesOn) = (0, true)\n            while true {\n",
                 "            var (count, goesOn) = (0, true)\n            let end = ContinuousClock.now + timeout\n            while true {\n                if .now > end { throw timedOut() }\n",
                 "OutageTests"),
    postgres_mutation("111l", "a password becomes a port", "PostgresAddress+Unsafe.swift", "            guard !isOdd else {", "            guard !isOdd || true else {", "PostgresAddressTests"),
    postgres_mutation("111m", "a record is not checked", "PostgresLog+Read.swift", "                    if index <= next { return true }\n", "", "(LostAnswer|Outage)Tests"),
    postgres_mutation("111n", "a copy of another log is continued", "PostgresLog+Move.swift", "guard let connection = opened.connection, try source.contains(opened.head) else {",
                 "guard let connection = opened.connection else {", "PostgresCopyTests"),
    postgres_mutation("111o", "a moved log accepts appends", "Statement+Writing.swift", "SET state = 'moved', moved_to = $4::text, epoch = epoch + 1", "SET moved_to = $4::text", "PostgresCopyTests"),
    server_mutation("112a", "a session that ended is still known", "ServerCore+Role.swift", "                if let user { writer.forgetSessions(of: user) }\n", "", "ReadingServerTests"),
    server_mutation("112b", "a response does not wait for the log", "ServerCore+Role.swift", "                await catchUp(to: token.position)\n", "                _ = token\n", "ReadingServerTests"),
    server_mutation("112c", "a reader does not follow", "ServerCore+Role.swift", "                    while try await events.next(isolation: nil) != nil {}\n", "                    _ = try await events.next(isolation: nil)\n", "ReadingServerTests"),
    server_mutation("112d", "every client is the reader", "ServerCore+Role.swift", "client: gate.client(of: head)?.description)", "client: nil)", "ReadingServerTests"),
    server_mutation("112e", "without the writer every token counts", "WriterClient.swift", "                if let former { return former }\n                throw error\n",
               "                return former ?? UserID(bits: 1)\n", "ReadingServerTests"),
    server_mutation("112f", "without the writer no session counts", "WriterClient.swift", "confirmedWithin: KnownSessions.grace, of: now", "confirmedWithin: .zero, of: now", "ReadingServerTests"),
    server_mutation("112i", "a sign-out without an answer is forgotten", "ServerCore+Role.swift", "                if let user { writer.forgetSessions(of: user) }\n", "                if let user, case .success = result { writer.forgetSessions(of: user) }\n", "ReadingServerTests"),
    server_mutation("112j", "a late answer is believed", "KnownSessions.swift", "            guard generation == self.generation else { return }\n", "", "KnownSessionsTests"),
    server_mutation("112g", "a writer without TLS", "ChatServer.swift", "if !writer.isSecure, !writer.isLoopback {", "if !writer.isSecure, !writer.isLoopback, options.origins.count > 9 {", "ReadingServerTests"),
    store_mutation("112h", "the head of a read-only store is that of its log", [("ChatStore.swift", "if log.isReadOnly { return appliedHead", "if log.isReadOnly, log.head.position == 0 { return appliedHead")], test_filter="RecordLogTests"),
    postgres_mutation("111p", "a standby without the log ends its readers", "PostgresLog+Following.swift",
                 "                if end?.head.journal != id { try connection.requireLeader(database.answerTimeout) }\n", "", "OutageTests"),
    postgres_mutation("111q", "a leader that was replaced counts as the log", "DatabaseConnection+Log.swift", "            try execute(.barrier, timeout: timeout)\n", "", "OutageTests"),
    postgres_mutation("111r", "a read does not compare the history of the server", "PostgresLog+Checks.swift", "if connection.knownThrough < position {",
                 "if connection.knownThrough < position, position == 0 {", "OutageTests"),
    account_mutation("100a", "do not count wrong codes", "AccountStore.swift", "SET tries = tries + 1 WHERE", "SET tries = tries WHERE", "SignUpTests"),
    account_mutation("100b", "a code does not expire", "AccountStore.swift", "expires > ? AND tries < ?", "expires > ? - 999999999 AND tries < ?", "SignUpTests"),
    account_mutation("100c", "replace a registered account", "AccountStore+SignUp.swift", "if let existing, existing.state != .unconfirmed {",
                "if let existing, existing.state == .deleting {", "SignUpTests"),
    account_mutation("100d", "the error shows an unconfirmed account", "AccountStore+Sessions.swift",
                "case .unconfirmed, .deleting: throw .invalidCredentials\n            case .confirmed: throw",
                "case .deleting: throw .invalidCredentials\n            case .unconfirmed, .confirmed: throw", "SessionTests"),
    account_mutation("100e", "end a session of another user", "AccountStore+Sessions.swift",
                "WHERE id = ? AND account = (SELECT id FROM accounts WHERE user = ?)", "WHERE id = ? AND ? IS NOT NULL", "SessionTests"),
    account_mutation("100f", "a reset keeps the sessions", "AccountStore+Passwords.swift",
                "try self.endSessions(database, row.user, except: nil)", "", "SessionTests"),
    account_mutation("100g", "a deleted row stays in the file", "AccountSchema.swift",
                'try database.run("PRAGMA secure_delete=ON")', 'try database.run("PRAGMA secure_delete=OFF")', "SessionTests"),
    account_mutation("100h", "codes are hashed without the key", "AccountStore.swift", ".utf8), key: codeKey)", ".utf8), key: [])", "FileTests"),
    account_mutation("100i", "write to a foreign database", "AccountSchema.swift", "|| isEmpty && application == [[.integer(0)]]",
                "|| isEmpty || application == [[.integer(0)]]", "FileTests"),
    account_mutation("100j", "an address in several headers", "EmailAddress.swift", "guard parts.count == 2,", "guard parts.count >= 2,", "SignUpTests"),
    account_mutation("100k", "confirm any password", "AccountStore+SignUp.swift", "password == nil || hash == row.password", "password == nil || hash == row.password || hash == nil",
                "ConfirmationTests"),
    account_mutation("100l", "a wrong password with the right code is no try", "AccountStore.swift",
                "if Sodium.areEqual(stored, hash(code, account, purpose)) && isPasswordRight { return true }",
                "if Sodium.areEqual(stored, hash(code, account, purpose)) { return isPasswordRight }", "ConfirmationTests"),
    account_mutation("100m", "confirm a sign-up that was replaced during the comparison", "AccountStore+SignUp.swift",
                "password == nil || hash == row.password", "password == nil || hash != nil", "ConfirmationTests"),
    account_mutation("100n", "compare the password of known addresses only", "AccountStore+SignUp.swift", "return try pool.verify(secret, stored) ? stored : nil",
                "if stored == nil { return nil }\n            return try pool.verify(secret, stored) ? stored : nil", "ConfirmationTests"),
    account_mutation("100o", "a look-up waits for writers", "AccountStore+Sessions.swift", "let rows = try reader.withLock", "let rows = try database.withLock",
                "LookupTests"),
    account_mutation("100p", "a look-up waits for the commit of the last use", "AccountStore+Sessions.swift",
                "if isFirst { lastUseQueue.async { [self] in writeLastUses() } }", "if isFirst { writeLastUses() }", "LookupTests"),
    account_mutation("100q", "write the last use too often", "AccountStore+Sessions.swift", "lastUsePrecision = Duration.seconds(60)", "lastUsePrecision = Duration.milliseconds(59_999)",
                "SessionTests"),
    account_mutation("100r", "forget that a last use was not written", "AccountStore+Sessions.swift", "catch { options.lastUseFailed(error) }", "catch { return }",
                "LookupTests"),
    account_mutation("100s", "look-ups read an old state", "AccountStore.swift", "            reader = Lock(try Database(path, isReadOnly: true))\n",
                "            let old = try Database(path, isReadOnly: true)\n            try old.run(\"BEGIN\")\n            reader = Lock(old)\n", "LookupTests"),
    account_mutation("100t", "loopback has the limits of one client", "RateLimits.swift", "guard address.isLoopback else", "guard address.isLoopback, address != address else",
                "AddressTests"),
    account_mutation("100u", "the rate of loopback is that of one client", "RateLimits.swift", "self.address.intervalMilliseconds / 100)", "self.address.intervalMilliseconds)",
                "AddressTests"),
    account_mutation("100v", "the network of ::1 is loopback", "ClientAddress.swift", "bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1",
                "bytes[..<8].allSatisfy { $0 == 0 }", "AddressTests"),
    account_mutation("100w", "accept a leading zero in an address", "ClientAddress.swift", "guard part.count == 1 || part.first != UInt8(ascii: \"0\") else { return nil }", "",
                "AddressTests"),
    account_mutation("100x", "`::` can be no group", "ClientAddress.swift", "head.count + tail.count <= 14", "head.count + tail.count <= 16", "AddressTests"),
    account_mutation("100y", "close before the mails are delivered", "AccountStore.swift", "            mails.drain()\n            lastUseQueue", "            lastUseQueue",
                "CloseTests"),
    account_mutation("100z", "close before the last uses are written", "AccountStore.swift", "            lastUseQueue.sync {}\n            reader.withLock", "            reader.withLock",
                "CloseTests"),
    account_mutation("101a", "the reader stays open", "AccountStore.swift", "            reader.withLock { $0.close() }\n            try database", "            try database", "CloseTests"),
    account_mutation("101b", "hash a password for a closed store", "AccountStore.swift", "if isClosed.load(ordering: .sequentiallyConsistent) { throw .closed }\n", "\n",
                "CloseTests"),
    account_mutation("101c", "a held file is a failure of the storage", "Database+Unsafe.swift", "case SQLITE_BUSY, SQLITE_LOCKED:", "case SQLITE_LOCKED:", "LookupTests"),
    account_mutation("101d", "a damaged row is no account file", "AccountValues.swift", "let used) = row[3]\n            else { throw .damaged }",
                "let used) = row[3]\n            else { throw .notAnAccountFile }", "LookupTests"),
    account_mutation("101e", "the bytes of a deletion stay beside a reader", "AccountStore+Passwords.swift", "guard try database.checkpoint() else { throw .fileIsHeld }",
                "_ = try database.checkpoint()", "LookupTests"),
    account_mutation("101f", "a full disk is a failure of the storage", "Database+Unsafe.swift", "AccountError(.storageFull,", "AccountError(.storage,", "LookupTests"),
    wire_mutation("102a", "the acting user of a batch is not compared", "ClientCommands.swift", "named != actor {", "named != actor, line == nil {", "ClientCommandsTests"),
    wire_mutation("102b", "the acting user of one command is not compared", "ClientCommands.swift", "named != actor {", "named != actor, line != nil {",
             "ClientCommandsTests"),
    wire_mutation("102c", "a client makes operators", "ClientCommands.swift", "case .registerUser, .grantOperator, .revokeOperator: false",
             "case .registerUser, .revokeOperator: false\n        case .grantOperator: true", "ClientCommandsTests"),
    wire_mutation("102d", "a client registers users", "ClientCommands.swift", "case .registerUser, .grantOperator, .revokeOperator: false",
             "case .grantOperator, .revokeOperator: false\n        case .registerUser: true", "ClientCommandsTests"),
    wire_mutation("102e", "the batch has one command too many", "ClientCommands.swift", "maximumCount = 1_000", "maximumCount = 1_001", "ClientCommandsTests"),
    wire_mutation("102f", "a malformed element has no line", "ClientCommands.swift", "line: error.element.map { $0 + 1 }", "line: nil", "ClientCommandsTests"),
    wire_mutation("102g", "a batch may be empty", "ClientCommands.swift", "guard !elements.isEmpty else", "guard elements.count >= 0 else", "ClientCommandsTests"),
    wire_mutation("102h", "everybody sees the pins", "ChatRoutes.swift", "pins(in: try $1.thread(), viewer: $0.user, limit", "pins(in: try $1.thread(), limit", "ChatRoutesTests"),
    wire_mutation("102i", "everybody sees the sanctions", "ChatRoutes.swift", "sanctions(in: try $1.thread(), viewer: $0.user, limit", "sanctions(in: try $1.thread(), limit",
             "ChatRoutesTests"),
    wire_mutation("102j", "everybody sees the members", "ChatRoutes.swift", "members(of: try parameters.thread(), page, viewer: context.user)",
             "members(of: try parameters.thread(), page, viewer: nil)", "ChatRoutesTests"),
    wire_mutation("102k", "everybody sees a message", "ChatRoutes.swift", "message(try parameters.message(), viewer: context.user)", "message(try parameters.message())",
             "ChatRoutesTests"),
    wire_mutation("102l", "anybody follows a thread that they cannot read", "ChatRoutes.swift", "            if !store.couldRead(thread, user, asOf: start.position) { _ = try store.thread(thread, viewer: user) }\n", "",
             "ChatRoutesTests"),
    wire_mutation("102m", "anybody ends a session", "ChatRoutes.swift", "return owner != user", "return owner != owner", "CommandRouteTests"),
    wire_mutation("102n", "the history of a token is not checked", "ChatRoutes.swift", "            try store.requireValid(token)\n", "", "EventStreamTests"),
    wire_mutation("102o", "the query wins over the header", "ChatRoutes.swift", "request.lastEventID ?? request.parameter(\"after\")",
             "request.parameter(\"after\") ?? request.lastEventID", "EventStreamTests"),
    wire_mutation("102p", "both bounds of a page", "ChatRoutes.swift", "guard page.before == nil || page.after == nil else", "guard page.limit > 0 else", "ChatRoutesTests"),
    wire_mutation("102q", "a page is too large", "ChatRoutes.swift", "in: 1...ListLimit.answer.count) ?? 50", "in: 1...ListLimit.readCount) ?? 50", "ChatRoutesTests"),
    wire_mutation("102r", "a control character in a path", "WireRequest.swift", "$0 >= 0x20 && $0 != 0x7F", "$0 >= 0x20", "WireRequestTests"),
    wire_mutation("102s", "a repeated parameter", "WireRequest.swift", "guard !query[..<index].contains(where: { $0.name == parameter.name }) else", "guard index >= 0 else",
             "WireRequestTests"),
    wire_mutation("102t", "a signed number", "WireRequest.swift", "guard text.utf8.allSatisfy({ (UInt8(ascii: \"0\")...UInt8(ascii: \"9\")).contains($0) }), let",
             "guard let", "WireRequestTests"),
    wire_mutation("102u", "HEAD is not GET", "Router.swift", "(method == \"HEAD\" ? \"GET\" : method)", "method", "RouterTests"),
    wire_mutation("102v", "HEAD is not allowed", "Router.swift", "methods.contains(\"GET\") ? methods.union([\"HEAD\"]) : methods", "methods", "RouterTests"),
    wire_mutation("117a", "a list has any number of items", "JSONLineEncoder.swift", "if let limit, texts.count == limit.count { break }",
             "if let limit, limit.count == 0 { break }", "ListLimit"),
    wire_mutation("117b", "a list has any length", "JSONLineEncoder.swift", "if let limit, byteCount > limit.byteCount, !texts.isEmpty { break }",
             "if let limit, limit.byteCount == 0 { break }", "ListLimit"),
    wire_mutation("117c", "a page that is cut leads past its other items", "PageAnswer.swift", "part.isCut && kept == .last ?",
             "part.count == 0 && kept == .last ?", "PageAnswerTests"),
    account_mutation("117d", "a request without a mail takes no place", "Mail.swift", "        func deliver(_ mail: Mail?) {\n",
                "        func deliver(_ mail: Mail?) {\n            if mail == nil { return release() }\n", "EqualAnswersTests"),
    wire_mutation("102w", "the bound of an empty page is beyond the numbers of a browser", "PageAnswer.swift", "request.after.map { $0 == .max ? $0 : $0 + 1 }", "Position.max",
             "PageAnswerTests"),
    wire_mutation("102x", "a page has no older ones", "PageAnswer.swift", "part.hasOlder ? items", "part.hasOlder && items.count > 1 ? items", "PageAnswerTests"),
    server_mutation("103a", "the origin is not checked", "RequestGate.swift", "if !origins.contains(origin.lowercased())", "if origin == \"null\"", "RequestGateTests"),
    server_mutation("103b", "the host is not checked", "RequestGate.swift", "!hosts.contains(host(of: head))", "host(of: head).isEmpty", "RequestGateTests"),
    server_mutation("103c", "a page of the same site acts", "RequestGate.swift", "site != \"same-origin\", site != \"none\"", "site == \"cross-site\"", "RequestGateTests"),
    server_mutation("103d", "the first forwarded address counts", "RequestGate.swift", "for text in forwarded.reversed()", "for text in forwarded", "RequestGateTests"),
    server_mutation("103e", "every client may forward an address", "RequestGate.swift", "guard let peer = head.peer, trustedProxies.contains(peer) else",
               "guard let peer = head.peer else", "RequestGateTests"),
    server_mutation("103f", "another coding of a body", "RequestGate.swift", "?? \"chunked\").lowercased() == \"chunked\"", "?? \"chunked\").lowercased().hasSuffix(\"chunked\")",
               "RequestGateTests"),
    server_mutation("103g", "a length beside a coding", "RequestGate.swift", "head.count(of: \"content-length\") == 0 || head.count(of: \"transfer-encoding\") == 0,", "true,",
               "RequestGateTests"),
    server_mutation("103h", "a body is not JSON", "RequestGate.swift", "if hasBody, !Self.isJSON", "if hasBody, head.isSafe, !Self.isJSON", "RequestGateTests"),
    server_mutation("103i", "the plain cookie counts over TLS", "SessionCredentials.swift", "let name = isSecure ? secureName : plainName", "let name = plainName",
               "SessionCredentialsTests"),
    server_mutation("103j", "the cookie is not secure", "SessionCredentials.swift", "(isSecure ? \"; Secure\" : \"\")", "\"\"", "SessionCredentialsTests"),
    server_mutation("103k", "the mailbox has no bound", "Mailbox.swift", "if state.byteCount >= Self.capacity { return false }", "if state.byteCount < 0 { return false }",
               "MailboxTests"),
    server_mutation("103l", "the reader is woken twice", "Mailbox.swift", "            isReaderWaiting = false\n", "", "MailboxTests"),
    server_mutation("103m", "a lost connection is resumed", "Mailbox.swift", "state.byteCount, state.wake) = ([], 0, 0, nil)", "state.byteCount) = ([], 0, 0)", "MailboxTests"),
    server_mutation("103n", "an end forgets the writers", "Mailbox.swift", "            for writer in writers { writer.resume(returning: false) }\n            return isFirst",
               "            _ = writers\n            return isFirst", "MailboxTests"),
    server_mutation("103o", "a stream opens after the end of its session", "ServerCore+Streams.swift", "            await streams.checkSession(of: id, validity: sessions.validity)\n",
               "            _ = sessions\n", "ConversationTests"),
    server_mutation("103p", "a stream opens while the server closes", "StreamRegistry.swift", "            state.withLock { $0.closing = reason }\n", "", "StreamRegistryTests"),
    server_mutation("103q", "a stream is looked up once", "StreamRegistry.swift", "for id in due { state.checks[id] = now + Self.sessionCheckInterval }",
               "for id in due { state.checks[id] = nil }", "StreamRegistryTests"),
    server_mutation("103r", "a client that does not read stays", "StreamRegistry.swift", "waits > Self.lagLimit", "waits > Self.lagLimit * 100", "StreamRegistryTests"),
    server_mutation("103s", "an address has one connection too many", "ConnectionTable.swift", "default: 0] < maximumPerAddress", "default: 0] <= maximumPerAddress", "ConnectionTableTests"),
    server_mutation("103t", "slow headers have no limit", "ConnectionTable.swift", "case .headers: .seconds(10)", "case .headers: nil", "ConnectionTableTests"),
    server_mutation("103u", "the queue has one place too many", "WorkerThreads.swift", "state.jobs.count - state.next < limit", "state.jobs.count - state.next <= limit",
               "WorkerThreadsTests"),
    server_mutation("103v", "the sign-out leaves the streams", "AccountRoutes.swift", "context.streams.end(.signedOut) { $0.session?.token == token }",
               "context.streams.end(.signedOut) { _ in token.isEmpty }", "ConversationTests"),
    server_mutation("103w", "an ended session leaves its streams", "AccountRoutes.swift",
               "guard hasEnded else { throw Problem.notFound }\n                await context.streams.checkSessions(of: present.user, validity: context.accounts.validity)\n",
               "guard hasEnded else { throw Problem.notFound }\n", "ConversationTests"),
    server_mutation("103x", "a lost name is registered", "AccountService.swift", "case .usernameTaken: throw Problem.usernameTaken", "case .usernameTaken: break", "RegistrationTests"),
    server_mutation("103y", "a second name is a failure", "AccountService.swift", "case .identifierTaken where store.user(withSubject: account) == registration.user:",
               "case .identifierTaken where store.user(withSubject: account) == nil:", "RegistrationTests"),
    server_mutation("103z", "an unknown user is never deleted", "AccountService.swift", "where rejection.code == .unknownUser", "where rejection.code == .storageFull", "RegistrationTests"),
    server_mutation("104a", "a lost client counts as an ended stream", "ServerCore+Streams.swift", "if mailbox.end(EventStream.block(end)) { metrics.count(ended: end) }",
               "mailbox.end(EventStream.block(end))\n                metrics.count(ended: end)", "ConversationTests"),
    server_mutation("104b", "a connection is suspended when the library stops", "HTTPDaemon+Unsafe.swift", "            for exchange in exchanges { exchange.abandon() }\n",
               "            _ = exchanges\n", "ClosingTests"),
    server_mutation("104c", "the limit is that of a chunk", "HTTPExchange+Unsafe.swift", "if state.body.count + bytes.count > limit", "if bytes.count > limit", "TransportTests"),
    server_mutation("104e", "a closing server accepts connections", "ConnectionTable.swift", "guard !state.isClosed else { return false }", "", "ConnectionTableTests"),
    server_mutation("104d", "a request begins before its connection is suspended", "HTTPDaemon+Unsafe.swift",
               "            guard unsafe daemon.suspend(exchange, connection) else { return CMHD_no() }\n            exchange.begin()\n",
               "            exchange.begin()\n            guard unsafe daemon.suspend(exchange, connection) else { return CMHD_no() }\n", "TransportTests"),
    server_mutation("105a", "the messages of all sockets have no limit", "SocketLoop+Unsafe.swift", "                if budget.isExceeded { makeRoom(&peers) }\n", "", "SocketTests"),
    server_mutation("105b", "the last message makes room for the others", "SocketLoop+Unsafe.swift", "$0.messageBegan < $1.messageBegan", "$0.messageBegan > $1.messageBegan",
               "SocketTests"),
    server_mutation("105c", "the part of a lost client counts for ever", "SocketPeer+Unsafe.swift", "        func free() {\n            dropPartial()\n", "        func free() {\n",
               "SocketTests"),
    server_mutation("105d", "a message that was carried out counts for ever", "SocketSession.swift", "                budget.giveBack(byteCount)\n", "", "SocketTests"),
    wire_mutation("105e", "a message in fragments is too large", "MessageAssembly.swift", "byteCount <= UInt64(limit - bytes.count)", "byteCount <= UInt64(limit)",
             "CorpusTests"),
    server_mutation("105f", "a parameter of the handshake is ignored", "ServerCore.swift",
               "                    try request.requireParameters()\n                    return try upgrade", "                    return try upgrade", "SocketTests"),
    server_mutation("105g", "what is written after the mailbox was full waits for a ping", "SocketPeer+Unsafe.swift",
               "if isMailboxEmpty || isQueueFull { break }", "break", "SocketTests"),
    server_mutation("105h", "a full inbox stays full", "SocketSession.swift", "            socket?.loop.resumeReceiving(socket?.id ?? 0)\n", "            _ = socket\n",
               "SocketTests"),
    server_mutation("105i", "the end has no last message", "ServerCore+Streams.swift", "lastMessage: { WireConnection.end($0) }", "lastMessage: { _ in [] }", "SocketTests"),
    server_mutation("105j", "a socket stays open after its last message", "SocketPeer+Unsafe.swift", "guard hasLastMessage, closedAt == nil else { return true }",
               "guard hasLastMessage, closedAt != nil else { return true }", "SocketTests"),
    server_mutation("105k", "a client that does not answer the close stays", "SocketLoop+Unsafe.swift", "now - ending > limits.closing { return drop(peer, &peers) }",
               "now - ending > limits.silence { return drop(peer, &peers) }", "SocketTests"),
    server_mutation("105l", "an event comes after the end of its follow", "WireSession.swift", "                task.cancel()\n                // An event",
               "                // An event", "SocketTests", target="ChatWire"),
    wire_mutation("105m", "a failed follow keeps its id", "WireSession.swift", "            state.connection.didEnd(follow: id)\n            state.tasks", "            state.tasks",
             "WireSessionTests"),
    server_mutation("112k", "without the writer a session has ended", "WriterClient.swift", "catch { return .unknown }", "catch { return .ended }", "ReadingServerTests"),
    server_mutation("112l", "a stream of an unknown session is signed out", "StreamRegistry.swift", "case .unknown: reason = .closing", "case .unknown: reason = .signedOut", "StreamRegistryTests"),
    server_mutation("112n", "a close frame passes without its last byte", "CloseFrameGate.swift", "bytes.count < 6 + Int", "bytes.count < 5 + Int", "CloseFrameGateTests"),
    server_mutation("112m", "a deletion is not completed after a backup", "AccountService.swift", "                        try await self?.deleteRow(of: deletion)\n", "                        _ = self\n",
               "RegistrationTests"),
    postgres_mutation("111s", "a log that is closing accepts appends", "LogState.swift", "            if rejectsAppends { throw closed }\n", "", "(LogState|PostgresWriter)Tests"),
    postgres_mutation("111t", "a closed connection is kept for the next read", "Database.swift", "if connection.isOpen, !connection.shouldRetryLeader {", "if !connection.shouldRetryLeader {", "OutageTests"),
    postgres_mutation("111u", "a reader ends a log", "PostgresLog+Checks.swift", "_ add: (inout Parameters) -> Void) throws(JournalError) {\n            if isReadOnly { throw readOnly }\n",
                 "_ add: (inout Parameters) -> Void) throws(JournalError) {\n", "PostgresCopyTests"),
    store_mutation("119", "clock: a wrong clock ends sanctions", [("ClockCheck.swift", "(rejection == nil ? reading.time : rules.lastRecordedAt, rejection)", "(reading.time, rejection)")], test_filter="ClockSituationTests"),
    store_mutation("119b", "clock: a step back is believed", [("ClockCheck.swift", "return abs(step) > longestStep ?", "return step > longestStep ?")], test_filter="ClockSituationTests"),
    store_mutation("119c", "clock: an erasure is dated by a wrong clock", [("ChatStore+Erase.swift", "if let wrongClock, batch.count > 0, !isRepetition { throw wrongClock }", "_ = wrongClock")], test_filter="ClockSituationTests"),
    store_mutation("119d", "clock: a time is looked up in the first run that has it", [("TimeSearch.swift", "for start in starts.reversed() where start <= end {", "for start in starts.reversed() where start <= end && false {")], test_filter="(ClockSituation|WrongClock)Tests"),
    store_mutation("119e", "clock: a wrong clock that was rejected stays rejected", [("ClockCheck.swift", "        if rejection == nil { reference = reading }\n", "        reference = reading\n")], test_filter="ClockSituationTests"),
    rule_mutation("119f", "a correction leaves the last time", "DecideCorrection", "event.kind == .clockCorrected || isAfterLoss", "isAfterLoss"),
    rule_mutation("119g", "a correction to a later time", "DecideCorrection", "        guard time < lastRecordedAt else { return .unchanged }\n", ""),
]


def find(package, target, name):
    """Returns the path of a target's source file, which is identified by its name, in any folder."""
    found = list((package / "Sources" / target).rglob(name))
    if len(found) != 1:
        raise Failed(f"{target} has {len(found)} files named {name}")
    return found[0].relative_to(package)


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


def declaration(target, names, trait):
    """Returns the declaration of a target for a package with these targets only."""
    if target["type"] == "system":
        library = f', pkgConfig: "{target["pkgConfig"]}"' if target.get("pkgConfig") else ""
        return f'        .systemLibrary(name: "{target["name"]}"{library})'
    kind = "testTarget" if target["type"] == "test" else "target"
    # An entry is {"byName": [NAME, CONDITION]}, or the same with "target".
    dependencies = [name for entry in target["dependencies"] for name, *_ in entry.values() if name in names]
    # Only Swift has settings.
    settings = ", swiftSettings: settings" + (f' + [.define("{trait}")]' if trait else "") if target["settings"] else ""
    return (f'        .{kind}(\n            name: "{target["name"]}", dependencies: {json.dumps(dependencies)}, path: "{folder(target)}",\n'
            f'            exclude: {json.dumps(target["exclude"])}{settings})')


def check(package, mutations):
    """Returns whether every mutation applies: each old text occurs once in its file, and its targets exist. Prints the others."""
    good = True
    for name in sorted({name for names in [BASE, *TARGETS.values()] for name in names} - set(declarations(package))):
        print(f"Package.swift has no target {name}")
        good = False
    for mutation in mutations:
        for name, old, _ in mutation.edits:
            try:
                count = (package / find(package, mutation.target, name)).read_text().count(old)
                problem = None if count == 1 else f"{count} times in {name}:\n{old}"
            except Failed as failure:
                problem = failure
            if problem:
                print(f"{mutation.number}. {mutation.title}: {problem}")
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
        settings = manifest.partition("let package")[0]
        platforms = re.search(r"platforms: \[.*?\],", manifest).group()
        targets = ",\n".join(declaration(declared[name], names, TRAITS.get(group)) for name in names)
        (self.root / "Package.swift").write_text(
            settings + f'let package = Package(\n    name: "Mutated", {platforms}\n    targets: [\n{targets}\n    ],\n'
            "    swiftLanguageModes: [.v6]\n)\n")

    def apply(self, mutation):
        """Applies a mutation to the copy; `revert` undoes it."""
        texts = {}
        for name, old, new in mutation.edits:
            name = find(self.pristine, mutation.target, name)
            text = texts.get(name) or (self.pristine / name).read_text()
            if (count := text.count(old)) != 1:
                raise Failed(f"these lines occur {count} times in {name}, not once:\n{old}")
            texts[name] = text.replace(old, new)
        for name, text in texts.items():
            (self.root / name).write_text(text)

    def revert(self, mutation):
        for name in {find(self.pristine, mutation.target, name) for name, _, _ in mutation.edits}:
            (self.root / name).write_text((self.pristine / name).read_text())

    def build(self):
        status, output = self.swift("build", "--build-tests")
        if status != 0:
            raise Failed("the mutated sources do not build:\n" + output[-4000:])

    def test(self, filters, states=None):
        """Returns None if all tests pass, otherwise the first failure."""
        environment = {"CHATJOURNAL_LONG": "1"} | ({"CHATJOURNAL_CRASH_STATES": str(states)} if states else {})
        limit = None if states else self.limits.get(filters)
        options = ["--skip-build", *(f"--filter={name}" for name in filters)]
        status, output = self.swift("test", *options, limit=limit, **environment)
        if status is None and limit:
            print("    a run did not end in time; once more", flush=True)
            status, output = self.swift("test", *options, limit=limit, **environment)
        if status != 0:
            return Finding(status, output, filters)
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

    def __init__(self, status, output, suites):
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
            self.test = f"{', '.join(suites)}: did not end"
        else:
            self.test = f"{', '.join(suites)}: ended with status {status}"
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
        if mutation.test_filter:
            return copy.test((mutation.test_filter,))
        finding = copy.test(CRASH)
        if finding is None and arguments.states and not mutation.redundant:
            finding = copy.test((f"{CRASH[0]}.*InTheLongRun",), arguments.states)
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
    if len({mutation.number for mutation in MUTATIONS}) != len(MUTATIONS):
        parser.error("a number occurs twice in the table")
    numbers = arguments.only.split(",") if arguments.only else [mutation.number for mutation in MUTATIONS]
    if unknown := set(numbers) - {mutation.number for mutation in MUTATIONS}:
        parser.error(f"unknown mutation {', '.join(sorted(unknown))}")
    if arguments.sample is not None and arguments.sample < len(numbers):
        seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
        print(f"a sample of {arguments.sample} mutations: --sample {arguments.sample} --seed {seed}", flush=True)
        numbers = random.Random(seed).sample(numbers, arguments.sample)
    return arguments, [mutation for mutation in MUTATIONS if mutation.number in numbers]


def run(arguments, mutations, scratch):
    """Runs the mutations; returns the rows of the table: each with a finding, None, or why the mutation did not run."""
    package, copies, rows = pathlib.Path(arguments.package).resolve(), {}, []
    # Apply all mutations once, so that changed sources are reported before the long runs.
    for mutation in mutations:
        if mutation.group not in copies:
            copies[mutation.group] = Copy(package, scratch, mutation.group, arguments)
        copies[mutation.group].apply(mutation)
        copies[mutation.group].revert(mutation)
    for group, copy in copies.items():
        start = time.monotonic()
        copy.build()
        for suites in [CRASH] if group == "crash" else sorted({(mutation.test_filter,) for mutation in mutations if mutation.group == group}):
            tested = time.monotonic()
            if finding := copy.test(suites):
                raise Failed(f"the unchanged sources fail: {finding.test}\n  {finding.line}")
            # A mutation can make a test wait forever.
            copy.limits[suites] = min(arguments.timeout, 60 + 3 * (time.monotonic() - tested))
            print(f"unchanged sources: {', '.join(suites)} pass, {time.monotonic() - start:.0f} s", flush=True)
            start = time.monotonic()
    for mutation in mutations:
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
    """Prints the table; returns whether every result is as expected."""
    good = True
    width = max(len(mutation.title) for mutation, _ in rows)
    print(f"\n{'':4}{'mutation':{width}}  {'found':10}{'states':>8}  by")
    for mutation, finding in rows:
        if isinstance(finding, Failed):
            good = False
            print(f"{mutation.number:4}{mutation.title:{width}}  FAILED")
            continue
        good = good and (finding is None) == (mutation.redundant is not None)
        verdict = ("time" if finding.test.endswith("did not end") else "yes") if finding else "redundant" if mutation.redundant else "NO"
        print(f"{mutation.number:4}{mutation.title:{width}}  {verdict:10}{finding.states if finding else '':>8}  {finding.test if finding else ''}".rstrip())
    redundant = [mutation for mutation, _ in rows if mutation.redundant]
    if redundant:
        print("\nredundant on the assumed disk")
    for mutation in redundant:
        print(f"{mutation.number:4}{mutation.redundant}")
    return good


def main():
    arguments, mutations = parse()
    if arguments.check:
        return 0 if check(pathlib.Path(arguments.package), mutations) else 1
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="mutations-", dir=arguments.scratch))
    try:
        rows = run(arguments, mutations, scratch)
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
