import Foundation

/// A file of callgrind: the instructions of each function.
///
/// The format is that of *Callgrind Format Specification* in valgrind's manual.
struct CallgrindFile {
    /// The instructions of all functions except the C library's allocator.
    ///
    /// How many that takes depends on where free memory lies, which differs between runs by more
    /// than what a change costs. Its calls are counted as allocations.
    private(set) var count: Double = 0

    private static let allocator: Set<Substring> = [
        "malloc", "calloc", "realloc", "free", "_int_malloc", "_int_free", "_int_realloc", "_int_memalign",
        "malloc_consolidate",
        "alloc_perturb", "free_perturb", "sysmalloc", "systrim", "unlink_chunk",
    ]

    init(_ path: String) throws {
        var names: [Substring: Substring] = [:]
        var (isCounted, isCall) = (true, false)
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("fn=(") || line.hasPrefix("cfn=(") {
                // A number, and at its first use the name: `fn=(12) malloc`.
                let text = line[line.index(after: line.firstIndex(of: "(") ?? line.startIndex)...]
                let number = text.prefix { $0 != ")" }
                let name = text.dropFirst(number.count + 1).drop { $0 == " " }
                if !name.isEmpty { names[number] = name }
                // The compiler's variants of a function have a suffix: `unlink_chunk.constprop.0`.
                if line.hasPrefix("fn") {
                    isCounted = !Self.allocator.contains((names[number] ?? "").prefix { $0 != "." })
                }
            } else if line.hasPrefix("calls=") {
                isCall = true
            } else if let first = line.first, first.isNumber || "+-*".contains(first) {
                // A line of the source, and its instructions. After `calls=` they are those of the
                // called function.
                if isCounted, !isCall {
                    guard let number = line.split(separator: " ").last.flatMap({ Double($0) }) else {
                        throw UsageError("\(path): not a line of costs: \(line)")
                    }
                    count += number
                }
                isCall = false
            }
        }
        guard count > 0 else { throw UsageError("\(path) has no instructions") }
    }
}
