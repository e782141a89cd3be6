package import Columns

extension Identities: ColumnCoded {
    package func write(to writer: inout ColumnWriter) {
        users.write(to: &writer)
        threads.write(to: &writer)
        memberships.write(to: &writer)
        messages.write(to: &writer)
        messageFacts.write(to: &writer)
        replies.write(to: &writer)
        replyFacts.write(to: &writer)
        edits.write(to: &writer)
        editFacts.write(to: &writer)
        sessions.write(to: &writer)
        customEvents.write(to: &writer)
        customFacts.write(to: &writer)
        foldKeys.write(to: &writer)
        subjects.write(to: &writer)
        reactions.write(to: &writer)
        directs.write(to: &writer)
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        users = try TypedIDInterner(from: &reader)
        threads = try TypedIDInterner(from: &reader)
        memberships = try PairInterner(from: &reader)
        try memberships.check(firstBelow: users.count, secondBelow: threads.count)
        messages = try IDInterner(from: &reader)
        messageFacts = try AuthoredFacts(from: &reader, count: messages.count)
        replies = try IDInterner(from: &reader)
        replyFacts = try AuthoredFacts(from: &reader, count: replies.count)
        edits = try IDInterner(from: &reader)
        editFacts = try AuthoredFacts(from: &reader, count: edits.count)
        sessions = try TypedIDInterner(from: &reader)
        customEvents = try TypedIDInterner(from: &reader)
        customFacts = try AuthoredFacts(from: &reader, count: customEvents.count)
        foldKeys = try TextInterner(from: &reader)
        subjects = try TextInterner(from: &reader)
        reactions = try ReactionIndex(from: &reader)
        directs = try DirectThreads(from: &reader, users: users.count, threads: threads.count)
    }

    /// Throws unless every post lies at or before `head` and refers to an existing thread or
    /// message and author.
    package func check(head: Position) throws(ColumnError) {
        try messageFacts.check(parents: threads.count, authors: users.count, head: head)
        try replyFacts.check(parents: messages.count, authors: users.count, head: head)
        try editFacts.check(parents: 2 * max(messages.count, replies.count), authors: users.count, head: head)
        for edit in 0..<edits.count {
            let (index, isReply) = indexOfPost(ofEdit: edit)
            try require(index < (isReply ? replies.count : messages.count), "an edit is of no post")
        }
        try customFacts.check(parents: threads.count, authors: users.count, head: head)
        try reactions.check(posts: 2 * max(messages.count, replies.count), users: users.count, head: head)
    }
}
