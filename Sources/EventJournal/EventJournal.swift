// EventJournal
