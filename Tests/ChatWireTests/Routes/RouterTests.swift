import Testing

@testable import ChatWire

/// Which route a method and a path have.
@Suite struct RouterTests {
    private let router = Router<Int>(
        [
            ("GET", "/v1/a"), ("POST", "/v1/a"), ("GET", "/v1/a/{x}"), ("DELETE", "/v1/a/{x}"), ("POST", "/v1/b"),
            ("GET", "/v1/a/{x}/c/{y}"),
        ]
        .map { Route($0.0, $0.1, 0) })

    private func found(_ method: String, _ path: String...) -> String {
        switch router.match(method: method, path: path) {
        case .route(let route, let parameters):
            "\(route.name) \(parameters.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined())"
        case .methodNotAllowed(let routes): WireResponse(allowing: routes.map(\.method)).headers.last?.value ?? ""
        case .notFound: "none"
        }
    }

    @Test func methodAndPathSelectARoute() {
        #expect(found("GET", "v1", "a") == "GET /v1/a ")
        #expect(found("POST", "v1", "a") == "POST /v1/a ")
        #expect(found("DELETE", "v1", "a", "7") == "DELETE /v1/a/{x} x=7")
        #expect(found("GET", "v1", "a", "7", "c", "b/c") == "GET /v1/a/{x}/c/{y} x=7y=b/c")
    }

    @Test func headHasTheRouteOfGet() {
        #expect(found("HEAD", "v1", "a") == "GET /v1/a ")
        #expect(found("HEAD", "v1", "b") == "POST")
    }

    @Test func otherMethodsAreNotAllowed() {
        #expect(found("PUT", "v1", "a") == "GET, HEAD, POST")
        #expect(found("get", "v1", "a") == "GET, HEAD, POST")
        #expect(found("POST", "v1", "a", "7") == "DELETE, GET, HEAD")
        #expect(found("GET", "v1", "b") == "POST")
        #expect(found("", "v1", "b") == "POST")
    }

    @Test func otherPathsDoNotExist() {
        for path in [
            ["v1"], ["v1", "A"], ["v1", "a", "7", "c"], ["", "v1", "a"], ["v1", "b", ""], [], ["v1", "a", ""],
            ["v1", "a", "", "c", "d"],
        ] {
            guard case .notFound = router.match(method: "GET", path: path) else {
                Issue.record("\(path) has a route")
                continue
            }
        }
    }

    /// A name in braces is a pattern only; a client's path is text.
    @Test func bracesInAPathAreText() {
        #expect(found("GET", "v1", "a", "{x}") == "GET /v1/a/{x} x={x}")
    }
}
