import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `events --follow` of the tool.
@Suite struct FollowTests {
    private static let command = #"{"registerUser":{"user":"0190a000-0000-7000-8000-0000000000a1","username":"Ann"}}"#

    @Test(arguments: [[], ["--follow"]]) func eventsEndAfterTheLastPosition(following: [String]) throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let commands = (1...5).map { #"{"registerUser":{"username":"Neighbour \#($0)"}}"# + "\n" }.joined()
        #expect(try ToolProcess.run(["run", journal], input: commands).status == 0)
        for (after, last) in [(0, 3), (1, 1), (2, 5), (0, 0)] {
            let ended = try ToolProcess.run(
                ["events", journal, "--json", "--after", "\(after)", "--up-to", "\(last)"] + following)
            #expect(ended.status == 0)
            let positions = ended.output.split(separator: "\n").compactMap { $0.split(separator: ",").first }
            #expect(positions.map(String.init) == (after..<max(after, last)).map { #"{"position":\#($0 + 1)"# })
        }
    }

    /// The tool waits for its reader in the middle of the journal, while another process appends.
    @Test func followBeginsWhereTheScanEnds() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let commands = (1...6_000).map { #"{"registerUser":{"username":"Neighbour \#($0)"}}"# + "\n" }.joined()
        #expect(try ToolProcess.run(["run", journal, "--batch", "4096"], input: commands).status == 0)
        let process = Process()
        process.executableURL = ToolProcess.executable
        process.arguments = ["events", journal, "--json", "--follow", "--up-to", "6002"]
        let output = Foundation.Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        // The pipe and the buffer of the tool hold far less than 4,096 events, after which it looks
        // at the journal again.
        var shown = output.fileHandleForReading.availableData
        #expect(try ToolProcess.run(["run", journal], input: Self.command + "\n").status == 0)
        while shown.count(where: { $0 == UInt8(ascii: "\n") }) < 5_000 {
            let some = output.fileHandleForReading.availableData
            if some.isEmpty { break }
            shown += some
        }
        let last = #"{"registerUser":{"username":"Neighbour 6002"}}"#
        #expect(try ToolProcess.run(["run", journal], input: last + "\n").status == 0)
        shown += try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let positions = String(decoding: shown, as: UTF8.self).split(separator: "\n").compactMap {
            $0.split(separator: ",").first
        }
        #expect(positions.map(String.init) == (1...6_002).map { #"{"position":\#($0)"# })
    }

    /// A follower with a viewer prints what the viewer must forget.
    @Test func followerOfAViewerTellsWhatToForget() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let (ann, bob) = ("0190a000-0000-7000-8000-0000000000a1", "0190a000-0000-7000-8000-0000000000b2")
        let (thread, message) = ("0190a000-0000-7000-8000-00000000d001", "0190a000-0000-7000-8000-00000000c001")
        let commands = """
            \(Self.command)
            {"registerUser":{"user":"\(bob)","username":"Bob"}}
            {"openThread":{"thread":"\(thread)","name":"Dogs","by":"\(ann)"}}
            {"joinThread":{"user":"\(bob)","thread":"\(thread)"}}
            {"postMessage":{"message":"\(message)","thread":"\(thread)","author":"\(ann)","body":"Milk?"}}

            """
        #expect(try ToolProcess.run(["run", journal], input: commands).status == 0)
        let leave = #"{"leaveThread":{"user":"\#(bob)","thread":"\#(thread)"}}"# + "\n"
        // The order of the erasure is the seventh event, the departure the eighth.
        for (flags, last, expected) in [
            (["--json"], "7", #"{"erased":{"positions":[[6,6]],"messages":["\#(message)"]"#),
            ([], "8", "accessLost  {\"thread\":\"\(thread)\"}\n"),
        ] {
            let process = Process()
            process.executableURL = ToolProcess.executable
            process.arguments = ["events", journal, "--follow", "--viewer", bob, "--up-to", last] + flags
            let output = Foundation.Pipe()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            try process.run()
            defer { process.terminate() }
            var shown = ""
            func wait(for text: String) throws {
                while !shown.contains(text) {
                    let some = output.fileHandleForReading.availableData
                    try #require(!some.isEmpty, "the follower has ended: \(shown)")
                    shown += String(decoding: some, as: UTF8.self)
                }
            }
            // It has opened the journal, and follows what comes next.
            try wait(for: "messagePosted")
            if flags.isEmpty {
                #expect(try ToolProcess.run(["run", journal], input: leave).status == 0)
            } else {
                #expect(try ToolProcess.run(["erase", journal, "--event", "6", "--reason", "spam"]).status == 0)
            }
            try wait(for: expected)
        }
    }

    /// No event is appended, so no write can detect the closed reader.
    @Test func followEndsWhenItsReaderCloses() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        #expect(try ToolProcess.run(["run", journal], input: Self.command + "\n").status == 0)
        let process = Process()
        process.executableURL = ToolProcess.executable
        process.arguments = ["events", journal, "--json", "--follow"]
        let (output, errors) = (Foundation.Pipe(), Foundation.Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        var shown = Data()
        while !shown.contains(UInt8(ascii: "\n")) {
            let some = output.fileHandleForReading.availableData
            if some.isEmpty { break }
            shown += some
        }
        #expect(String(decoding: shown, as: UTF8.self).hasPrefix(#"{"position":1,"#))
        // It runs while the output has a reader, also without events.
        Thread.sleep(forTimeInterval: 0.3)
        #expect(process.isRunning)
        try output.fileHandleForReading.close()
        if !inTurns(until: { !process.isRunning }) {
            Issue.record("it goes on although nobody reads")
            // A signal that the threads of a test, which are inherited, do not block.
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 1)
        #expect(try errors.fileHandleForReading.readToEnd()?.isEmpty != false)
    }
}
