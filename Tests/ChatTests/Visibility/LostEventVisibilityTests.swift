import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// Only the operator is shown lost events and events of an unknown kind.
@Suite struct LostEventVisibilityTests {
    @Test func lostAndUnknownEventsAreHiddenFromViewers() throws {
        let fixture = StoreFixture()
        let (ann, bob) = (UserID(bits: 1), UserID(bits: 2))
        let garden = ThreadID(bits: 31)
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))  // 2
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))  // 3, 4
        try store.executeBlocking(.joinThread(thread: garden, by: bob))  // 5
        try store.close()
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        var draft = CommitDraft()
        var encoder = EventEncoder()
        encoder.encode(ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: .init(.lost)))
        unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        let unknown: [UInt8] = [200, 0, 1, 2, 3, 4, 5, 6, 9, 9]
        unsafe try draft.append(kept: unknown.span.bytes, erasable: [1, 2, 3].span.bytes)
        _ = try journal.append(draft, expecting: 5)
        try journal.close()
        let reader = try fixture.open()
        #expect(try reader.allEvents().map(\.event.kind).suffix(2) == [.lost, nil])
        for (viewer, positions) in [(ann, [1, 3, 4, 5]), (bob, [2, 5])] as [(UserID, [Position])] {
            var shown: [Position] = []
            try reader.forEachEvent(matching: EventFilter(as: .user(viewer))) { event, _ in
                shown.append(event.position)
            }
            #expect(shown == positions)
        }
    }
}
