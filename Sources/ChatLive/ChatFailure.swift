public import ChatDomain

/// The error of a chat, whether a store or a server is behind it.
///
/// The description is the code, a colon, and the sentence.
public protocol ChatFailure: Error, Sendable, CustomStringConvertible {
    /// The rejection, if a rule rejected the command or the query.
    var rejection: Rejection? { get }
}

extension ChatFailure {
    /// A stable name of what went wrong, such as `notAMember`: the key of a translation.
    public var code: String { String(description.prefix { $0 != ":" }) }

    /// What is wrong, in English, for people; it may change between versions.
    public var sentence: String { String(description.dropFirst(code.count + 2)) }
}
