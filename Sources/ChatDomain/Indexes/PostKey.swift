/// Identifies a post by its dense index.
package struct PostKey: Hashable, Sendable {
    /// Twice the index, and 1 more for a reply.
    package let number: Int

    /// Creates the key of the message or the reply with an index.
    @inlinable package init(_ index: Int, isReply: Bool) { number = index << 1 | (isReply ? 1 : 0) }

    /// Creates the key with a number.
    @inlinable package init(number: Int) { self.number = number }

    /// The index of the message or the reply.
    @inlinable package var index: Int { number >> 1 }
    /// Whether the post is a reply.
    @inlinable package var isReply: Bool { number & 1 != 0 }
}

/// A table of messages and one of replies, each by its own dense index.
///
/// A message and a reply can have the same id, and most tables of messages are long: two tables keep
/// them dense.
package struct PostTables<Table> {
    /// The table of the messages.
    package var messages: Table
    /// The table of the replies.
    package var replies: Table

    /// Creates two equal tables.
    @inlinable package init(_ table: Table) { (messages, replies) = (table, table) }

    /// The table of the replies or of the messages.
    @inlinable package subscript(isReply isReply: Bool) -> Table {
        _read { if isReply { yield replies } else { yield messages } }
        _modify { if isReply { yield &replies } else { yield &messages } }
    }

    /// The table that has a post.
    @inlinable package subscript(of post: PostKey) -> Table {
        _read { yield self[isReply: post.isReply] }
        _modify { yield &self[isReply: post.isReply] }
    }
}

extension PostTables: Sendable where Table: Sendable {}

extension PostTables: Equatable where Table: Equatable {}

extension EventIndexes {
    /// Returns the post that an event is about; nil for none, or if it was never posted.
    package func post(of event: EventRow) -> PostKey? {
        secondIndex < 0 ? nil : PostKey(secondIndex, isReply: event.has(.reply))
    }
}
