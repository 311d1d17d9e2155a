extension DeviceTemplate {
    /// What happens to a value between the payload and the measurement: our additions to the mapping language, in the
    /// order default, scale, unit, map; or a constant.
    package struct ValueRule: Sendable {
        /// The value of every match, in place of an expression.
        package var constant: String?
        /// What stands for a value that is not there.
        package var fallback: String?
        package var scale: ScaleRule?
        package var map: ValueMap?
        package var unit: UnitRule?

        package init(constant: String? = nil, unit: UnitRule? = nil) {
            (self.constant, self.unit) = (constant, unit)
        }
    }

    /// The power of ten that numbers are multiplied by.
    package enum ScaleRule: Sendable {
        case fixed(Int8)
        /// The payload's number for it.
        case read
    }

    /// Text by text of the payload.
    package struct ValueMap: Sendable {
        package var entries: [(text: String, value: String)]
        /// The value of every other text; without one such a reading is rejected.
        package var otherwise: String?

        package init(entries: [(text: String, value: String)], otherwise: String? = nil) {
            (self.entries, self.otherwise) = (entries, otherwise)
        }
    }

    /// How values come to be in one unit.
    package struct UnitRule: Sendable {
        /// Where the payload does not say the unit: the one conversion.
        package var fixed: UnitConversion?
        /// Else the conversion by the payload's text for the unit; the empty text is for a unit that is not there.
        package var entries: [(text: String, conversion: UnitConversion)]
        /// Decimals of converted values, or nil.
        var digits: Int?
        /// The unit that values are converted to.
        package var target: UCUMUnit
        /// Where the file names it.
        package var targetPosition: SourcePosition

        package init(
            fixed: UnitConversion? = nil, entries: [(text: String, conversion: UnitConversion)], digits: Int? = nil,
            target: UCUMUnit, targetPosition: SourcePosition
        ) {
            (self.fixed, self.entries, self.digits, self.target) = (fixed, entries, digits, target)
            self.targetPosition = targetPosition
        }
    }
}
