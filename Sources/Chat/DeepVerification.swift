import ChatDomain
import Columns
import Projections

/// Compares what the read models answer with the rows of the rules: two derivations of the same history, by different code, which have to agree on all that both
/// know.
struct DeepVerification {
    private let models: ReadModels
    private let state: ChatState
    private let now: Position
    private let messageCounts: [Int]
    private let replyCounts: [Int]

    init(_ models: ReadModels) {
        self.models = models
        state = models.state
        now = models.position
        messageCounts = state.messageCounts
        replyCounts = state.replyCounts
    }

    /// Everything in which they differ.
    ///
    /// - Complexity: O(*n*) in users, threads, memberships and posts.
    func findings() -> [Verification.Finding] { users() + threads() + memberships() + messages() + replies() }

    private func finding(_ condition: Bool, _ projection: String, _ message: @autoclosure () -> String) -> [Verification.Finding] {
        condition
            ? [] : [Verification.Finding(problem: "projectionDiffers", message: "\(projection): \(message())")]
    }

    private func users() -> [Verification.Finding] {
        let registered = state.users.indices.filter { state.users[$0].registeredAt > 0 }
        let shown = models.userCount(asOf: now)
        return finding(shown == registered.count, "users", "\(shown) users for \(registered.count)")
            + registered.flatMap { number in
                let id = state.userID(number)
                let row = state.users[number]
                let profile = models.profile(id, asOf: now)
                return finding(
                    profile?.username?.text == row.username && profile?.postcode == row.postcode, "users",
                    "user \(id) has another username or postcode")
            }
    }

    private func threads() -> [Verification.Finding] {
        state.threads.indices.flatMap { number in
            let id = state.threadID(number)
            let count = models.thread(id, asOf: now)?.messageCount ?? 0
            return finding(
                count == messageCounts[number], "timelines", "thread \(id) shows \(count) messages for \(messageCounts[number])")
        }
    }

    private func memberships() -> [Verification.Finding] {
        state.memberships.indices.flatMap { number in
            let pair = state.dependents.memberships.pair(number)
            let user = state.userID(pair.first)
            let thread = state.threadID(pair.second)
            let row = state.memberships[number]
            return finding(
                models.mayRead(user, thread, asOf: now) == row.isMember, "membership", "the membership of user \(user) in thread \(thread)")
                + finding(
                    models.readUpTo(user, in: thread, asOf: now) == row.readUpTo, "membership",
                    "the read marker of user \(user) in thread \(thread)")
        }
    }

    private func messages() -> [Verification.Finding] {
        (0..<state.messages.count).flatMap { number in
            let id = MessageID(bits: state.numbering.messages.id(number))
            let record = models.message(id, asOf: now)
            return finding(
                record?.position == state.messages.position(number) && record?.isRetracted == state.messages.isRetracted(number)
                    && record?.replyCount == replyCounts[number], "timelines", "message \(id)")
        }
    }

    private func replies() -> [Verification.Finding] {
        (0..<state.replies.count).flatMap { number in
            let id = ReplyID(bits: state.dependents.replies.id(number))
            let record = models.reply(id, asOf: now)
            return finding(
                record?.position == state.replies.position(number) && record?.isRetracted == state.replies.isRetracted(number),
                "timelines", "reply \(id)")
        }
    }
}
