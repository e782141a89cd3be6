/// A method and a path with what responds to it.
package struct Route<Handler: Sendable>: Sendable {
    /// The method in capitals.
    package let method: String
    /// The path, with a name in braces for each segment that varies: `/v1/threads/{thread}`.
    package let pattern: String
    /// What the document of the API says of a query; nil for a route that it describes by hand.
    package let description: QueryDescription?
    /// What responds.
    package let handler: Handler

    /// Whether the handler has the answer to other methods too.
    private let takesEveryMethod: Bool
    private let segments: [Substring]

    package init(
        _ method: String, _ pattern: String, description: QueryDescription? = nil, takesEveryMethod: Bool = false,
        _ handler: Handler
    ) {
        (self.method, self.pattern, self.description) = (method, pattern, description)
        (self.takesEveryMethod, self.handler) = (takesEveryMethod, handler)
        segments = pattern.split(separator: "/")
    }

    /// The method and the pattern: `GET /v1/threads/{thread}`.
    package var name: String { "\(method) \(pattern)" }

    func takes(_ method: String) -> Bool { takesEveryMethod || self.method == (method == "HEAD" ? "GET" : method) }

    /// Whether a request exists that both routes take.
    package func overlaps(_ other: Route) -> Bool {
        guard takes(other.method) || other.takes(method), segments.count == other.segments.count else { return false }
        return zip(segments, other.segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") || $1.hasPrefix("{") }
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
public struct RouteParameters: Sendable {
    let values: [String: String]

    /// The text of a segment.
    ///
    /// - Precondition: The pattern of the route has the name.
    public subscript(_ name: String) -> String {
        guard let value = values[name] else { preconditionFailure("the pattern of the route has no {\(name)}") }
        return value
    }
}

/// Finds the route of a request.
package struct Router<Handler: Sendable>: Sendable {
    /// The result of a search.
    package enum Match: Sendable {
        case route(Route<Handler>, RouteParameters)
        /// The path exists, with the methods of these routes only.
        case methodNotAllowed([Route<Handler>])
        case notFound
    }

    private let routes: [Route<Handler>]

    package init(_ routes: [Route<Handler>]) { self.routes = routes }

    /// Finds the route; `HEAD` finds that of `GET`.
    package func match(method: String, path: [String]) -> Match {
        let found = routes.compactMap { route in route.parameters(of: path).map { (route, $0) } }
        if found.isEmpty { return .notFound }
        if let (route, parameters) = found.first(where: { $0.0.takes(method) }) {
            return .route(route, parameters)
        }
        return .methodNotAllowed(found.map(\.0))
    }
}
