/// The names that may follow the @ signs of a post's text.
///
/// A name begins after an `@` that no letter, digit or `_` precedes, and ends at the end of a word.
/// Writing without spaces needs neither: a letter of Han, kana, Hangul, Thai, Lao, Khmer or Myanmar
/// may precede the `@`, and after a name that ends in one no end is needed. No name stands in code,
/// links and addresses, as the web page draws them.
package struct MentionedNames {
    /// The names after an `@`: all are beginnings of one key.
    private struct Place {
        let start: Int
        /// The fold key of the longest name.
        var key = ""
        /// The ends of the names in the text and in the key, ascending.
        var ends: [(text: Int, key: Int)] = []
    }

    private var places: [Place] = []

    /// The maximum number of names that are looked up for a text.
    ///
    /// It bounds the work for a text of nothing but `@`. In writing without spaces a name can end
    /// after each of its 64 letters; this is 64 such names, and a text mentions at most 50 users.
    package static let maximumNameCount = 4096

    /// The maximum number of scalars read for one name: four times those of a name, for letters
    /// that are decomposed and for runs of white space.
    private static let maximumScalarCount = 4 * Username.maximumScalarCount

    /// The maximum length of a fold key, in bytes.
    private static let maximumKeyByteCount = 3 * Username.maximumByteCount

    /// Finds the names.
    ///
    /// - Complexity: O(*n*) in the length of the text, and at most ``maximumNameCount`` names.
    package init(in text: String) {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return }
        let scalars = PlainText(text).scalars
        var rest = Self.maximumNameCount
        for index in scalars.indices where scalars[index] == "@" && rest > 0 && Self.canMention(scalars, index) {
            let place = Self.names(scalars, after: index, limit: rest)
            rest -= place.ends.count
            if !place.ends.isEmpty { places.append(place) }
        }
    }

    /// Whether no name follows an `@`.
    package var isEmpty: Bool { places.isEmpty }

    /// Returns the users whom the text names, each once, in order: after each `@` the user with the
    /// longest name.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of users.
    ///   - user: Returns the user with a name, by its fold key; nil if the text cannot mention one.
    package func users(limit: Int, _ user: (_ foldKey: String) -> UserID?) -> [UserID] {
        var found: [UserID] = []
        var end = 0
        for place in places where place.start >= end {
            guard found.count < limit else { break }
            for name in place.ends.reversed() {
                let key = place.key[..<place.key.utf8.index(place.key.startIndex, offsetBy: name.key)]
                guard let user = user(String(key)) else { continue }
                if !found.contains(user) { found.append(user) }
                end = name.text
                break
            }
        }
        return found
    }
}

extension MentionedNames {
    /// Returns the names after an `@`.
    private static func names(_ scalars: [Unicode.Scalar], after at: Int, limit: Int) -> Place {
        var place = Place(start: at)
        guard at + 1 < scalars.count, !scalars[at + 1].isWhiteSpace else { return place }
        // What follows the last end, with normalized white space.
        var part = String.UnicodeScalarView()
        var letters = 0
        for index in scalars[(at + 1)...].prefix(maximumScalarCount).indices {
            let scalar = scalars[index]
            if scalar.isWhiteSpace {
                if part.last != " " { part.append(" ") }
                continue
            }
            if scalar.properties.generalCategory == .control { break }
            letters += isContinuation(scalar) ? 0 : 1
            if letters > Username.maximumScalarCount { break }
            part.append(scalar)
            guard canEnd(scalars, index) else { continue }
            place.key += CaseFolding.key(of: String(part))
            part.removeAll()
            if place.key.utf8.count > maximumKeyByteCount || place.ends.count == limit { break }
            place.ends.append((index + 1, place.key.utf8.count))
        }
        return place
    }

    /// Whether a name can follow the `@` at an index.
    private static func canMention(_ scalars: [Unicode.Scalar], _ at: Int) -> Bool {
        // A letter has the marks that follow it.
        guard let letter = scalars[..<at].lastIndex(where: { !isMark($0) }) else { return true }
        return !isOfWord(scalars[letter]) || isUnspaced(scalars[letter])
    }

    /// Whether a name can end with the scalar at an index.
    private static func canEnd(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        guard index + 1 < scalars.count else { return true }
        let next = scalars[index + 1]
        return !isContinuation(next) && (!isOfWord(next) || isUnspaced(scalars[index]))
    }

    /// Whether a scalar is a letter, a digit or `_`.
    static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        case "\0"..."\u{7F}": false
        default:
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
            default: isNumber(scalar)
            }
        }
    }

    private static func isNumber(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether a scalar belongs to the letter before it: a mark, or a vowel or final of Hangul.
    private static func isContinuation(_ scalar: Unicode.Scalar) -> Bool {
        isMark(scalar) || (0x1160...0x11FF).contains(scalar.value)
    }

    /// Whether a scalar is a letter or a mark of a script whose words have no spaces or take endings without one: Han,
    /// kana, Hangul, Thai, Lao, Khmer or Myanmar.
    ///
    /// The standard library does not know scripts. These are the blocks of the scripts, without
    /// punctuation.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0xE01 else { return false }
        return unspaced.contains { $0.contains(scalar.value) } && !isNumber(scalar)
    }

    private static let unspaced: [ClosedRange<UInt32>] = [
        // Thai and Lao, Myanmar, Hangul, Khmer.
        0xE01...0xE3A, 0xE40...0xEFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x19E0...0x19FF,
        // Han, kana, Hangul.
        0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303B, 0x3041...0x3096,
        0x3099...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x3131...0x318E, 0x31F0...0x31FF, 0x3400...0x4DBF,
        0x4E00...0x9FFF, 0xA960...0xA97F,
        // Myanmar, Hangul, Han, half-width kana and Hangul.
        0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFF66...0xFF9F, 0xFFA0...0xFFDC,
        // Supplements of Han and kana.
        0x16FE2...0x16FF6, 0x1AFF0...0x1B16F, 0x20000...0x3FFFD,
    ]
}
