/// What an import changes in a line because the store cannot take it as it is.
public enum ImportAdaptation: String, Hashable, Sendable, CaseIterable {
    /// The thread has another name than the channel, which breaks a rule of names.
    case channelRenamed
    /// A reply stands before the message that it answers, and was imported after it.
    case replyMoved
    /// A reply whose message is neither in the history nor in the store was posted as a message.
    case replyWithoutMessage
    /// A body over the limit was split.
    case bodySplit
    /// An edit before the time of the message was left out.
    case editIgnored
    /// A mentioned user who cannot be a member of the channel, or is one too many, was left out.
    case mentionIgnored
    /// Unknown fields of a line were left out.
    case fieldsIgnored
    /// Reactions were left out: a text that is no emoji, more than a post takes, a former member.
    ///
    /// Also if a rule rejects them, for example while the user is muted. A later import tries these
    /// again, and counts them again, unless the post has a reaction by then.
    case reactionsLeftOut

    /// The lines with one kind of adaptation that an import recorded.
    public struct Lines: Hashable, Sendable, Codable {
        /// The number of lines.
        public var count: Int
        /// The number of the first line.
        public var line: Int
        /// What was adapted in the first line: the name of a channel or of a field, or the id of a
        /// message; for `replyWithoutMessage` the id that it answers.
        public var example: String

        /// Creates a count with its example.
        public init(count: Int, line: Int, example: String) {
            self.count = count
            self.line = line
            self.example = example
        }
    }
}

/// The adaptations of one line, each with its example.
typealias LineAdaptations = [ImportAdaptation: String]

extension ImportSummary {
    /// Counts the adaptations of a line that was recorded.
    mutating func count(_ adapted: LineAdaptations, line: Int) {
        for (kind, example) in adapted {
            var lines = adaptations[kind] ?? .init(count: 0, line: line, example: example)
            lines.count += 1
            // A moved line can be recorded before a line with a lower number.
            if line < lines.line { (lines.line, lines.example) = (line, example) }
            adaptations[kind] = lines
        }
    }
}
