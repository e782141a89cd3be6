import Chat
import ChatDomain
import ChatTesting
import ChatWire
import EventJournal
import Foundation
import Testing

/// A store in memory with routes over it, and users that act through them.
struct Community: Sendable {
    let store: ChatStore
    let routes: ChatRoutes
    let clock = ManualClock()

    init(seed: UInt64 = 1, recentEventCount: Int = 4_096) throws {
        store = try ChatStore.inMemory(
            options: StoreOptions(
                journal: JournalOptions(entropy: SeededEntropy(seed: seed)), clock: clock, ids: SeededIDs(seed: seed),
                checkpoints: nil,
                recentEventCount: recentEventCount))
        routes = ChatRoutes(store)
    }

    /// Responds to a request; a request that does not parse has the response of its problem.
    func send(
        _ method: String, _ target: String, as user: UserID, lastEventID: String? = nil, body: [UInt8] = []
    ) async -> WireResponse {
        do throws(Problem) {
            let request = try WireRequest(method: method, target: target, lastEventID: lastEventID, body: body)
            return await routes.respond(to: request, as: user)
        } catch {
            return WireResponse(error)
        }
    }

    func get(_ target: String, as user: UserID) async -> WireResponse { await send("GET", target, as: user) }

    func post(_ body: String, as user: UserID) async -> WireResponse {
        await send("POST", "/v1/commands", as: user, body: Array(body.utf8))
    }

    /// Registers users with these names, as the server does.
    func register(_ names: String...) throws -> [UserID] {
        try names.enumerated().map { index, name in
            let user = UserID(
                bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0000 + UInt128(store.head.position) * 100 + UInt128(index))
            try store.executeBlocking(.registerUser(id: user, username: name))
            return user
        }
    }

    /// Executes commands that must be accepted, past the routes.
    func execute(_ commands: ChatCommand...) throws {
        for command in commands { try store.executeBlocking(command) }
    }
}

extension WireResponse {
    var bytes: [UInt8] {
        guard case .bytes(let bytes) = body else { return [] }
        return bytes
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The JSON of the body.
    var json: Any? { try? JSONSerialization.jsonObject(with: Data(bytes)) }

    subscript(header name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The code of the problem; nil for a response that is none.
    var code: String? { status >= 400 ? (json as? [String: Any])?["code"] as? String : nil }

    var stream: EventStream? {
        guard case .events(let stream) = body else { return nil }
        return stream
    }
}

/// Everything that a client can see of a response.
struct Appearance: Equatable, CustomStringConvertible {
    let status: Int
    let headers: [String]
    let text: String

    init(_ response: WireResponse) {
        (status, text) = (response.status, response.text)
        headers = response.headers.map { "\($0.name): \($0.value)" }
    }

    var description: String { "\(status) \(headers) \(text)" }
}

/// The JSON of a value, as the routes write it.
func json(_ value: some Encodable) throws -> String {
    var bytes: [UInt8] = []
    try JSONLineEncoder().encode(value, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}

/// The problem that the closure throws; nil if it returns.
func problem(_ body: () throws -> Void) -> Problem? {
    // Untyped, because the compiler crashes on closures with a typed error here.
    do { try body() } catch let problem as Problem { return problem } catch { Issue.record(error) }
    return nil
}

/// Returns the answer about one thread: the thread, and the viewer's standing in it.
func answer(about thread: ThreadID, _ store: ChatStore, _ viewer: UserID) throws -> String {
    let found = try json(try store.reader(as: .user(viewer)).thread(thread))
    let standing = try json(try store.reader(as: .user(viewer)).standing(of: viewer, in: thread))
    return found.dropLast() + ",\"me\":{\"standing\":\(standing)}}"
}

/// Returns the answer about a user's inbox: its latest page, and the number of unread entries.
func inbox(of user: UserID, _ store: ChatStore) throws -> String {
    let page = try store.reader(as: .user(user)).inbox(of: user)
    let (older, newer) = (page.older.flatMap(\.before).map { "\($0)" } ?? "null", page.newer.after ?? 0)
    let unread = try json(try store.reader(as: .user(user)).unreadInboxCount(of: user))
    let more = page.isTruncated ? ",\"more\":true" : ""
    return "{\"items\":\(try json(page.entries)),\"older\":\(older),\"newer\":\(newer),\"unread\":\(unread)\(more)}"
}

/// Returns the events with a number in a thread that a user may see, by a scan of the journal.
func numberedEvents(of thread: ThreadID, _ store: ChatStore, _ viewer: UserID) throws -> [RecordedEvent] {
    // Throws for a thread that the viewer may not read.
    _ = try store.reader(as: .user(viewer)).thread(thread)
    var found: [RecordedEvent] = []
    try store.forEachEvent(matching: EventFilter(as: .user(viewer), threads: [thread])) { event, _ in
        if event.event.kind?.form.isNumbered == true { found.append(event) }
    }
    return found
}
