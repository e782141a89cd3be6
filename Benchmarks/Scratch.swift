import Foundation

/// Prints a line without buffering, so that it keeps its place among the lines of standard error.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Removes the files of a measurement; prints an error if that fails.
func discard(_ path: String) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
        try FileManager.default.removeItem(atPath: path)
    } catch {
        FileHandle.standardError.write(Data("left behind: \(path): \(error)\n".utf8))
    }
}

/// Creates a directory for measurements if it does not exist.
func makeDirectory(_ path: String) throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
