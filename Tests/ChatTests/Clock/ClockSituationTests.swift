import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Testing

@testable import Chat

/// The situations of a wrong clock: what is refused, shown and looked up.
///
/// Each test has the name of a row of the table in `TimeTravelAndAudits.md`.
@Suite struct ClockSituationTests {
    private let ann = ClockLife.ann
    private let bob = ClockLife.bob
    private let eve = ClockLife.eve
    private let garden = ClockLife.garden

    @Test func `booted years behind`() throws {
        let life = try ClockLife()
        life.step(days: -5_000)
        let store = try life.open()
        #expect(try store.post(by: ann) == "clockStepped")
        #expect(store.clockStatus.isAhead && store.clockStatus.rejection?.code == .clockStepped)
        expectRejection(.clockStepped) { () throws(ChatError) in try store.eraseUser(eve, reason: "spam") }
        // Queries, duplicates and commands without effect are answered.
        let again = CommandRequest(.joinThread(thread: garden, by: bob))
        #expect(try answer(again, of: store).get().positions == nil)
        #expect(try store.reader(as: .host).members(of: garden).count == 3 && store.muted() == [bob])
        #expect(try store.lastPosition(at: life.start) == 8)
        #expect(store.head.position == 8)
        // The clock is set right, for example by NTP: no restart is needed.
        life.step(days: 5_000)
        #expect(try store.post(by: ann) == "posted")
        #expect(!store.clockStatus.isAhead && store.clockStatus.rejection == nil)
        try store.close()
    }

    @Test func `booted ten years ahead`() throws {
        let life = try ClockLife()
        life.step(days: 3_650)
        let store = try life.open()
        // The wrong clock ends no mute, and makes no end invalid.
        #expect(try store.post(by: ann) == "clockStepped")
        #expect(try store.post(by: bob) == "muted")
        let ban = ChatCommand.ban(user: eve, thread: garden, reason: "spam", until: life.time(days: 40), by: ann)
        #expect(throws: ChatError.self) { try store.executeBlocking(ban) }
        #expect(try answer(CommandRequest(ban), of: store).rejection?.code == .clockStepped)
        #expect(store.head.position == 8 && !store.clockStatus.isAhead)
        life.step(days: -3_650)
        #expect(try store.post(by: bob) == "muted")
        #expect(try store.post(by: ann) == "posted")
        #expect(try store.event(at: 9).recordedAt == life.start)
        try store.close()
    }

    @Test func `300 days ahead, unnoticed, then corrected`() throws {
        let life = try ClockLife()
        life.step(days: 300)
        var store = try life.open()
        // 400 days are not reached: the mute of Bob ends, and the times are wrong.
        #expect(try store.post(by: bob) == "posted")  // 9
        let mute = ChatCommand.mute(user: eve, thread: garden, reason: "rude", until: life.time(days: 301), by: ann)
        #expect(try store.executeBlocking(mute).position == 10)
        try store.close()
        // Set right, and one day passes.
        life.step(days: -300)
        life.pass(days: 1)
        store = try life.open()
        #expect(try store.post(by: ann) == "clockStepped")
        #expect(store.clockStatus.isAhead)
        let correction = try store.correctClock()
        #expect(
            correction.position == 11 && correction.time == life.time(days: 1)
                && correction.formerTime == life.time(days: 300))
        #expect(
            correction.sanctions == [
                MisdatedSanction(
                    position: 10, recordedAt: life.time(days: 300), thread: garden,
                    user: UserSummary(id: eve, username: "Eve"),
                    kind: .mute, until: life.time(days: 301))
            ])
        // The mute is in force again, and the commands go on at the right time.
        #expect(try store.post(by: bob) == "muted")
        #expect(try store.post(by: ann) == "posted")  // 12
        #expect(try store.event(at: 12).recordedAt == life.time(days: 1))
        #expect(!store.clockStatus.isAhead && store.clockStatus.rejection == nil)
        try expectSituationAfterCorrection(store, life)
        #expect(try store.correctClock().position == nil)
        try store.close()
        // The same from a checkpoint, from a replay and for a reader.
        for checkpoints in [CheckpointOptions(), nil] {
            var options = life.fixture.options
            options.checkpoints = checkpoints
            let again = try ChatStore.open(life.fixture.directory, options: options)
            try expectSituationAfterCorrection(again, life)
            try again.close()
        }
        try expectSituationAfterCorrection(
            try ChatStore.openReadOnly(life.fixture.directory, options: life.fixture.options), life)
        let report = try ChatStore.verify(life.fixture.directory, options: life.fixture.options.journal, deep: true)
        #expect(report.findings == [] && report.position == 12)
    }

    private func expectSituationAfterCorrection(
        _ store: ChatStore, _ life: ClockLife, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        // As of each position by its own time.
        #expect(try store.muted(asOf: .position(8)) == [bob], sourceLocation: sourceLocation)
        #expect(try store.muted(asOf: .position(9)) == [], sourceLocation: sourceLocation)
        #expect(try store.muted(asOf: .position(10)) == [eve], sourceLocation: sourceLocation)
        #expect(try store.muted(asOf: .position(11)) == [bob, eve], sourceLocation: sourceLocation)
        #expect(try store.muted() == [bob, eve], sourceLocation: sourceLocation)
        // A time is looked up in the latest run that begins at or before it.
        let lookups: [(Int64, asOf: Position, before: Position)] = [
            (-1, 0, 0), (0, 8, 0), (1, 12, 8), (2, 12, 12), (300, 12, 12),
        ]
        for (days, asOf, before) in lookups {
            #expect(
                try store.lastPosition(at: life.time(days: days)) == asOf, "\(days)", sourceLocation: sourceLocation)
            #expect(
                try store.lastPosition(before: life.time(days: days)) == before, "\(days)",
                sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [3_650, 2] as [Int64]) func `jumped ahead while running`(days: Int64) throws {
        let life = try ClockLife()
        let store = try life.open()
        let message = MessageID(bits: 11)
        #expect(try store.post(by: ann, message: message) == "posted")
        life.step(days: days)
        #expect(try store.post(by: ann) == "clockStepped")
        #expect(try store.post(by: bob) == "muted")
        #expect(try store.post(by: ann, message: message) == "duplicate")
        expectRejection(.clockStepped) { () throws(ChatError) in
            try store.eraseContent(of: PositionSet([9...9]), reason: "spam")
        }
        #expect(store.clockStatus.rejection?.code == .clockStepped && !store.clockStatus.isAhead)
        #expect(store.statistics.commands.rejected[.clockStepped] == 1)
        // Both ways: the clock is set back.
        life.step(days: -days)
        #expect(try store.post(by: ann) == "posted")
        life.step(days: days)
        try store.close()
        // A restart believes a clock that is less than 400 days after the last event.
        let again = try life.open()
        #expect(try again.post(by: ann) == (days > 400 ? "clockStepped" : "posted"))
        try again.close()
    }

    @Test func `jumped back while running`() throws {
        let life = try ClockLife()
        let store = try life.open()
        #expect(try store.post(by: ann) == "posted")
        life.step(days: -2)
        #expect(try store.post(by: ann) == "clockStepped")
        #expect(store.clockStatus.isAhead)
        #expect(try store.muted() == [bob])
        try store.close()
        // A restart does not help: the last event is ahead.
        let again = try life.open()
        #expect(try again.post(by: ann) == "clockStepped")
        life.step(days: 2)
        #expect(try again.post(by: ann) == "posted")
        try again.close()
    }

    @Test func `jumped back by less than a day`() throws {
        let life = try ClockLife()
        let store = try life.open()
        #expect(try store.post(by: ann) == "posted")
        life.step(days: -1)
        // The times stand still until the clock has caught up.
        #expect(try store.post(by: ann) == "posted")
        #expect(try store.event(at: 10).recordedAt == life.start)
        #expect(store.clockStatus.isAhead && store.clockStatus.rejection == nil)
        life.clock.step(byMilliseconds: -1)
        #expect(try store.post(by: ann) == "clockStepped")
        life.clock.step(byMilliseconds: 1)
        life.pass(days: 2)
        #expect(try store.post(by: ann) == "posted")
        #expect(try store.event(at: 11).recordedAt == life.time(days: 1) && !store.clockStatus.isAhead)
        try store.close()
    }

    @Test func `suspended for weeks`() throws {
        let life = try ClockLife()
        let store = try life.open()
        #expect(try store.post(by: ann) == "posted")
        life.pass(days: 29)
        #expect(try store.post(by: bob) == "muted")
        #expect(try store.post(by: ann) == "posted")
        life.pass(days: 1)
        #expect(try store.post(by: bob) == "posted")
        // More than 400 days too: only an opening asks how long nothing was recorded.
        life.pass(days: 800)
        #expect(try store.post(by: bob) == "posted")
        try store.close()
    }

    @Test func `not used for two years`() throws {
        let life = try ClockLife()
        life.pass(days: 730)
        var store = try life.open()
        #expect(try store.post(by: ann) == "clockStepped")
        try store.close()
        store = try life.open(acceptsClock: true)
        #expect(try store.post(by: ann) == "posted")
        #expect(try store.event(at: 9).recordedAt == life.time(days: 730))
        // What is accepted is the clock of the opening.
        life.step(days: 2)
        #expect(try store.post(by: ann) == "clockStepped")
        life.step(days: -2)
        try store.close()
        store = try life.open()
        #expect(try store.post(by: ann) == "posted")
        try store.close()
    }

    @Test func `corrected twice`() throws {
        let life = try ClockLife()
        var store: ChatStore
        life.step(days: 300)
        store = try life.open()
        #expect(try store.post(by: ann) == "posted")  // 9, day 300
        life.step(days: -200)
        #expect(try store.correctClock().position == 10)  // day 100, still wrong
        #expect(try store.post(by: bob) == "posted")  // 11
        let ban = ChatCommand.ban(user: eve, thread: garden, reason: "spam", until: nil, by: ann)
        #expect(try store.executeBlocking(ban).positions == 12...13)
        life.step(days: -100)
        life.pass(days: 2)
        let second = try store.correctClock()
        #expect(second.position == 14 && second.time == life.time(days: 2) && second.formerTime == life.time(days: 100))
        #expect(second.sanctions.map(\.position) == [12] && second.sanctions.map(\.kind) == [.ban])
        #expect(try store.post(by: bob) == "muted")
        life.pass(days: 5)
        #expect(try store.post(by: ann) == "posted")  // 15, day 7
        // No time is looked up in the run from 10 to 13: it begins after the second correction.
        let lookups: [(Int64, Position)] = [
            (-1, 0), (0, 8), (1, 8), (2, 14), (6, 14), (7, 15), (100, 15), (200, 15), (300, 15),
        ]
        for (days, position) in lookups {
            #expect(try store.lastPosition(at: life.time(days: days)) == position, "\(days)")
        }
        #expect(try store.muted(asOf: .time(life.time(days: 3))) == [bob, eve])
        try store.close()
    }

    @Test func `events and messages imported`() throws {
        let life = try ClockLife()
        var store = try life.open()
        // Messages are recorded at the clock's time, and shown with their own.
        let (summary, refused) = try importAll([imported("1", by: "Zoe")], into: store, batchSize: 10)
        #expect(summary.messages == 1 && refused.isEmpty)
        let event = try #require(try store.allEvents().last { $0.kind == .messagePosted })
        #expect(
            event.recordedAt == life.start && event.createdAt == Timestamp(millisecondsSince1970: 1_100_000_000_000))
        life.step(days: 3_650)
        let (_, late) = try importAll([imported("2", by: "Zoe")], into: store, batchSize: 10)
        #expect(late.map(\.rejection.code) == [.clockStepped])
        life.step(days: -3_650)
        try store.close()
        // Events keep their times, also those of a wrong clock and the correction.
        life.step(days: 300)
        store = try life.open()
        #expect(try store.post(by: ann) == "posted")
        life.step(days: -300)
        let ahead = try ExportedHistory.export(life.fixture.directory, life.fixture.options)
        #expect(try store.correctClock().position == store.head.position)
        #expect(try store.post(by: ann) == "posted")
        try store.close()
        for events in [ahead, try ExportedHistory.export(life.fixture.directory, life.fixture.options)] {
            let copy = StoreFixture(seed: 2)
            var importer = try EventImporter(into: copy.directory, options: copy.options.journal)
            for (index, event) in events.enumerated() { try importer.add(event, line: index + 1) }
            try importer.finish()
            #expect(try ExportedHistory.export(copy.directory, copy.options) == events)
            #expect(try ChatStore.verify(copy.directory, options: copy.options.journal, deep: true).findings == [])
            let opened = try copy.open()
            #expect(try opened.post(by: ann) == (events == ahead ? "clockStepped" : "posted"))
            #expect(try opened.correctClock().position == (events == ahead ? Position(events.count) + 1 : nil))
            #expect(try opened.post(by: ann) == "posted")
            try opened.close()
        }
    }

    /// The page lists these situations, and no others.
    @Test func situationsAreThoseOfThePage() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Chat/Chat.docc/TimeTravelAndAudits.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").drop {
            !$0.hasPrefix("| the clock ")
        }
        .prefix { $0.hasPrefix("|") }.dropFirst(2)
        let situations = rows.map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) }
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let tests = source.matches(of: #/func `([^`]+)`\(/#).map { String($0.1) }
        #expect(situations == tests && tests.count == 10)
    }
}

extension Result where Success == Receipt, Failure == Rejection {
    fileprivate var rejection: Rejection? { if case .failure(let rejection) = self { rejection } else { nil } }
}
