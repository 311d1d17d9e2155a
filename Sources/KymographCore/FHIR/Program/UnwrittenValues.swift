/// Why a value was not written, beside others that were.
package enum UnwrittenReason: String, CaseIterable, Sendable {
    /// Readings of one correlation and time contradict each other in it.
    case contradiction
    /// No reading has a value of its type.
    case invalidValue
    /// A sum, mean or other statistic does not fit 18 digits.
    case inexactNumber
    /// A series has too many samples.
    case valueTooLong

    /// The reason of values that `rejection` would have been for, if they had been all.
    init(_ rejection: Rejection) {
        if rejection == .inexactNumber {
            self = .inexactNumber
        } else {
            self = rejection == .valueTooLong ? .valueTooLong : .invalidValue
        }
    }
}

/// Values that were not written, by reason.
package struct UnwrittenValues: Hashable, Sendable {
    private var contradiction = 0
    private var invalidValue = 0
    private var inexactNumber = 0
    private var valueTooLong = 0

    /// None.
    package init() {}

    /// How many there are for `reason`.
    package subscript(reason: UnwrittenReason) -> Int {
        get {
            switch reason {
            case .contradiction: contradiction
            case .invalidValue: invalidValue
            case .inexactNumber: inexactNumber
            case .valueTooLong: valueTooLong
            }
        }
        set {
            switch reason {
            case .contradiction: contradiction = newValue
            case .invalidValue: invalidValue = newValue
            case .inexactNumber: inexactNumber = newValue
            case .valueTooLong: valueTooLong = newValue
            }
        }
    }

    /// For any reason.
    package var total: Int { contradiction + invalidValue + inexactNumber + valueTooLong }

    /// Adds those of another Observation.
    package mutating func add(_ other: UnwrittenValues) {
        contradiction += other.contradiction
        invalidValue += other.invalidValue
        inexactNumber += other.inexactNumber
        valueTooLong += other.valueTooLong
    }
}
