/// Flat payloads whose readings are one member for each part (``FlatPlan``).
///
/// What is called for each reading is mutating even where it only reads: a mapper that is lent for reading while its
/// key is written would be copied.
extension Mapper {
    /// What became of a payload that was mapped by a plan.
    enum FlatOutcome {
        /// It gave a reading.
        case mapped
        /// The output did not take the reading.
        case refused(Rejection)
        /// Something is not as usual. Nothing has happened: the general way decides.
        case unusual
    }

    /// Maps the flat payload that was scanned as template `number` says: as a match is mapped in general, and not at
    /// all where that would fail, choose or convert.
    @inline(__always)
    mutating func mapFlat(
        _ number: Int, _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> FlatOutcome {
        let plan = plans[number]
        guard readFlatKey(plan, number, bytes, context),
            let written = flatTime(plan.timestamp, templates[number].format, bytes),
            let time = context.settled(written),
            time.instant <= received.advanced(by: context.maxFuture)
        else { return .unusual }
        var measurement = Measurement(instant: time.instant, received: received)
        measurement.timeForm = time.form
        guard readFlatValues(number, bytes, &measurement) else { return .unusual }
        payload.removeAll()
        let refused =
            templates[number].isJoined
            ? hold(measurement, templates[number])
            : output.accept(measurement, payload: payload.view, key: key.view)
        if let refused { return .refused(refused) }
        return .mapped
    }

    @inline(__always)
    private mutating func readFlatKey(
        _ plan: FlatPlan, _ number: Int, _ bytes: ByteView, _ context: borrowing SourceContext
    ) -> Bool {
        SeriesKey.begin(into: &key)
        var head = SeriesKey.Head(type: Int(templates[number].type))
        guard !has(plan.absent.0), !has(plan.absent.1), !has(plan.absent.2),
            let device = appendFlatPart(plan.device, bytes, fallback: context.defaultDevice), device > 0,
            let patient = appendFlatPart(plan.patient, bytes, fallback: context.defaultPatient),
            patient > 0 || !context.requiresPatient
        else { return false }
        head.device = device
        head.patient = patient
        SeriesKey.finish(head, in: &key)
        return true
    }

    @inline(__always)
    private mutating func has(_ name: UInt16) -> Bool {
        name != NameTable.unknown && evaluator.paths.scanner.slot(of: name) != nil
    }

    /// Adds the text of member `name`, or `fallback` where it is missing, to the key and returns its bytes + 1; 0 when
    /// there is neither, nil when it is no usual identifier.
    @inline(__always)
    private mutating func appendFlatPart(_ name: UInt16, _ bytes: ByteView, fallback: [UInt8]) -> UInt16? {
        guard name != NameTable.unknown, let place = evaluator.paths.scanner.slot(of: name) else {
            return appendFlatFallback(fallback)
        }
        let token = evaluator.paths.scanner.tape[place]
        guard token.kind == TokenKind.string, token.flags == 0 else { return nil }
        let text = bytes[token.range]
        return text.isPlainText ? appendFlatText(text) : nil
    }

    /// Adds what the source says where a payload says nothing.
    @inline(__always)
    mutating func appendFlatFallback(_ fallback: [UInt8]) -> UInt16? {
        if fallback.isEmpty { return 0 }
        guard fallback.count <= SeriesKey.longestPart else { return nil }
        key.append(fallback)
        return UInt16(fallback.count + 1)
    }

    /// Adds a text that is plain (``ByteView/isPlainText``).
    @inline(__always)
    mutating func appendFlatText(_ text: ByteView) -> UInt16? {
        guard text.count > 0, text.count <= SeriesKey.longestPart, text[0] > 0x20 else { return nil }
        key.append(text)
        return UInt16(truncatingIfNeeded: text.count &+ 1)
    }

    @inline(__always)
    private mutating func flatTime(_ name: UInt16, _ format: TimestampFormat, _ bytes: ByteView) -> Timestamp? {
        guard let place = evaluator.paths.scanner.slot(of: name) else { return nil }
        let token = evaluator.paths.scanner.tape[place]
        return token.flags & ~Token.known == 0 ? time(token, bytes, format) : nil
    }

    /// Reads the numbers; false when there is none, or one is not as usual.
    @inline(__always)
    private mutating func readFlatValues(_ number: Int, _ bytes: ByteView, _ measurement: inout Measurement) -> Bool {
        var index = Int(templates[number].firstValue)
        let end = index &+ Int(templates[number].valueCount)
        while index < end {
            let value = flatValues[index]
            index &+= 1
            guard let place = evaluator.paths.scanner.slot(of: value.name) else {
                if value.isRequired { return false }
                continue
            }
            let token = evaluator.paths.scanner.tape[place]
            guard token.kind == TokenKind.number, case .number(let decimal) = DecimalParser.parse(bytes[token.range])
            else { return false }
            measurement.setInline(Int(value.slot), decimal)
        }
        return measurement.present != 0
    }
}
