/// Reads sizes as people write them: `1000` bytes, `64KiB`, `4MiB`, `1GiB`.
///
/// Units are powers of 1,024 and case-sensitive; there are no fractions, signs or blanks. `kB` and `MB` are refused,
/// for half of the people who write them mean 1,000 and the other half 1,024.
package enum ByteSizeText {
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1),
    ]

    /// What ``parse(_:)`` accepts, for messages.
    package static let advice = "write a whole number of bytes, or one with KiB, MiB or GiB, such as 64KiB"

    /// The bytes that `text` says (zero included), or nil when it is not in the form or beyond 8 EiB.
    package static func parse(_ text: String) -> Int? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let name = text[digits.endIndex...]
        guard let amount = Int(String(decoding: digits, as: UTF8.self)),
            let unit = units.first(where: { $0.name == name })
        else { return nil }
        let (bytes, tooLarge) = amount.multipliedReportingOverflow(by: unit.bytes)
        return tooLarge ? nil : bytes
    }

    /// The shortest text that ``parse(_:)`` reads as `bytes`, which is not negative.
    package static func text(_ bytes: Int) -> String {
        guard bytes > 0, let unit = units.first(where: { bytes % $0.bytes == 0 }) else { return "0" }
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}
