import ChatDomain
import Locking

/// Collects the unknown fields of lines, which are otherwise an error of decoding.
///
/// ```swift
/// let fields = IgnoredFields()
/// decoder.userInfo[IgnoredFields.key] = fields
/// let line = try decoder.decode(ImportedLine.self, from: data)
/// rejected += try importer.add(line, line: number, ignoredFields: fields.take())
/// ```
public final class IgnoredFields: Sendable {
    /// The key in a decoder's `userInfo`.
    public static let key: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "ChatJournal.ignoredFields") else {
            preconditionFailure("A key has a name.")
        }
        return key
    }()

    private let names = Lock<[String]>([])

    /// Creates an empty collection.
    public init() {}

    /// Returns the names of the fields that were ignored since the last call.
    public func take() -> [String] {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }

    fileprivate func insert(_ name: String) { names.withLock { $0.append(name) } }
}

extension Decoder {
    /// Returns the fields of an object of an import.
    ///
    /// - Throws: `DecodingError` for a field that is not expected, unless the decoder has
    ///   ``IgnoredFields``.
    func container(expecting fields: [FieldKey]) throws -> KeyedDecodingContainer<FieldKey> {
        let container = try container(keyedBy: FieldKey.self)
        guard let ignored = userInfo[IgnoredFields.key] as? IgnoredFields else {
            try container.rejectFields(otherThan: fields)
            return container
        }
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) where !fields.contains(key) {
            ignored.insert(key.stringValue)
        }
        return container
    }
}
