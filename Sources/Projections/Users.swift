package import ChatDomain
import Columns

extension ReadModels {
    /// Returns the number of users.
    package func userCount(asOf position: Position) -> Int { views.users.count(asOf: position) }

    /// Returns the profile of a user; nil if unknown.
    package func profile(_ user: UserID, asOf position: Position) -> UserProfile? {
        identities.index(ofUser: user).flatMap { views.users.profile($0, identities, asOf: position) }
    }

    /// Returns the position of the event that set a user's name; nil if none.
    package func namePosition(of user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.users.namePosition($0, asOf: position) }
    }

    /// Returns the position of the event that set the text about a user; nil if none.
    package func aboutPosition(of user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.community.profiles.version(of: $0, asOf: position)?.position }
    }

    /// Whether a user has a name whose key of a search (`NameSearch`) begins with the scalars of
    /// another one.
    package func hasName(_ user: Int, beginningWith prefix: String, asOf position: Position) -> Bool {
        guard let name = views.users.name(user, asOf: position) else { return false }
        if prefix.isEmpty { return true }
        return NameSearch.key(ofFoldKey: identities.foldKeys.text(Int(name.foldKey))).utf8.starts(with: prefix.utf8)
    }

    /// Returns the id and the name of a user by their index; the name is nil if unknown.
    package func idAndName(ofUser user: Int, asOf position: Position) -> (id: UserID, name: String?) {
        (identities.userID(user), views.users.name(user, asOf: position)?.text)
    }

    /// Returns the user with a username, compared under full case folding.
    package func userID(named username: String, asOf position: Position) -> UserID? {
        user(withFoldKey: Username.foldKey(username), asOf: position)
    }

    /// Returns the user with this subject of the identity provider.
    package func userID(withSubject subject: String, asOf position: Position) -> UserID? {
        views.users.owner(ofSubject: identities.subjects.find(subject), asOf: position).map { identities.userID($0) }
    }

    /// Returns the owner of a name, by fold key.
    package func user(withFoldKey foldKey: String, asOf position: Position) -> UserID? {
        views.users.owner(ofName: identities.foldKeys.find(foldKey), asOf: position).map { identities.userID($0) }
    }

    /// Whether a user may have had a name by this position; erased names count as a match.
    ///
    /// - Complexity: O(*n*) in the number of the user's names.
    package func mayHaveHadName(_ foldKey: String, _ user: UserID, asOf position: Position) -> Bool {
        identities.index(ofUser: user).map {
            views.users.mayHaveHadName(identities.foldKeys.find(foldKey), $0, asOf: position)
        } ?? true
    }
}
