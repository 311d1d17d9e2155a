/// Tells when a shard has taken so many readings that it has done everything once: windows have ended, bundles and
/// files have been begun. Most of the code that this needed is not needed again.
struct WarmUp {
    /// Readings until then.
    private var left = WarmUp.readings

    private static let readings = 1 << 18

    /// Whether it ends with `taken` readings more; true once.
    @inline(__always)
    mutating func ends(with taken: Int) -> Bool {
        guard left > 0 else { return false }
        left -= taken
        return left <= 0
    }
}
