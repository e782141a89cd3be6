#if Server
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    struct FileTests {
        let fixture: Fixture

        init() throws { fixture = try Fixture() }

        private func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }

        @Test func filesArePrivate() throws {
            let store = try fixture.open()
            try fixture.register(store, "Ann", "a@x.org")
            for name in try fixture.directory.contents().keys {
                #expect(try mode(fixture.directory.file(name)) == 0o600, "\(name)")
            }
        }

        @Test func foreignFileStaysUnchanged() throws {
            for bytes in [Array("not a database, but a letter".utf8), [UInt8](repeating: 7, count: 8_192)] {
                try Data(bytes).write(to: URL(fileURLWithPath: fixture.path))
                #expect(failure { _ = try fixture.open() } == .notAnAccountFile)
                #expect(try fixture.directory.contents() == ["accounts": bytes])
            }
        }

        @Test func foreignDatabaseStaysUnchanged() throws {
            #expect(PrivateFile.create(fixture.path, []) == .created)
            do { try Database(fixture.path).run("CREATE TABLE notes(text)") }
            let before = try fixture.directory.contents()
            #expect(failure { _ = try fixture.open() } == .notAnAccountFile)
            #expect(try fixture.directory.contents() == before)
        }

        @Test func newerVersionIsRejected() throws {
            do { _ = try fixture.open() }
            do { try Database(fixture.path).run("PRAGMA user_version=\(AccountSchema.migrations.count + 1)") }
            #expect(failure { _ = try fixture.open() } == .newerVersion)
        }

        @Test func damagedFileIsRejected() throws {
            do { try fixture.register(fixture.open(), "Ann", "a@x.org") }
            var bytes = try #require(FileManager.default.contents(atPath: fixture.path))
            for index in 4_096..<bytes.count { bytes[index] = 0xA5 }
            try bytes.write(to: URL(fileURLWithPath: fixture.path))
            #expect(failure { _ = try fixture.open() } == .damaged)
        }

        @Test func pathWithoutADirectoryIsAnError() throws {
            let from = try #require(EmailAddress("chat@x.org"))
            let path = fixture.directory.file("missing/accounts")
            #expect(failure { _ = try AccountStore(path: path, mailer: fixture.outbox, from: from) } == .storage)
        }

        /// A directory above the file may be a link, as on many machines `/var/lib` or `/tmp` is.
        @Test func linkedDirectoryIsFollowed() throws {
            try FileManager.default.createDirectory(
                atPath: fixture.directory.file("real"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory.file("link"), withDestinationPath: "real")
            let from = try #require(EmailAddress("chat@x.org"))
            let path = fixture.directory.file("link/../link/accounts")
            for _ in 0..<2 {
                let store = try AccountStore(path: path, mailer: fixture.outbox, from: from, options: fixture.options)
                #expect(store.hold())
                try store.close()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.file("real"))
            #expect(Set(names) == ["accounts", "accounts.key"])
        }

        /// Neither the file nor its key is a link; what it points to keeps its mode.
        @Test(arguments: ["", ".key"]) func linkIsRefusedAndNamed(suffix: String) throws {
            do { _ = try fixture.open() }
            let target = fixture.directory.file("target")
            try FileManager.default.moveItem(atPath: fixture.path + suffix, toPath: target)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: target)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.path + suffix, withDestinationPath: target)
            let error = #expect(throws: AccountError.self) { _ = try fixture.open() }
            #expect(
                error?.code == .storage
                    && error?.message.contains(fixture.path + suffix + " is a symbolic link") == true)
            #expect(try mode(target) == 0o640 && !PrivateFile.restrict(fixture.path + suffix))
            #expect(PrivateFile.isLink(fixture.path + suffix) && !PrivateFile.isLink(target))
            if suffix.isEmpty {
                #expect(failure { _ = try Database(fixture.path) } == .storage)
            } else {
                #expect(PrivateFile.read(fixture.path + suffix, limit: 33) == nil)
            }
        }

        @Test func directoryOfAPathIsResolved() throws {
            let directory = fixture.directory.file("").dropLast()
            try FileManager.default.createDirectory(
                atPath: fixture.directory.file("a"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: fixture.directory.file("b"), withDestinationPath: "a")
            let real = PrivateFile.resolvingDirectory(of: String(directory) + "/x").dropLast(2)
            for (path, resolved) in [
                ("\(directory)/b/c", "\(real)/a/c"), ("\(directory)/b", "\(real)/b"),
                ("\(directory)//b//b/", "\(directory)//b//b/"),
                ("\(directory)/none/c", "\(directory)/none/c"), ("/x", "/x"),
            ] { #expect(PrivateFile.resolvingDirectory(of: path) == resolved) }
            #expect(PrivateFile.resolvingDirectory(of: "x").hasSuffix("/x"))
        }

        /// SQLite would go on to write the open file, and what it acknowledged would be lost.
        @Test(arguments: ["accounts", "accounts-wal"]) func removedFileTakesNoWrite(name: String) throws {
            let store = try fixture.open()
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let token = try fixture.signIn(store, "a@x.org").token
            let (path, elsewhere) = (fixture.directory.file(name), fixture.directory.file("elsewhere"))
            func fails() -> Bool {
                failure { _ = try fixture.signIn(store, "a@x.org") } == .storage
                    && failure { try store.signOut(token: token) } == .storage
            }
            try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
            #expect(fails())
            if name == "accounts" {
                // Before anything is written, and after another file has the name.
                #expect(failure { try store.checkFile(byWriting: false) } == .storage)
                #expect(try store.session(token: token)?.user == user)
                try FileManager.default.copyItem(atPath: elsewhere, toPath: path)
                #expect(fails() && failure { try store.checkFile(byWriting: false) } == .storage)
                try FileManager.default.removeItem(atPath: path)
            }
            try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
            try store.checkFile(byWriting: true)
            #expect(try store.session(token: fixture.signIn(store, "a@x.org").token)?.user == user)
        }

        @Test func keyFileOfWrongLengthIsRejected() throws {
            do { _ = try fixture.open() }
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: fixture.path + ".key"))
            #expect(failure { _ = try fixture.open() } == .storage)
        }

        @Test func databaseHasNoPasswordAndNoCode() throws {
            let store = try fixture.open()
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            _ = try fixture.code(store, "a@x.org")
            for (name, bytes) in try fixture.directory.contents() {
                #expect(!String(decoding: bytes, as: UTF8.self).contains(Fixture.password), "\(name)")
            }
            let rows = try store.database.withLock { database throws(AccountError) in
                try database.run("SELECT hash FROM codes")
            }
            guard case .blob(let hash)? = rows.first?.first else { throw AccountError.invalidCode }
            // Nothing in the database alone shows which of the million codes it is.
            let id = try store.database.withLock { database throws(AccountError) in
                try database.run("SELECT id FROM accounts")
            }
            let account = AccountID(bits: try #require(id.first?.first?.id))
            let code = try fixture.code(store, "a@x.org")
            #expect(Sodium.digest(Array("0 \(account) \(code)".utf8)) != hash)
        }
    }
#endif
