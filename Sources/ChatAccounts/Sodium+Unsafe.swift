#if Server
    // Unsafe, because libsodium is a C library: each call gets the address and the count of an
    // array that outlives the call.
    internal import CSodium

    /// The functions of libsodium that accounts need.
    enum Sodium {
        static let digestByteCount = 32

        /// Initialises the library once; false if it has no source of random bytes.
        static let isReady: Bool = sodium_init() >= 0

        static func randomBytes(_ count: Int) -> [UInt8] {
            unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                if let base = buffer.baseAddress { unsafe randombytes_buf(base, count) }
                initialized = count
            }
        }

        /// Returns the BLAKE2b digest of a message, keyed if the key is not empty.
        static func digest(_ message: [UInt8], key: [UInt8] = []) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: digestByteCount)
            let status = unsafe crypto_generichash(
                &digest, digest.count, message, UInt64(message.count), key, key.count)
            precondition(status == 0, "a digest has 32 bytes, a key at most 64")
            return digest
        }

        /// Compares in a time that does not depend on the contents.
        static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
            unsafe first.count == second.count && sodium_memcmp(first, second, first.count) == 0
        }

        /// Returns the text of an Argon2id hash with a fresh salt, or nil if memory is exhausted.
        static func passwordHash(_ password: [UInt8], _ cost: PasswordCost) -> String? {
            var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
            let status = unsafe password.withUnsafeBufferPointer { password in
                unsafe password.withMemoryRebound(to: CChar.self) { password in
                    guard let base = password.baseAddress else { return Int32(-1) }
                    return unsafe crypto_pwhash_str(
                        &text, base, UInt64(password.count), UInt64(cost.passes), cost.memoryBytes)
                }
            }
            guard status == 0 else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        static func verifies(_ hash: String, _ password: [UInt8]) -> Bool {
            unsafe password.withUnsafeBufferPointer { password in
                unsafe password.withMemoryRebound(to: CChar.self) { password in
                    guard let base = password.baseAddress else { return false }
                    return unsafe crypto_pwhash_str_verify(hash, base, UInt64(password.count)) == 0
                }
            }
        }

        /// Whether the hash has other parameters, or is not a hash of this library.
        static func needsRehash(_ hash: String, _ cost: PasswordCost) -> Bool {
            unsafe crypto_pwhash_str_needs_rehash(hash, UInt64(cost.passes), cost.memoryBytes) != 0
        }
    }
#endif
