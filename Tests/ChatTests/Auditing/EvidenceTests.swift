import Chat
import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

extension ChatStore {
    /// The parts of evidence as an array.
    func parts(of evidence: Evidence) throws(ChatError) -> [TreePart] {
        var parts: [TreePart] = []
        try forEachPart(of: evidence) { part, _ in
            parts.append(part)
        }
        return parts
    }

    /// Verifies the evidence as a reader without the journal does, from the lines.
    func verified(_ evidence: Evidence) throws -> (report: EvidenceReport, events: [RecordedEvent]) {
        var verification = EvidenceVerification(against: try TreeHead(parsing: evidence.head.text))
        var events: [RecordedEvent] = []
        for part in try parts(of: evidence) {
            if let event = try verification.add(try TreePart(parsing: part.text, line: 1)) { events.append(event) }
        }
        let readers = try evidence.readers.map { try EvidenceReader(parsing: $0.text, line: 1) }
        return (try verification.report(readers: readers), events)
    }
}

/// The evidence of threads, and its verification.
@Suite struct EvidenceTests {
    private let fixture = StoreFixture()
    private static let (ann, bob, cem) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3))
    private static let (garden, party) = (ThreadID(bits: 31), ThreadID(bits: 32))

    /// The positions 4, 5, 6, 8, 9, 10, 11 and 13 are of Garden, with the numbers 1 to 8.
    private func filled() throws -> ChatStore {
        let store = try fixture.open()
        for (user, name) in [(Self.ann, "Ann"), (Self.bob, "Bob"), (Self.cem, "Cem")] {
            try store.executeBlocking(.registerUser(id: user, username: name))  // 1, 2, 3
        }
        try store.executeBlocking(.openThread(id: Self.garden, name: "Garden", by: Self.ann))  // 4, 5
        try store.executeBlocking(.joinThread(thread: Self.garden, by: Self.bob))  // 6
        try store.executeBlocking(.changeUsername(username: "Bobby", by: Self.bob))  // 7
        try store.executeBlocking(.postMessage(thread: Self.garden, body: "Milk?", by: Self.ann))  // 8
        try store.executeBlocking(.postMessage(thread: Self.garden, body: "Bread?", by: Self.bob))  // 9
        // At 10.
        try store.executeBlocking(.removeMember(user: Self.bob, thread: Self.garden, reason: "spam", by: Self.ann))
        try store.executeBlocking(.joinThread(thread: Self.garden, by: Self.bob))  // 11
        try store.executeBlocking(.markRead(thread: Self.garden, upTo: 9, by: Self.bob))  // 12
        try store.executeBlocking(.postMessage(thread: Self.garden, body: "Tea?", by: Self.ann))  // 13
        try store.executeBlocking(.openThread(id: Self.party, name: "Party", by: Self.cem))  // 14, 15
        #expect(store.head.position == 15)
        return store
    }

    @Test func evidenceHasTheNumberedEventsOfTheThread() throws {
        let store = try filled()
        let evidence = try store.evidence(of: Self.garden)
        #expect(
            evidence.positions == [4, 5, 6, 8, 9, 10, 11, 13] && evidence.numbers == 1...8
                && evidence.registrations == [])
        #expect(evidence.head == (try store.treeHead()))
        let (report, events) = try store.verified(evidence)
        #expect(events == (try store.allEvents()).filter { evidence.positions.contains($0.position) })
        #expect(
            report.thread == Self.garden && report.head == evidence.head && report.numbers == 1...8
                && report.positions == 4...13)
        #expect(report.beginsWithFirstEvent && report.withoutContentCount == 0 && report.registrationCount == 0)
        #expect(
            report.provenReaders == [
                EvidenceReader(user: Self.ann, since: 5), EvidenceReader(user: Self.bob, since: 11),
            ])
        #expect(report.statedReaders == [])
    }

    /// Bounds are inclusive; the first join of Ann is before the range, so only the host states it.
    @Test func rangeSelectsEventsByPosition() throws {
        let store = try filled()
        let evidence = try store.evidence(of: Self.garden, in: 6...10, at: 13)
        #expect(evidence.positions == [6, 8, 9, 10] && evidence.numbers == 3...6 && evidence.head.size == 13)
        let report = try store.verified(evidence).report
        #expect(report.numbers == 3...6 && report.positions == 6...10 && !report.beginsWithFirstEvent)
        #expect(report.provenReaders == [] && report.statedReaders == [EvidenceReader(user: Self.ann, since: 5)])
        #expect(try store.evidence(of: Self.garden, in: 7...12).positions == [8, 9, 10, 11])
        #expect(try store.evidence(of: Self.garden, in: 0...4).positions == [4])
        #expect(try store.evidence(of: Self.garden, at: 9).positions == [4, 5, 6, 8, 9])
    }

    /// The people are Ann and Bob, who appear, and not Cem.
    @Test func registrationsAreThoseOfThePeopleInTheThread() throws {
        let store = try filled()
        let evidence = try store.evidence(of: Self.garden, withRegistrations: true)
        #expect(evidence.registrations == [1, 2, 7])
        let (report, events) = try store.verified(evidence)
        #expect(report.registrationCount == 3 && events.compactMap(\.event.username?.text) == ["Ann", "Bob", "Bobby"])
        // Up to the last event; and those of a reader whom no event of the range names.
        #expect(try store.evidence(of: Self.garden, in: 6...6, withRegistrations: true).registrations == [1, 2])
        #expect(try store.evidence(of: Self.garden, in: 13...13, withRegistrations: true).registrations == [1, 2, 7])
    }

    @Test func emptySelectionIsAnError() throws {
        let store = try filled()
        expectError("outOfRange") { _ = try store.evidence(of: Self.garden, in: 14...15) }
        expectError("outOfRange") { _ = try store.evidence(of: Self.garden, in: 12...12) }
        expectError("outOfRange") { _ = try store.evidence(of: Self.garden, in: 8...16) }
        expectError("outOfRange") { _ = try store.evidence(of: Self.garden, in: 8...10, at: 9) }
        expectError("outOfRange") { _ = try store.evidence(of: Self.garden, at: 16) }
        expectError("unknownThread") { _ = try store.evidence(of: ThreadID(bits: 99)) }
        expectError("unknownThread") { _ = try store.evidence(of: Self.party, at: 13) }
        expectError("unknownThread") { _ = try store.evidence(of: Self.party, at: 0) }
        try store.close()
        expectError("notAJournal") { _ = try ChatStore.open(log: ArrayLog(ArrayLog.Store())).evidence(of: Self.garden) }
    }

    /// A journal of one record: the leaf is the root.
    @Test func treeOfOneRecordIsVerified() throws {
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        try append(
            [ChatEvent(recordedAt: .init(millisecondsSince1970: 1), details: opened, content: .threadName("Garden"))],
            to: journal)
        let store = try fixture.open()
        let evidence = try store.evidence(of: Self.garden)
        #expect(evidence.head.size == 1 && evidence.positions == [1])
        #expect(try store.parts(of: evidence).count == 1)
        #expect(try store.verified(evidence).report.numbers == 1...1)
    }

    private var opened: EventDetails { .init(.threadOpened, .thread(Self.garden, number: 1, user: Self.ann)) }

    private func append(_ events: [ChatEvent], to journal: Journal) throws {
        var draft = CommitDraft()
        for event in events {
            var encoder = EventEncoder()
            encoder.encode(event)
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        _ = try journal.append(draft, expecting: 0)
        try journal.close()
    }

    /// A repair has lost number 2: evidence over the gap would show nothing about it.
    @Test func lostEventIsAnError() throws {
        let time = Timestamp(millisecondsSince1970: 1)
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        let post = EventShape.message(thread: Self.garden, number: 3, message: MessageID(bits: 7), by: Self.ann)
        try append(
            [
                ChatEvent(recordedAt: time, details: opened, content: .threadName("Garden")),
                ChatEvent(recordedAt: time, details: .init(.lost)),
                ChatEvent(recordedAt: time, details: .init(.messagePosted, post), content: .body("Milk?")),
            ], to: journal)
        let store = try fixture.open()
        #expect(throws: ChatError.incompleteThread(before: 3)) { try store.evidence(of: Self.garden) }
        #expect(try store.evidence(of: Self.garden, in: 1...2).numbers == 1...1)
        #expect(try store.verified(store.evidence(of: Self.garden, in: 3...3)).report.numbers == 3...3)
    }

    @Test func erasedEventsAreVerifiedWithoutContent() throws {
        let store = try filled()
        _ = try store.eraseUser(Self.bob, reason: "user-request")
        let evidence = try store.evidence(of: Self.garden, withRegistrations: true)
        let (report, events) = try store.verified(evidence)
        #expect(report.numbers == 1...8)
        // Bob's post, the reason of his removal, and his two names.
        #expect(events.filter(\.event.isErased).map(\.position) == [2, 7, 9, 10] && report.withoutContentCount == 4)
    }

    /// Every part that is changed, left out or doubled is found, at the latest by the root.
    @Test func changedPartsAreRejected() throws {
        let store = try filled()
        let evidence = try store.evidence(of: Self.garden, withRegistrations: true)
        let parts = try store.parts(of: evidence)
        func accepts(_ parts: [TreePart], _ readers: [EvidenceReader]) -> Bool {
            var verification = EvidenceVerification(against: evidence.head)
            do {
                for part in parts { try verification.add(part) }
                _ = try verification.report(readers: readers)
                return true
            } catch { return false }
        }
        #expect(accepts(parts, evidence.readers))
        for index in parts.indices {
            var other = parts
            other.remove(at: index)
            #expect(!accepts(other, evidence.readers))
            other = parts
            other.insert(parts[index], at: index)
            #expect(!accepts(other, evidence.readers))
            other = parts
            switch parts[index] {
            case .record(let position, let record):
                guard case .whole(let salt, let erasable) = record.content else { continue }
                for byte in record.kept.indices {
                    var kept = record.kept
                    kept[byte] ^= 1
                    other[index] = .record(position, DisclosedRecord(kept: kept, content: record.content))
                    #expect(!accepts(other, evidence.readers))
                }
                var wrong = salt
                wrong[3] ^= 1
                other[index] = .record(
                    position, DisclosedRecord(kept: record.kept, content: .whole(salt: wrong, erasable: erasable)))
                #expect(!accepts(other, evidence.readers))
                other[index] = .record(
                    position, DisclosedRecord(kept: record.kept, content: .whole(salt: salt, erasable: erasable + [33]))
                )
                #expect(!accepts(other, evidence.readers))
                other[index] = .subtree(position...position, record.leaf)
                #expect(!accepts(other, evidence.readers) || [1, 2, 4, 7].contains(position))
            case .subtree(let positions, _):
                other[index] = .subtree(positions, .emptyTree)
                #expect(!accepts(other, evidence.readers))
            }
        }
        for index in evidence.readers.indices {
            var readers = evidence.readers
            readers[index].since -= 1
            #expect(!accepts(parts, readers))
            readers.remove(at: index)
            #expect(!accepts(parts, readers))
            #expect(!accepts(parts, evidence.readers + [evidence.readers[index]]))
        }
        #expect(!accepts(parts, evidence.readers + [EvidenceReader(user: Self.cem, since: 14)]))
        #expect(accepts(parts, evidence.readers + [EvidenceReader(user: Self.cem, since: 3)]))
    }

    @Test func recordsOfOtherThreadsAndKindsAreRejected() throws {
        let store = try filled()
        let (head, evidence) = (try store.treeHead(), try store.evidence(of: Self.garden))
        func rejects(_ position: Position) throws -> String? {
            let wanted = (evidence.positions + [position]).sorted()
            var verification = EvidenceVerification(against: head)
            var parts: [TreePart] = []
            try (try Journal.openReadOnly(fixture.directory, options: fixture.options.journal)).forEachTreePart(
                of: head.size, disclosing: wanted
            ) { part in
                parts.append(part)
                return true
            }
            do throws(ProofError) {
                for part in parts { try verification.add(part) }
                _ = try verification.report(readers: evidence.readers)
                return nil
            } catch { return error.description }
        }
        #expect(try rejects(14) == "The record at position 14 is of another thread than those before.")
        #expect(
            try rejects(12)
                == "The record at position 12 is neither an event with a number in a thread nor a registration.")
        #expect(
            try rejects(3)
                == "A record registers or names the user \(Self.cem), whom no event of the thread and no reader names.")
        #expect(try rejects(7) == nil)
    }

    /// The proof of a record of the evidence is that of the store.
    @Test func proofOfOneRecordIsThatOfTheStore() throws {
        let store = try filled()
        let evidence = try store.evidence(of: Self.garden, withRegistrations: true)
        for position in 1...evidence.head.size {
            var verification = EvidenceVerification(against: evidence.head, provingRecordAt: position)
            for part in try store.parts(of: evidence) { try verification.add(part) }
            guard (evidence.positions + evidence.registrations).contains(position) else {
                #expect(throws: ProofError.self) { try verification.inclusionProof() }
                continue
            }
            #expect(try verification.inclusionProof() == store.inclusionProof(of: position))
        }
    }

    @Test(arguments: [
        "", "reader", "reader 1", "reader 00000000-0000-0000-0000-000000000001",
        "reader 00000000-0000-0000-0000-000000000001 0",
        "reader 00000000-0000-0000-0000-000000000001 01", "reader 00000000-0000-0000-0000-00000000000A 1",
        "reader  00000000-0000-0000-0000-000000000001 1", "reader 00000000-0000-0000-0000-000000000001 1 ",
        "writer 00000000-0000-0000-0000-000000000001 1",
    ])
    func wrongReadersAreRejected(line: String) {
        #expect(throws: ProofTextError.self) { try EvidenceReader(parsing: line, line: 1) }
    }

    /// Every thread of random histories, in random ranges.
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 40))) func evidenceOfRandomHistoriesIsVerified(seed: UInt64)
        throws
    {
        let store = try StoreFixture(seed: seed).open()
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        for _ in 0..<250 { _ = try answer(generator.nextRequest(), of: store) }
        let events = try store.allEvents()
        let threads = Set(events.compactMap { $0.event.threadNumber == nil ? nil : $0.event.thread })
        for thread in threads.sorted() {
            let ofThread = events.filter { $0.event.threadNumber != nil && $0.event.thread == thread }
            let size = Position.random(in: ofThread[0].position...store.head.position, using: &random)
            let first = Position.random(in: 1...ofThread[0].position, using: &random)
            let start = try #require(ofThread.filter { $0.position <= size }.randomElement(using: &random)).position
            for range in [first...size, start...size, nil] {
                let evidence = try store.evidence(
                    of: thread, in: range, at: size, withRegistrations: Bool.random(using: &random))
                let (report, found) = try store.verified(evidence)
                let expected = ofThread.filter { (range ?? 1...size).contains($0.position) && $0.position <= size }
                #expect(found.filter { $0.event.thread != nil } == expected)
                #expect(report.withoutContentCount == 0)
                // With every event of the thread, only operators need the word of the host.
                if report.beginsWithFirstEvent {
                    let members = try store.reader(as: .host, asOf: .position(report.positions.upperBound)).members(
                        of: thread)
                    #expect(report.provenReaders == members.map { EvidenceReader(user: $0.user.id, since: $0.since) })
                }
            }
        }
    }
}
