/// The mode in which a sector is not written whole: a crash may leave the beginning of a new version and the end of the one before it, or
/// the other way round.
struct SectorTearing: Hashable, Sendable {
    var seed: UInt64

    /// A mixture of two versions of a sector, cut at a place, inside what differs, that follows from the seed and the write.
    func torn(_ old: [UInt8], _ new: [UInt8], number: Int, sector: Int) -> [UInt8] {
        guard let difference = SparseBytes.difference(old, new) else { return new }
        var random = SeededRandom(seed: seed ^ UInt64(number) << 32 ^ UInt64(sector))
        // One differing byte cannot be cut between bytes; it is then old or new.
        let cut = Int.random(in: (difference.lowerBound + 1)..<max(difference.upperBound, difference.lowerBound + 2), using: &random)
        return random.oneIn(2) ? Array(new[..<cut] + old[cut...]) : Array(old[..<cut] + new[cut...])
    }
}
