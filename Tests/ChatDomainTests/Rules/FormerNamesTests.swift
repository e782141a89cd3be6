import ChatDomain
import ChatTesting
import Testing

/// Names that an earlier version accepted, and this version rejects, stay valid in the history.
struct FormerNamesTests {
    typealias Here = Neighbourhood

    static let text = "Cem\u{3164}"
    static let former = DeciderSpecification().given(
        ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1), details: .init(.userRegistered, .user(Here.cem)),
            content: .registration(Username(text: text, foldKey: "cem\u{3164}"), subject: nil)))

    @Test func formerNamesHaveNoFaults() {
        for (details, content) in [
            (
                .init(.userRegistered, .user(Here.ann)),
                .registration(Username(text: "Ann\u{2800}", foldKey: "ann\u{2800}"), subject: nil)
            ),
            (.init(.usernameChanged, .user(Here.cem)), .username(Username(text: "\u{3164}", foldKey: "\u{3164}"))),
            (
                .init(.threadOpened, .thread(ThreadID(bits: 9), number: 1, user: Here.cem)),
                .threadName("\u{2764}\u{FE0F} dogs")
            ),
        ] as [(EventDetails, EventContent)] {
            let event = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 2), details: details, content: content)
            #expect(Self.former.state.faults(of: event).isEmpty)
        }
    }

    @Test func repeatedRegistrationIsDuplicate() {
        #expect(Self.former.when(.registerUser(id: Here.cem, username: Self.text)).duplicatePositions == 1...1)
        #expect(Self.former.when(.registerUser(id: Here.cem, username: " CEM\u{3164}")).duplicatePositions == 1...1)
        #expect(Self.former.when(.registerUser(id: Here.cem, username: "Cem")).duplicatePositions == 1...1)
        #expect(Self.former.when(.registerUser(id: Here.cem, username: "Cam")).rejection?.code == .identifierTaken)
    }

    @Test func currentNameChangesNothing() {
        #expect(Self.former.when(.changeUsername(username: Self.text, by: Here.cem)).isUnchanged)
        #expect(Self.former.when(.changeUsername(username: " \(Self.text)\n", by: Here.cem)).isUnchanged)
        #expect(
            Self.former.when(.changeUsername(username: "CEM\u{3164}", by: Here.cem)).rejection?.code
                == .invalidUsername)
        #expect(Self.former.when(.changeUsername(username: Self.text, by: Here.ann)).rejection?.code == .unknownUser)
    }

    @Test func formerNamesCannotBeChosen() {
        #expect(Self.former.when(.registerUser(username: Self.text)).rejection?.code == .invalidUsername)
        #expect(
            Self.former.when(.openThread(name: "\u{2764}\u{3164} dogs", by: Here.cem)).rejection?.code
                == .invalidThreadName)
    }

    @Test(arguments: ["Cem", "CEM", " Cem\u{FE0F}", "Ce\u{200D}m"])
    func namesThatLookLikeFormerOneAreTaken(_ text: String) {
        #expect(Self.former.when(.registerUser(username: text)).rejection?.code == .usernameTaken)
    }

    /// Two users of an earlier version, whose names differed by a kind of space.
    private static let twins = ["Zoe X", "Zoe\u{A0}X"].enumerated().reduce(DeciderSpecification()) { given, name in
        given.given(
            ChatEvent(
                recordedAt: Timestamp(millisecondsSince1970: Int64(name.offset + 1)),
                details: .init(.userRegistered, .user(UserID(bits: UInt128(name.offset + 1)))),
                content: .registration(Username(text: name.element, foldKey: name.element.lowercased()), subject: nil)))
    }

    private static func registered(_ text: String, _ foldKey: String) -> ChatEvent {
        ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 3), details: .init(.userRegistered, .user(UserID(bits: 3))),
            content: .registration(Username(text: text, foldKey: foldKey), subject: nil))
    }

    @Test func firstOfTwinsHoldsKey() {
        let (first, second) = (UserID(bits: 1), UserID(bits: 2))
        #expect(Self.twins.when(.registerUser(username: "zoe x")).rejection?.code == .usernameTaken)
        #expect(Self.twins.when(.changeUsername(username: "ZOE X", by: first)).eventDetails.count == 1)
        #expect(Self.twins.when(.changeUsername(username: "Zoe X", by: second)).rejection?.code == .usernameTaken)
        // The second keeps the name, and the key becomes free with the first one's change.
        #expect(Self.twins.when(.changeUsername(username: "Zoe\u{A0}X", by: second)).isUnchanged)
        let renamed = Self.twins.given(.changeUsername(username: "Zoe Y", by: first))
        #expect(renamed.when(.changeUsername(username: "Zoe X", by: second)).eventDetails.count == 1)
    }

    @Test func auditAcceptsTwinsOfEarlierVersion() {
        let state = Self.twins.state
        for key in ["zoe\u{2003}x", "zoe\u{A0}x"] {
            let event = Self.registered(
                "Zoe\(key.unicodeScalars.filter { $0.value > 0x7F }.first.map(String.init) ?? "")X", key)
            #expect(
                state.faults(of: event).isEmpty && state.earlierRules(of: event) == [.namesThatLookAlike],
                "\(key.debugDescription)")
        }
        // The same name, by the rules of both versions, and a name that only this version records.
        for event in [Self.registered("ZOE X", "zoe x"), Self.registered("Zoe X\u{FE0F}", "zoe x")] {
            #expect(state.faults(of: event).map(\.problem) == [.usernameTwice] && state.earlierRules(of: event).isEmpty)
        }
    }
}
