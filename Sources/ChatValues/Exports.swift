// The public declarations use types of these modules, so `import ChatValues` re-exports them. The
// language has no re-export without an underscore yet.
@_exported public import ChatDomain
@_exported public import struct Primitives.JournalHead
@_exported public import struct Primitives.JournalID
