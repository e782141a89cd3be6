#if Client || canImport(SQLite3)
    // The public signatures use types of this module, so `import ChatClient` re-exports it.
    @_exported public import ChatLive
#endif
