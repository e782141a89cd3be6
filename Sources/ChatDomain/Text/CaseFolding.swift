// Foundation and not FoundationEssentials: the canonical normal forms are only there, and the standard library has none
// in public.
internal import Foundation

/// Canonical caseless matching: the key by which names that differ only in case or in composition are one.
enum CaseFolding {
    /// Returns the Normalization Form D of the full case folding of a text's Normalization Form D.
    ///
    /// Two texts have one key where they are a canonical caseless match (The Unicode Standard, section 3.13, D145). It is
    /// full folding, so `ß` matches `ss`, and it is not tailored to a language, so a dotless `ı` matches itself alone.
    ///
    /// The key takes at most three bytes for each byte of the text (U+0390 is the worst of Unicode), so callers bound what
    /// they give it.
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
        // Form D and not the shorter form C: measured with Swift 6.3 on Linux, Foundation composes scalars outside the Basic
        // Multilingual Plane by the low 16 bits of their values, so that U+10041 with an acute accent became an A with one
        // and two different names a clash. Its decomposition is right for every scalar.
        return String(folded).decomposedStringWithCanonicalMapping
    }

    /// Appends the mappings C and F of `CaseFolding.txt` for one scalar of a text in form D.
    ///
    /// The standard library does not offer them. The lower case of the upper case of a scalar is its folding everywhere
    /// but in the cases listed here; they are what a comparison of every scalar with that file's mappings left over.
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
