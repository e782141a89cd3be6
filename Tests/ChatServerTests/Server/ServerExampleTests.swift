#if Server
    import Chat
    import ChatAccounts
    import ChatServer
    import Foundation
    import TestSupport
    import Testing

    /// The example of the documentation.
    @Suite struct ServerExampleTests {
        @Test func aServerStartsAndCloses() async throws {
            let temporary = try TemporaryDirectory()
            let directory = temporary.path
            try FileManager.default.createDirectory(atPath: temporary.file("mail"), withIntermediateDirectories: false)
            let sender = try #require(EmailAddress("chat@example.org"))
            let address = try #require(ListenAddress("127.0.0.1:0"))
            let store = try ChatStore.open(directory + "/neighbours.journal")
            let accounts = try AccountStore(
                path: directory + "/neighbours.accounts", mailer: MailDirectory(path: directory + "/mail"), from: sender
            )
            let server = try await ChatServer(store: store, accounts: accounts, options: ServerOptions(listen: address))
            print(server.url)
            #expect(server.url.hasPrefix("http://127.0.0.1:"))
            await server.close()
            try accounts.close()
            try store.close()
        }
    }
#endif
