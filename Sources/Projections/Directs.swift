package import ChatDomain
package import ChatValues
import Columns
package import Primitives

/// Direct threads and their people.
extension ReadModels {
    /// Whether a thread is a direct one.
    package func isDirect(_ thread: ThreadID) -> Bool {
        identities.index(ofThread: thread).map(identities.directs.contains) ?? false
    }

    /// Returns the people of a direct thread as of a position, also those who have left; nil for
    /// another thread.
    package func people(ofDirect thread: ThreadID, asOf position: Position) -> [UserSummary]? {
        identities.index(ofThread: thread).flatMap { people(ofDirect: $0, asOf: position) }
    }

    func people(ofDirect thread: Int, asOf position: Position) -> [UserSummary]? {
        guard identities.directs.contains(thread) else { return nil }
        return identities.directs.people(of: thread).map {
            UserSummary(id: identities.userID($0), username: views.users.name($0, asOf: position)?.text)
        }
    }

    /// Whether a text in a thread can mention a user: a member, or one of the two people of a direct
    /// thread, whom the text brings back.
    package func canBeMentioned(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Bool {
        guard let user = identities.index(ofUser: user) else { return false }
        if isMember(user, of: thread, asOf: position) { return true }
        guard let thread = identities.index(ofThread: thread), identities.directs.contains(thread) else { return false }
        let people = identities.directs.people(of: thread)
        return people.count == 2 && people.contains(user)
    }

    /// Returns the user who opened a direct thread, for the position of a join that belongs to the
    /// opening; nil for any other join.
    package func opener(ofJoinAt position: Position, in thread: ThreadID) -> UserID? {
        guard let index = identities.index(ofThread: thread), identities.directs.contains(index) else { return nil }
        let (people, opening) = (identities.directs.people(of: index), views.timelines.threads[index].openedAt)
        guard position > opening, position - opening <= people.count else { return nil }
        return people.first.map { identities.userID($0) }
    }

    /// Whether a member of a thread reads only what follows their latest join: who comes back to
    /// the direct thread of three people or more.
    package func hasReturned(_ user: UserID, toGroup thread: Int, asOf position: Position) -> Bool {
        guard identities.directs.people(of: thread).count > 2, let user = identities.index(ofUser: user),
            let membership = identities.memberships.find(user, thread)
        else { return false }
        return views.membership.changeCount(membership, asOf: position) > 1
    }

    /// Whether a post of a thread had an open report.
    ///
    /// - Complexity: O(*n* log *n*) in the number of reports that were ever made in the thread.
    package func hasOpenReport(_ post: PostID? = nil, in thread: ThreadID, asOf position: Position) -> Bool {
        var scan = scan(reportsOf: thread)
        var isFound = false
        forEach(&scan) { row in
            if let report = openReport(row, in: thread, asOf: position), post == nil || report.post == post {
                isFound = true
            }
        }
        return isFound
    }
}
