#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Rejection: LocalizedError {
    /// The ``message``, as the localized description.
    public var errorDescription: String? { message }
}
