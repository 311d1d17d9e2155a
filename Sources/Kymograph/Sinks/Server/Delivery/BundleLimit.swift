/// How large bundles may be: as large as the settings allow, smaller after the server has found one too large, and
/// slowly larger again.
struct BundleLimit {
    private let mostEntries: Double
    private let mostBytes: Double
    private var scale = 1.0

    init(_ settings: DeliverySettings) {
        mostEntries = Double(max(1, settings.maxEntries))
        mostBytes = Double(max(1, settings.maxBytes))
    }

    /// Most entries.
    var entries: Int { max(1, Int(mostEntries * scale)) }
    /// Most bytes.
    var bytes: Int { max(1, Int(mostBytes * scale)) }

    /// A bundle of this size was too large.
    mutating func shrink(entries: Int, bytes: Int) {
        let used = max(Double(entries) / mostEntries, Double(bytes) / mostBytes)
        scale = max(1 / 1024, min(scale, used) / 2)
    }

    /// A bundle was taken.
    mutating func grow() { scale = min(1, scale * 1.02) }
}
