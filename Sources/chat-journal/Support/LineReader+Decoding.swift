import ChatWire

extension LineReader.Line {
    /// Decodes the line, or returns its error.
    ///
    /// - Parameter limit: The limit of the line's reader.
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
