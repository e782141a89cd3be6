#if Server
    public import ChatAccounts

    /// The options of a server.
    public struct ServerOptions: Sendable {
        /// The address to listen on.
        public var listen: ListenAddress
        /// The origins of the pages that may use the API with a cookie; required beyond loopback.
        public var origins: [WebOrigin] = []
        /// The proxies whose `X-Forwarded-For` is believed.
        public var trustedProxies: [ClientAddress] = []
        /// The address of the metrics, on loopback; nil for none.
        public var metrics: ListenAddress?
        /// The number of connections; more wait in the queue of the system.
        ///
        /// Lowered to the process's limit of open files less 256, but not below 16.
        public var maximumConnectionCount = 16_384
        /// The users of the accounts with these confirmed addresses become operators of the
        /// community.
        ///
        /// At the start of the server, or when the address is confirmed. An address that is left
        /// out later revokes nothing: execute `revokeOperator`. A read-only server ignores them.
        public var operators: [EmailAddress] = []
        /// The name of the site on its page; nil for ``defaultSiteName``.
        ///
        /// Mails have that of `AccountOptions.site`.
        public var siteName: String?
        /// The name of the site in the file `index.html` of the page, which ``siteName`` replaces.
        public static let defaultSiteName = "Isolation Nation"
        /// The texts of the operator of the site, which the page links.
        public var about = AboutTexts()
        /// What one user may do.
        public var userLimits = UserLimits()
        /// Whether every request is logged, and not only what the host must know.
        public var logsRequests = false
        /// Receives the lines of the log: JSON, without a line feed.
        public var log: @Sendable (String) -> Void = { _ in }
        /// The limits of the WebSockets.
        var socketLimits = SocketLimits()
        /// The memory that clients make the server hold.
        var clientBudget = ClientBudget()

        /// Creates the default options.
        public init(listen: ListenAddress) { self.listen = listen }
    }
#endif
