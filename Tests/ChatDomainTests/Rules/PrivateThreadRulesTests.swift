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
        let open = ChatCommand.openThread(id: Here.club, name: "Club", policy: policy, history: history, by: Here.ann)
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
            Here.people.given(open).when(.openThread(id: Here.club, name: "x", by: Here.ann)).duplicatePositions
                == 3...5)
    }

    @Test func invitationAllowsOneJoin() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        #expect(invited.when(.joinThread(thread: Here.club, by: Here.eli)).events.count == 1)
        let joined = invited.given(.acceptInvitation(thread: Here.club, by: Here.eli))
        #expect(joined.when(.acceptInvitation(thread: Here.club, by: Here.eli)).isUnchanged)
        #expect(joined.when(.declineInvitation(thread: Here.club, by: Here.eli)).isUnchanged)
        let left = joined.given(.leaveThread(thread: Here.club, by: Here.eli))
        #expect(left.when(.joinThread(thread: Here.club, by: Here.eli)).rejection?.code == .unknownThread)
        #expect(left.when(.acceptInvitation(thread: Here.club, by: Here.eli)).rejection?.code == .unknownThread)
    }

    @Test func declinedOrRevokedInvitationEnds() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        let declined = invited.when(.declineInvitation(thread: Here.club, by: Here.eli))
        #expect(
            declined.eventDetails == [.init(.invitationDeclined, .thread(Here.club, number: 13, user: Here.eli))])
        let revoked = invited.when(.revokeInvitation(user: Here.eli, thread: Here.club, by: Here.ann))
        #expect(
            revoked.eventDetails == [
                .init(.invitationRevoked, .member(thread: Here.club, number: 13, user: Here.eli, by: Here.ann))
            ])
        for outcome in [declined, revoked] {
            let given = invited.given(outcome.events[0])
            #expect(given.when(.joinThread(thread: Here.club, by: Here.eli)).rejection?.code == .unknownThread)
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
                .declineInvitation(thread: Here.club, by: Here.eli),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .revokeInvitation(user: Here.eli, thread: Here.club, by: Here.bob),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .acceptInvitation(thread: Here.club, by: Here.eli),
                .leaveThread(thread: Here.club, by: Here.eli),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .acceptInvitation(thread: Here.club, by: Here.eli),
                .removeMember(user: Here.eli, thread: Here.club, reason: "x", by: Here.bob),
            ],
            [
                .invite(user: Here.eli, thread: Here.club, by: Here.bob),
                .ban(user: Here.eli, thread: Here.club, reason: "x", by: Here.bob),
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
        #expect(given.when(.postMessage(thread: Here.club, body: "x", by: Here.eli)).rejection?.code == .notAMember)
        #expect(given.when(.lockThread(thread: Here.club, by: Here.eli)).rejection?.code == .notAModerator)
        #expect(given.when(.reply(to: Here.early, body: "x", by: Here.eli)).rejection?.code == .notAMember)
    }

    /// A user who has left still retracts what they posted, and repeats commands with an id.
    @Test func formerMemberRetractsAndRepeats() {
        let (message, reply) = (MessageID(bits: 0xABC), ReplyID(bits: 0xDEF))
        let commands: [ChatCommand] = [
            .postMessage(id: message, thread: Here.club, body: "x", by: Here.cem),
            .reply(id: reply, to: message, body: "x", by: Here.cem),
            .custom(
                id: CustomEventID(bits: 5), kind: "com.example.poll", thread: Here.club, payload: Here.payload("1"),
                by: Here.cem),
        ]
        let given = Here.clubbed.given(commands.map { CommandRequest($0) }).given(
            .leaveThread(thread: Here.club, by: Here.cem))
        for command in commands { #expect(given.when(command).duplicatePositions != nil, "\(command)") }
        #expect(given.when(.retract(.message(message), by: Here.cem)).events.count == 1)
        #expect(given.when(.retract(.reply(reply), by: Here.cem)).events.count == 1)
        #expect(given.when(.edit(.message(message), body: "y", by: Here.cem)).rejection?.code == .unknownMessage)
        #expect(given.when(.retract(.message(message), by: Here.eli)).rejection?.code == .unknownMessage)
        // An id that is in use is taken, whoever asks.
        let taken = ChatCommand.postMessage(id: message, thread: Here.dogs, body: "x", by: Here.bob)
        #expect(given.when(taken).rejection?.code == .identifierTaken)
        #expect(
            given.when(.openThread(id: Here.club, name: "Mine", by: Here.eli)).rejection?.code == .identifierTaken)
    }

    /// The commands of Eli that name a thread, and whether they are acts of moderators.
    private static let commandsInThread: [(isOfModerator: Bool, make: @Sendable (ThreadID) -> ChatCommand)] = [
        (false, { .joinThread(thread: $0, by: Here.eli) }), (false, { .leaveThread(thread: $0, by: Here.eli) }),
        (false, { .acceptInvitation(thread: $0, by: Here.eli) }),
        (false, { .declineInvitation(thread: $0, by: Here.eli) }),
        (false, { .markRead(thread: $0, upTo: 1, by: Here.eli) }),
        (false, { .markRead(thread: $0, upTo: .max, by: Here.eli) }),
        (false, { .markUnread(thread: $0, from: 1, by: Here.eli) }),
        (false, { .setNotifications(thread: $0, level: .none, by: Here.eli) }),
        (false, { .postMessage(thread: $0, body: "x", by: Here.eli) }),
        (false, { .postMessage(thread: $0, body: "", by: Here.eli) }),
        (false, { .custom(kind: CustomKind(unchecked: "poll"), thread: $0, payload: Here.payload("1"), by: Here.eli) }),
        (true, { .invite(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .invite(user: Here.eli, thread: $0, by: Here.eli) }),
        (true, { .revokeInvitation(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .setRole(user: Here.cem, thread: $0, role: .owner, by: Here.eli) }),
        (true, { .mute(user: Here.cem, thread: $0, reason: "", by: Here.eli) }),
        (true, { .unmute(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .ban(user: Here.cem, thread: $0, reason: "x", by: Here.eli) }),
        (true, { .unban(user: Here.cem, thread: $0, by: Here.eli) }),
        (true, { .removeMember(user: Here.cem, thread: $0, reason: "x", by: Here.eli) }),
        (true, { .lockThread(thread: $0, by: Here.eli) }), (true, { .unlockThread(thread: $0, by: Here.eli) }),
        (true, { .closeThread(thread: $0, by: Here.eli) }),
    ]

    /// The commands of Eli that name a post; nil for a reply that the command does not take.
    private static let commandsOnPost: [(isOfModerator: Bool, make: @Sendable (PostID) -> ChatCommand?)] = [
        (false, { if case .message(let id) = $0 { .reply(to: id, body: "", by: Here.eli) } else { nil } }),
        (false, { .edit($0, body: "", by: Here.eli) }), (false, { .retract($0, by: Here.eli) }),
        (false, { .report($0, reason: "x", by: Here.eli) }), (true, { .remove($0, reason: "x", by: Here.eli) }),
        (true, { .resolveReport($0, by: Here.eli) }),
        (true, { if case .message(let id) = $0 { .pin(message: id, by: Here.eli) } else { nil } }),
        (true, { if case .message(let id) = $0 { .unpin(message: id, by: Here.eli) } else { nil } }),
    ]

    /// An invitation to an open thread is not needed, and ends with the join.
    @Test func openThreadHasInvitations() {
        let invited = Here.moderated.given(.invite(user: Here.eli, thread: Here.dogs, by: Here.bob))
        let joined = invited.given(.joinThread(thread: Here.dogs, by: Here.eli))
        #expect(joined.when(.declineInvitation(thread: Here.dogs, by: Here.eli)).isUnchanged)
        let left = joined.given(.leaveThread(thread: Here.dogs, by: Here.eli))
        #expect(left.when(.acceptInvitation(thread: Here.dogs, by: Here.eli)).rejection?.code == .notInvited)
        #expect(left.when(.joinThread(thread: Here.dogs, by: Here.eli)).events.count == 1)
    }

    /// A postcode joins the thread of its outward code, which ends the invitation.
    @Test func postcodeEndsInvitation() {
        let given = Here.moderated.given(
            .invite(user: Here.eli, thread: Here.sw1a, by: Here.dee),
            .setPostcode(postcode: "SW1A 3AA", by: Here.eli),
            .leaveThread(thread: Here.sw1a, by: Here.eli))
        #expect(given.when(.acceptInvitation(thread: Here.sw1a, by: Here.eli)).rejection?.code == .notInvited)
    }

    /// Operators see the whole history of a thread that is not `inviteOnly`, also as members.
    @Test func messagesBeforeJoinExistForOperators() {
        let (thread, message) = (ThreadID(bits: 0xABC), MessageID(bits: 0xDEF))
        for (policy, code) in [(ThreadPolicy.open, nil), (.inviteOnly, Rejection.Code.unknownMessage)] {
            let given = Here.moderated.given(
                .openThread(id: thread, name: "Open door", policy: policy, history: .sinceJoining, by: Here.ann),
                .postMessage(id: message, thread: thread, body: "Early", by: Here.ann),
                .invite(user: Here.eli, thread: thread, by: Here.ann), .acceptInvitation(thread: thread, by: Here.eli)
            )
            let reply = ChatCommand.reply(to: message, body: "x", by: Here.eli)
            #expect(given.when(reply).rejection?.code == .unknownMessage)
            #expect(given.given(.grantOperator(user: Here.eli)).when(reply).rejection?.code == code)
        }
    }

    @Test func messagesBeforeJoinAreUnknown() {
        for command in [
            .reply(to: Here.early, body: "x", by: Here.bob),
            .edit(.message(Here.early), body: "x", by: Here.bob),
            .report(.message(Here.early), reason: "x", by: Here.bob),
        ] as [ChatCommand] {
            #expect(Here.clubbed.when(command).rejection?.code == .unknownMessage, "\(command)")
        }
        // The commands of moderators take every post.
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.bob)).events.count == 1)
        for command in [
            .edit(.reply(Here.earlyReply), body: "x", by: Here.bob),
            .report(.reply(Here.earlyReply), reason: "x", by: Here.bob),
        ] as [ChatCommand] {
            #expect(Here.clubbed.when(command).rejection?.code == .unknownReply, "\(command)")
        }
        // Only a member has a latest join.
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.dee)).events.count == 1)
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.ann)).events.count == 1)
        // Moderators act on posts that they do not see.
        #expect(Here.clubbed.when(.remove(.message(Here.early), reason: "x", by: Here.bob)).events.count == 1)
        #expect(Here.clubbed.when(.remove(.reply(Here.earlyReply), reason: "x", by: Here.bob)).events.count == 1)
    }

    /// A new reply to a message before the join stays unknown, as the message does.
    @Test func replyIsAsVisibleAsItsMessage() {
        let reply = ReplyID(bits: 5)
        let given = Here.clubbed.given(.reply(id: reply, to: Here.early, body: "x", by: Here.ann))
        #expect(given.when(.report(.reply(reply), reason: "x", by: Here.bob)).rejection?.code == .unknownReply)
    }

    @Test func latestJoinDecides() {
        let mine = MessageID(bits: 5), reply = ReplyID(bits: 5)
        let posted = Here.clubbed.given(
            .postMessage(id: mine, thread: Here.club, body: "x", by: Here.cem),
            .reply(id: reply, to: mine, body: "x", by: Here.cem))
        #expect(posted.when(.edit(.message(mine), body: "y", by: Here.cem)).events.count == 1)
        let rejoined = posted.given(
            .leaveThread(thread: Here.club, by: Here.cem), .invite(user: Here.cem, thread: Here.club, by: Here.bob),
            .acceptInvitation(thread: Here.club, by: Here.cem))
        #expect(rejoined.when(.edit(.message(mine), body: "y", by: Here.cem)).rejection?.code == .unknownMessage)
        #expect(rejoined.when(.edit(.reply(reply), body: "y", by: Here.cem)).rejection?.code == .unknownReply)
        #expect(rejoined.when(.report(.message(mine), reason: "x", by: Here.bob)).events.count == 1)
        // A repeated id is a duplicate, and an author retracts their own post, whatever they see.
        #expect(
            rejoined.when(.postMessage(id: mine, thread: Here.club, body: "x", by: Here.cem))
                .duplicatePositions != nil)
        #expect(
            rejoined.when(.reply(id: reply, to: mine, body: "x", by: Here.cem)).duplicatePositions != nil)
        #expect(rejoined.when(.retract(.message(mine), by: Here.cem)).events.count == 1)
        #expect(rejoined.when(.retract(.reply(reply), by: Here.cem)).events.count == 1)
    }

    @Test func ownPostCanAlwaysBeRetracted() {
        let message = ChatCommand.retract(.message(Here.walk), by: Here.cem)
        let reply = ChatCommand.retract(.reply(Here.woof), by: Here.cem)
        for earlier in [
            .lockThread(thread: Here.dogs, by: Here.bob), .closeThread(thread: Here.dogs, by: Here.ann),
            .mute(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob),
            .ban(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob),
            .leaveThread(thread: Here.dogs, by: Here.cem),
            .remove(.message(Here.walk), reason: "x", by: Here.bob),
            .remove(.reply(Here.woof), reason: "x", by: Here.bob),
        ] as [ChatCommand] {
            #expect(Here.moderated.given(earlier).when(message).events.count == 1, "\(earlier)")
            #expect(Here.moderated.given(earlier).when(reply).events.count == 1, "\(earlier)")
        }
    }

    @Test(
        arguments: [
            .ban(user: Here.eli, thread: Here.sw1a, reason: "x", by: Here.dee),
            .lockThread(thread: Here.sw1a, by: Here.dee),
            .closeThread(thread: Here.sw1a, by: Here.dee),
        ] as [ChatCommand])
    func postcodeJoinsNothingThatIsNotPermitted(earlier: ChatCommand) {
        // Only who was a member or is invited can be banned.
        let invitation: [CommandRequest] =
            earlier.kind == .ban ? [CommandRequest(.invite(user: Here.eli, thread: Here.sw1a, by: Here.dee))] : []
        let given = Here.moderated.given(invitation).given(earlier)
        let move = given.when(.setPostcode(postcode: "SW1A 3AA", by: Here.eli))
        #expect(move.eventDetails == [.init(.postcodeSet, .postcode(user: Here.eli, thread: Here.sw1a))])
        let moved = given.given(.setPostcode(postcode: "SW1A 3AA", by: Here.eli))
        #expect(moved.when(.setPostcode(postcode: "SW1A 3AA", by: Here.eli)).isUnchanged)
        #expect(moved.when(.joinThread(thread: Here.sw1a, by: Here.eli)).rejection != nil)
        if earlier.kind == .lockThread {
            let unlocked = moved.given(.unlockThread(thread: Here.sw1a, by: Here.dee))
            #expect(unlocked.when(.joinThread(thread: Here.sw1a, by: Here.eli)).events.count == 1)
        }
    }
}
