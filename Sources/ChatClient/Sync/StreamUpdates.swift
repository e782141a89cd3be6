#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import Foundation

    /// Reads a stream of the server, and checks its order.
    struct StreamReader {
        /// The most updates of a batch, and the bytes of them with which it is full.
        static let (mostUpdates, mostBytes) = (256, 1 << 20)

        let stream: any ClientStream
        /// The token of the last event; nil before the first one of a new copy.
        private var known: ResumeToken?

        init(_ stream: any ClientStream, after known: ResumeToken?) { (self.stream, self.known) = (stream, known) }

        /// Waits for the next event, and returns it with those that have arrived with it; nil at the
        /// end of the stream.
        mutating func next() async throws(ClientError) -> StreamBatch? {
            var batch: StreamBatch?
            do throws(ClientError) {
                while batch?.isFull != true, let event = try await receive(isWaiting: batch == nil) {
                    // A comment before the first id has none.
                    if event.id == nil, event.data == nil { continue }
                    let token = try checkedToken(of: event)
                    known = token
                    if batch == nil { batch = StreamBatch(first: token) }
                    if let data = event.data { batch?.add(try StreamUpdate(event, data, token), data.utf8.count) }
                }
            } catch {
                if batch == nil { throw error }
                batch?.end = .failure(error)
            }
            return batch
        }

        private func receive(isWaiting: Bool) async throws(ClientError) -> ServerSentEvent? {
            do throws(TransportFailure) {
                return isWaiting ? try await stream.next() : try stream.nextReceived()
            } catch { throw ClientError(error) }
        }

        private func checkedToken(of event: ServerSentEvent) throws(ClientError) -> ResumeToken {
            guard let token = event.id.flatMap({ ResumeToken(checked: $0) }) else {
                throw .answerInvalid("An event of the stream has no resume token.")
            }
            guard known.map({ $0.journal == token.journal && $0.position <= token.position }) ?? true else {
                throw .answerInvalid("The stream goes back, or is that of another journal.")
            }
            return token
        }
    }

    /// Events of a stream that have arrived together.
    struct StreamBatch {
        /// The token of the first event.
        let first: ResumeToken
        private(set) var updates: [FollowedUpdate] = []
        /// What came after the updates, and is none: nothing else of the batch does.
        var end: Result<StreamUpdate, ClientError>?
        private var byteCount = 0

        init(first: ResumeToken) { self.first = first }

        /// Whether what follows belongs to the next batch.
        var isFull: Bool {
            end != nil || updates.count >= StreamReader.mostUpdates || byteCount >= StreamReader.mostBytes
        }

        mutating func add(_ update: StreamUpdate, _ count: Int) {
            guard case .update(let update) = update else { return end = .success(update) }
            updates.append(update)
            byteCount += count
        }
    }

    /// What an event of the server's stream says.
    enum StreamUpdate {
        case update(FollowedUpdate)
        /// An event of a later version, in which anything can have happened.
        case unknown(ResumeToken)
        /// The stream is about to end.
        case end
        /// The session has ended.
        case signedOut

        /// Decodes an event with data.
        ///
        /// - Throws: ``ClientError/answerInvalid(_:)`` for data that is no JSON object, or of
        ///   another position than its token.
        init(_ event: ServerSentEvent, _ data: String, _ token: ResumeToken) throws(ClientError) {
            let bytes = Data(data.utf8)
            switch event.name {
            case "lagged", "closing", "failed": self = .end
            case "signed-out": self = .signedOut
            default:
                do {
                    self = .update(try FollowedUpdate(event.name, bytes, token))
                } catch {
                    guard (try? JSONDecoder().decode([String: Ignored].self, from: bytes)) != nil else {
                        throw .answerInvalid("The event at position \(token.position) is not a JSON object.")
                    }
                    self = .unknown(token)
                }
            }
        }

        /// A value of JSON that is not looked at.
        private struct Ignored: Decodable { init(from decoder: any Decoder) {} }
    }

    extension FollowedUpdate {
        fileprivate init(_ name: String, _ data: Data, _ token: ResumeToken) throws {
            let decoder = JSONDecoder()
            switch name {
            case "erased": self = .erased(try decoder.decode(ErasedContent.self, from: data), token)
            case "accessLost": self = .accessLost(try decoder.decode(LostThread.self, from: data).thread, token)
            case "message":
                let recorded = try decoder.decode(RecordedEvent.self, from: data)
                guard recorded.position == token.position else {
                    throw ClientError.answerInvalid("an event of another position")
                }
                self = .event(FollowedEvent(recorded: recorded, resumeToken: token))
            default: throw ClientError.answerInvalid("an event of an unknown name")
            }
        }

        private struct LostThread: Decodable { let thread: ThreadID }
    }

    extension ResumeToken {
        /// The token of a text of the server; nil also beyond the positions that a copy can have.
        init?(checked text: String) {
            guard let token = ResumeToken(text), token.position < .firstPending else { return nil }
            self = token
        }
    }
#endif
