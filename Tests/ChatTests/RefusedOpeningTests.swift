import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

@testable import Chat

/// An opening that fails leaves the directory as it was, and an opening that succeeds ends the work
/// of a writer that was killed.
@Suite struct RefusedOpeningTests {
    private static let thread = ThreadID(bits: 7)
    private static let ann = UserID(bits: 1)

    private func options(_ segmentSize: UInt64 = 4_096) -> StoreOptions {
        var options = StoreOptions()
        options.journal.segmentSize = segmentSize
        options.checkpoints = nil
        return options
    }

    /// A journal of several segments that was not closed, in files.
    private func unclean(_ path: String) throws {
        let store = try ChatStore.open(path, options: options())
        try store.executeBlocking(.registerUser(id: Self.ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: Self.thread, name: "Garden", by: Self.ann))
        for number in 0..<100 {
            try store.executeBlocking(
                .postMessage(
                    thread: Self.thread, body: "text \(number) \(String(repeating: "x", count: 60))", by: Self.ann))
        }
        // Released without a close, as by a process that is killed.
    }

    private func segments(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }.sorted()
    }

    private func flip(_ offset: Int, in file: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        bytes[offset] ^= 4
        try bytes.write(to: URL(fileURLWithPath: file))
    }

    @Test func refusalChangesNoByte() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("journal")
        try unclean(path)
        let names = try segments(path)
        #expect(names.count > 3)
        // A file of an interrupted creation is removed by the opening that succeeds.
        try Data("half".utf8).write(to: URL(fileURLWithPath: folder.file("journal/durable.tmp")))
        let whole = path + "/" + names[1]
        try flip(2_000, in: whole)
        let before = try folder.contents()
        for _ in 0..<2 {
            let error = #expect(throws: ChatError.self) { _ = try ChatStore.open(path, options: options()) }
            #expect(error?.stableCode == "damaged")
            #expect(try folder.contents() == before)
        }
        // The lock is free, and the journal without the damage opens as after any crash.
        try flip(2_000, in: whole)
        let store = try ChatStore.open(path, options: options())
        #expect(store.recovery?.wasClean == false && store.recovery?.removedFiles == ["durable.tmp"])
        #expect(try store.reader(as: .host).timeline(Self.thread, page: .latest(200)).count == 100)
        try store.executeBlocking(.postMessage(thread: Self.thread, body: "later", by: Self.ann))
        try store.close()
        #expect(try ChatStore.verify(path, deep: true).findings == [])
    }

    /// A damaged ledger refuses an opening too, after the events have been read.
    @Test func refusalOfALedgerChangesNoByte() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("journal")
        try unclean(path)
        try Data("no ledger".utf8).write(to: URL(fileURLWithPath: folder.file("journal/ledger")))
        let before = try folder.contents()
        let error = #expect(throws: ChatError.self) { _ = try ChatStore.open(path, options: options()) }
        #expect(error?.stableCode == "ledgerDamaged")
        #expect(try folder.contents() == before)
    }

    // MARK: An older copy of the last segment

    /// A copy of the last segment from before an erasure, put back: the message says what it is,
    /// and a repair keeps every event that is there and brings no erased text back.
    @Test func olderCopyOfASegmentIsRepaired() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("journal")
        let store = try ChatStore.open(path, options: options(1 << 20))
        try store.executeBlocking(.registerUser(id: Self.ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: Self.thread, name: "Garden", by: Self.ann))
        for number in 0..<10 {
            try store.executeBlocking(
                .postMessage(thread: Self.thread, body: "text-\(number)-secret", by: Self.ann))
        }
        let segment = path + "/" + (try #require(try segments(path).last))
        try FileManager.default.copyItem(atPath: segment, toPath: folder.file("older"))
        let end = store.head.position
        try store.eraseContent(of: PositionSet([end - 1...end]), reason: "spam")
        try store.executeBlocking(.postMessage(thread: Self.thread, body: "text-10-secret", by: Self.ann))
        try store.close()
        try FileManager.default.removeItem(atPath: segment)
        try FileManager.default.moveItem(atPath: folder.file("older"), toPath: segment)
        let before = try folder.contents()
        let error = #expect(throws: ChatError.self) { _ = try ChatStore.open(path, options: options()) }
        #expect(
            error?.description.contains("an older copy") == true && error?.description.contains("repair") == true,
            "\(error!)")
        #expect(try folder.contents() == before)
        let findings = try ChatStore.verify(path).findings
        #expect(
            findings.contains { $0.problem == "missingRecords" && $0.message.contains("an older copy") }, "\(findings)")

        let report = try ChatStore.repair(journalAt: path, to: folder.file("repaired"))
        #expect(report.lostCount == 1 && report.losses.map(\.positions) == [end + 1...end + 1])
        func texts(_ contents: [String: [UInt8]]) -> Set<String> {
            var found: Set<String> = []
            for (name, bytes) in contents where name.hasPrefix("repaired/") {
                for part in String(decoding: bytes, as: UTF8.self).split(separator: "text-").dropFirst() {
                    found.insert(String(part.prefix { $0.isNumber }))
                }
            }
            return found
        }
        // Before anybody has opened it.
        #expect(try texts(folder.contents()) == Set((0...10).map { "\($0)" }).subtracting(["8", "9"]))
        #expect(try ChatStore.verify(folder.file("repaired"), deep: true).findings == [])
        let repaired = try ChatStore.open(folder.file("repaired"))
        let bodies = try repaired.reader(as: .host).timeline(Self.thread, page: .latest(100)).map(\.body)
        #expect(bodies.count == 11 && bodies.compactMap(\.self).count == 9)
        try repaired.close()
    }
}
