import ChatDomain
import ChatTesting
import Testing

/// Policies, histories and invitations.
struct PrivateThreadRulesTests {
    typealias Here = Neighbourhood

    @Test(arguments: [
        (ThreadPolicy.inviteOnly, ThreadHistory.all), (.inviteOnly, .sinceJoining), (.open, .sinceJoining),
    ])
    func openingSetsPolicy(policy: ThreadPolicy, history: ThreadHistory) {
        let open = ChatCommand.openThread(
            thread: Here.club, name: "Club", by: Here.ann, policy: policy, history: history)
        let outcome = Here.people.when(open)
        #expect(
            outcome.eventDetails == [
                .init(.threadOpened, .thread(Here.club, number: 1, user: Here.ann)),
                .init(
                    .threadPolicySet,
                    .policy(thread: Here.club, number: 2, policy: policy, history: history, by: Here.ann)),
                .init(.threadJoined, .thread(Here.club, number: 3, user: Here.ann)),
            ])
        #expect(outcome.events.map(\.content) == [.threadName("Club"), .none, .none])
        #expect(Here.people.given(open).when(open).duplicatePositions == 3...5)
        #expect(
            Here.people.given(open).when(.openThread(thread: Here.club, name: "x", by: Here.ann)).duplicatePositions
                == 3...5)
    }

    @Test func invitationAllowsOneJoin() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        #expect(invited.when(.joinThread(user: Here.eli, thread: Here.club)).events.count == 1)
        let joined = invited.given(.acceptInvitation(user: Here.eli, thread: Here.club))
        #expect(joined.when(.acceptInvitation(user: Here.eli, thread: Here.club)).isUnchanged)
        #expect(joined.when(.declineInvitation(user: Here.eli, thread: Here.club)).isUnchanged)
        let left = joined.given(.leaveThread(user: Here.eli, thread: Here.club))
        #expect(left.when(.joinThread(user: Here.eli, thread: Here.club)).rejection?.code == .unknownThread)
        #expect(left.when(.acceptInvitation(user: Here.eli, thread: Here.club)).rejection?.code == .unknownThread)
    }

    @Test func declinedOrRevokedInvitationEnds() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        let declined = invited.when(.declineInvitation(user: Here.eli, thread: Here.club))
        #expect(
            declined.eventDetails == [.init(.invitationDeclined, .thread(Here.club, number: 13, user: Here.eli))])
        let revoked = invited.when(.revokeInvitation(user: Here.eli, thread: Here.club, by: Here.ann))
        #expect(
            revoked.eventDetails == [
                .init(.invitationRevoked, .member(thread: Here.club, number: 13, user: Here.eli, by: Here.ann))
            ])
        for outcome in [declined, revoked] {
            let given = invited.given(outcome.events[0])
            #expect(given.when(.joinThread(user: Here.eli, thread: Here.club)).rejection?.code == .unknownThread)
            #expect(given.when(.invite(user: Here.eli, thread: Here.club, by: Here.bob)).events.count == 1)
        }
    }

    /// Every command with a private thread, or with a post in one, has the same answer as with an
    /// id that does not exist: for a user who was never concerned, who has left, who was removed,
    /// banned or uninvited, and, for what only readers do, for an operator.
    @Test(
        arguments: [
            [],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .declineInvitation(user: Here.eli, thread: Here.club),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .revokeInvitation(user: Here.eli, thread: Here.club, by: Here.bob),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .acceptInvitation(user: Here.eli, thread: Here.club),
                .leaveThread(user: Here.eli, thread: Here.club),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .acceptInvitation(user: Here.eli, thread: Here.club),
                .removeMember(user: Here.eli, thread: Here.club, by: Here.bob, reason: "x"),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .ban(user: Here.eli, thread: Here.club, by: Here.bob, reason: "x"),
            ], [.lockThread(thread: Here.club, by: Here.bob)],
            [.closeThread(thread: Here.club, by: Here.ann)], [.grantOperator(user: Here.eli)],
        ] as [[ChatCommand]])
    func privateThreadIsUnknown(before: [ChatCommand]) {
        let given = Here.clubbed.given(before.map { CommandRequest($0) })
        let isOperator = given.when(.grantOperator(user: Here.eli)).isUnchanged
        for (isOfModerator, makeCommand) in Self.commandsInThread where !(isOperator && isOfModerator) {
            let (hidden, absent) = (makeCommand(Here.club), makeCommand(Here.nowhere))
            #expect(given.when(hidden).result == given.when(absent).result, "\(hidden)")
            #expect(given.when(hidden).rejection?.code == .unknownThread, "\(hidden)")
        }
        for (isOfModerator, makeCommand) in Self.commandsOnPost where !(isOperator && isOfModerator) {
            for (hidden, absent) in [
                (PostID.message(Here.early), PostID.message(Here.noMessage)),
                (.reply(Here.earlyReply), .reply(Here.noReply)),
            ] {
                guard let command = makeCommand(hidden), let other = makeCommand(absent) else { continue }
                #expect(given.when(command).result == given.when(other).result, "\(command)")
                let code = given.when(command).rejection?.code
                #expect(code == .unknownMessage || code == .unknownReply, "\(command)")
            }
        }
        // What an operator does as a moderator is possible.
        if isOperator { #expect(given.when(.lockThread(thread: Here.club, by: Here.eli)).events.count == 1) }
    }

    /// A user with an invitation knows the thread, and none of its posts can be read.
    @Test func invitedUserKnowsThread() {
        let given = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        #expect(given.when(.postMessage(thread: Here.club, author: Here.eli, body: "x")).rejection?.code == .notAMember)
        #expect(given.when(.lockThread(thread: Here.club, by: Here.eli)).rejection?.code == .notAModerator)
        #expect(given.when(.reply(message: Here.early, author: Here.eli, body: "x")).rejection?.code == .notAMember)
    }

    /// A user who has left still retracts what they posted, and repeats commands with an id.
    @Test func formerMemberRetractsAndRepeats() {
        let (message, reply) = (MessageID(bits: 0xABC), ReplyID(bits: 0xDEF))
        let commands: [ChatCommand] = [
            .postMessage(message: message, thread: Here.club, author: Here.cem, body: "x"),
            .reply(reply: reply, message: message, author: Here.cem, body: "x"),
            .custom(
                id: CustomEventID(bits: 5), kind: "com.example.poll", thread: Here.club, by: Here.cem,
                payload: Here.payload("1")),
        ]
        let given = Here.clubbed.given(commands.map { CommandRequest($0) }).given(
            .leaveThread(user: Here.cem, thread: Here.club))
        for command in commands { #expect(given.when(command).duplicatePositions != nil, "\(command)") }
        #expect(given.when(.retract(.message(message), by: Here.cem)).events.count == 1)
        #expect(given.when(.retract(.reply(reply), by: Here.cem)).events.count == 1)
        #expect(given.when(.edit(.message(message), by: Here.cem, body: "y")).rejection?.code == .unknownMessage)
        #expect(given.when(.retract(.message(message), by: Here.eli)).rejection?.code == .unknownMessage)
        // An id that is in use is taken, whoever asks.
        let taken = ChatCommand.postMessage(message: message, thread: Here.dogs, author: Here.bob, body: "x")
        #expect(given.when(taken).rejection?.code == .identifierTaken)
        #expect(
            given.when(.openThread(thread: Here.club, name: "Mine", by: Here.eli)).rejection?.code == .identifierTaken)
    }

    /// The commands of Eli that name a thread, and whether they are acts of moderators.
    private static let commandsInThread: [(isOfModerator: Bool, make: @Sendable (ThreadID) -> ChatCommand)] = [
        (false, { .joinThread(user: Here.eli, thread: $0) }), (false, { .leaveThread(user: Here.eli, thread: $0) }),
        (false, { .acceptInvitation(user: Here.eli, thread: $0) }),
        (false, { .declineInvitation(user: Here.eli, thread: $0) }),
        (false, { .markRead(user: Here.eli, thread: $0, upTo: 1) }),
        (false, { .markRead(user: Here.eli, thread: $0, upTo: .max) }),
        (false, { .markUnread(user: Here.eli, thread: $0, from: 1) }),
        (false, { .setNotifications(user: Here.eli, thread: $0, level: .none) }),
        (false, { .postMessage(thread: $0, author: Here.eli, body: "x") }),
        (false, { .postMessage(thread: $0, author: Here.eli, body: "") }),
        (false, { .custom(kind: CustomKind(unchecked: "poll"), thread: $0, by: Here.eli, payload: Here.payload("1")) }),
        (true, { .invite(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .invite(user: Here.eli, thread: $0, by: Here.eli) }),
        (true, { .revokeInvitation(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .setRole(user: Here.cem, thread: $0, role: .owner, by: Here.eli) }),
        (true, { .mute(user: Here.cem, thread: $0, by: Here.eli, reason: "") }),
        (true, { .unmute(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .ban(user: Here.cem, thread: $0, by: Here.eli, reason: "x") }),
        (true, { .unban(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .removeMember(user: Here.cem, thread: $0, by: Here.eli, reason: "x") }),
        (true, { .lockThread(thread: $0, by: Here.eli) }), (true, { .unlockThread(thread: $0, by: Here.eli) }),
        (true, { .closeThread(thread: $0, by: Here.eli) }),
    ]

    /// The commands of Eli that name a post; nil for a reply that the command does not take.
    private static let commandsOnPost: [(isOfModerator: Bool, make: @Sendable (PostID) -> ChatCommand?)] = [
        (false, { if case .message(let id) = $0 { .reply(message: id, author: Here.eli, body: "") } else { nil } }),
        (false, { .edit($0, by: Here.eli, body: "") }), (false, { .retract($0, by: Here.eli) }),
        (false, { .report($0, by: Here.eli, reason: "x") }), (true, { .remove($0, by: Here.eli, reason: "x") }),
        (true, { .resolveReport($0, by: Here.eli) }),
        (true, { if case .message(let id) = $0 { .pin(message: id, by: Here.eli) } else { nil } }),
        (true, { if case .message(let id) = $0 { .unpin(message: id, by: Here.eli) } else { nil } }),
    ]

    /// An invitation to an open thread is not needed, and ends with the join.
    @Test func openThreadHasInvitations() {
        let invited = Here.moderated.given(.invite(user: Here.eli, thread: Here.dogs, by: Here.bob))
        let joined = invited.given(.joinThread(user: Here.eli, thread: Here.dogs))
        #expect(joined.when(.declineInvitation(user: Here.eli, thread: Here.dogs)).isUnchanged)
        let left = joined.given(.leaveThread(user: Here.eli, thread: Here.dogs))
        #expect(left.when(.acceptInvitation(user: Here.eli, thread: Here.dogs)).rejection?.code == .notInvited)
        #expect(left.when(.joinThread(user: Here.eli, thread: Here.dogs)).events.count == 1)
    }

    /// A postcode joins the thread of its outward code, which ends the invitation.
    @Test func postcodeEndsInvitation() {
        let given = Here.moderated.given(
            .invite(user: Here.eli, thread: Here.sw1a, by: Here.dee),
            .setPostcode(user: Here.eli, postcode: "SW1A 3AA"),
            .leaveThread(user: Here.eli, thread: Here.sw1a))
        #expect(given.when(.acceptInvitation(user: Here.eli, thread: Here.sw1a)).rejection?.code == .notInvited)
    }

    /// Operators see the whole history of a thread that is not `inviteOnly`, also as members.
    @Test func messagesBeforeJoinExistForOperators() {
        let (thread, message) = (ThreadID(bits: 0xABC), MessageID(bits: 0xDEF))
        for (policy, code) in [(ThreadPolicy.open, nil), (.inviteOnly, Rejection.Code.unknownMessage)] {
            let given = Here.moderated.given(
                .openThread(thread: thread, name: "Open door", by: Here.ann, policy: policy, history: .sinceJoining),
                .postMessage(message: message, thread: thread, author: Here.ann, body: "Early"),
                .invite(user: Here.eli, thread: thread, by: Here.ann), .acceptInvitation(user: Here.eli, thread: thread)
            )
            let reply = ChatCommand.reply(message: message, author: Here.eli, body: "x")
            #expect(given.when(reply).rejection?.code == .unknownMessage)
            #expect(given.given(.grantOperator(user: Here.eli)).when(reply).rejection?.code == code)
        }
    }

    @Test func messagesBeforeJoinAreUnknown() {
        for command in [
            .reply(message: Here.early, author: Here.bob, body: "x"),
            .edit(.message(Here.early), by: Here.bob, body: "x"),
            .report(.message(Here.early), by: Here.bob, reason: "x"),
        ] as [ChatCommand] {
            #expect(Here.clubbed.when(command).rejection?.code == .unknownMessage, "\(command)")
        }
        // The commands of moderators take every post.
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.bob)).events.count == 1)
        for command in [
            .edit(.reply(Here.earlyReply), by: Here.bob, body: "x"),
            .report(.reply(Here.earlyReply), by: Here.bob, reason: "x"),
        ] as [ChatCommand] {
            #expect(Here.clubbed.when(command).rejection?.code == .unknownReply, "\(command)")
        }
        // Only a member has a latest join.
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.dee)).events.count == 1)
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.ann)).events.count == 1)
        // Moderators act on posts that they do not see.
        #expect(Here.clubbed.when(.remove(.message(Here.early), by: Here.bob, reason: "x")).events.count == 1)
        #expect(Here.clubbed.when(.remove(.reply(Here.earlyReply), by: Here.bob, reason: "x")).events.count == 1)
    }

    /// A new reply to a message before the join stays unknown, as the message does.
    @Test func replyIsAsVisibleAsItsMessage() {
        let reply = ReplyID(bits: 5)
        let given = Here.clubbed.given(.reply(reply: reply, message: Here.early, author: Here.ann, body: "x"))
        #expect(given.when(.report(.reply(reply), by: Here.bob, reason: "x")).rejection?.code == .unknownReply)
    }

    @Test func latestJoinDecides() {
        let mine = MessageID(bits: 5), reply = ReplyID(bits: 5)
        let posted = Here.clubbed.given(
            .postMessage(message: mine, thread: Here.club, author: Here.cem, body: "x"),
            .reply(reply: reply, message: mine, author: Here.cem, body: "x"))
        #expect(posted.when(.edit(.message(mine), by: Here.cem, body: "y")).events.count == 1)
        let rejoined = posted.given(
            .leaveThread(user: Here.cem, thread: Here.club), .invite(user: Here.cem, thread: Here.club, by: Here.bob),
            .acceptInvitation(user: Here.cem, thread: Here.club))
        #expect(rejoined.when(.edit(.message(mine), by: Here.cem, body: "y")).rejection?.code == .unknownMessage)
        #expect(rejoined.when(.edit(.reply(reply), by: Here.cem, body: "y")).rejection?.code == .unknownReply)
        #expect(rejoined.when(.report(.message(mine), by: Here.bob, reason: "x")).events.count == 1)
        // A repeated id is a duplicate, and an author retracts their own post, whatever they see.
        #expect(
            rejoined.when(.postMessage(message: mine, thread: Here.club, author: Here.cem, body: "x"))
                .duplicatePositions != nil)
        #expect(
            rejoined.when(.reply(reply: reply, message: mine, author: Here.cem, body: "x")).duplicatePositions != nil)
        #expect(rejoined.when(.retract(.message(mine), by: Here.cem)).events.count == 1)
        #expect(rejoined.when(.retract(.reply(reply), by: Here.cem)).events.count == 1)
    }

    @Test func ownPostCanAlwaysBeRetracted() {
        let message = ChatCommand.retract(.message(Here.walk), by: Here.cem)
        let reply = ChatCommand.retract(.reply(Here.woof), by: Here.cem)
        for earlier in [
            .lockThread(thread: Here.dogs, by: Here.bob), .closeThread(thread: Here.dogs, by: Here.ann),
            .mute(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "x"),
            .ban(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "x"),
            .leaveThread(user: Here.cem, thread: Here.dogs),
            .remove(.message(Here.walk), by: Here.bob, reason: "x"),
            .remove(.reply(Here.woof), by: Here.bob, reason: "x"),
        ] as [ChatCommand] {
            #expect(Here.moderated.given(earlier).when(message).events.count == 1, "\(earlier)")
            #expect(Here.moderated.given(earlier).when(reply).events.count == 1, "\(earlier)")
        }
    }

    @Test(
        arguments: [
            .ban(user: Here.eli, thread: Here.sw1a, by: Here.dee, reason: "x"),
            .lockThread(thread: Here.sw1a, by: Here.dee),
            .closeThread(thread: Here.sw1a, by: Here.dee),
        ] as [ChatCommand])
    func postcodeJoinsNothingThatIsNotPermitted(earlier: ChatCommand) {
        // Only who was a member or is invited can be banned.
        let invitation: [CommandRequest] =
            earlier.kind == .ban ? [CommandRequest(.invite(user: Here.eli, thread: Here.sw1a, by: Here.dee))] : []
        let given = Here.moderated.given(invitation).given(earlier)
        let move = given.when(.setPostcode(user: Here.eli, postcode: "SW1A 3AA"))
        #expect(move.eventDetails == [.init(.postcodeSet, .postcode(user: Here.eli, thread: Here.sw1a))])
        let moved = given.given(.setPostcode(user: Here.eli, postcode: "SW1A 3AA"))
        #expect(moved.when(.setPostcode(user: Here.eli, postcode: "SW1A 3AA")).isUnchanged)
        #expect(moved.when(.joinThread(user: Here.eli, thread: Here.sw1a)).rejection != nil)
        if earlier.kind == .lockThread {
            let unlocked = moved.given(.unlockThread(thread: Here.sw1a, by: Here.dee))
            #expect(unlocked.when(.joinThread(user: Here.eli, thread: Here.sw1a)).events.count == 1)
        }
    }
}
