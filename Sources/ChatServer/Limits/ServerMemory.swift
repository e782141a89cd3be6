#if Server
    /// What the parts of a server cost in bytes: the table of <doc:ChatServer>, which a test
    /// compares with these numbers.
    enum ServerMemory {
        /// A connection; the number of connections has a limit, so no client pays for one.
        static let connection = 2 << 10
        /// A session that the server remembers.
        static let session = 256
        /// What a thread works on: the JSON of an answer, a file that is compressed.
        static let thread = 4 << 20

        // MARK: What clients pay for

        /// A request, beside its head and body, until its answer is sent.
        static let request = 4 << 10
        /// A query, until the length of its answer is known: a list of 512 KiB, and its compressed
        /// form.
        static let query = 1_536 << 10
        /// A WebSocket, beside its connection.
        static let socket = 9 << 10
        /// A stream of events, beside its connection.
        static let stream = 24 << 10
        /// A follow of a WebSocket.
        static let follow = 20 << 10
        /// The bytes of a mailbox, of those of a stream or socket, that it can hold for nothing
        /// more.
        static let mailbox = 4 << 10
        /// The steps in which a mailbox takes more.
        static let mailboxStep = 8 << 10
        /// A batch of events that are not written: 64 KiB of texts and 256 events.
        static let batch = 208 << 10

        /// Commands, until the length of their answer is known.
        ///
        /// The commands are decoded, and the texts of the answer can be six times as long, in an
        /// array that grows by doubling.
        static func commands(ofBody byteCount: Int) -> Int { (4 << 10) + 12 * byteCount }
    }
#endif
