/// Where a text is among the texts of ``ValueRules``.
struct TextPlace: BitwiseCopyable {
    var start: Int32
    var count: Int32

    static let absent = TextPlace(start: -1, count: 0)
    var isAbsent: Bool { start < 0 }
    var range: Range<Int> { Int(start)..<Int(start + count) }
}

/// A text and what it stands for: the number of a conversion, or where another text is.
struct TextEntry: BitwiseCopyable {
    var text: TextPlace
    var value: TextPlace
    var conversion: Int32
}

/// A rule for a value in flat form: places in the tables of ``ValueRules``.
struct ValueRuleCode: BitwiseCopyable {
    enum Kind: UInt8, BitwiseCopyable { case plain, map, fixedUnit, readUnit }
    /// Where the power of ten comes from that numbers are multiplied by.
    enum Scaling: UInt8, BitwiseCopyable { case none, fixed, read }

    var kind = Kind.plain
    var scaling = Scaling.none
    /// Of a fixed scaling.
    var scale: Int8 = 0
    var constant = TextPlace.absent
    var fallback = TextPlace.absent
    /// Of a map: what stands for texts that are not listed.
    var otherwise = TextPlace.absent
    /// Entries of the map or of the units, sorted.
    var firstEntry: Int32 = 0
    var entryCount: Int32 = 0
    /// Of a fixed unit.
    var conversion: Int32 = -1
    /// Decimals of converted numbers, or -1.
    var digits: Int8 = -1
}
