/// The rows that an event is about; -1 where there is none.
package struct EventNumbers: Sendable {
    // The numbers + 1: a replay hands on millions of these from one processor to another.
    @usableFromInline var userEntry: UInt32 = 0
    @usableFromInline var threadEntry: UInt32 = 0
    @usableFromInline var membershipEntry: UInt32 = 0
    @usableFromInline var postEntry: UInt32 = 0
    @usableFromInline var messageEntry: UInt32 = 0
    /// Whether the event changed anything: an id that was new, a membership that was not so, a post that was there to be changed.
    ///
    /// Until the state is moved on by the event it says whether the post, the session or the membership has just got its number.
    package internal(set) var isNew = false

    /// Who did it, or whom it concerns.
    @inline(__always) @inlinable package var user: Int { Int(userEntry) - 1 }
    /// The thread; for a postcode that of its outward code.
    @inline(__always) @inlinable package var thread: Int { Int(threadEntry) - 1 }
    /// The membership of that user and that thread, for the events that change it.
    @inline(__always) @inlinable package var membership: Int { Int(membershipEntry) - 1 }
    /// The message or the reply; the session for one.
    @inline(__always) @inlinable package var post: Int { Int(postEntry) - 1 }
    /// The message that the reply answers, where the event posts or retracts a reply.
    @inline(__always) @inlinable package var message: Int { Int(messageEntry) - 1 }
}

extension EventNumbers {
    /// How an entry says which number was found.
    static func entry(_ number: Int?) -> UInt32 { UInt32(truncatingIfNeeded: (number ?? -1) + 1) }
}
