import ChatDomain
import ChatTesting
import ChatWire
import EventJournal

@testable import Chat
@testable import ToolInput

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The inputs of the corpus that are made by code: of the ``ShortHistory`` values and of
/// checkpoints.
enum SeedInputs {
    /// Writes every input to the folder of its target, in the folder of the corpus.
    static func write(to corpus: String) throws {
        for history in ShortHistory.all {
            let events = try exportedEvents(of: history)
            let (commandLines, eventLines) = (try lines(history.requests), try lines(events))
            try write(encoded(events), corpus, .events, history.name)
            try write(encoded(events), corpus, .storeEvents, history.name)
            try write(Array(commandLines.joined()), corpus, .storeCommands, history.name)
            try write(Array(eventLines.joined()), corpus, .storeEventImports, history.name)
            for (kind, lines) in [("commands", commandLines), ("events", eventLines)] {
                // In two inputs, because the harness reads at most 4,096 bytes.
                let (first, second) = (lines.prefix(lines.count / 2), lines.dropFirst(lines.count / 2))
                for (number, part) in [first, second].enumerated() {
                    // The first byte is the limit of a line.
                    try write([255] + part.joined(), corpus, .lines, "\(kind)-\(history.name)-\(number + 1)")
                }
            }
        }
        for (name, input, _) in try SocketHarness.inputs() { try write(input, corpus, .sockets, name) }
        for (name, input) in try LedgerHarness.inputs() { try write(input, corpus, .ledgers, name) }
        for (name, input) in try EvidenceHarness.inputs() { try write(input, corpus, .evidence, name) }
        for (name, input) in try CheckpointInputs.all() { try write(input, corpus, .checkpoints, name) }
    }

    private static func write(_ input: [UInt8], _ corpus: String, _ target: FuzzTarget, _ name: String) throws {
        let folder = URL(filePath: corpus).appending(path: target.rawValue)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(input).write(to: folder.appending(path: name))
    }

    private static func exportedEvents(of history: ShortHistory) throws -> [ExportedEvent] {
        let options = StoreOptions(
            journal: JournalOptions(entropy: SeededEntropy(seed: 1)), clock: ManualClock(), ids: SeededIDs(seed: 1),
            checkpoints: nil)
        let store = try ChatStore.inMemory(options: options)
        for request in history.requests { _ = try store.executeBlocking([request]) }
        var events: [ExportedEvent] = []
        try store.forEachExportedEvent { event, _ in events.append(event) }
        try store.close()
        return events
    }

    /// Returns the records as in the inputs of `events`: the lengths of the parts, and the parts.
    private static func encoded(_ events: [ExportedEvent]) -> [UInt8] {
        var encoder = EventEncoder()
        return events.flatMap { event -> [UInt8] in
            encoder.encode(event.recorded.event)
            return [UInt8(encoder.kept.count), UInt8(encoder.erasable.count)] + encoder.kept + encoder.erasable
        }
    }

    private static func lines(_ values: [some Encodable]) throws -> [[UInt8]] {
        try values.map { value in
            var line: [UInt8] = []
            try JSONLineEncoder().encode(value, into: &line)
            return line + [UInt8(ascii: "\n")]
        }
    }
}
