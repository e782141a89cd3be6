import Foundation

@testable import ChatWire

/// Compares JSON with the schemas of the OpenAPI document, as `Tests/checks/openapi.py` does.
///
/// A keyword that it does not know is a problem, so that no rule is skipped.
struct SchemaValidator {
    private static let annotations: Set = ["description", "default", "example", "format"]

    let document: OrderedJSON
    /// The properties that samples had: `Message.body`, and `Thread.me.standing` of a schema inside
    /// another one.
    private(set) var seen: Set<String> = []

    init(_ document: OrderedJSON) { self.document = document }

    /// The schema with a name; an empty one for an unknown name.
    func schema(_ name: String) -> OrderedJSON { document["components"]?["schemas"]?[name] ?? [:] }

    /// Returns what is wrong with a value, and notes which properties it has.
    mutating func problems(_ value: OrderedJSON, _ schema: OrderedJSON, _ place: String) -> [String] {
        var problems: [String] = []
        for rule in schema.members where !Self.annotations.contains(rule.name) {
            problems += self.problems(value, rule.name, rule.value, schema, place)
        }
        return problems
    }

    private mutating func problems(
        _ value: OrderedJSON, _ keyword: String, _ rule: OrderedJSON, _ schema: OrderedJSON, _ place: String
    ) -> [String] {
        func unless(_ isValid: Bool) -> [String] { isValid ? [] : ["\(place): \(keyword) \(rule.text): \(value.text)"] }
        switch keyword {
        case "$ref":
            let name = rule.plainText?.split(separator: "/").last.map(String.init) ?? ""
            return problems(value, self.schema(name), name)
        case "type": return unless(rule.texts.contains(value.type) || rule.plainText == value.type)
        case "const", "x-const": return unless(value.text == rule.text)
        case "enum", "x-known-values": return unless(rule.elements.contains { $0.text == value.text })
        case "allOf": return rule.elements.flatMap { problems(value, $0, place) }
        case "anyOf", "oneOf", "x-one-of":
            // What the parts that are not valid have noted does not count.
            let before = seen
            var (found, noted, all) = (0, before, [String]())
            for part in rule.elements {
                seen = before
                let wrong = problems(value, part, place)
                if wrong.isEmpty { (found, noted) = (found + 1, noted.union(seen)) }
                all += wrong
            }
            seen = noted
            return found == 1 || (found > 1 && keyword == "anyOf") ? [] : ["\(place): \(found) of \(keyword)"] + all
        case "required":
            return rule.texts.filter { value[$0] == nil }.map { "\(place): \($0) is missing: \(value.text)" }
        case "properties":
            return value.members.flatMap { member -> [String] in
                guard let property = rule[member.name] else { return [] }
                seen.insert("\(place).\(member.name)")
                return problems(member.value, property, "\(place).\(member.name)")
            }
        case "additionalProperties", "x-additional-properties":
            guard rule.text == "false" else { return [] }
            return value.members.filter { schema["properties"]?[$0.name] == nil }.map {
                "\(place): \($0.name) is not described: \(value.text)"
            }
        case "items": return value.elements.flatMap { problems($0, rule, place + "[]") }
        case "minItems": return unless(value.elements.count >= rule.number || value.type != "array")
        case "maxItems": return unless(value.elements.count <= rule.number)
        case "uniqueItems": return unless(Set(value.elements.map(\.text)).count == value.elements.count)
        case "minLength": return unless(value.characters.count >= rule.number || value.type != "string")
        case "maxLength": return unless(value.characters.count <= rule.number)
        case "minimum": return unless(value.number >= rule.number || value.type != "integer")
        case "maximum": return unless(value.number <= rule.number || value.type != "integer")
        case "pattern":
            guard value.type == "string" else { return [] }
            return unless(value.characters.range(of: rule.characters, options: .regularExpression) != nil)
        default: return ["\(place): the validator does not know \(keyword)"]
        }
    }

    /// Returns the properties that a schema has, with those of the schemas that it refers to.
    func properties(of names: some Sequence<String>) -> Set<String> {
        var (found, done, open) = (Set<String>(), Set<String>(), Array(names))
        func visit(_ schema: OrderedJSON, _ place: String) {
            for member in schema.members {
                switch member.name {
                case "$ref": open.append(member.value.plainText?.split(separator: "/").last.map(String.init) ?? "")
                case "properties":
                    for property in member.value.members {
                        found.insert("\(place).\(property.name)")
                        visit(property.value, "\(place).\(property.name)")
                    }
                case "items": visit(member.value, place + "[]")
                default: member.value.elements.forEach { visit($0, place) }
                }
            }
        }
        while let name = open.popLast() {
            if done.insert(name).inserted { visit(schema(name), name) }
        }
        return found
    }
}

extension OrderedJSON {
    /// The value as compact JSON text, in lines if it is long.
    fileprivate var text: String { String(lines.dropLast()) }

    fileprivate var elements: [OrderedJSON] { if case .array(let elements) = self { elements } else { [] } }

    fileprivate var texts: [String] { elements.compactMap(\.plainText) }

    fileprivate var number: Int { Int(text) ?? 0 }

    /// The characters of a text, without its escapes.
    fileprivate var characters: String {
        guard case .scalar(let json) = self, json.hasPrefix("\"") else { return "" }
        return (try? JSONDecoder().decode(String.self, from: Data(json.utf8))) ?? ""
    }

    fileprivate var type: String {
        switch self {
        case .object: "object"
        case .array: "array"
        case .scalar("null"): "null"
        case .scalar("true"), .scalar("false"): "boolean"
        case .scalar(let json): json.hasPrefix("\"") ? "string" : "integer"
        }
    }
}
