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
    /// Index of the measurement type, and of the template in the mapping set.
    let type: Int32
    let template: Int32
    let format: TimestampFormat
    /// The numbers that the template reads, among those of all templates.
    let firstValue: Int32
    let valueCount: Int32

    /// A number that a template reads.
    struct Value: BitwiseCopyable {
        var name: UInt16
        var slot: UInt8
        var isRequired: Bool
    }

    /// The plan of `template`, whose values are `values`.
    init(_ template: TemplateCode, _ values: ArraySlice<ValueCode>, in program: PathProgram) {
        type = template.type
        self.template = template.index
        format = template.format
        firstValue = template.firstValue
        valueCount = template.valueCount
        guard !template.isCompatible, !template.needsComposition, template.isReading,
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

/// Reads flat payloads that were scanned by the plans of their templates.
struct FlatPlans: ~Copyable {
    /// For each template.
    private let plans: RawArray<FlatPlan>
    /// For each value of all templates, as far as a plan reads it.
    private let values: RawArray<FlatPlan.Value>

    init(_ code: FlatTemplates, in program: PathProgram) {
        plans = RawArray(
            code.templates.map { template in
                let first = Int(template.firstValue)
                return FlatPlan(template, code.values[first..<(first + Int(template.valueCount))], in: program)
            })
        values = RawArray(
            code.values.map {
                FlatPlan.value($0, in: program) ?? FlatPlan.Value(name: NameTable.unknown, slot: 0, isRequired: true)
            })
    }

    /// Whether `template` has a plan.
    @inline(__always)
    func isUsable(_ template: Int) -> Bool { plans[template].isUsable }

    func plan(_ template: Int) -> FlatPlan { plans[template] }

    /// The numbers that `template` reads.
    func values(of template: Int) -> ElementList<FlatPlan.Value> {
        let first = Int(plans[template].firstValue)
        return values.list(first..<first + Int(plans[template].valueCount))
    }

    /// The reading that the payload in `scanner` gives by the plan of `template`, with its series as `key`: what the
    /// general path gives, or nil where that would fail, choose or convert.
    @inline(__always)
    func read(
        _ template: Int, _ scanner: borrowing JSONScanner, _ bytes: ByteView, _ context: borrowing SourceContext,
        _ received: Instant, key: inout ByteWriter
    ) -> Measurement? {
        let plan = plans[template]
        guard readKey(plan, scanner, bytes, context, &key),
            let written = time(plan, scanner, bytes),
            let time = context.settled(written),
            time.instant <= received.advanced(by: context.maxFuture)
        else { return nil }
        var measurement = Measurement(instant: time.instant, received: received)
        measurement.timeForm = time.form
        return readNumbers(plan, scanner, bytes, &measurement) ? measurement : nil
    }

    @inline(__always)
    private func readKey(
        _ plan: FlatPlan, _ scanner: borrowing JSONScanner, _ bytes: ByteView, _ context: borrowing SourceContext,
        _ key: inout ByteWriter
    ) -> Bool {
        guard !scanner.has(plan.absent.0), !scanner.has(plan.absent.1), !scanner.has(plan.absent.2) else {
            return false
        }
        SeriesKey.begin(into: &key)
        let device = append(plan.device, scanner, bytes, fallback: context.defaultDevice, to: &key)
        let patient = append(plan.patient, scanner, bytes, fallback: context.defaultPatient, to: &key)
        return SeriesKey.finish(Int(plan.type), device, patient, context, in: &key)
    }

    /// Adds the text of member `name`, or `fallback` where it is missing, to the key and returns its bytes + 1; 0 when
    /// there is neither, nil when it is no usual identifier.
    @inline(__always)
    private func append(
        _ name: UInt16, _ scanner: borrowing JSONScanner, _ bytes: ByteView, fallback: [UInt8],
        to key: inout ByteWriter
    ) -> UInt16? {
        guard name != NameTable.unknown, let place = scanner.slot(of: name) else {
            return SeriesKey.appendFallback(fallback, to: &key)
        }
        let token = scanner.tape[place]
        guard token.kind == TokenKind.string, token.flags == 0 else { return nil }
        let text = bytes[token.range]
        return text.isPlainText ? SeriesKey.appendPlainText(text, to: &key) : nil
    }

    @inline(__always)
    private func time(_ plan: FlatPlan, _ scanner: borrowing JSONScanner, _ bytes: ByteView) -> Timestamp? {
        guard let place = scanner.slot(of: plan.timestamp) else { return nil }
        let token = scanner.tape[place]
        return token.flags & ~Token.known == 0 ? token.time(bytes, plan.format) : nil
    }

    /// Reads the numbers; false when there is none, or one is not as usual.
    @inline(__always)
    private func readNumbers(
        _ plan: FlatPlan, _ scanner: borrowing JSONScanner, _ bytes: ByteView, _ measurement: inout Measurement
    ) -> Bool {
        var index = Int(plan.firstValue)
        let end = index &+ Int(plan.valueCount)
        while index < end {
            let value = values[index]
            index &+= 1
            guard let place = scanner.slot(of: value.name) else {
                if value.isRequired { return false }
                continue
            }
            let token = scanner.tape[place]
            guard token.kind == TokenKind.number, case .number(let decimal) = DecimalParser.parse(bytes[token.range])
            else { return false }
            measurement.setInline(Int(value.slot), decimal)
        }
        return measurement.present != 0
    }
}

extension JSONScanner {
    /// Whether the payload has a member `name`.
    @inline(__always)
    fileprivate func has(_ name: UInt16) -> Bool { name != NameTable.unknown && slot(of: name) != nil }
}

extension SeriesKey {
    /// Completes a key of which device and patient have been added, each given as its bytes + 1, 0 for none and nil for
    /// no usual identifier. False when the general path must look.
    @inline(__always)
    static func finish(
        _ type: Int, _ device: UInt16?, _ patient: UInt16?, _ context: borrowing SourceContext,
        in key: inout ByteWriter
    ) -> Bool {
        guard let device, device > 0, let patient, patient > 0 || !context.requiresPatient else { return false }
        finish(Head(type: type, device: device, patient: patient), in: &key)
        return true
    }

    /// Adds what the source says where a payload says nothing; its bytes + 1, 0 when that is nothing, nil when it
    /// is too long.
    @inline(__always)
    static func appendFallback(_ fallback: [UInt8], to key: inout ByteWriter) -> UInt16? {
        if fallback.isEmpty { return 0 }
        guard fallback.count <= longestPart else { return nil }
        key.append(fallback)
        return UInt16(fallback.count + 1)
    }

    /// Adds a text that is plain (``ByteView/isPlainText``), and gives its bytes + 1; nil when it is no usual
    /// identifier.
    @inline(__always)
    static func appendPlainText(_ text: ByteView, to key: inout ByteWriter) -> UInt16? {
        guard text.count > 0, text.count <= longestPart, text[0] > 0x20 else { return nil }
        key.append(text)
        return UInt16(truncatingIfNeeded: text.count &+ 1)
    }
}
