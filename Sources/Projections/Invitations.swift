package import ChatDomain
import Columns

extension ReadModels {
    /// Returns the position of the invitation of a membership; nil if the user was not invited.
    package func invitation(ofMembership membership: Int, asOf position: Position) -> Position? {
        views.rare.invitations.version(of: membership, asOf: position).flatMap { $0.value != 0 ? $0.position : nil }
    }
}
