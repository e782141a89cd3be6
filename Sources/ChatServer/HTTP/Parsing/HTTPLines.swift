#if Server
    /// Finds the lines of bytes that arrive in parts; each byte is looked at once.
    ///
    /// A line ends with CR LF, and contains no other CR or LF and no control character but a tab:
    /// two programs that take other bytes for an end of a line read different requests.
    struct HTTPLines {
        /// The index of the first byte after the lines that were found.
        private(set) var start = 0
        /// The index of the first byte that was not looked at.
        private var index = 0

        /// Returns the indexes of the next line without its end; nil if its end has not come.
        ///
        /// - Parameters:
        ///   - bytes: All bytes, which begin with those of the last call.
        ///   - limit: The most bytes of the line, with its end; more are the error.
        mutating func next(in bytes: [UInt8], limit: Int, _ error: HTTPError) throws(HTTPError) -> Range<Int>? {
            while index < bytes.count {
                let byte = bytes[index]
                let isAfterReturn = index > start && bytes[index - 1] == 0x0D
                guard isAfterReturn == (byte == 0x0A) else { throw .malformed("A line does not end with CR LF.") }
                guard byte >= 0x20 && byte != 0x7F || byte == 0x09 || byte == 0x0D || byte == 0x0A else {
                    throw .malformed("The head or a line of a chunk has a control character.")
                }
                index += 1
                if index - start > limit { throw error }
                guard byte == 0x0A else { continue }
                defer { start = index }
                return start..<index - 2
            }
            return nil
        }

        /// Passes over bytes that are in no line.
        mutating func skip(_ count: Int) {
            start += count
            index = start
        }

        /// Removes the bytes before ``start``.
        mutating func removePassed(from bytes: inout [UInt8]) {
            bytes.removeFirst(start)
            (start, index) = (0, index - start)
        }
    }
#endif
