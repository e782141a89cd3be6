/// Interns texts: each gets a dense index, from 0 in the order in which they come.
///
/// Two texts are one if their UTF-8 bytes are the same.
public struct TextIndex: Equatable, Sendable {
    private var texts = Column<String>()
    private var rows = RowIndex()

    /// Makes an index without texts.
    public init() {}

    /// The number of texts.
    public var count: Int { texts.count }

    /// The text with an index.
    public func text(_ index: Int) -> String { texts[index] }

    /// Finds the index of a text.
    ///
    /// - Complexity: O(*n*) in the length of the text on average.
    public func find(_ text: String) -> Int? { rows.find(Bytes(text: text)) { Bytes(text: texts[$0]) } }

    /// Gives a text its index: the one it has, or the next.
    ///
    /// - Complexity: O(*n*) in the length of the text on average.
    public mutating func insert(_ text: String) -> (index: Int, isNew: Bool) {
        if let index = find(text) { return (index, false) }
        texts.append(text)
        rows.update(texts.count - 1, of: texts.count) { Bytes(text: texts[$0]) }
        return (texts.count - 1, true)
    }

    /// Removes all but the texts, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    public mutating func removeSlots() { rows = RowIndex() }

    /// A text that is equal to no other spelling of its characters.
    private struct Bytes: Hashable {
        let text: String

        static func == (first: Bytes, second: Bytes) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

        func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
    }
}

extension TextIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        writer.write(texts.indices, text: { texts[$0] })
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        let count = try reader.readCount()
        for text in try reader.readTexts(count) {
            guard let text, insert(text).isNew else { throw ColumnError("a text is none, or interned twice") }
        }
    }
}
