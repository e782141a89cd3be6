// The public signatures use types of this module, such as `Problem`, so `import ChatWire` re-exports
// it. The language has no re-export without an underscore yet.
@_exported public import ChatValues
