import ChatDomain
import Foundation
import Testing

/// The module's documentation pages agree with the code.
struct DocumentationTests {
    /// The message in the page's example.
    private func example() throws -> ChatEvent {
        let details = EventShape.message(
            thread: ThreadID(try #require(OutwardCode("SW1A"))), number: 300,
            message: try #require(MessageID("01710916-7940-7e55-8000-000000000001")),
            by: try #require(UserID("01710916-7940-7a11-8000-000000000a11")))
        return ChatEvent(
            recordedAt: try #require(Timestamp("2020-03-23T20:30:00.000Z")), details: .init(.messagePosted, details),
            content: .body("Could someone pick up milk?"), correlation: "c-1")
    }

    @Test func exampleEncodesAsDocumented() throws {
        let blocks = try DocumentationPage("EventEncoding.md").text.components(separatedBy: "```")
        #expect(blocks.count == 5)
        let parts = [blocks[1], blocks[3]].map { block in
            // The first 47 columns of each line hold the bytes: sixteen pairs of digits.
            block.split(separator: "\n").flatMap { bytes(String($0.prefix(47))) }
        }
        let event = try example()
        #expect(event.recordedAt.millisecondsSince1970 == 1_584_995_400_000)
        #expect(EventBytes(event) == EventBytes(kept: parts[0], erasable: parts[1]))
        #expect(try EventBytes(kept: parts[0], erasable: parts[1]).event() == event)
        #expect(parts.map(\.count) == [58, 31])
    }

    /// Repeats the bytes outside the page, so that page and code cannot change together unnoticed.
    @Test func exampleBytesAreFixed() throws {
        #expect(
            EventBytes(try example())
                == EventBytes(
                    kept: bytes(
                        "07 04 407916097101 53573141000080 00806F757477617264 01710916 7940 7E55 8000 000000000001"
                            + "01710916 7940 7A11 8000 000000000A11 AC02"),
                    erasable: bytes("03 632D31") + Array("Could someone pick up milk?".utf8)))
    }

    @Test func tableOfKindsIsComplete() throws {
        let kinds = try DocumentationPage("EventEncoding.md").rows.filter { $0.count == 4 && UInt8($0[0]) != nil }
        #expect(kinds.map { "\($0[0]) \($0[1])" } == EventKind.allCases.map { "\($0.rawValue) \($0.name)" })
    }

    private func words(_ text: some StringProtocol) -> Set<String> {
        Set(String(text).split { !$0.isLetter }.map { String($0) })
    }

    @Test func rulesNameEveryCommandEventAndRejection() throws {
        let page = try DocumentationPage("ChatDomain.md")
        let table = try page.commands + DocumentationPage("Community.md").commands
        #expect(
            table.map { $0[0] } == [
                "registerUser", "changeUsername", "markRead",
                "markUnread", "setNotifications", "markInboxRead", "setProfile",
                "startSession", "endSession", "openThread", "openDirect", "joinThread", "leaveThread",
                "setPostcode", "invite", "acceptInvitation", "declineInvitation", "revokeInvitation", "setRole",
                "grantOperator",
                "revokeOperator", "postMessage", "reply", "edit", "retract", "custom", "remove", "mute", "unmute",
                "ban", "unban",
                "removeMember", "pin", "unpin", "lockThread", "unlockThread", "closeThread", "setThreadPolicy",
                "renameThread", "report",
                "resolveReport", "react", "unreact", "block", "unblock",
            ])
        // A sentence may follow the events.
        let connecting: Set<String> = [
            "and", "or", "as", "needed", "unless", "open", "all", "for", "a", "member", "who", "has", "left",
        ]
        let events = table.reduce(into: Set<String>()) { $0.formUnion(words($1[1].prefix { $0 != ";" })) }.subtracting(
            connecting)
        // Only a salvage produces lost events, and no command orders an erasure or corrects the
        // clock.
        #expect(
            events.union(["lost", "userErased", "contentErased", "clockCorrected", "historyRepaired"])
                == Set(EventKind.allCases.map(\.name)))
        // Parentheses and brackets hold conditions.
        let conditions = /\([^)]*\)|\[[^\]]*\]/
        let refusals = table.reduce(into: Set<String>()) { $0.formUnion(words($1[2].replacing(conditions, with: ""))) }
            .subtracting(["or"])
        let ofAnyCommand: Set<String> = [
            "invalidCorrelation", "storageFull", "clockStepped", "notAllowed", "userErased",
        ]
        #expect(refusals.union(ofAnyCommand) == Set(Rejection.Code.allCases.map(\.rawValue)))
        #expect(ofAnyCommand.isSubset(of: words(page.text)))
    }
}
