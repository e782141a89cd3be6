import Primitives

extension ContentForm {
    /// Decodes the bytes of this version, which follow the correlation id.
    ///
    /// - Parameters:
    ///   - kind: The host program's kind of a custom event.
    ///   - reader: Stands after the correlation id.
    func decode(_ reader: inout ByteReader, _ known: RawSpan, customKind kind: String) throws(EventDecodingError)
        -> EventContent
    {
        switch self {
        case .none, .erasure: return .none
        case .registration:
            let username = try reader.username(known)
            let subject = try reader.countedText(known)
            return .registration(username, subject: subject.isEmpty ? nil : subject)
        case .username: return .username(try reader.username(known))
        case .postcode:
            guard let postcode = Postcode(ascii: try reader.littleEndian(8, known)) else {
                throw reader.error(.invalidPostcode, at: reader.offset - 8)
            }
            return .postcode(postcode)
        case .payload:
            let start = reader.offset
            // In its canonical form: the text is printed as it is, and another writer may differ.
            guard let payload = CustomPayload(try reader.remainingText(known)) else {
                throw reader.error(.invalidPayload, at: start)
            }
            return .custom(kind: kind, payload: .present(payload))
        default: return EventContent(self, recorded: try reader.remainingText(known)) ?? .none
        }
    }
}

extension ByteReader {
    fileprivate mutating func username(_ bytes: RawSpan) throws(EventDecodingError) -> Username {
        Username(text: try countedText(bytes), foldKey: try countedText(bytes))
    }
}

extension EventContent {
    /// Appends the bytes of the erasable part after the correlation id.
    ///
    /// - Precondition: The content is present.
    consuming func encode(to writer: inout ByteWriter) {
        if let text = formAndText?.text { return writer.write(text) }
        switch self {
        case .none, .erasure: break
        case .registration(let username, let subject):
            writer.write(counted: username.text)
            writer.write(counted: username.foldKey)
            writer.write(counted: subject ?? "")
        case .username(let username):
            writer.write(counted: username.text)
            writer.write(counted: username.foldKey)
        case .postcode(let postcode): writer.write(littleEndian: postcode.ascii)
        case .custom(_, .present(let payload)): writer.write(payload.text)
        default: preconditionFailure("cannot encode an event without its content")
        }
    }
}
