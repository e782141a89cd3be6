#if Server
    import ChatAccounts
    import ChatDomain
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatServer

    /// The account of the memory that clients make the server hold.
    @Suite struct ClientBudgetTests {
        /// A budget whose functions can be called in an expectation.
        private final class Budget {
            private var budget = ClientBudget()

            func take(_ byteCount: Int, by client: Client) -> Bool { budget.take(byteCount, by: client) }
            func giveBack(_ byteCount: Int, by client: Client) { budget.giveBack(byteCount, by: client) }
        }

        private let limits = ClientBudget()
        private let ann = Client.user(UserID(bits: 1))
        private let bob = Client.user(UserID(bits: 2))

        private func address(_ number: UInt8) throws -> Client {
            .address(try #require(ClientAddress(bytes: [192, 0, 2, number])))
        }

        @Test func userHasAShare() {
            let budget = Budget()
            #expect(budget.take(limits.userMaximum, by: ann))
            #expect(!budget.take(1, by: ann) && budget.take(1, by: bob))
            budget.giveBack(2, by: ann)
            #expect(budget.take(2, by: ann) && !budget.take(1, by: ann))
        }

        @Test func addressesHaveASmallShareTogether() throws {
            let budget = Budget()
            var payers: [Client] = []
            for number in 0..<UInt8(limits.anonymousMaximum / limits.addressMaximum) {
                payers.append(try address(number))
            }
            for payer in payers { #expect(budget.take(limits.addressMaximum, by: payer) && !budget.take(1, by: payer)) }
            #expect(try !budget.take(1, by: address(255)) && !budget.take(1, by: .shared))
            // Users pay with what is theirs.
            #expect(budget.take(limits.userMaximum, by: ann))
            budget.giveBack(limits.addressMaximum, by: payers[0])
            #expect(budget.take(limits.addressMaximum, by: .shared) && !budget.take(1, by: .shared))
        }

        /// All together have a limit, of which a part is only for users who hold little.
        @Test func reserveIsForUsersWhoHoldLittle() {
            let budget = Budget()
            var (rest, number) = (limits.maximum - limits.reserve, UInt128(1))
            while rest > 0 {
                number += 1
                let bytes = min(rest, limits.userMaximum)
                #expect(budget.take(bytes, by: .user(UserID(bits: number))))
                rest -= bytes
            }
            #expect(!budget.take(limits.userMinimum + 1, by: ann) && !budget.take(1, by: .shared))
            #expect(!budget.take(1, by: .user(UserID(bits: 2))))
            // A post of a user has room nevertheless, and the reserve has an end.
            for user in 0..<UInt128(limits.reserve / limits.userMinimum) {
                let late = Client.user(UserID(bits: 1_000 + user))
                #expect(budget.take(limits.userMinimum, by: late) && !budget.take(1, by: late))
            }
            #expect(!budget.take(1, by: ann))
            budget.giveBack(limits.userMinimum, by: .user(UserID(bits: 1_000)))
            #expect(budget.take(1, by: ann))
        }

        /// Against a sum that is made anew, over random steps.
        @Test func countsAreThoseOfWhatIsHeld() throws {
            var random = SplitMix64(seed: Repetitions.seed)
            var limits = ClientBudget()
            (limits.maximum, limits.reserve, limits.anonymousMaximum) = (1_000, 200, 300)
            (limits.userMaximum, limits.userMinimum, limits.addressMaximum) = (400, 50, 100)
            let clients = try [ann, bob, .user(UserID(bits: 3)), address(1), address(2), .shared]
            for _ in 0..<Repetitions.few(20, of: 500) {
                let memory = ClientMemory(limits)
                var held: [HeldMemory] = []
                for _ in 0..<200 {
                    let (client, count) = (
                        clients.randomElement(using: &random) ?? ann, Int.random(in: 1...120, using: &random)
                    )
                    if Bool.random(using: &random), !held.isEmpty {
                        held.remove(at: Int.random(in: held.indices, using: &random))
                        continue
                    }
                    func sum(_ isIncluded: (Client) -> Bool = { _ in true }) -> Int {
                        held.reduce(0) { $0 + (isIncluded($1.client) ? $1.byteCount : 0) }
                    }
                    let own = sum { $0 == client } + count
                    let maximum =
                        switch client {
                        case .user: 400
                        case .address: 100
                        case .shared: 300
                        }
                    let isAllowed =
                        own <= maximum && (!client.isAnonymous || sum(\.isAnonymous) + count <= 300)
                        && sum() + count <= (!client.isAnonymous && own <= 50 ? 1_000 : 800)
                    let found = memory.hold(count, by: client)
                    #expect((found != nil) == isAllowed)
                    if let found { held.append(found) }
                    #expect(memory.byteCount == sum() && memory.byteCount <= 1_000)
                }
                held = []
                #expect(memory.byteCount == 0)
            }
        }

        @Test func existingBytesCanBeMoreThanThereAre() {
            let memory = ClientMemory()
            let held = HeldMemory(memory, ann, isOfMessages: true)
            held.set(limits.userMaximum)
            #expect(held.isWithinLimits && !memory.hasRoom(for: ann) && memory.hold(1, by: ann) == nil)
            held.add(1)
            #expect(!held.isWithinLimits && memory.isWithin(bob) && !memory.isExceeded)
            #expect(memory.messageByteCount == limits.userMaximum + 1)
            held.set(limits.userMaximum / 8 * 7)
            #expect(held.isWithinLimits && memory.hasRoom(for: ann))
            held.set(limits.maximum)
            #expect(memory.isExceeded && memory.hold(1, by: bob) == nil)
        }

        // MARK: The table of the documentation

        /// The sum of the table in ChatServer.md is that of the numbers in the code, and within the
        /// target.
        @Test func tableOfTheDocumentationIsThatOfTheCode() throws {
            let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let page = package.appendingPathComponent("Sources/ChatServer/ChatServer.docc/ChatServer.md")
            let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            func cells(_ name: String) throws -> [String] {
                let line = try #require(lines.first { $0.hasPrefix("| \(name) |") }, "\(name)")
                return Array(line.split(separator: "|").map(\.trimmingSpaces).dropFirst())
            }
            func bytes(_ text: String) throws -> Int {
                let parts = text.replacingOccurrences(of: ",", with: "").split(separator: " ")
                let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20]
                let (number, unit) = (try #require(Double(parts[0])), try #require(units[String(parts[1])]))
                return Int(number * Double(unit))
            }
            let connections = ServerOptions(listen: try #require(ListenAddress("127.0.0.1:0"))).maximumConnectionCount
            var sum = 0
            for (name, count, each) in [
                ("connections", connections, ServerMemory.connection), ("all clients", 1, limits.maximum),
                (
                    "passwords that are hashed", AccountOptions().concurrentHashes,
                    AccountOptions().passwordCost.memoryBytes
                ),
                ("sessions that are remembered", 2 * KnownSessions.maximumCount, ServerMemory.session),
                ("threads of requests, on two cores", 2, ServerMemory.thread),
            ] {
                let row = try cells(name)
                #expect(Int(row[0].replacingOccurrences(of: ",", with: "")) == count, "\(name)")
                #expect(try bytes(row[1]) == each && bytes(row[2]) == count * each, "\(name)")
                sum += count * each
            }
            #expect(try bytes(cells("sum")[2]) == sum && sum <= 240_000_000, "\(sum)")
            for (name, value) in [
                ("the reserve for users within their minimum", limits.reserve), ("a user", limits.userMaximum),
                ("the minimum of a user", limits.userMinimum), ("an address", limits.addressMaximum),
                ("all without a session", limits.anonymousMaximum), ("a WebSocket", ServerMemory.socket),
                ("a follow of it", ServerMemory.follow), ("a stream of events, an export", ServerMemory.stream),
                ("a batch of events that are not written", ServerMemory.batch), ("a request", ServerMemory.request),
                ("a query, until its answer is made", ServerMemory.query),
            ] { #expect(try bytes(cells(name)[0]) == value, "\(name)") }
        }

        // MARK: Giving memory back

        @Test func memoryIsGivenBackAfterAFall() {
            var trims = TrimSchedule()
            let start = ContinuousClock.now
            var calls: [Int] = []
            func second(_ second: Int, _ byteCount: Int) {
                if trims.isDue(byteCount, at: start + .seconds(second)) { calls.append(second) }
            }
            let fall = TrimSchedule.fall
            for (time, byteCount) in [0, fall - 1, 0, 0, 5 * fall, 5 * fall, 0, 0, 0, 0, 0, 0, 0, 0].enumerated() {
                second(time, byteCount)
            }
            // At once, and once more after the pause.
            #expect(calls == [6, 10])
            // A fall each second is no call each second.
            calls = []
            for time in 14..<54 { second(time, time % 2 == 0 ? 2 * fall : 0) }
            #expect(zip(calls, calls.dropFirst()).allSatisfy { $1 - $0 >= 4 } && calls.count >= 8)
        }
    }
#endif
