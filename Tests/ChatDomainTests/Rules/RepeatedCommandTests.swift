import ChatDomain
import ChatTesting
import Testing

/// Commands without an id of their own that are sent again after a lost answer: the page *Offline*
/// has a table of what happens.
struct RepeatedCommandTests {
    typealias Here = Neighbourhood

    static let removal = ChatCommand.removeMember(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob)

    @Test(arguments: [SanctionRulesTests.ban, SanctionRulesTests.mute, removal])
    func hasNoEffectIfNobodyActed(command: ChatCommand) {
        #expect(Here.moderated.given(command).when(command).isUnchanged)
    }

    @Test func joinUndoesARemoval() {
        let removed = Here.moderated.given(Self.removal)
        #expect(removed.when(SanctionRulesTests.join).eventDetails.map(\.kind) == [.threadJoined])
    }

    @Test func banUndoesItsEnd() {
        let lifted = Here.moderated.given(
            SanctionRulesTests.ban, .unban(user: Here.cem, thread: Here.dogs, by: Here.ann))
        #expect(lifted.when(SanctionRulesTests.ban).eventDetails.map(\.kind) == [.userBanned])
    }

    @Test func acceptedInvitationIsRejectedAfterARemoval() {
        let accept = ChatCommand.acceptInvitation(thread: Here.dogs, by: Here.cem)
        let accepted = Here.moderated.given(
            Self.removal, .invite(user: Here.cem, thread: Here.dogs, by: Here.ann), accept)
        #expect(accepted.when(accept).isUnchanged)
        #expect(accepted.given(Self.removal).when(accept).rejection?.code == .notInvited)
    }
}

/// The same with an id beside the command: it is a duplicate, whatever has happened since.
struct CommandsOnceTests {
    typealias Here = Neighbourhood

    private static let once = CommandID(bits: 0x99)

    private func request(_ command: ChatCommand, _ once: CommandID = once) -> CommandRequest {
        CommandRequest(command, once: once)
    }

    /// Commands with what undoes them, in a state in which each has an effect.
    static let undone: [(command: ChatCommand, undoing: ChatCommand)] = [
        (SanctionRulesTests.ban, .unban(user: Here.cem, thread: Here.dogs, by: Here.ann)),
        (SanctionRulesTests.mute, .unmute(user: Here.cem, thread: Here.dogs, by: Here.ann)),
        (RepeatedCommandTests.removal, .joinThread(thread: Here.dogs, by: Here.cem)),
        (.leaveThread(thread: Here.dogs, by: Here.cem), .joinThread(thread: Here.dogs, by: Here.cem)),
        (.lockThread(thread: Here.dogs, by: Here.bob), .unlockThread(thread: Here.dogs, by: Here.ann)),
        (.block(user: Here.bob, by: Here.cem), .unblock(user: Here.bob, by: Here.cem)),
        (.changeUsername(username: "Cemal", by: Here.cem), .changeUsername(username: "Cem", by: Here.cem)),
        (.setPostcode(postcode: "M1 1AA", by: Here.cem), .setPostcode(postcode: "SW1A 1AA", by: Here.cem)),
        (.setProfile(about: "Bees", by: Here.cem), .setProfile(about: nil, by: Here.cem)),
        (.grantOperator(user: Here.cem), .revokeOperator(user: Here.cem)),
    ]

    @Test(arguments: undone.indices) func nothingIsUndone(row: Int) throws {
        let (command, undoing) = Self.undone[row]
        let first = Here.moderated.when(request(command)).events
        let done = Here.moderated.given([request(command), CommandRequest(undoing)])
        let positions = try #require(done.when(request(command)).duplicatePositions)
        #expect(positions.lowerBound == Here.moderated.state.head + 1)
        #expect(positions.count >= first.count && positions.count <= 3)
        // Without the id, or with another one, it undoes what was done.
        #expect(!done.when(command).events.isEmpty)
        #expect(!done.when(request(command, CommandID(bits: 1))).events.isEmpty)
        #expect(first.map(\.once) == [Self.once] + first.dropFirst().map { _ in nil })
    }

    @Test func anotherCommandWithTheIdIsRejected() {
        let done = Here.moderated.given([request(SanctionRulesTests.ban)])
        for other: ChatCommand in [
            SanctionRulesTests.mute, .ban(user: Here.ann, thread: Here.dogs, reason: "spam", by: Here.bob),
            .unban(user: Here.cem, thread: Here.dogs, by: Here.bob),
        ] { #expect(done.when(request(other)).rejection?.code == .identifierTaken) }
        // The reason is not compared, and another user has other ids.
        let ban = ChatCommand.ban(user: Here.cem, thread: Here.dogs, reason: "other", by: Here.bob)
        #expect(done.when(request(ban)).duplicatePositions != nil)
        #expect(done.when(request(.block(user: Here.bob, by: Here.cem))).duplicatePositions == nil)
        #expect(done.when(request(.grantOperator(user: Here.cem))).duplicatePositions == nil)
    }

    /// The look-up is before all rules.
    @Test func aDuplicateNeedsNoRight() throws {
        let done = Here.moderated.given(
            [request(SanctionRulesTests.ban)]
                + [ChatCommand.removeMember(user: Here.bob, thread: Here.dogs, reason: "x", by: Here.ann)].map {
                    CommandRequest($0)
                })
        #expect(done.when(SanctionRulesTests.ban).rejection != nil)
        #expect(done.when(request(SanctionRulesTests.ban)).duplicatePositions != nil)
    }

    @Test func aCommandWithoutEffectLeavesNoMemory() {
        let unban = ChatCommand.unban(user: Here.cem, thread: Here.dogs, by: Here.bob)
        let given = Here.moderated.given([request(unban), CommandRequest(SanctionRulesTests.ban)])
        #expect(given.when(request(unban)).eventDetails.map(\.kind) == [.userUnbanned])
    }

    @Test func aSecondEventWithTheIdIsAFault() throws {
        let (first, second) = (request(SanctionRulesTests.ban), request(SanctionRulesTests.mute, CommandID(bits: 1)))
        let done = Here.moderated.given([first])
        var event = try #require(done.when(second).events.first)
        #expect(done.state.faults(of: event).isEmpty)
        event.once = Self.once
        #expect(done.state.faults(of: event).map(\.problem) == [.identifierTwice])
    }
}
