import ChatDomain
import Testing

@Suite struct ThreadNameTests {
    @Test(arguments: ["Milk run", "general", "SW1A 1AA", "SW", "SW1A!", "district SW1A", "ｓｗ１ａ", "#c++"])
    func ordinaryNamesAreAccepted(_ text: String) {
        #expect(ThreadName(text)?.text == text)
    }

    @Test(arguments: [
        "SW1A", "sw1a", " Sw1a ", "\tSW1A\n", "\u{3000}m1\u{A0}", "S01", "N1P", "SW\u{200D}1A", "s\u{FE0F}w1a",
    ])
    func outwardCodesAreRejected(_ text: String) {
        #expect(ThreadName(text) == nil)
    }

    @Test func lengthIsBounded() {
        #expect(ThreadName(String(repeating: "x", count: 120)) != nil)
        #expect(ThreadName(String(repeating: "x", count: 121)) == nil)
        #expect(ThreadName("") == nil)
        #expect(ThreadName(" \u{2003}\n") == nil)
        #expect(ThreadName(String(repeating: " ", count: 4095) + "x")?.text == "x")
        #expect(ThreadName(String(repeating: " ", count: 4096) + "x") == nil)
    }

    @Test(arguments: ["a\u{202E}b", "a\u{378}b", "\u{1B}[2J", "a\u{2800}b", "\u{3164}"])
    func invisibleScalarsAreRejected(_ text: String) {
        #expect(ThreadName(text) == nil)
    }

    @Test func whiteSpaceBecomesSingleSpaces() {
        #expect(ThreadName("\u{A0} Milk \u{2003}run\n")?.text == "Milk run")
    }

    @Test func recordedNamesAreNotRevalidated() {
        #expect(ThreadName(recorded: "SW1A").text == "SW1A")
    }
}
