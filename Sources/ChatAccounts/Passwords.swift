#if Server
    internal import Dispatch
    internal import Foundation
    internal import Locking

    /// The cost of one Argon2id hash.
    public struct PasswordCost: Hashable, Sendable {
        /// The number of passes over the memory.
        public let passes: Int
        /// The memory of one hash in bytes.
        public let memoryBytes: Int

        /// Creates a cost: 1 to 100 passes, 8 KiB to 4 GiB; values beyond are clamped.
        public init(passes: Int = 3, memoryBytes: Int = 64 << 20) {
            self.passes = min(max(passes, 1), 100)
            self.memoryBytes = min(max(memoryBytes, 8 << 10), 4 << 30)
        }
    }

    /// A password that satisfies the rules of NIST SP 800-63B: a minimum length, none of the
    /// commonest, and no rule about characters.
    ///
    /// The canonical composition makes a password equal to itself on keyboards that compose letters
    /// differently.
    struct Password {
        let bytes: [UInt8]

        /// Creates a new password.
        init(_ text: String) throws(AccountError) {
            guard let password = Password(ifValid: text) else {
                throw AccountError(.invalidPassword, "A password has 8 to 256 characters and at most 1,024 bytes.")
            }
            if CommonPasswords.contains(text) { throw .commonPassword }
            self = password
        }

        /// Creates a password to compare, which may be of a time when common ones were accepted.
        init?(ifValid text: String) {
            guard text.utf8.count <= 1_024 else { return nil }
            let composed = text.precomposedStringWithCanonicalMapping
            guard (8...256).contains(composed.unicodeScalars.count) else { return nil }
            bytes = Array(composed.utf8)
        }
    }

    /// Runs Argon2id for a bounded number of callers, which wait in a bounded queue.
    ///
    /// Each hash needs 64 MiB and a processor, so more at once would delay everything else.
    final class PasswordPool: Sendable {
        private let cost: PasswordCost
        private let maximum: Int
        private let admitted = Lock(0)
        private let running: DispatchSemaphore
        /// The hash that a password of an unknown account is compared with.
        private let dummy: String

        init(_ cost: PasswordCost, concurrent: Int, waiting: Int) throws(AccountError) {
            guard let dummy = Sodium.passwordHash(Sodium.randomBytes(16), cost) else { throw .busy }
            self.cost = cost
            self.dummy = dummy
            maximum = max(concurrent, 1) + max(waiting, 0)
            running = DispatchSemaphore(value: max(concurrent, 1))
        }

        func hash(_ password: Password) throws(AccountError) -> String {
            let hash = try withTurn { Sodium.passwordHash(password.bytes, cost) }
            guard let hash else { throw .busy }
            return hash
        }

        /// Compares a password with a hash; takes the same time without a hash.
        func verify(_ password: Password, _ hash: String?) throws(AccountError) -> Bool {
            let isEqual = try withTurn { Sodium.verifies(hash ?? dummy, password.bytes) }
            return hash != nil && isEqual
        }

        func needsRehash(_ hash: String) -> Bool { Sodium.needsRehash(hash, cost) }

        /// The number of callers that run or wait.
        var admittedCount: Int { admitted.withLock { $0 } }

        func withTurn<Result>(_ body: () -> Result) throws(AccountError) -> Result {
            let isAdmitted = admitted.withLock { count in
                if count == maximum { return false }
                count += 1
                return true
            }
            guard isAdmitted else { throw .busy }
            running.wait()
            defer {
                running.signal()
                admitted.withLock { $0 -= 1 }
            }
            return body()
        }
    }
#endif
