import ChatDomain
import ChatTesting
import Testing

/// Whom a user may act on; everybody else is unknown, whether they exist, are erased or not.
struct PeopleRulesTests {
    typealias Here = Neighbourhood

    /// A user whom no other one knows.
    static let fay = UserID(bits: 0xE << 120 | 7)
    static let given = Here.clubbed.given(.registerUser(id: fay, username: "Fay"))
    static let post = MessageID(bits: 0x1 << 120 | 7)
    static let hall = ThreadID(bits: 0xB << 120 | 7)

    /// The commands of a user about another one, of whom a sanction needs more than that they are
    /// known.
    static func commands(_ user: UserID, by: UserID, in thread: ThreadID) -> [ChatCommand] {
        [
            .invite(user: user, thread: thread, by: by), .revokeInvitation(user: user, thread: thread, by: by),
            .setRole(user: user, thread: thread, role: .moderator, by: by),
            .mute(user: user, thread: thread, reason: "x", by: by),
            .unmute(user: user, thread: thread, by: by), .ban(user: user, thread: thread, reason: "x", by: by),
            .unban(user: user, thread: thread, by: by), .removeMember(user: user, thread: thread, reason: "x", by: by),
            .block(user: user, by: by), .unblock(user: user, by: by),
        ]
    }

    private static func isUnknown(_ user: UserID, to by: UserID, _ given: DeciderSpecification) -> Bool {
        given.when(.unblock(user: user, by: by)).rejection?.code == .unknownUser
    }

    private static func erased(_ user: UserID, in given: DeciderSpecification) -> DeciderSpecification {
        given.given(
            ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(user)),
                content: .erasure(reason: "spam", positions: nil)))
    }

    /// The answers are those of an id that does not exist, for members, owners and operators.
    @Test(arguments: [Here.ann, Here.bob, Here.cem, Here.dee]) func strangerIsAnUnknownUser(by: UserID) {
        for thread in [Here.dogs, Here.club, Here.nowhere] {
            let commands = zip(
                Self.commands(Self.fay, by: by, in: thread), Self.commands(Here.nobody, by: by, in: thread))
            for (known, unknown) in commands {
                for given in [Self.given, Self.erased(Self.fay, in: Self.given)] {
                    #expect(given.when(known).result == given.when(unknown).result, "\(known)")
                    #expect(given.when(known).rejection?.code == .unknownUser, "\(known)")
                }
            }
        }
        #expect(Self.given.when(.openDirect(with: [Self.fay], by: by)).rejection?.code == .cannotMessage)
    }

    @Test func memberOfAThreadInCommonIsKnown() {
        let together = Self.given.given(.joinThread(thread: Here.dogs, by: Self.fay))
        for user in [Here.ann, Here.bob, Here.cem] {
            #expect(!Self.isUnknown(Self.fay, to: user, together) && !Self.isUnknown(user, to: Self.fay, together))
        }
        // An operator moderates the thread.
        #expect(!Self.isUnknown(Self.fay, to: Here.dee, together) && Self.isUnknown(Here.dee, to: Self.fay, together))
        let left = together.given(.leaveThread(thread: Here.dogs, by: Self.fay))
        for user in [Here.ann, Here.bob, Here.dee] {
            #expect(!Self.isUnknown(Self.fay, to: user, left), "who moderates it")
        }
        #expect(Self.isUnknown(Self.fay, to: Here.cem, left))
        for user in [Here.ann, Here.bob, Here.cem, Here.dee] { #expect(Self.isUnknown(user, to: Self.fay, left)) }
    }

    @Test func authorOfAReadablePostIsKnown() {
        for command in [
            .postMessage(id: Self.post, thread: Here.dogs, body: "x", by: Self.fay),
            .reply(to: Here.walk, body: "x", by: Self.fay),
        ] as [ChatCommand] {
            let left = Self.given.given(
                .joinThread(thread: Here.dogs, by: Self.fay), command, .leaveThread(thread: Here.dogs, by: Self.fay)
            )
            #expect(!Self.isUnknown(Self.fay, to: Here.cem, left))
            #expect(Self.isUnknown(Self.fay, to: Here.eli, left))
            // Who joins later reads it, unless the history begins with the join.
            #expect(!Self.isUnknown(Self.fay, to: Here.eli, left.given(.joinThread(thread: Here.dogs, by: Here.eli))))
            let narrow = left.given(
                .setThreadPolicy(thread: Here.dogs, policy: .open, history: .sinceJoining, by: Here.ann),
                .joinThread(thread: Here.dogs, by: Here.eli))
            #expect(Self.isUnknown(Self.fay, to: Here.eli, narrow))
            #expect(Self.isUnknown(Self.fay, to: Here.cem, left.given(.leaveThread(thread: Here.dogs, by: Here.cem))))
        }
    }

    /// Who has acted on somebody stays known to them, after both have left; the one acted on is not
    /// known for that.
    @Test(arguments: [
        "mention", "mentionOfEdit", "reaction", "invitation", "removal", "mute", "ban", "direct", "nothing",
    ])
    func whoActedOnOneIsKnown(act: String) {
        let opened = Self.given.given(
            .openThread(id: Self.hall, name: "Hall", by: Self.fay), .joinThread(thread: Self.hall, by: Here.cem),
            .postMessage(id: Self.post, thread: Self.hall, body: "x", by: Here.cem),
            .openThread(id: ThreadID(bits: 9), name: "Den", by: Self.fay))
        let mine = MessageID(bits: 99)
        let commands: [ChatCommand] =
            switch act {
            case "mention": [.postMessage(thread: Self.hall, body: "x", mentions: [Here.cem], by: Self.fay)]
            case "mentionOfEdit":
                [
                    .postMessage(id: mine, thread: Self.hall, body: "x", by: Self.fay),
                    .edit(.message(mine), body: "y", mentions: [Here.cem], by: Self.fay),
                ]
            case "reaction": [.react(.message(Self.post), emoji: ":x:", by: Self.fay)]
            case "invitation": [.invite(user: Here.cem, thread: ThreadID(bits: 9), by: Self.fay)]
            case "removal": [.remove(.message(Self.post), reason: "x", by: Self.fay)]
            case "mute": [.mute(user: Here.cem, thread: Self.hall, reason: "x", by: Self.fay)]
            case "ban": [.ban(user: Here.cem, thread: Self.hall, reason: "x", by: Self.fay)]
            case "direct":
                [
                    .openDirect(id: ThreadID(bits: 10), with: [Here.cem], by: Self.fay),
                    .leaveThread(thread: ThreadID(bits: 10), by: Here.cem),
                ]
            default: []
            }
        let apart = opened.given(commands.map { CommandRequest($0) }).given(
            .leaveThread(thread: Self.hall, by: Here.cem))
        #expect(Self.isUnknown(Self.fay, to: Here.cem, apart) == (act == "nothing"))
        #expect(Self.isUnknown(Self.fay, to: Here.bob, apart))
    }

    /// A block can be ended, and sent again, after its user has become unknown.
    @Test func ownBlockStaysKnown() {
        let blocked = Self.given.given(
            .joinThread(thread: Here.dogs, by: Self.fay), .block(user: Self.fay, by: Here.cem),
            .leaveThread(thread: Here.dogs, by: Self.fay))
        #expect(blocked.when(.block(user: Self.fay, by: Here.cem)).isUnchanged)
        #expect(Self.erased(Self.fay, in: blocked).when(.block(user: Self.fay, by: Here.cem)).isUnchanged)
        #expect(blocked.when(.unblock(user: Self.fay, by: Here.cem)).events.count == 1)
        #expect(blocked.when(.invite(user: Self.fay, thread: Here.dogs, by: Here.cem)).rejection?.code == .unknownUser)
    }

    /// Sanctions are for people who are or were in the thread, or are invited to it.
    @Test func sanctionsAreForPeopleOfTheThread() {
        func codes(_ given: DeciderSpecification) -> [Rejection.Code?] {
            [
                ChatCommand.mute(user: Here.eli, thread: Here.dogs, reason: "x", by: Here.bob),
                .ban(user: Here.eli, thread: Here.dogs, reason: "x", by: Here.bob),
            ].map { given.when($0).rejection?.code }
        }
        #expect(codes(Here.clubbed) == [.notAMember, .notAMember])
        #expect(codes(Here.visited) == [nil, nil])
        let invited = Here.clubbed.given(.invite(user: Here.eli, thread: Here.dogs, by: Here.bob))
        #expect(codes(invited) == [nil, nil])
        let declined = invited.given(.declineInvitation(thread: Here.dogs, by: Here.eli))
        #expect(codes(declined) == [.notAMember, .notAMember])
        // A mute of that time can be ended, and has no effect a second time.
        let muted = invited.given(
            .mute(user: Here.eli, thread: Here.dogs, reason: "x", by: Here.bob),
            .declineInvitation(thread: Here.dogs, by: Here.eli))
        #expect(muted.when(.mute(user: Here.eli, thread: Here.dogs, reason: "x", by: Here.bob)).isUnchanged)
        #expect(muted.when(.unmute(user: Here.eli, thread: Here.dogs, by: Here.bob)).events.count == 1)
    }

    /// An audit accepts what earlier versions permitted, and names the rule.
    @Test func auditAcceptsEarlierRules() {
        func event(_ kind: EventKind, _ shape: EventShape, _ content: EventContent = .none) -> ChatEvent {
            ChatEvent(recordedAt: Self.given.state.lastRecordedAt, details: .init(kind, shape), content: content)
        }
        let state = Self.given.state
        let invitation = event(.userInvited, .member(thread: Here.dogs, number: 8, user: Self.fay, by: Here.bob))
        let block = event(.userBlocked, .block(user: Self.fay, by: Here.bob))
        for stranger in [invitation, block] {
            #expect(state.faults(of: stranger) == [] && state.earlierRules(of: stranger) == [.actsOnStranger])
        }
        for (kind, user) in [
            (EventKind.userMuted, Self.fay), (.userMuted, Here.eli), (.userBanned, Self.fay), (.userBanned, Here.eli),
        ] {
            let sanction = event(kind, .sanction(thread: Here.dogs, number: 8, user: user, by: Here.bob), .reason("x"))
            #expect(state.faults(of: sanction) == [] && state.earlierRules(of: sanction) == [.sanctionsOutsider])
        }
        for accepted in [
            event(.userInvited, .member(thread: Here.dogs, number: 8, user: Here.eli, by: Here.bob)),
            event(.userBlocked, .block(user: Here.eli, by: Here.bob)),
            event(.userMuted, .sanction(thread: Here.dogs, number: 8, user: Here.cem, by: Here.bob), .reason("x")),
        ] {
            #expect(state.faults(of: accepted) == [] && state.earlierRules(of: accepted) == [])
        }
        let byMember = event(.userInvited, .member(thread: Here.dogs, number: 8, user: Self.fay, by: Here.cem))
        #expect(state.faults(of: byMember).map(\.problem) == [.notPermitted])
    }
}
