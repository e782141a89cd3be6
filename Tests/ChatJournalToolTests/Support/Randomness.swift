extension String {
    /// A string of up to 24 scalars, many of them special for escapes and widths.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &generator) { text.append(.random(using: &generator)) }
        return String(text)
    }
}

extension Unicode.Scalar {
    static func random(using generator: inout some RandomNumberGenerator) -> Unicode.Scalar {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x20...0x7E, 0x0...0x1F, 0x7F...0xFF, 0x300...0x36F, 0x600...0x61C, 0x2000...0x206F,
            0xE000...0xFFFF,
            0x1F300...0x1FAFF, 0xE0000...0xE007F, 0x0...0x10FFFF,
        ]
        while true {
            let range = ranges[Int.random(in: 0..<ranges.count, using: &generator)]
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { return scalar }
        }
    }
}
