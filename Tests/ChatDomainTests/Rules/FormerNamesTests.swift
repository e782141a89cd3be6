import ChatDomain
import ChatTesting
import Testing

/// Names that an earlier version accepted, and this version rejects, stay valid in the history.
struct FormerNamesTests {
    typealias Here = Neighbourhood

    static let text = "Cem\u{FE0F}"
    static let former = DeciderSpecification().given(
        ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1), details: .userRegistered(UserRegistered(user: Here.cem)),
            content: .registration(Username(text: text, foldKey: "cem\u{FE0F}"), subject: nil)))

    @Test func formerNamesHaveNoFaults() {
        for (details, content) in [
            (
                .userRegistered(UserRegistered(user: Here.ann)),
                .registration(Username(text: "Ann\u{2800}", foldKey: "ann\u{2800}"), subject: nil)
            ),
            (.usernameChanged(UsernameChanged(user: Here.cem)), .username(Username(text: "\u{3164}", foldKey: "\u{3164}"))),
            (.threadOpened(ThreadOpened(thread: ThreadID(bits: 9), number: 1, by: Here.cem)), .threadName("\u{2764}\u{FE0F} dogs")),
        ] as [(EventDetails, EventContent)] {
            let event = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 2), details: details, content: content)
            #expect(Self.former.state.faults(of: event).isEmpty)
        }
    }

    @Test func repeatedRegistrationIsDuplicate() {
        #expect(Self.former.when(.registerUser(user: Here.cem, username: Self.text)).duplicatePositions == 1...1)
        #expect(Self.former.when(.registerUser(user: Here.cem, username: " CEM\u{FE0F}")).duplicatePositions == 1...1)
        #expect(Self.former.when(.registerUser(user: Here.cem, username: "Cem")).rejection?.code == .identifierTaken)
    }

    @Test func currentNameChangesNothing() {
        #expect(Self.former.when(.changeUsername(user: Here.cem, username: Self.text)).isUnchanged)
        #expect(Self.former.when(.changeUsername(user: Here.cem, username: " \(Self.text)\n")).isUnchanged)
        #expect(Self.former.when(.changeUsername(user: Here.cem, username: "CEM\u{FE0F}")).rejection?.code == .invalidUsername)
        #expect(Self.former.when(.changeUsername(user: Here.ann, username: Self.text)).rejection?.code == .unknownUser)
    }

    @Test func formerNamesCannotBeChosen() {
        #expect(Self.former.when(.registerUser(username: Self.text)).rejection?.code == .invalidUsername)
        #expect(Self.former.when(.registerUser(username: "Cem")).eventDetails.count == 1, "the plain name is a different name")
        #expect(Self.former.when(.openThread(name: "\u{2764}\u{FE0F} dogs", by: Here.cem)).rejection?.code == .invalidThreadName)
    }
}
