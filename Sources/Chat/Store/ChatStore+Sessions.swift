public import ChatDomain
import Locking

extension ChatStore {
    /// Returns the user of a session, ended or not; nil if it does not exist.
    ///
    /// For a server, which must end only sessions of the user that asks: `endSession` has no acting
    /// user. The answer includes sessions whose start is not durable yet.
    public func userID(ofSession session: SessionID) -> UserID? {
        decider.withLock { decider in readSide.withIdentities { decider.rules.user(of: session, $0) } }
    }
}
