import Chat
import ChatDomain
import ChatWire
import MerkleLog

// The forms of output that several commands use.

extension Post {
    /// The body for tables, with the reason where it is missing, marks and reactions.
    func shownBody(to viewer: Viewer) -> String {
        if isRemoved { return "(removed)" }
        if isRetracted { return "(retracted)" }
        let text = body ?? (viewer == .host ? "(erased)" : "(erased, or changed since)")
        let reactions =
            reactions.isEmpty ? "" : " [\(reactions.map { "\($0.emoji) \($0.count)" }.joined(separator: ", "))]"
        return (isFromBlockedUser ? "(blocked) " : "") + text + (editedAt != nil ? " (edited)" : "") + reactions
    }
}

extension UserSummary {
    /// The name for tables.
    var displayName: String { username ?? "(erased)" }
}

/// The name of a thread for tables, which for a direct one is that of its people.
func threadDisplayName(_ name: String?, _ people: [UserSummary]?) -> String {
    name ?? people?.map(\.displayName).joined(separator: ", ") ?? "(erased)"
}

extension BufferedOutput {
    /// Writes values as JSON lines or as a table.
    mutating func show<Value: Encodable>(
        _ values: [Value], asJSON: Bool, _ columns: [Table.Column], _ cells: (Value) -> [String]
    ) throws {
        if asJSON {
            for value in values { try writeLine(json: value) }
            return
        }
        var table = Table(columns)
        for value in values { table.append(cells(value)) }
        try write(table.render())
    }

    /// Writes messages as JSON lines or as a table.
    mutating func show(timeline messages: [Post], to viewer: Viewer, asJSON: Bool) throws {
        try show(
            messages, asJSON: asJSON,
            [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLIES", .right), .init("MESSAGE")]
        ) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.displayName, "\($0.replyCount)",
                $0.shownBody(to: viewer),
            ]
        }
    }

    /// Writes replies as JSON lines or as a table.
    mutating func show(replies: [Post], to viewer: Viewer, asJSON: Bool) throws {
        try show(replies, asJSON: asJSON, [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLY")]) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.displayName,
                $0.shownBody(to: viewer),
            ]
        }
    }

    /// Writes members as JSON lines or as a table.
    mutating func show(members: [ThreadMember], asJSON: Bool) throws {
        try show(members, asJSON: asJSON, [.init("SINCE", .right), .init("USER"), .init("ID")]) {
            ["\($0.since)", $0.user.displayName, "\($0.user.id)"]
        }
    }

    /// Writes an event as a JSON line or for people.
    mutating func write(_ event: RecordedEvent, asJSON: Bool) throws {
        if asJSON { try writeLine(json: event) } else { try writeLine(line(of: event)) }
    }

    /// Writes what the viewer of the events must forget: a JSON line with one field, the name of
    /// the notice, or the name and the fields.
    mutating func write(notice: FollowedUpdate, asJSON: Bool) throws {
        var fields: [UInt8] = []
        try notice.appendJSON(to: &fields)
        let (name, content) = (notice.noticeName ?? "", String(decoding: fields, as: UTF8.self))
        try writeLine(asJSON ? "{\"\(name)\":\(content)}" : "\(name)  \(content)")
    }

    /// An event for people: its position, time and kind, and its fields as JSON.
    private func line(of recorded: RecordedEvent) throws -> String {
        var fields: [UInt8] = []
        try JSONLineMembers.appendObject(to: &fields) { members in try recorded.encodeFields(to: &members) }
        return "\(recorded.position)  \(recorded.event.createdAt)  \(recorded.event.kind?.name ?? "unknown")  "
            + String(decoding: fields, as: UTF8.self)
    }
}

/// A tree head (an auditor's checkpoint) as JSON.
struct CheckpointLine: Encodable {
    let origin: String
    let size: UInt64
    let root: String

    init(_ head: TreeHead) { (origin, size, root) = (head.origin, head.size, head.root.base64) }
}
