import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Testing

@testable import Chat

@Suite struct StatisticsTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let message = MessageID(bits: 3)
    private let sw1a = ThreadID(bits: 0x5357_3141_0000_8000_806f_7574_7761_7264)

    /// Eleven commands: six append, one is unchanged, one is a duplicate and three are rejected.
    private var commands: [ChatCommand] {
        [
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .setPostcode(postcode: "SW1A 1AA", by: ann), .setPostcode(postcode: "SW1A 1AA", by: ann),
            .postMessage(id: message, thread: sw1a, body: "Milk?", by: ann),
            .postMessage(id: message, thread: sw1a, body: "Milk?", by: ann),
            .postMessage(thread: sw1a, body: "No", by: bob), .reply(to: message, body: "No", by: bob),
            .reply(to: message, body: "Found some", by: ann), .retract(.message(message), by: ann),
            .registerUser(username: "ANN"),
        ]
    }

    private func check(_ statistics: StoreStatistics) {
        #expect(
            statistics.userCount == 2 && statistics.threadCount == 1 && statistics.messageCount == 1
                && statistics.replyCount == 1)
        #expect(statistics.commands.appended == 6)
        #expect(statistics.commands.unchanged == 1)
        #expect(statistics.commands.duplicates == 1)
        #expect(statistics.commands.rejected == [.notAMember: 2, .usernameTaken: 1])
        #expect(statistics.commands.total == 11)
        #expect(statistics.pendingEventCount == 0)
        #expect(statistics.journal?.appendedRecords == 8)
        #expect(statistics.journal?.lastPosition == 8 && statistics.journal?.durablePosition == 8)
    }

    @Test func statisticsCountCommands() throws {
        let store = try StoreFixture().open()
        for command in commands { _ = try answer(CommandRequest(command), of: store) }
        check(store.statistics)
        #expect(store.statistics.journal?.appendedCommits == 6)
        #expect(store.statistics.journal?.syncs == 6)
        #expect(try store.segments().map(\.positions) == [1...8])
        #expect(try store.segments().map(\.bytes) == [store.statistics.journal?.storedBytes ?? 0])
    }

    @Test func batchIsCountedByCommand() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        _ = try store.executeBlocking(commands.map { CommandRequest($0) })
        check(store.statistics)
        #expect(
            store.statistics.journal?.appendedCommits == 1 && store.statistics.journal?.recordsPerCommit.maximum == 8)
        try store.close()
        // Counts since the opening restart at 0. Counts of the state stay.
        let again = try fixture.open().statistics
        #expect(again.commands == CommandStatistics())
        #expect(again.userCount == 2 && again.threadCount == 1 && again.messageCount == 1 && again.replyCount == 1)
        #expect(again.journal?.lastPosition == 8 && again.journal?.appendedRecords == 0)
    }

    /// Returns a store with one user on a disk on which an operation fails from now on.
    private func storeOnADisk(onWhichFails operation: StorageError.Operation) throws -> ChatStore {
        let disk = SimulatedDisk(seed: 1)
        var options = StoreOptions()
        options.journal.storage = disk
        let store = try ChatStore.open("journal", options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        disk.inject(DiskFault(.fails(.failed), at: .chance(1, of: [operation])))
        return store
    }

    @Test func failedSyncLeavesEventsWaiting() throws {
        let store = try storeOnADisk(onWhichFails: .sync)
        expectError("syncFailed") { try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann)) }
        let statistics = store.statistics
        #expect(statistics.pendingEventCount == 3)
        #expect(statistics.threadCount == 0 && statistics.userCount == 1)
        #expect(statistics.commands.appended == 2)
        #expect(statistics.journal?.failure?.code == "syncFailed")
        #expect(statistics.journal?.lastPosition == 4 && statistics.journal?.durablePosition == 1)
    }

    @Test func failedAppendIsNotCounted() throws {
        let store = try storeOnADisk(onWhichFails: .write)
        let batch: [ChatCommand] = [
            .setPostcode(postcode: "SW1A 1AA", by: ann), .registerUser(username: "Ann"),
            .setPostcode(postcode: "SW1A 1AA", by: ann),
        ]
        expectError("ioFailed") { _ = try store.executeBlocking(batch.map { CommandRequest($0) }) }
        #expect(store.statistics.commands == CommandStatistics(appended: 1))
        #expect(store.statistics.journal?.lastPosition == 1)
    }

    @Test func jsonRoundTripsWithRejectionCodes() throws {
        let store = try StoreFixture().open()
        for command in commands { _ = try answer(CommandRequest(command), of: store) }
        let statistics = store.statistics
        let json = try JSONEncoder().encode(statistics)
        #expect(try JSONDecoder().decode(StoreStatistics.self, from: json) == statistics)
        let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        // Stored data fixes the JSON keys, so some properties have other names than their keys.
        let keys = [
            "rejected": "refused", "pendingEventCount": "eventsWaiting", "unattendedReportCount": "unattendedReports",
            "lastWritten": "last",
            "userCount": "users", "threadCount": "threads", "messageCount": "messages", "replyCount": "replies",
        ]
        func fieldNames(_ value: Any) -> Set<String> {
            Set(Mirror(reflecting: value).children.compactMap(\.label).map { keys[$0] ?? $0 })
        }
        #expect(Set(fields.keys) == fieldNames(statistics))
        let counts = try #require(fields["commands"] as? [String: Any])
        #expect(Set(counts.keys) == fieldNames(statistics.commands))
        #expect(counts["refused"] as? [String: Int] == ["usernameTaken": 1, "notAMember": 2])
        // A later version may count rejections with codes unknown to this version.
        let later = Data(#"{"appended":0,"unchanged":0,"duplicates":0,"refused":{"weather":1}}"#.utf8)
        let decoded = try JSONDecoder().decode(CommandStatistics.self, from: later)
        #expect(decoded.rejected == [Rejection.Code(rawValue: "weather"): 1])
        #expect(try JSONDecoder().decode(CommandStatistics.self, from: JSONEncoder().encode(decoded)) == decoded)
    }

    @Test func metricsFormOneText() throws {
        let store = try StoreFixture().open()
        for command in commands { _ = try answer(CommandRequest(command), of: store) }
        let statistics = store.statistics
        let text = statistics.openMetrics(prefix: "neighbours")
        let own = text.split(separator: "\n").prefix { !$0.contains("neighbours_journal_") }
        let refusals = Rejection.Code.allCases.map { code in
            let count = code == .notAMember ? 2 : code == .usernameTaken ? 1 : 0
            return #"neighbours_commands_refused_total{code="\#(code.rawValue)"} \#(count)"#
        }
        #expect(
            own.filter { !$0.hasPrefix("#") }.map(String.init) == [
                "neighbours_users 2", "neighbours_threads 1", "neighbours_messages 1", "neighbours_replies 1",
                "neighbours_events_waiting 0", "neighbours_unattended_reports 0",
                #"neighbours_commands_total{outcome="appended"} 6"#,
                #"neighbours_commands_total{outcome="unchanged"} 1"#,
                #"neighbours_commands_total{outcome="duplicate"} 1"#,
            ] + refusals + [
                "neighbours_events_replayed 0", #"neighbours_checkpoints_total{outcome="written"} 0"#,
                #"neighbours_checkpoints_total{outcome="failed"} 0"#,
            ])
        #expect(
            own.filter { $0.hasPrefix("# TYPE") }.map(String.init) == [
                "# TYPE neighbours_users gauge", "# TYPE neighbours_threads gauge", "# TYPE neighbours_messages gauge",
                "# TYPE neighbours_replies gauge", "# TYPE neighbours_events_waiting gauge",
                "# TYPE neighbours_unattended_reports gauge",
                "# TYPE neighbours_commands counter",
                "# TYPE neighbours_commands_refused counter", "# TYPE neighbours_events_replayed gauge",
                "# TYPE neighbours_checkpoints counter",
            ])
        // The rest is the journal's text, which its own tests cover.
        #expect(
            text == own.joined(separator: "\n") + "\n"
                + (try #require(statistics.journal)).openMetrics(prefix: "neighbours_journal"))
    }
}
