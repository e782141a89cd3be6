#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import Foundation
    internal import Locking

    // Sends the outbox.
    extension SyncEngine {
        /// The most commands and bytes of a request.
        static let (mostCommands, mostBytes) = (100, 512 << 10)

        /// Sends the next commands; returns whether there were any.
        func sendBatch() async throws(ClientError) -> Bool {
            let limit = state.withLock { $0.batchLimit }
            var batch: [OutboxItem] = []
            try change { copy throws(ClientError) in
                batch = try copy.nextBatch(limit: limit, byteLimit: Self.mostBytes)
                var sending = CopyChanges()
                sending.outbox = batch.map { .sending($0) }
                return sending
            }
            guard !batch.isEmpty else { return false }
            let body: Data
            do { body = try JSONEncoder().encode(batch.map(\.request)) } catch { throw .storage(.damaged) }
            let answer: ClientAnswer
            do throws(TransportFailure) {
                answer = try await transport.send(
                    ClientRequest("POST", "/v1/commands", credentials: credentials, body: body))
            } catch { throw ClientError(error) }
            if let error = answer.error() {
                try refuse(batch, error)
                return true
            }
            let answers = try answer.decode([CommandAnswer].self)
            let results = zip(batch, answers).compactMap { item, answer in
                answer.result(of: item.request.command).map { (item.id, $0) }
            }
            guard answers.map(\.line) == Array(1...batch.count), results.count == batch.count
            else { throw .answerInvalid("The answers are not those to the commands that were sent.") }
            let position = answer.headers["resume-token"].flatMap { ResumeToken(checked: $0) }?.position
            try change { copy throws(ClientError) in
                try copy.end(results, asOf: position)
            }
            state.withLock { $0.batchLimit = min(Self.mostCommands, $0.batchLimit * 2) }
            return true
        }

        /// Handles the refusal of a whole batch, of which the server has executed nothing.
        private func refuse(_ batch: [OutboxItem], _ error: ClientError) throws(ClientError) {
            // Anything else is about the server or the session, and not about what the user wrote: so is a
            // field that a server of an earlier version does not know, which is sent again until it does.
            guard case .problem(let problem) = error, problem.retryAfter == nil,
                problem.code.rawValue != "unknownField",
                problem.line != nil || [400, 413].contains(problem.status)
            else { throw error }
            let wrong: OutboxItem
            if let line = problem.line, batch.indices.contains(line - 1) {
                wrong = batch[line - 1]
            } else if batch.count == 1 {
                wrong = batch[0]
            } else {
                // One of them is too much, or all together are.
                return state.withLock { $0.batchLimit = max(1, batch.count / 2) }
            }
            let rejection = Rejection(Rejection.Code(rawValue: problem.code.rawValue), problem.detail)
            try change { copy throws(ClientError) in
                try copy.end([(wrong.id, .failure(rejection))])
            }
        }
    }

    extension CommandAnswer {
        /// What was decided of a command; nil if it cannot be the answer to that one: a receipt has the
        /// id of what was to be created.
        fileprivate func result(of command: ChatCommand) -> Result<Receipt, Rejection>? {
            guard case .success(let receipt)? = result else { return result }
            guard receipt.position < .firstPending else { return nil }
            guard let id = command.createdPost else { return result }
            return receipt.message.map(PostID.message) == id || receipt.reply.map(PostID.reply) == id ? result : nil
        }
    }
#endif
