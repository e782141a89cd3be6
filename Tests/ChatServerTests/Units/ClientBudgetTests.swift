#if Server
    import ChatAccounts
    import ChatDomain
    import Testing

    @testable import ChatServer

    @Suite struct ClientBudgetTests {
        /// A budget whose functions can be called in an expectation.
        private final class Budget {
            private var budget = ClientBudget.bodies

            func take(_ byteCount: Int, by client: Client) -> Bool { budget.take(byteCount, by: client) }
            func giveBack(_ byteCount: Int, by client: Client) { budget.giveBack(byteCount, by: client) }
        }

        private let ann = Client.user(UserID(bits: 1))
        private let bob = Client.user(UserID(bits: 2))

        private func address(_ number: UInt8) throws -> Client {
            .address(try #require(ClientAddress(bytes: [192, 0, 2, number])))
        }

        @Test func userHasAShare() {
            let budget = Budget()
            #expect(budget.take(ClientBudget.bodies.userMaximum, by: ann))
            #expect(!budget.take(1, by: ann) && budget.take(1, by: bob))
            budget.giveBack(2, by: ann)
            #expect(budget.take(2, by: ann) && !budget.take(1, by: ann))
        }

        @Test func addressesHaveASmallShareTogether() throws {
            let budget = Budget()
            var payers: [Client] = []
            for number in 0..<UInt8(ClientBudget.bodies.anonymousMaximum / ClientBudget.bodies.addressMaximum) {
                payers.append(try address(number))
            }
            for payer in payers {
                #expect(budget.take(ClientBudget.bodies.addressMaximum, by: payer) && !budget.take(1, by: payer))
            }
            #expect(try !budget.take(1, by: address(255)) && !budget.take(1, by: .shared))
            // Users pay with what is theirs.
            #expect(budget.take(ClientBudget.bodies.userMaximum, by: ann))
            budget.giveBack(ClientBudget.bodies.addressMaximum, by: payers[0])
            #expect(budget.take(ClientBudget.bodies.addressMaximum, by: .shared) && !budget.take(1, by: .shared))
        }

        @Test func allTogetherHaveALimit() {
            let budget = Budget()
            let users = (1...UInt128(ClientBudget.bodies.maximum / ClientBudget.bodies.userMaximum)).map {
                Client.user(UserID(bits: $0))
            }
            for user in users { #expect(budget.take(ClientBudget.bodies.userMaximum, by: user)) }
            let late = Client.user(UserID(bits: 99))
            #expect(!budget.take(ClientBudget.bodies.userMinimum + 1, by: late) && !budget.take(1, by: .shared))
            // A post of a user has room nevertheless.
            #expect(budget.take(ClientBudget.bodies.userMinimum, by: late) && !budget.take(1, by: late))
            budget.giveBack(ClientBudget.bodies.userMinimum, by: late)
            for user in users { budget.giveBack(ClientBudget.bodies.userMaximum, by: user) }
            #expect(budget.take(ClientBudget.bodies.userMaximum, by: .user(UserID(bits: 99))))
        }
    }
#endif
