@testable import Columns

/// The bytes of a column in memory, as sink and source.
final class Bytes: ColumnSink, ColumnSource {
    private(set) var bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init<Element: PlainElement>(_ column: PackedColumn<Element>, isCanonical: Bool = false) {
        bytes = []
        var writer = ColumnWriter(self, isCanonical: isCanonical)
        column.write(to: &writer)
        writer.flush()
    }

    func read<Element: PlainElement>(
        _ pieces: PackedColumn<Element>.PieceLength, atMost most: Int
    ) throws(ColumnError) -> PackedColumn<Element> {
        offset = 0
        var reader = ColumnReader(self)
        let column = try PackedColumn<Element>(from: &reader, pieceLength: pieces, atMost: most)
        try reader.checkEnd()
        return column
    }

    var byteCount: Int { bytes.count }

    func write(_ block: [UInt8]) { bytes += block }

    func read(into block: inout [UInt8]) throws(ColumnError) -> Int {
        let count = min(ColumnWriter.blockByteCount, bytes.count - offset)
        block.replaceSubrange(0..<count, with: bytes[offset..<offset + count])
        offset += count
        return count
    }
}
