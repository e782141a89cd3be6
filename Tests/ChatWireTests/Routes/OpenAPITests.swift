import Foundation
import Testing

@testable import ChatWire

/// The routes of the chat, and their description.
@Suite struct OpenAPITests {
    /// Every route of the chat is described; other descriptions are those of the server's own routes.
    @Test func everyRouteIsDescribed() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/ChatServer/openapi.json")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let described = Set(paths.flatMap { path, item in item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" } })
        let routes = ChatRoutes.routes.map(\.name)
        #expect(Set(routes).count == routes.count)
        #expect(Set(routes).subtracting(described).isEmpty)
        let prefixes = ["/v1/me", "/v1/commands", "/v1/threads", "/v1/messages", "/v1/replies", "/v1/invitations", "/v1/events"]
        let chat = described.filter { route in prefixes.contains { route.split(separator: " ")[1].hasPrefix($0) } }
        #expect(chat == Set(routes))
    }
}
