/// What the numbers and texts of a type's readings stand for.
///
/// It belongs to the readings, not to the mapping of the day. Whoever holds readings (a store, an open window) keeps
/// their meaning, and a mapping that gives the same type another one is refused: the former readings would be written
/// in a unit that they were not measured in. An aspect that is nil is not known.
public struct TypeMeaning: Hashable, Codable, Sendable {
    /// By the value's name; all values that the FHIR template writes.
    public var values: [String: ValueMeaning] = [:]
    /// How a device template turns what the payload says into a value: by template and value (``ConversionKey``), and
    /// then by aspect.
    public var conversions: [String: [String: String]] = [:]

    /// Nothing is known.
    public init() {}

    /// Takes over what `other` knows and this does not.
    mutating func add(_ other: TypeMeaning) {
        values.merge(other.values) { known, new in known.adding(new) }
        conversions.merge(other.conversions) { known, new in known.merging(new) { first, _ in first } }
    }

    /// What `new` says otherwise, a sentence for each; empty when readings of both can be in one Observation.
    func changes(to new: TypeMeaning, of type: String) -> [String] {
        var changes: [String] = []
        for (name, value) in new.values.sorted(by: { $0.key < $1.key }) {
            guard let former = values[name] else { continue }
            changes += former.changes(to: value).map {
                "the \($0.aspect) of the value '\(name)' of type '\(type)' "
                    + "changes from '\($0.former)' to '\($0.new)'"
            }
        }
        return changes + conversionChanges(to: new, of: type)
    }

    private func conversionChanges(to new: TypeMeaning, of type: String) -> [String] {
        var changes: [String] = []
        for (key, aspects) in new.conversions.sorted(by: { $0.key < $1.key }) {
            guard let former = conversions[key] else { continue }
            for (aspect, text) in aspects.sorted(by: { $0.key < $1.key }) {
                guard let known = former[aspect], known != text else { continue }
                let value = ConversionKey.value(of: key)
                changes.append(
                    "the \(aspect) of the value '\(value)' of type '\(type)' changes from '\(known)' to '\(text)' in "
                        + "the device template")
            }
        }
        return changes
    }
}

/// What one value of a type means.
public struct ValueMeaning: Hashable, Codable, Sendable {
    /// The unit of its numbers.
    public var unit: UnitMeaning?
    /// What its numbers are multiplied with, and what is added then, where they are those of a converter.
    public var factor: String?
    /// See ``factor``.
    public var origin: String?
    /// The codes that its presence stands for, `system|code`.
    public var concept: Set<String>?

    /// Nothing is known.
    public init() {}

    /// With what `other` knows and this does not.
    func adding(_ other: ValueMeaning) -> ValueMeaning {
        var sum = self
        sum.unit = unit ?? other.unit
        sum.factor = factor ?? other.factor
        sum.origin = origin ?? other.origin
        sum.concept = concept ?? other.concept
        return sum
    }

    /// The aspects that `new` says otherwise.
    func changes(to new: ValueMeaning) -> [(aspect: String, former: String, new: String)] {
        var changes: [(aspect: String, former: String, new: String)] = []
        if let unit, let other = new.unit, !unit.isSame(as: other) { changes.append(("unit", unit.name, other.name)) }
        for (aspect, former, other) in [("factor", factor, new.factor), ("origin", origin, new.origin)] {
            if let former, let other, former != other { changes.append((aspect, former, other)) }
        }
        if let concept, let other = new.concept, concept.isDisjoint(with: other) {
            changes.append(("concept", Self.list(concept), Self.list(other)))
        }
        return changes
    }

    private static func list(_ codes: Set<String>) -> String { codes.sorted().joined(separator: ", ") }
}

/// The unit that numbers were measured in.
public struct UnitMeaning: Hashable, Codable, Sendable {
    /// Its code, of ``system``.
    public var code: String?
    /// The system of the code; nil for UCUM.
    public var system: String?
    /// Its text for people.
    public var text: String?

    /// A unit; with neither code nor text, numbers without unit.
    public init(code: String?, system: String? = nil, text: String?) {
        (self.code, self.system, self.text) = (code, system, text)
    }

    /// Code or text.
    public var name: String { code ?? text ?? "none" }

    /// Whether a number means the same in both: the code counts, of UCUM however it is spelled, and where one has none
    /// its text.
    func isSame(as other: UnitMeaning) -> Bool {
        guard let code, let otherCode = other.code else {
            return name == other.name || text == other.text && text != nil
        }
        guard system == other.system || system == nil || other.system == nil else { return false }
        if code == otherCode { return true }
        guard let unit = try? UCUMUnit.parse(code), let otherUnit = try? UCUMUnit.parse(otherCode) else { return false }
        return unit.isSame(as: otherUnit)
    }
}

/// The name of a value of a device template in ``TypeMeaning/conversions``.
enum ConversionKey {
    private static let separator: Character = "\u{1F}"

    /// The key of the `occurrence`th value of this name in the template of `mapping` with this match expression.
    static func key(mapping: String, match: String, value: String, occurrence: Int) -> String {
        [folder(mapping), match, value, String(occurrence)].joined(separator: String(separator))
    }

    /// The value's name in a key.
    static func value(of key: String) -> String {
        let parts = key.split(separator: separator, omittingEmptySubsequences: false)
        return parts.count > 2 ? String(parts[2]) : key
    }

    /// A mapping is the same wherever its folder lies.
    private static func folder(_ name: String) -> String { name.split(separator: "/").last.map(String.init) ?? name }
}
