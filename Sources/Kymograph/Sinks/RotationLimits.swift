/// When files end that bundles are written to: what of ``RotationOptions`` may change while they are written.
package struct RotationLimits: Hashable, Sendable {
    /// Bytes after which the next bundle begins another file; a larger bundle has a file of its own.
    package var maxBytes = 64 << 20
    /// Nanoseconds after which a file is finished.
    package var maxAge: Int64 = 3_600_000_000_000
    /// Nanoseconds without a bundle after which a file is finished; 0 for never.
    package var maxIdle: Int64 = 10_000_000_000
}
