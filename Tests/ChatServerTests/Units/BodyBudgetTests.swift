#if Server
    import ChatAccounts
    import ChatDomain
    import Testing

    @testable import ChatServer

    @Suite struct BodyBudgetTests {
        /// A budget whose functions can be called in an expectation.
        private final class Budget {
            private var budget = BodyBudget()

            func take(_ byteCount: Int, from payer: BodyBudget.Payer) -> Bool { budget.take(byteCount, from: payer) }
            func giveBack(_ byteCount: Int, to payer: BodyBudget.Payer) { budget.giveBack(byteCount, to: payer) }
        }

        private let ann = BodyBudget.Payer.user(UserID(bits: 1))
        private let bob = BodyBudget.Payer.user(UserID(bits: 2))

        private func address(_ number: UInt8) throws -> BodyBudget.Payer {
            .address(try #require(ClientAddress(bytes: [192, 0, 2, number])))
        }

        @Test func userHasAShare() {
            let budget = Budget()
            #expect(budget.take(BodyBudget.userMaximum, from: ann))
            #expect(!budget.take(1, from: ann) && budget.take(1, from: bob))
            budget.giveBack(2, to: ann)
            #expect(budget.take(2, from: ann) && !budget.take(1, from: ann))
        }

        @Test func addressesHaveASmallShareTogether() throws {
            let budget = Budget()
            var payers: [BodyBudget.Payer] = []
            for number in 0..<UInt8(BodyBudget.anonymousMaximum / BodyBudget.addressMaximum) { payers.append(try address(number)) }
            for payer in payers { #expect(budget.take(BodyBudget.addressMaximum, from: payer) && !budget.take(1, from: payer)) }
            #expect(try !budget.take(1, from: address(255)) && !budget.take(1, from: .shared))
            // Users pay with what is theirs.
            #expect(budget.take(BodyBudget.userMaximum, from: ann))
            budget.giveBack(BodyBudget.addressMaximum, to: payers[0])
            #expect(budget.take(BodyBudget.addressMaximum, from: .shared) && !budget.take(1, from: .shared))
        }

        @Test func allTogetherHaveALimit() {
            let budget = Budget()
            let users = (1...UInt128(BodyBudget.maximum / BodyBudget.userMaximum)).map { BodyBudget.Payer.user(UserID(bits: $0)) }
            for user in users { #expect(budget.take(BodyBudget.userMaximum, from: user)) }
            let late = BodyBudget.Payer.user(UserID(bits: 99))
            #expect(!budget.take(BodyBudget.userMinimum + 1, from: late) && !budget.take(1, from: .shared))
            // A post of a user has room nevertheless.
            #expect(budget.take(BodyBudget.userMinimum, from: late) && !budget.take(1, from: late))
            budget.giveBack(BodyBudget.userMinimum, to: late)
            for user in users { budget.giveBack(BodyBudget.userMaximum, to: user) }
            #expect(budget.take(BodyBudget.userMaximum, from: .user(UserID(bits: 99))))
        }
    }
#endif
