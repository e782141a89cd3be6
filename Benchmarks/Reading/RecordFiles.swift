/// The segments of a history as opaque bytes, for the floors of reading.
final class RecordFiles {
    private let files: [RawFile]
    private let mapped: [MappedFile]
    private let recordBytes: Int
    let byteCount: Int
    /// Uses the result of every read, so that the optimiser cannot remove one.
    private(set) var sum: UInt32 = 0

    init(_ segments: [String], recordBytes: Int) throws {
        files = try segments.map(RawFile.init)
        mapped = try segments.map(MappedFile.init)
        self.recordBytes = recordBytes
        byteCount = files.reduce(0) { $0 + $1.size }
    }

    /// Reads all files and computes their checksums.
    func scan() { for file in files { sum ^= file.scan(summing: true) } }

    /// Reads the bytes of a record's size at `count` random places, one system call each.
    func readRecords(_ count: Int, _ random: inout SplitMix) {
        for _ in 0..<count {
            let (file, offset) = place(&random)
            sum ^= UInt32(truncatingIfNeeded: files[file].read(recordBytes, at: offset))
        }
    }

    /// Computes the checksum of a record's size at `count` random places in mapped memory.
    func sumMappedRecords(_ count: Int, _ random: inout SplitMix) {
        for _ in 0..<count {
            let (file, offset) = place(&random)
            sum ^= mapped[file].sum(recordBytes, at: offset)
        }
    }

    private func place(_ random: inout SplitMix) -> (file: Int, offset: Int) {
        var offset = Int(random.next() % UInt64(byteCount))
        for index in files.indices {
            if offset < files[index].size { return (index, offset) }
            offset -= files[index].size
        }
        return (0, 0)
    }
}
