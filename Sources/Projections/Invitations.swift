package import ChatDomain
import Columns

extension ReadModels {
    /// Returns the position of the invitation of a membership; nil if the user was not invited.
    package func invitation(ofMembership membership: Int, asOf position: Position) -> Position? {
        views.community.invitations.version(of: membership, asOf: position).flatMap {
            $0.value != 0 ? $0.position : nil
        }
    }

    /// Returns the position of a user's open invitation to a thread; nil if there is none.
    package func invitationPosition(of user: UserID, to thread: ThreadID, asOf position: Position) -> Position? {
        membershipIndex(user, thread).flatMap { invitation(ofMembership: $0, asOf: position) }
    }
}
