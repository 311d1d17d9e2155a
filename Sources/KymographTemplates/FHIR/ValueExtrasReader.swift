import KymographCore

/// Reads the members that values of several types can have.
struct ValueExtrasReader {
    private let object: FieldReader
    private let kind: ValueRule.Kind
    private let inComponent: Bool

    /// What it reads.
    static let names = [
        "absent", "comparator", "comparatorName", "interpretation", "referenceRange", "timeInRanges", "holdTime",
    ]

    /// Reads `object`, a value of `kind`.
    init(_ object: FieldReader, _ kind: ValueRule.Kind, inComponent: Bool) {
        self.object = object
        self.kind = kind
        self.inComponent = inComponent
    }

    func read(log: inout DiagnosticLog) -> ValueExtras {
        var extras = ValueExtras()
        extras.absent = absent(log: &log)
        readComparator(&extras, log: &log)
        if may("interpretation", isOrdered, "a Quantity, an Integer or Statistics", log: &log) {
            extras.interpretation = elements("interpretation", log: &log).compactMap {
                interpretation($0, log: &log)
            }
        }
        extras.referenceRanges = elements("referenceRange", log: &log).compactMap { referenceRange($0, log: &log) }
        if may("timeInRanges", isStatistics && !inComponent, "the template's own Statistics", log: &log) {
            extras.shares = elements("timeInRanges", log: &log).compactMap { share($0, log: &log) }
        }
        let hasShares = object.node("timeInRanges") != nil
        if may("holdTime", hasShares, "a value with 'timeInRanges'", log: &log) {
            extras.holdTime = holdTime(log: &log)
        }
        return extras
    }

    /// How long a reading stands for the time after it.
    private func holdTime(log: inout DiagnosticLog) -> Int64? {
        guard let node = object.node("holdTime"), let text = node.text("'holdTime'", log: &log) else { return nil }
        if let nanoseconds = DurationText.parse(text), nanoseconds > 0 { return nanoseconds }
        log.error(
            node.position, "'\(text)' is no length of time",
            advice: "write how long a reading stands for the time after it, such as \"15m\"", finding: .wrongPeriod)
        return nil
    }

    // MARK: What may have what

    private var isQuantity: Bool { if case .quantity = kind { true } else { false } }

    private var isStatistics: Bool { if case .statistics = kind { true } else { false } }

    /// Whether it gives one number, which thresholds can be compared with.
    private var isOrdered: Bool {
        if case .typed(let rule) = kind { rule.form == .integer } else { isQuantity || isStatistics }
    }

    /// Whether the member `name` is there and allowed.
    private func may(_ name: String, _ isAllowed: Bool, _ owner: String, log: inout DiagnosticLog) -> Bool {
        guard let node = object.node(name) else { return false }
        if isAllowed { return true }
        log.error(
            node.position, "'\(name)' is a member of \(owner)", advice: "remove it here", finding: .misplacedMember)
        return false
    }

    // MARK: Absent values

    static let reasons = [
        "unknown", "asked-unknown", "temp-unknown", "not-asked", "asked-declined", "masked", "not-applicable",
        "unsupported", "as-text", "error", "not-a-number", "negative-infinity", "positive-infinity", "not-performed",
        "not-permitted",
    ]

    /// What `"absent": true` stands for: the special values of IEEE 11073 and of floating point, as they are written
    /// (spec/gatt-and-framings.md).
    private static let usual: [AbsentRule] =
        [
            AbsentRule(text: "NaN", code: "not-a-number"), AbsentRule(text: "NRes", code: "error"),
            AbsentRule(text: "reserved", code: "error"),
        ]
        + ["INF", "+INF", "Infinity", "+Infinity", "+INFINITY"].map {
            AbsentRule(text: $0, code: "positive-infinity")
        } + ["-INF", "-Infinity", "-INFINITY"].map { AbsentRule(text: $0, code: "negative-infinity") }

    private func absent(log: inout DiagnosticLog) -> [AbsentRule] {
        guard let node = object.node("absent") else { return [] }
        if case .bool(let isOn) = node.value { return isOn ? ValueExtrasReader.usual : [] }
        guard let members = node.members else {
            log.error(
                node.position, "'absent' must be true or an object, found \(node.kind)",
                advice: "write texts of the payload with their reasons, such as { \"NaN\": \"not-a-number\" }",
                finding: .wrongKind)
            return []
        }
        return members.compactMap { absent($0, log: &log) }
    }

    private func absent(_ member: JSONNode.Member, log: inout DiagnosticLog) -> AbsentRule? {
        guard let code = member.node.text("a reason", log: &log) else { return nil }
        guard ValueExtrasReader.reasons.contains(code) else {
            log.unknownChoice("data-absent-reason", code, at: member.node.position, among: ValueExtrasReader.reasons)
            return nil
        }
        let bytes = Array(member.name.utf8)
        if !isSingle, bytes.withByteView({ $0.decimal }) != nil {
            log.error(
                member.position, "the number '\(member.name)' cannot stand for no value in a summary or a series",
                advice: "map it to a text in the device file: \"map\": { \"\(member.name)\": \"NaN\" }",
                finding: .misplacedMember)
            return nil
        }
        return AbsentRule(text: member.name == "*" ? nil : member.name, code: code)
    }

    /// Whether it is made of one reading.
    private var isSingle: Bool {
        switch kind {
        case .statistics, .sampledData: false
        case .quantity, .string, .codeableConcept, .typed: true
        }
    }

    // MARK: Comparators

    private func readComparator(_ extras: inout ValueExtras, log: inout DiagnosticLog) {
        if may("comparator", isQuantity, "a Quantity", log: &log), let node = object.node("comparator") {
            if case .bool(let isOn) = node.value {
                extras.readsComparator = isOn
            } else {
                log.error(
                    node.position, "'comparator' must be true or false, found \(node.kind)",
                    advice: "write true when texts like \"<5\" can come; a value with the comparator alone is "
                        + "named by \"comparatorName\"", finding: .wrongKind)
            }
        }
        guard may("comparatorName", isQuantity, "a Quantity", log: &log) else { return }
        extras.comparatorName = object.text("comparatorName", log: &log).map {
            ValueName(text: $0, position: object.position(of: "comparatorName"))
        }
    }

    // MARK: Ranges

    private func elements(_ name: String, log: inout DiagnosticLog) -> [JSONNode] {
        object.array(name, log: &log) ?? []
    }

    /// The codes that say something of a number.
    private static let interpretations = [
        "L", "LL", "LU", "LX", "H", "HH", "HU", "HX", "N", "A", "AA", "B", "D", "U", "W", "S", "R", "I", "IND",
    ]

    private func interpretation(_ node: JSONNode, log: inout DiagnosticLog) -> InterpretationRule? {
        guard let own = FieldReader.open(node, what: "an interpretation", log: &log) else { return nil }
        own.refuseUnknown(BoundsReader.names + ["code", "system", "display"], log: &log)
        let system = own.text("system", log: &log) ?? CodeSystemNames.interpretation
        guard let bounds = BoundsReader.read(own, log: &log), let code = own.requiredString("code", log: &log) else {
            return nil
        }
        let known = ValueExtrasReader.interpretations
        guard system != CodeSystemNames.interpretation || known.contains(code) else {
            log.unknownChoice("interpretation", code, at: own.position(of: "code"), among: known)
            return nil
        }
        return InterpretationRule(
            bounds: bounds, coding: Coding(system: system, code: code, display: own.text("display", log: &log)))
    }

    private func share(_ node: JSONNode, log: inout DiagnosticLog) -> ShareRule? {
        guard let own = FieldReader.open(node, what: "a range of timeInRanges", log: &log) else { return nil }
        own.refuseUnknown(BoundsReader.names + ["codes", "text"], log: &log)
        let concept = CodeableConcept(
            text: own.text("text", log: &log), codings: CodeReader.codings(of: own, log: &log))
        guard let bounds = BoundsReader.read(own, log: &log) else { return nil }
        guard concept.isEmpty || (bounds.lower == nil && bounds.upper == nil) else {
            return ShareRule(code: concept, bounds: bounds)
        }
        log.error(
            own.position, "a range of timeInRanges needs 'codes' or 'text', and a bound",
            advice: "such as { \"codes\": […], \"from\": 70, \"to\": 180 }", finding: .emptyConcept)
        return nil
    }

    private func referenceRange(_ node: JSONNode, log: inout DiagnosticLog) -> ReferenceRangeRule? {
        guard let own = FieldReader.open(node, what: "a reference range", log: &log) else { return nil }
        own.refuseUnknown(["low", "high", "text", "unit", "system", "code"], log: &log)
        let low = BoundsReader.number("low", own, log: &log)
        let high = BoundsReader.number("high", own, log: &log)
        let text = own.text("text", log: &log)
        guard low != nil || high != nil || text != nil else {
            log.error(
                own.position, "a reference range needs 'low', 'high' or 'text'", advice: "add one of them",
                finding: .missingField)
            return nil
        }
        if let low, let high, high.number.isLess(than: low.number) {
            BoundsReader.refuse(own, log: &log)
            return nil
        }
        let isOwn = own.node("unit") != nil || own.node("code") != nil
        let unit = isOwn ? ValueReader(inComponent: inComponent).unit(own, log: &log) : kind.unit ?? .none
        return ReferenceRangeRule(low: low?.text, high: high?.text, text: text, unit: unit)
    }
}

/// Reads bounds of numbers: `below` and `above` exclude the number, `from` and `to` include it.
enum BoundsReader {
    static let names = ["below", "above", "from", "to"]

    /// The bounds that `object` states, all numbers when it states none; nil after an error.
    static func read(_ object: FieldReader, log: inout DiagnosticLog) -> NumberBounds? {
        let errors = log.errorCount
        let numbers = names.map { number($0, object, log: &log)?.number }
        guard log.errorCount == errors else { return nil }
        let bounds = NumberBounds(
            lower: numbers[2] ?? numbers[1], upper: numbers[3] ?? numbers[0], includesLower: numbers[2] != nil,
            includesUpper: numbers[3] != nil)
        let isTwofold = (numbers[1] != nil && numbers[2] != nil) || (numbers[0] != nil && numbers[3] != nil)
        guard !isTwofold, bounds.isPossible else {
            refuse(object, log: &log)
            return nil
        }
        return bounds
    }

    static func refuse(_ object: FieldReader, log: inout DiagnosticLog) {
        log.error(
            object.position, "no number is within these bounds, or one of them is stated twice",
            advice: "write at most one of 'from' and 'above', and one of 'to' and 'below', the lower first",
            finding: .wrongBounds)
    }

    /// The number of member `name` with its digits.
    static func number(
        _ name: String, _ object: FieldReader, log: inout DiagnosticLog
    ) -> (text: String, number: Decimal64)? {
        guard let node = object.node(name) else { return nil }
        if case .number(let text) = node.value, let number = Array(text.utf8).withByteView({ $0.decimal }) {
            return (text, number)
        }
        log.error(
            node.position, "'\(name)' must be a number of at most 18 digits, found \(node.kind)",
            advice: "write it as in the payload, in the unit of the value", finding: .wrongKind)
        return nil
    }
}
