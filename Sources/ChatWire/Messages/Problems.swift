public import ChatValues

/// The problems of every server.
extension Problem {
    /// The same for what does not exist and for what the user may not see.
    public static let notFound = Problem(404, .notFound, "There is nothing here that you can see.")
    /// The problem of a path that exists with other methods; the response has the header `Allow`.
    package static let methodNotAllowed = Problem(405, .methodNotAllowed, "This path exists with other methods.")
    package static let closing = Problem(503, .closing, "The server is closing.", retryAfter: 1)
    package static let storage = Problem(500, .storage, "The journal cannot be read or written.")

    /// The problem of a body that does not decode.
    package init(_ error: LineError, line: Int? = nil) {
        self.init(400, Code(rawValue: error.code.rawValue), error.description, field: error.field, line: line)
    }
}

extension CommandAnswer {
    /// The answer to a line that is not a command.
    package init(line: Int, _ error: LineError) {
        self.init(line: line, outcome: .error(code: error.code.rawValue, message: error.description))
    }
}
