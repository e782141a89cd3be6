/// Interns texts: assigns dense indexes from 0 in order of insertion.
///
/// Texts are equal if their UTF-8 bytes are.
public struct TextInterner: Equatable, Sendable {
    private var texts = Column<String>()
    private var rows = RowIndex()

    /// Creates an empty index.
    public init() {}

    /// The number of texts.
    public var count: Int { texts.count }

    /// Returns the text with an index.
    public func text(_ index: Int) -> String { texts[index] }

    /// Returns the index of a text, or nil.
    ///
    /// - Complexity: O(*n*) in the length of the text on average.
    public func find(_ text: String) -> Int? { rows.find(Bytes(text: text)) { [texts] in Bytes(text: texts[$0]) } }

    /// Returns the index of a text, assigning the next one if the text is new.
    ///
    /// - Complexity: O(*n*) in the length of the text on average.
    public mutating func insert(_ text: String) -> (index: Int, isNew: Bool) {
        if let index = find(text) { return (index, false) }
        texts.append(text)
        // The closure has the column alone: with `self` it would copy the slots too.
        rows.update(texts.count - 1, of: texts.count) { [texts] in Bytes(text: texts[$0]) }
        return (texts.count - 1, true)
    }

    /// Removes the slots of a copy that is only written.
    ///
    /// A later insertion into the original then copies no slots. Afterwards the copy can no longer
    /// find or insert texts.
    public mutating func removeSlots() { rows = RowIndex() }

    /// A text compared by its UTF-8 bytes, not by canonical equivalence.
    private struct Bytes: Hashable {
        let text: String

        static func == (first: Bytes, second: Bytes) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

        /// Combines eight bytes at a time, which takes an eighth of the calls.
        func hash(into hasher: inout Hasher) {
            var word: UInt64 = 0
            var count: UInt64 = 0
            let bytes = text.utf8.span
            for index in bytes.indices {
                word = word << 8 | UInt64(bytes[index])
                count &+= 1
                if count & 7 == 0 {
                    hasher.combine(word)
                    word = 0
                }
            }
            hasher.combine(word)
            hasher.combine(count)
        }
    }
}

extension TextInterner: ColumnCoded {
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        writer.write(texts.indices, text: { texts[$0] })
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        let count = try reader.readCount()
        for text in try reader.readTexts(count) {
            guard let text, insert(text).isNew else { throw ColumnError("a text is missing or occurs twice") }
        }
    }
}
