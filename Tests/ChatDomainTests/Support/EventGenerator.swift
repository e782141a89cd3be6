@testable import ChatDomain
import ChatTesting

/// Makes random events of every kind, valid under the rules or not: the encoding must carry both.
struct EventGenerator {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns one event of each known kind and one of an unknown kind.
    mutating func oneOfEachKind() -> [ChatEvent] {
        EventKind.allCases.map { event($0) } + [unknown()]
    }

    mutating func event(_ kind: EventKind) -> ChatEvent {
        let shape = shape(kind.form.layout)
        let edit: UInt128? = kind.form.has(.edit) ? pick([nil, 0, .max, random.bits128()]) : nil
        var event = ChatEvent(
            recordedAt: Timestamp(
                millisecondsSince1970: pick([0, 1, 255, 256, 1_584_921_600_123, 1 << 47, 1 << 48 - 1])),
            origin: origin(), details: EventDetails(kind, shape), edit: edit.map(EditID.init(bits:)),
            content: content(kind, shape),
            correlation: random.oneIn(3) ? text() : nil, mentions: kind.form.hasMentions ? mentions() : [])
        if kind.form.takesOnce { event.once = pick([nil, CommandID(bits: 0), id()]) }
        return event
    }

    private mutating func mentions() -> [UserID] { (0..<pick([0, 0, 1, 2, 50, 130])).map { _ in id() } }

    /// Returns an event of a kind of a later version: the common header, then random bytes.
    mutating func unknown() -> ChatEvent {
        let known = EventBytes(event(.userRegistered))
        let kind = pick((1...UInt8.max).filter { EventKind(encoded: $0) == nil })
        // The header and the optional correlation id stay; the other bytes are random.
        let kept =
            [kind] + known.kept.dropFirst()
            + (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        do throws(EventDecodingError) { return try EventBytes(kept: kept, erasable: known.erasable).event() } catch {
            preconditionFailure("an unknown kind has no rules to break: \(error)")
        }
    }

    mutating func text() -> String {
        var text = ""
        for _ in 0..<pick([0, 1, 3, 20, 130]) {
            text += pick([
                "a", "Z", " ", "\n", "\0", "\u{1B}", "\"", "\\", "/", "é", "e\u{301}", "ß", "李", "\u{202E}", "🥛",
                "\u{10FFFF}",
            ])
        }
        return text
    }

    private mutating func origin() -> EventOrigin {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .imported(sentAt: nil)
        case 1:
            .imported(
                sentAt: Timestamp(millisecondsSince1970: pick([-62_167_219_200_000, -1, 0, 1, 253_402_300_799_999])))
        default: .native
        }
    }

    private mutating func id<ID: EntityID>() -> ID {
        ID(bits: pick([0, 1, UInt128.max, random.bits128(), random.bits128()]))
    }

    private mutating func number() -> UInt64 {
        pick([0, 1, 127, 128, 16_383, 16_384, 1 << 32, 1 << 63, .max, random.next()])
    }

    private mutating func thread() -> ThreadID {
        guard random.oneIn(2), let code = OutwardCode(pick(["SW1A", "M1", "N1P", "B33"])) else { return id() }
        return ThreadID(code)
    }

    private mutating func shape(_ layout: EventLayout) -> EventShape {
        switch layout {
        case .user, .userErasure: .user(id())
        case .postcode: .postcode(user: id(), thread: thread())
        case .thread: .thread(thread(), number: number(), user: id())
        case .policy:
            .policy(
                thread: thread(), number: number(), policy: pick(ThreadPolicy.allCases),
                history: pick(ThreadHistory.allCases), by: id())
        case .post where random.oneIn(2):
            .reply(thread: thread(), number: number(), message: id(), reply: id(), by: id())
        case .message, .messageEdit, .post: .message(thread: thread(), number: number(), message: id(), by: id())
        case .reply, .replyEdit: .reply(thread: thread(), number: number(), message: id(), reply: id(), by: id())
        case .marker: .marker(user: id(), thread: thread(), upTo: number())
        case .session: .session(user: id(), session: id())
        case .member: .member(thread: thread(), number: number(), user: id(), by: id())
        case .role: .role(thread: thread(), number: number(), user: id(), role: pick(ThreadRole.allCases), by: id())
        case .sanction: sanction()
        case .messageReport: .messageReport(thread: thread(), message: id(), by: id())
        case .replyReport: .replyReport(thread: thread(), message: id(), reply: id(), by: id())
        case .block: .block(user: id(), by: id())
        case .custom: .custom(thread: thread(), number: number(), id: id(), by: id())
        case .notifications:
            .notifications(user: id(), thread: thread(), level: pick(NotificationLevel.allCases), until: end())
        case .inbox: .inbox(user: id(), upTo: number())
        case .repair: .repair(from: number())
        case .contentErasure, .none: .none
        }
    }

    private mutating func sanction() -> EventShape {
        .sanction(thread: thread(), number: number(), user: id(), by: id(), until: end())
    }

    private mutating func end() -> Timestamp? {
        let until: Int64? = pick([nil, 1, 255, 256, 1_584_921_600_123, 1 << 47, 1 << 48 - 1])
        return until.map { Timestamp(millisecondsSince1970: $0) }
    }

    private mutating func content(_ kind: EventKind, _ shape: EventShape) -> EventContent {
        switch kind.form.content {
        case .none: return .none
        case .registration:
            let subject = text()
            return .registration(username(), subject: subject.isEmpty ? nil : subject)
        case .username: return .username(username())
        case .postcode:
            guard let postcode = Postcode(pick(["SW1A 1AA", "M1 1AE", "N1P 2NG", "B33 8TH"])) else { return .none }
            return .postcode(postcode)
        case .threadName:
            if case .thread(let thread, _, _) = shape, thread.outwardCode != nil { return .none }
            return .threadName(text())
        case .body: return .body(text())
        case .device: return .device(text())
        case .reason: return .reason(text())
        case .emoji: return .emoji(Emoji(recorded: text()))
        case .about: return .about(text())
        case .payload: return .custom(kind: text(), payload: .present(payload()))
        case .erasure: return .erasure(reason: text(), positions: kind == .contentErased ? positions() : nil)
        }
    }

    private mutating func positions() -> PositionSet {
        PositionSet(
            (0..<pick([1, 2, 20])).map { _ in
                let first: Position =
                    pick([1, 2, 127, 128, 1 << 40, Position(Int.max) - 1_000_000]) + random.next() % 1_000
                return first...first + pick([0, 0, 1, 130, 70_000])
            })
    }

    private mutating func payload() -> CustomPayload {
        let text = pick(["null", "1.5", "\"\"", "[]", "{\"a\":[1,true,{}],\"b\":\"\\u001b \u{1F95B}\"}"])
        guard let payload = CustomPayload(text) else { preconditionFailure("every text is JSON") }
        return payload
    }

    /// A recorded username: any text, with its current fold key.
    private mutating func username() -> Username {
        let text = pick(["Ann", "Çelik", "straße", "Дима", "李雷", self.text()])
        return Username(text: text, foldKey: Username.foldKey(text))
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}
