/// Reads a decimal number of milliseconds as a mapping states it.
package enum MillisecondText {
    /// The nanoseconds of `text` (plain decimal, at most six decimals), or nil when it is none or beyond 292 years.
    package static func parse(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = digits(parts[0]) else { return nil }
        let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return nanoseconds }
        guard parts[1].utf8.count <= 6, let fraction = digits(parts[1]) else { return nil }
        let (sum, beyond) = nanoseconds.addingReportingOverflow(
            fraction * Decimal64.powers[6 - parts[1].utf8.count])
        return beyond ? nil : sum
    }

    private static func digits(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }
}
