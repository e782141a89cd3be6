#if Postgres
    import EventJournal
    import Foundation
    import JournalPostgres
    import Primitives
    import TestSupport
    import Testing

    extension Trait where Self == ConditionTrait {
        /// Skips a test visibly where PostgreSQL is not installed.
        static var needsPostgres: Self { .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed") }
    }

    extension PostgresServer {
        /// The server of the test run.
        static func common() throws -> PostgresServer { try #require(try shared.get()) }

        /// A server for one test, which stops or pauses it.
        static func own(_ settings: [String: String] = [:]) throws -> PostgresServer {
            try #require(try start(settings: settings))
        }
    }

    extension PostgresOptions {
        /// Options for tests of outages, with short time limits.
        static func impatient(
            outage: Duration = .seconds(60), answer: Duration = .milliseconds(500), takesOver: Bool = false
        ) -> PostgresOptions {
            var options = PostgresOptions()
            (options.outageTimeout, options.answerTimeout, options.takesOver) = (outage, answer, takesOver)
            return options
        }
    }

    extension CommitLog {
        /// Appends records with these texts as one commit.
        @discardableResult
        func append(_ texts: [String]) throws(JournalError) -> ClosedRange<Position> {
            var draft = CommitDraft()
            for text in texts {
                try Array("kept \(text.prefix(40))".utf8).withBytes { (kept) throws(JournalError) in
                    try Array(text.utf8).withBytes { (erasable) throws(JournalError) in
                        try draft.append(kept: kept, erasable: erasable)
                    }
                }
            }
            return try append(draft, expecting: lastPosition)
        }

        /// Appends records, and waits until they are safe.
        func appendSafely(_ texts: String...) throws(JournalError) {
            try waitUntilDurable(try append(texts).upperBound)
        }

        /// The texts of all records; nil for one that was erased.
        func texts() throws(JournalError) -> [String?] {
            if lastPosition == 0 { return [] }
            return try texts(in: 1...lastPosition)
        }

        /// The texts of the records in a range.
        func texts(in positions: ClosedRange<Position>) throws(JournalError) -> [String?] {
            var texts: [String?] = []
            try forEachRecord(in: positions) { position, state, _, erasable in
                #expect(position == positions.lowerBound + Position(texts.count))
                texts.append(state == .whole ? String(decoding: erasable.toArray(), as: UTF8.self) : nil)
                return true
            }
            return texts
        }
    }

    /// Expects a journal error with this code.
    func expectError(
        _ code: JournalError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ work: () throws -> Void
    ) {
        let error = #expect(throws: JournalError.self, sourceLocation: sourceLocation) { try work() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }
#endif
