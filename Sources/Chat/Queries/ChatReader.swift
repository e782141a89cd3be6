import ChatDomain
import Projections

/// The queries of a store for one viewer, as of one point: who asks is said once.
///
/// A reader holds no state of the store: as of ``AsOf/now``, each query shows what is durable then.
public struct ChatReader: Sendable {
    /// The store.
    public let store: ChatStore
    /// Who asks.
    public let viewer: Viewer
    /// The point in the history to read as of.
    public let point: AsOf
}

/// A query that a store computes.
///
/// The file of its topic has the computation, over the read models, and the function of
/// ``ChatReader`` that asks it.
public protocol StoreQuery: ChatQuery {
    /// Computes the answer for the viewer of a reader, as of its point.
    func answer(from reader: ChatReader) throws(ChatError) -> Answer
}

extension ChatStore {
    /// Returns the queries for one viewer, as of one point.
    public func reader(as viewer: Viewer, asOf point: AsOf = .now) -> ChatReader {
        ChatReader(store: self, viewer: viewer, point: point)
    }
}

extension ChatReader {
    /// Returns the answer of a query.
    ///
    /// - Throws: As the function of the reader that asks the same.
    public func answer<Query: StoreQuery>(_ query: Query) throws(ChatError) -> Query.Answer {
        try query.answer(from: self)
    }
}

// MARK: What computations use

extension ChatReader {
    /// Returns the user whom a query is about, by default the viewer.
    func user(orViewer user: UserID?) throws(ChatError) -> UserID {
        guard let user = user ?? viewer.user else { throw .rejected(.unknownUser) }
        return user
    }

    /// Queries the read models, as `ChatStore.query(_:as:_:)`.
    func query<Value>(_ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value) throws(ChatError) -> Value {
        try store.query(point, as: viewer, body)
    }

    /// Starts a query of several sections, as `ChatStore.sections(_:as:_:)`.
    func sections<Value>(
        _ body: (borrowing ReadModels, Viewpoint) throws(ChatError) -> Value
    ) throws(ChatError) -> (Value, SectionedQuery) {
        try store.sections(point, as: viewer, body)
    }
}
