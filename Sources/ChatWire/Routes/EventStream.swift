package import Chat
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
/// `Last-Event-ID`. Blocks with an `event` field are notices, or the end of the stream (``End``):
///
/// ```
/// id: ct1-…
/// event: erased
/// data: {"positions":[[12,12]],"messages":["…"],"replies":[],"threads":["…"],"users":["…"],…}
///
/// id: ct1-…
/// event: accessLost
/// data: {"thread":"…"}
///
/// ```
///
/// A notice says what the client must forget (`ErasedContent`, `FollowedUpdate`).
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
    private let updates: ChatUpdates

    /// Creates a stream of updates that begin after a token.
    init(_ updates: ChatUpdates, from start: ResumeToken) {
        self.updates = updates
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
    ///   for the opening and for notices.
    /// - Returns: The reason why the stream ends.
    /// - Throws: What the sink throws.
    public func run(_ write: (_ block: [UInt8], _ recordedAt: Timestamp?) async throws -> Void) async throws -> End {
        try await run(slots: nil, push: nil, write: write)
    }

    /// Runs the stream as ``run(_:)``, and new events without its task.
    ///
    /// - Parameters:
    ///   - slots: What the stream needs while it holds events that are not written.
    ///   - push: Takes the block of a new event if there is room, and returns whether it did;
    ///     streams that show the same share its bytes.
    package func run(
        slots: (any FollowerSlots)?, push: (@Sendable (_ block: [UInt8], _ recordedAt: Timestamp) -> Bool)?,
        write: (_ block: [UInt8], _ recordedAt: Timestamp?) async throws -> Void
    ) async throws -> End {
        try await write(opening, nil)
        let livePush = push.map { push -> LivePush in
            { event, texts in
                // What cannot be encoded fails in the task.
                guard let block = try? texts.text(nil, of: event, { try Self.block(.event($0)) }) else { return false }
                return push(block, event.recordedAt)
            }
        }
        var isOfSink = false
        do {
            try await updates.deliver(livePush, slots) { update in
                var recordedAt: Timestamp?
                if case .event(let event) = update { recordedAt = event.recorded.event.recordedAt }
                let block = try Self.block(update)
                isOfSink = true
                try await write(block, recordedAt)
                isOfSink = false
            }
            return .closing
        } catch let error where error is ChatError && !isOfSink {
            return .failed
        }
    }

    /// The last block of a stream.
    public static func block(_ end: End) -> [UInt8] { Array("event: \(end.rawValue)\ndata: {}\n\n".utf8) }

    static func block(_ update: FollowedUpdate) throws -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(512)
        block += "id: \(update.resumeToken)\n".utf8
        if let name = update.noticeName { block += "event: \(name)\n".utf8 }
        block += "data: ".utf8
        // JSON of one line: control characters are escaped.
        try update.appendJSON(to: &block)
        block += "\n\n".utf8
        return block
    }
}

extension FollowedUpdate {
    /// The name of the kind of notice; nil for an event.
    package var noticeName: String? {
        switch self {
        case .event: nil
        case .erased: "erased"
        case .accessLost: "accessLost"
        }
    }

    /// Appends the event, or the content of the notice, as a JSON object.
    ///
    /// - Throws: `EncodingError` for an event that JSON cannot hold; no event of the store is one.
    package func appendJSON(to text: inout [UInt8]) throws {
        switch self {
        case .event(let event):
            try JSONLineMembers.appendObject(to: &text) { members in try event.recorded.encode(to: &members) }
        case .erased(let content, _): try JSONLineEncoder().encode(content, into: &text)
        case .accessLost(let thread, _): text += "{\"thread\":\"\(thread)\"}".utf8
        }
    }
}
