import KymographCore
import KymographTemplates

/// The forms of values, so that each setting in the table is one line.
extension Setting {
    /// A value of the root.
    package typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// A length of time in nanoseconds, of at least `least`.
    package static func duration(_ key: String, _ path: Path<Int64>, atLeast least: Int64 = 0, _ about: String)
        -> Setting
    {
        let form = least > 0 ? "length of time" : "length of time or `0s`"
        return single(key, form, about, .duration) { (text, root) throws(SettingProblem) in
            guard let value = DurationText.parse(text) else {
                throw noLength(text)
            }
            guard value >= least else {
                throw SettingProblem(
                    message: "'\(text)' is too short", advice: "write at least \(DurationText.text(least))")
            }
            root[keyPath: path] = value
        } shown: {
            DurationText.text($0[keyPath: path])
        }
    }

    private static func noLength(_ text: String) -> SettingProblem {
        if text.hasPrefix("-"), DurationText.parse(String(text.dropFirst())) != nil {
            return SettingProblem(message: "'\(text)' is negative", advice: DurationText.advice)
        }
        if text.wholeMatch(of: /([0-9]+(d|h|m|s|ms))+/) != nil {
            return SettingProblem(message: "'\(text)' is no length that can be counted", advice: DurationText.limits)
        }
        return SettingProblem(message: "'\(text)' is not a length of time", advice: DurationText.advice)
    }

    /// A size in bytes.
    package static func size(_ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ about: String) -> Setting {
        single(key, "size", about, .size(range)) { (text, root) throws(SettingProblem) in
            guard let value = ByteSizeText.parse(text) else {
                throw SettingProblem(message: "'\(text)' is not a size", advice: ByteSizeText.advice)
            }
            guard range.contains(value) else {
                let limits = "\(ByteSizeText.text(range.lowerBound)) to \(ByteSizeText.text(range.upperBound))"
                throw SettingProblem(message: "'\(text)' is out of range", advice: "write a size from \(limits)")
            }
            root[keyPath: path] = value
        } shown: {
            ByteSizeText.text($0[keyPath: path])
        }
    }

    /// A whole number.
    package static func count(_ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ about: String) -> Setting {
        let form = "whole number from \(range.lowerBound) to \(range.upperBound)"
        return single(key, form, about, .count(range)) { (text, root) throws(SettingProblem) in
            root[keyPath: path] = try wholeNumber(text, range)
        } shown: {
            String($0[keyPath: path])
        }
    }

    /// A whole number, or `auto`, which is 0 in the settings.
    package static func countOrAuto(_ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ about: String)
        -> Setting
    {
        let form = "whole number from \(range.lowerBound) to \(range.upperBound), or `auto`"
        return single(key, form, about, .countOrAuto(range)) { (text, root) throws(SettingProblem) in
            root[keyPath: path] = text == "auto" ? 0 : try wholeNumber(text, range)
        } shown: {
            $0[keyPath: path] == 0 ? "auto" : String($0[keyPath: path])
        }
    }

    /// A power of two.
    package static func powerOfTwo(_ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ about: String)
        -> Setting
    {
        let form = "power of two from \(range.lowerBound) to \(range.upperBound)"
        return single(key, form, about, .powerOfTwo(range)) { (text, root) throws(SettingProblem) in
            let value = try wholeNumber(text, range)
            guard value & (value - 1) == 0 else {
                let below = 1 << (Int.bitWidth - 1 - value.leadingZeroBitCount)
                let nearest = 2 * below <= range.upperBound ? "\(below) or \(2 * below)" : "\(below)"
                throw SettingProblem(message: "'\(text)' is not a power of two", advice: "write \(nearest)")
            }
            root[keyPath: path] = value
        } shown: {
            String($0[keyPath: path])
        }
    }

    /// Reads a whole number.
    static func wholeNumber(_ text: String, _ range: ClosedRange<Int>) throws(SettingProblem) -> Int {
        let advice = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let value = Int(text) else {
            throw SettingProblem(message: "'\(text)' is not a whole number", advice: advice)
        }
        guard range.contains(value) else {
            throw SettingProblem(message: "'\(text)' is out of range", advice: advice)
        }
        return value
    }

    /// One of a few names.
    package static func choice<Value: Equatable & Sendable>(
        _ key: String, _ path: Path<Value>, _ values: [(name: String, value: Value)], _ about: String
    ) -> Setting {
        let names = values.map(\.name)
        let form = names.map { "`\($0)`" }.joined(separator: " or ")
        return single(key, form, about, .choice(names)) { (text, root) throws(SettingProblem) in
            guard let choice = values.first(where: { $0.name == text }) else {
                throw SettingProblem(
                    message: "'\(text)' is not one of \(names.joined(separator: ", "))",
                    advice: NearestName.advice(for: text, among: names, otherwise: "write one of them"))
            }
            root[keyPath: path] = choice.value
        } shown: { root in
            values.first { $0.value == root[keyPath: path] }?.name ?? ""
        }
    }

    /// An absolute URI, as FHIR demands of `Identifier.system`.
    package static func uri(_ key: String, _ path: Path<String>, _ about: String) -> Setting {
        single(key, "absolute URI", about, .uri) { (text, root) throws(SettingProblem) in
            guard AbsoluteURI.isValid(text) else {
                throw SettingProblem(
                    message: "'\(text)' is not an absolute URI",
                    advice: "write one with a scheme, such as https://example.org/devices or urn:example:device")
            }
            root[keyPath: path] = text
        } shown: {
            $0[keyPath: path]
        }
    }

    /// A text that is not empty.
    package static func text(_ key: String, _ form: String, _ path: Path<String?>, _ about: String) -> Setting {
        single(key, form, about) { (text, root) throws(SettingProblem) in
            root[keyPath: path] = try notEmpty(text, form)
        } shown: {
            $0[keyPath: path] ?? ""
        }
    }

    /// What identifies somebody or something.
    package static func identifier(_ key: String, _ path: Path<String?>, _ about: String) -> Setting {
        single(key, "text", about) { (text, root) throws(SettingProblem) in
            root[keyPath: path] = try IdentifierSetting.parse(text, "text")
        } shown: {
            $0[keyPath: path] ?? ""
        }
    }

    /// Names, each given once.
    package static func names(_ key: String, _ form: String, _ path: Path<[String]>, _ about: String) -> Setting {
        Setting(key: key, form: form, about: about, elements: { $0[keyPath: path] }) {
            (texts, root) throws(SettingProblem) in
            for (index, text) in texts.enumerated() {
                guard !text.isEmpty else {
                    throw SettingProblem(message: "a name is empty", advice: "write a \(form)", element: index)
                }
                guard !texts[..<index].contains(text) else {
                    throw SettingProblem(message: "'\(text)' is named twice", advice: "remove one", element: index)
                }
            }
            root[keyPath: path] = texts
        } shown: {
            $0[keyPath: path].joined(separator: ", ")
        }
    }

    /// The same for a part of something larger, under the name `key` there.
    func lifted<Whole>(_ key: String, _ path: Setting<Whole>.Path<Root>) -> Setting<Whole> {
        let lifted: (@Sendable (Whole) -> [String])? = elements.map { own in
            { @Sendable whole in own(whole[keyPath: path]) }
        }
        return Setting<Whole>(key: key, form: form, about: about, values: values, elements: lifted) {
            [read] (texts, whole) throws(SettingProblem) in
            try read(texts, &whole[keyPath: path])
        } shown: { [shown] whole in
            shown(whole[keyPath: path])
        }
    }

    /// A form of its own, of one text.
    package static func single(
        _ key: String, _ form: String, _ about: String, _ values: SettingValues = .text,
        read: @escaping @Sendable (String, inout Root) throws(SettingProblem) -> Void,
        shown: @escaping @Sendable (Root) -> String
    ) -> Setting {
        Setting(key: key, form: form, about: about, values: values) { (texts, root) throws(SettingProblem) in
            try read(texts.last ?? "", &root)
        } shown: {
            shown($0)
        }
    }

    /// `text`, unless it is empty.
    static func notEmpty(_ text: String, _ form: String) throws(SettingProblem) -> String {
        guard !text.isEmpty else { throw .empty(form) }
        return text
    }
}

/// The syntax of absolute URIs (RFC 3986, section 3), as far as a wrong identifier system would show.
enum AbsoluteURI {
    private static let forbidden: [UInt8] = Array("\"<>\\^`{|}".utf8)

    /// Whether `text` is a scheme, a colon and something that may stand in a URI.
    static func isValid(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text.utf8[..<colon]
        let rest = text.utf8[colon...].dropFirst()
        guard let first = scheme.first, isLetter(first), !rest.isEmpty else { return false }
        return scheme.allSatisfy { isLetter($0) || "0123456789+-.".utf8.contains($0) }
            && rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && !forbidden.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension DurationText {
    private static let writtenUnits: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000),
    ]

    /// The text that ``parse(_:)`` reads as `nanoseconds`, whole milliseconds and not negative: `5m`, `1h30m`, `0s`.
    static func text(_ nanoseconds: Int64) -> String {
        var rest = nanoseconds
        var text = ""
        for unit in writtenUnits where rest >= unit.nanoseconds {
            text += "\(rest / unit.nanoseconds)\(unit.name)"
            rest %= unit.nanoseconds
        }
        return text.isEmpty ? "0s" : text
    }
}
