/// What a template reads of a flat payload, where each part of a reading is one member of it: the common case.
///
/// Found when the mapper is made, so that nothing is evaluated per reading: the scanner has noted where these members
/// are.
struct FlatPlan: BitwiseCopyable {
    /// Whether the template is of this kind.
    private(set) var isUsable = false
    /// The number of the name that holds the device.
    private(set) var device = NameTable.unknown
    /// The number of the name that holds the patient; ``NameTable/unknown`` when the template names none.
    private(set) var patient = NameTable.unknown
    /// Members that a reading of this kind does not have: the start of an interval, an encounter, an id.
    private(set) var absent = (NameTable.unknown, NameTable.unknown, NameTable.unknown)
    /// The number of the name that holds the time.
    private(set) var timestamp = NameTable.unknown

    /// A number that a template reads.
    struct Value: BitwiseCopyable {
        var name: UInt16
        var slot: UInt8
        var isRequired: Bool
    }

    /// The plan of `template`, whose values are `values`.
    init(_ template: TemplateCode, _ values: ArraySlice<ValueCode>, in program: PathProgram) {
        guard !template.isCompatible, !template.needsComposition, template.hasFHIRTemplate,
            template.correlation.isAbsent, !template.needsCorrelation, let device = program.member(template.device),
            let timestamp = program.member(template.timestamp)
        else { return }
        for (expression, path) in [
            (template.patient, \FlatPlan.patient), (template.start, \.absent.0), (template.encounter, \.absent.1),
            (template.readingId, \.absent.2),
        ] where !expression.isAbsent {
            guard let name = program.member(expression) else { return }
            self[keyPath: path] = name
        }
        guard !values.isEmpty, values.allSatisfy({ FlatPlan.value($0, in: program) != nil }),
            Set(values.map(\.slot)).count == values.count
        else { return }
        self.device = device
        self.timestamp = timestamp
        isUsable = true
    }

    /// How `value` is read by a plan; nil where it is more than one member that is a number.
    static func value(_ value: ValueCode, in program: PathProgram) -> Value? {
        guard value.rule < 0, value.reading == .number, value.slot < Measurement.inlineValues,
            let name = program.member(value.expression)
        else { return nil }
        return Value(name: name, slot: UInt8(value.slot), isRequired: value.isRequired)
    }
}

extension PathProgram {
    /// The one member of the match that `expression` selects; nil when it is something else.
    fileprivate func member(_ expression: ExpressionCode) -> UInt16? {
        guard !expression.isAbsent, expression.kind == .memberChain, expression.fromMatch, expression.path.count == 1
        else { return nil }
        return steps[Int(expression.path.start)].name
    }
}
