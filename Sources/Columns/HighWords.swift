/// The upper halves of ascending positions of which a list keeps the lower halves alone.
///
/// Positions ascend along a list, so that the upper half is the same for billions of entries in a row: it is kept once for each run of them.
public struct HighWords: Equatable, Sendable {
    @usableFromInline struct Run: Equatable, Sendable {
        @usableFromInline var start: Int
        @usableFromInline var word: UInt32
    }

    /// Where a run begins; before the first one the word is 0.
    @usableFromInline var runs: [Run] = []

    /// Begins with the word 0.
    @inlinable public init() {}

    /// Takes note of the next position.
    ///
    /// - Parameters:
    ///   - position: Not smaller than the one before.
    ///   - index: Where it is going to stand in the list.
    /// - Returns: The lower half, which the list keeps.
    public mutating func split(_ position: UInt64, at index: Int) -> UInt32 {
        let word = UInt32(truncatingIfNeeded: position >> 32)
        if word != runs.last?.word ?? 0 { runs.append(Run(start: index, word: word)) }
        return UInt32(truncatingIfNeeded: position)
    }

    /// The position of which the list keeps the lower half at an index.
    @inlinable public func join(_ low: UInt32, at index: Int) -> UInt64 {
        runs.isEmpty ? UInt64(low) : UInt64(word(at: index)) << 32 | UInt64(low)
    }

    @usableFromInline func word(at index: Int) -> UInt32 {
        let run = partition(runs.count) { runs[$0].start > index }
        return run == 0 ? 0 : runs[run - 1].word
    }
}
