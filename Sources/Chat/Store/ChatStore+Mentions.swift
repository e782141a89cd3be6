import ChatDomain
import Projections

/// The people whom the texts of commands name (``ChatCommand/findsMentions``).
extension ChatStore {
    /// Adds to each command that asks for them the users whom its text names.
    ///
    /// Reads the names as of now, before the decision and outside the decider's lock. The rules
    /// leave out who is no member then.
    func findMentions(in batch: inout [CommandRequest]) throws(ChatError) {
        for index in batch.indices where Self.findsMentions(&batch[index]) {
            batch[index].command.foundMentions = try people(namedIn: batch[index].command)[...]
        }
    }

    /// In place: an element that is only read is copied, which takes 300 instructions a command.
    private static func findsMentions(_ request: inout CommandRequest) -> Bool { request.command.findsMentions }

    private func people(namedIn command: ChatCommand) throws(ChatError) -> [UserID] {
        // The rules reject a longer text.
        guard MessageBody.isValid(command.text) else { return [] }
        let names = MentionedNames(in: command.text)
        if names.isEmpty { return [] }
        let former = command.kind == .edit ? try peopleNamed(inTextOf: command.postID) : [:]
        return withCurrentModels { models, now in
            guard let thread = command.thread ?? command.post.flatMap({ models.thread(of: $0, asOf: now) }) else {
                return []
            }
            return names.users(limit: ChatCommand.maximumFoundCount) { foldKey in
                let user = former[foldKey] ?? models.user(withFoldKey: foldKey, asOf: now)
                return user.flatMap { models.canBeMentioned($0, in: thread, asOf: now) ? $0 : nil }
            }
        }
    }

    /// Returns the users whom the present text of a post mentions and names, by the fold keys of
    /// their names as of that text.
    func peopleNamed(inTextOf post: PostID) throws(ChatError) -> [String: UserID] {
        guard let row = withCurrentModels({ models, now in models.post(post, asOf: now) }) else { return [:] }
        let former = try posts([row])[0]
        guard let body = former.body, !former.mentions.isEmpty else { return [:] }
        let position = former.editPosition ?? former.position
        var users: [String: UserID] = [:]
        withCurrentModels { models, _ in
            for user in former.mentions {
                if let name = models.profile(user, asOf: position)?.username { users[name.currentFoldKey] = user }
            }
        }
        let named = MentionedNames(in: body).users(limit: MessageBody.maximumMentionCount) { users[$0] }
        return users.filter { named.contains($0.value) }
    }
}
