import ChatDomain
import EventJournal
import Projections

/// Hands a new event straight to a follower that has seen every earlier one; returns false to let
/// the follower's own task deliver it.
///
/// Called in journal order, one call after another, by the one thread that reads new events. It
/// must not wait, and not call the store.
package typealias LivePush = @Sendable (FollowedEvent, inout SharedTexts) -> Bool

/// Bounds how many followers hold events that they have read and not delivered.
package protocol FollowerSlots: Sendable {
    /// Waits for a slot; returns false, without one, if the task is cancelled.
    func take() async -> Bool
    func giveBack()
}

/// The texts of one new event: followers that are shown the same receive the same bytes.
///
/// A text belongs to what is shown, not to who sees it: the rights of each viewer are asked for
/// each event, and two viewers share a text only if the events that they are shown are equal.
package struct SharedTexts {
    private struct Text {
        let format: UInt64?
        let event: RecordedEvent
        let bytes: [UInt8]
    }

    /// More texts are made than kept if viewers are shown an event in more forms.
    private static let maximumCount = 16

    private var texts: [Text] = []

    /// Returns the text of an event in a format.
    ///
    /// - Parameters:
    ///   - format: What the text contains beside the event and its token.
    ///   - event: The event as one viewer is shown it.
    ///   - make: Makes the text.
    /// - Throws: What the closure throws.
    package mutating func text(
        _ format: UInt64?, of event: FollowedEvent, _ make: (FollowedEvent) throws -> [UInt8]
    ) rethrows -> [UInt8] {
        for text in texts where text.format == format && text.event == event.recorded { return text.bytes }
        let bytes = try make(event)
        if texts.count < Self.maximumCount { texts.append(Text(format: format, event: event.recorded, bytes: bytes)) }
        return bytes
    }
}

/// What becomes of a new event for a follower that waits for it.
enum LiveDelivery {
    /// The viewer does not see it.
    case none
    /// Deliver the event in this form.
    case event(RecordedEvent)
    /// The follower's task finds out: the event has notices, or changes what the viewer follows.
    case wake
}

extension ReadModels {
    /// Decides what becomes of a new event for a follower that waits for it.
    func delivery(of recorded: RecordedEvent, through filter: EventFilter, current: Position) -> LiveDelivery {
        let event = recorded.event
        if filter.viewer.user.map(event.changesRights) ?? false { return .wake }
        if let viewer = filter.viewerOfNotices {
            if event.isErasure { return .wake }
            if event.mayEndAccess {
                guard let thread = event.relatedThread else { return .wake }
                if filter.admits(thread), endsAccess(of: viewer, to: thread, at: recorded.position) { return .wake }
            }
        }
        return visible(recorded, through: filter, current: current).map(LiveDelivery.event) ?? .none
    }

    /// Returns a matching event redacted for the viewer; nil if it does not match or is not
    /// visible.
    func visible(_ recorded: RecordedEvent, through filter: EventFilter, current: Position) -> RecordedEvent? {
        guard filter.matches(recorded.event) else { return nil }
        guard let viewer = filter.viewer.user, !filter.isExemptFromViewer(recorded.event) else { return recorded }
        guard var shown = shown(recorded, to: viewer, current: current) else { return nil }
        if !shown.isFromBlockedUser { shown.inbox = inboxReason(ofEventAt: recorded.position, for: viewer) }
        // A hidden text takes with it the users whom it mentions.
        if shown.inbox == .mention, shown.redacted.contains(.body) { shown.inbox = nil }
        return shown
    }
}
