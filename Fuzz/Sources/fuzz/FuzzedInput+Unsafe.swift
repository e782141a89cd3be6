import CFuzzer
import Synchronization

/// The edge to libFuzzer, which is C: its arguments and its bytes are pointers.
enum FuzzedInput {
    /// The callback is a C function and can capture nothing.
    private static let target = Mutex<FuzzTarget?>(nil)

    /// Hands every input to the target until libFuzzer ends the process.
    static func run(_ chosen: FuzzTarget) {
        target.withLock { $0 = chosen }
        var count = CommandLine.argc
        // Lives as long as the process.
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        _ = unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            // The bytes are libFuzzer's and valid during the call; they are copied, because a harness may keep them.
            FuzzedInput.check(unsafe [UInt8](UnsafeBufferPointer(start: data, count: size)))
            return 0
        }
    }

    private static func check(_ input: [UInt8]) {
        do {
            try target.withLock { $0 }?.check(input)
        } catch {
            // A broken invariant ends the process as a trap does, which is how libFuzzer knows of it and keeps the input.
            fatalError("\(error)")
        }
    }
}
