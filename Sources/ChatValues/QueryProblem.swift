/// Why a path and parameters are not those of a query.
package enum QueryProblem: Error, Hashable, Sendable {
    /// A segment of the path is not a value: nothing exists there.
    case notFound
    /// The query has no parameter with this name.
    case unknown(String)
    /// The parameter is given twice.
    case repeated(String)
    /// The parameter is the second of `before`, `after`, `around` and `at`.
    case secondBound(String)
    /// The parameter is required.
    case missing(String)
    /// The value of a parameter is not of its form, such as `a whole number from 1 to 200`.
    case invalid(String, form: String)
    /// The query has a property that is no value of a path or a parameter, such as a list.
    case unsupported
}
