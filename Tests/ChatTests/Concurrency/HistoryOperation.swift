import Chat
import ChatDomain
import EventJournal
import Projections

/// A query as a value, which a store and a model can answer.
enum Query: Hashable, Sendable {
    case head
    case timeline(ThreadID, page: PageRequest, viewer: UserID?, asOf: Position?)
    case message(MessageID)
    case replies(MessageID)
    case members(ThreadID, viewer: UserID?)
    case user(UserID)
    case threads(viewer: UserID?)
    case userNamed(String)
    case residents(OutwardCode)
    case readers(ThreadID, asOf: Position?)
    case access(UserID, viewer: UserID?, asOf: Position?)
    case activity(asOf: Position?)
    /// A page with the bounds of the adjacent pages.
    case page(List, PageRequest, viewer: UserID?)

    /// A list of which an answer has the bounds.
    enum List: Hashable {
        case threads
        case timeline(ThreadID)
        case replies(MessageID)
    }

    /// The position that the query reads as of; nil for now.
    var moment: Position? {
        switch self {
        case .timeline(_, page: _, viewer: _, asOf: let asked), .readers(_, asOf: let asked),
            .access(_, viewer: _, asOf: let asked),
            .activity(asOf: let asked):
            asked
        default: nil
        }
    }
}

/// A call to a store: one commit of commands, a query, or an erasure.
enum Call: Sendable {
    case execute([CommandRequest])
    case ask(Query)
    case erase(UserID)
}

/// The answer of a store.
enum Answer: Equatable, Sendable {
    case results([Result<Receipt, Rejection>])
    case position(Position)
    /// The position of the order; nil if the user was erased before.
    case erased(Position?)
    case timeline([Post])
    case message(Post)
    case replies([Post])
    case members([ThreadMember])
    case user(UserDetails)
    case threads([ThreadSummary])
    case userID(UserID?)
    case residents([Resident])
    case access([ThreadAccess])
    case activity([ActivityDay])
    /// A page's entries and the bounds of the adjacent pages.
    indirect case page(Answer, older: Position?, newer: Position?)
    /// A rejected query.
    case refused(Rejection.Code)
    /// Any error that a store never reports on a sound log.
    case failed(String)
}

/// A call and its answer, with logical times of one shared counter around its effect.
struct Operation: Sendable {
    /// The index of the calling thread or task.
    var caller: Int
    var invoked: UInt64
    var returned: UInt64
    var call: Call
    var answer: Answer
    /// The durable position after the answer.
    var durable: Position
}

extension Operation: CustomStringConvertible {
    var description: String { "[\(invoked), \(returned)] caller \(caller), durable \(durable): \(call) -> \(answer)" }
}

extension Answer {
    init(_ error: ChatError) {
        if case .rejected(let rejection) = error {
            self = .refused(rejection.code)
        } else {
            self = .failed(error.description)
        }
    }
}

extension ChatStore {
    /// Erases a user.
    func erase(_ user: UserID) -> Answer {
        do throws(ChatError) { return .erased(try eraseUser(user, reason: "asked").orders?.lowerBound) } catch {
            return Answer(error)
        }
    }

    /// Answers a query.
    func answer(_ query: Query) -> Answer {
        do throws(ChatError) {
            switch query {
            case .head: return .position(head.position)
            case .timeline(let thread, let page, let viewer, let position):
                return .timeline(
                    try reader(as: Viewer(orHost: viewer), asOf: position.map(AsOf.position) ?? .now).timeline(
                        thread, page: page
                    ).entries)
            case .message(let message): return .message(try reader(as: .host).message(message))
            case .replies(let message): return .replies(try reader(as: .host).replies(to: message).entries)
            case .members(let thread, let viewer):
                return .members(try reader(as: Viewer(orHost: viewer)).members(of: thread).entries)
            case .user(let user): return .user(try reader(as: .host).user(user))
            case .threads(let viewer): return .threads(try reader(as: Viewer(orHost: viewer)).threads().entries)
            case .userNamed(let name): return .userID(try userID(named: name))
            case .residents(let code): return .residents(try reader(as: .host).residents(of: code).entries)
            case .readers(let thread, let position):
                return .members(try readers(of: thread, asOf: position.map(AsOf.position) ?? .now))
            case .access(let user, let viewer, let position):
                return .access(
                    try reader(as: Viewer(orHost: viewer), asOf: position.map(AsOf.position) ?? .now).access(of: user))
            case .activity(let position): return .activity(try activity(asOf: position.map(AsOf.position) ?? .now))
            case .page(let list, let page, let viewer): return try answer(list, page, Viewer(orHost: viewer))
            }
        } catch {
            return Answer(error)
        }
    }

    private func answer(_ list: Query.List, _ request: PageRequest, _ viewer: Viewer) throws(ChatError) -> Answer {
        switch list {
        case .threads: Answer(try reader(as: viewer).threads(page: request)) { .threads($0) }
        case .timeline(let thread): Answer(try reader(as: viewer).timeline(thread, page: request)) { .timeline($0) }
        case .replies(let message): Answer(try reader(as: viewer).replies(to: message, page: request)) { .replies($0) }
        }
    }
}

extension Answer {
    fileprivate init<Entry>(_ page: Page<Entry>, _ entries: ([Entry]) -> Answer) {
        self = .page(entries(page.entries), older: page.older?.before, newer: page.newer.after)
    }
}
