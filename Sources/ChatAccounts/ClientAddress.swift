#if Server
    /// The network address of a client, as far as limits need it.
    public struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
        private let bytes: [UInt8]
        /// Whether the address is on loopback: `127.0.0.0/8` or `::1`.
        ///
        /// Such an address is a shared one: a proxy that was not declared, or the programs of this
        /// machine. Its limits are 100 times as large as those of another address.
        public let isLoopback: Bool

        /// Creates an address from its 4 or 16 bytes; nil for another count.
        ///
        /// An IPv6 address is reduced to its first 64 bits, because one client usually has all of
        /// them. An IPv4 address in IPv6 form (`::ffff:0:0/96`) is the IPv4 address.
        public init?(bytes: [UInt8]) {
            switch bytes.count {
            case 4:
                self.bytes = bytes
                isLoopback = bytes[0] == 127
            case 16:
                let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
                self.bytes = isMapped ? Array(bytes[12...]) : Array(bytes[..<8])
                isLoopback = isMapped ? bytes[12] == 127 : bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
            default: return nil
            }
        }

        /// Creates an address from its text, as in `X-Forwarded-For`; nil for any other text.
        ///
        /// An IPv4 address is four decimal numbers without leading zeros; an IPv6 address has the
        /// form of RFC 4291, section 2.2, in which `::` is at least one group. Names, spaces,
        /// ports, brackets, zones and prefix lengths are not accepted. No name is looked up.
        public init?(text: String) {
            // The longest form: six groups and an IPv4 address.
            guard text.utf8.count <= 45 else { return nil }
            let text = Array(text.utf8)
            guard let bytes = Self.version4(text[...]) ?? Self.version6(text) else { return nil }
            self.init(bytes: bytes)
        }

        /// The text that ``init(text:)`` reads; the last 64 bits of an IPv6 address are zero,
        /// except for `::1`.
        public var description: String {
            if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
            if isLoopback { return "::1" }
            let groups = stride(from: 0, to: 8, by: 2).map {
                String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
            }
            return groups.joined(separator: ":") + "::"
        }

        private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
            let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part -> UInt8? in
                guard part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
                return number(part, radix: 10)
            }
            return parts.count == 4 && numbers.count == 4 ? numbers : nil
        }

        private static func version6(_ text: [UInt8]) -> [UInt8]? {
            let colon = UInt8(ascii: ":")
            // The first `::`; a second one leaves an empty group.
            guard let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon }) else {
                return groups(text[...], isLast: true).flatMap { $0.count == 16 ? $0 : nil }
            }
            guard let head = groups(text[..<gap], isLast: false), let tail = groups(text[(gap + 2)...], isLast: true),
                head.count + tail.count <= 14
            else { return nil }
            return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
        }

        /// Returns the bytes of groups of hexadecimal digits; the last one can be an IPv4 address.
        private static func groups(_ text: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
            if text.isEmpty { return [] }
            let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            var bytes: [UInt8] = []
            for (index, part) in parts.enumerated() {
                if isLast, index == parts.count - 1, let address = version4(part) {
                    bytes += address
                } else {
                    guard part.count <= 4, let group: UInt16 = number(part, radix: 16) else { return nil }
                    bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
                }
            }
            return bytes
        }

        /// Returns the number of 1 or more digits, without a sign.
        private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>, radix: Int) -> Number? {
            guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
            return Number(String(decoding: digits, as: UTF8.self), radix: radix)
        }
    }
#endif
