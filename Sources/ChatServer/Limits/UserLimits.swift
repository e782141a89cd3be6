#if Server
    /// What one user may do, so that nobody keeps the others from the chat.
    ///
    /// A rate is a number for each second. What was not used is saved: commands and sanctions for 2
    /// s, threads and invitations for 100 s, queries for 10 s. Who has used up all gets the status
    /// 429 with `Retry-After`. The defaults keep others' posts fast whatever one user does; they
    /// are no protection from spam, for which a host lowers ``Name/commands``.
    public struct UserLimits: Sendable {
        /// The seconds for which what is not used is saved.
        static let savedSeconds = [Name.commands: 2.0, .threads: 100, .invitations: 100, .sanctions: 2, .queries: 10]

        /// What is limited, by the name that the metrics and the tool have for it.
        public enum Name: String, CaseIterable, Sendable {
            /// Commands, each of a batch.
            case commands
            /// Threads that are opened.
            case threads
            /// Invitations.
            case invitations
            /// Mutes, bans and removals of members, and the ends of mutes and bans.
            case sanctions
            /// Milliseconds of queries.
            case queries
            /// Streams and WebSockets at once.
            case streams
            /// Follows of WebSockets at once.
            case follows
        }

        /// The number of each; of ``Name/streams`` and ``Name/follows`` at once, of the others for
        /// each second.
        private var numbers: [Name: Int] = [
            .commands: 10_000, .threads: 20, .invitations: 20, .sanctions: 20, .queries: 1_000, .streams: 1_024,
            .follows: 1_024,
        ]

        /// Creates the default limits.
        public init() {}

        /// A limit; at least 1.
        public subscript(name: Name) -> Int {
            get { numbers[name, default: 1] }
            set { numbers[name] = max(1, newValue) }
        }
    }
#endif
