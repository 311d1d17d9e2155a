/// What one reading says about a checked field.
enum Sighting {
    case nothing
    /// Something that is no value of the field's type.
    case unusable
    /// A text that stands for no value: its entry.
    case absent(Int32)
    case value(Decimal64, Comparator)

    /// Looks at reading `index`.
    static func of(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ tables: borrowing ProgramTables
    ) -> Sighting {
        let places = field.extras.absents
        let text = field.slot >= 0 ? content.text(index, slot: Int(field.slot)) : nil
        if !places.isEmpty {
            if let text, tables.absent(text, in: places) >= 0 { return .absent(tables.absent(text, in: places)) }
            if let second = other(field, content, index), tables.absent(second, in: places) >= 0 {
                return .absent(tables.absent(second, in: places))
            }
        }
        let found = value(field, content, index, text)
        guard case .unusable = found, tables.anyAbsent(in: places) >= 0 else { return found }
        return .absent(tables.anyAbsent(in: places))
    }

    /// The text of the second value.
    private static func other(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int
    ) -> ByteView? {
        field.extras.second >= 0 ? content.text(index, slot: Int(field.extras.second)) : nil
    }

    private static func value(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?
    ) -> Sighting {
        switch field.extras.form {
        case .number: return number(field, content, index, text)
        case .integer: return integer(field, content, index, text)
        case .boolean: return boolean(field, content, index, text)
        case .dateTime: return checked(field, content, index, text, DateTimeText.isDateTime)
        case .time: return checked(field, content, index, text, DateTimeText.isTime)
        case .text, .presence: return checked(field, content, index, text) { _ in true }
        case .period: return period(field, content, index, text)
        case .range, .ratio: return pair(field, content, index, text)
        }
    }

    // MARK: One value

    private static func decimal(
        _ slot: Int32, _ content: borrowing WindowContent, _ index: Int
    ) -> Decimal64? {
        slot >= 0 ? content.number(index, slot: Int(slot)) : nil
    }

    private static func number(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?
    ) -> Sighting {
        if field.extras.readsComparator, let text {
            return Comparator.number(text).map { .value($0.number, $0.comparator) } ?? .unusable
        }
        guard let number = decimal(field.slot, content, index) else { return text == nil ? .nothing : .unusable }
        guard let second = other(field, content, index) else { return .value(number, .none) }
        return Comparator.of(second).map { .value(number, $0) } ?? .unusable
    }

    /// A FHIR integer has 32 bits (R4 datatypes).
    private static func integer(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?
    ) -> Sighting {
        guard let number = decimal(field.slot, content, index) else { return text == nil ? .nothing : .unusable }
        guard let whole = number.whole, Int32(exactly: whole) != nil else { return .unusable }
        return .value(Decimal64(mantissa: whole), .none)
    }

    /// `true` and `false` however they are capitalised, or 1 and 0.
    private static func boolean(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?
    ) -> Sighting {
        if let number = decimal(field.slot, content, index) {
            guard let whole = number.whole, whole == 0 || whole == 1 else { return .unusable }
            return .value(Decimal64(mantissa: whole), .none)
        }
        guard let text else { return .nothing }
        if text.isCaseless("true") { return .value(Decimal64(mantissa: 1), .none) }
        return text.isCaseless("false") ? .value(Decimal64(mantissa: 0), .none) : .unusable
    }

    private static func checked(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?,
        _ isValid: (ByteView) -> Bool
    ) -> Sighting {
        if let text { return isValid(text) ? .value(Decimal64(mantissa: 0), .none) : .unusable }
        guard let number = decimal(field.slot, content, index) else { return .nothing }
        let isAnything = field.extras.form == .text || field.extras.form == .presence
        return isAnything ? .value(number, .none) : .unusable
    }

    // MARK: Two values

    private static func period(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ start: ByteView?
    ) -> Sighting {
        let end = other(field, content, index)
        guard start != nil || end != nil else { return .nothing }
        if let start, !DateTimeText.isDateTime(start) { return .unusable }
        if let end, !DateTimeText.isDateTime(end) { return .unusable }
        if let start, let end, !DateTimeText.areOrdered(start, end) { return .unusable }
        return .value(Decimal64(mantissa: 0), .none)
    }

    /// A Range has one end at least, in order; a Ratio has both numbers (FHIR rat-1, rng-2).
    private static func pair(
        _ field: ProgramField, _ content: borrowing WindowContent, _ index: Int, _ text: ByteView?
    ) -> Sighting {
        let first = decimal(field.slot, content, index)
        let second = decimal(field.extras.second, content, index)
        let isSpoiled = (first == nil && text != nil) || (second == nil && other(field, content, index) != nil)
        if isSpoiled { return .unusable }
        guard let first, let second else {
            let isEnough = field.extras.form == .range && (first != nil || second != nil)
            return isEnough ? .value(first ?? second ?? Decimal64(mantissa: 0), .none) : .nothing
        }
        if field.extras.form == .range && second.isLess(than: first) { return .unusable }
        return .value(first, .none)
    }
}

extension FieldFacts {
    /// What the latest reading with a value of the field's type says. Readings without such a value count only when
    /// no reading has one: then the latest that stands for no value gives the reason.
    static func checked(
        _ field: ProgramField, _ content: borrowing WindowContent, _ tables: borrowing ProgramTables
    ) -> FieldFacts {
        var facts = FieldFacts()
        var index = content.readings.count - 1
        while index >= 0 {
            switch Sighting.of(field, content, index, tables) {
            case .nothing: break
            case .unusable: facts.isUnusable = true
            case .absent(let entry): if facts.reason < 0 { facts.reason = entry }
            case .value(let number, let comparator):
                facts.count = 1
                facts.last = index
                facts.result = number
                facts.comparator = comparator
                return facts
            }
            index -= 1
        }
        return facts
    }
}

extension Decimal64 {
    /// The number when it is a whole one of at most 18 digits: 5, 5.0 and 50E-1 are.
    var whole: Int64? {
        if exponent >= 0 { return mantissa(at: 0) }
        guard exponent >= -18 else { return mantissa == 0 ? 0 : nil }
        let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: Decimal64.powers[-Int(exponent)])
        return remainder == 0 ? quotient : nil
    }
}

extension ByteView {
    /// Whether the bytes are `literal`, which is in lower case, however they are capitalised.
    func isCaseless(_ literal: StaticString) -> Bool {
        let other = ByteView(literal)
        guard count == other.count else { return false }
        for index in 0..<count where self[index] | 0x20 != other[index] { return false }
        return true
    }
}
