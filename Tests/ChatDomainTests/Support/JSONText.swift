import ChatDomain
import Foundation

/// The JSON of a value with its keys in order, so that it can be compared as text.
func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Reads a value from its JSON.
func value<Value: Decodable>(_ type: Value.Type = Value.self, fromJSON text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

/// What is wrong with a JSON text, and where: the path of the field that the error names, and whether the field is one that nobody knows.
struct JSONProblem: Hashable, CustomStringConvertible {
    enum Kind: Hashable {
        case missing, wrongType, corrupted, unknownField
    }

    var kind: Kind
    var path: String

    init(_ kind: Kind, _ path: String) {
        self.kind = kind
        self.path = path
    }

    /// The problem of an error, nil if it is no error of decoding.
    init?(_ error: any Error) {
        guard let error = error as? DecodingError else { return nil }
        func path(_ context: DecodingError.Context) -> String { context.codingPath.map(\.stringValue).joined(separator: ".") }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missing, (context.codingPath.map(\.stringValue) + [key.stringValue]).joined(separator: "."))
        case .typeMismatch(_, let context): self.init(.wrongType, path(context))
        // Which of the two a null is differs from one type of value to another.
        case .valueNotFound(_, let context): self.init(.wrongType, path(context))
        case .dataCorrupted(let context):
            self.init(context.underlyingError is UnknownFieldError ? .unknownField : .corrupted, path(context))
        @unknown default: return nil
        }
    }

    /// Reads a JSON text as a type, and says what is wrong with it; nil, if nothing is.
    static func of<Value: Decodable>(_ text: String, as type: Value.Type) -> JSONProblem? {
        do {
            _ = try value(type, fromJSON: text)
            return nil
        } catch {
            return JSONProblem(error)
        }
    }

    var description: String { "\(kind) at \(path.isEmpty ? "the top" : path)" }
}
