import Chat
import ChatDomain
import ChatTesting
import Foundation
import TestSupport
import Testing

@testable import ChatWire

/// What the chat sends and takes, compared with the schemas of the OpenAPI document.
@Suite struct DescribedAnswersTests {
    /// The document as a server has it.
    static func document() throws -> OrderedJSON {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try OpenAPIDocument.completed(
            Array(try Data(contentsOf: package.appending(path: "Sources/ChatServer/openapi.json"))))
    }

    private static func json(_ value: some Encodable, limit: ListLimit? = nil) throws -> OrderedJSON {
        var line: [UInt8] = []
        try JSONLineEncoder(listLimit: limit).encode(value, into: &line)
        return try OrderedJSON(line)
    }

    /// A sample has nothing that its schema lacks, and all that it requires; together the samples
    /// have all that the schemas have.
    @Test func samplesAndSchemasHaveTheSame() throws {
        var validator = SchemaValidator(try Self.document())
        for (schema, value) in AnswerSamples.all {
            for limit in [nil, ListLimit(count: 2, byteCount: 1 << 20)] {
                let json = try Self.json(value, limit: limit)
                #expect(validator.problems(json, validator.schema(schema), schema) == [])
            }
        }
        // The kinds of events have a test of their own.
        let kinds = EventSchemas.kinds.map { "Event.\($0.name)" }
        let unseen = validator.properties(of: AnswerSamples.all.map(\.schema)).subtracting(validator.seen)
            .filter { !$0.hasPrefix("event.") && !kinds.contains($0) }
        #expect(unseen.sorted() == [])
    }

    /// Each answer of a query has a sample, and an example in the document.
    @Test func everyAnswerHasASampleAndAnExample() throws {
        let document = try Self.document()
        let names = Set(AnswerSamples.all.map(\.schema))
        for path in document["paths"]?.members ?? [] {
            guard let get = path.value["get"], get["tags"]?.lines == "[\"chat\"]\n" else { continue }
            guard let content = get["responses"]?["200"]?["content"]?["application/json"] else { continue }
            let schema = content["schema"]?["$ref"]?.plainText?.split(separator: "/").last.map(String.init) ?? ""
            #expect(names.contains(schema), "no sample of \(schema), the answer of \(path.name)")
            #expect(content["example"] != nil, "\(schema) has no example in openapi.json")
        }
    }

    /// Every command with an effect in a random history, and every event, as the host and as
    /// users are shown it, is described.
    @Test(arguments: [1, Repetitions.seed]) func commandsAndEventsAreDescribed(seed: UInt64) async throws {
        var validator = SchemaValidator(try Self.document())
        let eventSchema = validator.schema("Event")
        var generator = CommandGenerator(seed: seed)
        let community = try Community(seed: seed)
        func check(_ request: CommandRequest) throws {
            guard request.command.kind.form.sender == .client else { return }
            let name = "command.\(request.command.name)"
            let problems = validator.problems(try Self.json(request), validator.schema(name), name)
            #expect(problems == [], "seed \(seed): \(request)")
        }
        for command in CommandSamples.all() {
            try check(CommandRequest(command, correlation: "c", once: CommandID(bits: 1)))
        }
        // Of one seed until every kind has occurred, so that no other is without a kind by chance. No command erases.
        let kinds = Set(EventSchemas.kinds.map(\.name)).subtracting(["userErased"])
        var missing = seed == 1 ? kinds : []
        for number in 0..<20_000 where number < Repetitions.few(250, of: 2_500) || !missing.isEmpty {
            let request = generator.nextRequest()
            // The generator makes commands too that break a rule, of which some have no effect at all.
            let result = try community.store.executeBlocking([request])[0]
            if case .success(let receipt) = result, receipt.positions != nil, !receipt.isDuplicate {
                try check(request)
                missing.subtract(receipt.events.compactMap { $0.kind?.name })
            }
        }
        let end = community.store.head.position
        var users: Set<UserID> = []
        for try await event in community.store.events(upTo: end, matching: EventFilter(as: .host)) {
            if let user = event.user { users.insert(user) }
            guard event.kind.map(EventSchemas.kinds.contains) == true else { continue }
            let problems = validator.problems(try Self.json(event.recorded), eventSchema, "Event")
            #expect(problems == [], "seed \(seed): \(event.recorded)")
        }
        for user in users.sorted(by: { $0.bits < $1.bits }).prefix(3) {
            for try await event in community.store.events(upTo: end, matching: EventFilter(as: .user(user))) {
                let problems = validator.problems(try Self.json(event.recorded), eventSchema, "Event")
                #expect(problems == [], "seed \(seed): \(event.recorded)")
            }
        }
        guard seed == 1 else { return }
        #expect(kinds.filter { !validator.seen.contains("Event.\($0)") } == [])
        let described = validator.properties(
            of: EventSchemas.components.map(\.name) + CommandSchemas.components.map(\.name))
        #expect(
            described.subtracting(validator.seen).sorted() == ["event.userErased.reason", "event.userErased.user"])
    }

    @Test func everyReferenceLeadsToSomething() throws {
        let document = try Self.document()
        func check(_ value: OrderedJSON) {
            switch value {
            case .array(let elements): elements.forEach(check)
            case .object(let members):
                for member in members {
                    guard member.name == "$ref", let text = member.value.plainText else {
                        check(member.value); continue
                    }
                    let steps = text.split(separator: "/").dropFirst().map(String.init)
                    let found = steps.reduce(OrderedJSON?.some(document)) { $0?[$1] }
                    #expect(found != nil, "\(text)")
                }
            case .scalar: break
            }
        }
        check(document)
    }

    /// A route has the parameters of the document, and no other.
    @Test func routesTakeTheDescribedParameters() async throws {
        let document = try Self.document()
        let values = [
            "thread": Village.code, "message": "\(CommandSamples.message)", "reply": "\(CommandSamples.reply)",
            "user": "\(CommandSamples.actor)", "emoji": ":wave:", "at": "2026-11-21T05:03:12Z",
        ]
        let village = try Village()
        let paths = (document["paths"]?.members ?? []).compactMap { path in
            path.value["get"].map { (path: path.name, parameters: $0["parameters"]) }
        }
        func names(_ parameters: OrderedJSON?, in place: String) -> [String] {
            guard case .array(let parameters) = parameters else { return [] }
            return parameters.compactMap { parameter in
                let reference = parameter["$ref"]?.plainText?.split(separator: "/").last
                let described = reference.flatMap { document["components"]?["parameters"]?[String($0)] } ?? parameter
                return described["in"]?.plainText == place ? described["name"]?.plainText : nil
            }
        }
        let all = Set(paths.flatMap { names($0.parameters, in: "query") }).sorted()
        let queries = Set(ChatRoutes.routes.filter { $0.description != nil }.map(\.pattern))
        for (path, parameters) in paths where queries.contains(path) {
            let target = path.split(separator: "/").map { segment in
                segment.hasPrefix("{") ? values[String(segment.dropFirst().dropLast())] ?? "" : String(segment)
            }
            #expect(
                names(parameters, in: "path")
                    == path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                        String($0.dropFirst().dropLast())
                    })
            for name in all {
                let response = await village.community.get(
                    "/\(target.joined(separator: "/"))?\(name)=\(values[name] ?? "1")", as: village.maya)
                let isUnknown = response.text.contains("This route has no such parameter.")
                #expect(isUnknown != names(parameters, in: "query").contains(name), "\(path) \(name): \(response.text)")
            }
        }
    }
}
