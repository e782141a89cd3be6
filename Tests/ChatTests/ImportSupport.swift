import ChatDomain
import Testing

@testable import Chat

/// Returns an imported message with a fixed time and a body derived from its id.
func imported(_ id: String, by user: String, in channel: String = "#rust", to replyTo: String? = nil) -> ImportedMessage
{
    ImportedMessage(
        sentAt: Timestamp(millisecondsSince1970: 1_100_000_000_000), channel: channel, user: .nickname(user), id: id,
        replyTo: replyTo,
        body: "body of \(id)")
}

/// Imports messages as a file with one line each.
func importAll(_ messages: [ImportedMessage], into store: ChatStore, batchSize: Int) throws -> (
    ImportSummary, [RejectedLine]
) {
    var importer = MessageImporter(into: store, batchSize: batchSize)
    var refused: [RejectedLine] = []
    for (index, message) in messages.enumerated() { refused += try importer.add(message, line: index + 1) }
    refused += try importer.finish()
    return (importer.summary, refused)
}

/// Expects every line to be a duplicate that appends nothing, for batch sizes 1 and 1000.
func expectNoChange(
    _ messages: [ImportedMessage], _ store: ChatStore, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let head = store.head
    for batchSize in [1, 1_000] {
        let (summary, refused) = try importAll(messages, into: store, batchSize: batchSize)
        #expect(summary == ImportSummary(duplicates: messages.count), "\(refused)", sourceLocation: sourceLocation)
        #expect(store.head == head, sourceLocation: sourceLocation)
    }
}

extension ThreadID {
    /// Returns the thread id of a channel.
    static func imported(_ channel: String) -> ThreadID {
        OutwardCode(channel).map { ThreadID($0) } ?? ImportedID.thread(channel)
    }
}
