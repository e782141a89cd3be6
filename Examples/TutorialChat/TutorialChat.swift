#if Server
    package import Chat
    internal import ChatDomain
    package import ChatServer
    internal import ChatWire
    internal import EventJournal
    internal import Foundation
    internal import Locking
    internal import Primitives

    /// The chat of the SwiftUI tutorials: a thread of its own, without accounts, in their JSON.
    ///
    /// A client sends `{"message","user","userID"}`; everyone gets
    /// `{"date","id","message","user","userID"}` with the history from its beginning, then live.
    /// Dates are seconds since 2001, and ids are in upper case, as `JSONEncoder` writes both by
    /// default.
    ///
    /// The `userID` of a client is not an id of the journal, because anyone can send any: a hash of
    /// it is. It is stored as the subject of the user, to be sent back.
    package final class TutorialChat: Sendable {
        private static let subjectPrefix = "tutorial-chat:"
        /// The users of one connection; the tutorial's app has one.
        private static let maximumUserCount = 8
        /// The messages of a connection at once, and the time after which one more is carried out.
        private static let (burst, interval) = (20, Duration.milliseconds(100))

        private struct State {
            /// The `userID` of each user, in upper case.
            var userIDs: [UserID: String] = [:]
            /// The names that the users have asked for.
            var requestedNames: [UserID: String] = [:]
        }

        private let store: ChatStore
        private let host: UserID
        private let thread: ThreadID
        private let state = Lock(State())

        /// The thread cannot be opened, for example because its name is an outward code.
        package struct OpeningError: Error, CustomStringConvertible {
            let reason: ChatError

            package var description: String { "The thread of the tutorials' chat cannot be opened: \(reason)" }
        }

        /// Opens the thread if it does not exist.
        package convenience init(_ store: ChatStore, thread name: String) async throws(OpeningError) {
            do throws(ChatError) { try await self.init(opening: name, in: store) } catch {
                throw OpeningError(reason: error)
            }
        }

        private init(opening name: String, in store: ChatStore) async throws(ChatError) {
            self.store = store
            host = UserID(bits: Self.derivedID("host", name))
            thread = ThreadID(bits: Self.derivedID("thread", name))
            try Self.require(
                await Self.register(host, "Tutorial chat", subject: Self.subjectPrefix + "host", in: store))
            try Self.require(
                await store.execute([
                    CommandRequest(.openThread(id: thread, name: name, policy: .inviteOnly, by: host))
                ])[0])
            var users: [UserID: String] = [:]
            try store.forEachEvent(matching: EventFilter(as: .host, kinds: [.userRegistered])) { event, _ in
                if let user = event.event.user, let subject = event.event.content.subject,
                    subject.hasPrefix(Self.subjectPrefix)
                {
                    users[user] = String(subject.dropFirst(Self.subjectPrefix.count))
                }
            }
            state.withLock { $0.userIDs = users }
        }

        /// The WebSocket at `/chat`.
        ///
        /// - Parameter isPublic: Whether clients beyond loopback may use it, without accounts.
        package func socket(isPublic: Bool) -> HostSocket {
            HostSocket("/chat", isPublic: isPublic, deliver: deliver) { [self] in
                let connection = Lock(Connection())
                return { message in
                    // One message after another: no one else uses the connection meanwhile.
                    var state = connection.withLock { $0 }
                    try await self.receive(message, &state)
                    connection.withLock { $0 = state }
                }
            }
        }

        /// Sends the history, and then each new message, until the store closes or the sink throws.
        private func deliver(_ write: ([UInt8]) async throws -> Void) async throws {
            // As the host sees it as a member: without texts that were changed since.
            let filter = EventFilter(as: .user(host), threads: [thread], kinds: [.messagePosted])
            for try await event in store.events(after: 0, matching: filter) {
                if let message = message(event.recorded) { try await write(message) }
            }
        }

        private func message(_ recorded: RecordedEvent) -> [UInt8]? {
            guard recorded.kind == .messagePosted, case .message(_, _, let message, let author) = recorded.shape,
                let body = recorded.event.body,
                let userID = state.withLock({ $0.userIDs[author] }),
                let name = store.summary(of: author)?.username
            else { return nil }
            let milliseconds = recorded.event.createdAt.millisecondsSince1970 - 978_307_200_000
            var text = Array(
                "{\"date\":\(Double(milliseconds) / 1_000),\"id\":\"\(message.description.uppercased())\",\"message\":"
                    .utf8)
            JSONText.append(body, to: &text)
            text += ",\"user\":".utf8
            JSONText.append(name, to: &text)
            text += ",\"userID\":\"\(userID)\"}".utf8
            return text
        }

        /// The messages of one connection.
        private struct Connection {
            var users: Set<UserID> = []
            var budget = TutorialChat.burst
            var refilledAt = ContinuousClock.now
        }

        /// Posts the message of a client; what is not valid has no effect, because the tutorial has
        /// no answer.
        ///
        /// A client that sends too much is slowed down, and loses nothing.
        private func receive(_ text: [UInt8], _ connection: inout Connection) async throws {
            guard let fields = try? decodeLine([String: String].self, from: text), fields.count == 3,
                let body = fields["message"],
                let name = fields["user"], let userID = fields["userID"].flatMap({ UUID(uuidString: $0) })?.uuidString
            else { return }
            let user = UserID(bits: Self.derivedID("user", userID))
            if !connection.users.contains(user) {
                guard connection.users.count < Self.maximumUserCount else { return }
                connection.users.insert(user)
            }
            let now = ContinuousClock.now
            let refill = Int((now - connection.refilledAt) / Self.interval)
            if refill > 0 {
                (connection.budget, connection.refilledAt) = (min(Self.burst, connection.budget + refill), now)
            }
            if connection.budget == 0 { try await Task.sleep(for: Self.interval) } else { connection.budget -= 1 }
            guard try await admit(user, name: name, userID: userID) else { return }
            // A rejection, such as that of an empty body, has no answer in the tutorial.
            _ = try await store.execute([CommandRequest(.postMessage(thread: thread, body: body, by: user))])
        }

        /// Registers a user with a free form of the name, or changes the name, and lets the user
        /// in.
        ///
        /// - Returns: False for a name that cannot be a username.
        private func admit(_ user: UserID, name: String, userID: String) async throws(ChatError) -> Bool {
            let (isKnown, former) = state.withLock { ($0.userIDs[user] != nil, $0.requestedNames[user]) }
            if isKnown, former == name { return true }
            guard name.utf8.count <= 1_024, let username = Username(name) else { return false }
            if let present = store.summary(of: user) {
                let base = present.username?.split(separator: "~").first.map(String.init)
                if base != username.text {
                    _ = try await Self.rename(user, username.text, in: store)
                }
            } else {
                try Self.require(
                    await Self.register(user, username.text, subject: Self.subjectPrefix + userID, in: store))
            }
            if (try? store.reader(as: .user(user)).thread(thread)) == nil {
                // The host cannot invite whom it does not know. In one commit, so that no account
                // can join in between.
                _ = try await store.execute([
                    CommandRequest(.setThreadPolicy(thread: thread, policy: .open, by: host)),
                    CommandRequest(.joinThread(thread: thread, by: user)),
                    CommandRequest(.setThreadPolicy(thread: thread, policy: .inviteOnly, by: host)),
                ])
            }
            state.withLock { ($0.userIDs[user], $0.requestedNames[user]) = (userID, name) }
            return true
        }

        // MARK: Names and ids

        private static func register(
            _ user: UserID, _ name: String, subject: String, in store: ChatStore
        ) async throws(ChatError) -> Result<Receipt, Rejection> {
            try await withFreeName(name, in: store) { name in
                .registerUser(id: user, username: name, subject: subject)
            }
        }

        private static func rename(
            _ user: UserID, _ name: String, in store: ChatStore
        ) async throws(ChatError) -> Result<Receipt, Rejection> {
            try await withFreeName(name, in: store) { name in .changeUsername(username: name, by: user) }
        }

        /// Executes a command with the name or, if it is taken, with a suffix: `Ann~2`.
        private static func withFreeName(
            _ name: String, in store: ChatStore, _ command: (String) -> ChatCommand
        ) async throws(ChatError) -> Result<Receipt, Rejection> {
            var number = 1
            while true {
                let suffix = number == 1 ? "" : "~\(number)"
                let result = try await store.execute([
                    CommandRequest(command(String(name.prefix(32 - suffix.count)) + suffix))
                ])[0]
                // A user who exists with another form of the name is registered.
                guard case .failure(let rejection) = result, rejection.code == .usernameTaken, number < 1_000 else {
                    return result
                }
                number += 1
            }
        }

        /// Throws unless the command took effect, now or earlier.
        private static func require(_ result: Result<Receipt, Rejection>) throws(ChatError) {
            if case .failure(let rejection) = result, rejection.code != .identifierTaken { throw .rejected(rejection) }
        }

        /// A UUID of version 8 (RFC 9562) from a hash of a purpose and a name.
        private static func derivedID(_ purpose: String, _ name: String) -> UInt128 {
            let digest = SHA256.hash(Array("chat-journal tutorial \(purpose) \(name)".utf8))
            let bits = digest.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            let versioned = bits & ~(UInt128(0xF) << 76) | UInt128(8) << 76
            return versioned & ~(UInt128(3) << 62) | UInt128(2) << 62
        }
    }
#endif
