#if Server
    internal import Chat
    internal import ChatDomain
    internal import Locking

    /// Bounds the events that the streams and sockets of each user hold: those that are behind read
    /// in turns, a bounded number at once, as far as the user has memory.
    ///
    /// A stream that waits for new events holds none, and one whose client does not read ends after
    /// a while.
    final class ReadingSlots: Sendable {
        private struct Slots {
            var takenCount = 0
            /// The memory of those that have some.
            var held: [HeldMemory] = []
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
        static let count = 16
        /// The time after which a stream whose user has no memory looks again.
        private static let pause = Duration.milliseconds(50)

        private let state = Lock(State())
        private let memory: ClientMemory

        init(_ memory: ClientMemory) { self.memory = memory }

        /// The streams that wait for a slot.
        var waitingCount: Int { state.withLock { $0.slots.values.reduce(0) { $0 + $1.waiting.count } } }

        /// Waits for a slot; returns false, without one, if the task is cancelled.
        func take(_ user: UserID) async -> Bool {
            guard await takePlace(user) else { return false }
            while !Task.isCancelled {
                // Memory is given back by everything of the user, so that a look now and then is
                // simpler than a row of those that wait.
                if let held = memory.hold(ServerMemory.batch, by: .user(user)) {
                    _ = state.withLock { $0.slots[user]?.held.append(held) }
                    return true
                }
                // Ends early only if the task is cancelled.
                try? await Task.sleep(for: Self.pause)
            }
            giveBackPlace(user)
            return false
        }

        private func takePlace(_ user: UserID) async -> Bool {
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
            _ = state.withLock { $0.slots[user]?.held.popLast() }
            giveBackPlace(user)
        }

        private func giveBackPlace(_ user: UserID) {
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
