import CFuzzer
import Synchronization

/// The interface to libFuzzer, a C library: its arguments and bytes are pointers.
enum FuzzedInput {
    /// The target; static, because the callback is a C function and cannot capture it.
    private static let target = Mutex<FuzzTarget?>(nil)

    /// Passes every input to the target, until libFuzzer ends the process.
    static func run(_ chosen: FuzzTarget) {
        target.withLock { $0 = chosen }
        var count = CommandLine.argc
        // Lives as long as the process.
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        _ = unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            // libFuzzer's bytes are valid during the call only; a harness may keep them, so they
            // are copied.
            FuzzedInput.check(unsafe [UInt8](UnsafeBufferPointer(start: data, count: size)))
            return 0
        }
    }

    private static func check(_ input: [UInt8]) {
        do {
            try target.withLock { $0 }?.check(input)
        } catch {
            // A violated invariant ends the process like a trap, so that libFuzzer saves the input.
            fatalError("\(error)")
        }
    }
}
