/// Why a checkpoint is not used; whoever wanted it replays instead.
package struct CheckpointProblem: Error, Hashable, Sendable {
    /// The reasons; the names are stable.
    package enum Code: String, Sendable {
        /// There is none.
        case absent
        /// The file cannot be read.
        case unreadable
        /// The file is not as it was written: a checksum, a length, or what the state should be.
        case damaged
        /// The file or the projection is of another version.
        case otherVersion
        /// It was made of another journal.
        case otherJournal
        /// It ends beyond the journal's durable end, which has gone back since.
        case beyondEnd
        /// The journal has another history up to there: another chain value, or no commit that ends there.
        case otherHistory
        /// Content has been erased from the journal since.
        case beforeErasure
    }

    package var code: Code
    /// A sentence for people.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
