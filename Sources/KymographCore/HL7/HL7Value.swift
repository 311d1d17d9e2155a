/// Writes what the value of a result (OBX-5) is, by its type (OBX-2), as members of the result's object.
enum HL7Value {
    /// Writes the members that `needs` has.
    ///
    /// - Throws: the reason for which the value is none of its type.
    static func append(
        _ value: ByteView, type: ByteView, _ needs: HL7Needs.Members, _ text: inout HL7Text,
        to writer: inout ByteWriter
    ) throws(ScanFailure) {
        guard value.count > 0, !needs.isDisjoint(with: [.value, .comparator, .range, .ratio, .samples]) else { return }
        // Which of several is meant, nobody knows.
        guard value.firstIndex(of: text.delimiters.repetition, from: 0) == nil else { return }
        let needsValue = needs.contains(.value)
        if value.isHL7Null { return appendMember("value", isNeeded: needsValue, to: &writer) { $0.append("null") } }
        if type.equals(ByteView("NM")) {
            guard let number = HL7Number(value) else { throw ScanFailure(reason: .invalidValue, offset: 0) }
            appendMember("value", isNeeded: needsValue, to: &writer) { number.append(to: &$0) }
        } else if type.equals(ByteView("SN")) {
            try appendStructured(value, needs, text.delimiters.component, to: &writer)
        } else if type.equals(ByteView("NA")) || type.equals(ByteView("MA")) {
            try appendSamples(value, needs, text.delimiters.component, to: &writer)
        } else if type.equals(ByteView("NR")) {
            try appendRange(value, needs, text.delimiters.component, to: &writer)
        } else if type.count == 0 {
            throw ScanFailure(reason: .invalidValue, offset: 0)
        } else if needsValue, !isSeveral(value, type, text.delimiters.component) {
            appendText(value.part(0, between: text.delimiters.component), &text, to: &writer)
        }
    }

    /// Whether `value` has components of which none is the value: those of a text are not told apart by its type, and
    /// the number of a quantity (CQ) is nothing without its unit.
    private static func isSeveral(_ value: ByteView, _ type: ByteView, _ separator: UInt8) -> Bool {
        guard value.firstIndex(of: separator, from: 0) != nil else { return false }
        return (["CQ", "ST", "TX", "FT"] as [StaticString]).contains { type.equals(ByteView($0)) }
    }

    /// The bounds of a range (NR), both of which are numbers.
    private static func appendRange(
        _ value: ByteView, _ needs: HL7Needs.Members, _ separator: UInt8, to writer: inout ByteWriter
    ) throws(ScanFailure) {
        guard let low = HL7Number(value.part(0, between: separator)),
            let high = HL7Number(value.part(1, between: separator))
        else { throw ScanFailure(reason: .invalidValue, offset: 0) }
        appendPair("low", low, "high", high, isNeeded: needs.contains(.range), to: &writer)
    }

    /// The first component of a text or a code.
    private static func appendText(_ value: ByteView, _ text: inout HL7Text, to writer: inout ByteWriter) {
        guard value.count > 0 else { return }
        writer.append("\"value\":")
        if value.isHL7Null { writer.append("null") } else { text.append(value, to: &writer) }
        writer.append(",")
    }

    /// A number with a comparator, a range or a ratio. One with a comparator is a text, so that it cannot be taken for
    /// a number without.
    private static func appendStructured(
        _ value: ByteView, _ needs: HL7Needs.Members, _ separator: UInt8, to writer: inout ByteWriter
    ) throws(ScanFailure) {
        let (comparator, between) = (value.part(0, between: separator), value.part(2, between: separator))
        let second = HL7Number(value.part(3, between: separator))
        guard let first = HL7Number(value.part(1, between: separator)) else {
            throw ScanFailure(reason: .invalidValue, offset: 0)
        }
        switch between.count == 1 ? between[0] : 0 {
        case UInt8(ascii: "-"):
            appendPair("low", first, "high", second, isNeeded: needs.contains(.range), to: &writer)
        case UInt8(ascii: "/"), UInt8(ascii: ":"):
            appendPair("numerator", first, "denominator", second, isNeeded: needs.contains(.ratio), to: &writer)
        default:
            guard between.count == 0, second == nil, let sign = sign(comparator) else {
                throw ScanFailure(reason: .invalidValue, offset: 0)
            }
            if sign.count > 0 {
                appendMember("comparator", isNeeded: needs.contains(.comparator), to: &writer) { $0.appendQuoted(sign) }
            }
            appendMember("value", isNeeded: needs.contains(.value), to: &writer) { writer in
                if sign.count > 0 { writer.append("\"") }
                writer.append(sign)
                first.append(to: &writer)
                if sign.count > 0 { writer.append("\"") }
            }
        }
    }

    /// The comparator as FHIR has it; empty for none, nil for one that it does not have.
    private static func sign(_ comparator: ByteView) -> ByteView? {
        if comparator.count == 0 || comparator.equals(ByteView("=")) { return comparator[0..<0] }
        let known: [StaticString] = ["<", "<=", ">", ">="]
        return known.contains { comparator.equals(ByteView($0)) } ? comparator : nil
    }

    private static func appendPair(
        _ first: StaticString, _ low: HL7Number, _ second: StaticString, _ high: HL7Number?, isNeeded: Bool,
        to writer: inout ByteWriter
    ) {
        appendMember(first, isNeeded: isNeeded, to: &writer) { low.append(to: &$0) }
        if let high { appendMember(second, isNeeded: isNeeded, to: &writer) { high.append(to: &$0) } }
    }

    private static func appendSamples(
        _ value: ByteView, _ needs: HL7Needs.Members, _ separator: UInt8, to writer: inout ByteWriter
    ) throws(ScanFailure) {
        var start = 0
        let beginning = writer.count
        writer.append("\"samples\":[")
        while start <= value.count {
            let end = value.firstIndex(of: separator, from: start) ?? value.count
            let sample = value[start..<end]
            if start > 0 { writer.append(",") }
            if sample.count == 0 || sample.isHL7Null {
                // The last separator ends the array, as some senders write it.
                let isEnd = end == value.count && start > 0
                if isEnd { writer.truncate(to: writer.count - 1) } else { writer.append("null") }
            } else {
                guard let number = HL7Number(sample) else { throw ScanFailure(reason: .invalidValue, offset: 0) }
                number.append(to: &writer)
            }
            start = end + 1
        }
        writer.append("],")
        if !needs.contains(.samples) { writer.truncate(to: beginning) }
    }

    private static func appendMember(
        _ name: StaticString, isNeeded: Bool, to writer: inout ByteWriter, _ body: (inout ByteWriter) -> Void
    ) {
        guard isNeeded else { return }
        writer.append("\"")
        writer.append(name)
        writer.append("\":")
        body(&writer)
        writer.append(",")
    }
}

/// A number of HL7 v2 (NM): a sign, digits and a point, blanks around it.
struct HL7Number {
    private let isNegative: Bool
    /// Digits without leading zeros, at least one where there are any.
    private let whole: ByteView
    private let fraction: ByteView

    /// Reads `text`; nil when it is no number.
    init?(_ text: ByteView) {
        var rest = text.trimmed
        guard rest.count > 0 else { return nil }
        isNegative = rest[0] == UInt8(ascii: "-")
        if isNegative || rest[0] == UInt8(ascii: "+") { rest = rest[1..<rest.count] }
        let point = rest.firstIndex(of: UInt8(ascii: "."), from: 0) ?? rest.count
        fraction = point < rest.count ? rest[(point + 1)..<rest.count] : rest[rest.count..<rest.count]
        var first = 0
        while first + 1 < point, rest[first] == UInt8(ascii: "0") { first += 1 }
        whole = rest[first..<point]
        guard whole.count + fraction.count > 0, Self.areDigits(whole), Self.areDigits(fraction) else { return nil }
    }

    /// Writes it as JSON has numbers, with all its digits.
    func append(to writer: inout ByteWriter) {
        if isNegative { writer.append("-") }
        if whole.count == 0 { writer.append("0") } else { writer.append(whole) }
        guard fraction.count > 0 else { return }
        writer.append(".")
        writer.append(fraction)
    }

    private static func areDigits(_ bytes: ByteView) -> Bool {
        (0..<bytes.count).allSatisfy { bytes[$0] &- 0x30 < 10 }
    }
}

extension ByteWriter {
    /// Writes `text`, which needs no escape, in quotes.
    fileprivate mutating func appendQuoted(_ text: ByteView) {
        append("\"")
        append(text)
        append("\"")
    }
}
