import Chat
import ChatDomain

extension EvidenceFiles {
    /// The page for the reader of a directory with evidence.
    ///
    /// The verification does not read it, so it says nothing that the verification does not print.
    static func readme(of evidence: Evidence) -> String {
        let (first, last) = (evidence.positions[0], evidence.positions[evidence.positions.count - 1])
        let thread = evidence.thread.outwardCode.map { "\(evidence.thread) (\($0))" } ?? "\(evidence.thread)"
        let start =
            evidence.numbers.lowerBound == 1
            ? "The first one has number 1, so nothing of the thread is before it."
            : "Nothing is shown about the events before number \(evidence.numbers.lowerBound)."
        return """
            # Evidence from a chat journal

            This directory contains events of one thread of a chat, for a person who does not have the chat's journal.

            | | |
            | --- | --- |
            | journal | `\(evidence.head.origin)` |
            | thread | `\(thread)` |
            | events | number \(evidence.numbers.lowerBound) to \(evidence.numbers.upperBound) of the thread |
            | positions | \(first) to \(last) of the journal |
            | size of the journal's tree | \(evidence.head.size) |
            | registrations | \(evidence.registrations.count) |

            This page is not verified. Rely on what the verification prints. The *host* is the party that holds the journal.

            ## How to verify it

            You need an auditor's checkpoint of the journal from a source that you trust: three lines that you or a person whom
            you trust got from the host earlier, or that carry a signature which you verify with the tool that made it. Put it
            into a file and run one of these programs. They need neither the journal nor a network. DIR is this directory.

                python3 verify_proof.py evidence DIR --checkpoint FILE
                chat-journal check-evidence DIR --checkpoint FILE

            Both print what is shown and end with status 0, or print what is wrong and end with status 1. With `--events` they
            also print the events. The first program is `Tests/checks/verify_proof.py` of the package ChatJournal, with
            `read_journal.py` beside it. Other programs can be written from the package's documentation (*Format*, *The encoding
            of events* and *Proofs for auditors*).

            The file `checkpoint` here has no signature. A host that signs it adds the signature beside it or, as C2SP
            *signed-note* describes, as lines at its end. Both programs accept such lines and ignore them.

            ## What is shown

            - Each record is in the journal whose checkpoint you trust, at its position, with these bytes.
            - All of them are events of this thread, or registrations. Their numbers in the thread have no gap: no event between
              the first and the last one is left out. \(start)
            - All other records of the journal are present as hashes, which disclose nothing about them.

            ## What is not shown

            - With the checkpoint of this directory alone, anything but that the files agree with one another: the host can make
              another journal.
            - That the journal has no second event of the thread with one of these numbers. A journal that follows its rules has
              none; `chat-journal verify` shows that to a person who has the whole journal.
            - That what an event says is true. The times are those that the journal recorded.
            - Anything about the thread before the first event here, unless it has number 1, and after the last one.
            - Who a person is: people appear as ids. A name is proven only by a registration in this directory, as the name at
              that time. Other changes of the name can be missing.
            - Who could read the thread is a statement of the host (the lines `reader`). The verification says which of the
              readers are proven by their join.
            - Content that was erased or is withheld. The record is present, with a digest in the place of its content, and the
              verification prints the number of such records, but not which of the two it is.
            - Reports and read markers: they have no number in the thread, and are not part of this directory.

            ## What is disclosed

            - the texts of the events: messages, replies, edits, also of posts that were edited, retracted or removed later, the
              thread's name, the payloads of custom events, and the reasons of removals, mutes, bans and ended memberships
            - the ids of the authors, of the people concerned by moderation and of the moderators, and of those who could read
              the thread; the ids of posts
            - the correlation ids of the commands
            - the times, the positions, and the number of all events of the journal
            - with registrations: usernames, the form in which the journal compares them, and the names that an identity
              provider uses (subjects)

            """
    }
}
