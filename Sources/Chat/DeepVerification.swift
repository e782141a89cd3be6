import ChatDomain
import Projections

/// Compares the read models with the state of the rules: two derivations of the same history, by different code, which have to agree on all that both know.
struct DeepVerification {
    private let state: ChatState
    private let models: ReadModels
    private let messageCounts: [Int]
    private let replyCounts: [Int]

    init(state: ChatState, models: ReadModels) {
        self.state = state
        self.models = models
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
        finding(models.users.count == state.userNumbers.count, UserViews.name, "\(models.users.count) users for \(state.userNumbers.count)")
            + (0..<state.userNumbers.count).flatMap { number in
                let id = state.userNumbers.id(number)
                let row = state.users[number]
                let profile = models.users.profile(id)
                return finding(
                    profile?.username?.text == row.username && profile?.postcode == row.postcode, UserViews.name,
                    "user \(id) has another username or postcode")
            }
    }

    private func threads() -> [Verification.Finding] {
        let shown = models.timelines.threads(.init(limit: .max)).count
        return finding(
            shown == state.threadNumbers.count, ThreadTimelines.name, "\(shown) threads for \(state.threadNumbers.count)")
            + (0..<state.threadNumbers.count).flatMap { number in
                let id = state.threadNumbers.id(number)
                let expected = messageCounts[number]
                let count = models.timelines.thread(id)?.messageCount
                return finding(count == expected, ThreadTimelines.name, "thread \(id) shows \(count ?? 0) messages for \(expected)")
            }
    }

    private func memberships() -> [Verification.Finding] {
        state.memberships.sorted { ($0.key.thread, $0.key.user) < ($1.key.thread, $1.key.user) }.flatMap { key, row in
            let user = state.userNumbers.id(Int(key.user))
            let thread = state.threadNumbers.id(Int(key.thread))
            return finding(
                (models.membership.memberSince(user, in: thread) != nil) == row.isMember, PostcodeMembership.name,
                "the membership of user \(user) in thread \(thread)")
                + finding(
                    models.users.readUpTo(user, in: thread) == row.readUpTo, UserViews.name,
                    "the read marker of user \(user) in thread \(thread)")
        }
    }

    private func messages() -> [Verification.Finding] {
        (0..<state.messageNumbers.count).flatMap { number in
            let id = state.messageNumbers.id(number)
            let row = state.messages[number]
            let record = models.timelines.message(id)
            return finding(
                record?.position == row.position && record?.isRetracted == row.isRetracted
                    && record?.author == state.userNumbers.id(row.author) && record?.replyCount == replyCounts[number],
                ThreadTimelines.name, "message \(id)")
        }
    }

    private func replies() -> [Verification.Finding] {
        (0..<state.replyNumbers.count).flatMap { number in
            let id = state.replyNumbers.id(number)
            let row = state.replies[number]
            let record = models.timelines.reply(id)
            return finding(
                record?.position == row.position && record?.isRetracted == row.isRetracted
                    && record?.author == state.userNumbers.id(row.author)
                    && models.timelines.message(answeredBy: id) == state.messageNumbers.id(Int(row.place)),
                ThreadTimelines.name, "reply \(id)")
        }
    }
}
