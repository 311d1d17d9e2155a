/// Reads lengths of time as people write them: `500ms`, `30s`, `5m`, `1h`, `1d`, `1h30m`.
///
/// Mappings (`period`) and configuration share this form. Units are case-sensitive, each appears at most once and the
/// larger ones come first; there are no fractions, signs or blanks.
package enum DurationText {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000),
    ]

    /// What ``parse(_:)`` accepts, for messages.
    package static let advice = "write a whole number and a unit, such as 500ms, 30s, 5m, 1h, 1d or 1h30m"

    /// What a text of that form is that ``parse(_:)`` does not accept, for messages.
    package static let limits = "write at most 106751d (292 years), and units in order, each once: 1h30m"

    /// The nanoseconds that `text` says (zero included), or nil when it is not in the form or beyond 292 years.
    package static func parse(_ text: String) -> Int64? {
        var rest = text.utf8[...]
        guard !rest.isEmpty else { return nil }
        var total: Int64 = 0
        var nextUnit = 0
        while !rest.isEmpty {
            guard let amount = takeNumber(&rest), let unit = takeUnit(&rest, from: nextUnit) else { return nil }
            let (part, tooLong) = amount.multipliedReportingOverflow(by: units[unit].nanoseconds)
            let (sum, beyond) = total.addingReportingOverflow(part)
            guard !tooLong, !beyond else { return nil }
            total = sum
            nextUnit = unit + 1
        }
        return total
    }

    private static func takeNumber(_ rest: inout Substring.UTF8View) -> Int64? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest[digits.endIndex...]
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    private static func takeUnit(_ rest: inout Substring.UTF8View, from first: Int) -> Int? {
        let letters = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        rest = rest[letters.endIndex...]
        let name = String(decoding: letters, as: UTF8.self)
        return units.indices.first { $0 >= first && units[$0].name == name }
    }
}

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
