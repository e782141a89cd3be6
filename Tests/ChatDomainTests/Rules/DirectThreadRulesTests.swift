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
        .openDirect(thread: pair, by: Here.ann, with: [Here.bob]),
        .openDirect(thread: group, by: Here.ann, with: [Here.bob, Here.cem]),
        .postMessage(message: hello, thread: pair, author: Here.ann, body: "Hello"))
    /// Bob has left the thread of two.
    private static let left = opened.given(.leaveThread(user: Here.bob, thread: pair))

    private static let post = ChatCommand.postMessage(
        message: MessageID(bits: 0x42), thread: pair, author: Here.ann, body: "Bob?", mentions: [Here.bob])
    private static let reply = ChatCommand.reply(
        reply: ReplyID(bits: 0x51), message: hello, author: Here.ann, body: "Bob?")

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
            given.when(.postMessage(thread: Self.pair, author: Here.bob, body: "Yes?")).events.map(\.kind) == [
                .messagePosted
            ])
        #expect(
            given.when(.postMessage(thread: Self.pair, author: Here.ann, body: "!")).events.map(\.kind) == [
                .messagePosted
            ])
    }

    /// Opening the thread again adds nothing at the other one.
    @Test func openingAgainBringsNobodyBack() {
        #expect(Self.left.when(.openDirect(by: Here.ann, with: [Here.bob])).duplicatePositions != nil)
        let away = Self.left.given(.leaveThread(user: Here.ann, thread: Self.pair))
        let back = away.when(.openDirect(by: Here.ann, with: [Here.bob]))
        #expect(back.events.map(\.kind) == [.threadJoined] && back.events.map(\.user) == [Here.ann])
    }

    /// The author must be able to open the thread with the other one now.
    @Test func nobodyIsBroughtBackWhoCannotBeReached() {
        let blocked = [
            Self.left.given(.block(user: Here.ann, by: Here.bob)),
            Self.left.given(.block(user: Here.bob, by: Here.ann)),
        ]
        let strange = Self.left.given(
            .leaveThread(user: Here.bob, thread: Here.dogs), .leaveThread(user: Here.bob, thread: Here.sw1a),
            .leaveThread(user: Here.bob, thread: Here.park))
        // What they share is one thread of three.
        #expect(strange.when(Self.post).events.count == 2)
        let stranger = strange.given(.leaveThread(user: Here.bob, thread: Self.group))
        let erased = [Self.erased(Here.bob, in: Self.left), Self.erased(Here.bob, in: Self.opened)]
        for given in blocked + [stranger] + erased {
            for command in [Self.post, Self.reply] { #expect(given.when(command).rejection?.code == .cannotMessage) }
        }
        // A group goes on without them, and the texts of now can be taken back.
        #expect(erased[1].when(.postMessage(thread: Self.group, author: Here.ann, body: "x")).events.count == 1)
        #expect(erased[1].when(.edit(.message(Self.hello), by: Here.ann, body: "x")).events.count == 1)
        #expect(erased[1].when(.retract(.message(Self.hello), by: Here.ann)).events.count == 1)
    }

    /// The rules of before hold before and after that of the other one.
    @Test func reasonsHaveTheirOrder() {
        let stranger = Self.left.given(
            .leaveThread(user: Here.bob, thread: Here.dogs), .leaveThread(user: Here.bob, thread: Here.sw1a),
            .leaveThread(user: Here.bob, thread: Here.park), .leaveThread(user: Here.bob, thread: Self.group))
        #expect(
            stranger.when(.postMessage(thread: Self.pair, author: Here.ann, body: " ")).rejection?.code
                == .cannotMessage)
        #expect(
            stranger.when(.postMessage(thread: Self.pair, author: Here.bob, body: "x")).rejection?.code
                == .unknownThread)
        #expect(
            Self.left.when(.postMessage(thread: Self.pair, author: Here.ann, body: " ")).rejection?.code == .invalidBody
        )
        let mentions = [Here.bob, Here.cem]
        #expect(
            Self.left.when(.postMessage(thread: Self.pair, author: Here.ann, body: "x", mentions: mentions)).rejection?
                .code == .notAMember)
    }

    /// No two people of a new group may have blocked each other, and there is one code for every
    /// reason.
    @Test func blocksAmongTheOthersCount() {
        for (blocked, blocker) in [(Here.bob, Here.cem), (Here.cem, Here.bob)] {
            let given = Here.moderated.given(.block(user: blocked, by: blocker))
            let opening = ChatCommand.openDirect(thread: Self.group, by: Here.ann, with: [Here.bob, Here.cem])
            #expect(given.when(opening).rejection?.code == .cannotMessage)
            #expect(given.given(.unblock(user: blocked, by: blocker)).when(opening).events.count == 4)
            // A group that exists goes on, and opening it again is no new one.
            let before = Self.opened.given(.block(user: blocked, by: blocker))
            #expect(before.when(.openDirect(by: Here.bob, with: [Here.ann, Here.cem])).duplicatePositions != nil)
        }
    }

    /// A block of either one stops the texts of both.
    @Test(arguments: [(Here.ann, Here.bob), (Here.bob, Here.ann)])
    func blockStopsBothOfTwo(blocked: UserID, blocker: UserID) {
        let given = Self.opened.given(.block(user: blocked, by: blocker))
        for author in [Here.ann, Here.bob] {
            let post = ChatCommand.postMessage(thread: Self.pair, author: author, body: "x")
            #expect(Self.opened.when(post).events.count == 1)
            #expect(given.when(post).rejection?.code == .cannotMessage)
        }
    }

    /// An operator decides the open reports of a direct thread and has no other rights in it, not even
    /// as a member.
    @Test func operatorDecidesOnlyWhatIsReported() {
        let removal = ChatCommand.remove(.message(Self.hello), by: Here.dee, reason: "spam")
        #expect(Self.opened.when(removal).rejection?.code == .unknownMessage)
        let reported = Self.opened.given(.report(.message(Self.hello), by: Here.bob, reason: "spam"))
        #expect(reported.when(removal).events.map(\.kind) == [.messageRemoved])
        #expect(reported.when(.lockThread(thread: Self.pair, by: Here.dee)).rejection?.code == .unknownThread)
        let member = Self.opened.given(.grantOperator(user: Here.bob))
        #expect(member.when(.lockThread(thread: Self.pair, by: Here.bob)).rejection?.code == .notAModerator)
    }

    /// Who comes back to a group reads what follows, and to a thread of two everything.
    @Test func whoReturnsToGroupReadsWhatFollows() {
        let earlier = MessageID(bits: 0x43)
        let back = Self.opened.given(
            .postMessage(message: earlier, thread: Self.group, author: Here.ann, body: "Hello"),
            .leaveThread(user: Here.cem, thread: Self.group), .openDirect(by: Here.cem, with: [Here.ann, Here.bob]))
        #expect(
            back.when(.reply(message: earlier, author: Here.cem, body: "x")).rejection?.code == .unknownMessage)
        #expect(back.when(.reply(message: earlier, author: Here.bob, body: "x")).events.count == 1)
        let both = Self.left.given(.openDirect(by: Here.bob, with: [Here.ann]))
        #expect(both.when(.reply(message: Self.hello, author: Here.bob, body: "x")).events.count == 1)
    }

    /// A repeat of their own opening is a duplicate; with any other id, an erased member opens
    /// nothing.
    @Test func erasedMemberOpensNothing() {
        let ann = Self.erased(Here.ann, in: Self.opened)
        #expect(ann.when(.openDirect(thread: Self.pair, by: Here.ann, with: [Here.bob])).duplicatePositions != nil)
        for thread in [nil, Self.group, ThreadID(bits: 0x99)] {
            #expect(
                ann.when(.openDirect(thread: thread, by: Here.ann, with: [Here.bob])).rejection?.code == .userErased)
        }
        let bob = Self.erased(Here.bob, in: Self.opened)
        #expect(bob.when(.openDirect(thread: Self.pair, by: Here.bob, with: [Here.ann])).rejection?.code == .userErased)
        // The thread is still that of the two.
        #expect(bob.when(.openDirect(by: Here.ann, with: [Here.bob])).duplicatePositions != nil)
    }

    /// What a command does to others has no correlation id.
    @Test func correlationIsThatOfTheActingUser() {
        let opening = ChatCommand.openDirect(thread: Self.group, by: Here.bob, with: [Here.ann, Here.cem])
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
                    Self.opened.when(.postMessage(thread: Self.pair, author: Here.ann, body: "x")).events.first),
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
            Here.moderated.when(.openDirect(thread: Self.group, by: Here.ann, with: [Here.bob, Here.cem])).events.first)
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
