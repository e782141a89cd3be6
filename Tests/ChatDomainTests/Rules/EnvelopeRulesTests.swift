import ChatDomain
import ChatTesting
import Testing

/// The envelope of every event: time, correlation id, and number within its thread.
struct EnvelopeRulesTests {
    typealias Here = Neighbourhood

    private func post(_ state: inout ChatState, at time: Int64) throws -> Timestamp {
        let request = CommandRequest(.postMessage(thread: Here.sw1a, body: "x", by: Here.ann))
        let decision = try state.decide(
            request, at: Timestamp(millisecondsSince1970: time), freshID: UInt128(state.head) + 1_000)
        guard case .append(let events) = decision, let event = events.first else {
            Issue.record("\(decision)")
            return Timestamp(millisecondsSince1970: 0)
        }
        state.evolve(event, at: state.head + 1)
        return event.recordedAt
    }

    @Test func recordedAtFollowsClockAndNeverDecreases() throws {
        var state = Here.neighbours.state
        let start = state.lastRecordedAt.millisecondsSince1970
        let clock = [start + 10, start + 10, start + 9, start + 500, 0, -1, Int64.min, start + 499, start + 501]
        let recorded = try clock.map { try post(&state, at: $0).millisecondsSince1970 - start }
        #expect(recorded == [10, 10, 10, 500, 500, 500, 500, 500, 501])
    }

    @Test func clockBefore1970RecordsStartOf1970() throws {
        let decision = try ChatState().decide(
            CommandRequest(.registerUser(username: "Ann")), at: Timestamp(millisecondsSince1970: -1), freshID: 1)
        guard case .append(let events) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(events.map(\.recordedAt.millisecondsSince1970) == [0])
    }

    @Test func clockBeyondEncodingRecordsLastMillisecond() throws {
        var state = Here.neighbours.state
        #expect(try post(&state, at: Int64.max).millisecondsSince1970 == 1 << 48 - 1)
        #expect(try post(&state, at: 0).millisecondsSince1970 == 1 << 48 - 1)
    }

    @Test func eventsOfCommandShareTimeAndCorrelation() {
        let outcome = Here.people.when(
            CommandRequest(.setPostcode(postcode: "SW1A 1AA", by: Here.ann), correlation: "c-1"))
        #expect(outcome.events.map(\.correlation) == ["c-1", "c-1", "c-1"])
        #expect(Set(outcome.events.map(\.recordedAt)).count == 1)
    }

    @Test(arguments: [1, 256]) func correlationHasUpTo256Bytes(count: Int) {
        let correlation = String(repeating: "c", count: count)
        let outcome = Here.people.when(
            CommandRequest(.changeUsername(username: "Anna", by: Here.ann), correlation: correlation))
        #expect(outcome.events.map(\.correlation) == [correlation])
    }

    @Test(arguments: ["", String(repeating: "c", count: 257), String(repeating: "é", count: 129)])
    func invalidCorrelationIsRejected(correlation: String) {
        let outcome = Here.people.when(
            CommandRequest(.changeUsername(username: "Anna", by: Here.ann), correlation: correlation))
        #expect(outcome.rejection?.code == .invalidCorrelation)
    }

    @Test func commandRulesPrecedeCorrelationRule() {
        let outcome = Here.people.when(
            CommandRequest(.changeUsername(username: "", by: Here.nobody), correlation: ""))
        #expect(outcome.rejection?.code == .unknownUser)
    }

    @Test func threadEventsExceptPrivateOnesAreNumbered() {
        let history = Here.dogOwners.given(
            .markRead(thread: Here.sw1a, upTo: 4, by: Here.ann),
            .markUnread(thread: Here.sw1a, from: 3, by: Here.ann),
            .setNotifications(thread: Here.sw1a, level: .none, by: Here.ann),
            .markInboxRead(upTo: 4, by: Here.ann),
            .setProfile(about: "Bees", by: Here.ann),
            .edit(.message(Here.milk), body: "Oat milk", by: Here.ann),
            .edit(.reply(Here.yes), body: "No.", by: Here.bob),
            .joinThread(thread: Here.dogs, by: Here.bob),
            .retract(.reply(Here.yes), by: Here.bob),
            .retract(.message(Here.milk), by: Here.ann),
            .leaveThread(thread: Here.sw1a, by: Here.bob)
        ).history
        let districts = history.filter { $0.event.thread == Here.sw1a && $0.event.threadNumber != nil }
        #expect(districts.map(\.event.threadNumber) == (1...10).map { UInt64($0) })
        #expect(
            districts.map(\.event.kind) == [
                .threadOpened, .threadJoined, .threadJoined, .messagePosted, .replyPosted, .messageEdited, .replyEdited,
                .replyRetracted,
                .messageRetracted, .threadLeft,
            ])
        #expect(history.filter { $0.event.thread == Here.dogs }.map(\.event.threadNumber) == [1, 2, 3])
    }

    @Test func rejectionCodesAreStable() {
        #expect(
            Set(Rejection.Code.allCases.map(\.rawValue)) == [
                "identifierTaken", "invalidUsername", "usernameTaken", "subjectTaken", "unknownUser", "invalidPostcode",
                "invalidThreadName", "unknownThread", "notResident", "notAMember", "invalidBody", "unknownMessage",
                "unknownReply",
                "retracted", "edited", "notTheAuthor", "invalidPosition", "unknownSession", "invalidDevice",
                "invalidCorrelation",
                "notAllowed",
                "storageFull", "invalidPolicy", "notInvited", "banned", "muted", "notAModerator", "notAnOwner",
                "lastOwner",
                "threadLocked", "threadClosed", "invalidReason", "invalidUntil", "tooManyPins", "tooManyBlocks",
                "invalidEmoji",
                "tooManyReactions", "invalidKind",
                "invalidPayload", "tooManyMentions",
                "userErased", "clockStepped", "invalidAbout", "cannotMessage", "invalidPeople",
            ])
    }

    @Test func rejectionHasCodeAndMessage() throws {
        let rejection = try #require(Here.people.when(.changeUsername(username: "x", by: Here.nobody)).rejection)
        #expect(rejection.message.hasSuffix("."))
        #expect(rejection.description == "unknownUser: \(rejection.message)")
    }
}
