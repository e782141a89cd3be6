import Foundation

/// A unique directory on the real file system, removed together with the object.
package final class TemporaryDirectory: Sendable {
    /// The path of the directory.
    package let path: String

    /// Creates the directory.
    ///
    /// - Parameter isVolatile: Whether it is in memory where the system has a file system for that,
    ///   so that a sync takes no time.
    package init(isVolatile: Bool = false) throws {
        let memory = "/dev/shm/"
        let parent = isVolatile && FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        path = parent + "chat-journal-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            fatalError("could not remove \(path): \(error)")
        }
    }

    /// Returns the path of a file in the directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Returns the bytes of every file below the directory, by relative path.
    package func contents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            contents[name] = FileManager.default.contents(atPath: file(name)).map { [UInt8]($0) } ?? []
        }
        return contents
    }
}
