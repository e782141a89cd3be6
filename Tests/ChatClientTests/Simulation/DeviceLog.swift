#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues

    @testable import ChatClient

    /// What has happened to the commands of a device, as its app was told.
    struct DeviceLog {
        enum End {
            case waits, rejected, withdrawn
            /// Confirmed, in effect at one of these positions: the answer to a command that changes
            /// nothing has none.
            case confirmed(ClosedRange<Position>, hasEvents: Bool)
        }

        struct Entry {
            var request: CommandRequest
            var end = End.waits
            /// Whether it was rejected or stopped once, and so was sent after later ones.
            var wasRejected = false
        }

        /// The positions of the server at which the items were written.
        private var writtenAt: [OutboxItem.ID: Position] = [:]
        private(set) var entries: [OutboxItem.ID: Entry] = [:]
        /// The posts that were written.
        private(set) var posts: [PostID] = []
        /// The last confirmed item without an id, by what it is about.
        private var lastConfirmed: [String: OutboxItem.ID] = [:]

        mutating func written(_ item: OutboxItem, asOf position: Position) { writtenAt[item.id] = position }

        /// Notes a change, and returns what is wrong with it.
        mutating func add(_ change: OutboxChange, asOf position: Position) -> [String] {
            let item = change.item
            var faults: [String] = []
            if let post = item.request.command.createdPost, !posts.contains(post) { posts.append(post) }
            switch change {
            case .queued:
                let wasRejected =
                    if case .rejected? = entries[item.id]?.end { true } else { entries[item.id]?.wasRejected ?? false }
                entries[item.id] = Entry(request: item.request, wasRejected: wasRejected)
            case .sending:
                // With the position that was known, and of a marker the one that it reaches.
                entries[item.id]?.request = item.request
                // What was rejected is sent again only if the user has it sent.
                let isAnew = entries[item.id]?.wasRejected ?? false
                if !isAnew, let subject = item.request.command.subject, let later = lastConfirmed[subject],
                    later > item.id
                {
                    faults.append("\(item.id) is sent after \(later) about \(subject) was confirmed")
                }
                if case .confirmed? = entries[item.id]?.end {
                    faults.append("\(item.id) is sent after it was confirmed")
                }
            case .confirmed(_, let receipt):
                if case .confirmed? = entries[item.id]?.end { faults.append("\(item.id) is confirmed twice") }
                entries[item.id]?.end = .confirmed(
                    receipt.positions.map { $0.upperBound...$0.upperBound } ?? (writtenAt[item.id] ?? 0)...position,
                    hasEvents: receipt.positions != nil)
                if let subject = item.request.command.subject {
                    lastConfirmed[subject] = max(lastConfirmed[subject] ?? 0, item.id)
                }
            case .rejected:
                entries[item.id]?.end = .rejected
                entries[item.id]?.wasRejected = true
            case .withdrawn: entries[item.id]?.end = .withdrawn
            }
            if entries[item.id] == nil { faults.append("\(item.id) was never queued") }
            return faults
        }
    }

    extension OutboxChange {
        var name: String {
            switch self {
            case .queued: "queued"
            case .sending: "sending"
            case .confirmed: "confirmed"
            case .rejected: "rejected"
            case .withdrawn: "withdrawn"
            }
        }
    }

    extension ChatCommand {
        /// What a command without an id is about; nil for one with an id, which takes effect once.
        var subject: String? {
            switch kind {
            case .setNotifications: "level \(threadID)"
            case .joinThread, .leaveThread: "membership \(threadID)"
            case .setPostcode: "postcode"
            case .react, .unreact: "reaction \(postID) \(text)"
            case .block, .unblock: "block \(userID)"
            case .markRead, .markUnread: "marker \(threadID)"
            case .retract: "retraction \(postID)"
            default: nil
            }
        }
    }
#endif
