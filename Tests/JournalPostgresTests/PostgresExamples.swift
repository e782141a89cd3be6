#if Postgres
    import Chat
    import JournalPostgres

    // The examples of the documentation. They name servers that do not exist, so they are compiled
    // and not run; `StoreOnPostgresTests` runs the same calls.

    func openForWriting() throws -> ChatStore {
        let log = try PostgresLog.open("postgres://chat@db1,db2,db3/community#main")
        let store = try ChatStore.open(log: log)
        return store
    }

    func openForReading() throws -> ChatStore {
        let log = try PostgresLog.openReadOnly("postgres://chat@db1,db2,db3/community#main")
        let store = try ChatStore.openReadOnly(log: log)
        return store
    }
#endif
