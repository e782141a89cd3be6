public import ChatValues

/// The response to a request of a client, independent of the transport.
public struct WireResponse: Sendable {
    /// The status of HTTP.
    public var status: Int
    /// The headers beside `Content-Length`, as names and values.
    public var headers: [(name: String, value: String)]
    /// The content.
    public var body: Body

    /// The content of a response.
    public enum Body: Sendable {
        /// All bytes; none for an empty content.
        case bytes([UInt8])
        /// Server-Sent Events, until the stream ends.
        case events(EventStream)
    }

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension WireResponse {
    /// Creates a response with the JSON of a value.
    ///
    /// Every list that is a member of an object is cut to 200 items and 512 KiB; the object then
    /// has the member `"more":true`.
    ///
    /// - Throws: `EncodingError` for a number that is not finite, and what the value throws.
    public init(_ status: Int = 200, json value: some Encodable) throws {
        try self.init(status, json: value, of: PageRequest.latest())
    }

    /// Creates a response with the JSON of a value, and with a token if none of its lists is cut.
    ///
    /// - Parameter request: The request of its page.
    /// - Throws: As ``init(_:json:)``.
    init(
        _ status: Int = 200, json value: some Encodable, of request: PageRequest,
        tokenIfWhole resumeToken: ResumeToken? = nil
    ) throws {
        var bytes: [UInt8] = []
        let isWhole = try JSONLineEncoder(listLimit: .answer, page: request).encode(value, into: &bytes)
        self.init(status: status, headers: [("Content-Type", "application/json")], body: .bytes(bytes))
        if isWhole, let resumeToken { headers.append(("Resume-Token", "\(resumeToken)")) }
    }

    /// Creates the response to a request that was not decided.
    public init(_ problem: Problem) {
        var bytes: [UInt8] = []
        // Texts and whole numbers are always encodable.
        do { try JSONLineEncoder().encode(problem, into: &bytes) } catch {
            preconditionFailure("a problem encodes: \(error)")
        }
        self.init(status: problem.status, headers: [("Content-Type", Problem.contentType)], body: .bytes(bytes))
        if let seconds = problem.retryAfter { headers.append(("Retry-After", "\(seconds)")) }
    }

    /// Creates the response to a request whose path has other methods; `GET` includes `HEAD`.
    package init(allowing methods: [String]) {
        let methods = Set(methods)
        self.init(.methodNotAllowed)
        headers.append(
            ("Allow", (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted().joined(separator: ", ")))
    }
}
