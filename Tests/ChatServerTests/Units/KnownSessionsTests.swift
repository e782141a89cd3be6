#if Server
    import ChatDomain
    import Testing

    @testable import ChatServer

    /// What a server that reads remembers of sessions.
    @Suite struct KnownSessionsTests {
        private let ann = UserID(bits: 1)
        private let bob = UserID(bits: 2)
        private let start = ContinuousClock.now

        @Test func answerIsKnownForATime() {
            var known = KnownSessions()
            known.note(ann, ofToken: "a", generation: 0, at: start)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start + .seconds(4)) == ann)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start + .seconds(5)) == nil)
            #expect(known.user(ofToken: "b", confirmedWithin: .seconds(5), of: start) == nil)
            known.note(nil, ofToken: "a", generation: 0, at: start)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start) == nil)
        }

        /// The session has ended between the answer and its arrival.
        @Test func answerOfBeforeTheEndIsNotNoted() {
            var known = KnownSessions()
            known.note(bob, ofToken: "b", generation: 0, at: start)
            let asked = known.generation
            known.forget(of: ann)
            known.note(ann, ofToken: "a", generation: asked, at: start)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start) == nil)
            #expect(known.user(ofToken: "b", confirmedWithin: .seconds(5), of: start) == bob)
            known.note(ann, ofToken: "a", generation: known.generation, at: start)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start) == ann)
            // That there is no session is believed at any time.
            known.note(nil, ofToken: "a", generation: asked, at: start)
            #expect(known.user(ofToken: "a", confirmedWithin: .seconds(5), of: start) == nil)
        }

        @Test func sessionsAreForgotten() {
            var known = KnownSessions()
            for (user, token) in [(ann, "a"), (ann, "b"), (bob, "c")] {
                known.note(user, ofToken: token, generation: 0, at: start)
            }
            known.forget(of: ann)
            #expect(
                ["a", "b", "c"].map { known.user(ofToken: $0, confirmedWithin: .seconds(5), of: start) } == [
                    nil, nil, bob,
                ])
            known.forgetAll()
            #expect(known.user(ofToken: "c", confirmedWithin: .seconds(5), of: start) == nil)
        }

        @Test func numberIsBounded() {
            var known = KnownSessions()
            for number in 0..<KnownSessions.maximumCount {
                known.note(ann, ofToken: "\(number)", generation: 0, at: start)
            }
            #expect(known.user(ofToken: "0", confirmedWithin: .seconds(300), of: start) == ann)
            // Those that are looked up again anyway go first.
            known.note(bob, ofToken: "new", generation: 0, at: start + .seconds(6))
            #expect(known.user(ofToken: "new", confirmedWithin: .seconds(5), of: start + .seconds(6)) == bob)
            #expect(known.user(ofToken: "0", confirmedWithin: .seconds(300), of: start) == nil)
        }
    }
#endif
