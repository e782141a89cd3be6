/// A value that makes a struct that contains it address-only.
///
/// The compiler passes a borrowed struct that is behind a pointer as a bitwise copy, for example 2 kB
/// of identities for each look-up, unless the struct is address-only (Benchmarks/README.md, R2). A
/// function whose closures use such a struct takes it without `borrowing`: the compiler rejects
/// closures that capture a `borrowing` parameter of it.
package struct AddressOnly: Equatable, Sendable {
    /// An existential, which exists in memory only.
    private var none: (any Sendable)?

    /// Creates the value.
    package init() {}

    package static func == (left: AddressOnly, right: AddressOnly) -> Bool { true }
}
