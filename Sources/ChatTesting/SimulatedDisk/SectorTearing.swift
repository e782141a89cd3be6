/// Tears sectors: a crash can leave a sector with part of a new version and part of the previous
/// one.
struct SectorTearing: Hashable, Sendable {
    var seed: UInt64

    /// Returns a mixture of two versions of a sector.
    ///
    /// The split lies inside the differing bytes and is determined by the seed and the write.
    func torn(_ old: [UInt8], _ new: [UInt8], number: Int, sector: Int) -> [UInt8] {
        guard let difference = SparseBytes.difference(old, new) else { return new }
        var random = SeededRandom(seed: seed ^ UInt64(number) << 32 ^ UInt64(sector))
        // A single differing byte cannot be split; it is either old or new.
        let cut = Int.random(
            in: (difference.lowerBound + 1)..<max(difference.upperBound, difference.lowerBound + 2), using: &random)
        return random.oneIn(2) ? Array(new[..<cut] + old[cut...]) : Array(old[..<cut] + new[cut...])
    }
}
