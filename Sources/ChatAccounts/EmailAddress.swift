#if Server
    /// An e-mail address that is safe in a header of a mail.
    ///
    /// ASCII, at most 254 bytes: a dot-atom of RFC 5322 of at most 64 bytes, one `@`, and a domain
    /// name. An internationalised domain is written in its ASCII form. Quoted local parts and
    /// comments are not accepted. The domain is stored in lower case.
    public struct EmailAddress: Hashable, Sendable {
        /// The address; the local part as it was entered.
        public let text: String
        /// The address in lower case; two addresses with the same key are the same.
        public let key: String

        /// Creates an address, or nil if the text is not valid.
        public init?(_ text: String) {
            guard text.utf8.count <= 254 else { return nil }
            let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
            guard parts.count == 2, (1...64).contains(parts[0].count) else { return nil }
            let atoms = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard atoms.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAtomText) }) else { return nil }
            let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let hyphen = UInt8(ascii: "-")
            guard
                labels.allSatisfy({ label in
                    (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                        && label.allSatisfy { Self.isLetterOrDigit($0) || $0 == hyphen }
                })
            else { return nil }
            guard let local = String(parts[0]), let domain = String(parts[1])?.lowercased() else { return nil }
            self.text = local + "@" + domain
            key = local.lowercased() + "@" + domain
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }

        private static func isAtomText(_ byte: UInt8) -> Bool {
            isLetterOrDigit(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }
#endif
