import Foundation

/// A directory of its own on the real file system, removed with the object.
package final class TemporaryDirectory: Sendable {
    /// The directory's path.
    package let path: String

    /// Creates the directory.
    package init() throws {
        path = NSTemporaryDirectory() + "chat-journal-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { fatalError("could not remove \(path): \(error)") }
    }

    /// The path of a file in the directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Every file below the directory with its bytes, by its path in the directory.
    package func contents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            contents[name] = FileManager.default.contents(atPath: file(name)).map { [UInt8]($0) } ?? []
        }
        return contents
    }
}
