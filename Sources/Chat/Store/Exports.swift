// `import Chat` alone is enough to use a store: its signatures name ids, commands and events of
// `ChatDomain`, options of `EventJournal`, and pages of `Projections`. The attribute has an underscore
// because it is not a part of the language yet; there is no other way to hand on a module.
@_exported public import ChatDomain
@_exported public import EventJournal
@_exported public import Projections
