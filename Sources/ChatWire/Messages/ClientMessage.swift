import ChatDomain
import ChatValues

/// A message of a client on a WebSocket: commands, the start of a follow or its end.
struct ClientMessage {
    enum Content {
        case commands(ClientCommands)
        case follow(after: String?, thread: String?)
        case unfollow(UInt64)
    }

    let id: UInt64
    let content: Content

    /// Decodes a message; sets `id` as soon as it is known, for the answer to a wrong message.
    init(_ text: [UInt8], actor: UserID, id: inout UInt64?) throws(Problem) {
        let members: [JSONScanner.Field]
        do throws(LineError) {
            members = try Self.members(of: text)
            guard let number = members.first(where: { $0.name == "id" }) else {
                throw LineError(.missingField, "the field is missing", field: "id")
            }
            self.id = try decodeLine(UInt64.self, from: Array(text[number.value]))
            id = self.id
        } catch {
            throw Problem(error)
        }
        let others = members.filter { $0.name != "id" }
        guard others.count == 1 else {
            throw Problem(
                LineError(others.isEmpty ? .missingField : .unknownField, "a message has an id and one other field"))
        }
        let value = Array(text[others[0].value])
        switch others[0].name {
        case "commands": content = .commands(try ClientCommands(value, actor: actor))
        case "follow":
            let fields: [String: String]
            do throws(LineError) { fields = try decodeLine([String: String].self, from: value) } catch {
                throw Problem(error)
            }
            if let unknown = fields.keys.sorted().first(where: { $0 != "after" && $0 != "thread" }) {
                throw Problem(LineError(.unknownField, "there is no such field", field: LineError.excerpt(unknown)))
            }
            content = .follow(after: fields["after"], thread: fields["thread"])
        case "unfollow":
            do throws(LineError) { content = .unfollow(try decodeLine(UInt64.self, from: value)) } catch {
                throw Problem(error)
            }
        default:
            throw Problem(LineError(.unknownField, "there is no such field", field: LineError.excerpt(others[0].name)))
        }
    }

    private static func members(of text: [UInt8]) throws(LineError) -> [JSONScanner.Field] {
        guard (try? UTF8Span(validating: text.span)) != nil else { throw LineError(.invalidUTF8, "not UTF-8") }
        let members: [JSONScanner.Field]?
        do throws(JSONScanError) { members = try JSONScanner.fields(of: text) } catch { throw LineError(error) }
        guard let members else { throw LineError(.wrongType, "the message is not an object") }
        return members
    }
}
