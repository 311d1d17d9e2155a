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
    }

    private var elements = RawArray<Element>()
    /// The bytes of the element that is read.
    var start = 0
    var end = 0

    var count: Int { elements.count }

    @inline(__always)
    subscript(index: Int) -> Element { elements[index] }

    mutating func removeAll() { elements.removeAll() }

    /// Adds the element that is read, which gives this.
    @inline(__always)
    mutating func take(_ reading: PlainReading, key: ShortKey) -> Bool {
        elements.append(Element(start: start, end: end, reading: reading, key: key))
        return true
    }

    /// Adds the element that is read, which gives no plain reading or is not known to.
    mutating func appendOther() {
        let none = PlainReading(
            instant: .distantPast, received: .distantPast, timeForm: .unknown, number: Decimal64(mantissa: 0))
        _ = take(none, key: .none)
    }
}

/// Arrays of readings, as gateways and apps send them, element by element: each element that is a flat object gives
/// what it gives alone, by the shape that it has, and no template looks through all of them.
extension Mapper {
    /// Maps the array at `start` element by element, and gives its end; nil when there is none, or it must be mapped as
    /// a whole, and nothing has happened.
    mutating func mapElements(
        _ bytes: ByteView, from start: Int, _ ending: DocumentEnding, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        // Each value takes a byte at least, so that there are no more of them than a document may have.
        guard bytes[start] == UInt8(ascii: "["), bytes.count &- start < longestElementwise else { return nil }
        var pending = elements.take() ?? PendingElements()
        let end = readElements(bytes, from: start, context, received, into: &pending)
        let isWhole = end.map { ending.follows($0, in: bytes) } ?? false
        if isWhole { handOn(pending, bytes, context: context, received: received, output: &output) }
        elements = consume pending
        return isWhole ? end : nil
    }

    private mutating func handOn(
        _ pending: borrowing PendingElements, _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        for index in 0..<pending.count {
            let element = pending[index]
            if element.key.count > 0, output.take(element.reading, key: element.key) { continue }
            mapElement(bytes, element, context: context, received: received, output: &output)
        }
    }

    /// Reads the elements of the array at `start`, and gives its end; nil when it is not JSON, or has elements that
    /// are no flat objects.
    private mutating func readElements(
        _ bytes: ByteView, from start: Int, _ context: borrowing SourceContext, _ received: Instant,
        into pending: inout PendingElements
    ) -> Int? {
        pending.removeAll()
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "]") {
            pending.start = JSONScanner.skipSpace(bytes, index &+ 1)
            guard readElement(bytes, context, received, into: &pending) else { return nil }
            index = JSONScanner.skipSpace(bytes, pending.end)
            guard index < bytes.count, bytes[index] == UInt8(ascii: ",") || bytes[index] == UInt8(ascii: "]") else {
                return nil
            }
        }
        return index < bytes.count ? index &+ 1 : nil
    }

    /// Reads the element at the place where `pending` says, and notes its end; false when it is no flat object.
    @inline(__always)
    private mutating func readElement(
        _ bytes: ByteView, _ context: borrowing SourceContext, _ received: Instant,
        into pending: inout PendingElements
    ) -> Bool {
        let start = pending.start
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return false }
        let rest = bytes[start..<bytes.count]
        let number = findElement(rest)
        guard number >= 0 else {
            let end = try? evaluator.paths.scanner.scan(bytes, from: start)
            guard let end, evaluator.paths.scanner.isFlatObject else { return false }
            pending.end = end
            pending.appendOther()
            return true
        }
        pending.end = start &+ known.documents.end
        let values = DocumentValues(values: known.documents.followed, bytes: rest)
        if !takePlain(known.plan(of: number), values, context, received, &pending) { pending.appendOther() }
        return true
    }

    /// The number of the shape of the element at the beginning of `bytes`, or -1.
    @inline(__always)
    private mutating func findElement(_ bytes: ByteView) -> Int {
        known.documents.count > 0 ? known.documents.find(bytes, .element) : -1
    }

    /// Maps an element, which is no plain reading or was not taken as one, as a document of its own.
    private mutating func mapElement(
        _ bytes: ByteView, _ element: PendingElements.Element, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let rest = bytes[element.start..<bytes.count]
        let number = findElement(rest)
        if number >= 0, mapFound(number, rest, context: context, received: received, output: &output) { return }
        do throws(ScanFailure) {
            _ = try evaluator.paths.scanner.scan(bytes, from: element.start)
            mapDocument(bytes, context: context, received: received, output: &output)
        } catch {
            // It was JSON when it was read: said all the same, rather than lost.
            let detail = RejectionDetail(offset: error.offset)
            output.reject(error.reason, bytes: bytes[element.start..<element.end], detail: detail)
        }
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
    /// of one type, those of the first one come first, of whichever elements they are.
    func areElementwise(in program: PathProgram) -> Bool {
        Set(templates.map(\.type)).count == templates.count
            && templates.allSatisfy { template in
                let first = Int(template.firstValue)
                let values = self.values[first..<first + Int(template.valueCount)]
                return template.isElementwise(values, units: units, in: program)
            }
    }
}
