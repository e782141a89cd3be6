/// Operations on paths as the operating system interprets them: bytes separated by slashes.
///
/// A search of a `String` by `Character` misses a slash before a combining mark, because both form
/// one `Character`.
package enum StoragePath {
    private static let slash = UInt8(ascii: "/")

    /// Returns the non-empty names of a path, in order.
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

    /// Returns the path without trailing slashes; the root stays `/`.
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

    /// Returns the path of a name in a directory.
    package static func join(_ directory: String, _ name: String) -> String {
        directory.utf8.last == slash ? directory + name : directory + "/" + name
    }

    /// Returns the directory that contains the last name of a path.
    ///
    /// If that name is `.` or `..`, only the file system can resolve it: the result then ends with
    /// `/..`.
    package static func parent(of path: String) -> String {
        let path = withoutTrailingSlashes(path)
        if path == "/" { return "/" }
        let start = path.utf8.lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex
        let name = path.utf8[start...]
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return path + "/.." }
        if start == path.utf8.startIndex { return "." }
        return withoutTrailingSlashes(String(path[..<start]))
    }

    /// Returns the path without `.` and repeated slashes, and with each `..` resolved against the
    /// name before it.
    ///
    /// For storages without links: two paths name the same entry exactly if their normal forms have
    /// the same bytes.
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
/// Two canonically equivalent names are equal as `String` but name two files.
package struct StorageName: Hashable, Comparable, Sendable {
    /// The name.
    package let text: String

    /// Creates a name that is compared by its bytes.
    package init(_ text: String) { self.text = text }

    package static func == (left: StorageName, right: StorageName) -> Bool {
        Array(left.text.utf8) == Array(right.text.utf8)
    }

    package static func < (left: StorageName, right: StorageName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // The hash of the text is sufficient: equal bytes are equal text.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
