extension UInt64 {
    /// The position of the first post that waits in the outbox.
    static var firstPending: UInt64 { 1 << 63 }
}
