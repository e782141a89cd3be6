import ChatDomain
public import ChatValues
public import Observation

/// A user's inbox, kept current for a screen while ``follow()`` runs.
@MainActor @Observable public final class LiveInbox: LiveView {
    /// The latest entries of an inbox, and how many are unread.
    public struct Inbox: Hashable, Sendable {
        /// The entries, newest first.
        public var entries: [InboxEntry]
        /// The number of unread entries.
        public var unread: InboxCount

        /// Creates an inbox, for example in a test.
        public init(entries: [InboxEntry], unread: InboxCount) { (self.entries, self.unread) = (entries, unread) }
    }

    /// The loading state and the inbox.
    public internal(set) var state = LoadState<Inbox>.loading

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any LiveSource<Inbox, Inbox>

    package init(source: any LiveSource<Inbox, Inbox>) { self.source = source }

    /// The entries to display, newest first.
    public var entries: [InboxEntry] { state.value?.entries ?? [] }
    /// The number of unread entries, once it is known.
    public var unread: InboxCount? { state.value?.unread }

    /// Reads the inbox and keeps it current until the task is cancelled or the store or client is
    /// closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    func load() async throws(LiveFailure) -> LiveLoad<Inbox, Inbox> { try await source.load() }

    func apply(_ change: Inbox, to inbox: inout Inbox) { inbox = change }
}
