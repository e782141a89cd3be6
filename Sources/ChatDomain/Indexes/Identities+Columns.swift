package import Columns

extension Identities {
    /// Visits the columns.
    package mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) {
        try users.visit(&visitor)
        try threads.visit(&visitor)
        try memberships.visit(&visitor, below: users.count, threads.count)
        try messages.visit(&visitor)
        try messageFacts.visit(&visitor, count: messages.count)
        try replies.visit(&visitor)
        try replyFacts.visit(&visitor, count: replies.count)
        try edits.visit(&visitor)
        try editFacts.visit(&visitor, count: edits.count)
        try sessions.visit(&visitor)
        try customEvents.visit(&visitor)
        try customFacts.visit(&visitor, count: customEvents.count)
        try foldKeys.visit(&visitor)
        try subjects.visit(&visitor)
        try reactions.visit(&visitor)
        try directs.visit(&visitor, users: users.count, threads: threads.count)
    }

    /// Returns a copy without hash slots, for writing.
    package func withoutSlots() -> Identities {
        var copy = self
        ColumnVisitor.removeSlots { visitor throws(ColumnError) in try copy.visit(&visitor) }
        return copy
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
