/// What all readings of one type have in common in a table.
package struct ReadingKind: Sendable {
    /// A code and its system; what is unknown is nil.
    package struct Code: Sendable {
        package var system: String?
        package var code: String?

        /// A code of `system`.
        package init(system: String? = nil, code: String? = nil) { (self.system, self.code) = (system, code) }
    }

    /// What a value is.
    package struct Field: Sendable {
        /// Of the values as they are; without a code where they are scaled.
        package var unit = Code()
        /// What the Observation multiplies values by, and adds then, as the mapping writes it; nil where it does not.
        package var factor: String?
        package var origin: String?
        /// The component of the Observation that has it.
        package var component = Code()

        /// Nothing is known.
        package init() {}
    }

    package let type: MeasurementType
    package let code: Code
    /// By value slot.
    package let fields: [Field]
    /// The slots of values that mappings have named.
    let visible: [Int]

    /// What the readings of `type` are; `fields` by value slot.
    package init(_ type: MeasurementType, code: Code, fields: [Field]) {
        precondition(fields.count == type.valueNames.count)
        (self.type, self.code, self.fields) = (type, code, fields)
        visible = type.valueNames.indices.filter { !type.isHidden($0) }
    }
}
