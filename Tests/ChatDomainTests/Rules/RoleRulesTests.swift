import ChatDomain
import ChatTesting
import Testing

/// Roles, owners and operators.
struct RoleRulesTests {
    typealias Here = Neighbourhood

    static func role(_ user: UserID, _ role: ThreadRole, by: UserID, in thread: ThreadID = Here.dogs) -> ChatCommand {
        .setRole(user: user, thread: thread, role: role, by: by)
    }

    static let twoOwners = Here.moderated.given(role(Here.cem, .owner, by: Here.ann))
    /// An operator removed the only owner.
    static let ownerless = Here.moderated.given(
        .removeMember(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.dee))
    static let closed = Here.moderated.given(.closeThread(thread: Here.dogs, by: Here.ann))

    @Test func ownerGivesRoles() {
        let outcome = Here.moderated.when(Self.role(Here.cem, .moderator, by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.roleSet, .role(thread: Here.dogs, number: 8, user: Here.cem, role: .moderator, by: Here.ann))
            ])
        #expect(Self.twoOwners.when(Self.role(Here.ann, .member, by: Here.cem)).events.count == 1)
        #expect(Here.moderated.when(Self.role(Here.bob, .member, by: Here.ann)).events.count == 1)
    }

    @Test func roleEndsWithMembership() {
        let rejoined = Here.moderated.given(
            .leaveThread(thread: Here.dogs, by: Here.bob), .joinThread(thread: Here.dogs, by: Here.bob))
        #expect(rejoined.when(.lockThread(thread: Here.dogs, by: Here.bob)).rejection?.code == .notAModerator)
        let formerOwner = Self.twoOwners.given(
            .leaveThread(thread: Here.dogs, by: Here.ann), .joinThread(thread: Here.dogs, by: Here.ann))
        #expect(formerOwner.when(Self.role(Here.bob, .member, by: Here.ann)).rejection?.code == .notAnOwner)
        #expect(formerOwner.when(.leaveThread(thread: Here.dogs, by: Here.cem)).rejection?.code == .lastOwner)
    }

    @Test(
        arguments: [
            .leaveThread(thread: Here.dogs, by: Here.ann), role(Here.ann, .member, by: Here.ann),
            role(Here.ann, .moderator, by: Here.ann),
            .ban(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.ann),
            .removeMember(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.ann),
        ] as [ChatCommand])
    func lastOwnerStays(command: ChatCommand) {
        #expect(Here.moderated.when(command).rejection?.code == .lastOwner)
        #expect(!Self.twoOwners.when(command).events.isEmpty)
        #expect(!Self.closed.when(command).events.isEmpty)
        // An operator is no owner.
        let isOperator = Here.moderated.given(.grantOperator(user: Here.ann))
        #expect(isOperator.when(command).rejection?.code == .lastOwner)
    }

    @Test func operatorRemovesLastOwner() {
        #expect(
            Here.moderated.when(.ban(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.dee)).events.count == 2)
        #expect(
            Self.ownerless.when(.postMessage(thread: Here.dogs, body: "x", by: Here.ann)).rejection?.code
                == .notAMember)
    }

    @Test func operatorGivesRolesOnlyWithoutOwner() {
        for role in ThreadRole.allCases {
            #expect(Here.moderated.when(Self.role(Here.cem, role, by: Here.dee)).rejection?.code == .notAnOwner)
        }
        #expect(Self.ownerless.when(Self.role(Here.cem, .owner, by: Here.dee)).events.count == 1)
        #expect(Self.ownerless.when(Self.role(Here.bob, .member, by: Here.dee)).events.count == 1)
        #expect(Self.ownerless.when(Self.role(Here.cem, .moderator, by: Here.bob)).rejection?.code == .notAnOwner)
        let handedOver = Self.ownerless.given(Self.role(Here.cem, .owner, by: Here.dee))
        #expect(handedOver.when(Self.role(Here.bob, .owner, by: Here.dee)).rejection?.code == .notAnOwner)
        #expect(handedOver.when(Self.role(Here.bob, .owner, by: Here.cem)).events.count == 1)
    }

    @Test func memberStepsDown() {
        #expect(Here.moderated.when(Self.role(Here.bob, .member, by: Here.bob)).events.count == 1)
        #expect(Self.twoOwners.when(Self.role(Here.cem, .moderator, by: Here.cem)).events.count == 1)
        #expect(Here.moderated.when(Self.role(Here.bob, .moderator, by: Here.bob)).rejection?.code == .notAnOwner)
        #expect(Here.moderated.when(Self.role(Here.cem, .member, by: Here.cem)).rejection?.code == .notAnOwner)
        #expect(Here.moderated.when(Self.role(Here.cem, .owner, by: Here.cem)).rejection?.code == .notAnOwner)
        #expect(Here.moderated.when(Self.role(Here.ann, .owner, by: Here.ann)).isUnchanged)
    }

    /// The thread of an outward code and an imported thread have moderators, but no owners.
    @Test func someThreadsHaveNoOwner() {
        let imported = Here.moderated.given([
            ImportRulesTests.imported(.openThread(id: Here.club, name: "Club", by: Here.ann))
        ])
        .given(.joinThread(thread: Here.club, by: Here.bob))
        for (given, thread) in [(Here.moderated, Here.sw1a), (imported, Here.club)] {
            #expect(given.when(Self.role(Here.bob, .owner, by: Here.dee, in: thread)).rejection?.code == .notAnOwner)
            #expect(
                given.when(Self.role(Here.bob, .moderator, by: Here.ann, in: thread)).rejection?.code == .notAnOwner)
            #expect(given.when(.closeThread(thread: thread, by: Here.ann)).rejection?.code == .notAnOwner)
            #expect(given.when(.closeThread(thread: thread, by: Here.dee)).events.count == 1)
            #expect(given.when(.leaveThread(thread: thread, by: Here.ann)).events.count == 1)
            let moderated = given.given(Self.role(Here.bob, .moderator, by: Here.dee, in: thread))
            #expect(moderated.when(.lockThread(thread: thread, by: Here.bob)).events.count == 1)
            #expect(
                moderated.when(Self.role(Here.ann, .moderator, by: Here.bob, in: thread)).rejection?.code == .notAnOwner
            )
        }
    }

    /// An earlier version let every opener leave.
    @Test func openerWhoLeftInOldHistoryIsNoOwner() {
        let left = EventDetails(.threadLeft, .thread(Here.dogs, number: 3, user: Here.ann))
        let event = ChatEvent(recordedAt: Here.dogOwners.state.lastRecordedAt, details: left)
        #expect(Here.dogOwners.state.faults(of: event).isEmpty)
        let given = Here.dogOwners.given(event).given(
            .grantOperator(user: Here.bob), .joinThread(thread: Here.dogs, by: Here.ann))
        #expect(given.when(.lockThread(thread: Here.dogs, by: Here.ann)).rejection?.code == .notAModerator)
        #expect(given.when(.leaveThread(thread: Here.dogs, by: Here.ann)).events.count == 1)
        #expect(given.when(Self.role(Here.ann, .owner, by: Here.bob)).events.count == 1)
    }

    @Test func operatorModeratesEveryThread() {
        for thread in [Here.dogs, Here.sw1a, Here.club] {
            #expect(Here.clubbed.when(.lockThread(thread: thread, by: Here.dee)).events.count == 1)
            #expect(
                Here.clubbed.when(.mute(user: Here.bob, thread: thread, reason: "x", by: Here.dee)).events.count == 1)
            // What only readers do in a private thread does not tell even operators that it exists.
            let code = Here.clubbed.when(.postMessage(thread: thread, body: "x", by: Here.dee)).rejection?.code
            #expect(code == (thread == Here.club ? .unknownThread : .notAMember))
        }
        #expect(Here.clubbed.when(.joinThread(thread: Here.club, by: Here.dee)).rejection?.code == .unknownThread)
        let former = Here.clubbed.given(.revokeOperator(user: Here.dee))
        #expect(former.when(.lockThread(thread: Here.dogs, by: Here.dee)).rejection?.code == .notAModerator)
        #expect(former.when(.revokeOperator(user: Here.dee)).isUnchanged)
    }
}
