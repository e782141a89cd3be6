public import ChatDomain
import EventJournal

/// What checkpoints have done for a store since it was opened.
public struct CheckpointStatistics: Hashable, Sendable, Codable {
    /// The position of the checkpoint that opening began with; nil where it replayed from the first event.
    public var loaded: Position?
    /// A stable name of the reason why there was none to begin with: `absent`, `unreadable`, `damaged`, `otherVersion`, `otherJournal`, `beyondEnd`, `otherHistory` or
    /// `beforeErasure`.
    public var ignored: String?
    /// That reason as a sentence.
    public var ignoredMessage: String?
    /// How long reading the checkpoint took, in seconds.
    public var loadSeconds: Double = 0
    /// How many events opening replayed.
    public var replayed: UInt64 = 0
    /// How many checkpoints have been written.
    public var written: UInt64 = 0
    /// The latest of them.
    public var last: Written?
    /// How many could not be written; nothing but the time of an opening is lost by that.
    public var failures: UInt64 = 0
    /// Why the latest of those could not, as a sentence.
    public var lastFailure: String?

    /// A checkpoint that was written.
    public struct Written: Hashable, Sendable, Codable {
        /// Its position.
        public var position: Position
        /// The size of its file.
        public var bytes: UInt64
        /// How long writing it took, in seconds.
        public var seconds: Double
        /// When that was done.
        public var at: Timestamp
    }

    mutating func ignore(_ problem: CheckpointProblem) { (ignored, ignoredMessage) = (problem.code.rawValue, problem.message) }
}
