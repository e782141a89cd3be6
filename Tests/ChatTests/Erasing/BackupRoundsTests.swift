import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Locking
import TestSupport
import Testing

@testable import Chat

#if Postgres
    import JournalPostgres
#endif

/// Backups that an erasure overlaps, and backups that are killed.
///
/// The long run has as many rounds as the environment variable says:
///
///     CHATJOURNAL_BACKUP_ROUNDS=200 swift test -c release -Xswiftc -enable-testing --filter BackupRoundsTests
@Suite struct BackupRoundsTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["CHATJOURNAL_BACKUP_ROUNDS"].flatMap { Int($0) }
        ?? Repetitions.few(12, of: 200)

    /// A log that is open for writing and can be opened for reading.
    private struct Place {
        let log: any ErasableLog
        let openReader: () throws -> any StoredRecordLog & ErasableLog & RefreshableLog & MovableLog
    }

    @Test func erasureDuringABackupOfFilesLeavesNoText() throws {
        try erase { seed in
            let options = StoreFixture(seed: seed, segmentSize: [1_024, 4_096, 65_536][Int(seed % 3)]).options.journal
            return Place(log: try Journal.open("journal", options: options)) {
                try Journal.openReadOnly("journal", options: options)
            }
        }
    }

    #if Postgres
        @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
        func erasureDuringABackupOfPostgresLeavesNoText() throws {
            try erase { _ in
                let address = try LogPlace.newAddress()
                return Place(log: try PostgresLog.open(address)) { try PostgresLog.openReadOnly(address) }
            }
        }
    #endif

    /// A backup to an older copy is killed at each of its renames.
    @Test func backupKilledAtARenameIsCompleted() throws {
        var (kills, seed) = (0, Repetitions.seed % 1_000_000)
        while kills < Self.rounds {
            do { kills += try ErasureLife.killBackups(seed) } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            seed += 1
        }
        print("\(kills) kills of backups")
    }

    private static let users = "abc".utf8.map { UserID(bits: UInt128($0)) }
    private static let garden = ThreadID(bits: 0x6A)

    /// Erases a user or messages, from the order to its end, at a random operation of a backup.
    private func erase(_ place: (UInt64) throws -> Place) throws {
        var overlaps = 0
        for seed in Seeds.seeds(Self.rounds) {
            do {
                if try eraseDuringBackup(place(seed), seed) { overlaps += 1 }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print("\(overlaps) erasures within \(Self.rounds) backups")
        #expect(overlaps * 2 > Self.rounds)
    }

    /// Returns false if the erasure came after the backup.
    private func eraseDuringBackup(_ place: Place, _ seed: UInt64) throws -> Bool {
        var random = SeededRandom(seed: seed)
        let store = try ChatStore.open(
            log: place.log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed)))
        var number = 0
        func text(_ user: UserID) -> ErasureText {
            number += 1
            return ErasureText(user: user, number: number)
        }
        for user in Self.users { try store.executeBlocking(.registerUser(id: user, username: text(user).text)) }
        try store.executeBlocking(.openThread(id: Self.garden, name: text(Self.users[0]).text, by: Self.users[0]))
        for user in Self.users.dropFirst() { try store.executeBlocking(.joinThread(thread: Self.garden, by: user)) }
        var texts: [Position: ErasureText] = [:]
        func post(_ count: Int) throws {
            for _ in 0..<count {
                let user = Self.users[Int.random(in: 0..<3, using: &random)]
                let text = text(user)
                let receipt = try store.executeBlocking(
                    .postMessage(thread: Self.garden, body: text.text, by: user))
                texts[receipt.positions?.lowerBound ?? 0] = text
            }
        }
        let copies = MemoryStorage()
        let storage = InterleavedStorage(copies)
        try post(Int.random(in: 1...40, using: &random))
        if random.oneIn(2) {
            _ = try backUp(place, store.head, to: copies)
            try post(Int.random(in: 0...40, using: &random))
        }
        let isUser = random.oneIn(2)
        let (user, named) = (
            Self.users[1], texts.keys.sorted().filter { _ in random.oneIn(3) } + texts.keys.sorted().suffix(1)
        )
        storage.plan(after: Int.random(in: 0..<24, using: &random)) {
            if isUser {
                try store.eraseUser(user, reason: "spam")
            } else {
                try store.eraseContent(of: PositionSet(named.map { $0...$0 }), reason: "spam")
            }
        }
        _ = try backUp(place, store.head, to: storage)
        let isOverlapped = try !store.erasures().isEmpty
        try storage.finish()
        try store.close()
        guard isOverlapped else { return false }
        let gone = Set(named.compactMap { texts[$0] })
        let found = try ErasureText.all(inFilesOf: "copy", on: copies)
        if let text = found.first(where: {
            isUser ? $0.user == UInt8(truncatingIfNeeded: user.bits) : gone.contains($0)
        }) {
            throw Unexpected("\(text.text) is in a file of the copy")
        }
        guard found.count >= 1 else { throw Unexpected("the copy has no text") }
        let report = try ChatStore.verify("copy", options: JournalOptions(storage: copies), deep: true)
        guard report.isValid else { throw Unexpected("\(report.findings)") }
        return true
    }

    private func backUp(_ place: Place, _ head: JournalHead, to storage: any JournalStorage) throws -> BackupReport {
        let reader = try place.openReader()
        // A writer announces its last commit some moments later.
        while try reader.refresh() < head.position {}
        return try ChatStore.backup(
            of: reader, to: "copy", upTo: nil, options: JournalOptions(segmentSize: 4_096, storage: storage))
    }
}
