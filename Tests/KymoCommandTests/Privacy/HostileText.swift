import KymographTestKit

/// Texts that a terminal would obey, or that look like others.
struct HostileText {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// What FHIR allows in identifiers all the same.
    private static let allowed = [
        "\u{202E}", "\u{202A}", "\u{202D}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}", "\u{2028}", "\u{2029}",
        "\u{FEFF}", "\u{200E}", "\u{200F}", "\u{061C}",
    ]
    /// Clearing the screen, setting its title, C1 in UTF-8, bell, backspaces, other lines.
    private static let controls = [
        "\u{1B}[2J", "\u{1B}]0;owned\u{07}", "\u{9B}31m", "\u{9D}8;;http://evil.example\u{9C}", "\u{08}\u{08}", "\r",
        "\r\n2026-03-01T08:00:00.000Z info kymo: forged", "\n<3>forged", "\u{7F}", "\u{85}", "\0",
    ]

    /// An identifier that the pipeline takes.
    mutating func identifier(_ name: String) -> String { mixed(name, Self.allowed) }

    /// Any text.
    mutating func text(_ name: String) -> String { mixed(name, Self.controls + Self.allowed) }

    private mutating func mixed(_ name: String, _ parts: [String]) -> String {
        let chosen = (0..<4).map { _ in parts.randomElement(using: &generator) ?? "" }
        return zip([name, "-", "x", "7"], chosen).map { $0 + $1 }.joined()
    }

    /// The control characters of `bytes` but for tabs and line feeds, as numbers. By another list than the program's.
    static func controls(in bytes: [UInt8]) -> [String] {
        scalars(bytes).filter { scalar in
            guard scalar != "\n", scalar != "\t" else { return false }
            let category = scalar.properties.generalCategory
            return [.control, .lineSeparator, .paragraphSeparator].contains(category)
                || scalar.properties.isBidiControl || scalar.value == 0xFEFF
        }.map { String($0.value, radix: 16) }
    }

    /// Bytes of no valid sequence stand for themselves, as a terminal of eight bits takes them.
    private static func scalars(_ bytes: [UInt8]) -> [Unicode.Scalar] {
        if let text = String(validating: bytes, as: UTF8.self) { return Array(text.unicodeScalars) }
        var found: [Unicode.Scalar] = []
        var rest = bytes[...]
        while let byte = rest.first {
            let one = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
            found.append(one?.unicodeScalars.first ?? Unicode.Scalar(byte))
            rest = rest.dropFirst(one?.utf8.count ?? 1)
        }
        return found
    }
}
