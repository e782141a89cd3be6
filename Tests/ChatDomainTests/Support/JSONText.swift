import ChatDomain
import Foundation

/// Encodes a value as JSON with sorted keys, for comparison as text.
func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Decodes a value from JSON text.
func value<Value: Decodable>(_ type: Value.Type = Value.self, fromJSON text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

/// The kind of a JSON error, and the path of the invalid field.
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

    /// Returns the problem of a decoding error, or nil for other errors.
    init?(_ error: any Error) {
        guard let error = error as? DecodingError else { return nil }
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missing, (context.codingPath.map(\.stringValue) + [key.stringValue]).joined(separator: "."))
        case .typeMismatch(_, let context): self.init(.wrongType, path(context))
        // Which of the two a null causes depends on the type of the value.
        case .valueNotFound(_, let context): self.init(.wrongType, path(context))
        case .dataCorrupted(let context):
            self.init(context.underlyingError is UnknownFieldError ? .unknownField : .corrupted, path(context))
        @unknown default: return nil
        }
    }

    /// Decodes a JSON text as a type.
    ///
    /// Returns its problem, or nil if it decodes.
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
