/// A method and a path with the function that responds to it.
package struct Route<Context: Sendable>: Sendable {
    /// The method in capitals.
    package let method: String
    /// The path, with a name in braces for each segment that varies: `/v1/threads/{thread}`.
    package let pattern: String
    /// Responds; throws a ``Problem`` or a `ChatError`.
    package let respond: @Sendable (Context, RouteParameters) async throws -> WireResponse

    private let segments: [Substring]

    package init(
        _ method: String, _ pattern: String, _ respond: @escaping @Sendable (Context, RouteParameters) async throws -> WireResponse
    ) {
        (self.method, self.pattern, self.respond) = (method, pattern, respond)
        segments = pattern.split(separator: "/")
    }

    /// Returns the values of the segments that vary if the path matches.
    func parameters(of path: [String]) -> RouteParameters? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            if segment.hasPrefix("{"), !text.isEmpty {
                values[String(segment.dropFirst().dropLast())] = text
            } else if segment != text {
                return nil
            }
        }
        return RouteParameters(values: values)
    }
}

/// The segments of a path that vary, by their names in the pattern.
package struct RouteParameters: Sendable {
    let values: [String: String]

    package subscript(_ name: String) -> String {
        guard let value = values[name] else { preconditionFailure("the pattern of the route has no {\(name)}") }
        return value
    }
}

/// Finds the route of a request.
package struct Router<Context: Sendable>: Sendable {
    /// The result of a search.
    package enum Match: Sendable {
        case route(Route<Context>, RouteParameters)
        /// The path exists with these methods only.
        case methodNotAllowed([String])
        case notFound
    }

    package let routes: [Route<Context>]

    package init(_ routes: [Route<Context>]) { self.routes = routes }

    /// Finds the route; `HEAD` finds that of `GET`.
    package func match(method: String, path: [String]) -> Match {
        let found = routes.compactMap { route in route.parameters(of: path).map { (route, $0) } }
        if found.isEmpty { return .notFound }
        if let (route, parameters) = found.first(where: { $0.0.method == (method == "HEAD" ? "GET" : method) }) {
            return .route(route, parameters)
        }
        let methods = Set(found.map(\.0.method))
        return .methodNotAllowed((methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted())
    }
}
