#if Client || canImport(SQLite3)
    internal import ChatDomain
    public import ChatLive
    internal import ChatValues
    internal import LocalStorage

    /// What became of an outbox when its client has started over.
    public struct StartingOver: Hashable, Sendable, CustomStringConvertible {
        /// The number of commands that were moved to the new copy.
        public internal(set) var movedCount = 0
        /// The numbers of the commands that could not be read, ascending; some of them can be those
        /// of commands that were sent long ago.
        public internal(set) var lost: [ClosedRange<OutboxItem.ID>] = []
        /// The path of the former file, if it could not be read at all or belongs to another user or
        /// server; nil if it was replaced.
        public internal(set) var setAside: String?
        /// Whether the former file is one of the same user and server.
        var isReadable = false

        /// Sentences for people.
        public var description: String {
            var text = "Commands moved to the new copy: \(movedCount)."
            if !lost.isEmpty {
                let numbers = lost.prefix(10).map { range in
                    if range.upperBound == .max { return "\(range.lowerBound) and later" }
                    return range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
                }
                let others = lost.count > numbers.count ? " and others" : ""
                text += " These numbers could not be read, and what waited of them is lost: "
                text += "\(numbers.joined(separator: ", "))\(others)."
            }
            if let setAside {
                text += " The former file cannot be read, or belongs to another user or server: it is \(setAside) now."
            }
            return text
        }

        fileprivate mutating func lose(_ range: ClosedRange<OutboxItem.ID>) {
            if let last = lost.last, last.upperBound == range.lowerBound - 1 {
                lost[lost.count - 1] = last.lowerBound...range.upperBound
            } else {
                lost.append(range)
            }
        }
    }

    /// A command of a file that can be damaged.
    private enum FormerItem {
        case item(OutboxItem, cause: SQLValue)
        /// It is there, and is none that the user can have written.
        case unsound(OutboxItem.ID)
        /// There is none.
        case none
        /// Where it would be, the file is damaged.
        case unreadable
    }

    extension Database<ClientError> {
        /// The most numbers around a damaged place that are looked for one by one.
        private static var mostLookUps: OutboxItem.ID { 10_000 }

        /// Adds the commands of another file, as far as they can be read.
        ///
        /// - Parameters:
        ///   - path: The file, which can be damaged, or none of this program's.
        ///   - owner: The server and the user that it must have.
        ///   - user: The user who must have written the commands.
        /// - Throws: ``ClientError/storage(_:file:)`` with `held` if another program has the file.
        func takeOutbox(
            of path: String, owner: String, of user: UserID
        ) throws(ClientError) -> StartingOver {
            var result = StartingOver()
            let former: Database<ClientError>
            do throws(ClientError) {
                // If it fails, the opening does too.
                _ = PrivateFile.restrict(path)
                former = try Database(path)
                guard try former.run("SELECT value FROM facts WHERE key = 'owner'") == [[.text(owner)]] else {
                    return result
                }
            } catch {
                guard error.storage != .held else { throw error.about(path) }
                return result
            }
            defer { former.close() }
            result.isReadable = true
            // From the first one to a damaged place, from the last one to it, and one by one between.
            var (first, last) = (OutboxItem.ID(1), OutboxItem.ID.max)
            while case let found = former.formerItem("number >= ? ORDER BY number", first, of: user),
                let number = found.number, number >= first, number < .max
            {
                try take(found, &result)
                first = number + 1
            }
            guard case .unreadable = former.formerItem("number >= ? ORDER BY number", first, of: user) else {
                return result
            }
            while case let found = former.formerItem("number <= ? ORDER BY number DESC", last, of: user),
                let number = found.number, (first...last).contains(number)
            {
                try take(found, &result)
                if number == first { return result.sorted }
                last = number - 1
            }
            if last == .max, let sequence = former.lastNumber { last = sequence }
            guard first <= last else { return result.sorted }
            let end = last - first < Self.mostLookUps ? last : first + Self.mostLookUps - 1
            for number in first...end {
                try take(former.formerItem("number = ?", number, of: user), at: number, &result)
            }
            if end < last { result.lose(end + 1...last) }
            return result.sorted
        }

        private func take(_ found: FormerItem, at number: OutboxItem.ID? = nil, _ result: inout StartingOver)
            throws(ClientError)
        {
            switch found {
            case .item(let item, let cause):
                var request = item.request
                let place = try place(of: &request.command)
                var rejection = SQLValue.null
                if case .rejected(let reason) = item.state { rejection = .blob(try Self.encode(reason)) }
                try run(
                    """
                    INSERT INTO outbox(number, command, writtenAt, creates, needs, list, attempts, rejection, cause)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    .integer(item.id), .blob(try Self.encode(request)),
                    .integer(item.writtenAt.millisecondsSince1970), place.creates ?? .null, place.needs ?? .null,
                    place.list?.key ?? .null, .integer(item.wasSent ? 1 : 0), rejection, cause)
                result.movedCount += 1
            case .unsound(let number): result.lose(number...number)
            case .unreadable: if let number { result.lose(number...number) }
            case .none: break
            }
        }

        /// The highest number that an item ever had; nil if that cannot be read.
        private var lastNumber: OutboxItem.ID? {
            guard
                case .integer(let number)? = (try? run("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'"))?.first?
                    .first, number < Self.mostNumber
            else { return nil }
            return number
        }

        /// More numbers than a device uses: the next one must have room.
        private static var mostNumber: OutboxItem.ID { 1 << 53 }

        private func formerItem(
            _ condition: String, _ number: OutboxItem.ID, of user: UserID
        ) -> FormerItem {
            let rows: [[SQLValue]]
            do throws(ClientError) {
                rows = try run("SELECT number, cause FROM outbox WHERE \(condition) LIMIT 1", .integer(number))
            } catch { return .unreadable }
            guard let row = rows.first else { return .none }
            guard case .integer(let found) = row[0] else { return .unreadable }
            guard found < Self.mostNumber, let item = try? outboxItem(found), item.canBeSent(by: user) else {
                return .unsound(found)
            }
            if case .integer = row[1] { return .item(item, cause: row[1]) }
            return .item(item, cause: .null)
        }
    }

    extension FormerItem {
        /// The number of a command that is there.
        fileprivate var number: OutboxItem.ID? {
            switch self {
            case .item(let item, _): item.id
            case .unsound(let number): number
            case .none, .unreadable: nil
            }
        }
    }

    extension OutboxItem {
        /// Whether the client of a user can have written it.
        fileprivate func canBeSent(by user: UserID) -> Bool {
            let command = request.command
            return command.canBeSent(by: user) && (command.id != nil || !command.kind.form.createsID)
        }
    }

    extension StartingOver {
        /// The result with the numbers in their order.
        fileprivate var sorted: StartingOver {
            var result = self
            result.lost.sort { $0.lowerBound < $1.lowerBound }
            return result
        }
    }
#endif
