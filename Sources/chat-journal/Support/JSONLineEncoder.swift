/// Encodes any `Encodable` value as one line of compact JSON, with keys in the order in which they are encoded.
///
/// Written by hand because Foundation's encoder prints keys sorted or in hash order: the tool's contract fixes their order, and its
/// bytes must be the same each time. Strings are written by `JSONText.append`, safe for a terminal.
///
/// Every type encodes as it says itself: a `UUID` as its string, a `Date` as its number, a dictionary in its own changing order.
/// `nil` that is encoded is `null`; a value that encodes nothing at all is `{}`. Since the bytes go straight to the line, containers
/// must be filled in the order in which they were opened: to go on with one after its parent has gone on is an error, as is a number
/// that is not finite. A key that a type encodes twice stands there twice.
struct JSONLineEncoder {
    /// Appends the JSON of a value to a line, without a line feed.
    ///
    /// - Throws: `EncodingError.invalidValue` for a number that is not finite and for containers out of order, and whatever the
    ///   value's own `encode(to:)` throws. The line is then as it was before.
    func encode(_ value: some Encodable, into line: inout [UInt8]) throws {
        let start = line.count
        let writer = JSONLineWriter(taking: &line)
        defer { swap(&writer.line, &line) }
        do {
            try writer.writeRoot(value)
        } catch {
            writer.line.removeLast(writer.line.count - start)
            throw error
        }
    }

    /// The JSON of a value as a string, for messages and for tests.
    func string(_ value: some Encodable) throws -> String {
        var line: [UInt8] = []
        try encode(value, into: &line)
        return String(decoding: line, as: UTF8.self)
    }
}

/// The line under construction and the containers open in it, which every container of one encoding shares.
///
/// A write into a container first closes all that were opened inside it; a container that has been closed can be told from its
/// successor by its serial number.
final class JSONLineWriter {
    /// A place in the line that is still open.
    struct Place {
        fileprivate let depth: Int
        fileprivate let serial: Int
    }

    /// What is open at a place: an object, an array, or room for one value.
    enum Kind {
        case object
        case array
        case value
    }

    private struct Frame {
        let kind: Kind
        let serial: Int
        /// The key of the member that it fills.
        let key: (any CodingKey)?
        var count = 0
        /// For a value's place: the container that fills it.
        var content: Kind?
    }

    fileprivate var line: [UInt8] = []
    private var frames: [Frame] = []
    private var lastSerial = 0
    private var failure: (any Error)?

    fileprivate init(taking line: inout [UInt8]) {
        swap(&self.line, &line)
    }

    fileprivate func writeRoot(_ value: some Encodable) throws {
        try write(value, at: push(.value))
        if let failure { throw failure }
        close(downTo: 0)
    }

    /// The place that was opened or, after an error, one that is not open.
    ///
    /// The containers' protocols leave no way to throw where a container is asked for: the error is met at the first write to it, and
    /// at the latest at the end of the line.
    func placeOrFailure(_ open: () throws -> Place) -> Place {
        do {
            return try open()
        } catch {
            failure = failure ?? error
            return Place(depth: -1, serial: -1)
        }
    }

    /// The number of elements in the container at a place; 0 once it is closed.
    func count(at place: Place) -> Int {
        isOpen(place) ? frames[place.depth].count : 0
    }

    /// The keys that lead to a place; none once it is closed.
    func path(to place: Place) -> [any CodingKey] {
        guard isOpen(place), place.depth > 0 else { return [] }
        return (1...place.depth).compactMap { depth in
            let parent = frames[depth - 1]
            return parent.kind == .array ? PositionKey(parent.count - 1) : frames[depth].key
        }
    }

    /// Begins the next member of an object: the comma and the key.
    func beginMember(_ key: any CodingKey, in place: Place) throws {
        try beginElement(in: place)
        JSONText.append(key.stringValue, to: &line)
        line.append(UInt8(ascii: ":"))
    }

    /// Begins the next element of an array: the comma.
    func beginElement(in place: Place) throws {
        try reopen(place)
        if frames[place.depth].count > 0 { line.append(UInt8(ascii: ",")) }
        frames[place.depth].count += 1
    }

    /// Begins the one value of a value's place.
    func beginValue(in place: Place) throws {
        try reopen(place)
        guard frames[place.depth].count == 0 else { throw disorder("a second value was encoded in one place", place) }
        frames[place.depth].count = 1
    }

    /// Opens a container where an element, a value or the member of a key has just begun.
    func open(_ kind: Kind, key: (any CodingKey)? = nil) -> Place {
        switch kind {
        case .object: line.append(UInt8(ascii: "{"))
        case .array: line.append(UInt8(ascii: "["))
        case .value: break
        }
        return push(kind, key)
    }

    /// The container of a value's place: a new one, or the one of the same kind that fills it already.
    func container(_ kind: Kind, in place: Place) throws -> Place {
        let next = place.depth + 1
        if isOpen(place), frames[place.depth].content == kind, next < frames.count {
            return Place(depth: next, serial: frames[next].serial)
        }
        try beginValue(in: place)
        frames[place.depth].content = kind
        return open(kind)
    }

    /// Encodes a value at its place.
    func write(_ value: some Encodable, at place: Place) throws {
        try value.encode(to: PlaceEncoder(writer: self, place: place))
        if isOpen(place) { close(downTo: place.depth) }
    }

    func writeNull() { JSONText.appendNull(to: &line) }
    func write(_ value: Bool) { JSONText.append(value, to: &line) }
    func write(_ value: String) { JSONText.append(value, to: &line) }
    func write(_ value: some BinaryInteger) { JSONText.append(value, to: &line) }

    /// Writes a number, which must be finite, at the place that it fills.
    func write(_ value: some BinaryFloatingPoint & CustomStringConvertible, at place: Place) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(value, .init(codingPath: path(to: place), debugDescription: "JSON has no number for \(value)"))
        }
        JSONText.append(finite: value.description, to: &line)
    }

    private func isOpen(_ place: Place) -> Bool {
        frames.indices.contains(place.depth) && frames[place.depth].serial == place.serial
    }

    private func reopen(_ place: Place) throws {
        guard isOpen(place) else { throw disorder("a container was filled after its parent had gone on", place) }
        close(downTo: place.depth + 1)
    }

    private func push(_ kind: Kind, _ key: (any CodingKey)? = nil) -> Place {
        lastSerial += 1
        frames.append(Frame(kind: kind, serial: lastSerial, key: key))
        return Place(depth: frames.count - 1, serial: lastSerial)
    }

    /// Closes the places at this depth and deeper, the deepest first.
    private func close(downTo depth: Int) {
        while frames.count > depth, let frame = frames.popLast() {
            switch frame.kind {
            case .object: line.append(UInt8(ascii: "}"))
            case .array: line.append(UInt8(ascii: "]"))
            case .value: if frame.count == 0 { line.append(contentsOf: "{}".utf8) }
            }
        }
    }

    private func disorder(_ problem: String, _ place: Place) -> EncodingError {
        EncodingError.invalidValue(0, .init(codingPath: path(to: place), debugDescription: problem))
    }
}
