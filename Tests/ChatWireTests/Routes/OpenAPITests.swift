import ChatDomain
import Foundation
import Testing

@testable import ChatWire

/// The routes of the chat, and their description.
@Suite struct OpenAPITests {
    private func document() throws -> [String: Any] {
        let text = try DescribedAnswersTests.document().lines
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Returns the value at a path of members.
    private func value(at path: String...) throws -> [String: Any] {
        try path.reduce(try document()) { try #require($0[$1] as? [String: Any], "\($1)") }
    }

    /// A client accepts later codes and kinds, so they are no `enum`; the known ones are those of
    /// this version.
    @Test func knownCodesAndKindsAreThoseOfTheRules() throws {
        let codes = try value(at: "components", "schemas", "Answer", "properties", "rejection", "properties", "code")
        #expect(codes["x-known-values"] as? [String] == Rejection.Code.allCases.map(\.rawValue))
        #expect(codes["enum"] == nil)
        let event = try value(at: "components", "schemas", "Event")
        let kinds = (event["x-one-of"] as? [[String: [String]]] ?? []).compactMap { $0["required"]?.first }
        let hidden: Set<EventKind> = [.lost, .contentErased, .clockCorrected, .historyRepaired]
        #expect(Set(kinds) == Set(EventKind.allCases.filter { !hidden.contains($0) }.map(\.name)))
        #expect(Set(kinds).isSubset(of: try #require(event["properties"] as? [String: Any]).keys))
        #expect(event["additionalProperties"] as? Bool == true)
    }

    /// Every route of the chat is described; other descriptions are those of the server's own
    /// routes.
    @Test func everyRouteIsDescribed() throws {
        let document = try document()
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let described = Set(
            paths.flatMap { path, item in item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" } })
        let routes = ChatRoutes.routes.map(\.name)
        #expect(Set(routes).count == routes.count)
        #expect(Set(routes).subtracting(described).isEmpty)
        let prefixes = [
            "/v1/me", "/v1/people", "/v1/commands", "/v1/directory", "/v1/threads", "/v1/messages", "/v1/replies",
            "/v1/invitations",
            "/v1/inbox",
            "/v1/events",
        ]
        // It needs the accounts too.
        let chat = described.subtracting(["POST /v1/me/export"]).filter { route in
            prefixes.contains { route.split(separator: " ")[1].hasPrefix($0) }
        }
        #expect(chat == Set(routes))
    }
}
