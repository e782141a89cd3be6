import ChatDomain
import ChatTesting
import Testing

/// Given, when and then return the results of the decider.
struct DeciderSpecificationTests {
    let ann = UserID(bits: 1 << 100)
    let thread = ThreadID(bits: 2 << 100)

    @Test func givenEventsFormHistory() {
        let event = ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 7), details: .init(.userRegistered, .user(ann)),
            content: .erased)
        let specification = DeciderSpecification().given(event)
        #expect(specification.history == [RecordedEvent(position: 1, event: event)])
        #expect(specification.state.head == 1)
        #expect(specification.when(.setPostcode(postcode: "SW1A 1AA", by: ann)).events.count == 3)
    }

    @Test func givenCommandsAreExecuted() {
        let specification = DeciderSpecification().given(
            .registerUser(id: ann, username: "Ann"), .openThread(id: thread, name: "Dogs", by: ann))
        #expect(specification.history.map(\.position) == [1, 2, 3])
        #expect(specification.history.map(\.event.kind) == [.userRegistered, .threadOpened, .threadJoined])
    }

    @Test func specificationHasValueSemantics() {
        let empty = DeciderSpecification()
        let peopled = empty.given(.registerUser(id: ann, username: "Ann"))
        #expect(empty.history.isEmpty)
        _ = peopled.when(.openThread(id: thread, name: "Dogs", by: ann))
        #expect(peopled.history.count == 1)
        #expect(peopled.when(.joinThread(thread: thread, by: ann)).rejection?.code == .unknownThread)
    }

    @Test func outcomeDistinguishesFourCases() {
        let given = DeciderSpecification().given(
            .registerUser(id: ann, username: "Ann"), .openThread(id: thread, name: "Dogs", by: ann))
        let appended = given.when(.lockThread(thread: thread, by: ann))
        #expect(appended.eventDetails == [.init(.threadLocked, .thread(thread, number: 3, user: ann))])
        #expect(appended.rejection == nil && !appended.isUnchanged && appended.duplicatePositions == nil)
        let unchanged = given.when(.joinThread(thread: thread, by: ann))
        #expect(
            unchanged.isUnchanged && unchanged.events.isEmpty && unchanged.rejection == nil
                && unchanged.duplicatePositions == nil)
        let duplicate = given.when(.openThread(id: thread, name: "Cats", by: ann))
        #expect(
            duplicate.duplicatePositions == 2...3 && !duplicate.isUnchanged && duplicate.events.isEmpty
                && duplicate.rejection == nil)
        let refused = given.when(.changeUsername(username: "", by: ann))
        #expect(
            refused.rejection?.code == .invalidUsername && !refused.isUnchanged && refused.duplicatePositions == nil)
        #expect(refused.events.isEmpty && refused.eventDetails.isEmpty)
    }

    @Test func givenCommandsAdvanceTime() {
        let history = DeciderSpecification().given(
            .registerUser(id: ann, username: "Ann"), .changeUsername(username: "Anna", by: ann)
        ).history
        #expect(history.map(\.event.recordedAt.millisecondsSince1970) == [1_584_921_600_001, 1_584_921_600_002])
    }

    /// The test goes on: every later step is decided without what was rejected.
    @Test func rejectedGivenCommandIsAnIssueAtItsLine() {
        let empty = DeciderSpecification()
        var given = empty
        withKnownIssue {
            given = empty.given(
                .changeUsername(username: "Ann", by: ann), .registerUser(id: ann, username: "Ann"))
        } matching: { issue in
            issue.sourceLocation?.line == #line - 3
                && issue.comments.map(\.rawValue).joined().contains(
                    #"{"changeUsername":{"user":"\#(ann)","username":"Ann"}} was rejected: "#)
        }
        #expect(given.history.map(\.event.kind) == [.userRegistered])
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        @Test func rejectedGivenCommandTrapsOutsideOfATest() async {
            await #expect(processExitsWith: .failure) {
                await Task.detached {
                    _ = DeciderSpecification().given(.changeUsername(username: "Ann", by: UserID(bits: 1)))
                }.value
            }
        }
    #endif
}
