#if Postgres
    public import EventJournal
    extension JournalError.Code {
        public static let copy = JournalError.Code(rawValue: "copy")
        public static let moved = JournalError.Code(rawValue: "moved")
    }
#endif
