import ChatDomain
import ChatTesting
import Testing

/// Mutes and bans.
struct SanctionRulesTests {
    typealias Here = Neighbourhood

    static let post = ChatCommand.postMessage(thread: Here.dogs, body: "x", by: Here.cem)
    static let join = ChatCommand.joinThread(thread: Here.dogs, by: Here.cem)
    static let mute = ChatCommand.mute(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob)
    static let ban = ChatCommand.ban(user: Here.cem, thread: Here.dogs, reason: "spam", by: Here.bob)

    /// A time shortly after the last event of `moderated`.
    static func later(_ milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: Here.moderated.state.lastRecordedAt.millisecondsSince1970 + milliseconds)
    }

    /// The code of a command's rejection at a time, or nil if it is accepted.
    private func refusal(_ command: ChatCommand, after given: DeciderSpecification, at time: Timestamp) -> Rejection
        .Code?
    {
        do throws(Rejection) {
            _ = try given.state.decide(CommandRequest(command), at: time, freshID: 1_000)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func banEndsMembership() {
        let outcome = Here.moderated.when(Self.ban)
        #expect(
            outcome.eventDetails == [
                .init(.userBanned, .sanction(thread: Here.dogs, number: 8, user: Here.cem, by: Here.bob)),
                .init(.memberRemoved, .member(thread: Here.dogs, number: 9, user: Here.cem, by: Here.bob)),
            ])
        #expect(outcome.events.map(\.content) == [.reason("spam"), .reason("spam")])
        let former = Here.visited.when(
            .ban(user: Here.eli, thread: Here.dogs, reason: "spam", until: Self.later(500), by: Here.bob))
        #expect(
            former.eventDetails == [
                .init(
                    .userBanned,
                    .sanction(thread: Here.dogs, number: 10, user: Here.eli, by: Here.bob, until: Self.later(500)))
            ])
    }

    @Test func banOutlastsLeavingMovingAndRenaming() {
        let leftFirst = Here.moderated.given(.leaveThread(thread: Here.dogs, by: Here.cem), Self.ban)
        let bannedFirst = Here.moderated.given(
            Self.ban, .changeUsername(username: "Someone else", by: Here.cem),
            .setPostcode(postcode: "N1P 2NG", by: Here.cem))
        for given in [leftFirst, bannedFirst] {
            #expect(given.when(Self.join).rejection?.code == .banned)
            #expect(given.when(.invite(user: Here.cem, thread: Here.dogs, by: Here.ann)).rejection?.code == .banned)
            #expect(given.when(Self.post).rejection?.code == .notAMember)
        }
    }

    @Test func muteOutlastsLeavingAndRenaming() {
        let given = Here.moderated.given(
            Self.mute, .leaveThread(thread: Here.dogs, by: Here.cem),
            .changeUsername(username: "Someone else", by: Here.cem), Self.join
        )
        for command in [
            Self.post, .reply(to: Here.walk, body: "x", by: Here.cem),
            .edit(.message(Here.walk), body: "x", by: Here.cem),
            .edit(.reply(Here.woof), body: "x", by: Here.cem),
            .custom(kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.cem),
        ] {
            #expect(given.when(command).rejection?.code == .muted, "\(command)")
        }
        for command in [
            .retract(.message(Here.walk), by: Here.cem), .markRead(thread: Here.dogs, upTo: 1, by: Here.cem),
            .setNotifications(thread: Here.dogs, level: .none, by: Here.cem), .markInboxRead(upTo: 1, by: Here.cem),
            .report(.message(Here.walk), reason: "spam", by: Here.cem), .leaveThread(thread: Here.dogs, by: Here.cem),
            .postMessage(thread: Here.dogs, body: "x", by: Here.ann),
        ] as [ChatCommand] {
            #expect(!given.when(command).events.isEmpty, "\(command)")
        }
    }

    @Test func banFromOutwardCodeOutlastsMoves() {
        let banned = Here.moderated.given(.ban(user: Here.bob, thread: Here.sw1a, reason: "spam", by: Here.dee))
        let moved = banned.given(.setPostcode(postcode: "N1P 2NG", by: Here.bob))
        let back = moved.when(.setPostcode(postcode: "SW1A 1AB", by: Here.bob))
        #expect(back.eventDetails == [.init(.postcodeSet, .postcode(user: Here.bob, thread: Here.sw1a))])
        #expect(
            moved.given(back.events[0]).when(.joinThread(thread: Here.sw1a, by: Here.bob)).rejection?.code == .banned)
    }

    /// A sanction is in effect if its end is later than the recording time.
    @Test func sanctionEndsAtItsEnd() {
        let until = Self.later(500)
        let before = Self.later(499)
        let muted = Here.moderated.given(
            .mute(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob))
        #expect(refusal(Self.post, after: muted, at: before) == .muted)
        #expect(refusal(Self.post, after: muted, at: until) == nil)
        let banned = Here.moderated.given(
            .ban(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob))
        #expect(refusal(Self.join, after: banned, at: before) == .banned)
        #expect(refusal(Self.join, after: banned, at: until) == nil)
        #expect(refusal(Self.post, after: banned, at: until) == .notAMember, "the end of a ban joins nobody")
    }

    /// The recording time counts, which does not go back with the clock.
    @Test func sanctionEndsByRecordingTime() {
        let until = Self.later(500)
        let muted = Here.moderated.given(
            .mute(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob)
        ).given(
            ChatEvent(
                recordedAt: until, details: .init(.threadRead, .marker(user: Here.ann, thread: Here.dogs, upTo: 1))))
        #expect(refusal(Self.post, after: muted, at: Self.later(0)) == nil)
        let again = ChatCommand.mute(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob)
        #expect(refusal(again, after: muted, at: Self.later(0)) == .invalidUntil)
        #expect(
            refusal(.unmute(user: Here.cem, thread: Here.dogs, by: Here.bob), after: muted, at: Self.later(0)) == nil)
        #expect(muted.when(.unmute(user: Here.cem, thread: Here.dogs, by: Here.bob)).isUnchanged)
    }

    @Test func endLiesBetweenPresentAndLastRecordableTime() {
        for make in [
            { until in .mute(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob) },
            { until in .ban(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob) },
        ] as [(Timestamp?) -> ChatCommand] {
            let now = Self.later(100)
            #expect(refusal(make(nil), after: Here.moderated, at: now) == nil)
            #expect(refusal(make(Self.later(101)), after: Here.moderated, at: now) == nil)
            #expect(refusal(make(now), after: Here.moderated, at: now) == .invalidUntil)
            #expect(
                refusal(make(Self.later(-1)), after: Here.moderated, at: Self.later(-2)) == .invalidUntil,
                "the clock went back")
            #expect(
                refusal(make(Timestamp(millisecondsSince1970: .min)), after: Here.moderated, at: now) == .invalidUntil)
            #expect(refusal(make(Timestamp(millisecondsSince1970: 1 << 48 - 1)), after: Here.moderated, at: now) == nil)
            #expect(
                refusal(make(Timestamp(millisecondsSince1970: 1 << 48)), after: Here.moderated, at: now)
                    == .invalidUntil)
            #expect(
                refusal(make(Timestamp(millisecondsSince1970: .max)), after: Here.moderated, at: now) == .invalidUntil)
        }
    }

    @Test func endedBanLeavesRoleMember() {
        let until = Self.later(500)
        let rejoined = Here.moderated.given(
            .ban(user: Here.bob, thread: Here.dogs, reason: "spam", until: until, by: Here.ann)
        )
        .given(
            ChatEvent(
                recordedAt: until, details: .init(.threadRead, .marker(user: Here.ann, thread: Here.dogs, upTo: 1)))
        )
        .given(.joinThread(thread: Here.dogs, by: Here.bob))
        #expect(rejoined.when(.lockThread(thread: Here.dogs, by: Here.bob)).rejection?.code == .notAModerator)
        #expect(rejoined.when(.unban(user: Here.bob, thread: Here.dogs, by: Here.ann)).isUnchanged)
    }

    @Test func sameEndHasNoSecondEffect() {
        let until = Self.later(500)
        let given = Here.visited.given(
            .mute(user: Here.cem, thread: Here.dogs, reason: "spam", until: until, by: Here.bob),
            .ban(user: Here.eli, thread: Here.dogs, reason: "spam", until: until, by: Here.bob))
        #expect(
            given.when(.mute(user: Here.cem, thread: Here.dogs, reason: "", until: until, by: Here.ann)).isUnchanged)
        #expect(given.when(.ban(user: Here.eli, thread: Here.dogs, reason: "", until: until, by: Here.dee)).isUnchanged)
        for other in [nil, Self.later(400), Self.later(600)] {
            #expect(
                given.when(.mute(user: Here.cem, thread: Here.dogs, reason: "x", until: other, by: Here.ann)).events
                    .count == 1)
            #expect(
                given.when(.ban(user: Here.eli, thread: Here.dogs, reason: "x", until: other, by: Here.dee)).events
                    .count == 1)
        }
        let shortened = given.given(
            .mute(user: Here.cem, thread: Here.dogs, reason: "x", until: Self.later(400), by: Here.ann))
        #expect(refusal(Self.post, after: shortened, at: Self.later(400)) == nil)
    }

    @Test func endedSanctionCanBeRepeated() {
        let unmuted = Here.moderated.given(Self.mute, .unmute(user: Here.cem, thread: Here.dogs, by: Here.bob))
        #expect(unmuted.when(Self.post).events.count == 1)
        #expect(unmuted.when(.unmute(user: Here.cem, thread: Here.dogs, by: Here.bob)).isUnchanged)
        #expect(unmuted.when(Self.mute).events.count == 1)
        let unbanned = Here.moderated.given(Self.ban, .unban(user: Here.cem, thread: Here.dogs, by: Here.bob))
        #expect(unbanned.when(Self.post).rejection?.code == .notAMember, "the end of a ban joins nobody")
        #expect(unbanned.when(Self.join).events.count == 1)
        #expect(unbanned.when(Self.ban).eventDetails.compactMap(\.kind) == [.userBanned])
    }

    /// A moderator cannot act against a moderator, themselves included, or an owner.
    @Test(arguments: [Here.bob, Here.cem, Here.ann]) func moderatorActsAgainstNoModerator(user: UserID) {
        let given = Here.moderated.given(
            .setRole(user: Here.cem, thread: Here.dogs, role: .moderator, by: Here.ann),
            .mute(user: user, thread: Here.dogs, reason: "x", by: Here.dee))
        for command in [
            .mute(user: user, thread: Here.dogs, reason: "x", by: Here.bob),
            .unmute(user: user, thread: Here.dogs, by: Here.bob),
            .ban(user: user, thread: Here.dogs, reason: "x", by: Here.bob),
            .unban(user: user, thread: Here.dogs, by: Here.bob),
            .removeMember(user: user, thread: Here.dogs, reason: "x", by: Here.bob),
        ] as [ChatCommand] {
            #expect(given.when(command).rejection?.code == .notAnOwner, "\(command)")
        }
    }

    /// Being an operator protects against nothing.
    @Test func moderatorActsAgainstOperator() {
        let given = Here.moderated.given(.joinThread(thread: Here.dogs, by: Here.dee))
        #expect(given.when(.ban(user: Here.dee, thread: Here.dogs, reason: "x", by: Here.bob)).events.count == 2)
        let banned = given.given(.ban(user: Here.dee, thread: Here.dogs, reason: "x", by: Here.bob))
        #expect(banned.when(.joinThread(thread: Here.dogs, by: Here.dee)).rejection?.code == .banned)
        #expect(banned.when(.unban(user: Here.dee, thread: Here.dogs, by: Here.dee)).events.count == 1)
    }

    @Test func ownersAndOperatorsActAgainstEveryone() {
        for by in [Here.ann, Here.dee] {
            #expect(Here.moderated.when(.ban(user: Here.bob, thread: Here.dogs, reason: "x", by: by)).events.count == 2)
            #expect(
                Here.moderated.when(.mute(user: Here.ann, thread: Here.dogs, reason: "x", by: by)).events.count == 1)
            #expect(
                Here.moderated.when(.removeMember(user: Here.bob, thread: Here.dogs, reason: "x", by: by)).events.count
                    == 1)
        }
    }

    @Test func banEndsInvitation() {
        let given = Here.clubbed.given(
            .invite(user: Here.eli, thread: Here.club, by: Here.bob),
            .ban(user: Here.eli, thread: Here.club, reason: "x", by: Here.bob),
            .unban(user: Here.eli, thread: Here.club, by: Here.bob))
        #expect(given.when(.acceptInvitation(thread: Here.club, by: Here.eli)).rejection?.code == .unknownThread)
        #expect(given.when(.invite(user: Here.eli, thread: Here.club, by: Here.bob)).events.count == 1)
    }

    static let longest = String(repeating: "r", count: 512)

    @Test(arguments: [
        (longest, true), (longest + "r", false), (String(repeating: "é", count: 256), true),
        (String(repeating: "é", count: 257), false),
        ("", false), (" \n\u{2003}", false), ("\0", true), (" x ", true),
    ])
    func reasonHasUpTo512Bytes(reason: String, isValid: Bool) {
        for command in [
            .mute(user: Here.cem, thread: Here.dogs, reason: reason, by: Here.bob),
            .ban(user: Here.cem, thread: Here.dogs, reason: reason, by: Here.bob),
            .removeMember(user: Here.cem, thread: Here.dogs, reason: reason, by: Here.bob),
            .remove(.message(Here.walk), reason: reason, by: Here.bob),
            .remove(.reply(Here.woof), reason: reason, by: Here.bob),
            .report(.message(Here.walk), reason: reason, by: Here.bob),
            .report(.reply(Here.woof), reason: reason, by: Here.bob),
        ] as [ChatCommand] {
            let outcome = Here.moderated.when(command)
            #expect(outcome.rejection?.code == (isValid ? nil : .invalidReason))
            if isValid { #expect(outcome.events.allSatisfy { $0.reason == reason }) }
        }
    }
}
