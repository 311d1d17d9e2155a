/// An expression in flat form: eight bytes, because a template has eight of them and is copied for every match.
struct ExpressionCode: BitwiseCopyable {
    private var start: Int32
    private var count: UInt16
    private var isMemberChain: Bool
    /// Whether it starts at the matched token rather than at the envelope.
    var fromMatch: Bool

    static let absent = ExpressionCode(path: .absent, fromMatch: false)
    var isAbsent: Bool { start < 0 }

    /// The compiled path, which starts at the root of the evaluation.
    @inline(__always)
    var path: PathReference {
        PathReference(
            start: start, count: Int32(count), isMemberChain: isMemberChain, fromRoot: true, requiredNames: 0)
    }

    init(path: PathReference, fromMatch: Bool) {
        start = path.start
        count = UInt16(path.count)
        isMemberChain = path.isMemberChain
        self.fromMatch = fromMatch
    }

    init(_ expression: TemplateExpression?) {
        self = expression.map { ExpressionCode(path: $0.path, fromMatch: $0.fromMatch) } ?? .absent
    }
}

/// A device template in flat form: everything the mapper needs per match, without reference counting.
struct TemplateCode: BitwiseCopyable {
    var match: ExpressionCode
    /// Names without which the match expression selects nothing, as bits of ``JSONScanner/nameMask``.
    var requiredNames: UInt64
    var device: ExpressionCode
    var timestamp: ExpressionCode
    var alternativeTimestamp: ExpressionCode
    var start: ExpressionCode
    var patient: ExpressionCode
    var encounter: ExpressionCode
    var correlation: ExpressionCode
    var format: TimestampFormat
    /// Index of the measurement type, and of the template in the mapping set.
    var type: Int32
    var index: Int32
    /// The type's grouping is by correlation id, or the template has an expression for it: then it must give one.
    var needsCorrelation: Bool
    /// Where a reading's length goes, or -1.
    var durationSlot: Int32
    var firstValue: Int32
    var valueCount: Int32
    /// Whether the type's readings become Observations at all.
    var hasFHIRTemplate: Bool
}

/// An entry of a template's `values` in flat form.
struct ValueCode: BitwiseCopyable {
    var expression: ExpressionCode
    var slot: Int32
    var isRequired: Bool
    var isNumeric: Bool
    /// Number of its rule among those of the mapper, or -1.
    var rule: Int32 = -1
    /// What selects the text for the unit, where the rule needs one.
    var unitExpression: ExpressionCode = .absent
}
