#if Server
    internal import ChatDomain
    internal import Dispatch
    internal import Foundation
    internal import Locking
    internal import Primitives

    /// A mail, complete and ready for delivery.
    public struct MailMessage: Sendable {
        /// The recipient.
        public let recipient: EmailAddress
        /// The message of RFC 5322 in UTF-8, with the recipient in `To`; lines end with CR LF.
        public let bytes: [UInt8]

        init(_ mail: Mail, from: EmailAddress, site: AccountSite? = nil, at time: Timestamp, id: [UInt8]) {
            recipient = mail.recipient
            let (subject, body) = mail.text(site)
            let name = id.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            let domain = from.key.split(separator: "@").last ?? "localhost"
            let lines =
                [
                    "Date: \(Self.date(time))", "From: \(from.text)", "To: \(recipient.text)",
                    "Message-ID: <\(name)@\(domain)>",
                    "Subject: \(Self.headerText(subject))", "MIME-Version: 1.0",
                    "Content-Type: text/plain; charset=utf-8",
                    "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated", "",
                ] + body
            bytes = Array(lines.map { $0 + "\r\n" }.joined().utf8)
        }

        /// Returns a text for a header: as it is, or in encoded words (RFC 2047) if it is not ASCII
        /// or looks like such words itself.
        private static func headerText(_ text: String) -> String {
            if text.utf8.allSatisfy({ $0 < 0x80 }), !text.contains("=?") { return text }
            var (words, word) = ([] as [String], [] as [UInt8])
            for scalar in text.unicodeScalars {
                // A word has at most 75 bytes, and whole characters.
                if word.count + scalar.utf8.count > 45 {
                    words.append(Base64.text(of: word))
                    word = []
                }
                word += Array(scalar.utf8)
            }
            return (words + [Base64.text(of: word)]).map { "=?utf-8?B?\($0)?=" }.joined(separator: "\r\n ")
        }

        private static func date(_ time: Timestamp) -> String {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(secondsFromGMT: 0)
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
            return format.string(from: Date(timeIntervalSince1970: Double(time.millisecondsSince1970) / 1_000))
        }
    }

    /// Delivers mails.
    public protocol MailSender: Sendable {
        /// Delivers one mail, on the thread of the caller.
        ///
        /// The store calls it from one thread at a time.
        ///
        /// - Throws: An error with the code `mail`.
        func send(_ message: MailMessage) throws(AccountError)
    }

    /// The mails of the store.
    enum Mail {
        case confirmation(EmailAddress, Username, String)
        case signUpAttempt(EmailAddress)
        case reset(EmailAddress, String)
        /// To the present and the new address of an account whose address is to change.
        case presentAddress(EmailAddress, next: EmailAddress, String)
        case newAddress(EmailAddress, Username, String)
        /// To the owner of an account whose address another account tried to get.
        case changeAttempt(EmailAddress)
        /// To the earlier address.
        case addressChanged(EmailAddress)

        var recipient: EmailAddress {
            switch self {
            case .confirmation(let email, _, _), .signUpAttempt(let email), .reset(let email, _),
                .presentAddress(let email, _, _),
                .newAddress(let email, _, _), .changeAttempt(let email), .addressChanged(let email):
                email
            }
        }

        /// The view of the page that the mail leads to.
        ///
        /// The code is not in the address: programs that check mails open the links in them, and
        /// browsers keep them.
        private var view: String {
            switch self {
            case .confirmation: "confirm"
            case .signUpAttempt, .changeAttempt, .addressChanged: "sign-in"
            case .reset: "reset"
            case .presentAddress, .newAddress: "settings"
            }
        }

        /// The subject and the lines of the body.
        func text(_ site: AccountSite?) -> (subject: String, body: [String]) {
            var (subject, body) = text
            if let site {
                subject += " for \(site.name)"
                if let url = site.url { body += ["", "\(url)/#/\(view)"] }
                // The separator of a signature (RFC 3676).
                body += ["", "-- ", site.name]
            }
            return (subject, body)
        }

        private var text: (subject: String, body: [String]) {
            switch self {
            case .confirmation(_, let name, let code):
                (
                    "Your confirmation code",
                    [
                        "Your code is \(code). It is valid for 10 minutes.", "",
                        "It confirms the new account with the username \(name.text).",
                        "If you did not just sign up with this username, do not enter the code.",
                    ]
                )
            case .signUpAttempt:
                (
                    "You already have an account",
                    [
                        "A sign-up used your e-mail address, which has an account already.", "",
                        "If it was you, sign in. If you forgot the password, ask for a password reset.",
                        "If it was not you, nothing is needed: your account did not change.",
                    ]
                )
            case .reset(_, let code):
                (
                    "Your password reset code",
                    [
                        "Your code is \(code). It is valid for 10 minutes, to set a new password.", "",
                        "If you did not ask for it, nothing is needed: your password did not change.",
                    ]
                )
            case .presentAddress(_, let next, let code):
                (
                    "Your code to change the address",
                    [
                        "Your code is \(code). It is valid for 10 minutes.", "",
                        "The address of your account is to be \(next.text). Another code was sent there; both are needed.",
                        "If it was not you, somebody knows your password: change it at once. Your address has not changed.",
                    ]
                )
            case .newAddress(_, let name, let code):
                (
                    "Your code for the new address",
                    [
                        "Your code is \(code). It is valid for 10 minutes.", "",
                        "It makes this address that of the account with the username \(name.text).",
                        "If you do not know this account, nothing is needed.",
                    ]
                )
            case .changeAttempt:
                (
                    "You already have an account",
                    [
                        "Somebody wanted to give your e-mail address to another account. It has an account already.",
                        "",
                        "If it was you, sign in to that account, or use another address.",
                        "If it was not you, nothing is needed: your account did not change.",
                    ]
                )
            case .addressChanged:
                (
                    "Your e-mail address was changed",
                    [
                        "Your account has another e-mail address now. This one is no longer used.", "",
                        "If it was you, sign in with the new address.",
                        "If it was not you, tell the people who run the site at once. This address cannot reset the password any more.",
                    ]
                )
            }
        }
    }

    /// Delivers mails one after another, outside any lock and off the callers' threads.
    ///
    /// A request for an address that gets no mail has a place like every other, until its turn and
    /// for as long as a delivery takes. A place that is free earlier would show, while the queue is
    /// full, who has an account.
    final class MailQueue: Sendable {
        private let queue = DispatchQueue(label: "chat accounts mail")
        private let pending = Lock(0)
        /// The reserved places.
        private let reservations = DispatchGroup()
        /// The time that the last delivery took, whether it succeeded or failed.
        private let lastDelivery = Lock(Duration.zero)
        /// Why the last mail was not delivered, or the next ones cannot be.
        private let lastFailure = Lock<AccountError?>(nil)
        private let sender: any MailSender
        private let from: EmailAddress
        private let options: AccountOptions
        private let pause: @Sendable (Duration) -> Void

        /// - Parameter pause: Blocks the thread of the deliveries for a time.
        init(
            _ sender: any MailSender, from: EmailAddress, _ options: AccountOptions,
            pause: @escaping @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
        ) {
            self.sender = sender
            self.from = from
            self.options = options
            self.pause = pause
        }

        /// Reserves a place before anything is written, so that a full queue leaves nothing behind.
        func reserve() throws(AccountError) {
            let isFree = pending.withLock { count in
                if count >= options.waitingMails { return false }
                count += 1
                return true
            }
            guard isFree else { throw .busy }
            reservations.enter()
        }

        /// Gives back a place because the operation failed.
        func release() {
            pending.withLock { $0 -= 1 }
            reservations.leave()
        }

        /// Delivers a mail in the reserved place; nil only occupies the place, as long as a mail.
        func deliver(_ mail: Mail?) {
            queue.async { [self] in
                defer { release() }
                guard let mail else { return pause(lastDelivery.withLock { $0 }) }
                let start = ContinuousClock.now
                send(mail)
                lastDelivery.withLock { $0 = ContinuousClock.now - start }
            }
        }

        private func send(_ mail: Mail) {
            let environment = options.environment
            let message = MailMessage(
                mail, from: from, site: options.site, at: environment.now(), id: environment.randomBytes(16))
            do throws(AccountError) {
                try sender.send(message)
                lastFailure.withLock { $0 = nil }
            } catch {
                lastFailure.withLock { $0 = error }
                options.mailFailed(error)
            }
        }

        /// Returns why mails are not delivered now, as far as is known.
        func findFailure() -> AccountError? {
            let last = lastFailure.withLock { $0 }
            guard let sender = sender as? MailDirectory else { return last }
            do throws(AccountError) {
                try sender.check(byWriting: last != nil)
                lastFailure.withLock { $0 = nil }
                return nil
            } catch {
                lastFailure.withLock { $0 = error }
                return error
            }
        }

        /// Waits until no place is reserved.
        func drain() { reservations.wait() }
    }
#endif
