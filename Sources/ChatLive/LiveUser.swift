import ChatDomain
public import ChatValues
public import Observation

/// A user's own details, kept current for a screen while ``follow()`` runs.
///
/// The details are the name, the postcode, and the threads with their unread counts.
@MainActor @Observable public final class LiveUser: LiveView {
    /// The loading state and the details.
    public internal(set) var state = LoadState<UserDetails>.loading

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any LiveSource<UserDetails, UserDetails>

    package init(source: any LiveSource<UserDetails, UserDetails>) { self.source = source }

    /// The details of the user, once they are loaded.
    public var user: UserDetails? { state.value }

    /// Reads the details and keeps them current until the task is cancelled or the store or client
    /// is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    func load() async throws(LiveFailure) -> LiveLoad<UserDetails, UserDetails> { try await source.load() }

    func apply(_ change: UserDetails, to user: inout UserDetails) { user = change }
}
