#if Postgres
    /// Whether a log may be written.
    ///
    /// The column of the status is named `state`.
    enum LogStatus: String {
        case open
        /// A copy that is not finished.
        case copy
        /// The history goes on in another log.
        case moved
    }
#endif
