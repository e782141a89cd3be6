import ChatDomain
import ChatTesting
import Foundation
import Testing

/// Commands and events print as their JSON, so that a failed expectation can be read and replayed.
struct DescriptionTests {
    private let ann = UserID(bits: 1)
    private let thread = ThreadID(bits: 2)

    @Test func valuesPrintAsTheirJSON() {
        let id = "00000000-0000-0000-0000-00000000000"
        let post = ChatCommand.postMessage(thread: thread, body: "a \"b\"", mentions: [ann], by: ann)
        let command =
            #"{"postMessage":{"thread":"\#(id)2","author":"\#(id)1","body":"a \"b\"","mentions":["\#(id)1"]}}"#
        #expect("\(post)" == command)
        #expect("\([post])" == "[\(command)]")
        #expect("\(CommandRequest(post, correlation: "c"))" == command.dropLast() + #","correlation":"c"}"#)
        let imported = CommandRequest(post, origin: .imported(sentAt: Timestamp(millisecondsSince1970: 5)))
        #expect("\(imported)" == command + " imported, sent at 1970-01-01T00:00:00.005Z")
        let event = ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 7), details: .init(.userRegistered, .user(ann)),
            content: .erased)
        let fields = #""userRegistered":{"user":"\#(id)1","username":null,"#
        #expect(
            "\(event)" == #"{"recordedAt":"1970-01-01T00:00:00.007Z","erased":true,"# + fields
                + #""foldKey":null,"subject":null}}"#)
        #expect("\(RecordedEvent(position: 3, event: event))" == #"{"position":3,"# + "\(event)".dropFirst())
        #expect("\(event.details)" == "{" + fields + #""subject":null}}"#)
        #expect("\([ann])" == "[\(id)1]")
    }

    /// What is printed is the whole command or event.
    @Test(arguments: Seeds.seeds(2)) func printedValuesCanBeDecoded(seed: UInt64) throws {
        var (generator, state, kinds) = (CommandGenerator(seed: seed), ChatState(), Set<EventKind>())
        let decoder = JSONDecoder()
        for number in 0..<600 {
            var request = generator.nextRequest()
            let printed = Data("\(request.command)".utf8)
            #expect(try decoder.decode(ChatCommand.self, from: printed) == request.command)
            request.origin = .native
            #expect(try decoder.decode(CommandRequest.self, from: Data("\(request)".utf8)) == request)
            let time = Timestamp(millisecondsSince1970: Int64(number))
            guard case .append(let events)? = try? state.decide(request, at: time, freshID: UInt128(number)) else {
                continue
            }
            for event in events {
                let recorded = RecordedEvent(position: state.head + 1, event: event)
                #expect(try decoder.decode(RecordedEvent.self, from: Data("\(recorded)".utf8)) == recorded)
                state.evolve(event, at: recorded.position)
                if let kind = event.kind { kinds.insert(kind) }
            }
        }
        #expect(kinds.count > 30)
    }
}
