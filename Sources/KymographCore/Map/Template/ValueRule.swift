extension DeviceTemplate {
    /// What happens to a value between the payload and the measurement: our additions to the mapping language, in the
    /// order default, scale, unit, map; or a constant.
    struct ValueRule: Sendable {
        /// The value of every match, in place of an expression.
        var constant: String?
        /// What stands for a value that is not there.
        var fallback: String?
        var scale: ScaleRule?
        var map: ValueMap?
        var unit: UnitRule?
    }

    /// The power of ten that numbers are multiplied by.
    enum ScaleRule: Sendable {
        case fixed(Int8)
        /// The payload's number for it.
        case read
    }

    /// Text by text of the payload.
    struct ValueMap: Sendable {
        var entries: [(text: String, value: String)]
        /// The value of every other text; without one such a reading is rejected.
        var otherwise: String?
    }

    /// How values come to be in one unit.
    struct UnitRule: Sendable {
        /// Where the payload does not say the unit: the one conversion.
        var fixed: UnitConversion?
        /// Else the conversion by the payload's text for the unit; the empty text is for a unit that is not there.
        var entries: [(text: String, conversion: UnitConversion)]
        /// Decimals of converted values, or nil.
        var digits: Int?
        /// The unit that values are converted to.
        var target: UCUMUnit
        /// Where the file names it.
        var targetPosition: SourcePosition
    }
}
