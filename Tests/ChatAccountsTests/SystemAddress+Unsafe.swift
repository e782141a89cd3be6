#if Server
    // Unsafe: the C library writes the address into a buffer of the test.
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// Returns the bytes of a textual address as the C library reads it.
    func systemAddress(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return unsafe inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }
#endif
