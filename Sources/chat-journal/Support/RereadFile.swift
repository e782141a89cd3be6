#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file of lines that is read once in order, and then line by line in any order.
struct RereadFile: ~Copyable {
    /// The place of a line.
    struct Place {
        var offset: Int
        /// The number of bytes without the line end.
        var byteCount: UInt32
        var line: UInt32
    }

    private let descriptor: Int32
    private let name: String
    private let limit: Int

    /// Opens a file or a pipe; `-` is standard input.
    ///
    /// A pipe is copied to a temporary file without a name.
    init(path: String, limit: Int = LineReader.defaultLimit) throws(ToolError) {
        descriptor = try SystemIO.openForRereading(
            path,
            temporaryFolder: ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
        name = path == "-" ? "standard input" : path
        self.limit = limit
    }

    deinit { SystemIO.closeAfterReading(descriptor) }

    /// Calls a closure with each line in order and its place; returns the number of lines.
    ///
    /// Called once, before lines are read again.
    func forEachLine(_ body: (LineReader.Line, Place) throws -> Void) throws -> Int {
        var lines = LineReader(descriptor: descriptor, owned: false, name: name, limit: limit)
        while let line = try lines.next() {
            let byteCount =
                switch line {
                case .bytes(let bytes): bytes.count
                case .tooLong(let byteCount): byteCount
                }
            try body(
                line,
                Place(
                    offset: lines.lineOffset, byteCount: UInt32(clamping: byteCount),
                    line: UInt32(clamping: lines.lineNumber)))
        }
        return lines.lineNumber
    }

    /// Reads a line again.
    ///
    /// - Throws: `ToolError`, also `ArgumentError` if the file has become shorter.
    func line(at place: Place) throws -> LineReader.Line {
        guard place.byteCount <= limit else { return .tooLong(byteCount: Int(place.byteCount)) }
        let bytes = try SystemIO.read(descriptor, at: place.offset, count: Int(place.byteCount), name: name)
        guard bytes.count == place.byteCount else {
            throw ArgumentError("\(name): the file has become shorter while it was read")
        }
        return .bytes(bytes)
    }
}
