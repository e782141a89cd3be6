/// A rule that a recorded event breaks.
///
/// The decider of this version never appends such an event at that place in the history.
public struct HistoryFault: Error, Hashable, Sendable {
    /// The rule, under a stable name.
    public var problem: Problem
    /// A description for people; it may change between versions.
    public var message: String

    /// The rules that every history follows.
    ///
    /// The raw values are stable; three are older than the names of their cases.
    public enum Problem: String, Hashable, Sendable {
        /// The recording time is before that of the previous event.
        case timeWentBack
        /// The number within the thread is not the next one.
        case threadNumberGap
        /// The event names an entity that does not exist, belongs to another thread, or is not
        /// visible to the user.
        case unknownReference
        /// The id of a new entity is already in use.
        case identifierTwice
        /// The user is not a member of the thread.
        case notAMember
        /// The user is not the author of the post or the session's user.
        case notTheAuthor
        /// The post was retracted or removed earlier.
        case afterRetraction
        /// The username belongs to another user.
        case usernameTwice
        /// The subject belongs to another user.
        case subjectTwice
        /// The read marker does not move forward.
        case markerNotIncreasing = "markerNotForward"
        /// The read marker lies beyond the head of the journal.
        case markerBeyondHead
        /// The session has ended already.
        case sessionEndedTwice
        /// The user is already a member of the thread.
        case alreadyMember = "alreadyHeld"
        /// The thread is not that of the postcode's outward code.
        case threadMismatch = "wrongResidence"
        /// The user does not live in the thread's outward code.
        case notResident
        /// The text breaks a rule of all versions.
        case invalidText
        /// A rule about roles, sanctions, policies or locks does not permit the event.
        case notPermitted
        /// The event's effect holds already.
        case noEffect
    }
}
