import ChatDomain
import ChatTesting
import Testing

/// The rules after the erasure of a user's content, on a history whose content is still there.
struct ErasureRulesTests {
    typealias Here = Neighbourhood

    private static func erased(_ user: UserID, in given: DeciderSpecification) -> DeciderSpecification {
        given.given(
            ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(user)),
                content: .erasure(reason: "spam", positions: nil)))
    }

    private static let registered = Here.empty.given(
        .registerUser(id: Here.ann, username: "Ann", subject: "sub-ann"),
        .registerUser(id: Here.bob, username: "Bob"),
        .setPostcode(postcode: "SW1A 1AA", by: Here.ann))

    @Test func nameAndSubjectBecomeFree() {
        let taken = ChatCommand.registerUser(id: Here.cem, username: "ann", subject: "sub-ann")
        #expect(Self.registered.when(taken).rejection?.code == .usernameTaken)
        #expect(
            Self.registered.when(.registerUser(id: Here.cem, username: "Cem", subject: "sub-ann")).rejection?.code
                == .subjectTaken)
        #expect(Self.erased(Here.ann, in: Self.registered).when(taken).rejection == nil)
        #expect(
            Self.erased(Here.ann, in: Self.registered).given(taken).state.faults(of: Self.event(of: Here.cem)).isEmpty
                == false)
    }

    private static func event(of user: UserID) -> ChatEvent {
        ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1 << 41), details: .init(.usernameChanged, .user(user)),
            content: .username(Username(text: "Bob", foldKey: Username.foldKey("Bob"))))
    }

    @Test func registrationAgainIsIdentifierTaken() {
        let given = Self.erased(Here.ann, in: Self.registered)
        let command = ChatCommand.registerUser(id: Here.ann, username: "Ann", subject: "sub-ann")
        #expect(Self.registered.when(command).duplicatePositions == 1...1)
        #expect(given.when(command).rejection?.code == .identifierTaken)
    }

    /// Every command of a moderator, an owner and an operator is rejected once they are erased, and
    /// each is possible before.
    @Test func erasedUserCanDoNothing() {
        let given = Here.moderated
        let commands: [ChatCommand] = [
            .changeUsername(username: "Other", by: Here.bob), .setPostcode(postcode: "M1 1AE", by: Here.bob),
            .openThread(name: "Cats", by: Here.bob), .postMessage(thread: Here.dogs, body: "x", by: Here.bob),
            .mute(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob),
            .ban(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob),
            .lockThread(thread: Here.dogs, by: Here.bob),
            .removeMember(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob),
            .block(user: Here.cem, by: Here.bob), .startSession(device: "x", by: Here.bob),
            .markRead(thread: Here.dogs, upTo: given.state.head, by: Here.bob), .grantOperator(user: Here.bob),
            .setNotifications(thread: Here.dogs, level: .none, by: Here.bob),
            .markInboxRead(upTo: given.state.head, by: Here.bob),
            .leaveThread(thread: Here.dogs, by: Here.bob), .setProfile(about: "Bees", by: Here.bob),
        ]
        for command in commands {
            #expect(given.when(command).rejection == nil, "\(command)")
            #expect(Self.erased(Here.bob, in: given).when(command).rejection?.code == .userErased, "\(command)")
        }
    }

    /// Everything that a user was given can end after the erasure, and their posts can be removed.
    @Test func othersEndWhatErasedUserHas() {
        // Dee invites Cem before he is an operator: operators do not invite one another.
        let given = Here.moderated.given(
            .invite(user: Here.cem, thread: Here.sw1a, by: Here.dee), .grantOperator(user: Here.cem),
            .mute(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob),
            .block(user: Here.cem, by: Here.bob), .openThread(id: Here.club, name: "Club", by: Here.ann),
            .joinThread(thread: Here.club, by: Here.cem),
            .ban(user: Here.cem, thread: Here.club, reason: "spam", by: Here.ann),
            .setRole(user: Here.cem, thread: Here.dogs, role: .moderator, by: Here.ann))
        for command in [
            .removeMember(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.ann),
            .unblock(user: Here.cem, by: Here.bob),
            .revokeOperator(user: Here.cem), .unmute(user: Here.cem, thread: Here.dogs, by: Here.ann),
            .unban(user: Here.cem, thread: Here.club, by: Here.ann),
            .revokeInvitation(user: Here.cem, thread: Here.sw1a, by: Here.dee),
            .setRole(user: Here.cem, thread: Here.dogs, role: .member, by: Here.ann),
            .remove(.message(Here.walk), reason: "spam", by: Here.bob),
        ] as [ChatCommand] {
            #expect(!Self.erased(Here.cem, in: given).when(command).events.isEmpty, "\(command)")
        }
    }

    /// The commands that give an erased user something, or that act against them anew.
    private static let spared: [ChatCommand] = [
        .invite(user: Here.eli, thread: Here.dogs, by: Here.bob),
        .mute(user: Here.eli, thread: Here.dogs, reason: "spam", by: Here.bob),
        .ban(user: Here.eli, thread: Here.dogs, reason: "spam", by: Here.bob), .block(user: Here.eli, by: Here.bob),
    ]

    /// An erased user is rejected where an unknown user is: after the acting user, and before the
    /// thread and the rights in it.
    @Test func erasedUserIsNotInvitedSanctionedOrBlocked() {
        let given = Here.visited
        let erased = Self.erased(Here.eli, in: given)
        for command in Self.spared {
            #expect(!given.when(command).events.isEmpty, "\(command)")
            #expect(erased.when(command).rejection?.code == .userErased, "\(command)")
        }
        for command in [
            .invite(user: Here.eli, thread: Here.nowhere, by: Here.bob),
            .invite(user: Here.eli, thread: Here.dogs, by: Here.cem),
            .mute(user: Here.eli, thread: Here.dogs, reason: "", by: Here.cem),
            .ban(user: Here.eli, thread: Here.nowhere, reason: "", by: Here.cem),
        ] as [ChatCommand] {
            #expect(erased.when(command).rejection?.code == .userErased, "\(command)")
        }
        #expect(erased.when(.block(user: Here.eli, by: Here.nobody)).rejection?.code == .unknownUser)
        // What held before the erasure has no effect a second time; it is rejected all the same,
        // but for a block, which must not tell of the erasure.
        let held = Self.erased(Here.eli, in: given.given(Self.spared[1], Self.spared[3]))
        #expect(held.when(Self.spared[1]).rejection?.code == .userErased)
        #expect(held.when(Self.spared[3]).isUnchanged)
    }

    /// In the name of an erased user, only the events with which their role ends are accepted.
    @Test func auditAcceptsEndOfRolesOnly() {
        func problems(
            _ user: UserID, _ role: ThreadRole, by actor: UserID, in given: DeciderSpecification
        ) -> [HistoryFault.Problem] {
            let number = UInt64(given.history.filter { $0.event.thread == Here.dogs }.count + 1)
            let details = EventDetails(
                .roleSet, .role(thread: Here.dogs, number: number, user: user, role: role, by: actor))
            return given.state.faults(of: ChatEvent(recordedAt: given.state.lastRecordedAt, details: details)).map(
                \.problem)
        }
        // Ann is the only owner, Bob a moderator, Cem a member.
        let last = Self.erased(Here.ann, in: Here.moderated)
        #expect(
            problems(Here.bob, .owner, by: Here.ann, in: last) == []
                && problems(Here.cem, .owner, by: Here.ann, in: last) == [])
        #expect(problems(Here.ann, .member, by: Here.ann, in: last) == [])
        #expect(problems(Here.ann, .moderator, by: Here.ann, in: last) == [.notPermitted])
        #expect(problems(Here.cem, .moderator, by: Here.ann, in: last) == [.notPermitted])
        #expect(problems(Here.bob, .member, by: Here.ann, in: last) == [.notPermitted])
        #expect(problems(Here.bob, .owner, by: Here.ann, in: Self.erased(Here.bob, in: last)) == [.notPermitted])
        let owners = Self.erased(
            Here.ann, in: Here.moderated.given(.setRole(user: Here.bob, thread: Here.dogs, role: .owner, by: Here.ann)))
        #expect(problems(Here.cem, .owner, by: Here.ann, in: owners) == [.notPermitted])
        #expect(problems(Here.ann, .member, by: Here.ann, in: owners) == [])
        let moderator = Self.erased(Here.bob, in: Here.moderated)
        #expect(problems(Here.cem, .owner, by: Here.bob, in: moderator) == [.notPermitted])
        #expect(problems(Here.bob, .member, by: Here.bob, in: moderator) == [])
    }

    /// The audit accepts what an earlier version appended, names the rule, and still applies the
    /// others.
    @Test func auditAcceptsWhatEarlierRuleCovers() throws {
        let given = Here.visited
        let erased = Self.erased(Here.eli, in: given)
        for command in Self.spared {
            let event = try #require(given.when(command).events.first)
            #expect(given.state.faults(of: event).isEmpty && given.state.earlierRules(of: event).isEmpty)
            #expect(erased.state.faults(of: event).isEmpty, "\(command)")
            #expect(erased.state.earlierRules(of: event) == [.actsOnErasedUser], "\(command)")
        }
        let byMember = ChatEvent(
            recordedAt: erased.state.lastRecordedAt,
            details: .init(.userInvited, .member(thread: Here.dogs, number: 10, user: Here.eli, by: Here.cem)))
        #expect(erased.state.faults(of: byMember).map(\.problem).contains(.notPermitted))
        #expect(erased.state.earlierRules(of: byMember).isEmpty)
        let granted = ChatEvent(
            recordedAt: erased.state.lastRecordedAt, details: .init(.operatorGranted, .user(Here.eli)))
        #expect(
            erased.state.faults(of: granted).map(\.problem) == [.notPermitted]
                && erased.state.earlierRules(of: granted).isEmpty)
    }

    /// The audit finds events of an erased user, a second order, and an order of later positions.
    @Test func auditFindsEventsThatCannotFollow() {
        let given = Self.erased(Here.ann, in: Self.registered)
        #expect(given.state.faults(of: Self.event(of: Here.ann)).contains { $0.problem == .notPermitted })
        let again = ChatEvent(
            recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(Here.ann)),
            content: .erasure(reason: "spam", positions: nil))
        #expect(given.state.faults(of: again).map(\.problem) == [.noEffect])
        var unknown = again
        unknown.details = .init(.userErased, .user(Here.nobody))
        #expect(given.state.faults(of: unknown).map(\.problem) == [.unknownReference])
        for (positions, problems) in [
            (PositionSet([1...given.state.head]), []),
            (PositionSet([1...given.state.head + 1]), [HistoryFault.Problem.unknownReference]),
        ] {
            let order = ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.contentErased),
                content: .erasure(reason: "spam", positions: positions))
            #expect(given.state.faults(of: order).map(\.problem) == problems)
        }
        var wrong = again
        wrong.content = .erasure(reason: "Not a code", positions: nil)
        #expect(Self.registered.state.faults(of: wrong).map(\.problem) == [.invalidText])
    }
}
