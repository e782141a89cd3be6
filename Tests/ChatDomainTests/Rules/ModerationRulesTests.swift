import ChatDomain
import ChatTesting
import Testing

/// Removals, pins, locks, reports, blocks and custom events.
struct ModerationRulesTests {
    typealias Here = Neighbourhood

    @Test func moderatorRemovesPosts() {
        let message = Here.moderated.when(.remove(.message(Here.walk), reason: "spam", by: Here.bob))
        #expect(
            message.eventDetails == [
                .init(.messageRemoved, .message(thread: Here.dogs, number: 8, message: Here.walk, by: Here.bob))
            ])
        #expect(message.events.map(\.content) == [.reason("spam")])
        let reply = Here.moderated.when(.remove(.reply(Here.woof), reason: "spam", by: Here.dee))
        #expect(
            reply.eventDetails == [
                .init(
                    .replyRemoved,
                    .reply(thread: Here.dogs, number: 8, message: Here.walk, reply: Here.woof, by: Here.dee))
            ])
    }

    @Test func postCanBeRetractedAndRemoved() {
        let retracted = Here.moderated.given(.retract(.message(Here.walk), by: Here.cem))
        #expect(retracted.when(.remove(.message(Here.walk), reason: "x", by: Here.bob)).events.count == 1)
        let removed = Here.moderated.given(.remove(.message(Here.walk), reason: "x", by: Here.bob))
        #expect(removed.when(.retract(.message(Here.walk), by: Here.cem)).events.count == 1)
        let both = removed.given(.retract(.message(Here.walk), by: Here.cem))
        #expect(both.when(.remove(.message(Here.walk), reason: "x", by: Here.bob)).isUnchanged)
        #expect(both.when(.retract(.message(Here.walk), by: Here.cem)).isUnchanged)
        for given in [retracted, removed, both] {
            #expect(given.when(.edit(.message(Here.walk), body: "x", by: Here.cem)).rejection?.code == .retracted)
            #expect(given.when(.edit(.reply(Here.woof), body: "x", by: Here.cem)).events.count == 1, "replies stay")
            #expect(given.when(.report(.reply(Here.woof), reason: "x", by: Here.cem)).events.count == 1)
        }
    }

    // MARK: Pins

    static let messages = (0..<51).map { MessageID(bits: 1_000 + UInt128($0)) }
    static let fifty = Here.moderated.given(
        messages.map { CommandRequest(.postMessage(id: $0, thread: Here.dogs, body: "x", by: Here.cem)) }
            + messages.prefix(50).map { CommandRequest(.pin(message: $0, by: Here.bob)) })

    @Test func threadHasAtMostFiftyPins() {
        #expect(Self.fifty.when(.pin(message: Self.messages[50], by: Here.bob)).rejection?.code == .tooManyPins)
        #expect(Self.fifty.when(.pin(message: Self.messages[49], by: Here.ann)).isUnchanged)
        let other = Self.fifty.when(.pin(message: Here.milk, by: Here.dee))
        #expect(
            other.eventDetails == [
                .init(.messagePinned, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.dee))
            ])
    }

    @Test(
        arguments: [
            .unpin(message: messages[7], by: Here.bob), .retract(.message(messages[7]), by: Here.cem),
            .remove(.message(messages[7]), reason: "x", by: Here.bob),
        ] as [ChatCommand])
    func endedPinMakesRoomForOne(end: ChatCommand) {
        let given = Self.fifty.given(end)
        #expect(given.when(.unpin(message: Self.messages[7], by: Here.bob)).isUnchanged)
        let full = given.given(.pin(message: Self.messages[50], by: Here.bob))
        #expect(full.when(.pin(message: Here.walk, by: Here.bob)).rejection?.code == .tooManyPins)
    }

    @Test func goneMessageEndsItsPinOnce() {
        let given = Self.fifty.given(
            .retract(.message(Self.messages[7]), by: Here.cem),
            .remove(.message(Self.messages[7]), reason: "x", by: Here.bob),
            .pin(message: Self.messages[50], by: Here.bob))
        #expect(given.when(.pin(message: Here.walk, by: Here.bob)).rejection?.code == .tooManyPins)
        #expect(given.when(.pin(message: Self.messages[7], by: Here.bob)).rejection?.code == .retracted)
    }

    @Test func postsThatAreNotPinnedEndNoPin() {
        let given = Self.fifty.given(
            .retract(.message(Here.walk), by: Here.cem), .remove(.reply(Here.woof), reason: "x", by: Here.bob))
        #expect(given.when(.pin(message: Self.messages[50], by: Here.bob)).rejection?.code == .tooManyPins)
    }

    // MARK: Locks

    static let writing: [ChatCommand] = [
        .postMessage(thread: Here.dogs, body: "x", by: Here.ann),
        .reply(to: Here.walk, body: "x", by: Here.ann),
        .edit(.message(Here.walk), body: "x", by: Here.cem), .edit(.reply(Here.woof), body: "x", by: Here.cem),
        .custom(kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann),
        .joinThread(thread: Here.dogs, by: Here.eli),
    ]
    static let moderation: [ChatCommand] = [
        .leaveThread(thread: Here.dogs, by: Here.cem), .retract(.message(Here.walk), by: Here.cem),
        .remove(.message(Here.walk), reason: "x", by: Here.bob),
        .report(.message(Here.walk), reason: "x", by: Here.cem),
        .mute(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob),
        .ban(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob),
        .removeMember(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob),
        .setRole(user: Here.cem, thread: Here.dogs, role: .moderator, by: Here.ann),
        .markRead(thread: Here.dogs, upTo: 1, by: Here.cem),
    ]
    static let settings: [ChatCommand] = [
        .invite(user: Here.eli, thread: Here.dogs, by: Here.bob), .pin(message: Here.walk, by: Here.bob),
    ]

    @Test func lockedThreadTakesNoPostsAndJoins() {
        let locked = Here.moderated.given(.lockThread(thread: Here.dogs, by: Here.bob))
        for command in Self.writing { #expect(locked.when(command).rejection?.code == .threadLocked, "\(command)") }
        for command in Self.moderation + Self.settings { #expect(!locked.when(command).events.isEmpty, "\(command)") }
        #expect(locked.when(.lockThread(thread: Here.dogs, by: Here.bob)).isUnchanged)
        let unlocked = locked.given(.unlockThread(thread: Here.dogs, by: Here.bob))
        for command in Self.writing { #expect(!unlocked.when(command).events.isEmpty, "\(command)") }
        #expect(unlocked.when(.unlockThread(thread: Here.dogs, by: Here.bob)).isUnchanged)
    }

    @Test func closedThreadStaysClosed() {
        let locked = Here.moderated.given(.lockThread(thread: Here.dogs, by: Here.bob))
        for given in [Here.moderated, locked] {
            let closed = given.given(.closeThread(thread: Here.dogs, by: Here.ann))
            let locks: [ChatCommand] = [
                .lockThread(thread: Here.dogs, by: Here.bob), .unlockThread(thread: Here.dogs, by: Here.bob),
                .unpin(message: Here.walk, by: Here.bob),
            ]
            for command in Self.writing + Self.settings + locks {
                #expect(closed.when(command).rejection?.code == .threadClosed, "\(command)")
            }
            for command in Self.moderation { #expect(!closed.when(command).events.isEmpty, "\(command)") }
            #expect(closed.when(.closeThread(thread: Here.dogs, by: Here.dee)).isUnchanged)
            #expect(closed.when(.leaveThread(thread: Here.dogs, by: Here.ann)).events.count == 1)
        }
    }

    // MARK: Reports

    static let reported = Here.moderated.given(
        .report(.message(Here.walk), reason: "spam", by: Here.ann),
        .report(.message(Here.walk), reason: "rude", by: Here.bob),
        .report(.reply(Here.woof), reason: "spam", by: Here.ann))

    @Test func reportsHaveNoNumber() {
        let outcome = Here.moderated.when(.report(.message(Here.walk), reason: "spam", by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.messageReported, .messageReport(thread: Here.dogs, message: Here.walk, by: Here.ann))
            ])
        #expect(outcome.events.map(\.content) == [.reason("spam")])
        let next = Self.reported.given(.resolveReport(.reply(Here.woof), by: Here.bob))
            .when(.postMessage(thread: Here.dogs, body: "x", by: Here.ann))
        #expect(next.events.map(\.threadNumber) == [8])
    }

    @Test func resolutionResolvesAllReportsOfPost() {
        let resolved = Self.reported.given(.resolveReport(.message(Here.walk), by: Here.bob))
        #expect(resolved.when(.resolveReport(.message(Here.walk), by: Here.bob)).isUnchanged)
        #expect(resolved.when(.resolveReport(.reply(Here.woof), by: Here.bob)).events.count == 1)
        for user in [Here.ann, Here.bob] {
            #expect(Self.reported.when(.report(.message(Here.walk), reason: "again", by: user)).isUnchanged)
            #expect(resolved.when(.report(.message(Here.walk), reason: "again", by: user)).events.count == 1)
        }
        #expect(resolved.when(.report(.reply(Here.woof), reason: "again", by: Here.ann)).isUnchanged)
        let again = resolved.given(.report(.message(Here.walk), reason: "again", by: Here.ann))
        #expect(again.when(.report(.message(Here.walk), reason: "again", by: Here.bob)).events.count == 1)
        #expect(again.when(.resolveReport(.message(Here.walk), by: Here.dee)).events.count == 1)
    }

    @Test func reportOutlastsItsPostAndReporter() {
        let given = Self.reported.given(
            .remove(.message(Here.walk), reason: "x", by: Here.dee),
            .ban(user: Here.ann, thread: Here.dogs, reason: "x", by: Here.dee))
        #expect(given.when(.resolveReport(.message(Here.walk), by: Here.bob)).events.count == 1)
    }

    // MARK: Blocks

    @Test func blocksAreOfOnePair() {
        let given = Here.moderated.given(.block(user: Here.bob, by: Here.ann))
        #expect(
            given.when(.block(user: Here.ann, by: Here.bob)).eventDetails == [
                .init(.userBlocked, .block(user: Here.ann, by: Here.bob))
            ])
        #expect(given.when(.unblock(user: Here.ann, by: Here.bob)).isUnchanged)
        #expect(given.when(.block(user: Here.cem, by: Here.ann)).events.count == 1)
        let ended = given.given(.unblock(user: Here.bob, by: Here.ann))
        #expect(ended.when(.unblock(user: Here.bob, by: Here.ann)).isUnchanged)
        #expect(ended.when(.block(user: Here.bob, by: Here.ann)).events.count == 1)
        #expect(
            given.when(.postMessage(thread: Here.sw1a, body: "x", by: Here.bob)).events.count == 1,
            "a block stops nothing")
    }

    // MARK: Custom events

    @Test func memberCausesCustomEvent() {
        let payload = Here.payload("{ \"b\" : 1.50, \"a\" : \"\\u00e9\" }")
        let outcome = Here.moderated.when(
            .custom(id: Here.poll, kind: "com.example.Poll", thread: Here.dogs, payload: payload, by: Here.cem))
        #expect(
            outcome.eventDetails == [
                .init(.custom, .custom(thread: Here.dogs, number: 8, id: Here.poll, by: Here.cem))
            ])
        #expect(outcome.events.map(\.customKind) == ["com.example.Poll"])
        #expect(outcome.events.map { $0.payload?.text } == [#"{"b":1.50,"a":"\u00e9"}"#])
    }

    @Test func payloadHasUpTo16384Bytes() {
        for (count, code) in [(16_382, nil), (16_383, Rejection.Code.invalidPayload)] {
            let payload = Here.payload("\"" + String(repeating: "x", count: count) + "\"")
            let outcome = Here.moderated.when(.custom(kind: "a.b", thread: Here.dogs, payload: payload, by: Here.cem))
            #expect(outcome.rejection?.code == code)
        }
    }

    /// Messages, replies and custom events have ids of different types.
    @Test func customEventSharesBitsWithMessage() {
        let id = CustomEventID(bits: Here.walk.bits)
        let outcome = Here.moderated.when(
            .custom(id: id, kind: "a.b", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann))
        #expect(outcome.events.count == 1)
    }
}
