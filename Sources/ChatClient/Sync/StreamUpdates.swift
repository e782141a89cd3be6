#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import Foundation

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
                        throw .answerInvalid("An event of the stream is not a JSON object.")
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
