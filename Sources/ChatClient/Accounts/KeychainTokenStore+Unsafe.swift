#if canImport(Security)
    // Unsafe, because the keychain returns an item at an address; it is that of a local variable.
    internal import Foundation
    internal import Security

    /// A store in the keychain of the device, readable after the first unlock and on this device
    /// only.
    public final class KeychainTokenStore: TokenStore {
        private let service: String
        private let account: String

        /// Creates a store.
        ///
        /// - Parameters:
        ///   - service: The name of the item, such as the app's bundle identifier.
        ///   - account: Distinguishes several sessions of one app.
        public init(service: String, account: String = "session") { (self.service, self.account) = (service, account) }

        /// What identifies the item.
        private var query: [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: account,
                kSecUseDataProtectionKeychain as String: true,
            ]
        }

        /// Returns the session that was saved; nil if there is none.
        ///
        /// - Throws: ``ClientError/storage(_:file:)``: `failed` with the status of the keychain, or
        ///   `damaged`.
        public func load() throws(ClientError) -> ClientSession? {
            var query = query
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = unsafe SecItemCopyMatching(query as CFDictionary, &item)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw .storage(.failed(Int(status))) }
            guard let data = item as? Data else { throw .storage(.damaged) }
            do { return try JSONDecoder().decode(ClientSession.self, from: data) } catch { throw .storage(.damaged) }
        }

        /// Saves a session in place of the present one.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` `failed` with the status of the keychain.
        public func save(_ session: ClientSession) throws(ClientError) {
            let data: Data
            do { data = try JSONEncoder().encode(session) } catch { throw .storage(.notWritable) }
            let content: [String: Any] = [
                kSecValueData as String: data,
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
                // Another thread has added it meanwhile.
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
                }
            }
            guard status == errSecSuccess else { throw .storage(.failed(Int(status))) }
        }

        /// Removes the session; none is no error.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` `failed` with the status of the keychain.
        public func remove() throws(ClientError) {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw .storage(.failed(Int(status))) }
        }
    }
#endif
