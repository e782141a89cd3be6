#if Server
    internal import Chat
    internal import ChatDomain

    /// The log of a server: one JSON object a line, without bodies, e-mail addresses, names or
    /// tokens.
    struct ServerLog: Sendable {
        private let write: @Sendable (String) -> Void

        init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

        /// Writes a line.
        ///
        /// - Parameters:
        ///   - event: What happened, as one word.
        ///   - fields: Names and texts, neither of which come from a client.
        func write(_ event: String, _ fields: (name: String, value: String)...) {
            var line = Array("{\"time\":\"\(SystemClock().now())\",\"event\":".utf8)
            JSONText.append(event, to: &line)
            for field in fields {
                line.append(UInt8(ascii: ","))
                JSONText.append(field.name, to: &line)
                line.append(UInt8(ascii: ":"))
                JSONText.append(field.value, to: &line)
            }
            line.append(UInt8(ascii: "}"))
            write(String(decoding: line, as: UTF8.self))
        }
    }
#endif
