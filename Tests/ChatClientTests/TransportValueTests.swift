#if Client || canImport(SQLite3)
    import ChatClient
    import Testing

    @Suite struct TransportValueTests {
        @Test func anEventWithoutANameIsAMessage() {
            #expect(ServerSentEvent(data: "{}").name == "message")
        }
    }
#endif
