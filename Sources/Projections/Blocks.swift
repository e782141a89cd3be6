package import ChatDomain
import Columns

/// The users whom a user has blocked, for the unread counts of a query.
package struct BlockedUsers: Sendable {
    let indexes: [UInt32]

    /// Whether a user, by their index, is blocked.
    ///
    /// - Complexity: O(log *n*) in the number of users.
    func contains(_ user: Int) -> Bool {
        let index = indexes.indices.partitioningIndex { Int(indexes[$0]) >= user }
        return index < indexes.count && Int(indexes[index]) == user
    }

    /// The number of users.
    package var count: Int { indexes.count }

    /// No user.
    package static let none = BlockedUsers(indexes: [])
}

extension ReadModels {
    /// Whether a user had blocked another one.
    package func isBlocked(_ user: UserID, by blocker: UserID, asOf position: Position) -> Bool {
        if views.community.blockPairs.count == 0 { return false }
        guard let user = identities.index(ofUser: user), let blocker = identities.index(ofUser: blocker),
            let pair = views.community.blockPairs.find(blocker, user)
        else { return false }
        return views.community.blocks.value(of: pair, asOf: position) != 0
    }

    /// Returns the users whom a user has blocked now.
    package func blockedUsers(by blocker: UserID) -> BlockedUsers {
        let users = identities.index(ofUser: blocker).flatMap {
            views.community.blockedUsers[UInt32(truncatingIfNeeded: $0)]
        }
        return BlockedUsers(indexes: users ?? [])
    }
}

extension ReadModels {
    /// Returns a scan of every block that a user ever set.
    package func scan(blocksBy blocker: UserID) -> Scan {
        Scan(from: identities.index(ofUser: blocker).flatMap { views.community.blocksByUser.last(of: $0) }) {
            $0.views.community.blocksByUser.row(before: $1)
        }
    }

    /// Returns the position since which a block of a scan holds; nil if it does not.
    package func blockPosition(_ row: Int, asOf position: Position) -> Position? {
        views.community.blocks.version(of: row, asOf: position).flatMap { $0.value != 0 ? $0.position : nil }
    }

    /// Returns the blocked user of a block of a scan.
    package func blockedUser(_ row: Int) -> UserID { identities.userID(views.community.blockPairs.pair(row).second) }
}

extension CommunityHistory {
    /// Returns the row of a pair, which is new at the first block.
    mutating func blockPair(_ blocker: Int, _ user: Int) -> Int {
        let (row, isNew) = blockPairs.insert(blocker, user)
        if isNew { blocksByUser.append(to: blocker) }
        return row
    }

    /// Adds or removes a user in the list of those whom another one has blocked.
    mutating func setBlocked(_ user: Int, by blocker: Int, _ isBlocked: Bool) {
        let (user, blocker) = (UInt32(truncatingIfNeeded: user), UInt32(truncatingIfNeeded: blocker))
        var users = blockedUsers[blocker] ?? []
        // Releases the list in the table, which is then changed in place.
        blockedUsers[blocker] = nil
        let index = users.indices.partitioningIndex { users[$0] >= user }
        let isListed = index < users.count && users[index] == user
        if isBlocked, !isListed { users.insert(user, at: index) }
        if !isBlocked, isListed { users.remove(at: index) }
        if !users.isEmpty { blockedUsers[blocker] = users }
    }
}
