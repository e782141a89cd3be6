import ChatDomain

extension ImportBatch {
    /// A user of a line, with the values that can be derived from it alone.
    struct Person {
        let imported: ImportedUser
        let name: ImportedName?
        let user: UserID?

        init(_ imported: ImportedUser) {
            self.imported = imported
            let name = ImportedName(imported.name)
            self.name = name
            user =
                switch imported {
                case .nickname: name.map { ImportedID.user($0.formerFoldKey) }
                case .account(let id, _, _): ImportedID.account(id)
                }
        }

        /// Whether the name and the subject are valid.
        var canBeRegistered: Bool {
            if name == nil { return false }
            guard case .account(_, _, let subject?) = imported else { return true }
            return Subject.isValid(subject)
        }
    }

    /// A line with the values that can be derived from it alone.
    struct ParsedLine {
        let number: Int
        /// The line, without its reactions.
        let content: ImportedLine
        let reactions: LineReactions
        /// The bodies of the posts of a message; empty if its body is invalid.
        let bodies: [String]
        /// The names that may follow the @ signs of each body; empty if they are not looked for.
        let names: [MentionedNames]
        /// The users whom the text that the line edits names (`ChatStore.peopleNamed(inTextOf:)`).
        var former: [String: UserID] = [:]
        let channel: String
        let thread: ThreadID
        let origin: EventOrigin
        /// What was adapted in the line itself.
        private(set) var adapted: LineAdaptations = [:]

        init(
            _ content: ImportedLine, number: Int, isMoved: Bool = false, ignoredFields: [String] = [],
            findMentions: Bool = false
        ) {
            self.number = number
            var content = content
            var reactions: [ImportedReaction] = []
            var bodies: [String] = []
            if let field = ignoredFields.first { adapted[.fieldsIgnored] = field }
            if case .message(var message) = content {
                if isMoved { adapted[.replyMoved] = message.id }
                if let sentAt = message.sentAt, let editedAt = message.editedAt, editedAt < sentAt {
                    adapted[.editIgnored] = message.id
                    message.editedAt = nil
                }
                swap(&reactions, &message.reactions)
                bodies = MessageBody.parts(ofImported: message.body)
                content = .message(message)
            }
            self.content = content
            self.reactions = LineReactions(reactions)
            self.bodies = bodies
            names = findMentions ? bodies.map { MentionedNames(in: $0) } : []
            let sentAt: Timestamp?
            (channel, sentAt) =
                switch content {
                case .message(let message): (message.channel, message.sentAt)
                case .join(let join): (join.channel, join.joinedAt)
                case .channel(let line): (line.channel, nil)
                }
            thread = OutwardCode(channel).map { ThreadID($0) } ?? ImportedID.thread(channel)
            origin = .imported(sentAt: sentAt)
        }

        /// Whether the line adds members, and no post.
        var isOfMembers: Bool { if case .message = content { false } else { true } }
    }
}
