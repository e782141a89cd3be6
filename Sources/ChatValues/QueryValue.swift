internal import ChatDomain

/// A value of a path or a parameter of a query.
protocol QueryValue: LosslessStringConvertible {
    /// What a text must be, for people.
    static var form: String { get }
    /// Stands in for a wrong value of a path until the parameters, which come first, were looked
    /// at.
    static var example: Self? { get }

    /// Creates the value of a text; nil if it is none.
    init?(parameter text: String)
}

extension QueryValue {
    static var example: Self? { nil }
    init?(parameter text: String) { self.init(text) }
}

extension QueryValue where Self: EntityID {
    static var form: String { "an id" }
    static var example: Self? { Self(bits: 0) }
}

extension String: QueryValue {
    static var form: String { "a text" }
}

extension UserID: QueryValue {}
extension MessageID: QueryValue {}
extension ReplyID: QueryValue {}

extension ThreadID: QueryValue {
    init?(parameter text: String) { self.init(idOrOutwardCode: text) }
}

/// The outward code of a thread, which is named by it or by its id.
extension OutwardCode: QueryValue {
    static var form: String { "an outward code" }
    static var example: OutwardCode? { OutwardCode("SW1A") }

    init?(parameter text: String) {
        guard let code = ThreadID(idOrOutwardCode: text)?.outwardCode else { return nil }
        self = code
    }
}

extension Emoji: QueryValue {
    static var form: String { "an emoji of Unicode, or a name such as :wave:" }
}

extension Timestamp: QueryValue {
    static var form: String { "a time such as 2026-11-21T05:03:12Z" }
}
