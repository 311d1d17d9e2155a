/// The fast path: payloads like others that came before, which are read without a scan, and whose template is known.
///
/// ``tryKnown(_:_:context:received:output:)`` gives the readings that the general path (``TemplateMapper``) gives, or
/// does nothing at all; then the general path reads the payload, and may teach what it was like. Without a fast path
/// nothing is known and nothing is learnt, and all readings are the same.
struct KnownPayloads: ~Copyable {
    private let isEnabled: Bool
    private var shapes: ShapePlans
    private let flat: FlatPlans
    /// The series of the reading that was read last (``SeriesKey``).
    private(set) var key = ByteWriter(capacity: 512)
    /// Whether the line that was looked at last is known to have no known shape.
    private var isUnknownLine = false

    /// For templates `code`, chosen by `selector`.
    init(_ code: FlatTemplates, _ selector: borrowing TemplateSelector, in program: PathProgram, isEnabled: Bool) {
        self.isEnabled = isEnabled
        shapes = ShapePlans(code.templates, selector, in: program)
        flat = FlatPlans(code, in: program)
    }

    // MARK: Documents

    /// Maps the document at the beginning of `bytes` if its shape is known and `ending` follows it, and gives its end;
    /// nil when it must be scanned, and nothing has happened. `bytes` must be padded.
    @inline(__always)
    mutating func tryKnown(
        _ bytes: ByteView, _ ending: DocumentEnding, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard shapes.documents.count > 0 else { return nil }
        let number = shapes.documents.find(bytes, ending)
        guard number >= 0 else {
            isUnknownLine = ending == .newline && bytes[0] > 0x20
            return nil
        }
        let end = shapes.documents.end
        guard ending.follows(end, in: bytes) else { return nil }
        if takePlain(number, bytes, context, received, &output) { return end }
        var measurement = Measurement(instant: received, received: received)
        guard readDocument(number, bytes, context, &measurement) else {
            isUnknownLine = ending == .newline
            return nil
        }
        accept(measurement, number, bytes[0..<end], &output)
        return end
    }

    /// Looks at the element of an array at the beginning of `bytes`: hands it on if its shape is known and it gives a
    /// plain reading. Its end, and whether that has happened; nil when it must be scanned.
    @inline(__always)
    mutating func tryElement(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some PlainReadingOutput & ~Copyable
    ) -> (end: Int, isTaken: Bool)? {
        guard shapes.documents.count > 0 else { return nil }
        let number = shapes.documents.find(bytes, .element)
        guard number >= 0 else { return nil }
        let end = shapes.documents.end
        return (end, takePlain(number, bytes, context, received, &output))
    }

    /// Whether the line that ``tryKnown(_:_:context:received:output:)`` has just looked at need not be looked at again;
    /// false from then on.
    @inline(__always)
    mutating func takeUnknownLine() -> Bool {
        defer { isUnknownLine = false }
        return isUnknownLine
    }

    // MARK: Packets

    /// Maps the object with these members, of `packet`, if its shape is known, and gives the shape's number; nil when
    /// templates must be tried, and nothing has happened.
    @inline(__always)
    mutating func tryObject(
        _ members: ElementList<Token>, _ object: ByteView, of packet: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard shapes.objects.count > 0 else { return nil }
        let number = shapes.objects.find(members, object)
        var measurement = Measurement(instant: received, received: received)
        guard number >= 0, readObject(number, members, object, context, &measurement) else { return nil }
        accept(measurement, number, packet, &output)
        return number
    }

    /// Maps a heart rate, of `packet`, if the shape of the object that it would give is known.
    @inline(__always)
    mutating func tryHeartRate(
        _ rate: HeartRatePacket, of packet: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Bool {
        let number = shapes.shape(ofHeartRate: rate.form)
        var measurement = Measurement(instant: received, received: received)
        guard number >= 0, readHeartRate(number, rate, context, &measurement) else { return false }
        accept(measurement, number, packet, &output)
        return true
    }

    /// Whether ``note(_:form:places:)`` has been called for `form`.
    func hasMet(heartRate form: Int) -> Bool { shapes.hasMet(heartRate: form) }

    /// Notes that heart rates of this form give objects of shape `number`, whose members are at `places`.
    mutating func note(_ number: Int, form: Int, places: (device: Int?, time: Int?, heartRate: Int?)) {
        shapes.note(number, form: form, places: places)
    }

    // MARK: Scanned documents

    /// The reading that the flat payload in `scanner` gives by the plan of `template`, whose ``key`` it leaves behind;
    /// nil where there is no plan or something is not as usual.
    @inline(__always)
    mutating func readFlat(
        _ template: Int, _ scanner: borrowing JSONScanner, _ bytes: ByteView, _ context: borrowing SourceContext,
        _ received: Instant
    ) -> Measurement? {
        guard isEnabled, flat.isUsable(template) else { return nil }
        return flat.read(template, scanner, bytes, context, received, key: &key)
    }

    /// Learns the shape of the flat document in `scanner`, of which `template` gave the one reading by its plan.
    @inline(never)
    mutating func learnDocument(
        _ template: Int, _ selector: borrowing TemplateSelector, _ scanner: borrowing JSONScanner, _ bytes: ByteView
    ) {
        guard scanner.isFlatObject, shapes.documents.mayLearn(),
            shapes.isSettled(by: template, selector, scanner, bytes)
        else { return }
        shapes.learnDocument(flat.plan(template), flat.values(of: template), template, scanner, bytes)
    }

    /// The same for the object with these members; the number of its shape, or nil when it cannot be learnt.
    @inline(never)
    mutating func learnObject(
        _ template: Int, _ selector: borrowing TemplateSelector, _ scanner: borrowing JSONScanner,
        _ members: ElementList<Token>, _ bytes: ByteView
    ) -> Int? {
        guard shapes.objects.mayLearn(), shapes.isSettled(by: template, selector, scanner, bytes) else { return nil }
        return shapes.learnObject(flat.plan(template), flat.values(of: template), template, scanner, members, bytes)
    }

    // MARK: Readings

    /// Hands on what the document of shape `number` gives, if that is a plain reading whose series has a short key:
    /// nearly all. What it gives stays in registers until it waits for its ring, and no key is written. False when
    /// nothing has happened.
    @inline(__always)
    private mutating func takePlain(
        _ number: Int, _ bytes: ByteView, _ context: borrowing SourceContext, _ received: Instant,
        _ output: inout some PlainReadingOutput & ~Copyable
    ) -> Bool {
        let plan = shapes.plan(of: number)
        let values = DocumentValues(values: shapes.documents.followed, bytes: bytes)
        guard plan.isPlain, context.defaultPatient.isEmpty, !context.requiresPatient,
            let key = ShortKey(type: plan.type, device: values.text(Int(plan.device))),
            let reading = plainReading(plan, values, context, received)
        else { return false }
        return output.take(reading, key: key, template: plan.template)
    }

    @inline(__always)
    private func plainReading(
        _ plan: ShapePlan, _ values: DocumentValues, _ context: borrowing SourceContext, _ received: Instant
    ) -> PlainReading? {
        guard passes(plan, values),
            let written = values.time(Int(plan.timestamp), isText: plan.isTimeText, plan.format),
            let time = context.settled(written),
            time.instant <= received.advanced(by: context.maxFuture),
            let number = values.number(Int(shapes.values[Int(plan.firstValue)].place))
        else { return nil }
        return PlainReading(
            instant: time.instant, received: received, timeForm: time.form, number: number)
    }

    /// Hands a reading on that an object of shape `number` gave.
    @inline(__always)
    private mutating func accept(
        _ measurement: Measurement, _ number: Int, _ bytes: ByteView,
        _ output: inout some MeasurementOutput & ~Copyable
    ) {
        let template = shapes.plan(of: number).template
        let refused = output.accept(measurement, payload: ByteView(""), key: key.view, template: template)
        guard let refused else { return }
        output.reject(refused, bytes: bytes, detail: RejectionDetail(template: Int(template)))
    }

    // One function for each kind of values, none of them generic: they are also called from other modules, by what is
    // generic over the output.

    private mutating func readDocument(
        _ number: Int, _ bytes: ByteView, _ context: borrowing SourceContext, _ measurement: inout Measurement
    ) -> Bool {
        let values = DocumentValues(values: shapes.documents.followed, bytes: bytes)
        return read(shapes.plan(of: number), values, context, &measurement)
    }

    private mutating func readObject(
        _ number: Int, _ members: ElementList<Token>, _ object: ByteView, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) -> Bool {
        read(shapes.plan(of: number), ObjectValues(members: members, bytes: object), context, &measurement)
    }

    private mutating func readHeartRate(
        _ number: Int, _ packet: HeartRatePacket, _ context: borrowing SourceContext, _ measurement: inout Measurement
    ) -> Bool {
        read(shapes.plan(of: number), HeartRateValues(packet: packet), context, &measurement)
    }

    /// Reads the values of an object of a known shape as ``FlatPlans`` does, into a measurement that has its receive
    /// time; false when something is not as usual.
    @inline(__always)
    private mutating func read(
        _ plan: ShapePlan, _ values: some PlacedValues, _ context: borrowing SourceContext,
        _ measurement: inout Measurement
    ) -> Bool {
        guard passes(plan, values), readKey(plan, values, context),
            let written = values.time(Int(plan.timestamp), isText: plan.isTimeText, plan.format),
            let time = context.settled(written),
            time.instant <= measurement.received.advanced(by: context.maxFuture)
        else { return false }
        measurement.instant = time.instant
        measurement.timeForm = time.form
        return readNumbers(plan, values, &measurement)
    }

    /// Whether the template matches the object.
    @inline(__always)
    private func passes(_ plan: ShapePlan, _ values: some PlacedValues) -> Bool {
        var index = Int(plan.firstTest)
        let end = index &+ Int(plan.testCount)
        while index < end {
            let test = shapes.tests[index]
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
        let device = appendText(plan.device, values, fallback: context.defaultDevice)
        let patient = appendText(plan.patient, values, fallback: context.defaultPatient)
        return SeriesKey.finish(Int(plan.type), device, patient, context, in: &key)
    }

    @inline(__always)
    private mutating func appendText(
        _ place: Int16, _ values: some PlacedValues, fallback: [UInt8]
    ) -> UInt16? {
        if place == ShapePlan.none { return SeriesKey.appendFallback(fallback, to: &key) }
        let text = values.text(Int(place))
        return values.hasPlainTexts || text.isPlainText ? SeriesKey.appendPlainText(text, to: &key) : nil
    }

    @inline(__always)
    private mutating func readNumbers(
        _ plan: ShapePlan, _ values: some PlacedValues, _ measurement: inout Measurement
    ) -> Bool {
        var index = Int(plan.firstValue)
        let end = index &+ Int(plan.valueCount)
        while index < end {
            let value = shapes.values[index]
            index &+= 1
            guard let number = values.number(Int(value.place)) else { return false }
            measurement.setInline(Int(value.slot), number)
        }
        return measurement.present != 0
    }
}
