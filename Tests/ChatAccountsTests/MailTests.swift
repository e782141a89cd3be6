#if Server
    import ChatDomain
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatAccounts

    struct MailTests {
        private func message() throws -> MailMessage {
            let (to, from) = (try #require(EmailAddress("ann@x.org")), try #require(EmailAddress("chat@example.org")))
            let mail = Mail.confirmation(to, try #require(Username("Zoë")), "012345")
            return MailMessage(mail, from: from, at: Timestamp(millisecondsSince1970: 0), id: [0xAB, 0x01])
        }

        @Test func messageHasHeadersAndABody() throws {
            let text = String(decoding: try message().bytes, as: UTF8.self)
            let head = [
                "Date: Thu, 01 Jan 1970 00:00:00 +0000", "From: chat@example.org", "To: ann@x.org",
                "Message-ID: <ab01@example.org>",
                "Subject: Your confirmation code", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated", "", "Your code is 012345.",
            ].joined(separator: "\r\n")
            #expect(text.utf8.starts(with: head.utf8))
            #expect(text.contains("Zoë"))
        }

        /// The name of the site is in the subject, also in other letters, and the link does not
        /// have the code.
        @Test func mailNamesTheSite() throws {
            let (to, from) = (try #require(EmailAddress("ann@x.org")), try #require(EmailAddress("chat@example.org")))
            func text(_ name: String, _ url: String?) throws -> String {
                let site = try #require(AccountSite(name: name, url: url))
                let mail = Mail.confirmation(to, try #require(Username("Ann")), "012345")
                let message = MailMessage(
                    mail, from: from, site: site, at: Timestamp(millisecondsSince1970: 0), id: [1])
                return String(decoding: message.bytes, as: UTF8.self)
            }
            let mail = try text("Hill Street", "https://hill.example")
            #expect(mail.contains("\r\nSubject: Your confirmation code for Hill Street\r\n"))
            #expect(
                mail.contains("\r\nhttps://hill.example/#/confirm\r\n") && mail.hasSuffix("\r\n-- \r\nHill Street\r\n"))
            #expect(!(try text("Hill Street", nil).contains("http")))
            // A reader of mails would decode these words.
            let word = try text("=?utf-8?Q?Bank?=", nil)
            #expect(word.contains("\r\nSubject: =?utf-8?B?") && word.components(separatedBy: "=?utf-8?Q?").count == 2)
            let other = try text(String(repeating: "Straße ", count: 9) + "1", "https://hill.example")
            let subject = try #require(
                other.components(separatedBy: "\r\nSubject: ").last?.components(separatedBy: "\r\nMIME").first)
            let words = subject.components(separatedBy: "\r\n ")
            #expect(words.allSatisfy { $0.hasPrefix("=?utf-8?B?") && $0.hasSuffix("?=") && $0.utf8.count <= 75 })
            let decoded = words.compactMap { Data(base64Encoded: String($0.dropFirst(10).dropLast(2))) }
                .map { String(decoding: $0, as: UTF8.self) }
            #expect(decoded.joined() == "Your confirmation code for " + String(repeating: "Straße ", count: 9) + "1")
        }

        @Test(arguments: [
            "", " a", "a ", "a\r\nBcc: b@x.org", "a\u{202E}b", String(repeating: "a", count: 65), "a\u{0}", "\u{A0}",
            "\u{A0}a",
            "a\u{2003}",
            "\u{3164}", "\u{FE0F}", "\u{301}", "\u{2800}",
        ])
        func aSiteHasAVisibleName(name: String) {
            #expect(AccountSite(name: name) == nil)
        }

        @Test(arguments: [
            "", "chat.example", "https://chat.example/", "https://a b", "javascript:alert(1)", "https://a\r\nb",
        ])
        func aSiteHasTheAddressOfAPage(url: String) {
            #expect(AccountSite(name: "Hill Street", url: url) == nil)
        }

        @Test func directoryHasOnePrivateFileForEachMail() throws {
            let directory = try TemporaryDirectory()
            let message = try message()
            for _ in 0..<2 { try MailDirectory(path: directory.path).send(message) }
            let contents = try directory.contents()
            #expect(contents.count == 2 && contents.values.allSatisfy { $0 == message.bytes })
            for name in contents.keys {
                #expect(name.hasSuffix(".eml"))
                #expect(
                    try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions] as? Int
                        == 0o600)
            }
            #expect(failure { try MailDirectory(path: directory.file("missing")).send(message) } == .mail)
        }

        /// A directory is looked at without a mail; of a command the last delivery is known.
        @Test func failureOfMailsIsKnown() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("mail")
            func queue(_ sender: any MailSender) throws -> MailQueue {
                MailQueue(sender, from: try #require(EmailAddress("chat@example.org")), AccountOptions())
            }
            func deliver(_ queue: MailQueue) throws {
                try queue.reserve()
                queue.deliver(.reset(try #require(EmailAddress("ann@x.org")), "012345"))
                queue.drain()
            }
            func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }
            let mails = try queue(MailDirectory(path: path))
            #expect(mails.findFailure()?.code == .mail)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            // What was written to find it out is gone.
            #expect(try mails.findFailure() == nil && names() == [])
            try deliver(mails)
            try FileManager.default.moveItem(atPath: path, toPath: path + " elsewhere")
            try deliver(mails)
            #expect(mails.findFailure()?.code == .mail)
            try FileManager.default.moveItem(atPath: path + " elsewhere", toPath: path)
            #expect(try mails.findFailure() == nil && names().count == 1)
            let commands = try queue(MailCommand(program: "/bin/false"))
            #expect(commands.findFailure() == nil)
            try deliver(commands)
            #expect(commands.findFailure()?.code == .mail)
        }

        @Test func commandGetsTheMessageWithoutAShell() throws {
            let directory = try TemporaryDirectory()
            let message = try message()
            let target = directory.file("$(touch x); mail")
            try MailCommand(program: "/usr/bin/tee", arguments: [target]).send(message)
            #expect(try directory.contents() == ["$(touch x); mail": message.bytes])
        }

        @Test func commandFailuresAreTyped() throws {
            let message = try message()
            for sender in [
                MailCommand(program: "/missing/program"), MailCommand(program: "/bin/false"),
                MailCommand(program: "/bin/sleep", arguments: ["600"], timeLimit: .milliseconds(50)),
            ] {
                do {
                    try sender.send(message)
                    Issue.record("the mail was sent")
                } catch {
                    #expect(error.code == .mail)
                    #expect(!error.description.contains("ann@x.org"))
                }
            }
            // A program that does not read its input.
            try MailCommand(program: "/bin/true").send(message)
        }
    }
#endif
