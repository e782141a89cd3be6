internal import ChatDomain

/// A value of the path or a parameter of a query, as a request has it.
package struct QueryParameter: Hashable, Sendable {
    /// What the text must be.
    package enum Form: Hashable, Sendable {
        /// Any text, a time, an id, or a thread by its id or its outward code.
        case text, time, id, thread
        /// A whole number; without a range a position.
        case number(ClosedRange<Int>), position
    }

    /// The name.
    package let name: String
    /// What the text must be.
    package let form: Form
    /// Whether it is a segment of the path.
    package let isInPath: Bool
}

extension QueryParameter {
    /// The values of a property: those of a page, or one.
    static func values(
        of type: any Decodable.Type, _ name: String, isInPath: Bool, _ range: ClosedRange<Int>?
    ) -> [QueryParameter] {
        if type == PageRequest.self {
            return [
                QueryParameter(name: "limit", form: .number(PageRequest.answerLimits), isInPath: false),
                QueryParameter(name: "before", form: .position, isInPath: false),
                QueryParameter(name: "after", form: .position, isInPath: false),
                QueryParameter(name: "around", form: .position, isInPath: false),
                QueryParameter(name: "at", form: .time, isInPath: false),
            ]
        }
        let form: Form =
            switch type {
            case is Int.Type: .number(range ?? 0...Int.max)
            case is Position.Type: .position
            case let type as any QueryValue.Type: type.parameterForm
            default: .text
            }
        return [QueryParameter(name: name, form: form, isInPath: isInPath)]
    }

    /// Returns a value that stands in for a property, so that a query asks for the next one; nil
    /// for a type that has none.
    static func example(of type: any Decodable.Type) -> (any Decodable)? {
        switch type {
        case is PageRequest.Type: PageRequest.latest()
        case is Int.Type: 0
        case is Position.Type: Position(0)
        case is String.Type: ""
        case let type as any QueryValue.Type: type.example as? any Decodable
        default: nil
        }
    }
}

extension ChatQuery {
    /// What a request can have, in the order of the properties: what the query asks its decoder for.
    package static var parameters: [QueryParameter] {
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let texts = ReceivedTexts(
            path: Dictionary(uniqueKeysWithValues: names.map { ($0, "") }), parameters: [], ranges: ranges, asked: [])
        _ = try? Self(from: ParameterDecoder(texts: texts, key: nil))
        return texts.asked ?? []
    }
}
