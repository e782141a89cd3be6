/// One file of a simulated disk: its current content, its durable content, and its pending changes.
///
/// The file is a set of registers: its size and each of its sectors. A register has a durable value
/// and, in order, the values written since. A power failure picks one of these values for each
/// register, independently, except for one rule of all file systems: the changes of size happen in
/// order, and bytes that a truncation has cut off never return, even if a later change makes the
/// file longer again.
struct FileImage: Sendable {
    /// A change of size.
    struct Resize: Sendable {
        var number: Int
        var size: Int
    }

    /// The content of a sector after a write.
    struct Version: Sendable {
        var number: Int
        var bytes: [UInt8]
    }

    /// The versions of a sector since the last sync.
    struct PendingSector: Sendable {
        var index: Int
        var versions: [Version]
    }

    /// The content that reads return.
    private(set) var current = SparseBytes()
    private var durable = SparseBytes()
    private var resizes: [Resize] = []
    /// Ascending by index.
    private(set) var sectors: [PendingSector] = []

    /// Writes at `offset`; `number` orders the changes.
    mutating func write(_ bytes: RawSpan, at offset: Int, number: Int) {
        guard bytes.byteCount > 0 else { return }
        let end = offset + bytes.byteCount
        if end > current.size { resizes.append(Resize(number: number, size: end)) }
        current.write(bytes, at: offset)
        for index in (offset / SparseBytes.sectorSize)...((end - 1) / SparseBytes.sectorSize) {
            recordVersion(index, number)
        }
    }

    /// Truncates the file, or extends it with zeros.
    mutating func resize(to size: Int, number: Int) {
        guard size != current.size else { return }
        // The rest of the last sector is zeroed by a separate write, which can reach the disk
        // without the new size.
        let cutsSector =
            size < current.size && size % SparseBytes.sectorSize != 0 && !current.isZero(fromSectorOffset: size)
        if cutsSector {
            current.resize(to: size)
            recordVersion(size / SparseBytes.sectorSize, number)
        }
        current.resize(to: size)
        resizes.append(Resize(number: number, size: size))
    }

    /// Adds the current content of a sector to its versions, unless it equals the last one.
    ///
    /// After a truncation of the sector an equal version is added too: the truncation cuts the
    /// earlier one.
    private mutating func recordVersion(_ index: Int, _ number: Int) {
        let bytes = current.sector(index)
        let place = sectors.firstIndex { $0.index >= index } ?? sectors.count
        if place < sectors.count, sectors[place].index == index {
            if let last = sectors[place].versions.last, last.number >= lastTruncation(ofSector: index),
                SparseBytes.difference(last.bytes, bytes) == nil
            {
                return
            }
            sectors[place].versions.append(Version(number: number, bytes: bytes))
        } else {
            if lastTruncation(ofSector: index) == .min, SparseBytes.difference(durable.sector(index), bytes) == nil {
                return
            }
            sectors.insert(PendingSector(index: index, versions: [Version(number: number, bytes: bytes)]), at: place)
        }
    }

    /// Returns the number of the last pending truncation that cut this sector; `Int.min` if none.
    private func lastTruncation(ofSector index: Int) -> Int {
        let end = (index + 1) * SparseBytes.sectorSize
        var size = durable.size
        var number = Int.min
        for resize in resizes {
            if resize.size < size && resize.size < end { number = resize.number }
            size = resize.size
        }
        return number
    }

    /// Makes all pending changes durable.
    mutating func sync() {
        guard !resizes.isEmpty || !sectors.isEmpty else { return }
        durable = contentAfterCrash(size: resizes.count, nil) { $0.versions.count }
        resizes = []
        sectors = []
    }

    /// Simulates a failed sync: the written bytes stay readable, but no later sync writes them.
    ///
    /// Sizes are metadata, which a file system writes through its own journal; they stay pending.
    mutating func dropPendingSectors() {
        sectors = []
    }

    /// Inverts a bit on the medium; reads return it unless the sector has pending writes.
    mutating func flip(_ bit: Int, at offset: Int) {
        if offset < durable.size { durable.flip(bit, at: offset) }
        let isDirty = sectors.contains { $0.index == offset / SparseBytes.sectorSize }
        if !isDirty { current.flip(bit, at: offset) }
    }

    // MARK: - Crash

    /// Returns the number of alternatives of each choice: the size first, if pending, then each
    /// pending sector.
    func alternativeCounts(_ tearing: SectorTearing?) -> [Int] {
        let ofSize = resizes.isEmpty ? [] : [resizes.count + 1]
        return ofSize + sectors.map { 1 + $0.versions.count * (tearing == nil ? 1 : 2) }
    }

    /// The subjects of the choices, in the order of ``alternativeCounts(_:)``.
    var choiceTitles: [String] {
        (resizes.isEmpty
            ? [] : ["size \(durable.size) -> " + resizes.map { String($0.size) }.joined(separator: " -> ")])
            + sectors.map { "sector \($0.index)" }
    }

    /// Replaces the picks that have no effect by 0: those of sectors beyond the picked size.
    func makeCanonical(_ picks: inout [Int], from start: Int) {
        var next = start
        var size = durable.size
        if !resizes.isEmpty {
            if picks[next] > 0 { size = resizes[picks[next] - 1].size }
            next += 1
        }
        for sector in sectors {
            if sector.index * SparseBytes.sectorSize >= size { picks[next] = 0 }
            next += 1
        }
    }

    /// Returns the file after a crash with these picks, from `start` on; moves `start` past them.
    func afterCrash(_ picks: [Int], _ start: inout Int, _ tearing: SectorTearing?) -> FileImage {
        guard !resizes.isEmpty || !sectors.isEmpty else {
            // The bytes of a failed sync are lost here, although no change is pending.
            return FileImage(durable)
        }
        let sizePick = resizes.isEmpty ? 0 : picks[start]
        if !resizes.isEmpty { start += 1 }
        var next = start
        start += sectors.count
        return FileImage(
            contentAfterCrash(size: sizePick, tearing) { _ in
                defer { next += 1 }
                return picks[next]
            })
    }

    init() {}

    private init(_ bytes: SparseBytes) {
        current = bytes
        durable = bytes
    }

    /// Returns the content after a crash that keeps the first `pick` size changes and, of each
    /// sector, the picked version.
    ///
    /// Bytes that a kept truncation cut off are zero, unless a later version wrote them. With all
    /// size changes and the last version of each sector, the result is the content after
    /// ``sync()``.
    private func contentAfterCrash(size pick: Int, _ tearing: SectorTearing?, _ pickSector: (PendingSector) -> Int)
        -> SparseBytes
    {
        var cuts: [Resize] = []
        var size = durable.size
        for resize in resizes.prefix(pick) {
            if resize.size < size { cuts.append(resize) }
            size = resize.size
        }
        var bytes = durable
        if let least = cuts.map(\.size).min() { bytes.resize(to: least) }
        for sector in sectors {
            let choice = pickSector(sector)
            let start = sector.index * SparseBytes.sectorSize
            guard choice > 0, start < size else { continue }
            let count = sector.versions.count
            let place = (choice - 1) % count
            let new = sector.versions[place]
            // With tearing, the lower half of the alternatives are the torn versions, the upper
            // half the whole ones.
            if choice <= count, let tearing {
                if place > 0 { write(sector.versions[place - 1], of: sector.index, to: &bytes, size, cuts) }
                let torn = tearing.torn(bytes.sector(sector.index), new.bytes, number: new.number, sector: sector.index)
                write(Version(number: new.number, bytes: torn), of: sector.index, to: &bytes, size, cuts)
            } else {
                write(new, of: sector.index, to: &bytes, size, cuts)
            }
        }
        bytes.resize(to: size)
        return bytes
    }

    /// Writes the part of a version that remains after later truncations.
    private func write(_ version: Version, of index: Int, to bytes: inout SparseBytes, _ size: Int, _ cuts: [Resize]) {
        let start = index * SparseBytes.sectorSize
        var end = min(size, start + SparseBytes.sectorSize)
        for cut in cuts where cut.number > version.number { end = min(end, cut.size) }
        if end > start { bytes.write(version.bytes, 0..<(end - start), at: start) }
    }
}
