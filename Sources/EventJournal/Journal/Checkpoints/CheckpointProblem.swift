/// The reason that a checkpoint is not used; the caller replays the log instead.
package struct CheckpointProblem: Error, Hashable, Sendable {
    /// The reasons; the raw values are stable.
    package enum Code: String, Sendable {
        /// The checkpoint does not exist.
        case absent
        /// The file cannot be read.
        case unreadable
        /// The file is damaged: a checksum, the length or the decoded state is wrong.
        case damaged
        /// The format or the projection has another version.
        case otherVersion
        /// The checkpoint was made of another journal.
        case otherJournal
        /// The checkpoint's position is beyond the journal's durable end.
        ///
        /// A power failure or an older copy of the journal may have moved that end back.
        case beyondEnd
        /// The journal's history up to the position differs: another chain value, or no commit ends
        /// there.
        case otherHistory
        /// Content was erased from the journal after the checkpoint was made.
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
