#if Server
    internal import Chat
    internal import ChatDomain
    internal import Locking

    /// Bounds the events that the streams and sockets of each user hold: those that are behind read
    /// in turns, a bounded number at once.
    ///
    /// A stream that waits for new events holds none, and one whose client does not read ends after
    /// a while.
    final class ReadingSlots: Sendable {
        private struct Slots {
            var takenCount = 0
            var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
            /// The ids of those who wait, in order, and of some who wait no more.
            var queue = FirstInFirstOut<UInt64>()

            /// Removes the one who has waited longest.
            mutating func popFirst() -> CheckedContinuation<Bool, Never>? {
                while let id = queue.popFirst() { if let task = waiting.removeValue(forKey: id) { return task } }
                return nil
            }
        }

        private struct State {
            var slots: [UserID: Slots] = [:]
            var lastID: UInt64 = 0
        }

        /// The streams of a user that hold events at once.
        static let count = 64

        private let state = Lock(State())

        /// The streams that wait for a slot.
        var waitingCount: Int { state.withLock { $0.slots.values.reduce(0) { $0 + $1.waiting.count } } }

        func take(_ user: UserID) async -> Bool {
            let id = state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { task in
                    let isTaken = state.withLock { state -> Bool? in
                        // Checked under the lock: a later cancellation finds the task waiting.
                        if Task.isCancelled { return false }
                        guard state.slots[user, default: Slots()].takenCount < Self.count else {
                            state.slots[user]?.waiting[id] = task
                            state.slots[user]?.queue.append(id)
                            return nil
                        }
                        state.slots[user, default: Slots()].takenCount += 1
                        return true
                    }
                    if let isTaken { task.resume(returning: isTaken) }
                }
            } onCancel: {
                state.withLock { $0.slots[user]?.waiting.removeValue(forKey: id) }?.resume(returning: false)
            }
        }

        func giveBack(_ user: UserID) {
            let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                if let next = state.slots[user]?.popFirst() { return next }
                state.slots[user]?.takenCount -= 1
                if state.slots[user]?.takenCount == 0 { state.slots[user] = nil }
                return nil
            }
            next?.resume(returning: true)
        }
    }

    /// The slots of one user.
    struct UserSlots: FollowerSlots {
        private let slots: ReadingSlots
        private let user: UserID

        init(_ slots: ReadingSlots, _ user: UserID) { (self.slots, self.user) = (slots, user) }

        func take() async -> Bool { await slots.take(user) }

        func giveBack() { slots.giveBack(user) }
    }
#endif
