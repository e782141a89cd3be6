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
        let open = ChatCommand.openThread(thread: Here.club, name: "Club", by: Here.ann, policy: policy, history: history)
        let outcome = Here.people.when(open)
        #expect(
            outcome.eventDetails == [
                .threadOpened(ThreadOpened(thread: Here.club, number: 1, by: Here.ann)),
                .threadPolicySet(ThreadPolicySet(thread: Here.club, number: 2, policy: policy, history: history, by: Here.ann)),
                .threadJoined(ThreadJoined(thread: Here.club, number: 3, user: Here.ann)),
            ])
        #expect(outcome.events.map(\.content) == [.threadName("Club"), .none, .none])
        #expect(Here.people.given(open).when(open).duplicatePositions == 3...5)
        #expect(Here.people.given(open).when(.openThread(thread: Here.club, name: "x", by: Here.ann)).duplicatePositions == 3...5)
    }

    @Test func invitationAllowsOneJoin() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        #expect(invited.when(.joinThread(user: Here.eli, thread: Here.club)).events.count == 1)
        let joined = invited.given(.acceptInvitation(user: Here.eli, thread: Here.club))
        #expect(joined.when(.acceptInvitation(user: Here.eli, thread: Here.club)).isUnchanged)
        #expect(joined.when(.declineInvitation(user: Here.eli, thread: Here.club)).isUnchanged)
        let left = joined.given(.leaveThread(user: Here.eli, thread: Here.club))
        #expect(left.when(.joinThread(user: Here.eli, thread: Here.club)).rejection?.code == .notInvited)
        #expect(left.when(.acceptInvitation(user: Here.eli, thread: Here.club)).rejection?.code == .notInvited)
    }

    @Test func declinedOrRevokedInvitationEnds() {
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.club, by: Here.bob))
        let declined = invited.when(.declineInvitation(user: Here.eli, thread: Here.club))
        #expect(
            declined.eventDetails == [.invitationDeclined(InvitationDeclined(thread: Here.club, number: 13, user: Here.eli))])
        let revoked = invited.when(.revokeInvitation(user: Here.eli, thread: Here.club, by: Here.ann))
        #expect(
            revoked.eventDetails == [
                .invitationRevoked(MemberChanged(thread: Here.club, number: 13, user: Here.eli, by: Here.ann))
            ])
        for outcome in [declined, revoked] {
            let given = invited.given(outcome.events[0])
            #expect(given.when(.joinThread(user: Here.eli, thread: Here.club)).rejection?.code == .notInvited)
            #expect(given.when(.invite(user: Here.eli, thread: Here.club, by: Here.bob)).events.count == 1)
        }
    }

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
            .invite(user: Here.eli, thread: Here.sw1a, by: Here.dee), .setPostcode(user: Here.eli, postcode: "SW1A 3AA"),
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
                .invite(user: Here.eli, thread: thread, by: Here.ann), .acceptInvitation(user: Here.eli, thread: thread))
            let reply = ChatCommand.reply(message: message, author: Here.eli, body: "x")
            #expect(given.when(reply).rejection?.code == .unknownMessage)
            #expect(given.given(.grantOperator(user: Here.eli)).when(reply).rejection?.code == code)
        }
    }

    @Test func messagesBeforeJoinAreUnknown() {
        for command in [
            .reply(message: Here.early, author: Here.bob, body: "x"), .edit(.message(Here.early), by: Here.bob, body: "x"),
            .report(.message(Here.early), by: Here.bob, reason: "x"),
        ] as [ChatCommand] {
            #expect(Here.clubbed.when(command).rejection?.code == .unknownMessage, "\(command)")
        }
        // The commands of moderators take every post.
        #expect(Here.clubbed.when(.pin(message: Here.early, by: Here.bob)).events.count == 1)
        for command in [
            .edit(.reply(Here.earlyReply), by: Here.bob, body: "x"), .report(.reply(Here.earlyReply), by: Here.bob, reason: "x"),
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
            rejoined.when(.postMessage(message: mine, thread: Here.club, author: Here.cem, body: "x")).duplicatePositions != nil)
        #expect(rejoined.when(.reply(reply: reply, message: mine, author: Here.cem, body: "x")).duplicatePositions != nil)
        #expect(rejoined.when(.retract(.message(mine), by: Here.cem)).events.count == 1)
        #expect(rejoined.when(.retract(.reply(reply), by: Here.cem)).events.count == 1)
    }

    @Test func ownPostCanAlwaysBeRetracted() {
        let message = ChatCommand.retract(.message(Here.walk), by: Here.cem)
        let reply = ChatCommand.retract(.reply(Here.woof), by: Here.cem)
        for earlier in [
            .lockThread(thread: Here.dogs, by: Here.bob), .closeThread(thread: Here.dogs, by: Here.ann),
            .mute(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "x"),
            .ban(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "x"), .leaveThread(user: Here.cem, thread: Here.dogs),
            .remove(.message(Here.walk), by: Here.bob, reason: "x"), .remove(.reply(Here.woof), by: Here.bob, reason: "x"),
        ] as [ChatCommand] {
            #expect(Here.moderated.given(earlier).when(message).events.count == 1, "\(earlier)")
            #expect(Here.moderated.given(earlier).when(reply).events.count == 1, "\(earlier)")
        }
    }

    @Test(
        arguments: [
            .ban(user: Here.eli, thread: Here.sw1a, by: Here.dee, reason: "x"), .lockThread(thread: Here.sw1a, by: Here.dee),
            .closeThread(thread: Here.sw1a, by: Here.dee),
        ] as [ChatCommand])
    func postcodeJoinsNothingThatIsNotPermitted(earlier: ChatCommand) {
        let given = Here.moderated.given(earlier)
        let move = given.when(.setPostcode(user: Here.eli, postcode: "SW1A 3AA"))
        #expect(move.eventDetails == [.postcodeSet(PostcodeSet(user: Here.eli, thread: Here.sw1a))])
        let moved = given.given(.setPostcode(user: Here.eli, postcode: "SW1A 3AA"))
        #expect(moved.when(.setPostcode(user: Here.eli, postcode: "SW1A 3AA")).isUnchanged)
        #expect(moved.when(.joinThread(user: Here.eli, thread: Here.sw1a)).rejection != nil)
        if case .lockThread = earlier {
            let unlocked = moved.given(.unlockThread(thread: Here.sw1a, by: Here.dee))
            #expect(unlocked.when(.joinThread(user: Here.eli, thread: Here.sw1a)).events.count == 1)
        }
    }
}
