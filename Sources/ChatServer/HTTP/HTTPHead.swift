#if Server
    internal import ChatAccounts

    /// The request line and the headers of a request.
    struct HTTPHead: Sendable {
        /// The method as it was sent.
        let method: String
        /// The version, such as `HTTP/1.1`.
        let version: String
        /// The path and the query as they were sent.
        let target: String
        /// The names in lower case, with their values, in the order of the request.
        let headers: [(name: String, value: String)]
        /// The address of the other end of the connection; nil if it has none.
        let peer: ClientAddress?

        /// The value of the first header with a name in lower case.
        subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

        /// The number of headers with a name in lower case.
        func count(of name: String) -> Int { headers.reduce(0) { $0 + ($1.name == name ? 1 : 0) } }

        /// The elements of a list, which can be in several headers of the same name.
        func list(_ name: String) -> [String] {
            headers.filter { $0.name == name }.flatMap { $0.value.split(separator: ",").map(\.trimmingSpaces) }
        }

        /// Whether the method changes nothing.
        var isSafe: Bool { method == "GET" || method == "HEAD" || method == "OPTIONS" }
    }

    extension Substring {
        /// The text without spaces and tabs at its ends.
        var trimmingSpaces: String {
            var rest = self
            while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
            while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
            return String(rest)
        }
    }
#endif
