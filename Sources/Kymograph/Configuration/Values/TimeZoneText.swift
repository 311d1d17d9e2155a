import FoundationEssentials
package import KymographCore

/// The time zone of a source, as one writes it: a name of the tz database, or a fixed offset.
package enum TimeZoneText {
    /// What to do about a text that names no zone.
    package static let advice =
        "write a name such as Europe/Berlin or an offset such as +02:00, and see that the package tzdata is installed"

    /// The zone that `text` names: `Europe/Berlin`, `+02:00`, `UTC`; nil when there is no such zone.
    ///
    /// Names are files in `$TZDIR`, or in `/usr/share/zoneinfo` (Debian's package tzdata).
    package static func zone(_ text: String) -> LocalTimeZone? {
        if let minutes = UTCOffsetText.minutes(of: text) { return LocalTimeZone(name: text, minutes: minutes) }
        if text == "UTC" { return LocalTimeZone(name: text, minutes: 0) }
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isLetter) }) else { return nil }
        let directory = ProcessInfo.processInfo.environment["TZDIR"] ?? "/usr/share/zoneinfo"
        return FileManager.default.contents(atPath: "\(directory)/\(text)")
            .flatMap { LocalTimeZone(name: text, file: Array($0)) }
    }

    static func parse(_ text: String) throws(SettingProblem) -> LocalTimeZone {
        guard let zone = zone(text) else {
            throw SettingProblem(message: "there is no time zone '\(text)'", advice: advice)
        }
        return zone
    }

    /// Whether names of zones have it. None has a dot, so that no name leads out of the directory.
    private static func isLetter(_ letter: Character) -> Bool {
        letter.isASCII && (letter.isLetter || letter.isNumber || "_+-".contains(letter))
    }
}

/// Offsets from UTC as ISO 8601 writes them: `+01:00`.
package enum UTCOffsetText {
    /// The minutes that `text` says, at most 14 hours; nil when it is something else.
    package static func minutes(of text: String) -> Int16? {
        let digits = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, sign == "+" || sign == "-", digits.count == 2,
            digits.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }),
            let hours = Int16(digits[0]), let rest = Int16(digits[1]),
            (0...14).contains(hours), (0..<60).contains(rest), hours * 60 + rest <= 840
        else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 60 + rest)
    }

    /// `minutes` as text.
    static func text(_ minutes: Int16) -> String {
        func two(_ value: Int16) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
    }
}
