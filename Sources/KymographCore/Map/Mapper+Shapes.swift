/// Documents and objects of shapes that are known: nearly all that devices send.
extension Mapper {
    /// Maps the document at the beginning of `bytes` if its shape is known and a newline follows it, and gives the
    /// place of the newline; nil when the line must be found and mapped, and nothing has happened. `bytes` must be
    /// padded.
    @inline(__always)
    public mutating func mapKnownLine(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        isUnknownLine = false
        guard packets.count == 0,
            let end = mapKnown(bytes, .newline, context: context, received: received, output: &output)
        else { return nil }
        return bytes[end] == 0x0A ? end : end &+ 1
    }

    /// Maps the document at `start` if its shape is known, and gives its end; nil when it must be scanned, and nothing
    /// has happened.
    @inline(__always)
    mutating func mapKnown(
        _ bytes: ByteView, from start: Int, _ ending: DocumentEnding, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        mapKnown(bytes[start..<bytes.count], ending, context: context, received: received, output: &output)
            .map { start &+ $0 }
    }

    /// The same for the document at the beginning of `bytes`.
    @inline(__always)
    private mutating func mapKnown(
        _ bytes: ByteView, _ ending: DocumentEnding, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard known.documents.count > 0 else { return nil }
        let number = known.documents.find(bytes, ending)
        guard number >= 0 else {
            isUnknownLine = ending == .newline && bytes[0] > 0x20
            return nil
        }
        let end = known.documents.end
        guard ending.follows(end, in: bytes) else { return nil }
        let values = DocumentValues(values: known.documents.followed, bytes: bytes)
        if takePlain(known.plan(of: number), values, context, received, &output) { return end }
        guard mapFound(number, bytes, context: context, received: received, output: &output) else {
            isUnknownLine = ending == .newline
            return nil
        }
        return end
    }

    /// Maps the document of shape `number` at the beginning of `bytes`, which was found last; false when it must be
    /// scanned, and nothing has happened.
    @inline(__always)
    mutating func mapFound(
        _ number: Int, _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        var measurement = Measurement(instant: received, received: received)
        guard readDocument(number, bytes, context, &measurement) else { return false }
        accept(measurement, number, bytes[0..<known.documents.end], &output)
        return true
    }

    /// Maps the object with these members, of `packet`, if its shape is known, and gives the shape's number; nil when
    /// templates must be tried, and nothing has happened.
    @inline(__always)
    mutating func mapKnown(
        _ members: ElementList<Token>, of object: ByteView, in packet: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard known.objects.count > 0 else { return nil }
        let number = known.objects.find(members, object)
        var measurement = Measurement(instant: received, received: received)
        guard number >= 0, readObject(number, members, object, context, &measurement) else { return nil }
        accept(measurement, number, packet, &output)
        return number
    }

    /// Maps a heart rate, of `packet`, if the shape of the object that it would give is known.
    @inline(__always)
    mutating func mapKnown(
        _ packet: HeartRatePacket, in bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        let number = known.shape(ofHeartRate: packet.form)
        var measurement = Measurement(instant: received, received: received)
        guard number >= 0, readHeartRate(number, packet, context, &measurement) else { return false }
        accept(measurement, number, bytes, &output)
        return true
    }

    /// Hands a reading on that an object of shape `number` gave.
    @inline(__always)
    private mutating func accept(
        _ measurement: Measurement, _ number: Int, _ bytes: ByteView,
        _ output: inout some MeasurementOutput & ~Copyable
    ) {
        payload.removeAll()
        guard let refused = output.accept(measurement, payload: payload.view, key: key.view) else { return }
        let template = Int(known.plan(of: number).template)
        output.reject(refused, bytes: bytes, detail: RejectionDetail(template: Int(templates[template].index)))
    }

    // MARK: Reading

    // One function for each kind of values, none of them generic: they are also called from other modules, by what is
    // generic over the output.

    private mutating func readDocument(
        _ number: Int, _ bytes: ByteView, _ context: borrowing SourceContext, _ measurement: inout Measurement
    ) -> Bool {
        let values = DocumentValues(values: known.documents.followed, bytes: bytes)
        return read(known.plan(of: number), values, context, &measurement)
    }

    private mutating func readObject(
        _ number: Int, _ members: ElementList<Token>, _ object: ByteView, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) -> Bool {
        let values = ObjectValues(members: members, bytes: object)
        return read(known.plan(of: number), values, context, &measurement)
    }

    private mutating func readHeartRate(
        _ number: Int, _ packet: HeartRatePacket, _ context: borrowing SourceContext, _ measurement: inout Measurement
    ) -> Bool {
        read(known.plan(of: number), HeartRateValues(packet: packet), context, &measurement)
    }

    /// Reads the values of an object of a known shape as ``mapFlat(_:_:context:received:output:)`` does, into a
    /// measurement that has its receive time; false when something is not as usual.
    @inline(__always)
    private mutating func read(
        _ plan: ShapePlan, _ values: some PlacedValues, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) -> Bool {
        let format = templates[Int(plan.template)].format
        guard passes(plan, values), readKey(plan, values, context),
            let written = values.time(Int(plan.timestamp), isText: plan.isTimeText, format),
            let time = context.settled(written),
            time.instant <= measurement.received.advanced(by: context.maxFuture)
        else { return false }
        measurement.instant = time.instant
        measurement.timeForm = time.form
        return readNumbers(plan, values, &measurement)
    }

    /// Whether the template matches the object.
    @inline(__always)
    func passes(_ plan: ShapePlan, _ values: some PlacedValues) -> Bool {
        var index = Int(plan.firstTest)
        let end = index &+ Int(plan.testCount)
        while index < end {
            let test = known.tests[index]
            index &+= 1
            guard let number = values.number(Int(test.place)),
                PathEvaluator.compares(number, test.operation, test.number)
            else { return false }
        }
        return true
    }

    @inline(__always)
    private mutating func readKey(
        _ plan: ShapePlan, _ values: some PlacedValues, _ context: borrowing SourceContext
    ) -> Bool {
        SeriesKey.begin(into: &key)
        var head = SeriesKey.Head(type: Int(templates[Int(plan.template)].type))
        guard let device = appendText(plan.device, values, fallback: context.defaultDevice), device > 0,
            let patient = appendText(plan.patient, values, fallback: context.defaultPatient),
            patient > 0 || !context.requiresPatient
        else { return false }
        head.device = device
        head.patient = patient
        SeriesKey.finish(head, in: &key)
        return true
    }

    @inline(__always)
    private mutating func appendText(
        _ place: Int16, _ values: some PlacedValues, fallback: [UInt8]
    ) -> UInt16? {
        if place == ShapePlan.none { return appendFlatFallback(fallback) }
        let text = values.text(Int(place))
        return values.hasPlainTexts || text.isPlainText ? appendFlatText(text) : nil
    }

    @inline(__always)
    private mutating func readNumbers(
        _ plan: ShapePlan, _ values: some PlacedValues, _ measurement: inout Measurement
    ) -> Bool {
        var index = Int(plan.firstValue)
        let end = index &+ Int(plan.valueCount)
        while index < end {
            let value = known.values[index]
            index &+= 1
            guard let number = values.number(Int(value.place)) else { return false }
            measurement.setInline(Int(value.slot), number)
        }
        return measurement.present != 0
    }

    // MARK: Learning

    /// Learns the shape of the flat document that was scanned, of which template `number` gave the one reading.
    @inline(never)
    mutating func learnDocument(_ number: Int, _ bytes: ByteView) {
        guard evaluator.paths.scanner.isFlatObject, known.documents.mayLearn(), isSettled(by: number, bytes) else {
            return
        }
        known.learnDocument(plans[number], flatValues.list(valueRange(number)), number, evaluator.paths.scanner, bytes)
    }

    /// The same for the object with these members; the number of its shape, or nil when it cannot be learnt.
    @inline(never)
    mutating func learnObject(_ number: Int, _ members: ElementList<Token>, _ bytes: ByteView) -> Int? {
        guard known.objects.mayLearn(), isSettled(by: number, bytes) else { return nil }
        return known.learnObject(
            plans[number], flatValues.list(valueRange(number)), number, evaluator.paths.scanner, members, bytes)
    }

    private mutating func valueRange(_ number: Int) -> Range<Int> {
        let first = Int(templates[number].firstValue)
        return first..<(first + Int(templates[number].valueCount))
    }

    /// Whether template `chosen` and no other matches all objects that have the shape of the one that was scanned.
    private mutating func isSettled(by chosen: Int, _ bytes: ByteView) -> Bool {
        guard dispatch.name != NameTable.unknown else {
            for number in 0..<templates.count where !isSettled(number, chosen, bytes) { return false }
            return true
        }
        guard let places = candidates(bytes) else { return false }
        for place in places where !isSettled(dispatch[place], chosen, bytes) { return false }
        return true
    }

    private mutating func isSettled(_ number: Int, _ chosen: Int, _ bytes: ByteView) -> Bool {
        if number == chosen { return known.isTested(number) }
        let gate = gates[number]
        guard gate.requiredNames & evaluator.paths.scanner.nameMask == gate.requiredNames else { return true }
        if gate.name != NameTable.unknown, !gate.needsSelection {
            guard let token = evaluator.paths.scanner.slot(of: gate.name) else { return true }
            if gate.excludes(evaluator.paths.scanner.tape[token], bytes) { return true }
        }
        return known.isSettled(number)
    }
}
