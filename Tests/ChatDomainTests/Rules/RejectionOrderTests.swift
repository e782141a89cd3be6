import ChatDomain
import ChatTesting
import Foundation
import TestSupport
import Testing

/// The order in which `Community.md` lists the rejections of a command.
///
/// Each command has conditions, each of which breaks one rule. A command that breaks several is
/// rejected for the first, or has no effect if that comes first.
struct RejectionOrderTests {
    typealias Here = Neighbourhood

    /// What a command names, and what happened before it.
    struct Case {
        var by = Here.bob
        var user = Here.cem
        var thread = Here.dogs
        /// The post that the command is about; nil for the other commands.
        var post: PostID?
        /// The id of a new post, thread or custom event.
        var id: UInt128 = 77
        var text = "Hello"
        /// The position of the text that an edit replaces.
        var replaces: Position?
        var until: Timestamp?
        var policy = ThreadPolicy.open
        var role = ThreadRole.moderator
        var payload = Here.payload("1")
        var mentions: [UserID] = []
        /// Commands before the command, of users and threads that exist.
        var given: Set<Earlier> = []

        /// The message of the post, or the post itself.
        var message: MessageID {
            switch post {
            case .message(let message): message
            case .reply(Here.woof): Here.walk
            case .reply(Here.earlyReply): Here.early
            case .reply, nil: Here.noMessage
            }
        }

        /// The thread of the command or of its post; nil if it does not exist.
        var knownThread: ThreadID? {
            if post != nil { return [Here.walk: Here.dogs, Here.early: Here.club][message] }
            return thread == Here.nowhere ? nil : thread
        }
    }

    /// An earlier command, in the order in which the commands are given; Dee executes them.
    enum Earlier: Int, CaseIterable {
        case livesHere, hasReacted, hasReactions, isInvited, isMuted, actorIsMuted, isReported, isPinned, hasPins,
            isRetracted, isRemoved,
            isLocked,
            isClosed, isBanned
        case isBlocked, hasBlocks
    }

    /// A condition under which a rule is broken, or the command has no effect.
    struct Condition {
        /// The code of the rejection; nil if the command has no effect.
        var code: Rejection.Code?
        /// The names of what the condition changes; two conditions that change the same do not
        /// occur together.
        var fields: Set<String>
        var change: @Sendable (inout Case) -> Void

        init(_ code: Rejection.Code?, _ fields: String..., change: @escaping @Sendable (inout Case) -> Void) {
            self.code = code
            self.fields = Set(fields)
            self.change = change
        }

        /// A condition that an earlier command causes.
        init(_ code: Rejection.Code?, after earlier: Earlier) {
            self.init(code, "\(earlier)") { $0.given.insert(earlier) }
        }

        /// A condition that an earlier command of the accepted command prevents.
        init(_ code: Rejection.Code?, without earlier: Earlier) {
            self.init(code, "\(earlier)") { $0.given.remove(earlier) }
        }
    }

    /// A command, the case in which it is accepted, and its conditions in order.
    struct Command: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var accepted: @Sendable (inout Case) -> Void
        var make: @Sendable (Case) -> ChatCommand
        var conditions: [Condition]

        init(
            _ name: String, _ conditions: [Condition], accepted: @escaping @Sendable (inout Case) -> Void = { _ in },
            make: @escaping @Sendable (Case) -> ChatCommand
        ) {
            testDescription = name
            self.accepted = accepted
            self.make = make
            self.conditions = conditions
        }

        /// The command's name, without the variant in parentheses.
        var name: String { String(testDescription.prefix { $0 != " " }) }
    }

    // MARK: Conditions that several commands share

    static let unknownActor = Condition(.unknownUser, "by") { $0.by = Here.nobody }
    static let unknownUser = Condition(.unknownUser, "user") { $0.user = Here.nobody }
    static let unknownThread = Condition(.unknownThread, "thread") { $0.thread = Here.nowhere }
    static let unknownMessage = Condition(.unknownMessage, "post") { $0.post = .message(Here.noMessage) }
    static let unknownReply = Condition(.unknownReply, "post") { $0.post = .reply(Here.noReply) }
    // Only a member can find a post hidden: for others the posts of a private thread do not exist.
    static let hiddenMessage = Condition(.unknownMessage, "post", "by") { $0.post = .message(Here.early) }
    static let hiddenReply = Condition(.unknownReply, "post", "by") { $0.post = .reply(Here.earlyReply) }
    static let actorIsStranger = Condition(.notAMember, "by") { $0.by = Here.eli }
    static let actorIsMember = Condition(.notAModerator, "by") { $0.by = Here.cem }
    static let concernsOwner = Condition(.notAnOwner, "user", "isBanned") { $0.user = Here.ann }
    static let actorIsLastOwner = Condition(.lastOwner, "by", "user", "isBanned") {
        ($0.by, $0.user) = (Here.ann, Here.ann)
    }
    static let isClosed = Condition(.threadClosed, after: .isClosed)
    static let isLocked = Condition(.threadLocked, after: .isLocked)
    static let actorIsMuted = Condition(.muted, after: .actorIsMuted)
    static let isBanned = Condition(.banned, "user", "isBanned") { $0.given.insert(.isBanned) }
    static let blankReason = Condition(.invalidReason, "text") { $0.text = " " }
    static let blankBody = Condition(.invalidBody, "text") { $0.text = "" }
    static let mentionsTooMany = Condition(.tooManyMentions, "mentions") { example in
        example.mentions += (0...50).map { UserID(bits: 1 << 90 + UInt128($0)) }
    }
    static let mentionsStranger = Condition(.notAMember, "stranger") { $0.mentions.append(Here.eli) }
    static let endsInPast = Condition(.invalidUntil, "until") {
        $0.until = Timestamp(millisecondsSince1970: 1_584_921_600_000)
    }
    static let userIsMember = Condition(nil, "user", "thread") { $0.user = Here.cem }

    /// An edit of a message by its author, whom no case of an edit is about.
    static let otherEdit = EditID(bits: 78)

    static func aboutMessage(_ example: inout Case) { example.post = .message(Here.walk) }

    // MARK: Commands

    static let joins: [Command] = [
        Command(
            "openThread",
            [
                Condition(.identifierTaken, "id") { $0.id = Here.n1p.bits }, unknownActor,
                Condition(.invalidThreadName, "text") { $0.text = "SW1A" },
                Condition(.invalidPolicy, "policy") { $0.policy = .residents },
            ]
        ) { .openThread(id: ThreadID(bits: $0.id), name: $0.text, policy: $0.policy, by: $0.by) },
        Command(
            "openDirect",
            [
                unknownActor, Condition(.invalidPeople, "mentions") { $0.mentions = [] },
                Condition(.cannotMessage, "mentions") { $0.mentions = [Here.nobody] },
                Condition(.identifierTaken, "id") { $0.id = Here.n1p.bits },
            ], accepted: { ($0.by, $0.mentions) = (Here.ann, [Here.cem]) }
        ) { .openDirect(id: ThreadID(bits: $0.id), with: $0.mentions, by: $0.by) },
        Command(
            "joinThread",
            [
                unknownUser, unknownThread, userIsMember, isClosed, isLocked, isBanned,
                Condition(.notResident, "thread") { $0.thread = Here.sw1a },
            ], accepted: { $0.user = Here.eli }
        ) { .joinThread(thread: $0.thread, by: $0.user) },
        Command(
            "leaveThread",
            [
                unknownUser, unknownThread, Condition(nil, "user") { $0.user = Here.eli },
                Condition(.lastOwner, "user") { $0.user = Here.ann },
            ]
        ) { .leaveThread(thread: $0.thread, by: $0.user) },
        Command(
            "setPostcode",
            [
                unknownUser, Condition(.invalidPostcode, "text") { $0.text = "SW1A" },
                Condition(nil, "livesHere", "text") { $0.given.insert(.livesHere) },
            ],
            accepted: { ($0.user, $0.text) = (Here.eli, "N1P 2NG") }
        ) { .setPostcode(postcode: $0.text, by: $0.user) },
        Command(
            "invite",
            [
                unknownActor, unknownUser, unknownThread, actorIsMember,
                Condition(.notAnOwner, "by") { $0.by = Here.dee }, isClosed,
                userIsMember, isBanned, Condition(nil, after: .isInvited),
            ], accepted: { ($0.user, $0.thread) = (Here.eli, Here.club) }
        ) { .invite(user: $0.user, thread: $0.thread, by: $0.by) },
        Command(
            "acceptInvitation",
            [
                unknownUser, unknownThread, userIsMember, isClosed, isLocked, isBanned,
                Condition(.notInvited, without: .isInvited),
                Condition(.notResident, "thread") { $0.thread = Here.sw1a },
            ], accepted: { ($0.user, $0.given) = (Here.eli, [.isInvited]) }
        ) { .acceptInvitation(thread: $0.thread, by: $0.user) },
        Command(
            "declineInvitation", [unknownUser, unknownThread, Condition(nil, without: .isInvited)],
            accepted: { ($0.user, $0.given) = (Here.eli, [.isInvited]) }
        ) { .declineInvitation(thread: $0.thread, by: $0.user) },
        Command(
            "revokeInvitation",
            [unknownActor, unknownUser, unknownThread, actorIsMember, Condition(nil, without: .isInvited)],
            accepted: { ($0.user, $0.thread, $0.given) = (Here.eli, Here.club, [.isInvited]) }
        ) { .revokeInvitation(user: $0.user, thread: $0.thread, by: $0.by) },
    ]

    static let roles: [Command] = [
        Command(
            "setRole",
            [
                unknownActor, unknownUser, unknownThread, Condition(.notAnOwner, "by") { $0.by = Here.bob },
                Condition(.notAMember, "user") { $0.user = Here.eli }, Condition(nil, "role") { $0.role = .member },
                Condition(.lastOwner, "user", "role") { ($0.user, $0.role) = (Here.ann, .moderator) },
            ], accepted: { $0.by = Here.ann }
        ) { .setRole(user: $0.user, thread: $0.thread, role: $0.role, by: $0.by) },
        Command("grantOperator", [unknownUser, Condition(nil, "user") { $0.user = Here.dee }]) {
            .grantOperator(user: $0.user)
        },
        Command(
            "revokeOperator", [unknownUser, Condition(nil, "user") { $0.user = Here.eli }],
            accepted: { $0.user = Here.dee }
        ) {
            .revokeOperator(user: $0.user)
        },
        Command(
            "mute",
            [
                unknownActor, unknownUser, unknownThread, actorIsMember,
                Condition(.notAnOwner, "user") { $0.user = Here.ann },
                Condition(nil, "isMuted", "until") { $0.given.insert(.isMuted) },
                Condition(.notAMember, "user", "isMuted") { $0.user = Here.eli }, blankReason, endsInPast,
            ]
        ) { .mute(user: $0.user, thread: $0.thread, reason: $0.text, until: $0.until, by: $0.by) },
        Command(
            "unmute",
            [
                unknownActor, unknownUser, unknownThread, actorIsMember,
                Condition(.notAnOwner, "user") { $0.user = Here.ann },
                Condition(nil, without: .isMuted),
            ], accepted: { $0.given = [.isMuted] }
        ) { .unmute(user: $0.user, thread: $0.thread, by: $0.by) },
        Command(
            "ban",
            [
                unknownActor, unknownUser, unknownThread, Condition(.notAModerator, "by") { $0.by = Here.eli },
                concernsOwner,
                actorIsLastOwner, Condition(nil, "isBanned", "until") { $0.given.insert(.isBanned) },
                Condition(.notAMember, "user", "isBanned") { $0.user = Here.eli }, blankReason, endsInPast,
            ]
        ) { .ban(user: $0.user, thread: $0.thread, reason: $0.text, until: $0.until, by: $0.by) },
        Command(
            "unban",
            [
                unknownActor, unknownUser, unknownThread, Condition(.notAModerator, "by") { $0.by = Here.eli },
                // A banned user has no role, so the user of this condition is not banned.
                Condition(.notAnOwner, "user", "isBanned") { ($0.user, $0.given) = (Here.ann, []) },
                Condition(nil, without: .isBanned),
            ], accepted: { $0.given = [.isBanned] }
        ) { .unban(user: $0.user, thread: $0.thread, by: $0.by) },
        Command(
            "removeMember",
            [
                unknownActor, unknownUser, unknownThread, Condition(.notAModerator, "by") { $0.by = Here.eli },
                concernsOwner,
                actorIsLastOwner, Condition(nil, "user") { $0.user = Here.eli }, blankReason,
            ]
        ) { .removeMember(user: $0.user, thread: $0.thread, reason: $0.text, by: $0.by) },
        Command(
            "block",
            [
                unknownActor, unknownUser, Condition(nil, after: .isBlocked),
                Condition(.tooManyBlocks, after: .hasBlocks),
            ]
        ) {
            .block(user: $0.user, by: $0.by)
        },
        Command(
            "unblock", [unknownActor, unknownUser, Condition(nil, without: .isBlocked)],
            accepted: { $0.given = [.isBlocked] }
        ) {
            .unblock(user: $0.user, by: $0.by)
        },
    ]

    static let threads: [Command] = [
        Command("lockThread", [unknownActor, unknownThread, actorIsMember, isClosed, Condition(nil, after: .isLocked)])
        {
            .lockThread(thread: $0.thread, by: $0.by)
        },
        Command(
            "unlockThread", [unknownActor, unknownThread, actorIsMember, isClosed, Condition(nil, without: .isLocked)],
            accepted: { $0.given = [.isLocked] }
        ) { .unlockThread(thread: $0.thread, by: $0.by) },
        Command(
            "closeThread",
            [
                unknownActor, unknownThread, Condition(.notAnOwner, "by") { $0.by = Here.bob },
                Condition(nil, after: .isClosed),
            ],
            accepted: { $0.by = Here.ann }
        ) { .closeThread(thread: $0.thread, by: $0.by) },
        Command(
            "setThreadPolicy",
            [
                unknownActor, unknownThread, Condition(.notAnOwner, "by") { $0.by = Here.bob },
                Condition(.invalidPolicy, "policy") { $0.policy = .residents },
                Condition(nil, "policy") { $0.policy = .open },
            ], accepted: { ($0.by, $0.policy) = (Here.ann, .inviteOnly) }
        ) { .setThreadPolicy(thread: $0.thread, policy: $0.policy, by: $0.by) },
        Command(
            "renameThread",
            [
                unknownActor, unknownThread, Condition(.notAnOwner, "by") { $0.by = Here.bob },
                Condition(.invalidThreadName, "text") { $0.text = "SW1A" },
            ], accepted: { ($0.by, $0.text) = (Here.ann, "Cats") }
        ) { .renameThread(thread: $0.thread, name: $0.text, by: $0.by) },
        Command(
            "postMessage",
            [
                Condition(.identifierTaken, "id") { $0.id = Here.early.bits }, unknownActor, unknownThread,
                actorIsStranger, isClosed,
                isLocked, actorIsMuted, blankBody, mentionsTooMany, mentionsStranger,
            ]
        ) {
            .postMessage(id: MessageID(bits: $0.id), thread: $0.thread, body: $0.text, mentions: $0.mentions, by: $0.by)
        },
        Command(
            "custom",
            [
                Condition(.identifierTaken, "id") { $0.id = Here.poll.bits }, unknownActor, unknownThread,
                actorIsStranger, isClosed,
                isLocked, actorIsMuted, Condition(.invalidKind, "text") { $0.text = "poll" },
                Condition(.invalidPayload, "payload") {
                    $0.payload = Here.payload("\"" + String(repeating: "x", count: 16_383) + "\"")
                },
            ], accepted: { $0.text = "com.example.poll" }
        ) {
            .custom(
                id: CustomEventID(bits: $0.id), kind: CustomKind(unchecked: $0.text), thread: $0.thread,
                payload: $0.payload, by: $0.by)
        },
        Command(
            "reply",
            [
                Condition(.identifierTaken, "id") { $0.id = Here.earlyReply.bits }, unknownActor, unknownMessage,
                actorIsStranger,
                hiddenMessage, isClosed, isLocked, actorIsMuted, Condition(.retracted, after: .isRemoved), blankBody,
                mentionsTooMany, mentionsStranger,
            ], accepted: aboutMessage
        ) {
            .reply(id: ReplyID(bits: $0.id), to: $0.message, body: $0.text, mentions: $0.mentions, by: $0.by)
        },
        Command(
            "pin",
            [
                unknownActor, unknownMessage, actorIsMember, isClosed, Condition(.retracted, after: .isRemoved),
                Condition(nil, after: .isPinned), Condition(.tooManyPins, after: .hasPins),
            ], accepted: aboutMessage
        ) { .pin(message: $0.message, by: $0.by) },
        Command(
            "unpin", [unknownActor, unknownMessage, actorIsMember, isClosed, Condition(nil, without: .isPinned)],
            accepted: { ($0.post, $0.given) = (.message(Here.walk), [.isPinned]) }
        ) { .unpin(message: $0.message, by: $0.by) },
    ]

    /// The commands about a message or a reply, for each of the two.
    static let posts: [Command] = [false, true].flatMap { isReply -> [Command] in
        let kind = isReply ? "reply" : "message"
        let (unknown, hidden) = isReply ? (unknownReply, hiddenReply) : (unknownMessage, hiddenMessage)
        let post = isReply ? PostID.reply(Here.woof) : .message(Here.walk)
        let notTheAuthor = Condition(.notTheAuthor, "by") { $0.by = Here.bob }
        return [
            Command(
                "edit (\(kind))",
                [
                    Condition(.identifierTaken, "id") { $0.id = otherEdit.bits }, unknownActor, unknown,
                    actorIsStranger, hidden, isClosed,
                    isLocked, actorIsMuted, notTheAuthor,
                    Condition(.retracted, after: .isRetracted), Condition(.edited, "replaces") { $0.replaces = 1 },
                    blankBody,
                    mentionsTooMany, mentionsStranger,
                ],
                accepted: { ($0.post, $0.by) = (post, Here.cem) }
            ) {
                .edit(
                    $0.post ?? post, id: EditID(bits: $0.id), body: $0.text, mentions: $0.mentions,
                    replaces: $0.replaces, by: $0.by)
            },
            Command(
                "retract (\(kind))", [unknownActor, unknown, notTheAuthor, Condition(nil, after: .isRetracted)],
                accepted: { ($0.post, $0.by) = (post, Here.cem) }
            ) { .retract($0.post ?? post, by: $0.by) },
            Command(
                "remove (\(kind))",
                [unknownActor, unknown, actorIsMember, Condition(nil, after: .isRemoved), blankReason],
                accepted: { $0.post = post }
            ) { .remove($0.post ?? post, reason: $0.text, by: $0.by) },
            Command(
                "react (\(kind))",
                [
                    unknownActor, unknown, actorIsStranger, hidden, isClosed, isLocked, actorIsMuted,
                    Condition(.retracted, after: .isRemoved), Condition(.invalidEmoji, "text") { $0.text = "ok" },
                    Condition(nil, after: .hasReacted), Condition(.tooManyReactions, after: .hasReactions),
                ], accepted: { ($0.post, $0.by, $0.text) = (post, Here.cem, "👍") }
            ) { .react($0.post ?? post, emoji: $0.text, by: $0.by) },
            Command(
                "unreact (\(kind))",
                [
                    unknownActor, unknown, Condition(.invalidEmoji, "text") { $0.text = "ok" },
                    Condition(nil, without: .hasReacted),
                ], accepted: { ($0.post, $0.by, $0.text, $0.given) = (post, Here.cem, "👍", [.hasReacted]) }
            ) { .unreact($0.post ?? post, emoji: $0.text, by: $0.by) },
            Command(
                "report (\(kind))",
                [
                    unknownActor, unknown, actorIsStranger, hidden, Condition(.retracted, after: .isRemoved),
                    Condition(nil, after: .isReported), blankReason,
                ], accepted: { $0.post = post }
            ) { .report($0.post ?? post, reason: $0.text, by: $0.by) },
            Command(
                "resolveReport (\(kind))",
                [unknownActor, unknown, actorIsMember, Condition(nil, without: .isReported)],
                accepted: { ($0.post, $0.given) = (post, [.isReported]) }
            ) { .resolveReport($0.post ?? post, by: $0.by) },
        ]
    }

    static let commands = joins + roles + threads + posts

    // MARK: Tests

    /// The history before a case.
    ///
    /// An earlier command about a user, thread or post that does not exist is left out.
    private func history(_ example: Case) -> DeciderSpecification {
        let otherEdit = ChatCommand.edit(.message(Here.early), id: Self.otherEdit, body: "x", by: Here.ann)
        let first = example.id == Self.otherEdit.bits ? Here.clubbed.given(otherEdit) : Here.clubbed
        guard let thread = example.knownThread else { return first }
        let user = example.user == Here.nobody ? nil : example.user
        let actor = example.by == Here.nobody ? nil : example.by
        let author = thread == Here.dogs ? Here.cem : Here.ann
        return Earlier.allCases.filter(example.given.contains).reduce(first) { history, earlier in
            switch (earlier, user, actor, example.post) {
            case (.livesHere, let user?, _, _): history.given(.setPostcode(postcode: example.text, by: user))
            // An operator invites where there is no owner.
            case (.isInvited, let user?, _, _):
                history.given(.invite(user: user, thread: thread, by: thread == Here.sw1a ? Here.dee : Here.ann))
            case (.isMuted, let user?, _, _):
                Self.sanction(.userMuted, user, thread, until: example.until, in: history)
            case (.actorIsMuted, _, let actor?, _): Self.sanction(.userMuted, actor, thread, until: nil, in: history)
            // Only Ann sees the message that was posted before the others joined.
            case (.isReported, _, _, let post?):
                history.given(.report(post, reason: "x", by: thread == Here.dogs ? Here.bob : Here.ann))
            // Only members react, to posts that they see.
            case (.hasReacted, _, let actor?, let post?) where thread == Here.dogs && actor == Here.cem:
                history.given(.react(post, emoji: "👍", by: actor))
            case (.hasReactions, _, let actor?, let post?) where thread == Here.dogs && actor == Here.cem:
                history.given(
                    (example.given.contains(.hasReacted) ? 1..<20 : 0..<20).map {
                        CommandRequest(.react(post, emoji: ":n\($0):", by: actor))
                    })
            case (.isPinned, _, _, _): history.given(.pin(message: example.message, by: Here.dee))
            case (.hasPins, _, _, _): history.given(pins(example.given.contains(.isPinned) ? 49 : 50))
            case (.isRetracted, _, _, let post?): history.given(.retract(post, by: author))
            case (.isRemoved, _, _, let post?): history.given(.remove(post, reason: "x", by: Here.dee))
            case (.isLocked, _, _, _): history.given(.lockThread(thread: thread, by: Here.dee))
            case (.isClosed, _, _, _): history.given(.closeThread(thread: thread, by: Here.dee))
            case (.isBanned, let user?, _, _):
                Self.sanction(.userBanned, user, thread, until: example.until, in: history)
            case (.isBlocked, let user?, let actor?, _): history.given(.block(user: user, by: actor))
            case (.hasBlocks, _, let actor?, _):
                history.given(Self.blocks(of: actor, example.given.contains(.isBlocked) ? 999 : 1_000))
            default: history
            }
        }
    }

    /// A mute or a ban by Dee, also of a user who never was in the thread, as an earlier version
    /// permitted.
    private static func sanction(
        _ kind: EventKind, _ user: UserID, _ thread: ThreadID, until: Timestamp?, in history: DeciderSpecification
    ) -> DeciderSpecification {
        let command: ChatCommand =
            kind == .userBanned
            ? .ban(user: user, thread: thread, reason: "x", until: until, by: Here.dee)
            : .mute(user: user, thread: thread, reason: "x", until: until, by: Here.dee)
        guard history.when(command).rejection?.code == .notAMember else { return history.given(command) }
        let shape = EventShape.sanction(
            thread: thread, number: UInt64(history.history.count { $0.event.thread == thread } + 1), user: user,
            by: Here.dee, until: until)
        return history.given(
            ChatEvent(recordedAt: history.state.lastRecordedAt, details: .init(kind, shape), content: .reason("x")))
    }

    /// As many blocks of users who register for them.
    private static func blocks(of actor: UserID, _ count: Int) -> [CommandRequest] {
        (0..<count).flatMap { number -> [CommandRequest] in
            let user = UserID(bits: 1 << 100 + UInt128(number))
            return [
                CommandRequest(.registerUser(id: user, username: "blocked \(number)")),
                CommandRequest(.joinThread(thread: Here.park, by: user)),
                CommandRequest(.block(user: user, by: actor)),
            ]
        }
    }

    /// Messages in the thread about dogs, all pinned.
    private func pins(_ count: Int) -> [CommandRequest] {
        (0..<count).flatMap { number -> [CommandRequest] in
            let message = MessageID(bits: 1_000 + UInt128(number))
            return [
                CommandRequest(.postMessage(id: message, thread: Here.dogs, body: "x", by: Here.ann)),
                CommandRequest(.pin(message: message, by: Here.dee)),
            ]
        }
    }

    /// Executes the command under each set of conditions that can occur together: of up to three
    /// conditions by default.
    @Test(arguments: commands) func firstBrokenRuleIsReported(command: Command) {
        var sets = 0
        func visit(_ next: Int, _ chosen: [Condition]) {
            guard next < command.conditions.count else {
                sets += 1
                var example = Case()
                command.accepted(&example)
                // The last change decides, so that no change undoes an earlier condition.
                for condition in chosen { condition.change(&example) }
                let outcome = history(example).when(command.make(example))
                guard let first = chosen.first else {
                    #expect(!outcome.events.isEmpty, "\(command.make(example))")
                    return
                }
                let names = chosen.map { $0.code?.rawValue ?? "no effect" }
                if let code = first.code {
                    #expect(outcome.rejection?.code == code, "\(names): \(command.make(example))")
                } else {
                    #expect(outcome.isUnchanged, "\(names): \(command.make(example))")
                }
                return
            }
            visit(next + 1, chosen)
            let condition = command.conditions[next]
            if chosen.count < Repetitions.few(3, of: 12),
                chosen.allSatisfy({ $0.fields.isDisjoint(with: condition.fields) })
            {
                visit(next + 1, chosen + [condition])
            }
        }
        visit(0, [])
        #expect(sets > command.conditions.count)
    }

    /// The rows of the page have the conditions of the tests, in the same order.
    @Test func pageListsTheseRules() throws {
        let rows = try DocumentationPage("Community.md").commands
        #expect(Set(rows.map { $0[0] }) == Set(Self.commands.map(\.name)))
        for row in rows {
            // Commas inside brackets and parentheses do not separate rules.
            let rules = row[2].replacing(/\([^)]*\)/, with: "").replacing(/\[[^\]]*\]/, with: "no effect")
            for (variant, command) in Self.commands.filter({ $0.name == row[0] }).enumerated() {
                let expected = rules.split(separator: ",").map { rule -> String in
                    let alternatives = String(rule).components(separatedBy: " or ").map {
                        $0.trimmingCharacters(in: .whitespaces)
                    }
                    return alternatives[min(variant, alternatives.count - 1)]
                }
                var tested = command.conditions.map { $0.code?.rawValue ?? "no effect" }
                // The acting user and the other user are two conditions of one rule.
                if tested.starts(with: ["unknownUser", "unknownUser"]) { tested.removeFirst() }
                #expect(tested == expected, "\(command.testDescription)")
            }
        }
    }
}
