/// The scalars of a post's text in which a name can stand: all but code, links and addresses.
///
/// The marks are those that the web page draws (`markdown.js`), with one difference: what has the
/// form of an address is one here, also if a browser cannot open it.
struct PlainText {
    /// The scalars without ignorable ones; ``gap`` stands for what is left out, and between blocks.
    private(set) var scalars: [Unicode.Scalar] = []

    /// A scalar that no name has, and that is no part of a word.
    static let gap: Unicode.Scalar = "\0"

    /// The maximum depth of blocks inside blocks.
    private static let maximumDepth = 5

    private let text: [Unicode.Scalar]

    /// - Complexity: O(*n*) in the length of the text.
    init(_ body: String) {
        text = Array(body.unicodeScalars)
        var lines: [Range<Int>] = []
        var start = 0
        for index in text.indices where text[index] == "\n" {
            lines.append(start..<index)
            start = index + 1
        }
        lines.append(start..<text.count)
        append(blocks: lines, depth: 0)
    }
}

/// Blocks: fenced code, quotes, lists and paragraphs.
extension PlainText {
    private mutating func append(blocks lines: [Range<Int>], depth: Int) {
        var paragraph: [Range<Int>] = []
        // Where no further fence follows, none is looked for again.
        let lastFence = (lines.lastIndex { isFenceEnd($0) } ?? -1)
        var index = 0
        while index < lines.count {
            let line = lines[index]
            if index < lastFence, isFence(line) {
                append(paragraph: &paragraph)
                index += 1
                while !isFenceEnd(lines[index]) { index += 1 }
                index += 1
            } else if depth < Self.maximumDepth, isQuoted(line) {
                append(paragraph: &paragraph)
                var quoted: [Range<Int>] = []
                while index < lines.count, isQuoted(lines[index]) {
                    let line = lines[index].dropFirst()
                    quoted.append(line.first.map { text[$0] == " " } ?? false ? line.dropFirst() : line)
                    index += 1
                }
                append(blocks: quoted, depth: depth + 1)
            } else if depth < Self.maximumDepth, let item = item(line) {
                append(paragraph: &paragraph)
                append(list: lines, from: &index, isNumbered: item.isNumbered, depth: depth)
            } else {
                paragraph.append(line)
                index += 1
            }
        }
        append(paragraph: &paragraph)
    }

    /// Appends the items of the list that begins at a line; lines that are indented belong to the
    /// item above.
    private mutating func append(
        list lines: [Range<Int>], from index: inout Int, isNumbered: Bool, depth: Int
    ) {
        while index < lines.count, let item = item(lines[index]), item.isNumbered == isNumbered {
            var own = [item.content]
            index += 1
            while index < lines.count {
                let indent = lines[index].prefix { text[$0] == " " }.count
                guard indent >= 2, indent < lines[index].count, !Self.isSpace(text[lines[index].lowerBound + indent])
                else { break }
                own.append(lines[index].dropFirst(min(indent, 4)))
                index += 1
            }
            append(blocks: own, depth: depth + 1)
        }
    }

    private func isFence(_ line: Range<Int>) -> Bool {
        guard text[line].starts(with: "```".unicodeScalars) else { return false }
        let rest = text[line].dropFirst(3)
        let language = rest.prefix { Self.isASCIIWord($0) || "+#.-".unicodeScalars.contains($0) }
        return language.count <= 20 && rest.dropFirst(language.count).allSatisfy(Self.isSpace)
    }

    private func isFenceEnd(_ line: Range<Int>) -> Bool {
        let rest = text[line].drop(while: Self.isSpace)
        return rest.starts(with: "```".unicodeScalars) && rest.dropFirst(3).allSatisfy(Self.isSpace)
    }

    private func isQuoted(_ line: Range<Int>) -> Bool { line.first.map { text[$0] == ">" } ?? false }

    /// Returns the text of the list item that a line is; nil if it is none.
    private func item(_ line: Range<Int>) -> (content: Range<Int>, isNumbered: Bool)? {
        guard let first = line.first else { return nil }
        let digits = line.prefix(10).prefix { ("0"..."9").contains(text[$0]) }.count
        let mark = digits == 0 ? first : first + digits
        guard digits < 10, mark < line.upperBound,
            (digits == 0 ? "-*+" : ".)").unicodeScalars.contains(text[mark])
        else { return nil }
        let rest = mark + 1..<line.upperBound
        let content = rest.drop { text[$0] == " " }
        guard content.count < rest.count, let start = content.first, !Self.isSpace(text[start]) else { return nil }
        return (content, digits > 0)
    }

    /// Appends the lines of a paragraph without code, links and addresses, and removes them.
    private mutating func append(paragraph lines: inout [Range<Int>]) {
        if lines.isEmpty { return }
        let line = InlineText(Array(lines.map { text[$0] }.joined(separator: ["\n"])))
        lines.removeAll()
        var next = 0
        for gap in line.gaps {
            scalars.append(contentsOf: line.text[next..<gap.lowerBound].lazy.filter { !NameRules.isIgnorable($0) })
            scalars.append(Self.gap)
            next = gap.upperBound
        }
        scalars.append(contentsOf: line.text[next...].lazy.filter { !NameRules.isIgnorable($0) })
        scalars.append(Self.gap)
    }

    /// Whether a browser takes a scalar for white space.
    fileprivate static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isWhiteSpace && scalar.value != 0x85 || scalar.value == 0xFEFF
    }

    fileprivate static func isASCIIWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
}

/// The text of a paragraph, and its code, links and addresses.
private struct InlineText {
    let text: [Unicode.Scalar]
    private(set) var gaps: [Range<Int>] = []
    /// The starts of the runs of backquotes that may still end code, by length, the last one first.
    private var runs: [Int: [Int]] = [:]

    init(_ text: [Unicode.Scalar]) {
        self.text = text
        findRuns()
        var next = 0
        while next < text.count {
            let start = next
            switch text[start] {
            case "\\": next += start + 1 < text.count && Self.escapable.contains(text[start + 1]) ? 2 : 1
            case "`": if let end = endOfCode(&next) { add(start..<end, &next) }
            case "[": if let end = endOfLink(start) { add(start..<end, &next) } else { next += 1 }
            default: if let end = endOfAddress(start) { add(start..<end, &next) } else { next += 1 }
            }
        }
    }

    private static let escapable: Set<Unicode.Scalar> = ["\\", "*", "~", "`", "[", "]", ">", "#", "-"]

    private mutating func add(_ gap: Range<Int>, _ next: inout Int) {
        gaps.append(gap)
        next = gap.upperBound
    }

    private mutating func findRuns() {
        var end = text.count
        while let last = text[..<end].lastIndex(of: "`") {
            let start = (text[..<last].lastIndex { $0 != "`" } ?? -1) + 1
            runs[last + 1 - start, default: []].append(start)
            end = start
        }
    }

    /// Returns the end of the code that begins with a run of backquotes; moves to the end of the
    /// run.
    private mutating func endOfCode(_ next: inout Int) -> Int? {
        let start = next
        next = text[start...].firstIndex { $0 != "`" } ?? text.count
        let length = next - start
        while let run = runs[length]?.last {
            if run >= next { return run + length }
            runs[length]?.removeLast()
        }
        return nil
    }

    /// Returns the end of a link with a text, `[text](address)`.
    private func endOfLink(_ start: Int) -> Int? {
        let label = text[(start + 1)...].prefix(301).prefix { scalar in
            scalar != "[" && scalar != "]" && scalar != "\n"
                && (!Self.isInvisible(scalar) || scalar == "\u{200C}" || scalar == "\u{200D}")
        }
        let middle = label.endIndex
        guard (1...300).contains(label.count), text[middle...].starts(with: "](".unicodeScalars),
            let scheme = endOfScheme(middle + 2)
        else { return nil }
        let target = text[scheme...].prefix(2001).prefix { Self.isOfAddress($0) && $0 != "(" && $0 != ")" }
        guard (1...2000).contains(target.count), target.endIndex < text.count, text[target.endIndex] == ")" else {
            return nil
        }
        return target.endIndex + 1
    }

    /// Returns the end of an address that begins at a scalar, with or without a scheme.
    private func endOfAddress(_ start: Int) -> Int? {
        guard Self.domainScalar(text[start]) != nil else { return nil }
        let before = start > 0 ? text[start - 1] : " "
        if MentionedNames.isOfWord(before) { return nil }
        if let scheme = endOfScheme(start), scheme < text.count, Self.isOfAddress(text[scheme]) {
            return withoutEnd(start..<(text[scheme...].firstIndex { !Self.isOfAddress($0) } ?? text.count))
        }
        if "@./:-".unicodeScalars.contains(before) { return nil }
        guard var end = endOfHost(start) else { return nil }
        if end < text.count, "/?#:".unicodeScalars.contains(text[end]) {
            end = text[end...].firstIndex { !Self.isOfAddress($0) } ?? text.count
        }
        return withoutEnd(start..<end)
    }

    /// Returns the end of `http://` or `https://`.
    private func endOfScheme(_ start: Int) -> Int? {
        let folded = text[start...].prefix(8).map { Self.domainScalar($0) ?? $0 }
        for scheme in ["https://", "http://"] where folded.starts(with: scheme.unicodeScalars) {
            return start + scheme.unicodeScalars.count
        }
        return nil
    }

    /// Returns the end of a host that begins with `www` or ends with a known domain.
    private func endOfHost(_ start: Int) -> Int? {
        // The ends of the first labels.
        var ends: [Int] = []
        var next = start
        while ends.count < 7 {
            let label = text[next...].prefix(64).prefix { Self.domainScalar($0) != nil }
            guard (1...63).contains(label.count) else { break }
            ends.append(label.endIndex)
            guard label.endIndex < text.count, text[label.endIndex] == "." else { break }
            next = label.endIndex + 1
        }
        func canEnd(_ end: Int) -> Bool {
            guard end < text.count else { return true }
            return !MentionedNames.isOfWord(text[end]) && text[end] != "@" && text[end] != "-"
        }
        func label(_ index: Int) -> String {
            let start = index == 0 ? start : ends[index - 1] + 1
            return String(String.UnicodeScalarView(text[start..<ends[index]].compactMap(Self.domainScalar)))
        }
        guard ends.count > 1 else { return nil }
        let others = (1...min(5, ends.count - 1)).reversed()
        if label(0) == "www", let last = others.first(where: { canEnd(ends[$0]) }) { return ends[last] }
        return others.first { canEnd(ends[$0]) && Self.domains.contains(label($0)) }.map { ends[$0] }
    }

    /// Returns the end of an address without the marks and closing brackets that belong to the
    /// sentence around it.
    private func withoutEnd(_ address: Range<Int>) -> Int {
        var counts: [Unicode.Scalar: Int] = [:]
        for scalar in text[address] { counts[scalar, default: 0] += 1 }
        var end = address.upperBound
        while end > address.lowerBound {
            let last = text[end - 1]
            let isUnopened =
                Self.openings[last].map { counts[last, default: 0] > counts[$0, default: 0] } ?? false
            guard ".,;:!?*_~".unicodeScalars.contains(last) || isUnopened else { break }
            counts[last, default: 0] -= 1
            end -= 1
        }
        return end
    }

    private static let openings: [Unicode.Scalar: Unicode.Scalar] = [")": "(", "]": "[", "}": "{"]

    private static func isOfAddress(_ scalar: Unicode.Scalar) -> Bool {
        !PlainText.isSpace(scalar) && !"<>\"'`".unicodeScalars.contains(scalar) && !isInvisible(scalar)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category == .control || category == .format
    }

    /// Returns a scalar of a label in lower case; nil for another one.
    ///
    /// LATIN SMALL LETTER LONG S and KELVIN SIGN fold to letters of ASCII.
    private static func domainScalar(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar {
        case "a"..."z", "0"..."9", "-": scalar
        case "A"..."Z": Unicode.Scalar(scalar.value + 32)
        case "\u{17F}": "s"
        case "\u{212A}": "k"
        default: nil
        }
    }

    private static let domains: Set<String> = [
        "com", "org", "net", "edu", "gov", "int", "info", "io", "app", "dev", "eu", "uk", "ie", "scot", "wales",
        "london", "de", "fr", "nl", "be", "es", "it", "ch", "at", "pl", "se", "dk", "no", "fi", "pt", "us", "ca", "au",
        "nz", "in", "me",
    ]
}
