import ChatDomain
import ChatTesting
import Testing

/// Policies that change after the opening of a thread, and those of imported threads.
struct ThreadPolicyRulesTests {
    typealias Here = Neighbourhood

    private static func set(
        _ policy: ThreadPolicy, _ history: ThreadHistory? = nil, of thread: ThreadID = Here.dogs,
        by user: UserID = Here.ann
    ) -> ChatCommand { .setThreadPolicy(thread: thread, policy: policy, history: history, by: user) }

    private static func imported(_ command: ChatCommand) -> CommandRequest { ImportRulesTests.imported(command) }

    // MARK: Policies that change

    @Test func ownerClosesAndOpensThread() {
        let closed = Here.moderated.when(Self.set(.inviteOnly))
        #expect(
            closed.eventDetails == [
                .init(
                    .threadPolicySet,
                    .policy(thread: Here.dogs, number: 8, policy: .inviteOnly, history: .all, by: Here.ann))
            ])
        let given = Here.moderated.given(Self.set(.inviteOnly))
        #expect(given.when(.joinThread(thread: Here.dogs, by: Here.eli)).rejection?.code == .unknownThread)
        #expect(given.when(Self.set(.inviteOnly)).isUnchanged)
        let opened = given.when(Self.set(.open))
        #expect(
            opened.eventDetails == [
                .init(
                    .threadPolicySet,
                    .policy(thread: Here.dogs, number: 9, policy: .open, history: .sinceJoining, by: Here.ann))
            ])
        #expect(given.given(Self.set(.open)).when(.joinThread(thread: Here.dogs, by: Here.eli)).events.count == 1)
    }

    @Test func historyNeverBecomesWider() {
        let narrow = Here.moderated.given(Self.set(.open, .sinceJoining))
        for (policy, code) in [(ThreadPolicy.open, Rejection.Code.invalidPolicy), (.inviteOnly, .invalidPolicy)] {
            #expect(narrow.when(Self.set(policy, .all)).rejection?.code == code)
        }
        #expect(narrow.when(Self.set(.open)).isUnchanged && narrow.when(Self.set(.open, .sinceJoining)).isUnchanged)
        let closed = Here.moderated.given(Self.set(.inviteOnly))
        #expect(closed.when(Self.set(.open, .all)).rejection?.code == .invalidPolicy)
        #expect(closed.when(Self.set(.inviteOnly, .sinceJoining)).events.count == 1)
    }

    @Test func membersAtTheChangeKeepTheirHistory() {
        let later = MessageID(bits: 77)
        let given = Here.moderated.given(
            Self.set(.open, .sinceJoining), .joinThread(thread: Here.dogs, by: Here.eli),
            .postMessage(id: later, thread: Here.dogs, body: "Later", by: Here.ann))
        // Bob joined while the history was `all`.
        #expect(given.when(.reply(to: Here.walk, body: "x", by: Here.bob)).events.count == 1)
        #expect(given.when(.reply(to: Here.walk, body: "x", by: Here.eli)).rejection?.code == .unknownMessage)
        #expect(given.when(.reply(to: later, body: "x", by: Here.eli)).events.count == 1)
        let rejoined = given.given(
            .leaveThread(thread: Here.dogs, by: Here.bob), .joinThread(thread: Here.dogs, by: Here.bob))
        #expect(
            rejoined.when(.reply(to: Here.walk, body: "x", by: Here.bob)).rejection?.code == .unknownMessage)
    }

    @Test func operatorReadsWhatWasPostedSinceTheDisclosure() {
        let (before, after) = (MessageID(bits: 77), MessageID(bits: 78))
        let given = Here.clubbed.given(
            .postMessage(id: before, thread: Here.club, body: "Private", by: Here.ann),
            Self.set(.open, of: Here.club),
            .postMessage(id: after, thread: Here.club, body: "Public", by: Here.ann),
            .joinThread(thread: Here.club, by: Here.dee))
        #expect(given.when(.reply(to: before, body: "x", by: Here.dee)).rejection?.code == .unknownMessage)
        #expect(given.when(.reply(to: after, body: "x", by: Here.dee)).events.count == 1)
        let closed = given.given(Self.set(.inviteOnly, of: Here.club))
        #expect(closed.when(.reply(to: after, body: "x", by: Here.dee)).rejection?.code == .unknownMessage)
    }

    @Test func onlyOwnersSetThePolicyWhereThereIsOne() {
        for user in [Here.bob, Here.cem, Here.dee, Here.eli] {
            #expect(Here.moderated.when(Self.set(.inviteOnly, by: user)).rejection?.code == .notAnOwner)
        }
        let ownerless = Here.moderated.given(
            .removeMember(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.dee))
        #expect(ownerless.when(Self.set(.inviteOnly, by: Here.bob)).rejection?.code == .notAnOwner)
        #expect(ownerless.when(Self.set(.inviteOnly, by: Here.dee)).events.count == 1)
        #expect(
            Here.moderated.when(Self.set(.inviteOnly, of: Here.sw1a, by: Here.dee)).rejection?.code == .invalidPolicy)
        #expect(Here.moderated.when(Self.set(.residents)).rejection?.code == .invalidPolicy)
    }

    /// The receipt of an opening has the events of the opening, whatever the policy is now.
    @Test(arguments: [ThreadPolicy.open, .inviteOnly]) func openingIsRepeatedByItsOwnPolicy(policy: ThreadPolicy) {
        let open = ChatCommand.openThread(id: Here.club, name: "Club", policy: policy, by: Here.ann)
        let given = Here.people.given(open)
        let receipt = given.when(open).duplicatePositions
        #expect(receipt == (policy == .open ? 3...4 : 3...5))
        let changed = given.given(Self.set(policy == .open ? .inviteOnly : .open, of: Here.club))
        #expect(changed.when(open).duplicatePositions == receipt)
    }

    // MARK: Imported threads

    /// Ann and Bob, and no one else, were members of an imported private thread; Dee is an
    /// operator.
    private static let pair = Here.moderated.given([
        imported(.openThread(id: Here.club, name: "dm: Ann, Bob", policy: .inviteOnly, by: Here.ann)),
        imported(.joinThread(thread: Here.club, by: Here.bob)),
    ])

    @Test func importOpensPrivateThread() {
        let outcome = Here.moderated.when(
            Self.imported(.openThread(id: Here.club, name: "core-team", policy: .inviteOnly, by: Here.ann)))
        #expect(outcome.events.map(\.kind) == [.threadOpened, .threadPolicySet, .threadJoined])
        #expect(outcome.events.allSatisfy { $0.origin == .imported(sentAt: ImportRulesTests.sentAt) })
        #expect(Self.pair.when(.joinThread(thread: Here.club, by: Here.cem)).rejection?.code == .unknownThread)
        #expect(Self.pair.when(Self.imported(.joinThread(thread: Here.club, by: Here.cem))).events.count == 1)
        // An import joins no other private thread without an invitation.
        #expect(
            Here.clubbed.when(Self.imported(.joinThread(thread: Here.club, by: Here.eli))).rejection?.code
                == .notInvited)
    }

    @Test(arguments: [
        (ThreadPolicy.inviteOnly, ThreadHistory.sinceJoining), (.open, .sinceJoining), (.residents, .all),
    ])
    func importedThreadBeginsWithWholeHistory(policy: ThreadPolicy, history: ThreadHistory) {
        for (thread, name) in [(Here.club, "Club"), (Here.n1p, "N1P"), (Here.sw1a, "SW1A")] {
            let open = ChatCommand.openThread(id: thread, name: name, policy: policy, history: history, by: Here.bob)
            #expect(Here.neighbours.when(Self.imported(open)).rejection?.code == .invalidPolicy)
        }
        let outward = ChatCommand.openThread(id: Here.n1p, name: "N1P", policy: .inviteOnly, by: Here.bob)
        #expect(Here.neighbours.when(Self.imported(outward)).rejection?.code == .invalidPolicy)
    }

    @Test func operatorStaysOutOfImportedPair() {
        for user in [Here.dee, Here.cem, Here.eli] {
            #expect(Self.pair.when(.invite(user: user, thread: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        }
        #expect(Self.pair.when(Self.set(.open, of: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        // A member who left and came back is no third person.
        let again = Self.pair.given([
            Self.imported(.leaveThread(thread: Here.club, by: Here.bob)),
            Self.imported(.joinThread(thread: Here.club, by: Here.bob)),
        ])
        #expect(again.when(Self.set(.open, of: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        // The count is of everyone who ever was a member.
        let three = Self.pair.given([
            Self.imported(.joinThread(thread: Here.club, by: Here.cem)),
            Self.imported(.leaveThread(thread: Here.club, by: Here.cem)),
        ])
        #expect(three.when(Self.set(.open, of: Here.club, by: Here.dee)).events.count == 1)
        #expect(three.when(.invite(user: Here.eli, thread: Here.club, by: Here.dee)).events.count == 1)
        #expect(three.when(.invite(user: Here.dee, thread: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        let second = three.given(.grantOperator(user: Here.eli))
        #expect(second.when(.invite(user: Here.eli, thread: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
    }

    @Test func operatorInvitesOnlyWhereThereIsNoOwner() {
        #expect(
            Here.clubbed.when(.invite(user: Here.eli, thread: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        #expect(
            Here.clubbed.when(.invite(user: Here.dee, thread: Here.club, by: Here.dee)).rejection?.code == .notAnOwner)
        #expect(Here.clubbed.when(.invite(user: Here.dee, thread: Here.club, by: Here.ann)).events.count == 1)
        #expect(Here.clubbed.when(.invite(user: Here.eli, thread: Here.sw1a, by: Here.dee)).events.count == 1)
        // A moderator may be an operator.
        let both = Here.clubbed.given(.grantOperator(user: Here.bob))
        #expect(both.when(.invite(user: Here.eli, thread: Here.club, by: Here.bob)).events.count == 1)
    }

    /// The host closes a thread that an import left open, in the name of its opener.
    @Test func hostClosesImportedThread() {
        let open = Here.moderated.given([Self.imported(.openThread(id: Here.club, name: "core-team", by: Here.ann))]
        )
        let close = Self.imported(Self.set(.inviteOnly, of: Here.club))
        #expect(open.when(close).events.map(\.origin) == [.imported(sentAt: ImportRulesTests.sentAt)])
        let closed = open.given([close])
        #expect(closed.when(.joinThread(thread: Here.club, by: Here.cem)).rejection?.code == .unknownThread)
        for refused in [
            Self.set(.inviteOnly, of: Here.club, by: Here.bob), Self.set(.open, of: Here.club), Self.set(.inviteOnly),
        ] {
            #expect(closed.when(Self.imported(refused)).rejection?.code == .notAnOwner, "\(refused)")
        }
        #expect(
            open.when(Self.set(.inviteOnly, of: Here.club)).rejection?.code == .notAnOwner,
            "the opener of an import is no owner")
    }

    // MARK: Audits

    /// What an earlier version let an operator do is no fault, and is noted.
    @Test func earlierInvitationByOperatorIsNoted() {
        let invited = ChatEvent(
            recordedAt: Here.clubbed.state.lastRecordedAt,
            details: .init(.userInvited, .member(thread: Here.club, number: 12, user: Here.dee, by: Here.dee)))
        #expect(Here.clubbed.state.faults(of: invited) == [])
        #expect(Here.clubbed.state.earlierRules(of: invited) == [.operatorInvites])
        let byMember = ChatEvent(
            recordedAt: Here.clubbed.state.lastRecordedAt,
            details: .init(.userInvited, .member(thread: Here.club, number: 12, user: Here.eli, by: Here.cem)))
        #expect(Here.clubbed.state.faults(of: byMember).map(\.problem) == [.notPermitted])
        let byOwner = ChatEvent(
            recordedAt: Here.clubbed.state.lastRecordedAt,
            details: .init(.userInvited, .member(thread: Here.club, number: 12, user: Here.dee, by: Here.ann)))
        #expect(Here.clubbed.state.earlierRules(of: byOwner) == [])
    }

    @Test func importedPolicyOfOpeningIsNoFault() {
        let opening = Here.moderated.when(
            Self.imported(.openThread(id: Here.club, name: "core-team", policy: .inviteOnly, by: Here.ann))
        ).events
        var state = Here.moderated.state
        for event in opening {
            #expect(state.faults(of: event) == [])
            state.evolve(event, at: state.head + 1)
        }
        let join = opening.reduce(Here.moderated) { $0.given($1) }.when(
            Self.imported(.joinThread(thread: Here.club, by: Here.bob))
        )
        .events
        #expect(join.map { state.faults(of: $0) } == [[]])
    }
}
