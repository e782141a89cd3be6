internal import Primitives

/// The place and the reason of a fault in the text of a checkpoint, a proof or a record.
public struct ProofTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int
    /// What is wrong with the line.
    public let reason: String

    package init(line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The line and the reason.
    public var description: String { "line \(line): \(reason)" }
}

/// Reads a text line by line and remembers the line for errors.
package struct ProofText {
    /// The maximum number of bytes of a text.
    ///
    /// A checkpoint with sixteen of the largest signatures has about 100 KB.
    package static let byteLimit = 1 << 20

    private var lines: ArraySlice<Substring>
    private var line = 0
    /// Whether the line that was read last is empty.
    private(set) var endedWithEmptyLine = false

    /// Splits a text of at most `byteLimit` bytes into lines.
    ///
    /// - Throws: ``ProofTextError`` if the text exceeds the limit, does not end with a line feed,
    ///   or has another control character below U+0020.
    package init(_ text: String, byteLimit: Int = Self.byteLimit) throws(ProofTextError) {
        guard text.utf8.count <= byteLimit else {
            throw ProofTextError(line: 1, "the text has more than \(byteLimit) bytes")
        }
        // Scalars, because the character "\r\n" is not a line feed.
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { Substring($0) }
        for (index, line) in lines.enumerated() where line.unicodeScalars.contains(where: Self.isControl) {
            throw ProofTextError(line: index + 1, "a control character")
        }
        guard let rest = lines.popLast(), rest.isEmpty, !lines.isEmpty else {
            throw ProofTextError(line: lines.count + 1, "the text does not end with a line feed")
        }
        self.lines = lines[...]
    }

    /// Whether all lines were read.
    package var isAtEnd: Bool { lines.isEmpty }

    /// Returns an error at the line that was read last.
    package func error(_ reason: String) -> ProofTextError { ProofTextError(line: line, reason) }

    /// Reads a line, or returns nil at the end.
    package mutating func nextIfAny() -> String? {
        endedWithEmptyLine = lines.first?.isEmpty ?? false
        guard let next = lines.popFirst() else { return nil }
        line += 1
        return String(next)
    }

    /// Reads a line; the end is an error that names what is missing.
    package mutating func next(_ what: String) throws(ProofTextError) -> String {
        guard let next = nextIfAny() else { throw ProofTextError(line: line + 1, "\(what) is missing") }
        return next
    }

    /// Reads a line with a number.
    package mutating func number(_ what: String) throws(ProofTextError) -> UInt64 {
        // A binding, because the argument of a call changes this value after the call has copied
        // it.
        let text = try next(what)
        return try number(in: text[...], what)
    }

    /// Reads a line with a keyword, a space and a number.
    package mutating func number(after keyword: String, _ what: String) throws(ProofTextError) -> UInt64 {
        let line = try next(what)
        guard line.hasPrefix(keyword + " ") else { throw error("'\(keyword) ' and \(what) are expected") }
        return try number(in: line.dropFirst(keyword.count + 1), what)
    }

    private func number(in text: Substring, _ what: String) throws(ProofTextError) -> UInt64 {
        // The comparison with the canonical text rejects signs and leading zeros.
        guard let number = UInt64(text), "\(number)" == text else {
            throw error("\(what) is not a number in decimal digits without leading zeros, of at most 64 bits")
        }
        return number
    }

    /// Reads a line with a hash.
    package mutating func hash(_ what: String) throws(ProofTextError) -> MerkleHash {
        let text = try next(what)
        return try hash(in: text, what)
    }

    private func hash(in text: String, _ what: String) throws(ProofTextError) -> MerkleHash {
        guard let hash = MerkleHash(base64: text) else { throw error("\(what) is not 32 bytes in canonical base64") }
        return hash
    }

    /// Reads the hashes of a proof, and the empty line after them.
    package mutating func hashes() throws(ProofTextError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        while true {
            let line = try next("the empty line after the hashes")
            if line.isEmpty { return hashes }
            // No proof in a tree of up to 2^63 leaves has more.
            guard hashes.count < 64 else { throw error("more than 64 hashes") }
            hashes.append(try hash(in: line, "the hash"))
        }
    }

    /// Reads a line with a keyword, a space and bytes in base64; only the keyword for no bytes.
    package mutating func bytes(after keyword: String) throws(ProofTextError) -> [UInt8] {
        let line = try next("'\(keyword)'")
        if line == keyword { return [] }
        guard line.hasPrefix(keyword + " ") else { throw error("'\(keyword)' is expected") }
        guard let bytes = Base64.bytes(of: line.dropFirst(keyword.count + 1)), !bytes.isEmpty else {
            throw error("the bytes after '\(keyword)' are not in canonical base64")
        }
        return bytes
    }

    /// Returns the first word of the next line without reading the line.
    package var nextWord: Substring { lines.first?.prefix { $0 != " " } ?? "" }

    /// Reads a line with a signature of a note (C2SP *signed-note*): a dash, the name of the key,
    /// and the key's id and signature in base64.
    mutating func signature() throws(ProofTextError) {
        let parts = try next("a signature").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "\u{2014}", !parts[1].isEmpty, !parts[1].contains("+"),
            !parts[1].contains(where: \.isWhitespace), let bytes = Base64.bytes(of: parts[2]), bytes.count > 4
        else { throw error("not a signature line: a dash (U+2014), a name and base64") }
    }

    /// Whether a text can be an origin.
    static func isOrigin(_ text: String) -> Bool { !text.isEmpty && !text.unicodeScalars.contains(where: isControl) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 }
}
