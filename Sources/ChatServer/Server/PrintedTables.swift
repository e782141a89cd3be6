#if Server
    internal import ChatDomain

    /// The tables of the rules that the page reads, printed as a module.
    enum PrintedTables {
        /// The path of the module, beside those of the files of the page.
        static let path = "/tables.js"

        /// For each kind of event, the answers that it can change (`ChangedAnswers`).
        static let module: String = {
            let rows = EventKind.allCases.map { kind in
                let changes = kind.form.changes
                let names = ChangedAnswers.named.filter { changes.contains($0.answers) }.map { "\"\($0.name)\"" }
                return "\"\(kind.name)\":[\(names.joined(separator: ","))]"
            }
            return "export const changedAnswers = {\(rows.joined(separator: ","))};\n"
        }()
    }
#endif
