// The public declarations use `Position`, `JournalID` and `JournalHead`, which belong to a module
// that no product contains, and the heads and proofs of `MerkleLog`, so this module re-exports
// them. The language has no re-export without an underscore yet.
@_exported public import MerkleLog
@_exported public import struct Primitives.JournalHead
@_exported public import struct Primitives.JournalID
@_exported public import typealias Primitives.Position
@_exported public import struct Primitives.PositionSet
