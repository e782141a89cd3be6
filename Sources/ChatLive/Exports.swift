// The public signatures use types of these modules, so `import ChatLive` re-exports them. The
// language has no re-export without an underscore yet.
@_exported public import ChatDomain
@_exported public import ChatValues
