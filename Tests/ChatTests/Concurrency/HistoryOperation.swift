@testable import Chat
import ChatDomain
import EventJournal
import Projections

/// A question to a store, as a value that can be written down and asked of a model too.
enum Query: Hashable, Sendable {
    case head
    case timeline(ThreadID, Page, viewer: UserID?, asOf: Position?)
    case message(MessageID)
    case replies(MessageID)
    case members(ThreadID, viewer: UserID?)
    case user(UserID)
    case threads(viewer: UserID?)
    case userNamed(String)
    case residents(OutwardCode)
}

/// What somebody asked of a store: commands as one commit, or a question.
enum Call: Sendable {
    case execute([CommandRequest])
    case ask(Query)
}

/// What the store answered.
enum Answer: Equatable, Sendable {
    case results([Result<Receipt, Rejection>])
    case position(Position)
    case timeline([TimelineEntry])
    case message(TimelineEntry)
    case replies([ReplyEntry])
    case members([Member])
    case user(UserView)
    case threads([ThreadSummary])
    case userID(UserID?)
    case residents([Resident])
    /// A question that the asker may not ask, or about what is not there.
    case refused(Rejection.Code)
    /// Anything that a store on a sound log never answers.
    case failed(String)
}

/// One call with the moments, of one counter for everybody, between which it took effect.
struct Operation: Sendable {
    /// Who made it: a thread or a task.
    var caller: Int
    var invoked: UInt64
    var returned: UInt64
    var call: Call
    var answer: Answer
    /// How far the log was durable once the answer was there.
    var durable: Position
}

extension Operation: CustomStringConvertible {
    var description: String { "[\(invoked), \(returned)] caller \(caller), durable \(durable): \(call) -> \(answer)" }
}

extension Answer {
    init(_ error: ChatError) {
        if case .rejected(let rejection) = error { self = .refused(rejection.code) } else { self = .failed(error.description) }
    }
}

extension ChatStore {
    /// Asks a question.
    func answer(_ query: Query) -> Answer {
        do throws(ChatError) {
            switch query {
            case .head: return .position(head.position)
            case .timeline(let thread, let page, let viewer, let position):
                return .timeline(try timeline(thread, page, viewer: viewer, asOf: position.map(Moment.position) ?? .now))
            case .message(let message): return .message(try self.message(message))
            case .replies(let message): return .replies(try replies(to: message))
            case .members(let thread, let viewer): return .members(try members(of: thread, viewer: viewer))
            case .user(let user): return .user(try self.user(user))
            case .threads(let viewer): return .threads(try threads(viewer: viewer))
            case .userNamed(let name): return .userID(try user(named: name))
            case .residents(let code): return .residents(try residents(of: code))
            }
        } catch {
            return Answer(error)
        }
    }
}
