#if Postgres
    // The statements of a read. Their first parameter is the log.
    extension Statement {
        /// The records from one position to another, in order.
        ///
        /// Columns: the position, the records left in the commit, the chain value after the record,
        /// the record.
        static let recordsInRange = Statement(
            "recordsInRange",
            """
            SELECT position, records_left, chain, record FROM chat_journal.record
            WHERE log = $1::int AND position >= $2::bigint AND position <= $3::bigint ORDER BY position
            """)

        /// The ends of commits from one position to another, in order.
        ///
        /// No join with the records: a plan for a table without statistics may compare each with
        /// each. Columns: the position, the chain value after it.
        static let commitEndsInRange = Statement(
            "commitEndsInRange",
            """
            SELECT position, chain FROM chat_journal.record
            WHERE log = $1::int AND position >= $2::bigint AND position <= $3::bigint AND records_left = 1 ORDER BY position
            """)

        /// The records at the positions of an array, in order, with the columns of
        /// ``recordsInRange``.
        static let recordsAtPositions = Statement(
            "recordsAtPositions",
            """
            SELECT position, records_left, chain, record FROM chat_journal.record
            WHERE log = $1::int AND position = ANY ($2::bigint[]) ORDER BY position
            """)

        /// The chain values after the records at the positions of an array.
        ///
        /// Columns: the position, the chain value.
        static let chainsAtPositions = Statement(
            "chainsAtPositions",
            "SELECT position, chain FROM chat_journal.record WHERE log = $1::int AND position = ANY ($2::bigint[])")

        /// The last position of the commit that contains a position, and the chain value after it.
        static let commitEnd = Statement(
            "commitEnd",
            """
            SELECT e.position, e.chain FROM chat_journal.record r
            JOIN chat_journal.record e ON e.log = r.log AND e.position = r.position + r.records_left - 1
            WHERE r.log = $1::int AND r.position = $2::bigint
            """)

        /// What a reader may show.
        ///
        /// Parameters: the log, a position that the reader has seen. Columns: the id, the announced
        /// position and the chain value after it, the last position and the chain value after it,
        /// the chain value after the position that the reader has seen, the status, the place to
        /// which the log has moved.
        static let readableEnd = Statement(
            "readableEnd",
            """
            SELECT l.id, l.acknowledged, r.chain, l.position, l.chain, o.chain, l.state, l.moved_to FROM chat_journal.log l
            LEFT JOIN chat_journal.record o ON o.log = l.number AND o.position = $2::bigint
            LEFT JOIN chat_journal.record r ON r.log = l.number AND r.position = l.acknowledged WHERE l.number = $1::int
            """)
    }
#endif
