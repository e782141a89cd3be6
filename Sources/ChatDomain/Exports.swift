// The public declarations use `Position`, which belongs to a module that no product contains, so
// this module re-exports it. The language has no re-export without an underscore yet.
@_exported public import typealias Primitives.Position
@_exported public import struct Primitives.PositionSet
