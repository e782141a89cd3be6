/// The answer to a request that was not carried out: a problem of RFC 9457 with a stable code.
///
/// A server sends it and a client decodes it. A command that a rule rejects is decided; its answer
/// is a ``CommandAnswer``.
public struct Problem: Error, Hashable, Sendable {
    /// The media type of the JSON form.
    public static let contentType = "application/problem+json"

    /// The status of HTTP.
    public var status: Int
    /// The reason, as a code that is stable across versions.
    public var code: Code
    /// A description for people; it may change between versions.
    public var detail: String
    /// The path of the wrong field in the body, such as `postMessage.body`; nil if it is not one
    /// field.
    public var field: String?
    /// The number of the wrong command in a batch, from 1; nil if it is not one command.
    public var line: Int?
    /// The seconds after which the same request can succeed, also in the header `Retry-After`; nil
    /// if the server gives none.
    public var retryAfter: Int?

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - status: A status of HTTP from 400 to 599.
    ///   - code: The reason.
    ///   - detail: A description for people.
    ///   - field: The path of the wrong field.
    ///   - line: The number of the wrong command, from 1.
    ///   - retryAfter: The seconds after which the same request can succeed.
    public init(
        _ status: Int, _ code: Code, _ detail: String, field: String? = nil, line: Int? = nil, retryAfter: Int? = nil
    ) {
        (self.status, self.code, self.detail) = (status, code, detail)
        (self.field, self.line, self.retryAfter) = (field?.isEmpty == true ? nil : field, line, retryAfter)
    }

    /// A stable name of a reason; later versions, and host programs, may have more.
    ///
    /// A problem of a body has the code of the tool's `error`, such as `notJSON` or `unknownField`.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The stable text.
        public let rawValue: String

        /// Creates the code with a text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The stable text.
        public var description: String { rawValue }
    }
}

extension Problem: CustomStringConvertible {
    /// The code and the detail.
    public var description: String { "\(code): \(detail)" }
}

// MARK: Reasons

/// The reasons of any request.
extension Problem.Code {
    /// Nothing exists here, or the user may not see it.
    public static let notFound = Self(rawValue: "notFound")
    /// The path exists with other methods.
    public static let methodNotAllowed = Self(rawValue: "methodNotAllowed")
    /// A parameter of the query is unknown, repeated or not valid.
    public static let invalidQuery = Self(rawValue: "invalidQuery")
    /// The resume token does not belong to the history of this journal.
    public static let invalidToken = Self(rawValue: "invalidToken")
    /// The acting field of a command names another user than the session's.
    public static let anotherUser = Self(rawValue: "anotherUser")
    /// Clients may not send this command.
    public static let commandNotAllowed = Self(rawValue: "commandNotAllowed")
    /// The body or the batch is too large.
    public static let tooLarge = Self(rawValue: "tooLarge")
    /// The body is not `application/json`.
    public static let unsupportedMediaType = Self(rawValue: "unsupportedMediaType")
    /// The request is not one of HTTP/1.1, or its headers contradict one another.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// A header that decides something, such as `Cookie` or `Host`, is there twice.
    public static let invalidHeader = Self(rawValue: "invalidHeader")
    /// The request comes from a page of another origin.
    public static let foreignOrigin = Self(rawValue: "foreignOrigin")
    /// The header `Host` does not name this server.
    public static let misdirectedRequest = Self(rawValue: "misdirectedRequest")
    /// The request is no handshake of a WebSocket.
    public static let upgradeRequired = Self(rawValue: "upgradeRequired")
}

/// The reasons of a server that cannot carry out any request now.
extension Problem.Code {
    /// The server is closing.
    public static let closing = Self(rawValue: "closing")
    /// A bounded queue is full; the same request can succeed later.
    public static let busy = Self(rawValue: "busy")
    /// The user has used up a limit of the server; the same request can succeed later.
    public static let tooManyRequests = Self(rawValue: "tooManyRequests")
    /// The journal or the accounts cannot be read or written.
    public static let storage = Self(rawValue: "storage")
    /// The disk of the server is full; nothing was appended.
    public static let storageFull = Self(rawValue: "storageFull")
    /// The clock of the server cannot be believed; nothing was appended.
    public static let clockStepped = Self(rawValue: "clockStepped")
    /// The server that writes, to which this server passes requests, cannot be reached; it may have
    /// carried out the request.
    public static let writerUnavailable = Self(rawValue: "writerUnavailable")
    /// A route of the host program has failed with an error that is no problem.
    public static let hostFailed = Self(rawValue: "hostFailed")
}

/// The reasons of accounts and sessions.
extension Problem.Code {
    /// The request needs a session.
    public static let notSignedIn = Self(rawValue: "notSignedIn")
    /// The account of the session was deleted.
    public static let accountDeleted = Self(rawValue: "accountDeleted")
    /// The e-mail address or the password is wrong.
    public static let invalidCredentials = Self(rawValue: "invalidCredentials")
    /// The code of the mail is wrong, used up or too old.
    public static let invalidCode = Self(rawValue: "invalidCode")
    /// The text is no e-mail address.
    public static let invalidEmail = Self(rawValue: "invalidEmail")
    /// The password is too short or too long.
    public static let invalidPassword = Self(rawValue: "invalidPassword")
    /// The password is one of the most common ones.
    public static let commonPassword = Self(rawValue: "commonPassword")
    /// The username is not valid.
    public static let invalidUsername = Self(rawValue: "invalidUsername")
    /// Another user has this username; confirm again with the same code and another one.
    public static let usernameTaken = Self(rawValue: "usernameTaken")
    /// The label of the device is too long, or has control characters.
    public static let invalidDevice = Self(rawValue: "invalidDevice")
    /// The account is confirmed, but its username was taken: confirm again with another one.
    public static let notRegistered = Self(rawValue: "notRegistered")
}

// MARK: JSON

extension Problem: Codable {
    private enum CodingKeys: CodingKey { case type, title, status, code, detail, field, line, retryAfter }

    /// Encodes the members of RFC 9457 and `code`; the others only if they are known.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("about:blank", forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status, forKey: .status)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(detail, forKey: .detail)
        try container.encodeIfPresent(field, forKey: .field)
        try container.encodeIfPresent(line, forKey: .line)
        try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
    }

    /// Decodes the form that `encode(to:)` writes, of which only `code` is required.
    ///
    /// A status that is absent is 500; the status of the response decides.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decodeIfPresent(Int.self, forKey: .status) ?? 500,
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            try container.decodeIfPresent(String.self, forKey: .detail) ?? "",
            field: try container.decodeIfPresent(String.self, forKey: .field),
            line: try container.decodeIfPresent(Int.self, forKey: .line),
            retryAfter: try container.decodeIfPresent(Int.self, forKey: .retryAfter))
    }

    /// The standard phrase of the status.
    public var title: String { Self.title(of: status) }

    /// The standard phrase of the status of a problem.
    package static func title(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        // A status of a host program, which need not be registered.
        default: status < 500 ? "Client Error" : "Server Error"
        }
    }
}
