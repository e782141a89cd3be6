import Chat
import ChatDomain
import Testing

@testable import ChatWire

/// The routes of reactions, and reactions in posts.
@Suite struct ReactionRouteTests {
    private let community: Community
    /// Maya owns the thread, Om is a member, Zoe is none.
    private let maya, om, zoe: UserID
    private let thread = CommandSamples.thread
    private let message = CommandSamples.message
    private let reply = CommandSamples.reply

    init() throws {
        community = try Community()
        let users = try community.register("Maya", "Om", "Zoe")
        (maya, om, zoe) = (users[0], users[1], users[2])
        try community.execute(
            .openThread(id: thread, name: "Market", by: maya), .joinThread(thread: thread, by: om),
            .postMessage(id: message, thread: thread, body: "Apples", by: maya),
            .reply(id: reply, to: message, body: "Pears", by: om),
            .react(.message(message), emoji: "👍", by: om), .react(.message(message), emoji: ":wave:", by: maya),
            .react(.reply(reply), emoji: "❤", by: maya))
    }

    @Test func postHasCountsAndTheViewersOwn() async throws {
        let text = await community.get("/v1/messages/\(message)", as: om).text
        #expect(
            text.contains(
                #""reactions":[{"emoji":"👍","count":1,"mine":true},{"emoji":":wave:","count":1,"mine":false}]"#),
            "\(text)")
        let replies = await community.get("/v1/messages/\(message)/replies", as: maya).text
        #expect(
            replies.contains(#""reactions":[{"emoji":"❤\u{FE0F}","count":1,"mine":true}]"#)
                || replies.contains("\u{2764}\u{FE0F}"),
            "\(replies)")
    }

    @Test func pageListsUsers() async throws {
        let page = await community.get("/v1/messages/\(message)/reactions?limit=1", as: om)
        #expect(
            page.status == 200 && page.text.hasPrefix(#"{"items":[{"position":"#)
                && page.text.contains(#""emoji":":wave:","user":{"id":"\#(maya)""#))
        let thumbs = await community.get("/v1/messages/\(message)/reactions?emoji=%F0%9F%91%8D", as: maya)
        #expect(thumbs.text.contains(#""username":"Om""#) && !thumbs.text.contains("Maya"))
        let hearts = await community.get("/v1/replies/\(reply)/reactions", as: om)
        #expect(hearts.status == 200 && hearts.text.contains(#""username":"Maya""#))
        #expect(await community.get("/v1/messages/\(message)/reactions?emoji=ok", as: om).status == 400)
        #expect(await community.get("/v1/messages/\(message)/reactions", as: zoe).status == 404)
        #expect(await community.get("/v1/replies/\(message)/reactions", as: om).status == 404)
    }
}
