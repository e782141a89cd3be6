#if Server
    internal import Foundation

    /// Why the modules of the page cannot be joined.
    struct PageBundleError: Error, Equatable, CustomStringConvertible {
        let file: String
        /// From 1; 0 for the file as a whole.
        let line: Int
        let reason: String

        var description: String { line == 0 ? "\(file): \(reason)" : "\(file):\(line): \(reason)" }
    }

    /// Joins ES modules into two files: one with what the page needs to begin, and one with the
    /// rest.
    ///
    /// Each module becomes a function that returns its exports. Comments, indentation and spaces
    /// that separate nothing are left out. Only the syntax that the page uses is supported, and
    /// everything else is an error:
    ///
    /// - `import { a, b as c } from "./x.js";` and `import * as x from "./x.js";`, at the beginning
    ///   of a line, without a cycle; `import "./x.js";` and default imports are not supported.
    /// - `export` before `function`, `async function`, `class` and `const NAME`, at the beginning
    ///   of a line.
    /// - `import("./rest.js")` for the module of the second file, and no other dynamic import.
    /// - Literals, and comments beside code, on one line.
    enum PageBundle {
        /// The files, by what they contain.
        struct Files: Equatable {
            /// Defines the modules of the entry, and exports `modules` with the exports of each.
            let entry: String
            /// Exports a function that defines the other modules, and returns the exports of the
            /// one that was asked for.
            let rest: String
        }

        /// Joins modules.
        ///
        /// - Parameters:
        ///   - modules: The source of each module, by its name.
        ///   - entry: The module that begins.
        ///   - rest: The module that is imported dynamically.
        ///   - restPath: Returns the path of the second file, of its content.
        static func join(
            _ modules: [String: String], entry: String, rest: String, restPath: (String) -> String
        ) throws(PageBundleError) -> Files {
            var parsed: [String: Module] = [:]
            func module(_ name: String, from importer: String) throws(PageBundleError) -> Module {
                if let known = parsed[name] { return known }
                guard let source = modules[name] else {
                    throw PageBundleError(file: importer, line: 0, reason: "there is no module \(name)")
                }
                let module = try Module(name, source, rest: rest)
                parsed[name] = module
                return module
            }
            var order: [String] = []
            var state: [String: Bool] = [:]
            func visit(_ name: String, from importer: String) throws(PageBundleError) {
                if let isDone = state[name] {
                    if !isDone {
                        throw PageBundleError(file: importer, line: 0, reason: "a cycle of imports through \(name)")
                    }
                    return
                }
                state[name] = false
                let found = try module(name, from: importer)
                for item in found.imports {
                    try visit(item.module, from: name)
                    if let missing = item.name(missingIn: try module(item.module, from: name).exports) {
                        throw PageBundleError(
                            file: name, line: item.line, reason: "\(item.module) does not export \(missing)")
                    }
                }
                state[name] = true
                order.append(name)
            }
            try visit(entry, from: entry)
            if state[rest] != nil { throw PageBundleError(file: rest, line: 0, reason: "the first file imports it") }
            let entryCount = order.count
            try visit(rest, from: entry)
            for name in order[entryCount...] where parsed[name]?.importsRest == true {
                throw PageBundleError(file: name, line: 0, reason: "the second file imports itself")
            }
            let definitions = order.map { parsed[$0]?.definition ?? "" }
            let restText =
                "export default function (modules) {\nif (modules[\"\(rest)\"]) return modules[\"\(rest)\"];\n"
                + definitions[entryCount...].joined() + "return modules[\"\(rest)\"];\n}\n"
            let entryText =
                "const modules = {};\nconst importRest = async () => (await import(\"\(restPath(restText))\")).default(modules);\n"
                + definitions[..<entryCount].joined() + "export { modules };\n"
            return Files(entry: entryText, rest: restText)
        }

        /// Returns a style sheet without comments, indentation and empty lines.
        static func compact(style: String) -> String {
            var text: [Character] = []
            var quote: Character?
            var isComment = false
            var previous: Character = " "
            for character in style {
                if isComment {
                    if previous == "*" && character == "/" { isComment = false }
                    previous = isComment ? character : " "
                    continue
                }
                if let open = quote {
                    if character == open, previous != "\\" { quote = nil }
                } else if character == "\"" || character == "'" {
                    quote = character
                } else if previous == "/", character == "*" {
                    text.removeLast()
                    (isComment, previous) = (true, " ")
                    continue
                }
                text.append(character)
                previous = character
            }
            return String(text).split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.joined(
                separator: "\n") + "\n"
        }

        /// What a module imports.
        private struct Import {
            enum Names {
                case all(as: String)
                case some([(name: String, local: String)])
            }

            let module: String
            let names: Names
            let line: Int

            /// Parses a statement; nil if it has another form than those that are supported.
            init?(_ statement: String, line: Int) {
                guard let statement = statement.between("import ", "\";"),
                    let split = statement.range(of: " from \"./")
                else { return nil }
                (module, self.line) = (String(statement[split.upperBound...]), line)
                let clause = String(statement[..<split.lowerBound])
                if let local = clause.between("* as ", "") {
                    guard local.isIdentifier else { return nil }
                    names = .all(as: local)
                    return
                }
                guard let list = clause.between("{", "}") else { return nil }
                var found: [(name: String, local: String)] = []
                for item in list.split(separator: ",") {
                    let words = item.split(separator: " ").map(String.init)
                    if words.isEmpty { continue }
                    guard words.count == 1 || (words.count == 3 && words[1] == "as"), words.allSatisfy(\.isIdentifier)
                    else { return nil }
                    found.append((words[0], words[words.count - 1]))
                }
                names = .some(found)
            }

            /// The constants of the names, in the function of the module.
            var declaration: String {
                switch names {
                case .all(let local): return "const \(local) = modules[\"\(module)\"];\n"
                case .some(let names):
                    let list = names.map { $0.name == $0.local ? $0.name : "\($0.name): \($0.local)" }
                    return "const { \(list.joined(separator: ", ")) } = modules[\"\(module)\"];\n"
                }
            }

            /// Returns the first name that is not among the exports of the module.
            func name(missingIn exports: [String]) -> String? {
                guard case .some(let names) = names else { return nil }
                return names.first { !exports.contains($0.name) }?.name
            }
        }

        private struct Module {
            private(set) var imports: [Import] = []
            private(set) var exports: [String] = []
            private(set) var importsRest = false
            /// The statement that defines the module.
            private(set) var definition = ""

            init(_ name: String, _ source: String, rest: String) throws(PageBundleError) {
                var body: [String] = []
                var isComment = false
                var statement = ""
                var number = 0
                func failure(_ reason: String) -> PageBundleError {
                    PageBundleError(file: name, line: number, reason: reason)
                }
                for original in source.split(separator: "\n", omittingEmptySubsequences: false) {
                    number += 1
                    let line = String(original.drop { $0 == " " })
                    if isComment || line.hasPrefix("/*") {
                        isComment = !line.hasSuffix("*/")
                        if line.components(separatedBy: "*/").count > (isComment ? 1 : 2) {
                            throw failure("code after a comment")
                        }
                        continue
                    }
                    if line.isEmpty || line.hasPrefix("//") { continue }
                    guard let compact = ScriptLine.compact(line) else {
                        throw failure("a literal or comment of several lines")
                    }
                    if !statement.isEmpty || (original.hasPrefix("import") && !original.hasPrefix("import(")) {
                        statement += (statement.isEmpty ? "" : " ") + line
                        guard statement.hasSuffix(";") else { continue }
                        guard let item = Import(statement, line: number) else {
                            throw failure("an import that is not supported")
                        }
                        imports.append(item)
                        statement = ""
                        continue
                    }
                    var text = compact
                    if original.hasPrefix("export") {
                        guard let exported = Self.exported(by: line) else {
                            throw failure("an export that is not supported")
                        }
                        exports.append(exported)
                        text.removeFirst("export ".count)
                    }
                    let parts = text.components(separatedBy: "import(\"./\(rest)\")")
                    if parts.contains(where: { $0.contains("import(") || $0.contains("import.meta") }) {
                        throw failure("a dynamic import of another module than \(rest), or import.meta")
                    }
                    if parts.count > 1 { importsRest = true }
                    body.append(parts.joined(separator: "importRest()"))
                }
                if isComment { throw failure("a comment that does not end") }
                if !statement.isEmpty { throw failure("an import that does not end") }
                let lines =
                    ["modules[\"\(name)\"] = (() => {"] + body + [
                        "return { \(exports.joined(separator: ", ")) };", "})();\n",
                    ]
                definition = lines[0] + "\n" + imports.map(\.declaration).joined() + lines[1...].joined(separator: "\n")
            }

            /// Returns the name that a line exports; nil if its form is not supported.
            private static func exported(by line: String) -> String? {
                for keyword in ["const ", "function ", "async function ", "class "] {
                    guard
                        let name = line.between("export " + keyword, "")?.prefix(while: {
                            $0.isLetter || $0.isNumber || $0 == "_"
                        })
                    else { continue }
                    // A list of constants would export its first one only, and a pattern none.
                    return name.isEmpty ? nil : String(name)
                }
                return nil
            }
        }
    }

    extension String {
        /// The text between a prefix and a suffix; nil if one of them is missing.
        fileprivate func between(_ prefix: String, _ suffix: String) -> String? {
            guard hasPrefix(prefix), hasSuffix(suffix), count >= prefix.count + suffix.count else { return nil }
            return String(dropFirst(prefix.count).dropLast(suffix.count))
        }

        fileprivate var isIdentifier: Bool {
            first?.isLetter == true && allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
    }
#endif
