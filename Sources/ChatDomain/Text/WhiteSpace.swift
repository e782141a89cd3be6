extension Unicode.Scalar {
    /// Whether the scalar is white space (the property `White_Space`).
    ///
    /// Almost all scalars of names and texts are in ASCII, where the space and U+0009 to U+000D are
    /// white space: they are not looked up in the tables of the standard library.
    @inline(__always) var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}
