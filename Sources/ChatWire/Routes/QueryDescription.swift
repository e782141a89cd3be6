internal import Chat

/// What the description of the API says of the route of a query, beside the query itself.
package final class QueryDescription: Sendable {
    /// The form of the answer, with the name of a schema.
    package enum Answer: Sendable {
        /// A page of a list: `{"items":[...],"older":12,"newer":40}`.
        case page(of: String)
        /// A list without pages, whose schema has a name of its own: `{"items":[...]}`.
        case list(String, of: String)
        case value(String)
    }

    /// The header `Resume-Token` of the answer, by its name in the document.
    package enum Token: String, Sendable {
        /// The token of the state that the answer shows.
        case exact = "Resume-Token"
        /// The token of that state, or of one shortly before.
        case earlier = "EarlierToken"
    }

    /// The description of a parameter that no other query has.
    package struct Parameter: Sendable {
        let name: String
        let text: String
        let defaultValue: Int?

        package init(_ name: String, _ text: String, default defaultValue: Int? = nil) {
            (self.name, self.text, self.defaultValue) = (name, text, defaultValue)
        }
    }

    /// The words of the query's name: `thread activity`.
    let name: String
    let path: String
    package let summary: String
    let details: String?
    package let answer: Answer
    let isNewestFirst: Bool
    let token: Token?
    let parameters: [QueryParameter]
    let ownParameters: [Parameter]

    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The form of the answer; by default a page has the token of an earlier state.
    ///   - summary: A sentence without its full stop.
    ///   - details: Further sentences.
    ///   - isNewestFirst: Whether a page has its newest item first.
    ///   - token: The token of another answer than a page.
    ///   - ownParameters: The parameters that no other query has.
    init(
        _ query: (some ChatQuery).Type, _ answer: Answer, _ summary: String, _ details: String? = nil,
        isNewestFirst: Bool = false, token: Token? = nil, parameters ownParameters: [Parameter] = []
    ) {
        name = query.name.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
        (path, parameters, self.ownParameters) = (query.path, query.parameters, ownParameters)
        (self.answer, self.summary, self.details, self.isNewestFirst) = (answer, summary, details, isNewestFirst)
        if case .page = answer { self.token = token ?? .earlier } else { self.token = token }
    }
}

// MARK: The document

extension QueryDescription {
    /// The parameters that several queries have, by name.
    private static let sharedTexts: KeyValuePairs = [
        "thread": "A thread.",
        "message": "The id of a message.",
        "reply": "The id of a reply.",
        "user": "The id of a user.",
        "emoji": "Only the reactions with this emoji, or with this name, such as `:wave:`.",
        "limit": "The maximum number of items.",
        "before":
            "Only items before this position. A page has one of `before`, `after`, `around` and `at` at most; without one it has the latest items.",
        "after": "Only items after this position, the earliest ones.",
        "around":
            "Half of the items before this position and half from it on, such as the `position` of a message that a link names. A short half is not made up for by the other.",
        "at": "The earliest items that were recorded at this time of RFC 3339 or later.",
    ]

    /// The descriptions of the parameters that several of the queries have.
    static func sharedParameters(of queries: [QueryDescription]) -> [OrderedJSON.Member] {
        let all = queries.flatMap(\.parameters)
        return sharedTexts.compactMap { name, text in
            all.first { $0.name == name }.map { parameter in
                let value = json(parameter, text, default: name == "limit" ? PageRequest.latest().limit : nil)
                return OrderedJSON.Member(name: name, value: value)
            }
        }
    }

    /// The operation `get` of the path, without what all operations have.
    var operation: OrderedJSON {
        var operation: OrderedJSON = ["tags": ["chat"], "summary": .text(summary)]
        if let details { operation["description"] = .text(details) }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters.map(reference)) }
        var answer: OrderedJSON = ["description": .text("The \(noun).")]
        if let token { answer["headers"] = ["Resume-Token": .reference("headers", token.rawValue)] }
        answer["content"] = ["application/json": ["schema": .schema(schema)]]
        var responses: OrderedJSON = ["200": answer, "400": .reference("responses", "InvalidQuery")]
        if parameters.contains(where: \.isInPath) { responses["404"] = .reference("responses", "NotFound") }
        responses["429"] = .reference("responses", "TooManyRequests")
        operation["responses"] = responses
        return operation
    }

    /// The schema of the answer if it is a page or a list.
    var component: OrderedJSON.Member? {
        var properties: OrderedJSON
        switch answer {
        case .value: return nil
        case .list(_, let item):
            properties = [
                "items": [
                    "type": "array", "items": .schema(item),
                    "maxItems": .number(PageRequest.answerLimits.upperBound),
                ]
            ]
        case .page(let item):
            properties = [
                "items": [
                    "type": "array", "description": isNewestFirst ? "Newest first." : "Oldest first.",
                    "items": .schema(item), "maxItems": .number(PageRequest.answerLimits.upperBound),
                ],
                "older": [
                    "description": "The value for `before` of the page of older items; null if there are none.",
                    "anyOf": [.schema("Position"), ["type": "null"]],
                ],
                "newer": .schema(
                    "Position", "The value for `after` of the page of newer items, which may be empty."),
            ]
        }
        let required = properties.members.map(\.name)
        properties["more"] = .schema("More")
        return OrderedJSON.Member(
            name: schema,
            value: [
                "type": "object", "required": .texts(required), "properties": properties,
                "additionalProperties": false,
            ])
    }

    /// Returns the example of the answer.
    ///
    /// - Parameter examples: The examples of values, by the names of their schemas.
    func example(_ examples: [String: OrderedJSON]) -> OrderedJSON? {
        switch answer {
        case .value(let name): return examples[name]
        case .list(_, let item): return examples[item].map { ["items": [$0]] }
        case .page(let item):
            guard let example = examples[item] else { return nil }
            let key = example["position"] ?? example["since"] ?? example["lastPosition"]
            return ["items": [example], "older": .null, "newer": key ?? 0]
        }
    }

    /// The name of the schema of the answer: `InboxPage` of an `InboxEntry`.
    private var schema: String {
        switch answer {
        case .value(let name): name
        case .list(let name, _): name
        case .page(let item): (item.hasSuffix("Entry") ? String(item.dropLast("Entry".count)) : item) + "Page"
        }
    }

    private var noun: String {
        switch answer {
        case .value: name
        case .list: "list"
        case .page: "page"
        }
    }

    private func reference(_ parameter: QueryParameter) -> OrderedJSON {
        guard let own = ownParameters.first(where: { $0.name == parameter.name }) else {
            return .reference("parameters", parameter.name)
        }
        return Self.json(parameter, own.text, default: own.defaultValue)
    }

    private static func json(_ parameter: QueryParameter, _ text: String, default number: Int?) -> OrderedJSON {
        var json: OrderedJSON = ["name": .text(parameter.name), "in": parameter.isInPath ? "path" : "query"]
        if parameter.isInPath { json["required"] = true }
        json["description"] = .text(text)
        var schema: OrderedJSON
        switch parameter.form {
        case .text: schema = ["type": "string"]
        case .time: schema = ["type": "string", "format": "date-time"]
        case .id: schema = .schema("ID")
        case .thread: schema = .schema("ThreadReference")
        case .position: schema = .schema("Position")
        case .number(let range):
            schema = [
                "type": "integer", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
            ]
        }
        if let number { schema["default"] = .number(number) }
        json["schema"] = schema
        return json
    }
}
