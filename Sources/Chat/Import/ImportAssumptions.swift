import ChatDomain
import Projections

/// What the commands of an import batch assume of the store.
///
/// The assumptions held when the commands were staged. Other commands may run until the commit.
struct ImportAssumptions {
    /// A user and a thread.
    struct Member: Hashable {
        var user: UserID
        var thread: ThreadID
    }

    /// A post to create.
    struct NewPost {
        /// Its ids as a message and as a reply.
        var ids: [PostID]
        /// The message that the post answers; nil if the post is a message.
        var answered: MessageID?
    }

    /// A user to register.
    struct NewUser {
        var username: Username
        var subject: String?
    }

    /// The users to register.
    var newUsers: [UserID: NewUser] = [:]
    /// The threads to open, other than those of outward codes.
    var newThreads: Set<ThreadID> = []
    var newPosts: [NewPost] = []
    /// The memberships that come from lines of joins, from reactions and from mentions.
    var newJoins: [Member] = []
    /// The authors of posts, and the users who reacted, whose membership is older than the batch.
    var existingMembers: Set<Member> = []
    /// The older posts that the batch edits, with their authors and threads.
    var newEdits: [(post: PostID, author: UserID, thread: ThreadID)] = []
    /// The older posts to which the batch adds reactions.
    var newReactions: [PostID] = []

    /// Returns whether the assumptions hold in the given state.
    func hold(in models: ReadModels) -> Bool {
        let now = models.position
        for (id, user) in newUsers {
            if models.profile(id, asOf: now) != nil || models.user(withFoldKey: user.username.foldKey, asOf: now) != nil
            {
                return false
            }
            if let subject = user.subject, models.userID(withSubject: subject, asOf: now) != nil { return false }
        }
        for thread in newThreads where models.hasThread(thread, asOf: now) { return false }
        for post in newPosts {
            // Another import of the same history, or a native user, has created the post; the batch
            // would edit or answer that post.
            if post.ids.contains(where: { models.post($0, asOf: now) != nil }) { return false }
            let answered = post.answered.flatMap { models.post(.message($0), asOf: now) }
            if answered?.isWithdrawn == true { return false }
        }
        for member in existingMembers where models.joinPosition(member.user, in: member.thread, asOf: now) == nil {
            return false
        }
        for join in newJoins where models.hasBeenMember(join.user, of: join.thread, asOf: now) { return false }
        for post in newReactions where models.post(post, asOf: now)?.takesImportedReactions != true { return false }
        return newEdits.allSatisfy { Self.isEditable($0.post, by: $0.author, in: $0.thread, models, now) }
    }

    /// Returns whether a post was never edited, retracted or removed and its author is a member.
    static func isEditable(
        _ post: PostID, by author: UserID, in thread: ThreadID, _ models: borrowing ReadModels, _ now: Position
    ) -> Bool {
        guard models.joinPosition(author, in: thread, asOf: now) != nil else { return false }
        return models.post(post, asOf: now).map { $0.editPosition == nil && !$0.isWithdrawn } ?? false
    }
}

extension PostRecord {
    /// Whether an import adds reactions: the post never had one.
    ///
    /// So a reaction that its user took back does not come back, and a history that was imported
    /// without its reactions receives them.
    var takesImportedReactions: Bool { !mayHaveReactions && !isWithdrawn }
}
