import Columns

/// A rule that a recorded event breaks: no decider of this version would have appended it there.
public struct HistoryFault: Error, Hashable, Sendable {
    /// A stable name of the rule.
    public var problem: Problem
    /// A sentence for people.
    public var message: String

    /// The rules of a history.
    public enum Problem: String, Hashable, Sendable {
        case timeWentBack
        case threadNumberGap
        case unknownReference
        case identifierTwice
        case notAMember
        case notTheAuthor
        case afterRetraction
        case usernameTwice
        case subjectTwice
        case markerNotForward
        case markerBeyondHead
        case sessionEndedTwice
        case alreadyHeld
        case wrongResidence
        case notResident
        case invalidText
    }
}

extension ChatState {
    /// Finds what is wrong with an event as the next one of this history; nothing, if a decider of this version appended it.
    ///
    /// Once events were lost (``lostEvents``), an event is not at fault for what one of them may have brought about: what it refers to may have been begun, a
    /// member may have joined or left, a user may have moved, a name may have become free, and numbers of a thread may be missing. What no lost event can
    /// explain stays a fault: a time or a number that goes back, an id that was seen twice, somebody else's post, a change after a retraction.
    ///
    /// - Complexity: O(1) on average.
    public func faults(of event: Event) -> [HistoryFault] { rules.faults(of: event, identities) }
}

extension RuleState {
    /// Finds what is wrong with an event as the next one of a history: see ``ChatState/faults(of:)``.
    package func faults(of event: Event, _ identities: borrowing Identities) -> [HistoryFault] {
        var faults: [HistoryFault] = []
        func require(_ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String) {
            if !condition { faults.append(HistoryFault(problem: problem, message: message())) }
        }
        /// Requires what a lost event can have brought about.
        func requireUnlessLost(_ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String) {
            require(condition || lostEvents > 0, problem, message())
        }
        require(event.recordedAt >= lastRecordedAt, .timeWentBack, "recorded at \(event.recordedAt), before \(lastRecordedAt)")
        if let thread = event.fact.thread, let number = event.fact.threadNumber {
            let expected = identities.threads.find(thread).map { nextNumber(in: $0) } ?? 1
            require(
                number == expected || lostEvents > 0 && number > expected, .threadNumberGap,
                "number \(number) of thread \(thread), where \(expected) is due")
        }
        let user = event.fact.user.flatMap { registeredUser($0, identities) }
        if case .userRegistered(let fact) = event.fact {
            require(user == nil, .identifierTwice, "user \(fact.user) is registered already")
        } else if let id = event.fact.user {
            requireUnlessLost(user != nil, .unknownReference, "user \(id) was never registered")
        }
        let thread = event.fact.thread.flatMap { startedThread($0, identities) }
        if case .threadOpened(let fact) = event.fact {
            require(thread == nil, .identifierTwice, "thread \(fact.thread) is open already")
        } else if let id = event.fact.thread {
            requireUnlessLost(thread != nil, .unknownReference, "thread \(id) was never opened")
        }
        let membership = event.fact.thread.flatMap { thread in event.fact.user.flatMap { self.membership($0, thread, identities) } }
        let isMember = membership?.isMember ?? false
        switch event.fact {
        case .userRegistered, .usernameChanged:
            if let name = event.username, let owner = bearer(ofName: identities.names.find(name.foldKey)) {
                requireUnlessLost(owner == user, .usernameTwice, "the username \(name.text) belongs to user \(identities.userID(owner))")
            }
            if let subject = event.subject {
                require(owner(ofSubject: identities.subjects.find(subject)) == nil, .subjectTwice, "the subject belongs to another user")
            }
        case .postcodeSet(let fact):
            if let postcode = event.postcode {
                require(
                    ThreadID(postcode.outwardCode) == fact.thread, .wrongResidence, "\(postcode) does not belong to thread \(fact.thread)")
            }
        case .threadJoined(let fact):
            requireUnlessLost(!isMember, .alreadyHeld, "the user is a member already")
            if event.origin == .native, fact.thread.outwardCode != nil, let user {
                requireUnlessLost(residence(of: user, identities) == fact.thread, .notResident, "the user does not live in \(fact.thread)")
            }
        case .threadLeft: requireUnlessLost(isMember, .notAMember, "the user is not a member")
        case .messagePosted(let fact):
            require(identities.messages.find(fact.message.bits) == nil, .identifierTwice, "message \(fact.message) is posted already")
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
        case .replyPosted(let fact):
            require(identities.replies.find(fact.reply.bits) == nil, .identifierTwice, "reply \(fact.reply) is posted already")
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
            faults += self.faults(of: .message(fact.message), in: fact.thread, by: nil, isChange: true, identities)
        case .messageEdited(let fact):
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
            faults += self.faults(of: .message(fact.message), in: fact.thread, by: fact.by, isChange: true, identities)
        case .messageRetracted(let fact):
            faults += self.faults(of: .message(fact.message), in: fact.thread, by: fact.by, isChange: true, identities)
        case .replyEdited(let fact):
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
            faults += self.faults(of: .reply(fact.reply), in: fact.thread, by: fact.by, isChange: true, identities)
            faults += self.faults(of: .message(fact.message), in: fact.thread, by: nil, isChange: false, identities)
        case .replyRetracted(let fact):
            faults += self.faults(of: .reply(fact.reply), in: fact.thread, by: fact.by, isChange: true, identities)
            faults += self.faults(of: .message(fact.message), in: fact.thread, by: nil, isChange: false, identities)
        case .threadRead(let fact):
            requireUnlessLost(isMember, .notAMember, "the reader is not a member")
            require(fact.upTo <= head, .markerBeyondHead, "read up to \(fact.upTo), beyond the head \(head)")
            require(fact.upTo > membership?.readUpTo ?? 0, .markerNotForward, "read up to \(fact.upTo), not beyond the present marker")
        case .sessionStarted(let fact):
            require(identities.sessions.find(fact.session) == nil, .identifierTwice, "session \(fact.session) is started already")
        case .sessionEnded(let fact):
            if let session = identities.sessions.find(fact.session) {
                require(!sessions[session].hasEnded, .sessionEndedTwice, "session \(fact.session) has ended already")
                require(
                    Int(sessions[session].user) == identities.users.find(fact.user), .notTheAuthor,
                    "session \(fact.session) is another user's")
            } else {
                requireUnlessLost(false, .unknownReference, "session \(fact.session) was never started")
            }
        case .threadOpened(let fact):
            if event.origin == .native, fact.thread.outwardCode != nil, let user {
                requireUnlessLost(residence(of: user, identities) == fact.thread, .notResident, "the user does not live in \(fact.thread)")
            }
        case .lost, .unknown: break
        }
        if let problem = event.textProblem { require(false, .invalidText, problem) }
        return faults
    }

    private func membership(_ user: UserID, _ thread: ThreadID, _ identities: borrowing Identities) -> MembershipRow? {
        guard let user = identities.users.find(user), let thread = identities.threads.find(thread) else { return nil }
        return membership(of: user, in: thread, identities)
    }

    private func residence(of user: Int, _ identities: borrowing Identities) -> ThreadID? {
        users[user].residence == 0 ? nil : identities.threadID(Int(users[user].residence) - 1)
    }

    /// What is wrong with what an event says of a post: whether it exists, where, whose it is, and whether it could still change.
    private func faults(of post: Post, in thread: ThreadID, by user: UserID?, isChange: Bool, _ identities: borrowing Identities)
        -> [HistoryFault]
    {
        let place: Int
        let author: Int
        let isRetracted: Bool
        switch post {
        case .message(let id):
            guard let number = identities.messages.find(id.bits) else {
                return lostEvents > 0 ? [] : [HistoryFault(problem: .unknownReference, message: "message \(id) was never posted")]
            }
            (place, author) = (identities.messageFacts.place(number), identities.messageFacts.author(number))
            isRetracted = self.isRetracted(message: number)
        case .reply(let id):
            guard let number = identities.replies.find(id.bits) else {
                return lostEvents > 0 ? [] : [HistoryFault(problem: .unknownReference, message: "reply \(id) was never posted")]
            }
            (place, author) = (identities.messageFacts.place(identities.replyFacts.place(number)), identities.replyFacts.author(number))
            isRetracted = self.isRetracted(reply: number)
        }
        var faults: [HistoryFault] = []
        if identities.threads.id(place) != thread {
            faults.append(
                HistoryFault(problem: .unknownReference, message: "it stands in thread \(identities.threads.id(place)), not \(thread)"))
        }
        if let user, identities.users.id(author) != user {
            faults.append(HistoryFault(problem: .notTheAuthor, message: "its author is \(identities.users.id(author)), not \(user)"))
        }
        if isChange, isRetracted {
            faults.append(HistoryFault(problem: .afterRetraction, message: "it was retracted before"))
        }
        return faults
    }
}

extension Event {
    /// What no version has ever allowed in the text of an event, as far as it does not depend on the version of Unicode.
    fileprivate var textProblem: String? {
        if let body, !MessageBody.isValid(body) { return "the body is empty or over \(MessageBody.maximumByteCount) bytes" }
        if let name = username?.text, !Self.isPossibleName(name, maximumByteCount: 128) { return "the username is none" }
        if case .threadName(let name) = content {
            if !Self.isPossibleName(name, maximumByteCount: 320) { return "the thread's name is none" }
            if OutwardCode(name) != nil { return "the thread's name is an outward code" }
        }
        if let subject, !(1...256).contains(subject.utf8.count) { return "the subject is not 1 to 256 bytes" }
        return nil
    }

    private static func isPossibleName(_ name: String, maximumByteCount: Int) -> Bool {
        (1...maximumByteCount).contains(name.utf8.count) && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
