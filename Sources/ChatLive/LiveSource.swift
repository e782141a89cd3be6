import ChatDomain
package import ChatValues

/// Where a live view reads its value: a store, or the local copy of a client.
///
/// Its functions are called on the main actor. Implementations read elsewhere.
package protocol LiveSource<Value, Change>: Sendable {
    associatedtype Value: Sendable
    associatedtype Change: Sendable

    /// Returns the whole value and the effects of everything that happens after it.
    ///
    /// A change may be newer than its effect, because it is read from the current state: applying
    /// it twice has the same effect as applying it once.
    func load() async throws(LiveFailure) -> LiveLoad<Value, Change>
}

/// A source of posts, of which a view shows the latest and loads earlier ones on demand.
package protocol LivePostsSource: LiveSource where Value == [Post], Change == LiveTimeline.Change {
    /// Returns the posts before a position, oldest first, and whether earlier ones precede them.
    ///
    /// The position is `Position.firstPending` if no confirmed post is displayed.
    func loadEarlier(before position: Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool)
}

/// A value that a source has loaded.
package struct LiveLoad<Value, Change> {
    package var value: Value
    /// Whether earlier entries precede the value.
    package var hasEarlier: Bool
    package var effects: any LiveEffects<Change>

    package init(_ value: Value, hasEarlier: Bool = false, effects: any LiveEffects<Change>) {
        (self.value, self.hasEarlier, self.effects) = (value, hasEarlier, effects)
    }
}

/// What happens to a value after it was loaded, read at the pace of the view.
///
/// An implementation bounds what waits: beyond ``LiveBacklog/limit`` changes it answers
/// `.reload(.outdated)`.
package protocol LiveEffects<Change> {
    associatedtype Change

    /// Returns the next effect; nil at cancellation or the end of the source.
    ///
    /// Is not called again after `.reload`, nil or an error.
    mutating func next() async throws(LiveFailure) -> LiveEffect<Change>?
}

/// An effect on the value of a live view.
package enum LiveEffect<Change> {
    /// The value changes in place.
    case change(Change)
    /// The whole value must be loaded again.
    case reload(LiveReload)
}

extension LiveEffect: Sendable where Change: Sendable {}

/// The reason why a value must be loaded again.
package enum LiveReload: Hashable, Sendable {
    /// The value is no longer current.
    case outdated
    /// The value may have what was erased, or what the viewer can no longer read.
    case forbidden
}

/// Why a source could not be read.
package struct LiveFailure: Error {
    package var error: any ChatFailure
    /// Whether the source has ended, for example because its store is closed: no error of the view.
    package var isEnd: Bool

    package init(_ error: any ChatFailure, isEnd: Bool = false) { (self.error, self.isEnd) = (error, isEnd) }
}

package enum LiveBacklog {
    /// The maximum number of waiting changes; beyond it, the whole value is loaded again.
    package static let limit = 1_000
}
