import ChatDomain
import EventJournal
import Locking
import Projections

/// Who may be shown an event, besides those who see everything and whomever it is by or about.
enum Audience: Hashable {
    /// Nobody.
    case nobody
    /// Who may read a thread.
    case readers(ThreadID)
    /// Who may read a thread in which the user is: they see the user's name there.
    case acquaintances(UserID)
}

extension Fact {
    /// Whom the queries show what this event changed: the same people.
    var audience: Audience {
        switch self {
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted, .postcodeSet:
            place.map(Audience.readers) ?? .nobody
        case .usernameChanged(let fact): .acquaintances(fact.user)
        // A name is seen by others once its bearer is in a thread; how far somebody has read, and on what device, never is.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: .nobody
        }
    }

    /// Whether a user becomes or ceases to be a member of a thread by it.
    func changesMembership(of user: UserID) -> Bool {
        switch self {
        case .threadJoined(let fact): fact.user == user
        case .threadLeft(let fact): fact.user == user
        default: false
        }
    }
}

extension ReadModels {
    /// Whether a viewer may be shown an event, by the rights that they had at the event's own position.
    ///
    /// - Complexity: As ``Projections/ReadModels/mayRead(_:_:asOf:)``, for a change of username once for each thread of its bearer.
    func mayRead(_ viewer: UserID, _ fact: Fact, at position: Position) -> Bool {
        if fact.user == viewer { return true }
        return switch fact.audience {
        case .nobody: false
        case .readers(let thread): mayRead(viewer, thread, asOf: position)
        case .acquaintances(let user): threads(of: user, asOf: position).contains { mayRead(viewer, $0.thread, asOf: position) }
        }
    }
}

extension ChatStore {
    /// Whether a filter, with its viewer, lets an event pass that the read models have taken in.
    func shows(_ event: Event, at position: Position, through filter: EventFilter) -> Bool {
        guard filter.matches(event.fact) else { return false }
        guard let viewer = filter.viewer, !filter.passesThreads(event.fact) else { return true }
        return models.withLock { $0.value.mayRead(viewer, event.fact, at: position) }
    }

    /// The last position that queries and followers are shown: durable, and taken in by the read models.
    var shownPosition: Position { present { $1 } }
}
