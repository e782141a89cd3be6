import ChatDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decodes a value from the bytes of one line, strictly.
///
/// The bytes must be UTF-8 and one JSON value with no field twice (`JSONScanner`); then Foundation's decoder reads them, and the types
/// themselves refuse fields that they do not have.
///
/// - Throws: `LineError` with a stable code, the path of the field or the offset of the byte, and a sentence.
/// - Complexity: linear in the number of bytes, which the caller bounds (`LineReader`).
func decodeLine<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(LineError) -> T {
    do {
        _ = try UTF8Span(validating: bytes.span)
    } catch {
        throw LineError(.invalidUTF8, "not UTF-8", byteOffset: error.byteOffsets.lowerBound)
    }
    let rounded = try JSONScanner.check(bytes)
    let data = Data(bytes)
    do {
        do {
            if rounded.isEmpty { return try JSONDecoder().decode(type, from: data) }
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            // Decoded once more below, for the place.
        }
        let decoder = JSONDecoder()
        if let key = CodingUserInfoKey.roundedNumbers { decoder.userInfo[key] = rounded }
        return try decoder.decode(Located<T>.self, from: data).value
    } catch let error as DecodingError {
        throw LineError(error)
    } catch {
        throw LineError(.invalidValue, LineError.quote("\(error)", longest: LineError.longestSentence))
    }
}

extension LineReader.Line {
    /// Decodes the line, or says what is wrong with it.
    ///
    /// - Parameter limit: The limit that the reader of the line has.
    func decode<Value: Decodable>(_ type: Value.Type, limit: Int = LineReader.defaultLimit) -> Result<Value, LineError> {
        do throws(LineError) {
            switch self {
            case .tooLong(let byteCount): throw .tooLong(byteCount: byteCount, limit: limit)
            case .bytes(let bytes): return .success(try decodeLine(type, from: bytes))
            }
        } catch {
            return .failure(error)
        }
    }
}

extension LineError {
    /// The error of a line for an error of the decoder.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingField, "the field is missing", field: Self.path(context.codingPath + [key]))
        case .typeMismatch(let type, let context):
            self.init(.wrongType, "the value is not \(Self.kind(of: type))", field: Self.path(context.codingPath))
        case .valueNotFound(let type, let context):
            self.init(.wrongType, "the value is null and not \(Self.kind(of: type))", field: Self.path(context.codingPath))
        case .dataCorrupted(let context) where context.underlyingError is UnknownFieldError:
            self.init(.unknownField, "there is no such field", field: Self.path(context.codingPath))
        case .dataCorrupted(let context):
            self.init(
                .invalidValue, Self.quote(context.debugDescription, longest: Self.longestSentence), field: Self.path(context.codingPath))
        @unknown default:
            self.init(.invalidValue, Self.quote("\(error)", longest: Self.longestSentence))
        }
    }

    /// A path as one writes it: names joined by points, places of an array in brackets; nil at the top.
    private static func path(_ path: [any CodingKey]) -> String? {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + quote(key.stringValue)
            }
        }
        return text.isEmpty ? nil : text
    }

    /// The JSON type that a Swift type is read from.
    private static func kind(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "\(type)"
        }
    }
}
