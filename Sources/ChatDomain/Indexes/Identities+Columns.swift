package import Columns

extension Identities {
    /// Visits the columns.
    package mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) {
        try users.visit(&visitor)
        try threads.visit(&visitor)
        try memberships.visit(&visitor, below: users.count, threads.count)
        try posts.messages.visit(&visitor)
        try posts.replies.visit(&visitor)
        try edits.visit(&visitor)
        try sessions.visit(&visitor)
        try customEvents.visit(&visitor)
        try foldKeys.visit(&visitor)
        try subjects.visit(&visitor)
        try reactions.visit(&visitor, users: users.count)
        try directs.visit(&visitor, users: users.count, threads: threads.count)
        try onces.visit(&visitor, users: users.count)
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
        try posts.messages.check(parents: threads.count, authors: users.count, head: head)
        try posts.replies.check(parents: posts.messages.count, authors: users.count, head: head)
        try edits.check(parents: postNumberBound, authors: users.count, head: head)
        for edit in 0..<edits.count { try require(contains(post(ofEdit: edit)), "an edit is of no post") }
        try customEvents.check(parents: threads.count, authors: users.count, head: head)
        try onces.check(head: head)
        try reactions.check(posts: postNumberBound, users: users.count, head: head)
    }
}
