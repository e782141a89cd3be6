public import ChatDomain

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The error of a chat, whether a store or a server is behind it.
///
/// The description is the code, a colon, and the sentence; the localized description is the
/// sentence.
public protocol ChatFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The rejection, if a rule rejected the command or the query.
    var rejection: Rejection? { get }
}

extension ChatFailure {
    /// A stable name of what went wrong, such as `notAMember`: the key of a translation.
    public var code: String { String(description.prefix { $0 != ":" }) }

    /// Whether the user may not read what was asked for: a server says `notFound`, whatever the rule.
    var isRefusal: Bool { rejection != nil || code == "notFound" }

    /// What is wrong, in English, for people; it may change between versions.
    public var sentence: String { String(description.dropFirst(code.count + 2)) }

    /// The ``sentence``, as the localized description.
    public var errorDescription: String? { sentence }
    // In this file, so that an error of another module needs no import of Foundation.
    /// Nil: the sentence has the reason.
    public var failureReason: String? { nil }
    /// Nil: the sentence says what to do.
    public var recoverySuggestion: String? { nil }
    /// Nil: there is no book of help.
    public var helpAnchor: String? { nil }
}
