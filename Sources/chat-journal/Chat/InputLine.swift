#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatWire

    /// A line of the input of `chat --lines`.
    enum InputLine: Decodable {
        case command(CommandRequest)
        /// Takes back a command that was not sent, or was rejected.
        case withdraw(OutboxItem.ID)
        /// Writes the posts of a thread that are new or change from now on, or no more.
        case follow(ThreadID), unfollow(ThreadID)
        /// Marks a thread as read up to the last of its messages that was written.
        case read(ThreadID)
        case query(LineQuery)

        private struct ThreadField: Decodable {
            let thread: ThreadID

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: FieldName.self)
                guard let text = try container.decodeIfPresent(String.self, forKey: FieldName("thread")),
                    container.allKeys.count == 1, let thread = ThreadID(idOrOutwardCode: text)
                else {
                    throw DecodingError.dataCorruptedError(
                        forKey: FieldName("thread"), in: container,
                        debugDescription: "an id or an outward code is the only field")
                }
                self.thread = thread
            }
        }

        /// The value of a field of a query as its text.
        private struct Scalar: Decodable {
            let text: String

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(UInt64.self) {
                    text = "\(number)"
                } else {
                    text = try container.decode(String.self)
                }
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: FieldName.self)
            guard container.allKeys.count == 1, let key = container.allKeys.first else {
                self = .command(try CommandRequest(from: decoder))
                return
            }
            func thread() throws -> ThreadID { try container.decode(ThreadField.self, forKey: key).thread }
            switch key.stringValue {
            case "withdraw": self = .withdraw(try container.decode(OutboxItem.ID.self, forKey: key))
            case "follow": self = .follow(try thread())
            case "unfollow": self = .unfollow(try thread())
            case "read": self = .read(try thread())
            default:
                guard LineQuery.isName(key.stringValue) else {
                    self = .command(try CommandRequest(from: decoder))
                    return
                }
                let fields = try container.decode([String: Scalar].self, forKey: key).mapValues(\.text)
                self = .query(try LineQuery(key.stringValue, fields))
            }
        }
    }
#endif
