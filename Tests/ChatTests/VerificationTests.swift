import ChatDomain
import EventJournal
import Testing

@testable import Chat

/// Verifications of histories longer than one batch of the verifier.
@Suite struct VerificationTests {
    /// The faults among valid registrations, by position.
    private static let faults: [Position: String] = [
        2: "identifierTwice", 3: "undecodable", 4: "invalidText", 5: "identifierTwice", 1_022: "invalidText",
        1_023: "undecodable",
        1_024: "identifierTwice", 1_025: "invalidText", 1_026: "undecodable", 1_030: "undecodable",
        2_040: "identifierTwice",
        2_047: "invalidText", 2_500: "undecodable",
    ]

    private let fixture = StoreFixture(segmentSize: 64 << 10)

    /// Writes registrations with the faults, a hundred to a commit.
    private func write(_ count: Position) throws {
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        defer { try? journal.close() }
        var encoder = EventEncoder()
        for start in stride(from: Position(1), through: count, by: 100) {
            var draft = CommitDraft()
            for position in start...min(start + 99, count) {
                let fault = Self.faults[position]
                // Every name is unique, even when a user registers twice.
                let user = UserID(bits: fault == "identifierTwice" ? 1 : UInt128(position))
                let name = fault == "invalidText" ? String(repeating: "n", count: 257) + "\(position)" : "n\(position)"
                encoder.encode(
                    ChatEvent(
                        recordedAt: Timestamp(millisecondsSince1970: 1), details: .init(.userRegistered, .user(user)),
                        content: .registration(Username(text: name, foldKey: name), subject: nil)))
                let kept = fault == "undecodable" ? [0, 0] : encoder.kept
                unsafe try draft.append(kept: kept.span.bytes, erasable: encoder.erasable.span.bytes)
            }
            _ = try journal.append(draft, expecting: start - 1)
        }
        try journal.close()
    }

    private var expected: [(key: Position, value: String)] { Self.faults.sorted { $0.key < $1.key } }

    @Test(arguments: [1, 1_023, 1_024, 2_600]) func progressEndsAtTheLastPosition(_ number: Int) throws {
        let count = Position(number)
        try write(count)
        var told: [Position] = []
        _ = try ChatStore.verify(fixture.directory, options: fixture.options.journal) { position, last in
            #expect(last == count)
            told.append(position)
        }
        let whole = Array(stride(from: Position(1_024), to: count, by: 1_024))
        #expect(told == whole + [count])
    }

    @Test(arguments: [false, true]) func faultsAreFoundInOrder(deep: Bool) throws {
        try write(2_600)
        var told: [Position] = []
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: deep) {
            position, last in
            #expect(last == 2_600)
            told.append(position)
        }
        #expect(report.findings.map(\.positions) == expected.map { $0.key...$0.key })
        #expect(report.findings.map(\.problem) == expected.map(\.value))
        #expect(report.position == 2_600)
        #expect(told == [1_024, 2_048, 2_600])
    }

    /// Records before the damage are still checked.
    @Test func faultsBeforeDamageAreFound() throws {
        try write(2_600)
        let storage = fixture.options.journal.storage
        let first = try #require(try storage.list(fixture.directory).filter { $0.hasSuffix(".segment") }.min())
        let file = try storage.open(fixture.directory + "/" + first, .readWrite)
        let flaw: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        unsafe try file.write(flaw.span.bytes, at: 20_000)
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal)
        let damaged = try #require(report.findings.first?.positions?.lowerBound)
        #expect(report.findings.first?.segment == first && (10...1_020).contains(damaged))
        let faults = report.findings.filter { $0.segment == nil }
        #expect(faults.map(\.problem) == expected.filter { $0.key < damaged }.map(\.value))
        #expect(report.position == 1)
    }
}
