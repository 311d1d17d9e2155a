/// An expression in flat form: eight bytes, because a template has eight of them and is copied for every match.
package struct ExpressionCode: BitwiseCopyable {
    /// How an expression is evaluated.
    enum Kind: UInt8 {
        /// JSONPath or JMESPath that only goes from member to member: the common case, which needs no node list.
        case memberChain
        /// Any other JSONPath.
        case path
        /// Any other JMESPath.
        case jmesPath
        /// An expression that compatibility let through although it cannot be read (quirk 6): it always fails.
        case broken
    }

    /// First step of a path, root node of a JMESPath; -1 when there is no expression.
    private var start: Int32
    private var count: UInt16
    /// How it is evaluated.
    private(set) var kind: Kind
    /// Whether it starts at the matched token rather than at the envelope.
    private(set) var fromMatch: Bool

    static let absent = ExpressionCode(path: .absent, fromMatch: false)

    @inline(__always)
    var isAbsent: Bool { start < 0 }

    /// The compiled path, which starts at the root of the evaluation.
    @inline(__always)
    var path: PathReference {
        PathReference(
            start: start, count: Int32(count), isMemberChain: kind == .memberChain, fromRoot: true, requiredNames: 0)
    }

    /// The compiled JMESPath.
    var jmesPath: JMESPathReference { JMESPathReference(root: start) }

    init(path: PathReference, fromMatch: Bool) {
        start = path.start
        count = UInt16(path.count)
        kind = path.isMemberChain ? .memberChain : .path
        self.fromMatch = fromMatch
    }

    init(jmesPath reference: JMESPathReference) { self.init(.jmesPath, start: reference.root, fromMatch: false) }

    package init(_ expression: TemplateExpression?) {
        guard let expression else {
            self = .absent
            return
        }
        switch expression.form {
        case .path(let path): self.init(path: path, fromMatch: expression.fromMatch)
        case .jmesPath(let reference): self.init(.jmesPath, start: reference.root, fromMatch: expression.fromMatch)
        case .broken: self.init(.broken, start: 0, fromMatch: false)
        }
    }

    private init(_ kind: Kind, start: Int32, fromMatch: Bool) {
        self.start = start
        count = 0
        self.kind = kind
        self.fromMatch = fromMatch
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
    var readingId: ExpressionCode
    var patient: ExpressionCode
    var encounter: ExpressionCode
    var correlation: ExpressionCode
    var format: TimestampFormat
    /// Index of the measurement type, and of the template in the mapping set.
    var type: Int32
    var index: Int32
    /// The type's grouping is by correlation id, or the template has an expression for it: then it must give one.
    var needsCorrelation: Bool
    /// Whether some expression can only be answered by a document that holds the match as `matchedToken`.
    var needsComposition: Bool
    /// Whether its expressions find their way in matches that JMESPath made.
    var takesMadeMatches: Bool
    /// Whether the reference system's quirks are copied.
    var isCompatible: Bool
    /// Where a reading's length goes, or -1.
    var durationSlot: Int32
    /// Where a reading's id goes, or -1.
    var idSlot: Int32
    /// Whether a match takes a reading back.
    var retracts = false
    /// Whether its readings need a look before they leave: other templates of the mapper give readings of the same
    /// type, with which its own are joined; or they are retractions.
    var isJoined = false
    var firstValue: Int32
    var valueCount: Int32
    /// Whether the type's readings become Observations at all.
    var hasFHIRTemplate: Bool
    /// Whether a match is a reading, which becomes an Observation.
    var isReading = true
}

/// Templates in flat form.
struct FlatTemplates {
    var templates: [TemplateCode] = []
    var values: [ValueCode] = []
    /// The rules that values name by number.
    var rules: [DeviceTemplate.ValueRule] = []
    /// For each rule: what selects the text for the unit, where the rule needs one.
    var units: [ExpressionCode] = []
    /// For each rule: what selects the power of ten, where the rule needs one.
    var scales: [ExpressionCode] = []

    /// Marks the templates whose readings are joined before they leave: of types whose windows take a reading as one
    /// (`isWhole`). Those of others are joined there.
    mutating func markJoined(isWhole: [Bool]) {
        var counts: [Int32: Int] = [:]
        for template in templates where !template.retracts { counts[template.type, default: 0] += 1 }
        for index in templates.indices {
            let type = templates[index].type
            templates[index].isJoined = templates[index].retracts || isWhole[Int(type)] && counts[type] ?? 0 > 1
        }
    }

    /// Adds the values of a template with their slots; `reading` is that of each slot.
    mutating func add(_ added: [DeviceTemplate.Value], slots: [Int], reading: [ValueCode.Reading]) {
        for (value, slot) in zip(added, slots) {
            var code = ValueCode(
                expression: ExpressionCode(value.expression), slot: Int16(slot), isRequired: value.isRequired,
                reading: reading[slot])
            if let rule = value.rule {
                code.rule = Int32(rules.count)
                rules.append(rule)
                units.append(ExpressionCode(value.unitExpression))
                scales.append(ExpressionCode(value.scaleExpression))
            }
            values.append(code)
        }
    }
}

/// An entry of a template's `values` in flat form: sixteen bytes, because each is copied for every match.
struct ValueCode: BitwiseCopyable {
    var expression: ExpressionCode
    /// Number of its rule among those of the mapper, or -1.
    var rule: Int32 = -1
    var slot: Int16
    var isRequired: Bool
    var reading: Reading

    /// How a value is kept. The lowest bit is set where it is a number, the next where it may be an array of them.
    enum Reading: UInt8 {
        case text = 0
        case number = 1
        case textOrSamples = 2
        case numberOrSamples = 3
    }

    @inline(__always)
    var isNumeric: Bool { reading.rawValue & 1 != 0 }
    @inline(__always)
    var takesSamples: Bool { reading.rawValue & 2 != 0 }
}

extension MeasurementType {
    /// How the value of each slot is kept. Arrays are none of the reference's values.
    var readings: [ValueCode.Reading] {
        isNumeric.indices.map { slot in
            let mayBeArray = slot < takesSamples.count && takesSamples[slot] && compatibility == .none
            if mayBeArray { return isNumeric[slot] ? .numberOrSamples : .textOrSamples }
            return isNumeric[slot] ? .number : .text
        }
    }
}
