/// What the numbers and texts of a type's readings stand for.
///
/// It belongs to the readings, not to the mapping of the day. Whoever holds readings (a store, an open window) keeps
/// their meaning, and a mapping that gives the same type another one is refused: the former readings would be written
/// in a unit that they were not measured in. An aspect that is nil is not known.
package struct TypeMeaning: Hashable, Codable, Sendable {
    /// By the value's name; all values that the FHIR template writes.
    package var values: [String: ValueMeaning] = [:]
    /// How a device template turns what the payload says into a value: by template and value (``ConversionKey``), and
    /// then by aspect.
    package var conversions: [String: [String: String]] = [:]
    /// What device templates tell readings apart by, by template (``ConversionKey``); nil where an earlier version has
    /// not kept it.
    package var namings: [String: ReadingNaming]?
    /// Whether a window may have several readings that nothing tells apart but their values (``SameInstant/keep``); nil
    /// where an earlier version has not kept it. Once it may, it may for ever.
    package var keepsSeveral: Bool?

    /// Nothing is known.
    package init() {}

    /// Takes over what `other` knows and this does not.
    package mutating func add(_ other: TypeMeaning) {
        values.merge(other.values) { known, new in known.adding(new) }
        conversions.merge(other.conversions) { known, new in known.merging(new) { first, _ in first } }
        if keepsSeveral != true { keepsSeveral = other.keepsSeveral ?? keepsSeveral }
        if let more = other.namings { namings = (namings ?? [:]).merging(more) { known, new in known.adding(new) } }
    }
}

/// What a device template tells readings of one time apart by. A reading that comes again is a duplicate only if both
/// times have it, or neither: once there are readings, it stays.
package struct ReadingNaming: Hashable, Codable, Sendable {
    /// Whether it selects the sender's id of a reading.
    package var hasId: Bool?
    /// Whether it selects where a reading begins.
    package var hasStart: Bool?

    /// A naming.
    package init(hasId: Bool?, hasStart: Bool?) { (self.hasId, self.hasStart) = (hasId, hasStart) }

    /// With what `other` knows and this does not.
    fileprivate func adding(_ other: ReadingNaming) -> ReadingNaming {
        ReadingNaming(hasId: hasId ?? other.hasId, hasStart: hasStart ?? other.hasStart)
    }
}

/// What one value of a type means.
package struct ValueMeaning: Hashable, Codable, Sendable {
    /// The unit of its numbers.
    package var unit: UnitMeaning?
    /// What its numbers are multiplied with, and what is added then, where they are those of a converter.
    package var factor: String?
    /// See ``factor``.
    package var origin: String?
    /// The codes that its presence stands for, `system|code`.
    package var concept: Set<String>?

    /// Nothing is known.
    package init() {}

    /// With what `other` knows and this does not.
    package func adding(_ other: ValueMeaning) -> ValueMeaning {
        var sum = self
        sum.unit = unit ?? other.unit
        sum.factor = factor ?? other.factor
        sum.origin = origin ?? other.origin
        sum.concept = concept ?? other.concept
        return sum
    }
}

/// The unit that numbers were measured in.
package struct UnitMeaning: Hashable, Codable, Sendable {
    /// Its code, of ``system``.
    package var code: String?
    /// The system of the code; nil for UCUM.
    package var system: String?
    /// Its text for people.
    package var text: String?

    /// A unit; with neither code nor text, numbers without unit.
    package init(code: String?, system: String? = nil, text: String?) {
        (self.code, self.system, self.text) = (code, system, text)
    }

    /// Code or text.
    package var name: String { code ?? text ?? "none" }
}
