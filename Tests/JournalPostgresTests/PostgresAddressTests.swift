#if Postgres
    import EventJournal
    import JournalPostgres
    import Testing

    @Suite struct PostgresAddressTests {
        @Test func addressNamesServersAndLog() throws {
            #expect(try PostgresAddress("postgres://chat@db1,db2:5433/community#garden").log == "garden")
            #expect(try PostgresAddress("postgresql:///community").log == "main")
            #expect(
                try PostgresAddress("postgres://chat@db1,db2:5433/community#garden").description
                    == "postgres://db1,db2:5433/community#garden")
            #expect(
                try PostgresAddress("postgres://me@/x?host=/run/postgresql&sslmode=require").description
                    == "postgres:///run/postgresql/x#main")
            #expect(PostgresAddress.isAddress("postgresql://x") && PostgresAddress.isAddress("postgres://x"))
            #expect(!PostgresAddress.isAddress("postgres") && !PostgresAddress.isAddress("/postgres://x"))
        }

        @Test(arguments: [
            "postgres://chat:geheim@db/community", "postgres://chat:geheim/2@db/x", "postgres://chat:123/geheim@db/x",
            "postgres://chat@:geheim@db/x", "POSTGRES://chat:geheim@db/x", " postgres://chat:geheim@db/x",
            "postgres://db/community?password=geheim", "postgres://db/x?sslpassword=geheim",
            "postgres://db/x?geheim=1", "postgres://[geheim/x", "postgres://db/%zzgeheim", "geheim", "postgres://db/x#",
            "postgres://db/x#geheim log", "postgres://db/x#geheim'--", "postgres://db/x#geheim#2",
            "postgres://db/ge\0heim",
            "postgres://db/x#" + String(repeating: "g", count: 64),
        ])
        func wrongAddressIsAnErrorWithoutItsText(address: String) {
            let error = #expect(throws: JournalError.self) { try PostgresAddress(address) }
            #expect(error?.code == .invalidAddress)
            #expect(error?.description.contains("geheim") == false)
        }

        @Test func unreachableServerIsAnErrorAtOnce() throws {
            let error = #expect(throws: JournalError.self) {
                try PostgresLog.open("postgres://nobody@127.0.0.1:1,127.0.0.1:2/x")
            }
            #expect(error?.code == .unreachable)
            #expect(error?.path == "postgres://127.0.0.1:1,127.0.0.1:2/x#main")
        }
    }
#endif
