#if Postgres
    import ChatTesting
    import EventJournal
    import Foundation
    import JournalPostgres
    import TestSupport
    import Testing

    @Suite(.needsPostgres) struct PostgresContractTests {
        @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3)), CommitLogContract.Clause.allCases)
        func logSatisfiesContract(seed: UInt64, clause: CommitLogContract.Clause) async throws {
            let server = try PostgresServer.common()
            let contract = CommitLogContract { _ in
                let address = server.newAddress()
                let name = try PostgresAddress(address).log
                return CommitLogFixture {
                    try PostgresLog.open(address)
                } damage: { content in
                    let bytes =
                        "'\\x" + content.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                        + "'::bytea"
                    let changed = try server.execute(
                        """
                        WITH changed AS (
                          UPDATE chat_journal.record
                          SET record = set_byte(record, position(\(bytes) in record) - 1, 255 - get_byte(record, position(\(bytes) in record) - 1))
                          WHERE log = (SELECT number FROM chat_journal.log WHERE name = '\(name)') AND position(\(bytes) in record) > 0 RETURNING 1)
                        SELECT count(*) FROM changed
                        """)
                    try #require(changed == "1")
                }
            }
            #expect(await contract.violations(of: clause, seed: seed) == [])
        }
    }
#endif
