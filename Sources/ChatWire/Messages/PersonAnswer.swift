internal import Chat
internal import ChatDomain

/// A person, with a page of the threads in common that has the limits of an answer.
struct PersonAnswer: Encodable {
    let id: UserID
    let username: String?
    let about: String?
    let threads: PageAnswer<CommonThread>

    private enum CodingKeys: CodingKey { case id, username, about, threads }

    /// Encodes every field, also the absent ones.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(username, forKey: .username)
        try container.encode(about, forKey: .about)
        try container.encode(threads, forKey: .threads)
    }

    init(_ person: PersonDetails, _ request: PageRequest) {
        (id, username, about) = (person.id, person.username, person.about)
        threads = PageAnswer(person.threads, request)
    }
}
