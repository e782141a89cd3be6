/// The keys by which people are searched for, which say less than those that make names unique.
package enum NameSearch {
    /// Returns the key of a text that is searched for.
    ///
    /// A text over ``NameRules/maximumInputByteCount`` is returned unchanged, and begins no name.
    package static func key(of text: String) -> String {
        text.utf8.count > NameRules.maximumInputByteCount ? text : key(ofFoldKey: Username.foldKey(text))
    }

    /// Returns the key of a name: its fold key without accents and other marks, and with the Latin
    /// letters that have no decomposition as one types them without their key.
    ///
    /// So `e`, `em` and `emile` begin `Émile`, and `lukasz` begins `Łukasz`. The marks that are
    /// left out stand above, below or in a letter, or are the vowels of Hebrew and Arabic. Those
    /// without which a letter is another one stay: the vowel signs of Indic scripts, the marks
    /// of kana, and Thai.
    ///
    /// - Complexity: O(*n*); O(1) more than the check for a key of ASCII.
    package static func key(ofFoldKey key: String) -> String {
        if key.utf8.allSatisfy({ $0 < 0x80 }) { return key }
        var plain = String.UnicodeScalarView()
        for scalar in key.unicodeScalars where !isAccent(scalar) {
            if let letters = letters[scalar] {
                plain.append(contentsOf: letters.unicodeScalars)
            } else {
                plain.append(scalar)
            }
        }
        return String(plain)
    }

    /// Whether a scalar is a mark that one leaves out, by its canonical combining class.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        // The scalars below have no marks.
        guard scalar.value >= 0x300 else { return false }
        let combining = scalar.properties.canonicalCombiningClass.rawValue
        return combining == 1 || (10...36).contains(combining) || combining >= 200
    }

    /// The folded Latin letters without a decomposition.
    private static let letters: [Unicode.Scalar: String] = [
        "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe", "ŧ": "t",
    ]
}
