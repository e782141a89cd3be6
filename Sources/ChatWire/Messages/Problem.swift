/// The answer to a request that was not decided: a problem of RFC 9457 with a stable code.
///
/// A command that a rule rejects is decided; its answer is a ``CommandAnswer``.
public struct Problem: Error, Hashable, Sendable {
    /// The status of HTTP.
    public let status: Int
    /// The reason, as a code that is stable across versions.
    public let code: Code
    /// A description for people; it may change between versions.
    public let detail: String
    /// The path of the wrong field in the body, such as `postMessage.body`; nil if it is not one
    /// field.
    public var field: String?
    /// The number of the wrong command in a batch, from 1.
    public var line: Int?
    /// The seconds after which the same request can succeed, also in the header `Retry-After`.
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

    /// A stable name of a reason; later versions may add more.
    ///
    /// A problem of a body has the code of the tool's `error`, such as `notJSON` or `unknownField`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable text.
        public let rawValue: String

        /// Creates the code with a text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The stable text.
        public var description: String { rawValue }

        /// Nothing exists here, or the user may not see it.
        public static let notFound = Code(rawValue: "notFound")
        /// The path exists with other methods.
        public static let methodNotAllowed = Code(rawValue: "methodNotAllowed")
        /// A parameter of the query is unknown, repeated or not valid.
        public static let invalidQuery = Code(rawValue: "invalidQuery")
        /// The resume token does not belong to the history of this journal.
        public static let invalidToken = Code(rawValue: "invalidToken")
        /// The acting field of a command names another user than the session's.
        public static let anotherUser = Code(rawValue: "anotherUser")
        /// Clients may not send this command.
        public static let commandNotAllowed = Code(rawValue: "commandNotAllowed")
        /// The body or the batch is too large.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The server is closing.
        public static let closing = Code(rawValue: "closing")
        /// The journal cannot be read or written.
        public static let storage = Code(rawValue: "storage")
        /// The disk is full.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The clock of the server cannot be believed.
        public static let clockStepped = Code(rawValue: "clockStepped")
    }

    /// The same for what does not exist and for what the user may not see.
    public static let notFound = Problem(404, .notFound, "There is nothing here that you can see.")
    /// The problem of a path that exists with other methods; the response has the header `Allow`.
    package static let methodNotAllowed = Problem(405, .methodNotAllowed, "This path exists with other methods.")
    package static let closing = Problem(503, .closing, "The server is closing.", retryAfter: 1)
    package static let storage = Problem(500, .storage, "The journal cannot be read or written.")
}

extension Problem: Encodable {
    private enum CodingKeys: CodingKey { case type, title, status, code, detail, field, line, retryAfter }

    /// The media type of the JSON form.
    public static let contentType = "application/problem+json"

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
}

extension Problem {
    /// The problem of a body that does not decode.
    package init(_ error: LineError, line: Int? = nil) {
        self.init(400, Code(rawValue: error.code.rawValue), error.description, field: error.field, line: line)
    }
}
