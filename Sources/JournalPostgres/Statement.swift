#if Postgres
    /// A statement that a log prepares on its connections, with the types of its parameters in the
    /// text.
    struct Statement: Hashable {
        /// The name under which a connection prepares it.
        let name: String
        let sql: String
        /// Whether a warning has no meaning; otherwise it means that the statement's commit may not
        /// be durable.
        let mayWarn: Bool

        init(_ name: String, _ sql: String, mayWarn: Bool = false) {
            (self.name, self.sql, self.mayWarn) = (name, sql, mayWarn)
        }

        static func == (left: Statement, right: Statement) -> Bool { left.name == right.name }

        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
#endif
