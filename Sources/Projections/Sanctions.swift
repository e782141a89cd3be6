package import ChatDomain
import Columns

/// A user's mute or ban in a thread as of a position.
package struct SanctionRecord: Hashable, Sendable {
    /// The user.
    package var user: UserID
    /// The user's name; nil if erased.
    package var username: String?
    /// Whether it is a ban; otherwise it is a mute.
    package var isBan: Bool
    /// The position of its event, which has the acting user, the reason and the end.
    package var position: Position
}

/// A user's standing in a thread as of a position, as the positions of the events that decide it.
package struct StandingRecord: Hashable, Sendable {
    /// The role; nil if the user was no member.
    package var role: ThreadRole?
    /// The position since which the user had the role.
    package var since: Position?
    /// The position of the latest departure of a user who was no member.
    package var departure: Position?
    /// The position of a mute that no command had ended.
    package var mute: Position?
    /// The position of a ban that no command had ended.
    package var ban: Position?

    /// The standing of a user whom no event of the thread concerns.
    package init() {}
}

extension ReadModels {
    /// Returns the sanctions of a membership that no command had ended.
    package func sanctions(ofMembership membership: Int, asOf position: Position) -> [SanctionRecord] {
        let user = identities.memberships.pair(membership).first
        func record(_ chains: SparseChains<UInt8>, isBan: Bool) -> SanctionRecord? {
            guard let version = chains.version(of: membership, asOf: position), version.value != 0 else { return nil }
            return SanctionRecord(
                user: identities.userID(user), username: views.users.name(user, asOf: position)?.text, isBan: isBan,
                position: version.position)
        }
        return [record(views.community.mutes, isBan: false), record(views.community.bans, isBan: true)].compactMap {
            $0
        }
    }

    /// Whether a user was ever muted or banned in a thread, which their inbox then names.
    package func hasBeenSanctioned(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Bool {
        guard let membership = membershipIndex(user, thread) else { return false }
        return views.community.mutes.version(of: membership, asOf: position) != nil
            || views.community.bans.version(of: membership, asOf: position) != nil
    }

    /// Whether a sanction of a user in a thread was imposed at a position and no command ended it.
    package func isSanctioned(_ user: UserID, in thread: ThreadID, since imposed: Position, asOf position: Position)
        -> Bool
    {
        membershipIndex(user, thread).map {
            sanctions(ofMembership: $0, asOf: position).contains { $0.position == imposed }
        } ?? false
    }

    /// Returns the position of the ban of a user from a thread, which may have ended by itself; nil
    /// without one.
    package func banPosition(_ user: UserID, _ thread: Int, asOf position: Position) -> Position? {
        guard let user = identities.index(ofUser: user), let membership = identities.memberships.find(user, thread)
        else { return nil }
        return views.community.bans.version(of: membership, asOf: position).flatMap {
            $0.value == 0 ? nil : $0.position
        }
    }

    /// Returns a user's standing in a thread; nil if the user never was a member, muted, banned or
    /// invited.
    package func standing(of user: UserID, in thread: ThreadID, asOf position: Position) -> StandingRecord? {
        guard let membership = membershipIndex(user, thread) else { return nil }
        let community = views.community
        let (mute, ban) = (
            community.mutes.version(of: membership, asOf: position),
            community.bans.version(of: membership, asOf: position)
        )
        guard
            views.membership.changeCount(membership, asOf: position) > 0 || mute != nil || ban != nil
                || community.invitations.version(of: membership, asOf: position) != nil
        else { return nil }
        var standing = StandingRecord()
        if let held = role(ofMembership: membership, asOf: position) {
            (standing.role, standing.since) = (held.role, held.since)
        }
        standing.departure = views.membership.departure(membership, asOf: position)
        standing.mute = mute.flatMap { $0.value != 0 ? $0.position : nil }
        standing.ban = ban.flatMap { $0.value != 0 ? $0.position : nil }
        return standing
    }
}
