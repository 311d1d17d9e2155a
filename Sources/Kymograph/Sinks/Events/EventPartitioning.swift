/// Which events have a key in common, and so a partition in which they stay in their order.
package enum EventPartitioning: Hashable, Sendable {
    /// Those of one device: its identifier is the key.
    case device
    /// None: the other side distributes events over its partitions.
    case none
}
