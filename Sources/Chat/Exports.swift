// The public signatures use types of these modules, so `import Chat` re-exports them. The files of
// this module see them too. The language has no re-export without an underscore yet.
@_exported public import ChatDomain
@_exported public import ChatLive
@_exported public import ChatValues
@_exported public import EventJournal
@_exported public import Projections
