import Foundation

/// Prints a line without buffering, so that it keeps its place among the lines of standard error.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Prints a line on standard error.
func printError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

/// Removes the files of a measurement; prints an error if that fails.
func discard(_ path: String) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
        try FileManager.default.removeItem(atPath: path)
    } catch {
        printError("left behind: \(path): \(error)")
    }
}

/// Creates a directory for measurements if it does not exist.
func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
}
