/// A field of a JSON object that its type does not have.
///
/// It is the `underlyingError` of the `DecodingError.dataCorrupted` that ``FieldKey`` containers throw for it, so that whoever reports the
/// error can tell it from a value that is not allowed.
package struct UnknownFieldError: Error, Equatable {
    /// The name of the field, as it stands in the input: of any length and with any characters.
    package let field: String

    /// An error for a field name.
    package init(field: String) {
        self.field = field
    }
}
