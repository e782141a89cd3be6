import ChatTesting
import Testing

@testable import ChatDomain

/// Corrections of the clock: the times of a history, and their audit.
@Suite struct ClockRulesTests {
    private static func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }

    private static func registration(_ number: UInt128, at milliseconds: Int64) -> ChatEvent {
        ChatEvent(
            recordedAt: time(milliseconds), details: .init(.userRegistered, .user(UserID(bits: number))),
            content: .registration(
                Username(text: "user\(number)", foldKey: Username.foldKey("user\(number)")), subject: nil))
    }

    private static func state(_ events: [ChatEvent]) -> ChatState {
        var state = ChatState()
        for event in events { state.evolve(event, at: state.head + 1) }
        return state
    }

    private static func correction(at milliseconds: Int64) -> ChatEvent {
        ChatEvent(recordedAt: time(milliseconds), details: .init(.clockCorrected))
    }

    @Test func timesBeginLowerAtACorrectionOnly() {
        let before = Self.state([Self.registration(1, at: 9_000)])
        #expect(before.faults(of: Self.registration(2, at: 8_999)).map(\.problem) == [.timeWentBack])
        #expect(before.faults(of: Self.correction(at: 8_999)).isEmpty)
        // A correction has an effect.
        #expect(before.faults(of: Self.correction(at: 9_000)).map(\.problem) == [.noEffect])
        #expect(before.faults(of: Self.correction(at: 9_001)).map(\.problem) == [.noEffect])
        let after = Self.state([Self.registration(1, at: 9_000), Self.correction(at: 5_000)])
        #expect(after.lastRecordedAt == Self.time(5_000))
        #expect(after.faults(of: Self.registration(2, at: 5_000)).isEmpty)
        #expect(after.faults(of: Self.registration(2, at: 4_999)).map(\.problem) == [.timeWentBack])
        #expect(after.faults(of: Self.correction(at: 4_999)).isEmpty)
        #expect(!after.hasUnknownEvents)
    }

    /// A lost event may have been a correction; the event after the next one cannot profit from it.
    @Test func timesMayBeginLowerAfterALoss() {
        let lost = ChatEvent(recordedAt: Self.time(9_000), details: .init(.lost))
        let state = Self.state([Self.registration(1, at: 9_000), lost])
        #expect(state.lastRecordedAt == Self.time(9_000))
        #expect(state.faults(of: Self.registration(2, at: 4_000)).isEmpty)
        let next = Self.state([Self.registration(1, at: 9_000), lost, Self.registration(2, at: 4_000)])
        #expect(next.lastRecordedAt == Self.time(4_000))
        #expect(next.faults(of: Self.registration(3, at: 3_999)).map(\.problem) == [.timeWentBack])
    }

    @Test(arguments: [(8_999, 8_999), (-5, 0), (9_000, nil), (9_001, nil)] as [(Int64, Int64?)])
    func correctionIsDecided(now: Int64, recordedAt: Int64?) {
        let state = Self.state([Self.registration(1, at: 9_000)])
        var batch = EventBatch(from: 2)
        let decision = state.rules.correctClock(at: Self.time(now), into: &batch)
        #expect(batch.rows.map(\.recordedAt.millisecondsSince1970) == (recordedAt.map { [$0] } ?? []))
        #expect(batch.rows.allSatisfy { $0.kind == .clockCorrected && !$0.isImported })
        if case .append = decision { #expect(recordedAt != nil) } else { #expect(recordedAt == nil) }
    }

    /// The rule of time of the decider begins anew.
    @Test func eventsFollowTheCorrectedTime() throws {
        let state = Self.state([Self.registration(1, at: 9_000), Self.correction(at: 5_000)])
        let request = CommandRequest(.registerUser(id: UserID(bits: 2), username: "Bob"))
        for (now, expected) in [(4_000, 5_000), (6_000, 6_000)] as [(Int64, Int64)] {
            guard case .append(let events) = try state.decide(request, at: Self.time(now), freshID: 0) else {
                Issue.record("nothing was decided")
                continue
            }
            #expect(events.map(\.recordedAt) == [Self.time(expected)])
        }
    }
}
