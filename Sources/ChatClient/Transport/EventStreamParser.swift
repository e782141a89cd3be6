#if Client || canImport(SQLite3)
    /// Parses a stream of Server-Sent Events (WHATWG HTML, 9.2) from bytes that arrive in any
    /// pieces.
    ///
    /// Events are parsed when they are asked for, so that a small piece with many events does not
    /// become many values at once. A comment is an event without data, because it shows that the
    /// connection lives. An event that the end of the stream cuts is never returned.
    package struct EventStreamParser: Sendable {
        private let limit: Int
        /// The bytes that are not parsed yet.
        private var input: [UInt8] = []
        /// The first byte of the line that is being read, and the first that was not looked at yet.
        private var (lineStart, next) = (0, 0)
        /// Whether the last line has ended with CR, so that an LF is part of the same line end.
        private var followsReturn = false
        private var isAtStart = true

        /// The fields of the event that is being read.
        private var name = ""
        private var data: [UInt8]?
        private var hasID = false
        private var pendingID: String?
        /// The id of the last whole event that had one.
        private var lastID: String?

        /// Creates a parser at the beginning of a stream.
        ///
        /// - Parameter limit: The most bytes of a line, and of the data of an event.
        package init(limit: Int = 16 << 20) { self.limit = limit }

        /// Adds the next bytes of the stream.
        package mutating func append(_ bytes: some Collection<UInt8>) {
            if lineStart > 0 {
                input.removeFirst(lineStart)
                (lineStart, next) = (0, next - lineStart)
            }
            input.append(contentsOf: bytes)
        }

        /// Returns the next event of the bytes so far; nil if it needs more bytes.
        ///
        /// - Throws: ``TransportFailure/answerTooLarge``; the parser is of no more use then.
        package mutating func nextEvent() throws(TransportFailure) -> ServerSentEvent? {
            while let line = try nextLine() {
                if let event = try event(endingWith: line) { return event }
            }
            return nil
        }

        // MARK: Lines

        /// Returns the next whole line without its end; nil if there is none yet.
        private mutating func nextLine() throws(TransportFailure) -> Range<Int>? {
            if followsReturn, next < input.count {
                followsReturn = false
                if input[next] == UInt8(ascii: "\n") { (lineStart, next) = (next + 1, next + 1) }
            }
            guard skipByteOrderMark() else { return nil }
            while next < input.count {
                let byte = input[next]
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                    followsReturn = byte == UInt8(ascii: "\r")
                    let line = lineStart..<next
                    (lineStart, next) = (next + 1, next + 1)
                    return line
                }
                next += 1
                if next - lineStart > limit { throw .answerTooLarge }
            }
            return nil
        }

        /// Skips a byte order mark at the beginning of the stream; returns false if it is not known
        /// yet whether there is one.
        private mutating func skipByteOrderMark() -> Bool {
            guard isAtStart else { return true }
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            guard mark.starts(with: input.prefix(mark.count)) else {
                isAtStart = false
                return true
            }
            guard input.count >= mark.count else { return false }
            isAtStart = false
            (lineStart, next) = (mark.count, mark.count)
            return true
        }

        // MARK: Fields

        /// Processes a line; returns the event that it completes.
        private mutating func event(endingWith line: Range<Int>) throws(TransportFailure) -> ServerSentEvent? {
            if line.isEmpty { return completeEvent() }
            let colon = input[line].firstIndex(of: UInt8(ascii: ":")) ?? line.upperBound
            // A comment in an event says nothing of the event's own id.
            if colon == line.lowerBound { return ServerSentEvent(id: lastID) }
            var value = input[min(colon + 1, line.upperBound)..<line.upperBound]
            if value.first == UInt8(ascii: " ") { value.removeFirst() }
            switch String(decoding: input[line.lowerBound..<colon], as: UTF8.self) {
            case "event": name = String(decoding: value, as: UTF8.self)
            case "data":
                guard (data?.count ?? 0) + value.count < limit else { throw .answerTooLarge }
                if data != nil { data?.append(UInt8(ascii: "\n")) } else { data = [] }
                data?.append(contentsOf: value)
            case "id" where !value.contains(0): (hasID, pendingID) = (true, String(decoding: value, as: UTF8.self))
            // The client has waits of its own, which are random: `retry` says nothing to it.
            default: break
            }
            return nil
        }

        /// Ends the event at an empty line; nil if it has neither data nor an id.
        private mutating func completeEvent() -> ServerSentEvent? {
            defer { (name, data, hasID) = ("", nil, false) }
            if hasID { lastID = pendingID }
            guard hasID || data != nil else { return nil }
            return ServerSentEvent(
                name: name.isEmpty ? "message" : name, id: lastID,
                data: data.map { String(decoding: $0, as: UTF8.self) })
        }
    }
#endif
