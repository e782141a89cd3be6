#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import Observation

    /// The mode of `chat` at a terminal: draws the screen of a model, and hands it the keys.
    @MainActor struct ScreenMode {
        let client: ChatClient
        let terminal: Terminal
        let hasColours: Bool
        /// Ends the session at the server.
        let endSession: ScreenModel.Action

        /// Works until the user or a signal ends it.
        ///
        /// - Parameters:
        ///   - signals: An element for each signal that ends the process.
        ///   - resizes: An element for each change of the terminal's size.
        func run(_ signals: AsyncStream<Void>, resizes: AsyncStream<Void>) async throws -> ScreenModel.End {
            let model = ScreenModel(client, client: client, endSession: endSession)
            model.size = terminal.size
            model.connection = client.connection
            try terminal.takeScreen()
            defer { terminal.restore() }
            return try await withThrowingTaskGroup(of: ScreenModel.End?.self) { group in
                let states = client.connections
                group.addTask { try await draw(model) }
                group.addTask { await follow(model) }
                group.addTask { await readKeys(for: model) }
                group.addTask { await show(states, in: model) }
                group.addTask { await resize(model, at: resizes) }
                group.addTask { await tick(model) }
                group.addTask { [client] in
                    await client.run()
                    return nil
                }
                group.addTask {
                    var signals = signals.makeAsyncIterator()
                    await signals.next()
                    return .quit
                }
                defer { group.cancelAll() }
                while let end = try await group.next() { if let end { return end } }
                return .quit
            }
        }

        private func follow(_ model: ScreenModel) async -> ScreenModel.End? {
            await model.run()
            return nil
        }

        private func readKeys(for model: ScreenModel) async -> ScreenModel.End? {
            for await keys in TerminalInput.keys(of: terminal) { for key in keys { model.handle(key) } }
            // The terminal is gone.
            return .quit
        }

        private func show(_ states: AsyncStream<ConnectionState>, in model: ScreenModel) async -> ScreenModel.End? {
            for await state in states { model.connection = state }
            return nil
        }

        private func resize(_ model: ScreenModel, at resizes: AsyncStream<Void>) async -> ScreenModel.End? {
            for await _ in resizes { model.size = terminal.size }
            return nil
        }

        private func tick(_ model: ScreenModel) async -> ScreenModel.End? {
            while !Task.isCancelled {
                // A cancelled sleep is the end.
                try? await Task.sleep(for: .seconds(1))
                model.tick()
            }
            return nil
        }

        /// Draws each state of the model; only lines that have changed are written.
        private func draw(_ model: ScreenModel) async throws -> ScreenModel.End? {
            var drawn: (size: Terminal.Size, lines: [String])?
            let frames = Observations {
                (size: model.size, end: model.end, frame: ScreenFrame(model.state, model.size))
            }
            for await (size, end, frame) in frames {
                if let end { return end }
                let lines = frame.lines.map { $0.rendered(hasColours: hasColours) }
                var output = "\u{1b}[?25l"
                if drawn?.size != size {
                    output += "\u{1b}[0m\u{1b}[2J"
                    drawn = nil
                }
                for (row, line) in lines.enumerated() where drawn?.lines[row] != line {
                    output += "\u{1b}[\(row + 1);1H\u{1b}[2K\(line)"
                }
                if let cursor = frame.cursor { output += "\u{1b}[\(cursor.row + 1);\(cursor.column + 1)H\u{1b}[?25h" }
                drawn = (size, lines)
                try SystemIO.write(Array(output.utf8), to: terminal.descriptor, name: "the terminal")
            }
            return nil
        }
    }

    /// The keys of a terminal, read on a thread of their own.
    enum TerminalInput {
        /// After this pause, an escape is the key and not the beginning of a sequence.
        private static let pause = 50
        /// The pieces that wait to be handled; more than a person types.
        private static let mostPieces = 1_024

        /// Returns what is typed, until the terminal is gone.
        static func keys(of terminal: Terminal) -> AsyncStream<[Key]> {
            let (stream, continuation) = AsyncStream<[Key]>.makeStream(bufferingPolicy: .bufferingOldest(mostPieces))
            // It waits for the terminal, and ends with the process.
            Thread.detachNewThread {
                var parser = KeyParser()
                var buffer = [UInt8](repeating: 0, count: 4_096)
                do {
                    while true {
                        let count = try SystemIO.read(terminal.descriptor, into: &buffer, name: "the terminal")
                        if count == 0 { break }
                        var keys = parser.parse(buffer[..<count])
                        if !SystemIO.isReadable(terminal.descriptor, within: pause) { keys += parser.pause() }
                        if !keys.isEmpty { continuation.yield(keys) }
                    }
                } catch { StandardError.writeLine("\(ToolSpec.name): \(error)") }
                continuation.finish()
            }
            return stream
        }
    }
#endif
