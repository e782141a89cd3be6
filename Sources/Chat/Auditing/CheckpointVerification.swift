import ChatDomain
import EventJournal
import Projections

/// What a checkpoint says the read models were, to be compared with a rebuild from the first event.
///
/// Digests, so that a verification does not hold the read models twice, unless they differ.
struct CheckpointVerification {
    let position: Position
    private let digests: [String: [UInt8]]
    /// The components in which a rebuild up to the position differs.
    private(set) var differing: [String] = []

    /// Reads the checkpoint of a journal; nil when there is none that an opening would use: one that is damaged or stale is no fault of the journal.
    init?(_ journal: Journal) {
        guard let models = try? StoreModels(checkpointOf: journal) else { return nil }
        position = models.position
        digests = models.digests
    }

    /// Compares the checkpoint with a rebuild that has come to its position.
    ///
    /// - Complexity: O(*n*) in the read models.
    mutating func compare(_ rebuilt: StoreModels) {
        let rebuiltDigests = rebuilt.digests
        differing = StoreModels.componentNames.filter { rebuiltDigests[$0] != digests[$0] }
    }

    /// A finding for each component that differs.
    ///
    /// - Parameter rebuilt: A rebuild up to the checkpoint's position or beyond.
    /// - Complexity: Where they differ, the time to read the events up to the position.
    func findings(_ journal: Journal, _ rebuilt: StoreModels) -> [VerificationReport.Finding] {
        if differing.isEmpty { return [] }
        let parting = firstParting(journal, rebuilt)
        let place =
            parting.map { "they part at position \($0)" }
            ?? "no question that an event raises tells them apart, so that they parted at one of these positions"
        return differing.map { component in
            VerificationReport.Finding(
                positions: parting.map { [$0, $0] } ?? [min(1, position), position], problem: "checkpointDiffers",
                message:
                    "the checkpoint '\(ReadModels.name)' at position \(position) and a rebuild differ in \(component): \(place); remove the file, "
                    + "and the next opening replays")
        }
    }

    /// The first position as of which the two answer differently about what the event there names; nil if there is none.
    private func firstParting(_ journal: Journal, _ rebuilt: StoreModels) -> Position? {
        guard let checkpoint = try? StoreModels(checkpointOf: journal) else { return nil }
        var first: Position?
        do throws(ChatError) {
            try ChatStore.read(journal, 1...position, contents: .all) { event, position in
                if checkpoint.models.answers(about: event, at: position) == rebuilt.models.answers(about: event, at: position) {
                    return true
                }
                first = position
                return false
            }
        } catch {
            // The history was read once to rebuild; what has happened to it since is found the next time.
            return nil
        }
        return first
    }
}

extension ReadModels {
    /// What questions about everything that an event names are answered as of its own position.
    fileprivate func answers(about event: ChatEvent, at position: Position) -> Answers {
        let details = event.details
        var answers = Answers(
            userCount: userCount(asOf: position), messageCount: messageCount(asOf: position), replyCount: replyCount(asOf: position))
        answers.day = activity(from: CalendarDay(event.createdAt), to: CalendarDay(event.createdAt), asOf: position).first
        answers.user = details.user.flatMap { profile($0, asOf: position) }
        answers.bearer = event.username.flatMap { user(named: $0.text, asOf: position) }
        answers.withSubject = event.subject.flatMap { user(withSubject: $0, asOf: position) }
        answers.thread = details.thread.flatMap { thread($0, asOf: position) }
        if let user = details.user, let thread = details.thread {
            answers.memberSince = memberSince(user, in: thread, asOf: position)
            answers.readUpTo = readUpTo(user, in: thread, asOf: position)
        }
        switch details {
        case .messagePosted(let details): answers.message = message(details.message, asOf: position)
        case .messageEdited(let details), .messageRetracted(let details): answers.message = message(details.message, asOf: position)
        case .replyPosted(let details): (answers.message, answers.reply) = post(details.message, details.reply, asOf: position)
        case .replyEdited(let details), .replyRetracted(let details):
            (answers.message, answers.reply) = post(details.message, details.reply, asOf: position)
        default: break
        }
        return answers
    }

    private func post(
        _ message: MessageID, _ reply: ReplyID, asOf position: Position
    ) -> (PostRecord<MessageID>?, PostRecord<ReplyID>?) {
        (self.message(message, asOf: position), self.reply(reply, asOf: position))
    }
}

private struct Answers: Equatable {
    var userCount: Int
    var messageCount: Int
    var replyCount: Int
    var day: ActivityDay?
    var user: UserProfile?
    var bearer: UserID?
    var withSubject: UserID?
    var thread: ThreadRecord?
    var memberSince: Position?
    var readUpTo: Position?
    var message: PostRecord<MessageID>?
    var reply: PostRecord<ReplyID>?
}
