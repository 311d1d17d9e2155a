/// What a device can measure, as the template states it: values beyond are written as `L` or `U`.
package struct SeriesLimits: Sendable, BitwiseCopyable {
    /// The least number that counts, or nil.
    package var lower: Decimal64?
    /// The greatest number that counts, or nil.
    package var upper: Decimal64?

    package init(lower: Decimal64? = nil, upper: Decimal64? = nil) {
        (self.lower, self.upper) = (lower, upper)
    }

    /// Whether no limit is stated.
    package var isEmpty: Bool { lower == nil && upper == nil }

    /// The mark of a number beyond a limit; nil for one within. The limits themselves are within.
    func mark(of number: Decimal64) -> UInt8? {
        if let lower, number.isLess(than: lower) { return UInt8(ascii: "L") }
        if let upper, upper.isLess(than: number) { return UInt8(ascii: "U") }
        return nil
    }

    /// The members of SampledData, each followed by a comma.
    package var json: String {
        var text = ByteWriter()
        for (name, limit) in [("lower", lower), ("upper", upper)] {
            guard let limit else { continue }
            text.append(Array("\"\(name)Limit\":".utf8))
            text.append(limit)
            text.append(UInt8(ascii: ","))
        }
        return text.view.string
    }
}
