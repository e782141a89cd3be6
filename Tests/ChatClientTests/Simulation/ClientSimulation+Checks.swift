#if Client || canImport(SQLite3)
    import Chat
    import Foundation
    import LocalStorage
    import TestSupport

    @testable import ChatClient

    // What must be true at the end.
    extension ClientSimulation {
        private var events: [RecordedEvent] {
            get throws {
                var events: [RecordedEvent] = []
                try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in events.append(event) }
                return events
            }
        }

        /// What is wrong with the commands: each one with an id is in the journal exactly once if
        /// it is confirmed, and in its order; any other was in effect; and each rejected one was
        /// reported.
        func faultsOfOutboxes() throws -> [String] {
            let events = try events
            let made = Dictionary(grouping: events.indices.filter { events[$0].createdID != nil }) {
                events[$0].createdID ?? 0
            }
            var faults: [String] = []
            for device in devices {
                guard let client = device.client else { return ["no client"] }
                let left = Set(try client.outbox(limit: 1_000).map(\.id))
                var last: [ThreadID: Position] = [:]
                for (id, entry) in device.log.entries.sorted(by: { $0.key < $1.key }) {
                    let command = entry.request.command
                    let found = (command.kind.form.createsID ? command.id.map { made[$0] ?? [] } ?? [] : []).map {
                        events[$0]
                    }
                    let name = "\(command.name) \(id) of \(device.user)"
                    switch entry.end {
                    case .waits: faults.append("\(name) has no end")
                    case .rejected:
                        if !left.contains(id) { faults.append("\(name) was rejected, and is not in the outbox") }
                        if !found.isEmpty { faults.append("\(name) was rejected, and is in the journal") }
                    case .withdrawn: if !found.isEmpty { faults.append("\(name) was withdrawn, and is in the journal") }
                    case .confirmed(let positions, let hasEvents):
                        let undone = command.opposites(of: device.user, in: events)
                        if hasEvents, let seen = command.seen,
                            undone.contains(where: { $0 > seen && $0 < positions.upperBound })
                        {
                            faults.append("\(name) has undone what its user did elsewhere after \(seen)")
                        }
                        if let once = entry.request.once, events.count(where: { $0.event.once == once }) > 1 {
                            faults.append("\(name) took effect twice")
                        }
                        // It has no effect if the user did the opposite elsewhere meanwhile.
                        if !hasEvents, let seen = command.seen, undone.contains(where: { $0 > seen }) { break }
                        if command.kind.form.createsID {
                            if found.count != 1 {
                                faults.append("\(name) is confirmed, and \(found.count) times in the journal")
                            }
                            guard let event = found.first, let thread = event.thread, !entry.wasRejected else { break }
                            if event.position < last[thread] ?? 0 {
                                faults.append("\(name) is before an earlier command")
                            }
                            last[thread] = event.position
                        } else if !positions.contains(where: { position in
                            command.isInEffect(in: events.prefix { $0.position <= position }, by: device.user)
                        }) {
                            faults.append("\(name) is confirmed, and not in effect at \(positions)")
                        }
                    }
                    if case .rejected = entry.end { continue }
                    if left.contains(id) { faults.append("\(name) is still in the outbox") }
                }
            }
            return faults
        }

        /// What is wrong with the copies: each equals what the server answers to its user.
        func faultsOfCopies() async throws -> [String] {
            let messages = try events.compactMap { $0.kind == .messagePosted ? $0.message : nil }
            let lists =
                try events.compactMap { $0.kind == .threadOpened ? $0.thread.map(PostList.messages) : nil }
                + messages.map(PostList.replies)
            var faults: [String] = []
            for (number, device) in devices.enumerated() {
                guard let copy = device.client?.copy else { return ["no client"] }
                let viewer = Viewer.user(device.user)
                for list in lists {
                    let ranges = try copy.knownRanges(of: list)
                    let answer =
                        switch list {
                        case .messages(let thread): try? store.reader(as: viewer).timeline(thread, page: .all).entries
                        case .replies(let message):
                            try? store.reader(as: viewer).replies(to: message, page: .all).entries
                        }
                    guard let answer else {
                        if !ranges.isEmpty { faults.append("device \(number) has \(list), which its user cannot read") }
                        continue
                    }
                    for range in ranges {
                        let found = try copy.posts(in: list, before: range.upperBound + 1, limit: 1_000).posts
                            .filter { range.contains($0.position) }
                        let expected = answer.filter { range.contains($0.position) }
                        if found != expected {
                            faults.append(
                                "device \(number) has \(found.count) of \(expected.count) posts of \(list) in \(range)")
                            for (one, other) in zip(found, expected) where one != other {
                                faults.append("\(one) instead of \(other)")
                            }
                        }
                    }
                }
                let queries: [any KeptQuery] =
                    [UserQuery(), ThreadsQuery(), InboxQuery()] + threads.map { MembersQuery(thread: $0) }
                for query in queries {
                    if let fault = try await fault(of: query, device) {
                        faults.append("device \(number): \(fault)")
                    }
                }
            }
            return faults
        }

        /// What is wrong with an answer that the copy keeps; nil if it is what the server answers,
        /// or none is kept.
        private func fault<Query: KeptQuery>(of query: Query, _ device: Device) async throws -> String? {
            guard let client = device.client, let kept = try client.copy.answer(query)?.value else {
                return nil
            }
            let found = try text(of: kept)
            let asked = Query(key: query.key) ?? query
            let answer = try? await client.engine.answer(to: asked.requestTarget).decode(Query.Kept.self)
            let expected = try answer.map(text)
            return found == expected ? nil : "\(query.key) is \(found), not \(expected ?? "refused")"
        }

        /// The JSON of an answer, without the position as of which it was read.
        private func text(of answer: some Encodable) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(answer), as: UTF8.self).replacing(/"newer":[0-9]+/, with: "")
        }

        /// The texts of the simulation that a file has; a regular expression takes a third of the
        /// run.
        private static func texts(in file: Data) -> Set<String> {
            let mark = Data("text-".utf8)
            var found: Set<String> = []
            var rest = file.startIndex..<file.endIndex
            while let range = file.range(of: mark, in: rest) {
                // Of a row that was moved, the rest can be overwritten.
                let number = file[range.upperBound...].prefix(7).prefix { (0x30...0x39).contains($0) }
                found.insert(String(decoding: file[range.lowerBound..<number.endIndex], as: UTF8.self))
                rest = range.upperBound..<file.endIndex
            }
            return found
        }

        /// What is wrong with the files: they have no text but what the user can read, or has not
        /// sent.
        func faultsOfFiles() throws -> [String] {
            var faults: [String] = []
            for (number, device) in devices.enumerated() {
                var allowed = ""
                let viewer = Viewer.user(device.user)
                for item in try device.client?.outbox(limit: 1_000) ?? [] { allowed += item.request.command.text }
                for event in try events {
                    if event.kind == .threadOpened, let thread = event.thread {
                        allowed += (try? store.reader(as: viewer).thread(thread).name) ?? ""
                        for post in (try? store.reader(as: viewer).timeline(thread, page: .all).entries) ?? [] {
                            allowed += post.texts
                        }
                    }
                    if event.kind == .messagePosted, let message = event.message {
                        for post in (try? store.reader(as: viewer).replies(to: message, page: .all).entries) ?? [] {
                            allowed += post.texts
                        }
                    }
                    if event.kind == .userRegistered, let user = event.user {
                        allowed += (try? store.reader(as: .host).user(user).username) ?? ""
                    }
                }
                for entry
                    in (try? store.reader(as: viewer).inbox(of: device.user, page: .latest(50)).entries)
                    ?? []
                {
                    allowed += (entry.moderatorNote ?? "") + (entry.name ?? "")
                }
                for (name, bytes) in try directory.contents()
                where name.hasPrefix("\(device.path.split(separator: "/").last ?? "")") {
                    for text in Self.texts(in: Data(bytes)) where !allowed.contains(text) {
                        faults.append("\(text) is in \(name) of device \(number)")
                    }
                }
            }
            return faults
        }
    }

    extension Post {
        fileprivate var texts: String { (body ?? "") + (author.username ?? "") }
    }

    extension RecordedEvent {
        /// The id of what the event creates.
        fileprivate var createdID: UInt128? {
            switch kind {
            case .messagePosted: message?.bits
            case .replyPosted: reply?.bits
            case .messageEdited, .replyEdited: edit?.bits
            case .threadOpened: thread?.bits
            default: nil
            }
        }
    }

    extension ChatCommand {
        /// The positions at which a user has done the opposite of a command without the device.
        fileprivate func opposites(of user: UserID, in events: [RecordedEvent]) -> [Position] {
            let kinds: [CommandKind: EventKind] = [
                .markRead: .threadMarkedUnread, .markUnread: .threadRead, .react: .reactionRemoved,
                .unreact: .reactionAdded,
            ]
            guard let opposite = kinds[kind] else { return [] }
            return events.filter {
                // An erasure takes the correlation id.
                $0.kind == opposite && $0.user == user
                    && ($0.event.correlation == ClientSimulation.elsewhere || $0.event.isErased)
                    && (post == nil ? $0.thread == threadID : $0.post == post)
            }.map(\.position)
        }

        /// Whether the effect of a command without an id holds after events.
        fileprivate func isInEffect(in events: some BidirectionalCollection<RecordedEvent>, by user: UserID) -> Bool {
            switch kind {
            case .setNotifications:
                let last = events.last { $0.kind == .notificationsSet && $0.user == user && $0.thread == threadID }
                guard case .notifications(_, _, let set, _)? = last?.shape else { return level == .all }
                return set == level
            case .joinThread, .leaveThread:
                let kinds: [EventKind] = [.threadJoined, .threadLeft, .memberRemoved, .userBanned]
                let last = events.last {
                    $0.user == user && $0.thread == threadID && kinds.contains($0.kind ?? .sessionEnded)
                }
                return (last?.kind == .threadJoined) == (kind == .joinThread)
            case .setPostcode:
                let last = events.last { $0.kind == .postcodeSet && $0.user == user }?.event
                return last?.isErased == true || last?.postcode == Postcode(text)
            case .react, .unreact:
                let last = events.last {
                    [.reactionAdded, .reactionRemoved].contains($0.kind) && $0.user == user && $0.post == postID
                }
                // What is erased or retracted has no reactions.
                let isGone = events.contains {
                    [.messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved].contains($0.kind)
                        && $0.post == postID
                }
                return isGone || last?.event.isErased == true || (last?.kind == .reactionAdded) == (kind == .react)
            case .block, .unblock:
                let last = events.last { if case .block(userID, by: user) = $0.shape { true } else { false } }
                return (last?.kind == .userBlocked) == (kind == .block)
            case .markRead, .markUnread:
                var marker: Position = 0
                for event in events where event.kind == .threadRead || event.kind == .threadMarkedUnread {
                    if case .marker(user, threadID, let reached) = event.shape { marker = reached }
                }
                return kind == .markRead ? upTo <= marker : marker < from
            case .retract:
                return events.contains {
                    [.messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved].contains($0.kind)
                        && $0.post == postID
                }
            default: return true
            }
        }
    }
#endif
