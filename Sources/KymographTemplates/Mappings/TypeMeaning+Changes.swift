import KymographCore

extension TypeMeaning {
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

extension ValueMeaning {
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

extension UnitMeaning {
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

/// The name of a value of a device template in ``TypeMeaning/conversions``, and that of the template in
/// ``TypeMeaning/namings``.
enum ConversionKey {
    private static let separator: Character = "\u{1F}"

    /// The key of the template of `mapping` with this match expression.
    static func key(mapping: String, match: String) -> String {
        [folder(mapping), match].joined(separator: String(separator))
    }

    /// The key of the `occurrence`th value of this name in the template of `mapping` with this match expression.
    static func key(mapping: String, match: String, value: String, occurrence: Int) -> String {
        [folder(mapping), match, value, String(occurrence)].joined(separator: String(separator))
    }

    /// The value's name in a key.
    static func value(of key: String) -> String {
        let parts = parts(key)
        return parts.count > 2 ? String(parts[2]) : key
    }

    /// The folder of the mapping and the match expression in a key.
    static func template(of key: String) -> (folder: String, match: String) {
        let parts = parts(key)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }

    private static func parts(_ key: String) -> [Substring] {
        key.split(separator: separator, omittingEmptySubsequences: false)
    }

    /// A mapping is the same wherever its folder lies.
    private static func folder(_ name: String) -> String { name.split(separator: "/").last.map(String.init) ?? name }
}
