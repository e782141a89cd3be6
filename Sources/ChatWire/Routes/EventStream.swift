internal import Chat
public import ChatDomain

/// The events that a user may see, as the lines of Server-Sent Events (WHATWG HTML, section 9.2).
///
/// ```
/// retry: 2000
/// id: ct1-…
///
/// id: ct1-…
/// data: {"position":12,"recordedAt":"…","messagePosted":{…}}
///
/// : heartbeat
///
/// ```
///
/// The first block has an id and no data: a client that loses the connection before the first event
/// resumes from the same place. Each `id` is a resume token; a client sends the last one as
/// `Last-Event-ID`. A block with an `event` field ends the stream (``End``).
public struct EventStream: Sendable {
    /// The reason why the server ends a stream, as the value of the field `event`.
    public enum End: String, Sendable {
        /// The client does not read fast enough: it resumes with its last id.
        case lagged
        /// The session of the client has ended.
        case signedOut = "signed-out"
        /// The server is closing: the client resumes later.
        case closing
        /// The journal cannot be read.
        case failed
    }

    /// The time without an event after which a comment is written.
    public static let heartbeatInterval = Duration.seconds(15)
    /// The comment that shows the client that the connection exists.
    public static let heartbeat = Array(": heartbeat\n\n".utf8)

    /// The first bytes of the stream.
    public let opening: [UInt8]
    private let events: ChatEvents

    /// Creates a stream of events that begin after a token.
    init(_ events: ChatEvents, from start: ResumeToken) {
        self.events = events
        opening = Array("retry: 2000\nid: \(start)\n\n".utf8)
    }

    /// Writes the opening and every event until the task is cancelled, the store closes or the sink
    /// throws.
    ///
    /// The sink receives whole blocks and suspends while the client does not read, so a stream
    /// holds one batch of events. Heartbeats are the caller's, because only the caller knows when
    /// bytes were written last.
    ///
    /// - Parameter write: Receives each block, with the time at which its event was recorded; nil
    ///   for the opening.
    /// - Returns: The reason why the stream ends.
    /// - Throws: What the sink throws.
    public func run(_ write: (_ block: [UInt8], _ recordedAt: Timestamp?) async throws -> Void) async throws -> End {
        try await write(opening, nil)
        var iterator = events.makeAsyncIterator()
        while true {
            let next: FollowedEvent?
            do throws(ChatError) { next = try await iterator.next() } catch { return .failed }
            guard let next else { return .closing }
            try await write(try Self.block(next), next.recorded.event.recordedAt)
        }
    }

    /// The last block of a stream.
    public static func block(_ end: End) -> [UInt8] { Array("event: \(end.rawValue)\ndata: {}\n\n".utf8) }

    static func block(_ event: FollowedEvent) throws -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(512)
        block += "id: \(event.resumeToken)\ndata: ".utf8
        // JSON of one line: control characters are escaped.
        try JSONLineMembers.appendObject(to: &block) { members in try event.recorded.encode(to: &members) }
        block += "\n\n".utf8
        return block
    }
}
