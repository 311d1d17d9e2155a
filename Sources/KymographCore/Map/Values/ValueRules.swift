/// Applies the rules of values: constants, defaults, units and maps. Nothing is allocated after `init`.
///
/// One per mapper. Its texts are followed by ``ByteView/padding`` readable bytes, as the number parser wants.
struct ValueRules: ~Copyable {
    /// What a rule makes of a value.
    enum Outcome {
        /// A converted number.
        case number(Decimal64)
        /// A text; it is valid as long as the rules, or as the text that was given.
        case text(ByteView)
        /// The reading must be rejected.
        case rejected(Rejection)
    }

    private let codes: RawArray<ValueRuleCode>
    private let entries: RawArray<TextEntry>
    private let conversions: RawArray<UnitConversion>
    private let texts: PaddedBytes

    /// Compiles `rules`; the numbers that the other members take are indexes of this list.
    init(_ rules: [DeviceTemplate.ValueRule]) {
        var tables = ValueRuleTables()
        codes = RawArray(rules.map { tables.code($0) })
        entries = RawArray(tables.entries)
        conversions = RawArray(tables.conversions)
        texts = PaddedBytes(copying: tables.texts)
    }

    /// The text that a constant is in every match, or nil when the rule is none.
    @inline(__always)
    func constantText(_ rule: Int) -> ByteView? { text(codes[rule].constant) }

    /// The text that stands for a value that is not there, or nil. The rule is still to be applied to it.
    @inline(__always)
    func defaultText(_ rule: Int) -> ByteView? { text(codes[rule].fallback) }

    /// Whether the payload names the unit, so that `unitText` counts.
    @inline(__always)
    func readsUnit(_ rule: Int) -> Bool { codes[rule].kind == .readUnit }

    /// Whether the payload names the power of ten, so that `scale` counts.
    @inline(__always)
    func readsScale(_ rule: Int) -> Bool { codes[rule].scaling == .read }

    /// Applies scale, unit or map to `text`, the unescaped text of what the expression selected (numbers as written,
    /// `true` and `false` in lower case) or the default. `unitText` is that of the unit, nil when there is none, and
    /// `scale` the payload's power of ten.
    ///
    /// A scaled number, or one in another unit, comes as a number, everything else as text. Rejections: `unknownUnit`,
    /// `unmappedValue`, `invalidValue` for what is no number but has a unit or scale, `inexactNumber`. `text` must be
    /// padded.
    @inline(__always)
    func apply(_ rule: Int, text: ByteView, unitText: ByteView?, scale: Int8 = 0) -> Outcome {
        switch codes[rule].kind {
        case .plain: codes[rule].scaling == .none ? .text(text) : scaled(codes[rule], text, scale)
        case .map: mapped(codes[rule], text)
        case .fixedUnit, .readUnit: converted(codes[rule], text, unitText, scale)
        }
    }

    private func scaled(_ code: ValueRuleCode, _ text: ByteView, _ scale: Int8) -> Outcome {
        switch number(code, text, scale) {
        case .malformed: .rejected(.invalidValue)
        case .inexact: .rejected(.inexactNumber)
        case .number(let number): .number(number)
        }
    }

    /// The number that `text` is, with its point moved: no digit changes.
    private func number(_ code: ValueRuleCode, _ text: ByteView, _ scale: Int8) -> DecimalParser.Result {
        guard code.scaling != .none, case .number(let number) = DecimalParser.parse(text) else {
            return DecimalParser.parse(text)
        }
        let power = Int(number.exponent) + Int(code.scaling == .fixed ? code.scale : scale)
        guard Decimal64.exponentRange.contains(power) else { return .inexact }
        return .number(Decimal64(mantissa: number.mantissa, exponent: Int8(power)))
    }

    private func converted(
        _ code: ValueRuleCode, _ text: ByteView, _ unitText: ByteView?, _ scale: Int8
    ) -> Outcome {
        var conversion = Int(code.conversion)
        if code.kind == .readUnit {
            guard let entry = find(unitText ?? ByteView(""), code) else { return .rejected(.unknownUnit) }
            conversion = Int(entry.conversion)
        }
        switch number(code, text, scale) {
        case .malformed: return .rejected(.invalidValue)
        case .inexact: return .rejected(.inexactNumber)
        case .number(let number):
            let digits = code.digits < 0 ? nil : Int(code.digits)
            let result = conversions[conversion].convert(number, digits: digits)
            return result.map { .number($0) } ?? .rejected(.inexactNumber)
        }
    }

    private func mapped(_ code: ValueRuleCode, _ text: ByteView) -> Outcome {
        let place = find(text, code)?.value ?? code.otherwise
        return self.text(place).map { .text($0) } ?? .rejected(.unmappedValue)
    }

    /// The entry of `wanted`: by halves, for the entries are sorted.
    private func find(_ wanted: ByteView, _ code: ValueRuleCode) -> TextEntry? {
        var low = Int(code.firstEntry)
        var high = low + Int(code.entryCount)
        while low < high {
            let middle = (low + high) / 2
            let order = compare(texts.view(entries[middle].text.range), wanted)
            if order == 0 { return entries[middle] }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Below, at or above zero as `left` is before, like or behind `right` in the order of ``ValueRuleTables``.
    private func compare(_ left: ByteView, _ right: ByteView) -> Int {
        guard left.count == right.count else { return left.count - right.count }
        var index = 0
        while index < left.count {
            if left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
            index += 1
        }
        return 0
    }

    @inline(__always)
    private func text(_ place: TextPlace) -> ByteView? { place.isAbsent ? nil : texts.view(place.range) }
}

/// The tables of ``ValueRules`` while they are made.
struct ValueRuleTables {
    private(set) var entries: [TextEntry] = []
    private(set) var conversions: [UnitConversion] = []
    private(set) var texts: [UInt8] = []

    /// Adds what `rule` needs and returns its code.
    mutating func code(_ rule: DeviceTemplate.ValueRule) -> ValueRuleCode {
        var code = ValueRuleCode()
        code.constant = place(rule.constant)
        code.fallback = place(rule.fallback)
        switch rule.scale {
        case nil: break
        case .fixed(let power): (code.scaling, code.scale) = (.fixed, power)
        case .read: code.scaling = .read
        }
        code.firstEntry = Int32(entries.count)
        if let map = rule.map {
            code.kind = .map
            code.otherwise = place(map.otherwise)
            for entry in sorted(map.entries, by: \.text) {
                entries.append(TextEntry(text: place(entry.text), value: place(entry.value), conversion: -1))
            }
        }
        if let unit = rule.unit { add(unit, to: &code) }
        code.entryCount = Int32(entries.count) - code.firstEntry
        return code
    }

    private mutating func add(_ unit: DeviceTemplate.UnitRule, to code: inout ValueRuleCode) {
        code.kind = unit.fixed == nil ? .readUnit : .fixedUnit
        code.digits = Int8(unit.digits ?? -1)
        if let fixed = unit.fixed { code.conversion = number(fixed) }
        for entry in sorted(unit.entries, by: \.text) {
            entries.append(
                TextEntry(text: place(entry.text), value: .absent, conversion: number(entry.conversion)))
        }
    }

    /// By length, then by bytes: what is compared fastest.
    private func sorted<Element>(_ elements: [Element], by text: (Element) -> String) -> [Element] {
        elements.sorted { left, right in
            let (first, second) = (Array(text(left).utf8), Array(text(right).utf8))
            return first.count == second.count ? first.lexicographicallyPrecedes(second) : first.count < second.count
        }
    }

    private mutating func number(_ conversion: UnitConversion) -> Int32 {
        conversions.append(conversion)
        return Int32(conversions.count - 1)
    }

    private mutating func place(_ text: String?) -> TextPlace {
        guard let text else { return .absent }
        let start = texts.count
        texts += Array(text.utf8)
        return TextPlace(start: Int32(start), count: Int32(texts.count - start))
    }
}
