import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// The lazily created events of a receipt equal those of the journal.
@Suite struct ReceiptEventsTests {
    private static let kinds: Set<EventKind> = Set(EventKind.allCases).subtracting([
        .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired,
    ])

    /// A kind that is to occur in an import, or with a correlation id.
    private struct Seen {
        let kind: EventKind
        let isImport: Bool

        init(_ kind: EventKind, _ isImport: Bool) { (self.kind, self.isImport) = (kind, isImport) }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func receiptEventsEqualJournalEvents(seed: UInt64) throws {
        let store = try StoreFixture(seed: seed, durability: .written).open()
        var generator = CommandGenerator(seed: seed)
        var receipts: [(receipt: Receipt, request: CommandRequest)] = []
        // By default, until every kind has occurred with a correlation id and in an import.
        var missing = Self.kinds.subtracting([.threadMarkedUnread]).flatMap { [Seen($0, true), Seen($0, false)] }
        for batch in 0..<20_000 where Repetitions.areAll || batch < 500 || !missing.isEmpty {
            let requests = (0...batch % 4).map { number -> CommandRequest in
                var request = generator.nextRequest()
                if (batch + number).isMultiple(of: 2) { request.correlation = "batch \(batch)" }
                if (batch + number).isMultiple(of: 3) {
                    request.origin = .imported(sentAt: Timestamp(millisecondsSince1970: 1_000 * Int64(batch)))
                }
                return request
            }
            for (answer, request) in zip(try store.executeBlocking(requests), requests) {
                guard case .success(let receipt) = answer else { continue }
                receipts.append((receipt, request))
                if receipt.isDuplicate { continue }
                let kinds = Set(receipt.events.compactMap(\.kind))
                missing.removeAll {
                    kinds.contains($0.kind) && ($0.isImport ? request.origin != .native : request.correlation != nil)
                }
            }
        }
        // The generator seldom marks as unread what its user has read.
        let (reader, room) = (UserID(bits: 0xABC), ThreadID(bits: 0xDEF))
        let last: [ChatCommand] = [
            .registerUser(id: reader, username: "Reader of all"), .openThread(id: room, name: "Room", by: reader),
            .markRead(thread: room, upTo: 3, by: reader), .markUnread(thread: room, from: 2, by: reader),
        ]
        let requests = last.map { CommandRequest($0, correlation: "last", origin: .imported(sentAt: nil)) }
        for (answer, request) in zip(try store.executeBlocking(requests), requests) {
            receipts.append((try answer.get(), request))
        }
        let events = try store.allEvents()
        var correlated: Set<EventKind> = []
        var imported: Set<EventKind> = []
        for (receipt, request) in receipts where !receipt.isDuplicate {
            guard let positions = receipt.positions else {
                #expect(receipt.events == [])
                continue
            }
            let recorded = Array(events[Int(positions.lowerBound) - 1..<Int(positions.upperBound)])
            #expect(receipt.events == recorded, "\(request)")
            // What the command did to others has none.
            let own = recorded.filter { request.command.actor == nil || $0.event.actor == request.command.actor }
            #expect(recorded.allSatisfy { $0.event.correlation == (own.contains($0) ? request.correlation : nil) })
            let kinds = recorded.compactMap(\.event.kind)
            if request.correlation != nil { correlated.formUnion(kinds) }
            if request.origin != .native { imported.formUnion(kinds) }
        }
        #expect(Self.kinds.subtracting(correlated).map(\.name) == [])
        #expect(Self.kinds.subtracting(imported).map(\.name) == [])
    }
}
