#if Client || canImport(SQLite3)
    /// A key of a terminal.
    enum Key: Hashable, Sendable {
        case character(Character)
        /// Text that was pasted.
        case paste(String)
        case enter, tab, backTab, backspace, delete, escape
        case up, down, left, right, home, end, pageUp, pageDown
        case function(Int)
        /// A letter with Control.
        case control(Character)
        /// A character with Alt; Enter is `\n`.
        case alt(Character)
    }

    /// Finds the keys in the bytes of a terminal, in pieces of any size.
    ///
    /// Sequences that are not known and bytes that are not UTF-8 are dropped.
    struct KeyParser {
        /// A longer sequence is no key.
        private static let longestSequence = 32
        /// The most bytes of one paste; the rest is dropped.
        private static let longestPaste = 64 << 10
        private static let pasteEnd = Array("\u{1b}[201~".utf8)

        private var bytes: [UInt8] = []
        /// The bytes of a paste, while one is read.
        private var paste: [UInt8]?

        /// Returns the keys that end in the next bytes.
        mutating func parse(_ next: some Sequence<UInt8>) -> [Key] {
            var keys: [Key] = []
            for byte in next {
                if paste != nil {
                    if let text = takePasted(byte) { keys.append(.paste(text)) }
                } else {
                    bytes.append(byte)
                    if let key = takeKey(isEnd: false) { keys.append(contentsOf: key) }
                }
            }
            return keys
        }

        /// Returns the key of an escape that nothing follows, after a pause.
        mutating func pause() -> [Key] {
            guard paste == nil, !bytes.isEmpty else { return [] }
            return takeKey(isEnd: true) ?? []
        }

        private mutating func takePasted(_ byte: UInt8) -> String? {
            paste?.append(byte)
            guard let count = paste?.count else { return nil }
            // Beyond the bound only what can be the end is kept.
            if count > Self.longestPaste + Self.pasteEnd.count { paste?.remove(at: Self.longestPaste) }
            guard byte == Self.pasteEnd.last, let pasted = paste,
                pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd)
            else {
                return nil
            }
            paste = nil
            return String(decoding: pasted.dropLast(Self.pasteEnd.count), as: UTF8.self)
        }

        /// Returns the keys of the collected bytes; nil if more bytes belong to them.
        private mutating func takeKey(isEnd: Bool) -> [Key]? {
            guard let first = bytes.first else { return nil }
            let found: [Key]?
            switch first {
            case 0x1B: found = escapeSequence(isEnd: isEnd)
            case 0x00..<0x20, 0x7F: found = Self.control(first).map { [$0] } ?? []
            default: found = character(bytes[...], isEnd: isEnd).map { $0.map { [.character($0)] } ?? [] }
            }
            // After an escape that is a key, another one can begin a sequence.
            if found != nil { bytes = bytes == [0x1B, 0x1B] ? [0x1B] : [] }
            return found
        }

        private static func control(_ byte: UInt8) -> Key? {
            switch byte {
            case 0x0D, 0x0A: .enter
            case 0x09: .tab
            case 0x08, 0x7F: .backspace
            case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
            default: nil
            }
        }

        /// Returns the scalar of UTF-8 bytes; nil if it is not whole, `.some(nil)` if the bytes are
        /// wrong.
        private func character(_ bytes: ArraySlice<UInt8>, isEnd: Bool) -> Character?? {
            guard let first = bytes.first else { return nil }
            let length =
                switch first {
                case 0x20..<0x7F: 1
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 0
                }
            guard length > 0 else { return .some(nil) }
            if bytes.count < length {
                let isContinued = bytes.dropFirst().allSatisfy { (0x80...0xBF).contains($0) }
                return isContinued && !isEnd ? nil : .some(nil)
            }
            return .some(String(validating: bytes, as: UTF8.self)?.first)
        }

        private mutating func escapeSequence(isEnd: Bool) -> [Key]? {
            guard bytes.count > 1 else { return isEnd ? [.escape] : nil }
            switch bytes[1] {
            case UInt8(ascii: "["), UInt8(ascii: "O"):
                guard bytes.count > 2 else { return isEnd ? [.alt(Character(Unicode.Scalar(bytes[1])))] : nil }
                guard let last = bytes.last, (0x40...0x7E).contains(last),
                    !(bytes.count == 3 && last == UInt8(ascii: "["))
                else {
                    return bytes.count > Self.longestSequence || isEnd ? [] : nil
                }
                let parameters = String(decoding: bytes[2..<(bytes.count - 1)], as: UTF8.self)
                if last == UInt8(ascii: "~"), parameters == "200" {
                    paste = []
                    return []
                }
                return Self.key(last, parameters).map { [$0] } ?? []
            case 0x1B: return [.escape]
            case 0x0D, 0x0A: return [.alt("\n")]
            case 0x00..<0x20, 0x7F: return []
            default:
                return character(bytes.dropFirst(), isEnd: isEnd).map { $0.map { [.alt($0)] } ?? [] }
            }
        }

        /// The key of a sequence, by its last byte and its parameters; modifiers are ignored.
        private static func key(_ last: UInt8, _ parameters: String) -> Key? {
            switch last {
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            case UInt8(ascii: "C"): return .right
            case UInt8(ascii: "D"): return .left
            case UInt8(ascii: "H"): return .home
            case UInt8(ascii: "F"): return .end
            case UInt8(ascii: "Z"): return .backTab
            case UInt8(ascii: "P"): return .function(1)
            case UInt8(ascii: "~"): break
            default: return nil
            }
            switch parameters.split(separator: ";").first {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            case "5": return .pageUp
            case "6": return .pageDown
            case "11": return .function(1)
            default: return nil
            }
        }
    }
#endif
