// Foundation and not FoundationEssentials: the canonical normal forms are only there, and the standard library has none
// in public.
internal import Foundation

/// Canonical caseless matching: the key by which names that differ only in case or in composition are one.
enum CaseFolding {
    /// Returns the Normalization Form C of the full case folding of a text's Normalization Form D.
    ///
    /// Two texts have one key where they are a canonical caseless match (The Unicode Standard, section 3.13, D145); the
    /// standard compares form D there, form C is as good and shorter to keep. It is full folding, so `ß` matches `ss`, and
    /// it is not tailored to a language, so a dotless `ı` matches itself alone.
    ///
    /// The result can be several times as long as the text, so callers bound what they give it.
    ///
    /// - Complexity: O(*n*), in one step for ASCII.
    static func key(of text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text.lowercased()
        }
        var folded = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            append(foldingOf: scalar, to: &folded)
        }
        return String(folded).precomposedStringWithCanonicalMapping
    }

    /// Appends the mappings C and F of `CaseFolding.txt` for one scalar of a text in form D.
    ///
    /// The standard library does not offer them. The lower case of the upper case of a scalar is its folding everywhere
    /// but in the cases listed here; they are what a comparison with every line of that file left over.
    private static func append(foldingOf scalar: Unicode.Scalar, to folded: inout String.UnicodeScalarView) {
        switch scalar.value {
        case 0x0131:  // A dotless i is the capital I only in Turkic languages, whose mappings (T) are not for general use.
            folded.append(scalar)
        case 0x1E9E:  // A capital sharp s is its own upper case, and its lower case is not folded yet.
            folded.append(contentsOf: "ss".unicodeScalars)
        case 0x13A0...0x13FD, 0xAB70...0xABBF:  // Cherokee folds to capitals: its small letters were added later.
            folded.append(contentsOf: scalar.properties.uppercaseMapping.unicodeScalars)
        default:
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }
}
