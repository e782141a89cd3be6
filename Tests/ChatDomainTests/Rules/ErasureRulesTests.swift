import ChatDomain
import ChatTesting
import Testing

/// The rules after the erasure of a user's content, on a history whose content is still there.
struct ErasureRulesTests {
    typealias Here = Neighbourhood

    private static func erased(_ user: UserID, in given: DeciderSpecification) -> DeciderSpecification {
        given.given(
            ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .userErased(UserErased(user: user)),
                content: .erasure(reason: "spam", positions: nil)))
    }

    private static let registered = Here.empty.given(
        .registerUser(user: Here.ann, username: "Ann", subject: "sub-ann"), .registerUser(user: Here.bob, username: "Bob"),
        .setPostcode(user: Here.ann, postcode: "SW1A 1AA"))

    @Test func nameAndSubjectBecomeFree() {
        let taken = ChatCommand.registerUser(user: Here.cem, username: "ann", subject: "sub-ann")
        #expect(Self.registered.when(taken).rejection?.code == .usernameTaken)
        #expect(
            Self.registered.when(.registerUser(user: Here.cem, username: "Cem", subject: "sub-ann")).rejection?.code == .subjectTaken)
        #expect(Self.erased(Here.ann, in: Self.registered).when(taken).rejection == nil)
        #expect(Self.erased(Here.ann, in: Self.registered).given(taken).state.faults(of: Self.event(of: Here.cem)).isEmpty == false)
    }

    private static func event(of user: UserID) -> ChatEvent {
        ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1 << 41), details: .usernameChanged(UsernameChanged(user: user)),
            content: .username(Username(text: "Bob", foldKey: Username.foldKey("Bob"))))
    }

    @Test func registrationAgainIsIdentifierTaken() {
        let given = Self.erased(Here.ann, in: Self.registered)
        let command = ChatCommand.registerUser(user: Here.ann, username: "Ann", subject: "sub-ann")
        #expect(Self.registered.when(command).duplicatePositions == 1...1)
        #expect(given.when(command).rejection?.code == .identifierTaken)
    }

    /// Every command of a moderator, an owner and an operator is rejected once they are erased, and
    /// each is possible before.
    @Test func erasedUserCanDoNothing() {
        let given = Here.moderated
        let commands: [ChatCommand] = [
            .changeUsername(user: Here.bob, username: "Other"), .setPostcode(user: Here.bob, postcode: "M1 1AE"),
            .openThread(name: "Cats", by: Here.bob), .postMessage(thread: Here.dogs, author: Here.bob, body: "x"),
            .mute(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "spam"),
            .ban(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "spam"), .lockThread(thread: Here.dogs, by: Here.bob),
            .removeMember(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "spam"),
            .block(user: Here.cem, by: Here.bob), .startSession(user: Here.bob, device: "x"),
            .markRead(user: Here.bob, thread: Here.dogs, upTo: given.state.head), .grantOperator(user: Here.bob),
            .leaveThread(user: Here.bob, thread: Here.dogs),
        ]
        for command in commands {
            #expect(given.when(command).rejection == nil, "\(command)")
            #expect(Self.erased(Here.bob, in: given).when(command).rejection?.code == .userErased, "\(command)")
        }
    }

    /// Others act on an erased user, and the host ends what they held.
    @Test func othersActOnErasedUser() {
        let given = Self.erased(Here.cem, in: Here.moderated.given(.grantOperator(user: Here.cem)))
        for command in [
            .mute(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "spam"),
            .removeMember(user: Here.cem, thread: Here.dogs, by: Here.bob, reason: "spam"), .block(user: Here.cem, by: Here.bob),
            .revokeOperator(user: Here.cem),
        ] as [ChatCommand] {
            #expect(given.when(command).rejection == nil, "\(command)")
        }
    }

    /// The audit finds events of an erased user, a second order, and an order of later positions.
    @Test func auditFindsEventsThatCannotFollow() {
        let given = Self.erased(Here.ann, in: Self.registered)
        #expect(given.state.faults(of: Self.event(of: Here.ann)).contains { $0.problem == .notPermitted })
        let again = ChatEvent(
            recordedAt: given.state.lastRecordedAt, details: .userErased(UserErased(user: Here.ann)),
            content: .erasure(reason: "spam", positions: nil))
        #expect(given.state.faults(of: again).map(\.problem) == [.noEffect])
        var unknown = again
        unknown.details = .userErased(UserErased(user: Here.nobody))
        #expect(given.state.faults(of: unknown).map(\.problem) == [.unknownReference])
        for (positions, problems) in [
            (PositionSet([1...given.state.head]), []), (PositionSet([1...given.state.head + 1]), [HistoryFault.Problem.unknownReference]),
        ] {
            let order = ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .contentErased, content: .erasure(reason: "spam", positions: positions))
            #expect(given.state.faults(of: order).map(\.problem) == problems)
        }
        var wrong = again
        wrong.content = .erasure(reason: "Not a code", positions: nil)
        #expect(Self.registered.state.faults(of: wrong).map(\.problem) == [.invalidText])
    }
}
