import Chat
import ChatDomain
import Projections

@testable import ChatWire

/// Values of the answers of the chat, by the names of their schemas.
///
/// All together have every property, and some have none that can be left out. A list of three is
/// cut.
enum AnswerSamples {
    private static let ann = UserSummary(id: CommandSamples.actor, username: "Ann")
    private static let erased = UserSummary(id: CommandSamples.other)
    private static let (thread, message, reply) = (CommandSamples.thread, CommandSamples.message, CommandSamples.reply)
    private static let code = OutwardCode("SW1A")
    private static let time = Timestamp(millisecondsSince1970: 1_795_237_392_123)
    private static let level = ThreadNotifications(level: .mentions, until: time)

    private static let fullMessage = Post(
        id: .message(message), position: 12, thread: thread, message: message, author: ann, body: "Milk?",
        createdAt: time, editedAt: time, editPosition: 14, isRetracted: false, isRemoved: true,
        isFromBlockedUser: true, replyCount: 1, reactions: [PostReaction(emoji: "👍", count: 1, isMine: true)],
        mentions: [erased.id])
    private static let shortMessage = Post(
        id: .message(message), position: 12, thread: thread, message: message, author: erased, createdAt: time,
        isRetracted: true, replyCount: 0)
    private static let fullReply = Post(
        id: .reply(reply), position: 13, message: message, author: ann, body: "I go", createdAt: time,
        editedAt: time, editPosition: 15, isRetracted: false, isRemoved: true, isFromBlockedUser: true, replyCount: 0,
        reactions: [PostReaction(emoji: ":wave:", count: 2, isMine: false)], mentions: [erased.id])
    private static let shortReply = Post(
        id: .reply(reply), position: 13, message: message, author: erased, createdAt: time, isRetracted: true,
        replyCount: 0)
    private static let fullThread = ThreadSummary(
        id: thread, people: [ann, erased], memberCount: 2, messageCount: 1, lastPosition: 13, createdAt: time,
        policy: .inviteOnly, history: .sinceJoining, isLocked: true, isClosed: true)
    private static let codeThread = ThreadSummary(
        id: thread, name: "SW1A", outwardCode: code, memberCount: 0, messageCount: 0, lastPosition: 1,
        createdAt: time, policy: .residents)
    private static let act = ThreadStanding.Act(position: 3, imposedAt: time, until: time, reason: "spam")
    private static let fullStanding = ThreadStanding(
        role: .member, since: 7, mute: act, ban: act, removal: .init(position: 4, imposedAt: time),
        notifications: level, people: [ann.id, erased.id])
    private static let userThread = UserThread(
        id: thread, people: [ann, erased], since: 5, unreadCount: 1, firstUnread: 12, readUpTo: 11,
        notifications: level, lastMessage: fullMessage)
    private static let common = CommonThread(id: thread, people: [ann, erased], since: 9)
    private static let entries = [
        InboxEntry(
            position: 30, reason: .reaction, thread: thread, people: [ann, erased], post: .message(message), by: ann,
            createdAt: time, isUnread: true, emoji: "👍"),
        InboxEntry(
            position: 31, reason: .moderation, thread: thread, name: "Rota", post: .reply(reply), by: erased,
            createdAt: time, isUnread: false, kind: .userMuted, moderatorNote: "spam", until: time),
    ]
    private static let event = RecordedEvent(
        position: 12,
        event: ChatEvent(
            recordedAt: time, origin: .imported(sentAt: time),
            details: .init(
                .messagePosted, .message(thread: thread, number: 3, message: message, by: ann.id)),
            correlation: "c"),
        redacted: .body, isFromBlockedUser: true, inbox: .mention)

    private static let erasedEvent: RecordedEvent = {
        var event = ChatEvent(recordedAt: time, details: .init(.usernameChanged, .user(ann.id)), content: .erased)
        event.once = CommandID(bits: 9)
        return RecordedEvent(position: 13, event: event)
    }()

    private static func page<Entry: PageEntry>(_ entries: [Entry]) -> Page<Entry> {
        Page(entries: entries, older: .before(4), newer: .after(13), isTruncated: true)
    }

    /// The samples; a name can be that of several.
    static let all: [(schema: String, value: any Encodable & Sendable)] = [
        ("MessagePage", page([fullMessage, shortMessage])), ("ReplyPage", page([fullReply, shortReply])),
        ("MessagePage", Page<Post>(entries: [], newer: .latest())),
        ("Message", shortMessage), ("Reply", fullReply),
        ("PinList", ItemList(items: [fullMessage, shortMessage, fullMessage])),
        (
            "ReactionPage",
            page([
                Reaction(position: 21, emoji: "👍", user: ann, isFromBlockedUser: true),
                Reaction(position: 22, emoji: "👍", user: erased),
            ])
        ),
        (
            "CustomEventPage",
            page([
                CustomEvent(
                    position: 22, id: CustomEventID(bits: 7), kind: "com.example.poll",
                    payload: CustomPayload(unchecked: "{\"days\":1.5}"), by: ann.id, createdAt: time,
                    isFromBlockedUser: true),
                CustomEvent(
                    position: 23, id: CustomEventID(bits: 8), kind: "com.example.vote",
                    payload: CustomPayload(unchecked: "1"), by: erased.id, createdAt: time),
            ])
        ),
        ("ThreadPage", page([fullThread, codeThread])),
        ("Thread", ThreadAnswer(thread: fullThread, me: .init(standing: fullStanding))),
        ("Standing", ThreadStanding()),
        (
            "ThreadActivity",
            ThreadActivity(
                from: CalendarDay(time), to: CalendarDay(time), days: [.init(day: CalendarDay(time), messages: 3)],
                people: 2,
                hasMore: true)
        ),
        ("MemberPage", page([ThreadMember(user: ann, since: 4)])),
        ("BlockPage", page([UserBlock(user: erased.id, since: 31)])),
        ("RoleHolderPage", page([RoleHolder(user: ann, role: .owner, since: 16)])),
        (
            "ResidentPage",
            page(
                code.map { code in
                    [
                        Resident(user: ann, since: 7, postcode: Postcode("SW1A 1AA"), outwardCode: code),
                        Resident(user: erased, since: 8, outwardCode: code),
                    ]
                } ?? [])
        ),
        (
            "SanctionPage",
            page([
                ThreadSanction(
                    user: ann, kind: .mute, position: 30, imposedAt: time, until: time, by: ann, reason: "spam"),
                ThreadSanction(user: erased, kind: .ban, position: 31, imposedAt: time, by: erased),
            ])
        ),
        (
            "ReportPage",
            page([
                PostReport(
                    position: 31, post: .message(message), author: ann, body: "Milk?", isRemoved: true, by: ann,
                    reason: "spam", reportedAt: time),
                PostReport(
                    position: 32, post: .reply(reply), author: erased, isRemoved: false, by: erased, reportedAt: time),
            ])
        ),
        (
            "InvitationPage",
            page([
                ThreadInvitation(
                    thread: thread, name: "Rota", user: ann, by: erased, position: 20, invitedAt: time,
                    isFromBlockedUser: true),
                ThreadInvitation(thread: thread, user: erased, by: ann, position: 21, invitedAt: time),
            ])
        ),
        ("InboxPage", InboxAnswer(page: page(entries), unread: InboxCount(count: 1, hasMore: true))),
        (
            "Me",
            UserDetails(
                id: ann.id, username: "Ann", postcode: Postcode("SW1A 1AA"), createdAt: time,
                threads: [userThread, userThread, userThread])
        ),
        (
            "UserThreadPage",
            page([
                userThread, UserThread(id: thread, name: "SW1A", since: 5, unreadCount: 0, readUpTo: 12),
            ])
        ),
        (
            "DirectoryPage",
            page([
                DirectoryEntry(id: thread, name: "Party", memberCount: 12, latestPostAt: time, position: 34),
                DirectoryEntry(id: thread, memberCount: 0, position: 35),
            ])
        ),
        ("PersonPage", page([PersonSummary(id: ann.id, username: "Ann", since: 9)])),
        (
            "PersonDetails",
            PersonDetails(id: ann.id, username: "Ann", about: "Bees", threads: page([common]))
        ),
        ("PersonDetails", PersonDetails(id: ann.id, threads: page([]))),
        ("EventPage", page([event, erasedEvent])),
        ("Answer", CommandAnswer(line: 1, .failure(.notAMember))),
        ("Answer", CommandAnswer(line: 1_000, .success(receipt))),
        ("Answer", CommandAnswer(line: 1, .success(Receipt()))),
        ("Problem", Problem(400, .invalidQuery, "No.", field: "limit", line: 2, retryAfter: 1)),
        ("Problem", Problem.notFound),
        ("Erased", erasedContent), ("Erased", ErasedContent()),
        ("AccessLost", ["thread": "\(thread)"]),
    ]

    private static var receipt: Receipt {
        var receipt = Receipt(events: [event.event], from: 12, isDuplicate: true)
        receipt.moderatorCount = 0
        return receipt
    }

    private static var erasedContent: ErasedContent {
        var content = ErasedContent()
        content.positions = PositionSet([12...13])
        (content.posts, content.threads) = ([.message(message), .reply(reply)], [thread])
        (content.users, content.namelessThreads, content.namelessUsers) = ([ann.id], [thread], [ann.id])
        return content
    }
}
