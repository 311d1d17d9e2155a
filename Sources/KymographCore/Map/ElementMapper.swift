/// Maps arrays of readings, as gateways and apps send them, element by element: each element that is a flat object
/// gives what it gives alone, and no template looks through all of them (decision 16).
struct ElementMapper: ~Copyable {
    /// An array is mapped element by element if fewer bytes than these begin with it; 0 where that does not give the
    /// same.
    private let longest: Int
    /// For each kind of template that takes readings back: names without which it matches nothing, as bits of
    /// ``JSONScanner/nameMask``. An array with one that has them is mapped as a whole: what it takes back must be told
    /// before its readings.
    private let retractions: [UInt64]
    /// The place for the elements of such an array; made when the first one comes, and taken out while it is filled.
    private var pending: PendingElements?

    /// Values of a document besides those of its payload, and some to spare.
    private static let envelopeValues = 8

    /// For templates `code`; with `isOff`, and where it would give something else, all arrays are mapped as a whole.
    init(_ code: FlatTemplates, in program: PathProgram, limits: ScanLimits, isOff: Bool) {
        longest =
            !isOff && limits.depth > 2 && code.areElementwise(in: program)
            ? limits.values - ElementMapper.envelopeValues : 0
        retractions = Set(code.templates.filter(\.retracts).map(\.requiredNames)).sorted()
    }

    /// Maps the array at `start` element by element, and gives its end; nil when there is none, or it must be mapped as
    /// a whole, and nothing has happened.
    mutating func map(
        _ bytes: ByteView, from start: Int, _ ending: DocumentEnding, known: inout KnownPayloads,
        templates: inout TemplateMapper, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        // Each value takes a byte at least, so that there are no more of them than a document may have.
        guard bytes[start] == UInt8(ascii: "["), bytes.count &- start < longest else { return nil }
        var pending = self.pending.take() ?? PendingElements()
        let end = ElementMapper.read(
            bytes, from: start, known: &known, scanner: &templates.evaluator.paths.scanner, retractions, context,
            received,
            into: &pending)
        let isWhole = end.map { ending.follows($0, in: bytes) } ?? false
        if isWhole {
            for index in 0..<pending.count {
                let element = pending[index]
                if element.key.count > 0,
                    output.take(element.reading, key: element.key, template: element.template)
                {
                    continue
                }
                ElementMapper.map(
                    bytes, element, known: &known, templates: &templates, context: context, received: received,
                    output: &output)
            }
        }
        self.pending = consume pending
        return isWhole ? end : nil
    }

    /// Reads the elements of the array at `start`, and gives its end; nil when it is not JSON, or has elements that
    /// are no flat objects or may be `retractions`.
    private static func read(
        _ bytes: ByteView, from start: Int, known: inout KnownPayloads, scanner: inout JSONScanner,
        _ retractions: [UInt64], _ context: borrowing SourceContext, _ received: Instant,
        into pending: inout PendingElements
    ) -> Int? {
        pending.removeAll()
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "]") {
            pending.start = JSONScanner.skipSpace(bytes, index &+ 1)
            guard
                readElement(
                    bytes, known: &known, scanner: &scanner, retractions, context, received, into: &pending)
            else { return nil }
            index = JSONScanner.skipSpace(bytes, pending.end)
            guard index < bytes.count, bytes[index] == UInt8(ascii: ",") || bytes[index] == UInt8(ascii: "]") else {
                return nil
            }
        }
        return index < bytes.count ? index &+ 1 : nil
    }

    /// Reads the element at the place where `pending` says, and notes its end; false when it is no flat object, or may
    /// be one of `retractions`. One of a known shape is a reading.
    @inline(__always)
    private static func readElement(
        _ bytes: ByteView, known: inout KnownPayloads, scanner: inout JSONScanner, _ retractions: [UInt64],
        _ context: borrowing SourceContext, _ received: Instant, into pending: inout PendingElements
    ) -> Bool {
        let start = pending.start
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return false }
        guard
            let found = known.tryElement(
                bytes[start..<bytes.count], context: context, received: received, output: &pending)
        else {
            let end = try? scanner.scan(bytes, from: start)
            guard let end, scanner.isFlatObject, !retractions.contains(where: { scanner.nameMask & $0 == $0 }) else {
                return false
            }
            pending.close(at: end, isTaken: false)
            return true
        }
        pending.close(at: start &+ found.end, isTaken: found.isTaken)
        return true
    }

    /// Maps an element, which is no plain reading or was not taken as one, as a document of its own.
    private static func map(
        _ bytes: ByteView, _ element: PendingElements.Element, known: inout KnownPayloads,
        templates: inout TemplateMapper, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let rest = bytes[element.start..<bytes.count]
        if known.tryKnown(rest, .element, context: context, received: received, output: &output) != nil { return }
        do throws(ScanFailure) {
            _ = try templates.evaluator.paths.scanner.scan(bytes, from: element.start)
            templates.mapDocument(bytes, known: &known, context: context, received: received, output: &output)
        } catch {
            // It was JSON when it was read: said all the same, rather than lost.
            let detail = RejectionDetail(offset: error.offset)
            output.reject(error.reason, bytes: bytes[element.start..<element.end], detail: detail)
        }
    }
}

/// The elements of an array, which wait until the array is known to be whole: one that is not is refused as a whole.
struct PendingElements: ~Copyable, PlainReadingOutput {
    /// An element.
    struct Element: BitwiseCopyable {
        /// Where its bytes begin and end.
        var start: Int
        var end: Int
        /// What it gives, if that is a plain reading.
        var reading: PlainReading
        /// The key of that reading's series; ``ShortKey/none`` where the element is read in another way.
        var key: ShortKey
        /// The template that has given it.
        var template: Int32
    }

    private var elements = RawArray<Element>()
    /// Where the element begins that is read.
    var start = 0
    /// Where the one before it ends.
    private(set) var end = 0

    var count: Int { elements.count }

    @inline(__always)
    subscript(index: Int) -> Element { elements[index] }

    mutating func removeAll() { elements.removeAll() }

    /// Adds the element that is read, which gives this.
    @inline(__always)
    mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool {
        elements.append(Element(start: start, end: start, reading: reading, key: key, template: template))
        return true
    }

    /// Notes that the element that is read ends before `end`. Unless it `isTaken`, it gives no plain reading or is not
    /// known to.
    @inline(__always)
    mutating func close(at end: Int, isTaken: Bool) {
        if !isTaken { appendOther() }
        elements[elements.count - 1].end = end
        self.end = end
    }

    @inline(never)
    private mutating func appendOther() {
        let none = PlainReading(
            instant: .distantPast, received: .distantPast, timeForm: .unknown, number: Decimal64(mantissa: 0))
        _ = take(none, key: .none, template: -1)
    }
}

extension TemplateCode {
    /// Whether flat objects give the same by the template, and by its values and their `units`, in an array as alone:
    /// it chooses each by its own members, and reads nothing else.
    func isElementwise(_ values: ArraySlice<ValueCode>, units: [ExpressionCode], in program: PathProgram) -> Bool {
        guard !isCompatible, !needsComposition, match.path.count == 1 else { return false }
        let step = program.steps[Int(match.path.start)]
        guard step.operation == .filterDescendants, program.isAboutPayload(Int(step.argument)) else { return false }
        let others = [device, timestamp, alternativeTimestamp, start, readingId, patient, encounter, correlation]
        let texts = values.filter { $0.rule >= 0 }.map { units[Int($0.rule)] }
        return (others + values.map(\.expression) + texts).allSatisfy {
            $0.isAbsent || $0.kind == .memberChain && $0.fromMatch
        }
    }
}

extension FlatTemplates {
    /// Whether arrays of flat objects give what their elements give one by one. Where several templates give readings
    /// of one type, those of the first one come first, of whichever elements they are. Templates that take readings
    /// back must need a member, by whose absence arrays without retractions are told.
    func areElementwise(in program: PathProgram) -> Bool {
        let readings = templates.filter { !$0.retracts }
        return Set(readings.map(\.type)).count == readings.count
            && templates.allSatisfy { template in
                guard !template.retracts else { return template.requiredNames != 0 }
                let first = Int(template.firstValue)
                let values = self.values[first..<first + Int(template.valueCount)]
                return template.isElementwise(values, units: units, in: program)
            }
    }
}
