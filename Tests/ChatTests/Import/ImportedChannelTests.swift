import ChatDomain
import Testing

@testable import Chat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON of the line of a channel.
@Suite struct ImportedChannelTests {
    private func decode(_ text: String) throws -> ImportedLine {
        try JSONDecoder().decode(ImportedLine.self, from: Data(text.utf8))
    }

    @Test func validLinesDecode() throws {
        #expect(
            try decode(#"{"channel":"c","policy":"open"}"#) == .channel(ImportedChannel(channel: "c", policy: .open)))
        #expect(
            try decode(
                #"{"channel":"c","policy":"inviteOnly","members":["Ann",{"id":"7","name":"Bob","subject":"s"}]}"#)
                == .channel(
                    ImportedChannel(
                        channel: "c", policy: .inviteOnly,
                        members: [.nickname("Ann"), .account(id: "7", name: "Bob", subject: "s")])))
        #expect(
            try decode(#"{"channel":"c","policy":"inviteOnly","members":null}"#)
                == .channel(ImportedChannel(channel: "c", policy: .inviteOnly)))
    }

    @Test(arguments: [
        #"{"channel":"c","policy":"residents"}"#, #"{"channel":"c","policy":"secret"}"#,
        #"{"channel":"c","policy":null}"#,
        #"{"policy":"open"}"#, #"{"channel":7,"policy":"open"}"#, #"{"channel":"c","policy":"open","members":"Ann"}"#,
        #"{"channel":"c","policy":"open","members":[7]}"#, #"{"channel":"c","policy":"open","history":"all"}"#,
        #"{"channel":"c","members":["Ann"]}"#, #"{"channel":"c","policy":"open","user":"Ann"}"#,
        "{\"channel\":\"#c\",\"policy\":\"open\",\"members\":[" + String(repeating: "\"a\",", count: 10_000)
            + "\"a\"]}",
    ])
    func invalidLinesAreRejected(text: String) { #expect(throws: DecodingError.self) { try decode(text) } }
}
