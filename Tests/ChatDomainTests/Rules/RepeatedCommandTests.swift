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
