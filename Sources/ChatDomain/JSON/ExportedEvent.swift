/// An event as an export has it: with the fold key beside a username, and the end of its commit.
///
/// With these two fields an export can be read back as the same history in the same commits.
public struct ExportedEvent: Hashable, Sendable {
    /// The event and its position.
    public var recorded: RecordedEvent
    /// The last position of the commit that the event belongs to; nil where that is not known, as in an export of an earlier version.
    public var commitEnd: Position?

    /// Makes an exported event.
    public init(_ recorded: RecordedEvent, commitEnd: Position? = nil) {
        self.recorded = recorded
        self.commitEnd = commitEnd
    }
}

extension ExportedEvent: Codable {
    /// Reads an event of an export.
    ///
    /// - Throws: `DecodingError` with the path of the field that is wrong; also for an event that a viewer was shown, which bears `redacted`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        guard !container.contains(.redacted) else {
            throw DecodingError.dataCorruptedError(
                forKey: .redacted, in: container, debugDescription: "an event that was redacted for a viewer is not the whole event")
        }
        let commitEnd: Position? =
            try !container.contains(.commitEnd) || container.decodeNil(forKey: .commitEnd) ? nil : container.number(.commitEnd)
        self.init(try RecordedEvent(from: decoder), commitEnd: commitEnd)
    }

    /// Writes the event as ``RecordedEvent`` does, with `foldKey` after `username` and with `commitEnd` at the end.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }

    /// Writes the members of the event's object.
    package func encode(to members: inout some EventMembers) throws {
        try recorded.encode(to: &members, isExport: true)
        if let commitEnd { try members.encode(commitEnd, forKey: .commitEnd) }
    }
}
