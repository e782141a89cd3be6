public import ChatDomain
import Projections

extension PinsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> ItemList<Post> {
        let rows = try reader.query { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            return models.marking(
                models.pinnedMessages(of: thread, asOf: view.position, after: start), in: thread, from: view)
        }
        return ItemList(items: try reader.store.posts(rows, in: thread))
    }
}

extension ChatReader {
    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of messages that were ever pinned in the thread;
    ///   reads the texts of the returned ones, which are at most 50.
    public func pins(in thread: ThreadID) throws(ChatError) -> [Post] {
        try answer(PinsQuery(thread: thread)).items
    }
}
