import ChatDomain
import Columns
import Projections

/// Compares what the read models answer with the rows of the rules: two derivations of the same history, by different code, which have to agree on all that both
/// know.
struct DeepVerification {
    private let models: ReadModels
    private let identities: Identities
    private let rules: RuleState
    private let now: Position
    /// By the thread.
    private let messageCounts: [Int]
    /// By the message: its replies that are not retracted.
    private let replyCounts: [Int]

    init(_ models: StoreModels) {
        self.models = models.models
        identities = models.models.identities
        rules = models.rules
        now = models.position
        var counts = [Int](repeating: 0, count: rules.threads.count)
        for message in 0..<identities.messages.count { counts[identities.messageFacts.place(message)] += 1 }
        messageCounts = counts
        counts = [Int](repeating: 0, count: identities.messages.count)
        for reply in 0..<identities.replies.count where !rules.isRetracted(reply: reply) { counts[identities.replyFacts.place(reply)] += 1 }
        replyCounts = counts
    }

    /// Everything in which they differ.
    ///
    /// - Complexity: O(*n*) in users, threads, memberships and posts.
    func findings() -> [VerificationReport.Finding] { users() + threads() + memberships() + messages() + replies() }

    private func finding(_ condition: Bool, _ projection: String, _ message: @autoclosure () -> String) -> [VerificationReport.Finding] {
        condition
            ? [] : [VerificationReport.Finding(problem: "projectionDiffers", message: "\(projection): \(message())")]
    }

    private func users() -> [VerificationReport.Finding] {
        let registered = rules.users.indices.filter { rules.users[$0].registeredAt > 0 }
        let shown = models.userCount(asOf: now)
        return finding(shown == registered.count, "users", "\(shown) users for \(registered.count)")
            + registered.flatMap { number in
                let id = identities.userID(number)
                let row = rules.users[number]
                let profile = models.profile(id, asOf: now)
                return finding(
                    profile?.username?.text == row.username && profile?.postcode == row.postcode, "users",
                    "user \(id) has another username or postcode")
            }
    }

    private func threads() -> [VerificationReport.Finding] {
        rules.threads.indices.flatMap { number in
            let id = identities.threadID(number)
            let count = models.thread(id, asOf: now)?.messageCount ?? 0
            return finding(
                count == messageCounts[number], "timelines", "thread \(id) shows \(count) messages for \(messageCounts[number])")
        }
    }

    private func memberships() -> [VerificationReport.Finding] {
        rules.memberships.indices.flatMap { number in
            let pair = identities.memberships.pair(number)
            let user = identities.userID(pair.first)
            let thread = identities.threadID(pair.second)
            let row = rules.memberships[number]
            return finding(
                models.mayRead(user, thread, asOf: now) == row.isMember, "membership", "the membership of user \(user) in thread \(thread)")
                + finding(
                    models.readUpTo(user, in: thread, asOf: now) == row.readUpTo, "membership",
                    "the read marker of user \(user) in thread \(thread)")
        }
    }

    private func messages() -> [VerificationReport.Finding] {
        (0..<identities.messages.count).flatMap { number in
            let id = MessageID(bits: identities.messages.id(number))
            let record = models.message(id, asOf: now)
            return finding(
                record?.position == identities.messageFacts.position(number) && record?.isRetracted == rules.isRetracted(message: number)
                    && record?.replyCount == replyCounts[number], "timelines", "message \(id)")
        }
    }

    private func replies() -> [VerificationReport.Finding] {
        (0..<identities.replies.count).flatMap { number in
            let id = ReplyID(bits: identities.replies.id(number))
            let record = models.reply(id, asOf: now)
            return finding(
                record?.position == identities.replyFacts.position(number) && record?.isRetracted == rules.isRetracted(reply: number),
                "timelines", "reply \(id)")
        }
    }
}
