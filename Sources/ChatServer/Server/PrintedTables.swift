#if Server
    internal import ChatDomain

    /// The tables of the rules that the page reads, printed as a module.
    enum PrintedTables {
        /// The path of the module, beside those of the files of the page.
        static let path = "/tables.js"

        /// For each kind of event, the answers that it can change (`ChangedAnswers`), and the commands
        /// that can have an id beside them (`CommandKind.takesOnce`).
        static let module: String = {
            let rows = EventKind.allCases.map { kind in
                let changes = kind.form.changes
                let names = ChangedAnswers.named.filter { changes.contains($0.answers) }.map { "\"\($0.name)\"" }
                return "\"\(kind.name)\":[\(names.joined(separator: ","))]"
            }
            let once = CommandKind.allCases.filter(\.takesOnce).map { "\"\($0.form.name)\"" }
            return "export const changedAnswers = {\(rows.joined(separator: ","))};\n"
                + "export const onceCommands = [\(once.joined(separator: ","))];\n"
        }()
    }
#endif
