import Chat
import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

/// Importing an export reproduces its events, positions and commits.
@Suite struct EventImportTests {
    /// Returns store options with a separate storage.
    private static func options(_ seed: UInt64) -> StoreOptions {
        var options = StoreFixture(seed: seed &+ 77).options
        options.journal.segmentSize = 3_000
        return options
    }

    @discardableResult
    private static func `import`(
        _ events: [ExportedEvent], _ options: StoreOptions
    ) throws -> EventImportSummary {
        var importer = try EventImporter(into: "copy", options: options.journal)
        for (index, event) in events.enumerated() { try importer.add(event, line: index + 1) }
        try importer.finish()
        return importer.summary
    }

    private static func isSound(_ options: StoreOptions) throws -> Bool {
        try ChatStore.verify("copy", options: options.journal, deep: true).findings == []
    }

    @Test(
        arguments: Seeds.seeds(Repetitions.few(1, of: 3)),
        [
            [], .otherVersions, [.stubs, .otherVersions], .lost, .unknown, [.unknown, .stubs],
            ExportedHistory.Features.all,
        ])
    func importedExportIsExportedUnchanged(seed: UInt64, features: ExportedHistory.Features) throws {
        let history = try ExportedHistory(seed: seed, features)
        #expect(history.events.count > 100)
        #expect(history.boundaries.count > 50 && history.boundaries.count < history.events.count)
        if features.contains(.lost) { #expect(history.events.contains { $0.recorded.kind == .lost }) }
        if features.contains(.unknown) { #expect(history.events.contains { $0.recorded.event.kind == nil }) }
        if features.contains(.stubs) { #expect(history.events.count { $0.recorded.event.isErased } > 20) }
        let options = Self.options(seed)
        let summary = try Self.import(history.lines.map(ExportedHistory.event), options)
        #expect(summary.events == history.events.count && summary.existing == 0)
        #expect(summary.commits == history.boundaries.count - 1)
        let copy = try ExportedHistory.export("copy", options)
        #expect(copy == history.events)
        #expect(try copy.map(ExportedHistory.line) == history.lines)
        #expect(try Self.isSound(options))
        // A second import adds nothing.
        let again = try Self.import(history.events, options)
        #expect(again.events == 0 && again.commits == 0 && again.existing == history.events.count)
    }

    /// An interrupted import ends at a commit boundary.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func interruptedImportResumes(seed: UInt64) throws {
        let history = try ExportedHistory(seed: seed, .all, commands: 24)
        for cut in 0...history.events.count {
            let options = Self.options(seed)
            do {
                var importer = try EventImporter(into: "copy", options: options.journal)
                for (index, event) in history.events.prefix(cut).enumerated() {
                    try importer.add(event, line: index + 1)
                }
                // A killed process does not close the importer.
                if cut.isMultiple(of: 2) { try importer.close() }
            }
            let head = try ChatStore.head(ofJournalAt: "copy", options: options.journal).position
            #expect(history.boundaries.contains(head) && head <= cut)
            #expect(head == history.boundaries.filter { $0 <= cut }.max())
            let summary = try Self.import(history.events, options)
            #expect(summary.existing == Int(head) && summary.events == history.events.count - Int(head))
            #expect(try ExportedHistory.export("copy", options) == history.events, "cut after line \(cut)")
        }
    }

    /// Reactions, taken back or erased, are in the copy as in the journal.
    @Test func reactionsAreImported() throws {
        let options = Self.options(1)
        let store = try ChatStore.open("journal", options: options)
        let (ann, bob, cem, garden) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3), ThreadID(bits: 31))
        let posts = (0..<3).map { PostID.message(MessageID(bits: 40 + $0)) } + [.reply(ReplyID(bits: 50))]
        var commands: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .registerUser(id: cem, username: "Cem"), .openThread(id: garden, name: "Garden", by: ann),
            .joinThread(thread: garden, by: bob), .joinThread(thread: garden, by: cem),
        ]
        commands += (0..<3).map {
            .postMessage(id: MessageID(bits: 40 + $0), thread: garden, body: "x", by: ann)
        }
        commands.append(.reply(id: ReplyID(bits: 50), to: MessageID(bits: 40), body: "x", by: bob))
        for post in posts {
            for emoji in ["👍", "❤", ":wave:"] {
                commands += [ann, bob, cem].map { .react(post, emoji: emoji, by: $0) }
            }
        }
        commands += [.unreact(posts[0], emoji: "👍", by: ann), .unreact(posts[1], emoji: "👍", by: ann)]
        for command in commands { try store.executeBlocking(command) }
        let events = try store.allEvents()
        // A removal and three reactions.
        let removal = try #require(events.last { $0.kind == .reactionRemoved }?.position)
        let added = events.filter { $0.kind == .reactionAdded && $0.message == MessageID(bits: 42) }.prefix(3).map(
            \.position)
        _ = try store.eraseContent(of: PositionSet((added + [removal]).map { $0...$0 }), reason: "asked")
        _ = try store.eraseUser(cem, reason: "asked")
        func counts(_ store: borrowing ChatStore) throws -> [[PostReaction]] {
            try store.reader(as: .host).timeline(garden).map(\.reactions)
                + store.reader(as: .host).replies(to: MessageID(bits: 40)).map(\.reactions)
        }
        let expected = try counts(store)
        #expect(expected.joined().contains { $0.count == 1 } && expected.joined().contains { $0.count == 2 })
        try store.close()
        let history = try ExportedHistory.export("journal", options)
        #expect(history.contains { $0.recorded.kind == .reactionAdded && $0.recorded.event.isErased })
        #expect(history.contains { $0.recorded.kind == .reactionRemoved && $0.recorded.event.isErased })
        try Self.import(try history.map(ExportedHistory.line).map(ExportedHistory.event), options)
        #expect(try ExportedHistory.export("copy", options) == history)
        #expect(try counts(ChatStore.openReadOnly("copy", options: options)) == expected)
        #expect(try Self.isSound(options))
    }

    // MARK: Rejections

    private typealias Refusal = (code: String, line: Int, position: Position)

    /// Returns the error of an import, or nil.
    ///
    /// Also expects the journal to hold exactly the commits before the rejected line.
    private func refusal(_ events: [ExportedEvent], of history: ExportedHistory, _ seed: UInt64) throws -> Refusal? {
        let options = Self.options(seed)
        do {
            try Self.import(events, options)
            return nil
        } catch let error as EventImportError {
            let copy = try ExportedHistory.export("copy", options)
            #expect(copy == Array(events.prefix(copy.count)))
            #expect(Position(copy.count) == history.boundaries.filter { $0 < error.line }.max())
            #expect(error.description == "line \(error.line): \(error.code): \(error.message)")
            return (error.code, error.line, error.position)
        }
    }

    private func expect(
        _ code: String, at index: Int, _ history: ExportedHistory, _ seed: UInt64,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout [ExportedEvent]) -> Void
    ) throws {
        var events = history.events
        change(&events)
        let refusal = try #require(try refusal(events, of: history, seed), sourceLocation: sourceLocation)
        #expect(refusal.code == code && refusal.line == index + 1, "\(refusal)", sourceLocation: sourceLocation)
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func impossibleHistoryIsRejectedWithItsLine(seed: UInt64)
        throws
    {
        let history = try ExportedHistory(seed: seed, [])
        let middle = history.events.count / 2
        try expect("positionGap", at: middle, history, seed) { $0.remove(at: middle) }
        try expect("positionGap", at: middle + 1, history, seed) { $0.insert($0[middle], at: middle + 1) }
        try expect("positionGap", at: 0, history, seed) { $0.removeFirst() }
        let later = try #require(
            history.events.lastIndex { $0.recorded.event.recordedAt > history.events[0].recorded.event.recordedAt })
        try expect("timeWentBack", at: later, history, seed) {
            $0[later].recorded.event.recordedAt = Timestamp(
                millisecondsSince1970: $0[later - 1].recorded.event.recordedAt.millisecondsSince1970 - 1)
        }
        let posted = try #require(
            history.events.indices.dropFirst(20).first { history.events[$0].recorded.event.kind == .messagePosted })
        guard case .message(let thread, let number, let message, let author) = history.events[posted].recorded.shape
        else { return }
        func details(_ number: UInt64, _ message: MessageID, _ author: UserID) -> EventDetails {
            .init(.messagePosted, .message(thread: thread, number: number, message: message, by: author))
        }
        for other in [number + 1, number - 1] {
            try expect("threadNumberGap", at: posted, history, seed) {
                $0[posted].recorded.event.details = details(other, message, author)
            }
        }
        try expect("unknownReference", at: posted, history, seed) {
            $0[posted].recorded.event.details = details(number, message, UserID(bits: 77))
        }
        let again = try #require(
            history.events.indices.first { $0 > posted && history.events[$0].recorded.event.kind == .messagePosted })
        if case .message(let thread, let number, _, let author) = history.events[again].recorded.shape {
            let other = EventDetails(
                .messagePosted, .message(thread: thread, number: number, message: message, by: author))
            try expect("identifierTwice", at: again, history, seed) { $0[again].recorded.event.details = other }
        }
        try expect("invalidEvent", at: posted, history, seed) { $0[posted].recorded.redacted = .body }
        try expect("invalidEvent", at: posted, history, seed) { $0[posted].recorded.event.details = EventDetails(nil) }
        for content in [
            EventContent.none, .omitted, .device("x"), .opaque(kept: [1], erasable: []),
            .opaque(kept: [1], erasable: nil),
        ] {
            try expect("invalidEvent", at: posted, history, seed) { $0[posted].recorded.event.content = content }
        }
    }

    /// A history that was decoded with ``ContentSelection/indexed``.
    @Test func omittedPayloadIsRejectedWithItsLine() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let history = try ExportedHistory(seed: seed, [])
            guard let custom = history.events.firstIndex(where: { $0.recorded.kind == .custom }),
                let kind = history.events[custom].recorded.customKind
            else { continue }
            return try expect("invalidEvent", at: custom, history, seed) {
                $0[custom].recorded.event.content = .custom(kind: kind.text, payload: .omitted)
            }
        }
        Issue.record("no history has a custom event")
    }

    @Test(arguments: Seeds.seeds(4)) func wrongCommitEndIsRejectedWithItsLine(seed: UInt64) throws {
        let history = try ExportedHistory(seed: seed, [])
        let first = try #require(
            history.events.indices.dropFirst(20).first {
                history.events[$0 - 1].commitEnd != history.events[$0].commitEnd
                    && history.events[$0].commitEnd != history.events[$0].recorded.position
            })
        let end = try #require(history.events[first].commitEnd)
        try expect("commitEndMismatch", at: first, history, seed) {
            $0[first].commitEnd = $0[first].recorded.position - 1
        }
        try expect("commitEndMismatch", at: first + 1, history, seed) { $0[first].commitEnd = end + 1 }
        try expect("commitEndMismatch", at: first + 1, history, seed) { $0[first + 1].commitEnd = nil }
        try expect("endsInsideCommit", at: first, history, seed) { $0.removeLast($0.count - first - 1) }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func journalThatIsNoPrefixOfExportIsRejected(seed: UInt64)
        throws
    {
        let history = try ExportedHistory(seed: seed, [.stubs, .otherVersions])
        let half = try #require(history.boundaries.filter { $0 > history.events.count / 2 }.min())
        let options = Self.options(seed)
        try Self.import(Array(history.events.prefix(Int(half))), options)
        let head = try ChatStore.head(ofJournalAt: "copy", options: options.journal)
        func code(_ events: [ExportedEvent]) throws -> Refusal? {
            defer { #expect((try? ChatStore.head(ofJournalAt: "copy", options: options.journal)) == head) }
            do {
                try Self.import(events, options)
                return nil
            } catch let error as EventImportError {
                return (error.code, error.line, error.position)
            }
        }
        let whole = try #require(
            history.events.prefix(Int(half)).lastIndex { $0.recorded.event.body != nil && !$0.recorded.event.isErased })
        var changed = history.events
        changed[whole].recorded.event.content = .body((changed[whole].recorded.event.body ?? "") + "!")
        #expect(try code(changed).map { $0 == ("differs", whole + 1, Position(whole + 1)) } == true)
        var spelt = history.events
        let named = try #require(spelt.prefix(Int(half)).firstIndex { $0.recorded.event.username != nil })
        let name = try #require(spelt[named].recorded.event.username)
        spelt[named].recorded.event.content =
            spelt[named].recorded.event.kind == .usernameChanged
            ? .username(Username(text: name.text, foldKey: name.foldKey + "x"))
            : .registration(
                Username(text: name.text, foldKey: name.foldKey + "x"), subject: spelt[named].recorded.event.subject)
        #expect(try code(spelt).map { $0 == ("differs", named + 1, Position(named + 1)) } == true)
        let stub = try #require(
            history.events.prefix(Int(half)).lastIndex {
                $0.recorded.event.isErased && $0.recorded.event.kind == .messagePosted
            })
        var restored = history.events
        restored[stub].recorded.event.content = .body("not erased")
        #expect(try code(restored).map { $0 == ("differs", stub + 1, Position(stub + 1)) } == true)
        let shorter = Array(history.events.prefix(Int(try #require(history.boundaries.filter { $0 < half }.max()))))
        #expect(try code(shorter).map { $0 == ("journalIsLonger", shorter.count, Position(shorter.count + 1)) } == true)
    }

    // MARK: Exports of earlier versions

    /// Without commit ends, the importer keeps the events of one command together and computes fold
    /// keys.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func exportWithoutCommitEndsIsImported(seed: UInt64) throws
    {
        let history = try ExportedHistory(seed: seed, [.lost, .unknown, .stubs])
        let old = history.events.map { ExportedEvent($0.recorded) }
        let options = Self.options(seed)
        let summary = try Self.import(old, options)
        #expect(summary.events == old.count && summary.commits < old.count)
        let copy = try ExportedHistory.export("copy", options)
        #expect(copy.map(\.recorded) == history.events.map(\.recorded))
        #expect(try Self.isSound(options))
        for (event, next) in zip(copy, copy.dropFirst()) {
            guard event.recorded.event.kind == .threadOpened,
                next.recorded.event.kind == .threadJoined
            else {
                continue
            }
            #expect(event.commitEnd == next.recorded.position, "\(event)")
        }
        let again = try Self.import(old, options)
        #expect(again.events == 0 && again.existing == old.count)
    }
}
