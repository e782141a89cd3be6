/// The fields of the kept part of an event, in their order; many kinds share a layout.
///
/// <doc:EventEncoding> specifies the bytes.
enum EventLayout {
    /// The user.
    case user
    /// The user and the thread of a postcode.
    case postcode
    /// The thread, the user and the thread number.
    case thread
    /// The fields of ``thread``, the policy and the history.
    case threadPolicy
    /// The thread, the message, the user and the thread number.
    case message
    /// The thread, the message, the reply, the user and the thread number.
    case reply
    /// The user, the thread and the position of a read marker.
    case marker
    /// The user and the session.
    case session
    /// The thread, the user concerned, the user who acted, and the thread number.
    case member
    /// The fields of ``member`` and the role.
    case role
    /// The fields of ``member`` and the end.
    case sanction
    /// The thread, the message and the user.
    case messageReport
    /// The thread, the message, the reply and the user.
    case replyReport
    /// The user who acted and the user who is blocked.
    case block
    /// The thread, the custom event, the user, the thread number and the kind's name.
    case custom
    /// The user and the reason of an erasure.
    case userErasure
    /// The reason and the positions of an erasure.
    case contentErasure
    /// No fields.
    case none
}
