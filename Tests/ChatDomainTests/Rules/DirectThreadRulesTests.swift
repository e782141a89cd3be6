import ChatTesting
import Testing

@testable import ChatDomain

/// Direct threads: who is brought back to one, who can be alone in one, and who cannot be in a new
/// one.
struct DirectThreadRulesTests {
    typealias Here = Neighbourhood

    private static let pair = ThreadID(bits: 0x32)
    private static let group = ThreadID(bits: 0x33)
    private static let hello = MessageID(bits: 0x41)

    /// Ann has opened a direct thread with Bob and one with Bob and Cem, and written in the first.
    private static let opened = Here.moderated.given(
        .openDirect(id: pair, with: [Here.bob], by: Here.ann),
        .openDirect(id: group, with: [Here.bob, Here.cem], by: Here.ann),
        .postMessage(id: hello, thread: pair, body: "Hello", by: Here.ann))
    /// Bob has left the thread of two.
    private static let left = opened.given(.leaveThread(thread: pair, by: Here.bob))

    private static let post = ChatCommand.postMessage(
        id: MessageID(bits: 0x42), thread: pair, body: "Bob?", mentions: [Here.bob], by: Here.ann)
    private static let reply = ChatCommand.reply(id: ReplyID(bits: 0x51), to: hello, body: "Bob?", by: Here.ann)

    /// Ann writes, and Bob is a member before the text is there.
    @Test(arguments: [(post, EventKind.messagePosted), (reply, .replyPosted)])
    func whoHasLeftIsBroughtBack(command: ChatCommand, kind: EventKind) throws {
        let events = Self.left.when(CommandRequest(command, correlation: "of Ann")).events
        #expect(events.map(\.kind) == [.threadJoined, kind] && events.map(\.user) == [Here.bob, Here.ann])
        #expect(events.map(\.thread) == [Self.pair, Self.pair] && events.map(\.threadNumber) == [6, 7])
        #expect(events.map(\.correlation) == [nil, "of Ann"])
        let given = Self.left.given([CommandRequest(command)])
        let written = Position(given.history.count)
        #expect(given.when(command).duplicatePositions == written...written)
        #expect(
            given.when(.postMessage(thread: Self.pair, body: "Yes?", by: Here.bob)).events.map(\.kind) == [
                .messagePosted
            ])
        #expect(
            given.when(.postMessage(thread: Self.pair, body: "!", by: Here.ann)).events.map(\.kind) == [
                .messagePosted
            ])
    }

    /// Opening the thread again adds nothing at the other one.
    @Test func openingAgainBringsNobodyBack() {
        #expect(Self.left.when(.openDirect(with: [Here.bob], by: Here.ann)).duplicatePositions != nil)
        let away = Self.left.given(.leaveThread(thread: Self.pair, by: Here.ann))
        let back = away.when(.openDirect(with: [Here.bob], by: Here.ann))
        #expect(back.events.map(\.kind) == [.threadJoined] && back.events.map(\.user) == [Here.ann])
    }

    /// The author must be able to open the thread with the other one now.
    @Test func nobodyIsBroughtBackWhoCannotBeReached() {
        let blocked = [
            Self.left.given(.block(user: Here.ann, by: Here.bob)),
            Self.left.given(.block(user: Here.bob, by: Here.ann)),
        ]
        let strange = Self.left.given(
            .leaveThread(thread: Here.dogs, by: Here.bob), .leaveThread(thread: Here.sw1a, by: Here.bob),
            .leaveThread(thread: Here.park, by: Here.bob))
        // What they share is one thread of three.
        #expect(strange.when(Self.post).events.count == 2)
        let stranger = strange.given(.leaveThread(thread: Self.group, by: Here.bob))
        let erased = [Self.erased(Here.bob, in: Self.left), Self.erased(Here.bob, in: Self.opened)]
        for given in blocked + [stranger] + erased {
            for command in [Self.post, Self.reply] { #expect(given.when(command).rejection?.code == .cannotMessage) }
        }
        // A group goes on without them, and the texts of now can be taken back.
        #expect(erased[1].when(.postMessage(thread: Self.group, body: "x", by: Here.ann)).events.count == 1)
        #expect(erased[1].when(.edit(.message(Self.hello), body: "x", by: Here.ann)).events.count == 1)
        #expect(erased[1].when(.retract(.message(Self.hello), by: Here.ann)).events.count == 1)
    }

    /// The rules of before hold before and after that of the other one.
    @Test func reasonsHaveTheirOrder() {
        let stranger = Self.left.given(
            .leaveThread(thread: Here.dogs, by: Here.bob), .leaveThread(thread: Here.sw1a, by: Here.bob),
            .leaveThread(thread: Here.park, by: Here.bob), .leaveThread(thread: Self.group, by: Here.bob))
        #expect(
            stranger.when(.postMessage(thread: Self.pair, body: " ", by: Here.ann)).rejection?.code
                == .cannotMessage)
        #expect(
            stranger.when(.postMessage(thread: Self.pair, body: "x", by: Here.bob)).rejection?.code
                == .unknownThread)
        #expect(
            Self.left.when(.postMessage(thread: Self.pair, body: " ", by: Here.ann)).rejection?.code == .invalidBody
        )
        let mentions = [Here.bob, Here.cem]
        #expect(
            Self.left.when(.postMessage(thread: Self.pair, body: "x", mentions: mentions, by: Here.ann)).rejection?
                .code == .notAMember)
    }

    /// No two people of a new group may have blocked each other, and there is one code for every
    /// reason.
    @Test func blocksAmongTheOthersCount() {
        for (blocked, blocker) in [(Here.bob, Here.cem), (Here.cem, Here.bob)] {
            let given = Here.moderated.given(.block(user: blocked, by: blocker))
            let opening = ChatCommand.openDirect(id: Self.group, with: [Here.bob, Here.cem], by: Here.ann)
            #expect(given.when(opening).rejection?.code == .cannotMessage)
            #expect(given.given(.unblock(user: blocked, by: blocker)).when(opening).events.count == 4)
            // A group that exists goes on, and opening it again is no new one.
            let before = Self.opened.given(.block(user: blocked, by: blocker))
            #expect(before.when(.openDirect(with: [Here.ann, Here.cem], by: Here.bob)).duplicatePositions != nil)
        }
    }

    /// A block of either one stops the texts of both.
    @Test(arguments: [(Here.ann, Here.bob), (Here.bob, Here.ann)])
    func blockStopsBothOfTwo(blocked: UserID, blocker: UserID) {
        let given = Self.opened.given(.block(user: blocked, by: blocker))
        for author in [Here.ann, Here.bob] {
            let post = ChatCommand.postMessage(thread: Self.pair, body: "x", by: author)
            #expect(Self.opened.when(post).events.count == 1)
            #expect(given.when(post).rejection?.code == .cannotMessage)
        }
    }

    /// An operator decides the open reports of a direct thread and has no other rights in it, not even
    /// as a member.
    @Test func operatorDecidesOnlyWhatIsReported() {
        let removal = ChatCommand.remove(.message(Self.hello), reason: "spam", by: Here.dee)
        #expect(Self.opened.when(removal).rejection?.code == .unknownMessage)
        let reported = Self.opened.given(.report(.message(Self.hello), reason: "spam", by: Here.bob))
        #expect(reported.when(removal).events.map(\.kind) == [.messageRemoved])
        #expect(reported.when(.lockThread(thread: Self.pair, by: Here.dee)).rejection?.code == .unknownThread)
        let member = Self.opened.given(.grantOperator(user: Here.bob))
        #expect(member.when(.lockThread(thread: Self.pair, by: Here.bob)).rejection?.code == .notAModerator)
    }

    /// Who comes back to a group reads what follows, and to a thread of two everything.
    @Test func whoReturnsToGroupReadsWhatFollows() {
        let earlier = MessageID(bits: 0x43)
        let back = Self.opened.given(
            .postMessage(id: earlier, thread: Self.group, body: "Hello", by: Here.ann),
            .leaveThread(thread: Self.group, by: Here.cem), .openDirect(with: [Here.ann, Here.bob], by: Here.cem))
        #expect(
            back.when(.reply(to: earlier, body: "x", by: Here.cem)).rejection?.code == .unknownMessage)
        #expect(back.when(.reply(to: earlier, body: "x", by: Here.bob)).events.count == 1)
        let both = Self.left.given(.openDirect(with: [Here.ann], by: Here.bob))
        #expect(both.when(.reply(to: Self.hello, body: "x", by: Here.bob)).events.count == 1)
    }

    /// A repeat of their own opening is a duplicate; with any other id, an erased member opens
    /// nothing.
    @Test func erasedMemberOpensNothing() {
        let ann = Self.erased(Here.ann, in: Self.opened)
        #expect(ann.when(.openDirect(id: Self.pair, with: [Here.bob], by: Here.ann)).duplicatePositions != nil)
        for thread in [nil, Self.group, ThreadID(bits: 0x99)] {
            #expect(
                ann.when(.openDirect(id: thread, with: [Here.bob], by: Here.ann)).rejection?.code == .userErased)
        }
        let bob = Self.erased(Here.bob, in: Self.opened)
        #expect(bob.when(.openDirect(id: Self.pair, with: [Here.ann], by: Here.bob)).rejection?.code == .userErased)
        // The thread is still that of the two.
        #expect(bob.when(.openDirect(with: [Here.bob], by: Here.ann)).duplicatePositions != nil)
    }

    /// What a command does to others has no correlation id.
    @Test func correlationIsThatOfTheActingUser() {
        let opening = ChatCommand.openDirect(id: Self.group, with: [Here.ann, Here.cem], by: Here.bob)
        let events = Here.moderated.when(CommandRequest(opening, correlation: "of Bob")).events
        #expect(events.map(\.correlation) == ["of Bob", "of Bob", nil, nil])
        // It is checked also if no event would have it.
        #expect(Here.moderated.when(CommandRequest(opening, correlation: "")).rejection?.code == .invalidCorrelation)
    }

    /// The audit accepts what earlier versions appended, and names the rule.
    @Test func auditAcceptsWhatEarlierRulesCover() throws {
        let alone = try #require(Self.opened.when(Self.reply).events.first)
        for given in [Self.erased(Here.bob, in: Self.opened), Self.left] {
            for var event in [
                alone,
                try #require(
                    Self.opened.when(.postMessage(thread: Self.pair, body: "x", by: Here.ann)).events.first),
            ] {
                event = ChatEvent(
                    recordedAt: given.state.lastRecordedAt,
                    details: event.details(numbered: given.state.nextNumber(in: Self.pair)),
                    content: event.content)
                #expect(
                    given.state.faults(of: event).isEmpty && given.state.earlierRules(of: event) == [.postsToNobody])
            }
        }
        #expect(Self.opened.state.faults(of: alone).isEmpty && Self.opened.state.earlierRules(of: alone).isEmpty)
        let opening = try #require(
            Here.moderated.when(.openDirect(id: Self.group, with: [Here.bob, Here.cem], by: Here.ann)).events.first)
        let blocked = Here.moderated.given(.block(user: Here.bob, by: Here.cem))
        #expect(
            blocked.state.faults(of: opening).isEmpty && blocked.state.earlierRules(of: opening) == [.groupsWithBlocks])
        #expect(
            Here.moderated.state.faults(of: opening).isEmpty && Here.moderated.state.earlierRules(of: opening).isEmpty)
        // What the decider of this version appends follows no earlier rule.
        var given = Self.left
        for event in given.when(Self.post).events {
            #expect(given.state.faults(of: event).isEmpty && given.state.earlierRules(of: event).isEmpty)
            given = given.given(event)
        }
    }

    private static func erased(_ user: UserID, in given: DeciderSpecification) -> DeciderSpecification {
        given.given(
            ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(user)),
                content: .erasure(reason: "user-request", positions: nil)))
    }
}

extension ChatState {
    /// The number of the next event of a thread, whose last event is the latest that a user caused
    /// there.
    fileprivate func nextNumber(in thread: ThreadID) -> UInt64 {
        identities.threads.find(thread).map { rules.nextNumber(in: $0) } ?? 1
    }
}

extension ChatEvent {
    /// The details of a message or a reply with another number.
    fileprivate func details(numbered number: UInt64) -> EventDetails {
        switch shape {
        case .reply(let thread, _, let message, let reply, let by):
            .init(.replyPosted, .reply(thread: thread, number: number, message: message, reply: reply, by: by))
        case .message(let thread, _, let message, let by):
            .init(.messagePosted, .message(thread: thread, number: number, message: message, by: by))
        default: details
        }
    }
}
