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
                "Date: Thu, 01 Jan 1970 00:00:00 +0000", "From: chat@example.org", "To: ann@x.org", "Message-ID: <ab01@example.org>",
                "Subject: Your confirmation code", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated", "", "Your code is 012345.",
            ].joined(separator: "\r\n")
            #expect(text.utf8.starts(with: head.utf8))
            #expect(text.contains("Zoë"))
        }

        @Test func directoryHasOnePrivateFileForEachMail() throws {
            let directory = try TemporaryDirectory()
            let message = try message()
            for _ in 0..<2 { try MailDirectory(path: directory.path).send(message) }
            let contents = try directory.contents()
            #expect(contents.count == 2 && contents.values.allSatisfy { $0 == message.bytes })
            for name in contents.keys {
                #expect(name.hasSuffix(".eml"))
                #expect(try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions] as? Int == 0o600)
            }
            #expect(failure { try MailDirectory(path: directory.file("missing")).send(message) } == .mail)
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
