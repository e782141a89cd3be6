import ChatWire

extension LineReader.Line {
    /// Decodes the line, or returns its error.
    ///
    /// - Parameters:
    ///   - limit: The limit of the line's reader.
    ///   - userInfo: The values for the decoder.
    func decode<Value: Decodable>(
        _ type: Value.Type, limit: Int = LineReader.defaultLimit, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) -> Result<Value, LineError> {
        do throws(LineError) {
            switch self {
            case .tooLong(let byteCount): throw .tooLong(byteCount: byteCount, limit: limit)
            case .bytes(let bytes): return .success(try decodeLine(type, from: bytes, userInfo: userInfo))
            }
        } catch {
            return .failure(error)
        }
    }
}
