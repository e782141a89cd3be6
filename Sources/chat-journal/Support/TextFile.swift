import MerkleLog

/// Whole files of text: auditors' checkpoints, proofs and events.
enum TextFile {
    /// Reads a file of at most `byteLimit` bytes.
    ///
    /// - Parameter isRegular: Whether the file must be a regular one. Otherwise a pipe is accepted,
    ///   and waited for.
    /// - Throws: `ToolError`, and `ArgumentError` for a longer file or one that is not UTF-8.
    static func read(_ path: String, byteLimit: Int, isRegular: Bool = false) throws -> String {
        let descriptor = try isRegular ? SystemIO.openRegularFile(path) : SystemIO.openForReading(path)
        defer { SystemIO.closeAfterReading(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try SystemIO.read(descriptor, into: &block, name: path)
            if count == 0 { break }
            bytes += block[..<count]
            guard bytes.count <= byteLimit else {
                throw ArgumentError("\(path): the file has more than \(byteLimit) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ArgumentError("\(path): the file is not UTF-8")
        }
        return text
    }

    /// Reads and parses a file; an error names the file and the line.
    static func parse<Value>(
        _ path: String, byteLimit: Int = ProofText.byteLimit, isRegular: Bool = false,
        _ parse: (String) throws(ProofTextError) -> Value
    ) throws -> Value {
        let text = try read(path, byteLimit: byteLimit, isRegular: isRegular)
        return try naming(path) { () throws(ProofTextError) in try parse(text) }
    }

    /// Adds the name of the file to an error.
    static func naming<Value>(_ path: String, _ parse: () throws(ProofTextError) -> Value) throws(ArgumentError)
        -> Value
    {
        do { return try parse() } catch { throw ArgumentError("\(path): \(error)") }
    }

    /// Creates a file, which only its owner may read; an existing one is an error.
    ///
    /// A file that cannot be written whole is removed.
    static func create(_ path: String, with text: String) throws(ToolError) {
        let descriptor = try SystemIO.create(path)
        do throws(ToolError) {
            do throws(ToolError) {
                try SystemIO.write(Array(text.utf8), to: descriptor, name: path)
            } catch {
                SystemIO.closeAfterReading(descriptor)
                throw error
            }
            try SystemIO.closeAfterWriting(descriptor, name: path)
        } catch {
            SystemIO.removeIncomplete(path)
            throw error
        }
    }
}
