import Foundation
import Synchronization

/// A PostgreSQL server for tests, with a new cluster in a directory of its own.
///
/// It listens on a Unix socket in that directory, and on a TCP port of 127.0.0.1. Everybody on this
/// machine can connect to it without a password. One server serves a whole test run: give each test
/// a log name of its own. A test that stops, kills or pauses the server starts one for itself.
///
///     @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
///     func appends() throws {
///         let server = try #require(try PostgresServer.shared.get())
///         let log = try PostgresLog.open(server.address(log: "appends"))
///     }
///
/// The functions block the calling thread. PostgreSQL does not run as root, so root starts it as
/// the user `postgres`, or else `nobody`. A shell stops the server and removes the directory when
/// the object is released or this process ends, also if the process is killed.
package final class PostgresServer: Sendable {
    /// A server could not be started, or one of its programs failed.
    package struct Failure: Error, CustomStringConvertible {
        /// What failed, with the output of the program.
        package let description: String
    }

    /// How a client reaches the server.
    package enum Transport: CaseIterable, Sendable {
        case socket, tcp
    }

    /// The directory of the cluster, the socket and the log of the server.
    package let directory: String

    /// The directory of PostgreSQL's programs.
    private let programs: String
    /// The words before each command: they change the user if this process is root.
    private let asUser: [String]
    private let settings: [String: String]
    private let port: Mutex<Int>
    private let process = Mutex<Process?>(nil)
    private let cleaner: Process
    /// The cleaner waits until this end of a pipe is closed.
    private let cleanerInput: FileHandle

    /// The directory of PostgreSQL's programs; nil if PostgreSQL is not installed.
    package static let programs: String? = {
        let debian = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).compactMap { Int($0) }
            .sorted(by: >)
        let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { String($0) }
        return (versions.map { "\(debian)/\($0)/bin" } + paths).first { path in
            ["initdb", "postgres", "psql"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(path)/\($0)") }
        }
    }()

    /// Whether PostgreSQL is installed.
    package static var isAvailable: Bool { programs != nil }

    /// A server for the whole test run, started at the first use; nil if PostgreSQL is not
    /// installed.
    package static let shared = Result { try start() }

    /// Makes a cluster and starts a server; nil if PostgreSQL is not installed.
    ///
    /// - Parameter settings: Settings of `postgresql.conf`. By default the server syncs its files,
    ///   as in production, and has buffers of 16 MiB.
    package static func start(settings: [String: String] = [:]) throws -> PostgresServer? {
        guard let programs else { return nil }
        let server = try PostgresServer(programs: programs, settings: settings)
        try server.start()
        return server
    }

    private init(programs: String, settings: [String: String]) throws {
        // Not in TMPDIR: the path of a socket is limited to 107 bytes, and the user of the server
        // must be able to enter the directory.
        directory = "/tmp/chat-journal-postgres-" + UUID().uuidString.prefix(8).lowercased()
        self.programs = programs
        self.settings = ["shared_buffers": "16MB", "max_connections": "50", "timezone": "UTC"].merging(settings) {
            _, given in given
        }
        port = Mutex(Self.somePort())
        let isRoot = getuid() == 0
        let hasPostgres = isRoot && (try? Self.run(["id", "-u", "postgres"])) != nil
        let user = hasPostgres ? "postgres" : "nobody"
        asUser =
            isRoot
            ? ["setpriv", "--reuid=\(user)", "--regid=\(try Self.run(["id", "-g", user]))", "--clear-groups"] : []
        try Self.run(["install", "-d", "-m", "700"] + (isRoot ? ["-o", user] : []) + [directory])
        let pipe = Pipe()
        cleaner = Process()
        cleaner.executableURL = URL(fileURLWithPath: "/bin/sh")
        cleaner.arguments = ["-c", Self.cleaning, "sh", directory]
        cleaner.standardInput = pipe
        try cleaner.run()
        cleanerInput = pipe.fileHandleForWriting
        try Self.run(
            asUser + [
                programs + "/initdb", "--data-checksums", "--no-sync", "--auth=trust", "--encoding=UTF8", "--no-locale",
                "--username=postgres", "--pgdata", dataDirectory,
            ])
    }

    deinit {
        do { try cleanerInput.close() } catch { fatalError("could not end the server in \(directory): \(error)") }
        cleaner.waitUntilExit()
    }

    /// Waits for the end of its input, then ends the server and removes the directory.
    ///
    /// An immediate shutdown also removes the server's shared memory. The file with the process id
    /// may be an old one, so the command of the process is compared.
    private static let cleaning = """
        cat >/dev/null
        pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
        is_server() { case $(ps -o args= -p "$pid" 2>/dev/null) in *"$1/data"*) ;; *) false ;; esac; }
        if [ -n "$pid" ] && is_server "$1"; then
            kill -CONT "$pid"; kill -QUIT "$pid"
            tries=0; while is_server "$1" && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
            if is_server "$1"; then kill -KILL "$pid"; fi
        fi
        tries=0; until rm -rf -- "$1" 2>/dev/null || [ $tries -eq 100 ]; do tries=$((tries + 1)); sleep 0.1; done
        """

    /// The directory of the cluster.
    package var dataDirectory: String { directory + "/data" }

    /// The address of a log in the database `postgres`, as a URI of libpq with the name of the log.
    package func address(_ transport: Transport = .socket, log: String) -> String {
        let port = port.withLock { $0 }
        return switch transport {
        case .socket: "postgres://postgres@/postgres?host=\(directory)&port=\(port)#\(log)"
        case .tcp: "postgres://postgres@127.0.0.1:\(port)/postgres#\(log)"
        }
    }

    /// The address of a log that no other test has.
    package func newAddress(_ transport: Transport = .socket) -> String {
        address(transport, log: "t" + UUID().uuidString.lowercased())
    }

    /// Runs statements with `psql`, and returns the values of their rows, separated by `|`.
    @discardableResult
    package func execute(_ statements: String) throws -> String {
        let port = port.withLock { "\($0)" }
        return try Self.run(
            [
                programs + "/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", directory, "-p", port, "-U", "postgres",
                "-c", statements,
            ])
    }
}

extension PostgresServer {
    /// Starts the server again, on the same addresses.
    package func start() throws {
        let deadline = Date() + 120
        while true {
            let logged = log().utf8.count
            let server = try spawn()
            while server.isRunning {
                if isReady(server.processIdentifier) {
                    process.withLock { $0 = server }
                    return
                }
                if Date() > deadline { throw Failure(description: "The server is not ready: \(log())") }
                Thread.sleep(forTimeInterval: 0.01)
            }
            let cause = String(decoding: log().utf8.dropFirst(logged), as: UTF8.self)
            if cause.contains("Address already in use"), process.withLock({ $0 == nil }) {
                port.withLock { $0 = Self.somePort() }
            } else if !cause.contains("still in use") || Date() > deadline {
                throw Failure(description: "The server has not started: \(cause)")
            }
            // Processes of a killed server are about to end.
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    /// Stops the server as an operator does; the connections end with an error.
    package func stop() { end(with: SIGINT) }

    /// Starts the server again as a standby that no other server sends to: it stays as it is.
    ///
    /// `SELECT pg_promote()` ends that.
    package func becomeStandby() throws {
        stop()
        try Self.run(asUser + ["touch", dataDirectory + "/standby.signal"])
        try start()
    }

    /// Keeps a copy of the data, for ``restore()``.
    package func save() throws {
        stop()
        try Self.run(asUser + ["cp", "-a", dataDirectory, dataDirectory + ".saved"])
        try start()
    }

    /// Starts the server again with the data of ``save()``, and keeps the present data instead.
    package func swapSaved() throws {
        stop()
        let script = "mv \"$1\" \"$1.other\" && mv \"$1.saved\" \"$1\" && mv \"$1.other\" \"$1.saved\""
        try Self.run(asUser + ["sh", "-c", script, "sh", dataDirectory])
        try start()
    }

    /// Removes the copy of ``save()``.
    package func discardSaved() throws { try Self.run(asUser + ["rm", "-r", dataDirectory + ".saved"]) }

    /// Starts the server again with the data of ``save()``, as one that was replaced and does not
    /// know it: it accepts writes, and no standby confirms them.
    package func restore() throws {
        stop()
        try Self.run(asUser + ["rm", "-r", dataDirectory])
        try Self.run(asUser + ["mv", dataDirectory + ".saved", dataDirectory])
        try setStandby("absent")
    }

    /// Starts the server again with the name of the standby that confirms commits; empty for none.
    package func setStandby(_ name: String) throws {
        stop()
        let script = "echo \"synchronous_standby_names = '$1'\" >>\"$2\""
        try Self.run(asUser + ["sh", "-c", script, "sh", name, dataDirectory + "/postgresql.conf"])
        try start()
    }

    /// Kills the server's first process with SIGKILL; the other processes notice that and end.
    package func kill() {
        let others = processes().dropFirst()
        end(with: SIGKILL, alsoContinuing: others)
    }

    /// Stops all processes of the server with SIGSTOP: connections stay open, and get no answer.
    package func pause() {
        // The first process starts no others once it has stopped.
        if let first = processes().first { Foundation.kill(first, SIGSTOP) }
        for process in processes().dropFirst() { Foundation.kill(process, SIGSTOP) }
    }

    /// Continues a server that was paused.
    package func resume() { for process in processes() { Foundation.kill(process, SIGCONT) } }

    private func end(with signal: Int32, alsoContinuing paused: ArraySlice<Int32> = []) {
        guard let server = process.withLock({ $0 }), server.isRunning else { return }
        Foundation.kill(server.processIdentifier, signal)
        for process in paused { Foundation.kill(process, SIGCONT) }
        server.waitUntilExit()
    }

    /// The processes of the server, the first one first.
    private func processes() -> [Int32] {
        guard let server = process.withLock({ $0 }), server.isRunning else { return [] }
        do {
            let children = try Self.run(["ps", "-A", "-o", "pid=", "-o", "ppid="]).split(separator: "\n").compactMap {
                line in
                let numbers = line.split(separator: " ").compactMap { Int32($0) }
                return numbers.last == server.processIdentifier ? numbers.first : nil
            }
            return [server.processIdentifier] + children
        } catch {
            fatalError("could not list the processes of the server: \(error)")
        }
    }

    private func spawn() throws -> Process {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let given = settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        server.arguments =
            asUser + [programs + "/postgres", "-D", dataDirectory, "-p", port.withLock { "\($0)" }, "-k", directory]
            + ["-c", "listen_addresses=127.0.0.1"] + given
        if !FileManager.default.fileExists(atPath: logFile) { try Data().write(to: URL(fileURLWithPath: logFile)) }
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: logFile))
        try log.seekToEnd()
        server.standardInput = FileHandle.nullDevice
        server.standardOutput = log
        server.standardError = log
        server.currentDirectoryURL = URL(fileURLWithPath: "/")
        try server.run()
        return server
    }

    /// The server writes its state to the eighth line of this file.
    private func isReady(_ server: Int32) -> Bool {
        guard let bytes = FileManager.default.contents(atPath: dataDirectory + "/postmaster.pid") else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count > 7 && lines[0] == "\(server)" && lines[7].hasPrefix("ready")
    }

    private var logFile: String { directory + "/log" }

    /// The log of the server.
    package func log() -> String {
        String(decoding: FileManager.default.contents(atPath: logFile) ?? Data(), as: UTF8.self)
    }

    /// A port below those that systems give to clients.
    private static func somePort() -> Int { Int.random(in: 20_000..<32_000) }

    /// Runs a program and returns its output without the last newline.
    @discardableResult
    private static func run(_ command: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "\(command.joined(separator: " ")) ended with \(process.terminationStatus): \(text)")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
