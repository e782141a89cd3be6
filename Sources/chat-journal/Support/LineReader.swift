/// Reads the lines of a file or a pipe with bounded memory.
///
/// A line ends with LF; one CR before it is dropped, unless the reader keeps it. The last line may
/// lack its LF; an empty rest after the last LF is not a line. Whether the bytes are UTF-8 is not
/// checked here. A line over the limit is skipped, so that a line of any length takes no more
/// memory than the limit and one block of 256 KiB. A reader that stops at such a line does not read
/// to its end.
///
/// The reader closes a file that it has opened.
struct LineReader: ~Copyable {
    /// One line of the input.
    enum Line: Equatable {
        /// The bytes of the line without its end.
        case bytes([UInt8])
        /// A line over the limit. `byteCount` is its length without the line end; a reader with
        /// `stopsAtLongLine` counts the bytes that it has read.
        case tooLong(byteCount: Int)
    }

    /// The default limit of a line: 1 MiB.
    static let defaultLimit = 1 << 20
    /// The number of bytes read at once: smaller blocks cost more calls, larger ones gain nothing.
    private static let blockSize = 256 << 10
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The path, or `standard input`, for messages.
    let name: String
    /// The number of the line that `next` returned last, from 1; 0 before the first line.
    private(set) var lineNumber = 0
    /// Where the line that `next` returned last begins in the input, in bytes.
    private(set) var lineOffset = 0

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let limit: Int
    private let keepsCarriageReturns: Bool
    private let stopsAtLongLine: Bool
    private var block: [UInt8]
    /// The bytes of the block that are not yet scanned or returned.
    private var unread: Range<Int> = 0..<0
    /// The line feed that ends the current line, once it is found.
    private var lineEnd: Int?
    /// The current line as far as read, without the rest in `unread`.
    ///
    /// At most one byte over the limit, which may be the CR of its end. Empty once the line is over
    /// the limit.
    private var partialLine: [UInt8] = []
    /// The number of bytes of the current line before `unread`, kept or skipped.
    private var lineByteCount = 0
    /// Where the current line begins in the input.
    private var nextOffset = 0
    /// The last byte of the current line before `unread`.
    private var lastPassed: UInt8 = 0
    private var isAtEnd = false
    private var failure: ToolError?

    /// A reader of a file, with a limit in bytes for its lines.
    init(path: String, limit: Int = defaultLimit) throws(ToolError) {
        self.init(descriptor: try SystemIO.openForReading(path), owned: true, name: path, limit: limit)
    }

    /// A reader of an open descriptor, which it closes only if it owns it.
    ///
    /// - Parameter stopsAtLongLine: Whether a line over the limit is the last one.
    init(
        descriptor: Int32, owned: Bool, name: String, limit: Int = defaultLimit, keepsCarriageReturns: Bool = false,
        stopsAtLongLine: Bool = false
    ) {
        precondition(limit >= 0 && limit < Int.max)
        self.descriptor = descriptor
        self.ownsDescriptor = owned
        self.name = name
        self.limit = limit
        self.keepsCarriageReturns = keepsCarriageReturns
        self.stopsAtLongLine = stopsAtLongLine
        self.block = [UInt8](repeating: 0, count: Self.blockSize)
    }

    /// A reader of standard input.
    static func standardInput(limit: Int = defaultLimit) -> LineReader {
        LineReader(descriptor: SystemIO.standardInput, owned: false, name: "standard input", limit: limit)
    }

    deinit {
        if ownsDescriptor { SystemIO.closeAfterReading(descriptor) }
    }

    /// Returns the next line, nil at the end of the input; waits until one is available.
    ///
    /// - Throws: `ToolError` if the input cannot be read, also at each later call.
    mutating func next() throws(ToolError) -> Line? {
        while true {
            if findLineEnd() { return takeLine() }
            if let failure { throw failure }
            // One byte over the limit may be the CR of the line's end.
            if stopsAtLongLine && lineByteCount > limit + 1 { isAtEnd = true }
            if isAtEnd { return lineByteCount > 0 ? takeLine() : nil }
            fill()
        }
    }

    /// Whether `next` returns without waiting, so that a batch can end early when no line is
    /// available.
    ///
    /// Reads as far as the system has bytes available. False at the end of the input, and for a
    /// line over the limit whose end is not read yet. True if reading has failed, because `next`
    /// then throws at once.
    var isLineWaiting: Bool {
        mutating get {
            while true {
                if findLineEnd() || failure != nil { return true }
                if isAtEnd { return lineByteCount > 0 }
                if lineByteCount > limit + 1 || !SystemIO.isReadable(descriptor) { return false }
                fill()
            }
        }
    }

    /// Finds the end of the current line in the block; a block without one is moved to
    /// `partialLine`.
    private mutating func findLineEnd() -> Bool {
        if lineEnd != nil { return true }
        lineEnd = firstLineFeed()
        if lineEnd == nil { consume(upTo: unread.upperBound) }
        return lineEnd != nil
    }

    private func firstLineFeed() -> Int? {
        var index = unread.lowerBound
        while index < unread.upperBound && block[index] != Self.lineFeed { index += 1 }
        return index < unread.upperBound ? index : nil
    }

    /// Moves bytes of the current line to `partialLine`, or drops all of them once the line is over
    /// the limit.
    private mutating func consume(upTo end: Int) {
        let piece = unread.lowerBound..<end
        guard !piece.isEmpty else { return }
        lastPassed = block[end - 1]
        lineByteCount += piece.count
        if lineByteCount <= limit + 1 {
            partialLine.append(contentsOf: block[piece])
        } else {
            partialLine = []
        }
        unread = end..<unread.upperBound
    }

    /// Reads the next block; only called when nothing is unread.
    private mutating func fill() {
        do {
            let count = try SystemIO.read(descriptor, into: &block, name: name)
            unread = 0..<count
            isAtEnd = count == 0
        } catch {
            failure = error
        }
    }

    /// Returns the current line, whose end is found or is the end of the input, and begins the next
    /// one.
    private mutating func takeLine() -> Line {
        lineNumber += 1
        lineOffset = nextOffset
        var hasCarriageReturn = false
        if let end = lineEnd {
            consume(upTo: end)
            unread = (end + 1)..<unread.upperBound
            hasCarriageReturn = !keepsCarriageReturns && lineByteCount > 0 && lastPassed == Self.carriageReturn
        }
        let length = hasCarriageReturn ? lineByteCount - 1 : lineByteCount
        if hasCarriageReturn && !partialLine.isEmpty { partialLine.removeLast() }
        let line: Line = length > limit ? .tooLong(byteCount: length) : .bytes(partialLine)
        partialLine = []
        nextOffset += lineByteCount + (lineEnd == nil ? 0 : 1)
        lineByteCount = 0
        lineEnd = nil
        if stopsAtLongLine && length > limit { (isAtEnd, unread) = (true, 0..<0) }
        return line
    }
}
