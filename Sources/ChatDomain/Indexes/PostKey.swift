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

    // No subscript: one that yields the table copies it.

    /// Calls a function with the table of the replies or of the messages.
    @inlinable @inline(__always)
    package func read<Value>(isReply: Bool, _ body: (borrowing Table) -> Value) -> Value {
        isReply ? body(replies) : body(messages)
    }

    /// Calls a function with the table that has a post.
    @inlinable @inline(__always)
    package func read<Value>(of post: PostKey, _ body: (borrowing Table) -> Value) -> Value {
        read(isReply: post.isReply, body)
    }

    /// Changes the table of the replies or of the messages.
    @inlinable @inline(__always)
    package mutating func change<Value>(isReply: Bool, _ body: (inout Table) -> Value) -> Value {
        isReply ? body(&replies) : body(&messages)
    }

    /// Changes the table that has a post.
    @inlinable @inline(__always)
    package mutating func change<Value>(of post: PostKey, _ body: (inout Table) -> Value) -> Value {
        change(isReply: post.isReply, body)
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
