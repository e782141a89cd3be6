extension Journal {
    /// What a journal open for reading only sees of its writer's work; it sees what it saw when it was opened.
    func refresh() throws(JournalError) -> Position { durablePosition }
}
