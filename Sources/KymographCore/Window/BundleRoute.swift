/// The sinks that get a block, by their place in the configuration.
package struct BundleRoute: Hashable, Sendable, BitwiseCopyable {
    /// Most sinks of a pipeline: a shard may fill a block for each set of them at the same time.
    package static let mostSinks = 8

    private var bits: UInt8

    /// All sinks, however many there are.
    package static let all = BundleRoute(bits: .max)
    /// No sink.
    package static let none = BundleRoute(bits: 0)

    private init(bits: UInt8) { self.bits = bits }

    /// Whether sink `number` gets it.
    @inline(__always)
    package func contains(_ number: Int) -> Bool { bits >> UInt8(number) & 1 == 1 }

    /// Adds sink `number`.
    mutating func insert(_ number: Int) { bits |= 1 << UInt8(number) }

    /// Takes the sinks of `other` away.
    mutating func subtract(_ other: BundleRoute) { bits &= ~other.bits }

    /// Adds the sinks of `other`.
    mutating func formUnion(_ other: BundleRoute) { bits |= other.bits }
}
