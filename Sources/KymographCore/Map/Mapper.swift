/// Turns payloads into measurements with the device templates of one source. One per lane and source mapping.
///
/// All templates and all their matches apply, in file order (mapping dialect, section 2.3), or to each element of an
/// array in turn where that is the same (decision 16); an error is isolated to its template and match (quirk 4, fixed;
/// where compatibility is asked for, it ends the event). Nothing is allocated per reading after warm-up.
///
/// What only reads is mutating as well: otherwise the compiler lends it a copy of all 3 KiB (Swift 6.3), see
/// ``ObservationEncoder``.
public struct Mapper: ~Copyable {
    var evaluator: ExpressionEvaluator
    let templates: RawArray<TemplateCode>
    /// For each template.
    let gates: RawArray<TemplateGate>
    /// For each template.
    let plans: RawArray<FlatPlan>
    /// Documents that need no scan.
    var known: ShapePlans
    /// Whether the next line is known to have no known shape.
    var isUnknownLine = false
    /// An array is mapped element by element if fewer bytes than these begin with it; 0 where that does not give the
    /// same.
    var longestElementwise: Int
    /// The place for the elements of such an array; made when the first one comes, and taken out while it is filled.
    var elements: PendingElements?
    let dispatch: TemplateDispatch
    /// Whether several templates give parts of one reading.
    let joinsReadings: Bool
    let values: RawArray<ValueCode>
    /// For each value, as far as a plan reads it.
    let flatValues: RawArray<FlatPlan.Value>
    let rules: ValueRules
    /// For each rule.
    let unitExpressions: RawArray<ExpressionCode>
    let scaleExpressions: RawArray<ExpressionCode>
    var key = ByteWriter(capacity: 512)
    var payload = ByteWriter(capacity: 512)
    var text = ByteWriter(capacity: 256)
    /// Text of a value for its rule, with the text of its unit behind it.
    var ruled = ByteWriter(capacity: 256)
    /// The samples of a waveform, while they are read.
    var samples = RawArray<Decimal64>(capacity: 16)
    /// For documents that only the reference's reader takes; nil where nobody asks for its quirks.
    var leniency: Leniency?
    /// A document that was rewritten, as it came, while it is mapped: dead letters keep that.
    var original: ByteView?
    /// For payloads that carry packets: one, or none where they are JSON documents. In memory of its own, because parts
    /// of a mapper that are lent are copied.
    var packets: OwnedList<PacketStage>
    /// For matches that need a document of their own; made when the first one comes.
    var composition: MatchComposition?
    /// For templates whose readings are joined; made when the first one comes, and taken out while it is filled.
    var held: HeldReadings?
    /// For ``takeNotes()``.
    var leftOut = 0
    var reportedWraps = 0
    private let set: MappingSet
    private let limits: ScanLimits

    /// Most bytes of texts, extra numbers and samples in one reading: what fits in the continuation slots of a ring
    /// record.
    public static let longestPayload = 4_095 * 64
    /// Most bytes of one text.
    static let longestText = 255 * 64
    /// Values of a document besides those of its payload, and some to spare.
    private static let envelopeValues = 8

    /// Prepares the templates numbered `templates` of `set`.
    ///
    /// With `payloadIsRoot`, `$` is the payload as it is: for events that somebody else has put into their envelope, or
    /// left without.
    public init(
        _ set: MappingSet, templates indexes: [Int], limits: ScanLimits = ScanLimits(), payloadIsRoot: Bool = false
    ) {
        let code = set.code(of: indexes)
        joinsReadings = code.templates.contains(where: \.isJoined)
        self.set = set
        self.limits = limits
        evaluator = ExpressionEvaluator(set, limits: limits, payloadIsRoot: payloadIsRoot)
        templates = RawArray(code.templates)
        let gates = RawArray(
            code.templates.map {
                TemplateGate(
                    $0.match, requiredNames: $0.requiredNames, isCompatible: $0.isCompatible, in: set.program)
            })
        let dispatch = TemplateDispatch(gates)
        known = ShapePlans(code.templates, gates, dispatch, in: set.program)
        self.dispatch = dispatch
        longestElementwise =
            !payloadIsRoot && limits.depth > 2 && code.areElementwise(in: set.program)
            ? limits.values - Mapper.envelopeValues : 0
        self.gates = gates
        plans = RawArray(
            code.templates.map { template in
                let first = Int(template.firstValue)
                return FlatPlan(template, code.values[first..<(first + Int(template.valueCount))], in: set.program)
            })
        flatValues = RawArray(
            code.values.map {
                FlatPlan.value($0, in: set.program)
                    ?? FlatPlan.Value(name: NameTable.unknown, slot: 0, isRequired: true)
            })
        leniency = code.templates.contains(where: \.isCompatible) ? Leniency() : nil
        packets = PacketStage.list(set, indexes, needs: set.packetNeeds(of: indexes))
        values = RawArray(code.values)
        rules = ValueRules(code.rules)
        unitExpressions = RawArray(code.units)
        scaleExpressions = RawArray(code.scales)
    }

    /// The place where matches get a document of their own.
    mutating func takeComposition() -> MatchComposition {
        composition.take() ?? MatchComposition(set, limits: limits)
    }

    // MARK: Payloads

    /// Maps one line, which is a payload like any other (``mapDatagram(_:context:received:output:)``). `bytes` must be
    /// padded.
    public mutating func mapLine(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if packets.count > 0 {
            return mapPackets(bytes, isLine: true, context: context, received: received, output: &output)
        }
        let start = JSONScanner.skipSpace(bytes, 0)
        if start == bytes.count { return }
        let isUnknown = isUnknownLine
        isUnknownLine = false
        if !isUnknown, mapKnown(bytes, from: start, .end, context: context, received: received, output: &output) != nil
        {
            return
        }
        mapUnknownLine(bytes, from: start, context: context, received: received, output: &output)
    }

    /// Maps a line that has no known shape, or holds more than the value that has. A call of its own, as
    /// ``mapUnknown(_:from:context:received:output:)`` is: little comes here, and the compiler inlines less of what all
    /// goes through where a function is long.
    @inline(never)
    private mutating func mapUnknownLine(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        let end = mapUnknown(bytes, from: start, context: context, received: received, output: &output)
        mapValues(bytes, from: end, context: context, received: received, output: &output)
    }

    /// Maps one datagram: a value, or several (NDJSON is); or packets. `bytes` must be padded.
    ///
    /// Whatever is not JSON behind a value is rejected by itself. A document that is not JSON costs its line, and not
    /// the lines behind it (``goOn(behind:at:in:context:received:output:)``).
    public mutating func mapDatagram(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if packets.count > 0 {
            return mapPackets(bytes, isLine: false, context: context, received: received, output: &output)
        }
        mapValues(bytes, from: 0, context: context, received: received, output: &output)
    }

    /// Maps the values from `start` on.
    @inline(__always)
    private mutating func mapValues(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        var index = JSONScanner.skipSpace(bytes, start)
        while index < bytes.count {
            let end =
                mapKnown(bytes, from: index, .space, context: context, received: received, output: &output)
                ?? mapUnknown(bytes, from: index, context: context, received: received, output: &output)
            index = JSONScanner.skipSpace(bytes, end)
        }
    }

    /// Maps the document at `start`, which has no known shape; gives its end, or that of what was rejected where it is
    /// not JSON.
    @inline(never)
    private mutating func mapUnknown(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int {
        if start == 0, bytes.hasByteOrderMark { return ByteView.byteOrderMarkLength }
        if let end = mapElements(bytes, from: start, .space, context: context, received: received, output: &output) {
            return end
        }
        do throws(ScanFailure) {
            let end = try scanValue(bytes, from: start)
            mapDocument(bytes, context: context, received: received, output: &output)
            return end
        } catch {
            if let end = mapLeniently(bytes, from: start, context: context, received: received, output: &output) {
                return end
            }
            return goOn(
                behind: error, at: start, in: bytes, context: context, received: received, output: &output)
        }
    }

    /// Scans the value at `start`, and gives its end. Behind a closing bracket the next value may begin at once; but
    /// where a document would go on, the value is a part of one whose beginning is lost, and nobody knows what that
    /// said of it.
    private mutating func scanValue(_ bytes: ByteView, from start: Int) throws(ScanFailure) -> Int {
        let end = try evaluator.paths.scanner.scan(bytes, from: start)
        if end == bytes.count || bytes[end] <= 0x20 { return end }
        let isContainer = bytes[end - 1] == UInt8(ascii: "}") || bytes[end - 1] == UInt8(ascii: "]")
        guard isContainer, leniency != nil || !bytes.goesOnWithDocument(at: end) else {
            throw ScanFailure(reason: .invalidJSON, offset: end)
        }
        return end
    }

    // MARK: What is not JSON

    /// Rejects the line at `start`, whose value is not JSON for the reason `failure`, and maps the lines behind it,
    /// each by itself, so that one that is cut costs no other. The end of all that.
    ///
    /// Where one of them begins with a closing bracket or a separator, they are no NDJSON but the rest of one document:
    /// what a part of that says without the others may be wrong, and all of it is rejected.
    @inline(never)
    private mutating func goOn(
        behind failure: ScanFailure, at start: Int, in bytes: ByteView, context: borrowing SourceContext,
        received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) -> Int {
        let lineEnd = bytes.lineEnd(from: start)
        let end = bytes.goesOnWithDocument(from: lineEnd) ? bytes.count : lineEnd
        output.reject(
            failure.reason, bytes: bytes[start..<end], detail: RejectionDetail(offset: min(failure.offset, end)))
        var index = JSONScanner.skipSpace(bytes, end)
        while index < bytes.count {
            let end = bytes.lineEnd(from: index)
            mapLineOfSeveral(bytes[0..<end], from: index, context: context, received: received, output: &output)
            index = JSONScanner.skipSpace(bytes, end)
        }
        return index
    }

    /// Maps the line from `start` to the end of `bytes` if it is nothing but whole values, and rejects it else: behind
    /// a line that is broken, a value with something else around it may be a part of a document, too.
    private mutating func mapLineOfSeveral(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        do throws(ScanFailure) {
            var index = start
            while index < bytes.count, leniency == nil {
                index = JSONScanner.skipSpace(bytes, try scanValue(bytes, from: index))
            }
            mapValues(bytes, from: start, context: context, received: received, output: &output)
        } catch {
            output.reject(
                error.reason, bytes: bytes[start..<bytes.count], detail: RejectionDetail(offset: error.offset))
        }
    }
}

extension ByteView {
    /// Bytes of the mark that some editors and libraries write before UTF-8.
    static let byteOrderMarkLength = 3

    /// Whether such a mark is at the beginning.
    var hasByteOrderMark: Bool { count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF }

    /// Where what follows such a mark begins; 0 where there is none.
    package var startBehindByteOrderMark: Int { hasByteOrderMark ? ByteView.byteOrderMarkLength : 0 }

    /// Whether one of the lines behind the place `start`, the end of a line, begins as no document does, but the next
    /// line of one: with a closing bracket, a comma or a colon.
    fileprivate func goesOnWithDocument(from start: Int) -> Bool {
        var index = JSONScanner.skipSpace(self, start)
        while index < count {
            if goesOnWithDocument(at: index) { return true }
            index = JSONScanner.skipSpace(self, lineEnd(from: index))
        }
        return false
    }

    /// Whether what is at `index` goes on with a document behind a value in it.
    func goesOnWithDocument(at index: Int) -> Bool {
        switch self[index] {
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): true
        default: false
        }
    }
}
