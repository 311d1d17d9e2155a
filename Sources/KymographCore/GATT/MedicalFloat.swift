/// A number of IEEE 11073-20601: SFLOAT (16 bits) or FLOAT (32 bits), which are mantissa and exponent to base ten, or
/// one of the values that are none.
enum MedicalFloat: Equatable {
    /// The number, with the precision that its exponent states.
    case number(Decimal64)
    /// NaN: there is no value.
    case notANumber
    /// NRes: not at this resolution.
    case notAtThisResolution
    /// +INFINITY: above what the device can measure.
    case positiveInfinity
    /// -INFINITY: below what the device can measure.
    case negativeInfinity
    /// The value that the standard reserves.
    case reserved

    /// Whether it is the number 0.
    var isZero: Bool { if case .number(let number) = self { number.mantissa == 0 } else { false } }

    /// A four-bit exponent above a 12-bit mantissa, both signed. The special values have no exponent of their own, so
    /// that the 16 bits are compared before they are taken apart.
    init(sfloat bits: UInt16) {
        switch bits {
        case 0x07FF: self = .notANumber
        case 0x0800: self = .notAtThisResolution
        case 0x07FE: self = .positiveInfinity
        case 0x0802: self = .negativeInfinity
        case 0x0801: self = .reserved
        default:
            let mantissa = Int16(bitPattern: bits << 4) >> 4
            let exponent = Int16(bitPattern: bits) >> 12
            self = .number(Decimal64(mantissa: Int64(mantissa), exponent: Int8(exponent)))
        }
    }

    /// An eight-bit exponent above a 24-bit mantissa, both signed; nil when the exponent is outside -100…100.
    init?(float bits: UInt32) {
        switch bits {
        case 0x007F_FFFF: self = .notANumber
        case 0x0080_0000: self = .notAtThisResolution
        case 0x007F_FFFE: self = .positiveInfinity
        case 0x0080_0002: self = .negativeInfinity
        case 0x0080_0001: self = .reserved
        default:
            let mantissa = Int32(bitPattern: bits << 8) >> 8
            let exponent = Int8(truncatingIfNeeded: Int32(bitPattern: bits) >> 24)
            guard Decimal64.exponentRange.contains(Int(exponent)) else { return nil }
            self = .number(Decimal64(mantissa: Int64(mantissa), exponent: exponent))
        }
    }

    /// The same value in a unit that is 10^-`powers` of its own: kg/L in mg/dL is five powers. Digits stay.
    func scaled(byPowers powers: Int8) -> MedicalFloat {
        guard case .number(let number) = self else { return self }
        return .number(Decimal64(mantissa: number.mantissa, exponent: number.exponent + powers))
    }
}
