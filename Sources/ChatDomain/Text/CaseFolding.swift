// Foundation, not FoundationEssentials: only it has the canonical normalization forms, and the
// standard library has no public API for them.
internal import Foundation

/// Canonical caseless matching: one key for all names that differ only in case or composition.
enum CaseFolding {
    /// Returns the Normalization Form D of the full case folding of a text's Normalization Form D.
    ///
    /// Two texts have the same key if and only if they are a canonical caseless match (The Unicode
    /// Standard, section 3.13, D145). Full folding maps `ß` to `ss`. It is not tailored to a
    /// language, so a dotless `ı` matches only itself.
    ///
    /// The key takes at most three bytes per byte of the text (U+0390 is the worst case), so
    /// callers bound the text.
    ///
    /// - Complexity: O(*n*).
    static func key(of text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text.lowercased()
        }
        var folded = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            append(foldingOf: scalar, to: &folded)
        }
        // Form D, not the shorter form C: Foundation of Swift 6.3 on Linux composes scalars beyond
        // the Basic Multilingual Plane by the low 16 bits of their values. U+10041 with an acute
        // accent becomes an A with an acute accent, so two different names would clash. Its
        // decomposition is correct.
        return String(folded).decomposedStringWithCanonicalMapping
    }

    /// Appends the mappings C and F of `CaseFolding.txt` for a scalar of a text in form D.
    ///
    /// The standard library has no case folding. The lower case of a scalar's upper case equals its
    /// folding, except in the cases listed here. They are the differences found by comparing every
    /// scalar with the mappings of that file.
    private static func append(foldingOf scalar: Unicode.Scalar, to folded: inout String.UnicodeScalarView) {
        switch scalar.value {
        case 0x0131:  // No mapping in `CaseFolding.txt`, although the upper case is I.
            folded.append(scalar)
        case 0x1E9E:  // Capital sharp s: its own upper case; its lower case is not folded.
            folded.append(contentsOf: "ss".unicodeScalars)
        case 0x13A0...0x13FD, 0xAB70...0xABBF:  // Cherokee folds to capitals; Unicode added its small letters later.
            folded.append(contentsOf: scalar.properties.uppercaseMapping.unicodeScalars)
        default:
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }
}
