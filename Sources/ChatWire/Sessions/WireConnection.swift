public import Chat
public import ChatDomain
internal import EventJournal

/// The state of one connection that carries commands, receipts and live events as messages.
///
/// A pure state machine: it receives messages and events, and returns what the host does. It knows
/// no transport, no store and no clock. ``WireSession`` drives it over a store.
///
/// The article <doc:ChatWire> lists the messages.
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
        /// Execute the commands, and answer with ``WireConnection/answer(_:to:isBatch:)``.
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
        append(user, to: &text)
        text += ",\"token\":\"\(token)\"}}".utf8
        return text
    }

    /// The answer to commands, which has the JSON of the response of `POST /v1/commands`.
    public static func answer(_ response: WireResponse, to id: UInt64, isBatch: Bool) -> [UInt8] {
        guard case .bytes(let json) = response.body else { preconditionFailure("commands have no stream as their response") }
        return object(id) { text in
            text += (response.status != 200 ? "\"problem\":" : isBatch ? "\"answers\":" : "\"answer\":").utf8
            text += json
        }
    }

    /// The answer to a message that is not valid, or cannot be carried out.
    public static func problem(_ problem: Problem, to id: UInt64?) -> [UInt8] {
        object(id) { text in
            text += "\"problem\":".utf8
            append(problem, to: &text)
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

    private static func append(_ value: some Encodable, to text: inout [UInt8]) {
        // Only a number that is not finite cannot be encoded, and no value has one.
        do { try JSONLineEncoder(listLimit: .answer).encode(value, into: &text) } catch {
            preconditionFailure("the value encodes: \(error)")
        }
    }
}

// MARK: Messages of the client

/// A message of a client.
private struct ClientMessage {
    enum Content {
        case commands(ClientCommands)
        case follow(after: String?, thread: String?)
        case unfollow(UInt64)
    }

    let id: UInt64
    let content: Content

    /// Decodes a message; sets `id` as soon as it is known, for the answer to a wrong message.
    init(_ text: [UInt8], actor: UserID, id: inout UInt64?) throws(Problem) {
        let members: [JSONScanner.Field]
        do throws(LineError) {
            members = try Self.members(of: text)
            guard let number = members.first(where: { $0.name == "id" }) else {
                throw LineError(.missingField, "the field is missing", field: "id")
            }
            self.id = try decodeLine(UInt64.self, from: Array(text[number.value]))
            id = self.id
        } catch {
            throw Problem(error)
        }
        let others = members.filter { $0.name != "id" }
        guard others.count == 1 else {
            throw Problem(LineError(others.isEmpty ? .missingField : .unknownField, "a message has an id and one other field"))
        }
        let value = Array(text[others[0].value])
        switch others[0].name {
        case "commands": content = .commands(try ClientCommands(value, actor: actor))
        case "follow":
            let fields: [String: String]
            do throws(LineError) { fields = try decodeLine([String: String].self, from: value) } catch { throw Problem(error) }
            if let unknown = fields.keys.sorted().first(where: { $0 != "after" && $0 != "thread" }) {
                throw Problem(LineError(.unknownField, "there is no such field", field: LineError.excerpt(unknown)))
            }
            content = .follow(after: fields["after"], thread: fields["thread"])
        case "unfollow":
            do throws(LineError) { content = .unfollow(try decodeLine(UInt64.self, from: value)) } catch { throw Problem(error) }
        default:
            throw Problem(LineError(.unknownField, "there is no such field", field: LineError.excerpt(others[0].name)))
        }
    }

    private static func members(of text: [UInt8]) throws(LineError) -> [JSONScanner.Field] {
        guard (try? UTF8Span(validating: text.span)) != nil else { throw LineError(.invalidUTF8, "not UTF-8") }
        let members: [JSONScanner.Field]?
        do throws(JSONScanError) { members = try JSONScanner.fields(of: text) } catch { throw LineError(error) }
        guard let members else { throw LineError(.wrongType, "the message is not an object") }
        return members
    }
}
