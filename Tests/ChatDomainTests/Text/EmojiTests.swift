import Foundation
import Testing

@testable import ChatDomain

@Suite struct EmojiTests {
    @Test(arguments: [
        "😀", "👍", "👍🏻", "👍🏽", "👍🏿", "❤️", "☺️", "🇬🇧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👨‍👩‍👧‍👦", "🏳️‍🌈", "1️⃣", "#️⃣", "*️⃣", "🔟", "👩🏾‍❤️‍💋‍👨🏻", "👩🏾‍❤️‍💋‍👨🏾", "🫱🏿‍🫲🏻", "🧔🏽‍♀️",
        "👁️‍🗨️",
    ])
    func qualifiedSequencesAreAcceptedAsWritten(_ text: String) {
        #expect(Emoji(text)?.text.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        #expect(Emoji(text)?.isName == false)
    }

    @Test(arguments: [
        ("\u{2764}", "\u{2764}\u{FE0F}"), ("\u{A9}", "\u{A9}\u{FE0F}"), ("1\u{20E3}", "1\u{FE0F}\u{20E3}"),
        // The rainbow flag, and a detective with a tone, of which only the sign of the man has a
        // selector.
        ("\u{1F3F3}\u{200D}\u{1F308}", "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308}"),
        ("\u{1F575}\u{1F3FE}\u{200D}\u{2642}", "\u{1F575}\u{1F3FE}\u{200D}\u{2642}\u{FE0F}"),
        // The eye in a speech bubble has two; each of them can be missing.
        ("\u{1F441}\u{200D}\u{1F5E8}\u{FE0F}", "\u{1F441}\u{FE0F}\u{200D}\u{1F5E8}\u{FE0F}"),
        ("\u{1F441}\u{FE0F}\u{200D}\u{1F5E8}", "\u{1F441}\u{FE0F}\u{200D}\u{1F5E8}\u{FE0F}"),
        ("\u{1F441}\u{200D}\u{1F5E8}", "\u{1F441}\u{FE0F}\u{200D}\u{1F5E8}\u{FE0F}"),
    ])
    func missingSelectorsAreAdded(_ written: String, _ qualified: String) throws {
        let emoji = try #require(Emoji(written))
        #expect(emoji.text.unicodeScalars.elementsEqual(qualified.unicodeScalars))
        #expect(emoji == Emoji(qualified))
    }

    /// Apple's keyboards send a selector also where colours are the default.
    @Test(arguments: [
        ("👍\u{FE0F}", "👍"), ("👍🏽\u{FE0F}", "👍🏽"), ("🇬🇧\u{FE0F}", "🇬🇧"), ("👩\u{FE0F}\u{200D}🚀\u{FE0F}", "👩\u{200D}🚀"),
        ("\u{2764}\u{200D}🔥\u{FE0F}", "\u{2764}\u{FE0F}\u{200D}🔥"),
        // The longest, with every selector that it can have.
        (
            "👩🏾\u{FE0F}\u{200D}\u{2764}\u{FE0F}\u{200D}💋\u{FE0F}\u{200D}👨🏻\u{FE0F}",
            "👩🏾\u{200D}\u{2764}\u{FE0F}\u{200D}💋\u{200D}👨🏻"
        ),
    ])
    func selectorsAfterEmojiInColourAreLeftOut(_ written: String, _ qualified: String) throws {
        let emoji = try #require(Emoji(written))
        #expect(emoji.text.unicodeScalars.elementsEqual(qualified.unicodeScalars))
        #expect(emoji == Emoji(qualified))
    }

    @Test(arguments: [
        "", " ", "a", "1", "#", "👍 ", " 👍", "👍\n", "👍a", "a👍", "👍👍", "😀👍🏽", "🇬🇧🇫🇷", "1️⃣2️⃣", "🏽", "🦰", "\u{FE0F}", "\u{200D}",
        "\u{20E3}", "🇬",
        "👍\u{FE0E}", "\u{2764}\u{FE0E}", "\u{2764}\u{FE0F}\u{FE0F}", "👍\u{FE0F}\u{FE0F}", "👍\u{FE0F}🏽", "\u{FE0F}👍", "👍🏽🏽",
        "👍🏽🏻", "👍\u{200D}",
        "\u{200D}👍", "👍\u{0}",
        "🦿🏽", "👨🏽‍👩‍👧", "👪🏽", "🇽🇽", "★", "é", "👍\u{301}", "🏴󠁧󠁢󠁥󠁮󠁧", "1\u{20E3}\u{FE0F}",
    ])
    func otherTextsAreRejected(_ text: String) {
        #expect(Emoji(text) == nil)
    }

    @Test(arguments: ["shipit", "a", "0", "_", "+1", "-1", "blob-cat_2", String(repeating: "z", count: 32)])
    func namesAreAccepted(_ name: String) {
        let emoji = Emoji(":\(name):")
        #expect(emoji?.text == ":\(name):")
        #expect(emoji?.isName == true)
    }

    @Test(arguments: [
        ":", "::", ":::", "shipit", ":shipit", "shipit:", ":Shipit:", ":ship it:", ":ship:it:", ":é:", ":e\u{301}:",
        ":a.b:", ":a\u{0}:",
        ":ａ:", ":👍:",
        " :a:", ":a:\n", ":\(String(repeating: "z", count: 33)):",
    ])
    func otherNamesAreRejected(_ text: String) {
        #expect(Emoji(text) == nil)
    }

    @Test func longTextsAreRejected() {
        let million = 1 << 20
        #expect(Emoji(String(repeating: "👍", count: million)) == nil)
        #expect(Emoji("👍" + String(repeating: "\u{FE0F}", count: million)) == nil)
        #expect(Emoji(":" + String(repeating: "a", count: million) + ":") == nil)
        #expect(Emoji(String(repeating: "🏽", count: million)) == nil)
        #expect(Emoji("👍" + String(repeating: "\u{FE0F}", count: 10)) == nil)
    }

    @Test func emojiIsAStringInJSON() throws {
        let emoji = try #require(Emoji("\u{2764}"))
        let text = String(decoding: try JSONEncoder().encode([emoji]), as: UTF8.self)
        #expect(text == "[\"\u{2764}\u{FE0F}\"]")
        #expect(emoji.description == emoji.text)
        #expect(
            try JSONDecoder().decode([Emoji].self, from: Data("[\"\u{2764}\", \":+1:\"]".utf8)) == [
                emoji, #require(Emoji(":+1:")),
            ])
        for wrong in ["[\"a\"]", "[1]", "[null]"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([Emoji].self, from: Data(wrong.utf8)) }
        }
    }

    /// A journal of a later version can have an emoji that this one does not know.
    @Test func recordedTextIsNotChecked() {
        #expect(Emoji(recorded: "\u{1FAE9}").text == "\u{1FAE9}")
        #expect(Emoji(recorded: "\u{1FAE9}").isName == false)
        #expect(Emoji("\u{1FAE9}") == nil)
    }

    /// The lines of `emoji-test.txt`: a text, and its status.
    struct TestFile {
        static let path = "/usr/share/unicode/emoji/emoji-test.txt"
        static var exists: Bool { FileManager.default.isReadableFile(atPath: path) }

        var version = ""
        var lines: [(text: String, status: String)] = []

        init() throws {
            let file = String(decoding: try Data(contentsOf: URL(fileURLWithPath: Self.path)), as: UTF8.self)
            for line in file.split(whereSeparator: \.isNewline) {
                if line.hasPrefix("# Version: ") { version = String(line.dropFirst(11)) }
                guard !line.hasPrefix("#") else { continue }
                let fields = line.split(separator: "#")[0].split(separator: ";").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                var text = String.UnicodeScalarView()
                text.append(
                    contentsOf: fields[0].split(separator: " ").compactMap {
                        UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
                    })
                lines.append((String(text), fields[1]))
            }
        }
    }

    @Test(.enabled(if: TestFile.exists, "Debian's package unicode-data is not installed"))
    func everyLineOfUnicodesFileIsJudgedByItsStatus() throws {
        let file = try TestFile()
        #expect(file.lines.count > 4_000)
        // A later file has more emoji; those of this version keep their status.
        let isSameVersion = file.version == Emoji.unicodeVersion
        var qualified: [[Unicode.Scalar]: String] = [:]
        let bare = { (text: String) in text.unicodeScalars.filter { $0 != "\u{FE0F}" }.map { $0 } }
        for line in file.lines where line.status == "fully-qualified" { qualified[bare(line.text)] = line.text }
        for line in file.lines {
            let scalars = line.text.unicodeScalars.map { String($0.value, radix: 16) }
            switch line.status {
            case "component":
                #expect(Emoji(line.text) == nil, "\(scalars)")
            case "fully-qualified", "minimally-qualified", "unqualified":
                let expected = try #require(qualified[bare(line.text)])
                guard isSameVersion || Emoji(line.text) != nil else { continue }
                #expect(
                    Emoji(line.text)?.text.unicodeScalars.elementsEqual(expected.unicodeScalars) == true, "\(scalars)")
                #expect(expected.utf8.count <= Emoji.maximumByteCount)
                let isInColour = expected.unicodeScalars.last?.properties.isEmojiPresentation == true
                #expect((Emoji(expected + "\u{FE0F}")?.text == expected) == isInColour, "\(scalars)")
                #expect(
                    Emoji(line.text + "\u{FE0F}\u{FE0F}") == nil && Emoji(line.text + "👍") == nil
                        && Emoji("a" + line.text) == nil)
            default:
                Issue.record("an unknown status: \(line.status)")
            }
        }
    }
}
