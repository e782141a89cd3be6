#if Server
    import ChatAccounts
    import Testing

    @testable import ChatServer

    /// The connections of a daemon by address and phase.
    @Suite struct ConnectionTableTests {
        @Test func addressesHaveALimit() throws {
            let (first, second, shared) = (
                ClientAddress(text: "192.0.2.1"), ClientAddress(text: "192.0.2.2"), ClientAddress(text: "127.0.0.1")
            )
            let table = ConnectionTable(maximumPerAddress: 3) { $0 == shared }
            let (one, two, proxy) = (try #require(first), try #require(second), try #require(shared))
            var ids: [UInt] = []
            for socket in 0..<3 {
                #expect(table.mayConnect(one))
                ids.append(table.add(socket: Int32(socket), peer: one))
            }
            #expect(!table.mayConnect(one))
            #expect(table.mayConnect(two))
            for _ in 0..<10 {
                #expect(table.mayConnect(proxy))
                ids.append(table.add(socket: 9, peer: proxy))
            }
            #expect(table.count == 13)
            table.remove(ids[1])
            #expect(table.mayConnect(one))
            // A connection is removed once.
            table.remove(ids[1])
            table.remove(0)
            _ = table.add(socket: 4, peer: one)
            #expect(!table.mayConnect(one))
            _ = table.add(socket: 5, peer: nil)
            #expect(table.count == 14)
            #expect(!ids.contains(0) && Set(ids).count == ids.count)
        }

        @Test func closedTableAcceptsNoConnection() {
            let table = ConnectionTable(maximumPerAddress: 3) { $0.isLoopback }
            let peers = ["192.0.2.1", "127.0.0.1"].map { ClientAddress(text: $0) } + [nil]
            for peer in peers { #expect(table.mayConnect(peer)) }
            table.close()
            for peer in peers { #expect(!table.mayConnect(peer)) }
        }

        @Test func targetBelongsToItsConnection() throws {
            let table = ConnectionTable(maximumPerAddress: 3) { _ in false }
            let peer = ClientAddress(text: "192.0.2.1")
            let (first, second) = (table.add(socket: 1, peer: peer), table.add(socket: 2, peer: nil))
            table.beginRequest(first, target: "/a")
            table.beginRequest(second, target: "/b")
            #expect(table.request(of: first) == ("/a", peer))
            #expect(table.request(of: second) == ("/b", nil))
            table.endRequest(first)
            table.beginRequest(first, target: "/c")
            #expect(table.request(of: first).target == "/c")
            #expect(table.request(of: 77) == ("", nil))
        }

        /// Each phase has its own limit, counted from its beginning; a response that is not begun has none.
        @Test func lateConnectionsEnd() {
            let table = ConnectionTable(maximumPerAddress: 10) { _ in false }
            let ids = (0..<5).map { table.add(socket: Int32($0), peer: nil) }
            table.beginRequest(ids[1], target: "/")
            table.beginBody(ids[2])
            table.beginResponse(ids[3], isStream: false)
            table.beginResponse(ids[4], isStream: true)
            let start = ContinuousClock.now
            func late(after duration: Duration) -> Set<Int32> {
                var found: Set<Int32> = []
                table.endLate(at: start + duration) { found.insert($0) }
                return found
            }
            #expect(late(after: .seconds(1)) == [])
            #expect(late(after: .seconds(12)) == [1])
            #expect(late(after: .seconds(32)) == [1, 2])
            #expect(late(after: .seconds(77)) == [0, 1, 2])
            #expect(late(after: .seconds(122)) == [0, 1, 2, 3])
            #expect(late(after: .seconds(1_000_000)) == [0, 1, 2, 3])
            table.endRequest(ids[1])
            #expect(late(after: .seconds(60)) == [2])
            table.remove(ids[2])
            #expect(late(after: .seconds(60)) == [])
        }
    }
#endif
