public import Chat
import ChatDomain
import Foundation
import Projections
import TestSupport
import Testing

@testable import ChatWire

extension UInt64: PageEntry, @retroactive Identifiable {
    /// A position is its own key.
    public var pageKey: UInt64 { self }
}

/// Pages that are selected from a complete list.
@Suite struct PageEncodingTests {
    private func page(_ all: [Position], _ request: PageRequest, asOf now: Position = 200) -> Page<Position> {
        let range = request.indices(count: all.count) { all[$0] }
        return Page(
            Array(all[range]), from: all[range].first, to: all[range].last, hasOlder: range.lowerBound > 0, request,
            asOf: now)
    }

    /// A page as a client reads it.
    private struct Read: Decodable {
        let items: [Position]
        let older: Position?
        let newer: Position
        let more: Bool?
    }

    private func page(_ all: [Position], _ request: PageRequest, within limit: ListLimit) throws -> Read {
        var line: [UInt8] = []
        try JSONLineEncoder(listLimit: limit, page: request).encode(page(all, request), into: &line)
        return try JSONDecoder().decode(Read.self, from: Data(line))
    }

    /// A client decodes the answer as the page of the store, with the default limit.
    @Test func answerIsDecodedAsAPage() throws {
        var line: [UInt8] = []
        try JSONLineEncoder(listLimit: .answer).encode(page([3, 5, 8], PageRequest.latest(2)), into: &line)
        let page = try JSONDecoder().decode(Page<Position>.self, from: Data(line))
        #expect(page == Page(entries: [5, 8], older: .before(5), newer: .after(8)))
    }

    /// The bounds of every page lead through the whole list, in both directions, from any position.
    @Test func boundsLeadThroughTheWholeList() {
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<Repetitions.few(300, of: 10_000) {
            var last: Position = 0
            let all = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                last += UInt64.random(in: 1...5, using: &random)
                return last
            }
            let limit = Int.random(in: 1...8, using: &random)
            let bound = UInt64.random(in: 0...last + 5, using: &random)
            for start in [
                PageRequest.latest(limit), PageRequest.before(bound, limit: limit),
                PageRequest.after(bound, limit: limit),
                PageRequest.around(bound, limit: limit),
            ] {
                let first = page(all, start)
                var (older, newer) = (first, first)
                var found = first.entries
                while let request = older.older {
                    older = page(all, request)
                    #expect(!older.isEmpty, "no older items for \(request) in \(all)")
                    if older.isEmpty { return }
                    found = older + found
                }
                while true {
                    newer = page(all, newer.newer)
                    if newer.isEmpty { break }
                    found += newer
                }
                #expect(found == all, "from \(start)")
                #expect(first.count <= limit)
            }
        }
    }

    /// The bounds of pages that are cut lead through the whole list too.
    @Test func boundsOfCutPagesLeadThroughTheWholeList() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        var cutCount = 0
        for _ in 0..<Repetitions.few(300, of: 10_000) {
            let all = (0..<Int.random(in: 0...30, using: &random)).map { Position(10 + 3 * $0) }
            let limit = ListLimit(
                count: Int.random(in: 1...9, using: &random), byteCount: Int.random(in: 1...30, using: &random))
            let size = Int.random(in: 1...12, using: &random)
            var (backwards, bound): ([Position], Position?) = ([], nil)
            repeat {
                let page = try page(all, PageRequest(limit: size, before: bound), within: limit)
                #expect(page.items.count <= min(size, limit.count) && (all.isEmpty || !page.items.isEmpty))
                #expect(page.more == nil || page.items.count < size && page.more == true)
                cutCount += page.more == nil ? 0 : 1
                (backwards, bound) = (page.items + backwards, page.older)
            } while bound != nil && backwards.count <= all.count
            #expect(backwards == all)
            var (forwards, newer): ([Position], Position) = ([], 0)
            while true {
                let page = try page(all, PageRequest.after(newer, limit: size), within: limit)
                if page.items.isEmpty || forwards.count > all.count { break }
                (forwards, newer) = (forwards + page.items, page.newer)
            }
            #expect(forwards == all)
        }
        #expect(cutCount > 0)
    }

    /// A page around a position that is cut keeps the item there, and its bounds lead through the
    /// whole list.
    @Test func cutPageAroundAPositionKeepsIt() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        var cutCount = 0
        for _ in 0..<Repetitions.few(300, of: 10_000) {
            let all = (0..<Int.random(in: 1...30, using: &random)).map { Position(10 + 3 * $0) }
            let limit = ListLimit(
                count: Int.random(in: 1...9, using: &random), byteCount: Int.random(in: 1...30, using: &random))
            let around = Position.random(in: 5...all[all.count - 1] + 5, using: &random)
            let centre = try page(
                all, PageRequest.around(around, limit: Int.random(in: 1...12, using: &random)), within: limit)
            if let first = all.first(where: { $0 >= around }) {
                #expect(centre.items.contains(first), "\(first) in \(centre.items)")
            }
            cutCount += centre.more == nil ? 0 : 1
            let older = centre.older.map { bound in all.filter { $0 < bound } } ?? []
            #expect(older + centre.items + all.filter { $0 > centre.newer } == all, "around \(around)")
        }
        #expect(cutCount > 0)
    }

    /// A client computes with doubles, so a bound is never much larger than the positions it sent.
    @Test func boundsStayNearThePositions() {
        for request in [
            PageRequest.after(9, limit: 5), PageRequest.after(3, limit: 5), PageRequest.before(1, limit: 5),
            PageRequest.latest(5),
            PageRequest.after(.max, limit: 5), PageRequest.before(.max, limit: 5),
        ] {
            let page = page([1, 2, 3], request, asOf: 9)
            #expect(page.older?.before ?? 0 <= 10)
            #expect(page.newer.after ?? 0 <= max(10, request.after ?? 0))
        }
    }

    /// A page of a host program that is too large for an answer leads to the entries that it lacks.
    @Test func pageOfAHostProgramLeadsToWhatIsCut() throws {
        let all = Page(entries: (1...300).map { Position($0) }, newer: .after(300))
        guard case .bytes(let bytes) = try WireResponse(json: all).body else {
            Issue.record("no bytes")
            return
        }
        let read = try JSONDecoder().decode(Read.self, from: Data(bytes))
        #expect(read.items.count == ListLimit.answer.count && read.more == true)
        let older = read.older.map { bound in all.filter { $0 < bound } } ?? []
        #expect(older + read.items + all.filter { $0 > read.newer } == all.entries)
    }

    /// The page of an object is cut like one that is the answer, and so is that of an inbox.
    @Test func pageWithinAnObjectLeadsToWhatIsCut() throws {
        let request = PageRequest.after(0, limit: 9)
        func text(_ value: some Encodable) throws -> String {
            var line: [UInt8] = []
            try JSONLineEncoder(listLimit: ListLimit(count: 2, byteCount: 1_000), page: request).encode(
                value, into: &line)
            return String(decoding: line, as: UTF8.self)
        }
        let page = page([3, 5, 8], request)
        #expect(try text(["threads": page]) == #"{"threads":{"items":[3,5],"older":null,"newer":5,"more":true}}"#)
        let entries = (1...3).map { position in
            InboxEntry(
                position: position, reason: .mention, thread: ThreadID(bits: 1), by: UserSummary(id: UserID(bits: 2)),
                createdAt: Timestamp(millisecondsSince1970: 0), isUnread: true)
        }
        let answer = InboxAnswer(
            page: Page(entries: entries.reversed(), newer: .after(3)), unread: InboxCount(count: 3))
        // The newest of an inbox come first, and those nearest to the bound of `after` are the last.
        let json = try text(answer)
        #expect(json.hasSuffix(#""older":null,"newer":2,"unread":{"count":3},"more":true}"#), "\(json)")
        let read = try JSONDecoder().decode(InboxAnswer.self, from: Data(json.utf8))
        #expect(read.page.map(\.position) == [2, 1] && read.page.isTruncated && read.unread == answer.unread)
    }

    /// An empty list has as its end the position that it was read as of.
    @Test func emptyListHasAnEmptyPage() throws {
        #expect(try json(page([], PageRequest.latest(5), asOf: 9)) == #"{"items":[],"older":null,"newer":9}"#)
        #expect(try json(page([4], PageRequest.latest(5), asOf: 9)) == #"{"items":[4],"older":null,"newer":4}"#)
    }
}
