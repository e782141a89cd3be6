/// The names of the files in a journal's directory.
///
/// Format.md lists their contents.
enum JournalFileName {
    static let lock = "lock"
    static let durable = "durable"
    /// The directory of the bytes that recovery has cut.
    static let cut = "cut"
    static let scrub = "scrub"
    static let erased = "erased"
    static let ledger = "ledger"
    static let tree = "tree"
    static let role = "role"
    static let temporarySuffix = ".tmp"
    static let segmentSuffix = ".segment"
    static let checkpointSuffix = ".checkpoint"

    /// Returns the name of the segment that begins at a position.
    static func segment(_ first: Position) -> String { padded(first) + segmentSuffix }

    /// Returns the number with 20 digits, so that names sort in the order of positions.
    static func padded(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: 20 - text.utf8.count) + text
    }

    /// Returns the first position in the name of a segment, or nil for any other name.
    static func firstPosition(ofSegment name: String) -> Position? {
        guard name.hasSuffix(segmentSuffix), name.utf8.count == 20 + segmentSuffix.utf8.count,
            let first = Position(name.dropLast(segmentSuffix.count)), first >= 1, segment(first) == name
        else { return nil }
        return first
    }

    /// Returns whether a name is that of a file before it has its final name.
    static func isTemporary(_ name: String) -> Bool {
        guard name.hasSuffix(temporarySuffix) else { return false }
        let target = String(name.dropLast(temporarySuffix.count))
        return target == durable || target == ledger || target == role || target == tree
            || firstPosition(ofSegment: target) != nil
            || isCheckpoint(target)
    }

    /// Returns the file name of a projection's checkpoint.
    ///
    /// - Parameter position: The position of the checkpoint, for one of several.
    static func checkpoint(_ projection: String, at position: Position? = nil) -> String {
        projection + (position.map { "." + padded($0) } ?? "") + checkpointSuffix
    }

    /// Returns the position in the file name of one of a projection's checkpoints, or nil for any
    /// other name.
    static func checkpointPosition(of name: String, _ projection: String) -> Position? {
        let prefix = projection + "."
        guard name.hasPrefix(prefix), name.hasSuffix(checkpointSuffix),
            let position = Position(name.dropFirst(prefix.count).dropLast(checkpointSuffix.count)),
            checkpoint(projection, at: position) == name
        else { return nil }
        return position
    }

    /// Returns whether a text is a valid projection name: 1 to 32 ASCII letters, digits and
    /// hyphens.
    static func isProjectionName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { "a"..."z" ~= $0 || "A"..."Z" ~= $0 || "0"..."9" ~= $0 || $0 == "-" }
    }

    /// Returns whether a name is that of a projection's checkpoint.
    static func isCheckpoint(_ name: String) -> Bool {
        guard name.hasSuffix(checkpointSuffix), let projection = name.split(separator: ".").first,
            isProjectionName(projection)
        else {
            return false
        }
        return name == checkpoint(String(projection)) || checkpointPosition(of: name, String(projection)) != nil
    }
}
