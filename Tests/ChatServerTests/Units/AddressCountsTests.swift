#if Server
    import ChatAccounts
    import Testing

    @testable import ChatServer

    /// The connections of each address.
    @Suite struct AddressCountsTests {
        @Test func addressesHaveALimit() throws {
            let one = try #require(ClientAddress(text: "192.0.2.1"))
            let two = try #require(ClientAddress(text: "192.0.2.2"))
            let shared = try #require(ClientAddress(text: "127.0.0.1"))
            var counts = AddressCounts(maximum: 3) { $0 == shared }
            func add(_ peer: ClientAddress?) -> Bool { counts.add(peer) }
            for _ in 0..<3 { #expect(add(one)) }
            #expect(!add(one))
            #expect(add(two))
            for _ in 0..<10 {
                #expect(add(shared))
                #expect(add(nil))
            }
            // Of an exempt address nothing is counted.
            counts.remove(shared)
            counts.remove(nil)
            counts.remove(one)
            #expect(add(one))
            #expect(!add(one))
            for _ in 0..<3 { counts.remove(one) }
            // A connection is removed once.
            counts.remove(one)
            for _ in 0..<3 { #expect(add(one)) }
            #expect(!add(one))
        }
    }
#endif
