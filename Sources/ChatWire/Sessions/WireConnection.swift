public import Chat
public import ChatDomain

/// The state of one connection that carries commands, receipts and live events as messages.
///
/// A pure state machine: it receives messages and events, and returns what the host does. It knows
/// no transport, no store and no clock. ``WireSession`` drives it over a store.
///
/// <doc:SocketMessages> lists the messages.
public struct WireConnection: Sendable {
    /// The version of the messages; a client may name it as `chat-journal.v1`.
    public static let version = 1
    /// The subprotocol of RFC 6455.
    public static let subprotocol = "chat-journal.v1"
    /// The number of follows at once.
    public static let maximumFollowCount = 16

    /// What the host does for a message, in order.
    public enum Action: Sendable {
        /// Send a message.
        case send([UInt8])
        /// Execute the commands, and answer with ``WireConnection/answer(_:to:)``.
        case execute(ClientCommands, id: UInt64)
        /// Begin to deliver events, after a token or the present end, in one thread or in all.
        case follow(UInt64, after: String?, thread: String?)
        /// Stop delivering the events of a follow.
        case unfollow(UInt64)
    }

    private let user: UserID
    private var follows: Set<UInt64> = []

    /// Creates the state of a connection of a user.
    public init(user: UserID) { self.user = user }

    /// Receives a text message, whose size the host bounds.
    public mutating func receive(_ text: [UInt8]) -> [Action] {
        var id: UInt64?
        do throws(Problem) {
            let message = try ClientMessage(text, actor: user, id: &id)
            switch message.content {
            case .commands(let commands): return [.execute(commands, id: message.id)]
            case .follow(let after, let thread):
                guard !follows.contains(message.id) else {
                    throw Problem(400, .invalidQuery, "A follow with this id exists.", field: "id")
                }
                guard follows.count < Self.maximumFollowCount else {
                    throw Problem(413, .tooLarge, "A connection has at most \(Self.maximumFollowCount) follows.")
                }
                follows.insert(message.id)
                return [.follow(message.id, after: after, thread: thread)]
            case .unfollow(let follow):
                guard follows.remove(follow) != nil else { throw .notFound }
                return [.unfollow(follow), .send(Self.object(message.id) { $0 += "\"unfollowed\":\(follow)".utf8 })]
            }
        } catch {
            return [.send(Self.problem(error, to: id))]
        }
    }

    /// Notes that a follow did not begin, or has ended.
    public mutating func didEnd(follow: UInt64) { follows.remove(follow) }

    /// Whether a follow has begun and not ended.
    public func isFollowing(_ follow: UInt64) -> Bool { follows.contains(follow) }
}

// MARK: Messages of the server

extension WireConnection {
    /// The first message.
    public static func hello(_ user: UserSummary, token: ResumeToken) -> [UInt8] {
        var text = Array("{\"hello\":{\"version\":\(version),\"user\":".utf8)
        text += SocketAnswer.json(of: user)
        text += ",\"token\":\"\(token)\"}}".utf8
        return text
    }

    /// The answer to commands, which has the JSON of the response of `POST /v1/commands`.
    public static func answer(_ answer: SocketAnswer, to id: UInt64) -> [UInt8] { message(answer, to: id) }

    /// The answer to a message that is not valid, or cannot be carried out.
    public static func problem(_ problem: Problem, to id: UInt64?) -> [UInt8] { message(SocketAnswer(problem), to: id) }

    private static func message(_ answer: SocketAnswer, to id: UInt64?) -> [UInt8] {
        object(id) { text in
            text += "\"\(answer.member.rawValue)\":".utf8
            text += answer.json
        }
    }

    /// The answer to a follow.
    public static func following(_ id: UInt64, from token: ResumeToken) -> [UInt8] {
        object(id) { $0 += "\"following\":{\"token\":\"\(token)\"}".utf8 }
    }

    /// An event or a notice of a follow.
    ///
    /// - Throws: `EncodingError` for an event that JSON cannot hold; no event of the store is one.
    public static func update(_ update: FollowedUpdate, of follow: UInt64) throws -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text += "{\"follow\":\(follow),\"token\":\"\(update.resumeToken)\",\"\(update.noticeName ?? "event")\":".utf8
        try update.appendJSON(to: &text)
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The last message.
    public static func end(_ reason: EventStream.End) -> [UInt8] { Array("{\"end\":\"\(reason.rawValue)\"}".utf8) }

    private static func object(_ id: UInt64?, _ member: (inout [UInt8]) -> Void) -> [UInt8] {
        var text = Array("{\"id\":\(id.map(String.init) ?? "null"),".utf8)
        member(&text)
        text.append(UInt8(ascii: "}"))
        return text
    }
}
