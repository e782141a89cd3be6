import Foundation

/// Prints a line at once, whatever standard output is, so that lines about errors stand where they belong.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Removes what a measurement has made; says so where it cannot.
func discard(_ path: String) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
        try FileManager.default.removeItem(atPath: path)
    } catch {
        FileHandle.standardError.write(Data("left behind: \(path): \(error)\n".utf8))
    }
}

/// Makes a directory for measurements, if it is not there.
func makeDirectory(_ path: String) throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
