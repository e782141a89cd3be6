/// The first problem of a JSON text.
package struct JSONScanError: Error, Equatable {
    /// The kinds of problems.
    package enum Problem: Equatable {
        /// The text is not one JSON value.
        case notJSON
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep
        /// An array has more elements than the limit.
        case tooMany
        /// An object has a field twice.
        case duplicateField
        /// A number is not a whole number that a decoder reads as it is written.
        case inexactNumber
    }

    /// The kind of problem.
    package let problem: Problem
    /// The description of the problem, without the place.
    package let message: String
    /// The offset of the first wrong byte, from 0; nil for the text as a whole.
    package let byteOffset: Int?
    /// The path of a duplicate field or an inexact number: field names, and array indexes in
    /// brackets.
    ///
    /// Empty for other problems and for a number at the top. The names are not shortened.
    package let path: [String]
    /// The index of the element of the array whose elements are scanned; nil outside of the
    /// elements.
    package internal(set) var element: Int?

    init(_ problem: Problem, _ message: String, byteOffset: Int? = nil, path: [String] = []) {
        self.problem = problem
        self.message = message
        self.byteOffset = byteOffset
        self.path = path
    }
}
