import KymographCore
import KymographTemplates

/// Reads and writes framings as people write them: a word and its options, with commas between them, as in
/// `cobs,crc16-ccitt` or `length,u16be,at=2,keep`.
enum FramingText {
    /// The framings of this module.
    static let descriptors: [FramingDescriptor] =
        [
            FramingDescriptor(name: "lines") { (words) throws(SettingProblem) in
                if let word = words.first { throw unknown(word, "lines") }
                return .lines
            }
        ]
        + ["nul", "delimiter", "length", "slip", "cobs", "fixed"].map { name in
            FramingDescriptor(name: name) { (words) throws(SettingProblem) in .frames(try frames(name, words)) }
        } + [
            FramingDescriptor(name: "capture") { (words) throws(SettingProblem) in .capture(try capture(words)) },
            FramingDescriptor(name: "json") { (words) throws(SettingProblem) in
                if let word = words.first { throw unknown(word, "json") }
                return .documents
            },
            FramingDescriptor(name: "csv", parse: TableFraming.parse),
        ]
    private static let forms: [(name: String, form: LengthField.Form)] = [
        ("u8", .fixed(width: 1, isBigEndian: false)), ("u16le", .fixed(width: 2, isBigEndian: false)),
        ("u16be", .fixed(width: 2, isBigEndian: true)), ("u24le", .fixed(width: 3, isBigEndian: false)),
        ("u24be", .fixed(width: 3, isBigEndian: true)), ("u32le", .fixed(width: 4, isBigEndian: false)),
        ("u32be", .fixed(width: 4, isBigEndian: true)), ("varint", .varint),
    ]
    private static let page = "docs/framings.md has all of them"

    private static func frames(_ kind: String, _ options: [String]) throws(SettingProblem) -> Framing {
        var words = options
        var framing = Framing(try borders(kind, &words))
        while let word = words.first, try option(word, &framing) { words.removeFirst() }
        if let word = words.first { throw unknown(word, kind) }
        if framing.isCheckBigEndian, framing.check == .none {
            throw SettingProblem(message: "'check-be' is of no use without a checksum", advice: page)
        }
        return framing
    }

    private static func unknown(_ word: String, _ kind: String) -> SettingProblem {
        SettingProblem(message: "'\(kind)' has no option '\(word)'", advice: page)
    }

    private static func borders(_ kind: String, _ words: inout [String]) throws(SettingProblem) -> Framing.Borders {
        switch kind {
        case "nul": return .delimiter([0])
        case "slip": return .slip
        case "cobs": return .cobs
        default: break
        }
        let word = words.isEmpty ? "" : words.removeFirst()
        switch kind {
        case "delimiter": return .delimiter(try delimiter(word))
        case "fixed": return .fixed(try number(word, 1...(1 << 24), "fixed,20 for payloads of 20 bytes"))
        default: return .length(try field(word))
        }
    }

    private static func delimiter(_ word: String) throws(SettingProblem) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), word[...])
        while rest.count >= 2, rest.prefix(2).allSatisfy(\.isHexDigit), let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty, 1...8 ~= bytes.count else {
            throw SettingProblem(
                message: "'\(word)' is no delimiter", advice: "write one to eight bytes in hexadecimal, as delimiter,1e"
            )
        }
        return bytes
    }

    private static func field(_ word: String) throws(SettingProblem) -> LengthField {
        guard let form = forms.first(where: { $0.name == word }) else {
            let names = forms.map(\.name)
            guard !word.isEmpty else {
                throw SettingProblem(
                    message: "'length' does not say how a length is written: \(names.joined(separator: ", "))",
                    advice: "write for instance length,u32be")
            }
            throw SettingProblem(
                message: "'\(word)' is not one of \(names.joined(separator: ", "))",
                advice: NearestName.advice(for: word, among: names, otherwise: "write one of them after 'length,'"))
        }
        return LengthField(form.form)
    }

    private static func number(
        _ word: some StringProtocol, _ range: ClosedRange<Int>, _ example: String
    ) throws(SettingProblem) -> Int {
        guard !word.isEmpty else {
            throw SettingProblem(
                message: "a number from \(range.lowerBound) to \(range.upperBound) is missing",
                advice: "write for instance \(example)")
        }
        guard let value = Int(word), range.contains(value) else {
            throw SettingProblem(
                message: "'\(word)' is not a whole number from \(range.lowerBound) to \(range.upperBound)",
                advice: "write for instance \(example)")
        }
        return value
    }

    /// Takes one option; false when it is none.
    private static func option(_ word: String, _ framing: inout Framing) throws(SettingProblem) -> Bool {
        if word == "check-be" {
            framing.isCheckBigEndian = true
            return true
        }
        if let check = FrameCheck(rawValue: word), check != .none {
            framing.check = check
            return true
        }
        guard case .length(var field) = framing.borders else { return false }
        if word == "keep" {
            field.keepsHead = true
        } else if word.hasPrefix("at=") {
            field.offset = try number(word.dropFirst(3), 0...64, "at=2")
        } else if word.hasPrefix("add=") {
            field.adjustment = try number(word.dropFirst(4), -1024...1024, "add=-4")
        } else {
            return false
        }
        framing.borders = .length(field)
        return true
    }

    private static func capture(_ words: [String]) throws(SettingProblem) -> CaptureFraming {
        var framing = CaptureFraming()
        for word in words {
            if word.hasPrefix("device="), word.count > 7 {
                framing.device = IdentifierText(try IdentifierSetting.parse(String(word.dropFirst(7)), "device"))
            } else if word.hasPrefix("utc-offset=") {
                guard let minutes = UTCOffsetText.minutes(of: String(word.dropFirst(11))) else {
                    throw SettingProblem(
                        message: "'\(word.dropFirst(11))' is no offset from UTC", advice: "write for instance +01:00")
                }
                framing.offsetMinutes = minutes
            } else {
                throw unknown(word, "capture")
            }
        }
        return framing
    }

    /// `framing` as one would write it.
    static func text(_ framing: StreamFraming) -> String {
        switch framing {
        case .lines: return "lines"
        case .frames(let framing): return text(framing)
        case .documents: return "json"
        case .table(let framing): return framing.text
        case .custom(let framing): return framing.text
        case .capture(let framing):
            var words = ["capture"]
            if let device = framing.device { words.append("device=\(device)") }
            if framing.offsetMinutes != UTCOffset.none {
                words.append("utc-offset=\(UTCOffsetText.text(framing.offsetMinutes))")
            }
            return words.joined(separator: ",")
        }
    }

    private static func text(_ framing: Framing) -> String {
        var words = words(framing.borders)
        if framing.check != .none { words.append(framing.check.rawValue) }
        if framing.isCheckBigEndian { words.append("check-be") }
        return words.joined(separator: ",")
    }

    private static func words(_ borders: Framing.Borders) -> [String] {
        switch borders {
        case .delimiter([0]): return ["nul"]
        case .delimiter(let bytes): return ["delimiter", bytes.map(hexadecimal).joined()]
        case .slip: return ["slip"]
        case .cobs: return ["cobs"]
        case .fixed(let count): return ["fixed", String(count)]
        case .length(let field):
            var words = ["length", forms.first { $0.form == field.form }?.name ?? ""]
            if field.offset > 0 { words.append("at=\(field.offset)") }
            if field.adjustment != 0 { words.append("add=\(field.adjustment)") }
            return field.keepsHead ? words + ["keep"] : words
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
