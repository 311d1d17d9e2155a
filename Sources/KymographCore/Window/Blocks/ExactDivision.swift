/// Division of multiples of one number, by a multiplication: the odd part of the divisor has an inverse modulo 2^64.
struct ExactDivision {
    private let shift: UInt64
    private let inverse: UInt64
    private let greatest: UInt64

    /// Division by the nanoseconds of a unit of ``WindowBlockFormat/units``. A switch over constants: what is prepared
    /// is then one, too.
    @inline(__always)
    static func byUnit(_ unit: Int) -> ExactDivision {
        switch unit {
        case 0: ExactDivision(by: 1)
        case 1: ExactDivision(by: 1_000)
        case 2: ExactDivision(by: 1_000_000)
        default: ExactDivision(by: 1_000_000_000)
        }
    }

    /// The largest unit up to `unit` of which `number` nanoseconds are a multiple.
    @inline(never)
    static func unit(_ unit: Int, of number: UInt64) -> Int {
        var unit = unit
        while !ExactDivision.byUnit(unit).divides(number) { unit -= 1 }
        return unit
    }

    /// Prepares to divide by `divisor`, which is not 0.
    @inline(__always)
    init(by divisor: UInt64) {
        shift = UInt64(divisor.trailingZeroBitCount)
        let odd = divisor >> shift
        // Newton's method: correct to 3 bits at first, twice as many each time.
        var inverse = odd
        for _ in 0..<5 { inverse = inverse &* (2 &- odd &* inverse) }
        self.inverse = inverse
        greatest = UInt64.max / divisor
    }

    /// Whether `number` is a multiple of the divisor: only multiples turn into numbers that are small enough.
    @inline(__always)
    func divides(_ number: UInt64) -> Bool {
        let product = number &* inverse
        return (product &>> shift | product &<< (64 &- shift)) <= greatest
    }

    /// `multiple`, which must be a multiple of the divisor, divided by it.
    @inline(__always)
    func quotient(of multiple: UInt64) -> UInt64 { (multiple &>> shift) &* inverse }
}
