/// A walk over the columns of a table, in the order of their bytes: it writes them, reads and
/// checks them, or removes their hash slots.
///
/// A table names its columns once, in a function `visit` that takes a visitor. The further
/// parameters of such a function bound what is read, so that a forged file cannot cause an access
/// out of bounds later; the other walks ignore them.
///
/// Not a protocol: a generic function would not be specialized for its visitor in other modules.
package struct ColumnVisitor {
    private var writer: ColumnWriter?
    private var reader: ColumnReader?
    /// Whether it reads: what is not stored is then derived, and columns are compared with each
    /// other.
    package var isReading: Bool { reader != nil }

    /// Writes what a closure visits.
    package static func write(
        to writer: inout ColumnWriter, _ body: (inout ColumnVisitor) throws(ColumnError) -> Void
    ) {
        var visitor = ColumnVisitor(writer: writer)
        // The visitor then has the only reference to the block.
        writer.block = []
        visitor.walk(body)
        if let used = visitor.writer { writer = used }
    }

    /// Reads what a closure visits.
    package static func read(
        from reader: inout ColumnReader, _ body: (inout ColumnVisitor) throws(ColumnError) -> Void
    ) throws(ColumnError) {
        var visitor = ColumnVisitor(reader: reader)
        reader.block = []
        try body(&visitor)
        if let used = visitor.reader { reader = used }
    }

    /// Removes the hash slots of what a closure visits, a copy that is only written: a later
    /// insertion into the original copies no slots.
    package static func removeSlots(_ body: (inout ColumnVisitor) throws(ColumnError) -> Void) {
        var visitor = ColumnVisitor()
        visitor.walk(body)
    }

    private mutating func walk(_ body: (inout ColumnVisitor) throws(ColumnError) -> Void) {
        do throws(ColumnError) { try body(&self) } catch { preconditionFailure("only reading fails, not: \(error)") }
    }

    /// Visits a part of a table.
    package mutating func visit<Part>(
        _ part: inout Part, write: (Part, inout ColumnWriter) -> Void,
        read: (inout Part, inout ColumnReader) throws(ColumnError) -> Void, removeSlots: (inout Part) -> Void = { _ in }
    ) throws(ColumnError) {
        if isReading {
            try reader?.read(&part, by: read)
        } else if writer == nil {
            removeSlots(&part)
        } else {
            writer?.write(part, by: write)
        }
    }

    /// Visits one number.
    package mutating func visit<Number: PlainElement>(_ number: inout Number) throws(ColumnError) {
        try visit(
            &number, write: { $1.write($0) },
            read: { (number, reader) throws(ColumnError) in number = try reader.read() })
    }

    /// Visits a Boolean, stored as 0 or 1.
    package mutating func visit(_ flag: inout Bool) throws(ColumnError) {
        try visit(
            &flag, write: { $1.write($0) },
            read: { (flag, reader) throws(ColumnError) in flag = try reader.readFlag() })
    }

    /// Visits a number for each row.
    ///
    /// Reading sets fields of rows that exist.
    ///
    /// - Parameter access: Gives the value access to the field.
    @inlinable package mutating func visit<Row, Number: PlainElement & FixedWidthInteger>(
        eachOf rows: inout Column<Row>, _ access: (inout Row, inout FieldValue<Number>) -> Void
    ) throws(ColumnError) {
        try visit(
            &rows,
            write: { rows, writer in
                writer.write(rows.indices) { index in
                    var (row, value) = (rows[index], FieldValue<Number>(value: 0, isSet: false))
                    access(&row, &value)
                    return value.value
                }
            },
            read: { (rows, reader) throws(ColumnError) in
                let numbers: [Number] = try reader.readArray(rows.count)
                for index in rows.indices {
                    var value = FieldValue(value: numbers[index], isSet: true)
                    access(&rows[index], &value)
                }
            })
    }

    /// Visits a text or nil for each row, as ``visit(eachOf:_:)``.
    @inlinable package mutating func visit<Row>(
        textOf rows: inout Column<Row>, _ access: (inout Row, inout FieldValue<String?>) -> Void
    ) throws(ColumnError) {
        try visit(
            &rows,
            write: { rows, writer in
                writer.write(
                    rows.indices,
                    text: { index in
                        var (row, value) = (rows[index], FieldValue<String?>(value: nil, isSet: false))
                        access(&row, &value)
                        return value.value
                    })
            },
            read: { (rows, reader) throws(ColumnError) in
                let texts = try reader.readTexts(rows.count)
                for index in rows.indices {
                    var value = FieldValue(value: texts[index], isSet: true)
                    access(&rows[index], &value)
                }
            })
    }

    /// Visits a part whose bounds are checked later, or that has none.
    package mutating func visit<Part: ColumnCoded>(
        coded part: inout Part, removeSlots: (inout Part) -> Void
    ) throws(ColumnError) {
        try visit(
            &part, write: { $0.write(to: &$1) },
            read: { (part, reader) throws(ColumnError) in part = try Part(from: &reader) }, removeSlots: removeSlots)
    }

    /// Visits a part that is not stored, because it follows from others.
    package mutating func visit<Part>(unstored part: inout Part, removeSlots: (inout Part) -> Void)
        throws(ColumnError)
    {
        try visit(&part, write: { _, _ in }, read: { _, _ in }, removeSlots: removeSlots)
    }
}

extension ColumnWriter {
    fileprivate mutating func write<Part>(_ part: Part, by write: (Part, inout ColumnWriter) -> Void) {
        write(part, &self)
    }
}

extension ColumnReader {
    fileprivate mutating func read<Part>(
        _ part: inout Part, by read: (inout Part, inout ColumnReader) throws(ColumnError) -> Void
    ) throws(ColumnError) {
        try read(&part, &self)
    }
}

/// The value of a field of a row: got from the row by a writer, set in the row by a reader.
package struct FieldValue<Value> {
    @usableFromInline var value: Value
    /// Whether the field is set.
    @usableFromInline let isSet: Bool

    @inlinable init(value: Value, isSet: Bool) { (self.value, self.isSet) = (value, isSet) }

    /// Sets or gets a field.
    @inlinable package mutating func callAsFunction(_ field: inout Value) {
        if isSet { field = value } else { value = field }
    }
}

extension FieldValue where Value == UInt8 {
    /// Sets or gets a Boolean field, stored as 0 or 1.
    @inlinable package mutating func callAsFunction(_ flag: inout Bool) {
        if isSet { flag = value != 0 } else { value = flag ? 1 : 0 }
    }
}

/// A list of numbers, one for each row of a table.
package protocol NumberColumn {
    /// The number of numbers.
    var count: Int { get }

    /// Writes the numbers.
    func write(to writer: inout ColumnWriter)

    /// Reads at most this many numbers.
    init(from reader: inout ColumnReader, atMost most: Int) throws(ColumnError)

    /// Throws unless every number is less than a bound.
    func check(below bound: Int) throws(ColumnError)
}

extension NumberColumn {
    /// Visits at most this many numbers.
    @inlinable package mutating func visit(
        _ visitor: inout ColumnVisitor, atMost most: Int, below bound: Int? = nil
    ) throws(ColumnError) {
        try visitor.visit(
            &self, write: { $0.write(to: &$1) },
            read: { (column, reader) throws(ColumnError) in
                column = try Self(from: &reader, atMost: most)
                if let bound { try column.check(below: bound) }
            })
    }

    /// Visits a number for each of these rows.
    @inlinable package mutating func visit(
        _ visitor: inout ColumnVisitor, rows: Int, below bound: Int? = nil
    ) throws(ColumnError) {
        try visit(&visitor, atMost: rows, below: bound)
        if visitor.isReading, count != rows { throw ColumnError("\(count) numbers for \(rows) rows") }
    }
}

extension MostlyZeroColumn: NumberColumn where Element: PlainElement {}

extension Column: NumberColumn where Element == UInt32 {
    package init(from reader: inout ColumnReader, atMost most: Int) throws(ColumnError) {
        try self.init(from: &reader)
        try require(count <= most, "\(count) numbers exceed the maximum of \(most)")
    }
}

extension PackedColumn: NumberColumn where Element: PlainElement {
    package init(from reader: inout ColumnReader, atMost most: Int) throws(ColumnError) {
        try self.init(from: &reader, pieceLength: .long, atMost: most)
    }
}

extension PackedColumn<UInt64> {
    /// Visits positions that ascend, not strictly, to at most `head`.
    package mutating func visit(
        _ visitor: inout ColumnVisitor, atMost most: Int, ascendingTo head: UInt64
    ) throws(ColumnError) {
        try visit(&visitor, atMost: most)
        if visitor.isReading { try check(ascendingTo: head) }
    }
}

extension SubsetInterner {
    /// Visits entries that are each less than a bound.
    package mutating func visit(_ visitor: inout ColumnVisitor, below bound: Int) throws(ColumnError) {
        try visitor.visit(coded: &self) { $0.removeSlots() }
        if visitor.isReading { try check(below: bound) }
    }
}

extension PairInterner {
    /// Visits pairs whose numbers are each less than a bound.
    package mutating func visit(_ visitor: inout ColumnVisitor, below first: Int, _ second: Int) throws(ColumnError) {
        try visitor.visit(coded: &self) { $0.removeSlots() }
        if visitor.isReading { try check(firstBelow: first, secondBelow: second) }
    }
}

extension IDInterner {
    /// Visits the ids.
    package mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) {
        try visitor.visit(coded: &self) { $0.removeSlots() }
    }
}

extension TextInterner {
    /// Visits the texts.
    package mutating func visit(_ visitor: inout ColumnVisitor) throws(ColumnError) {
        try visitor.visit(coded: &self) { $0.removeSlots() }
    }
}

extension RowLists {
    /// Visits the lists of `rows` rows and at most `owners` owners.
    package mutating func visit(_ visitor: inout ColumnVisitor, rows: Int, owners: Int) throws(ColumnError) {
        try visitor.visit(
            &self, write: { $0.write(to: &$1) },
            read: { (lists, reader) throws(ColumnError) in
                lists = try RowLists(from: &reader, rows: rows, owners: owners)
            })
    }
}
