#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatValues
    import Foundation
    import LocalStorage
    import TestSupport
    import Testing

    @Suite struct TokenStoreTests {
        private func session(_ token: String) throws -> ClientSession {
            ClientSession(
                server: try #require(URL(string: "https://chat.example.org")),
                user: UserSummary(id: UserID(bits: 7), username: "Ann"),
                token: SessionToken(rawValue: token))
        }

        private func check(_ store: any TokenStore) async throws {
            #expect(try await store.load() == nil)
            try await store.remove()
            for token in ["first", "second"] {
                let session = try session(token)
                try await store.save(session)
                let kept = try await store.load()
                #expect(kept?.user.id == session.user.id && kept?.token == session.token)
            }
            try await store.remove()
            #expect(try await store.load() == nil)
        }

        @Test func storeInMemoryKeepsOneSession() async throws { try await check(InMemoryTokenStore()) }

        @Test func storeInAFileKeepsOneSession() async throws {
            let directory = try TemporaryDirectory()
            try await check(FileTokenStore(path: directory.file("session")))
            #expect(try directory.contents().isEmpty)
        }

        /// A directory above the files of a client may be a link; a file that is one is refused.
        @Test func linksToDirectoriesAreFollowed() async throws {
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory.file("real"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: "real")
            try await check(FileTokenStore(path: directory.file("link/session")))
            func copy(_ name: String) throws(ClientError) -> LocalCopy {
                try LocalCopy(path: directory.file(name), server: "https://chat.example", user: UserID(bits: 7))
            }
            try copy("link/copy").close()
            try copy("real/copy").close()
            for suffix in ["", ".lock"] {
                try FileManager.default.createSymbolicLink(
                    atPath: directory.file("other" + suffix), withDestinationPath: "real/copy" + suffix)
                #expect(throws: ClientError.storage(.symbolicLink, file: directory.file("other" + suffix))) {
                    try copy("other").close()
                }
                try FileManager.default.removeItem(atPath: directory.file("other" + suffix))
            }
        }

        @Test func fileIsPrivateAndReplacedAsAWhole() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("session")
            try FileTokenStore(path: path).save(session("first"))
            // A save that a crash has interrupted.
            try Data("{".utf8).write(to: URL(fileURLWithPath: path + ".new"))
            try FileTokenStore(path: path).save(session("second"))
            #expect(try FileTokenStore(path: path).load()?.token.rawValue == "second")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try directory.contents().keys.sorted() == ["session"])
        }

        @Test func wrongFilesAreErrors() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("session")
            for content in ["", "{", "[]", "{\"token\":1}", String(repeating: "x", count: 1 << 20)] {
                try Data(content.utf8).write(to: URL(fileURLWithPath: path))
                #expect(throws: ClientError.storage(.damaged, file: path)) { try FileTokenStore(path: path).load() }
            }
            #expect(throws: ClientError.storage(.notWritable, file: directory.file("none/session"))) {
                try FileTokenStore(path: directory.file("none/session")).save(session("x"))
            }
            #expect(throws: ClientError.storage(.notReadable, file: directory.path)) {
                try FileTokenStore(path: directory.path).load()
            }
        }

        @Test func tokensAreNotPrinted() throws {
            let session = try session("secret")
            var dumped = ""
            dump(session, to: &dumped)
            let request = ClientRequest("POST", "/v1/x", credentials: "secret", body: Data("secret".utf8))
            dump(request, to: &dumped)
            for text in [
                dumped, "\(session)", String(reflecting: session), "\(session.token)", "\(request)",
                String(reflecting: request),
            ] {
                #expect(!text.contains("secret"))
            }
            #expect(session.token.rawValue == "secret")
        }
    }
#endif
