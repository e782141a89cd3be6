internal import Chat
internal import ChatDomain

/// The OpenAPI document of a server.
///
/// Written by hand are the routes of accounts and those that are no queries, and the schemas of
/// answers. Printed are the queries, the events and the commands, and what many operations and
/// problems have in common:
///
/// - An operation has a default for `operationId`, `security` and each response that all operations
///   of its sort have; a response that is null is left out.
/// - `"x-problem"` of a response has the status, the codes, and the detail and the members of the
///   example. `"x-invalid-body"` has the codes beside those of every body.
/// - `"example"` of a schema becomes that of the answers with it.
package enum OpenAPIDocument {
    /// Completes the part that is written by hand.
    ///
    /// - Throws: `JSONScanError`, or an error of encoding, if the part is not JSON.
    package static func completed(_ byHand: [UInt8]) throws -> OrderedJSON {
        let queries = ChatRoutes.routes.compactMap(\.description)
        var document = try OrderedJSON(byHand)
        var components = document["components"] ?? [:]
        let examples = takeExamples(&components)
        try completeSchemas(&components, queries)
        var parameters = components["parameters"] ?? [:]
        parameters.members += QueryDescription.sharedParameters(of: queries)
        components["parameters"] = parameters
        var responses = components["responses"] ?? [:]
        for index in responses.members.indices { try completeResponse(&responses.members[index].value) }
        components["responses"] = responses
        document["components"] = components
        document["paths"] = try paths(document["paths"] ?? [:], queries, examples)
        return document
    }

    /// Takes the examples out of the schemas, and returns them by the name of the schema.
    private static func takeExamples(_ components: inout OrderedJSON) -> [String: OrderedJSON] {
        var examples: [String: OrderedJSON] = [:]
        guard var schemas = components["schemas"] else { return [:] }
        for schema in schemas.members {
            examples[schema.name] = schema.value["example"]
            schemas[schema.name]?["example"] = nil
        }
        components["schemas"] = schemas
        return examples
    }

    private static func completeSchemas(_ components: inout OrderedJSON, _ queries: [QueryDescription]) throws {
        guard var schemas = components["schemas"] else { return }
        if var event = schemas["Event"] {
            EventSchemas.complete(&event)
            schemas["Event"] = event
        }
        schemas["Answer"]?["properties"]?["rejection"]?["properties"]?["code"]?["x-known-values"] =
            .texts(Rejection.Code.allCases.map(\.rawValue))
        // Several queries have the same page.
        for page in queries.compactMap(\.component) { schemas[page.name] = page.value }
        schemas.members += EventSchemas.components + CommandSchemas.components
        components["schemas"] = schemas
    }

    /// Returns the paths by hand, and those of the queries.
    private static func paths(
        _ byHand: OrderedJSON, _ queries: [QueryDescription], _ examples: [String: OrderedJSON]
    ) throws -> OrderedJSON {
        var paths = byHand
        for query in queries {
            var operation = query.operation
            if let example = query.example(examples) {
                operation["responses"]?["200"]?["content"]?["application/json"]?["example"] = example
            }
            paths[query.path] = ["get": operation]
        }
        for path in paths.members {
            for method in path.value.members {
                paths[path.name]?[method.name] = try completed(method.value, method.name, path.name)
            }
        }
        return paths
    }

    // MARK: Operations

    private static let ofSignedIn: OrderedJSON = [["bearer": []], ["cookie": []], ["cookieOverHTTP": []]]

    private static func completed(_ operation: OrderedJSON, _ method: String, _ path: String) throws -> OrderedJSON {
        let security = operation["security"] ?? ofSignedIn
        var completed: OrderedJSON = [
            "tags": operation["tags"] ?? [], "operationId": operation["operationId"] ?? .text(id(method, path)),
        ]
        for name in ["summary", "description"] { completed[name] = operation[name] }
        completed["security"] = security
        for name in ["parameters", "requestBody"] { completed[name] = operation[name] }
        var responses = operation["responses"] ?? [:]
        var common = [
            ("403", "ForeignOrigin"), ("405", "MethodNotAllowed"), ("421", "Misdirected"), ("500", "Storage"),
            ("503", "Unavailable"),
        ]
        if case .array(let schemes) = security, !schemes.isEmpty { common.append(("401", "NotSignedIn")) }
        if method == "post" { common.append(("413", "TooLarge")) }
        if operation["requestBody"] != nil { common.append(("415", "UnsupportedMediaType")) }
        for (status, name) in common where responses[status] == nil {
            responses[status] = .reference("responses", name)
        }
        responses.members.removeAll { if case .scalar("null") = $0.value { true } else { false } }
        responses.members.sort { $0.name < $1.name }
        for index in responses.members.indices { try completeResponse(&responses.members[index].value) }
        completed["responses"] = responses
        return completed
    }

    /// The method and the words of the path: `getThreadsThreadPins`.
    private static func id(_ method: String, _ path: String) -> String {
        let words = path.split { !$0.isLetter && !$0.isNumber }.filter { $0 != "v1" }
        return method + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    // MARK: Problems

    /// The codes of a body that is not what an operation takes.
    private static let bodyCodes = [
        "unknownField", "notJSON", "invalidUTF8", "tooDeep", "duplicateField", "missingField", "wrongType",
        "invalidValue",
    ]

    private static func completeResponse(_ response: inout OrderedJSON) throws {
        if case .array(let codes) = response["x-invalid-body"] {
            let problem = Problem(
                400, Problem.Code(rawValue: bodyCodes[0]), "there is no such field", field: "colour")
            response["x-invalid-body"] = nil
            response["description"] = "The request is not valid; `code` says why."
            response["content"] = try content(problem, bodyCodes + codes.compactMap(\.plainText))
        }
        if let example = response["x-problem"], case .array(let codes) = example["codes"] {
            let names = codes.compactMap(\.plainText)
            let problem = Problem(
                number(example["status"]) ?? 500, Problem.Code(rawValue: names.first ?? ""),
                example["detail"]?.plainText ?? "", field: example["field"]?.plainText,
                line: number(example["line"]))
            response["x-problem"] = nil
            response["content"] = try content(problem, names)
        }
    }

    private static func number(_ json: OrderedJSON?) -> Int? {
        if case .scalar(let text) = json { Int(text) } else { nil }
    }

    private static func content(_ example: Problem, _ codes: [String]) throws -> OrderedJSON {
        var line: [UInt8] = []
        try JSONLineEncoder().encode(example, into: &line)
        let code: OrderedJSON = ["type": "string", "x-known-values": .texts(codes)]
        return [
            Problem.contentType: [
                "schema": ["allOf": [.schema("Problem"), ["properties": ["code": code]]]],
                "example": try OrderedJSON(line),
            ]
        ]
    }
}
