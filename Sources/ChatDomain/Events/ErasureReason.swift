/// The reason of an erasure: a code, not a text, because it is never erased.
package enum ErasureReason {
    static let maximumByteCount = 32

    /// Whether a text is 1 to 32 lower-case ASCII letters, digits and hyphens.
    package static func isValid(_ text: String) -> Bool {
        (1...maximumByteCount).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension ChatEvent {
    /// The maximum number of ranges in one event of an erasure.
    ///
    /// Each takes at most 20 bytes, and a kept part has at most 65,000 (EventJournal, Format).
    package static let maximumErasedRangeCount = 3_000
}
