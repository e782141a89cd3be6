#if Server
    internal import Foundation

    /// The files that the page loads, made of its sources.
    struct PageFiles {
        /// The files whose paths have the digest of their content, by path.
        let named: [String: String]
        /// The sources that name them, by path: the document and the service worker.
        let changed: [String: String]

        /// Makes the files.
        ///
        /// - Parameters:
        ///   - sources: The sources by path, of which those of modules end with `.js`.
        ///   - digest: Returns a text for a name, which changes with the content.
        init(_ sources: [String: String], digest: (String) -> String) throws(PageBundleError) {
            func source(_ path: String) throws(PageBundleError) -> String {
                guard let text = sources[path] else { throw PageBundleError(file: path, line: 0, reason: "missing") }
                return text
            }
            func path(_ name: String, _ ending: String, of text: String) -> String {
                "/\(name).\(digest(text).prefix(16)).\(ending)"
            }
            var modules: [String: String] = [:]
            for (path, text) in sources where path.hasSuffix(".js") { modules[String(path.dropFirst())] = text }
            let joined = try PageBundle.join(modules, entry: "app.js", rest: "rest.js") { path("rest", "js", of: $0) }
            let style = PageBundle.compact(style: try source("/style.css"))
            let paths = (
                app: path("app", "js", of: joined.entry), rest: path("rest", "js", of: joined.rest),
                style: path("style", "css", of: style)
            )
            named = [paths.app: joined.entry, paths.rest: joined.rest, paths.style: style]
            var document = try source("/")
            for (old, new) in [("\"/app.js\"", paths.app), ("\"/style.css\"", paths.style)] {
                guard document.components(separatedBy: old).count == 2 else {
                    throw PageBundleError(file: "index.html", line: 0, reason: "it does not have \(old) once")
                }
                document = document.replacing(old, with: "\"\(new)\"")
            }
            let shell = ["/", paths.app, paths.rest, paths.style, "/icon.svg"].map { "\"\($0)\"" }.joined(
                separator: ", ")
            let version = digest(document + joined.rest + (try source("/icon.svg")))
            let worker = "const version = \"\(version)\";\nconst shell = [\(shell)];\n" + (try source("/worker.js"))
            changed = ["/": document, "/worker.js": worker]
        }
    }
#endif
