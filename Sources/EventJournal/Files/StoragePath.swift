/// Paths as the operating system reads them: bytes, separated by slashes.
///
/// `String` searches by `Character` miss a slash that a combining mark follows, because the two are one `Character`.
package enum StoragePath {
    private static let slash = UInt8(ascii: "/")

    /// The non-empty names of a path, in order.
    package static func components(of path: String) -> [String] {
        let bytes = Array(path.utf8)
        var names: [String] = []
        var start = 0
        for end in 0...bytes.count where end == bytes.count || bytes[end] == slash {
            if start < end { names.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            start = end + 1
        }
        return names
    }

    /// The path without slashes at its end; the root stays `/`.
    package static func withoutTrailingSlashes(_ path: String) -> String {
        var end = path.utf8.endIndex
        while end > path.utf8.startIndex {
            let last = path.utf8.index(before: end)
            guard path.utf8[last] == slash else { break }
            end = last
        }
        if end == path.utf8.startIndex, !path.isEmpty { return "/" }
        return String(path[..<end])
    }

    /// The path of a name in a directory.
    package static func join(_ directory: String, _ name: String) -> String {
        directory.utf8.last == slash ? directory + name : directory + "/" + name
    }

    /// The directory that holds the last name of a path.
    ///
    /// Where that name is `.` or `..`, the file system has to tell: the answer ends with `/..`.
    package static func parent(of path: String) -> String {
        let path = withoutTrailingSlashes(path)
        if path == "/" { return "/" }
        let start = path.utf8.lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex
        let name = path.utf8[start...]
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return path + "/.." }
        if start == path.utf8.startIndex { return "." }
        return withoutTrailingSlashes(String(path[..<start]))
    }

    /// The path without `.`, repeated slashes and the `..` that a name before them answers.
    ///
    /// For storages without links: two paths lead to the same place exactly when their normal forms have the same bytes.
    package static func normalized(_ path: String) -> String {
        let isAbsolute = path.utf8.first == slash
        var names: [String] = []
        for name in components(of: path) where name != "." {
            guard name == ".." else {
                names.append(name)
                continue
            }
            if let last = names.last, last != ".." {
                names.removeLast()
            } else if !isAbsolute {
                names.append(name)
            }
        }
        return (isAbsolute ? "/" : "") + names.joined(separator: "/")
    }
}

/// A file name or path compared by its bytes.
///
/// Two names that are canonically equivalent are equal as `String`, and two files.
package struct StorageName: Hashable, Comparable, Sendable {
    /// The name.
    package let text: String

    /// Makes a name that is compared by its bytes.
    package init(_ text: String) { self.text = text }

    package static func == (left: StorageName, right: StorageName) -> Bool { Array(left.text.utf8) == Array(right.text.utf8) }

    package static func < (left: StorageName, right: StorageName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // Equal bytes are equal text, so the text's hash will do.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
