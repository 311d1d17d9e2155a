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

    /// Most bytes of texts and extra numbers in one reading: what fits in the continuation slots of a ring record.
    public static let longestPayload = 255 * 64
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

    /// Maps one line: exactly one JSON document, or one packet. Blank lines are no readings. `bytes` must be padded.
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

    /// Maps a line that has no known shape. A call of its own, as ``mapUnknown(_:from:context:received:output:)`` is:
    /// little comes here, and the compiler inlines less of what all goes through where a function is long.
    @inline(never)
    private mutating func mapUnknownLine(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if mapElements(bytes, from: start, .end, context: context, received: received, output: &output) != nil {
            return
        }
        do throws(ScanFailure) {
            let end = JSONScanner.skipSpace(bytes, try evaluator.paths.scanner.scan(bytes, from: start))
            guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
        } catch {
            // What follows the first value is not read, as in the reference.
            if mapLeniently(bytes, from: start, context: context, received: received, output: &output) != nil { return }
            output.reject(error.reason, bytes: bytes, detail: RejectionDetail(offset: error.offset))
            return
        }
        mapDocument(bytes, context: context, received: received, output: &output)
    }

    /// Maps one datagram: a document, or several separated by white space (NDJSON); or packets. `bytes` must be padded.
    ///
    /// A document that is not JSON costs the rest of its line, not the lines behind it.
    public mutating func mapDatagram(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if packets.count > 0 {
            return mapPackets(bytes, isLine: false, context: context, received: received, output: &output)
        }
        var index = JSONScanner.skipSpace(bytes, 0)
        while index < bytes.count {
            let end =
                mapKnown(bytes, from: index, .space, context: context, received: received, output: &output)
                ?? mapUnknown(bytes, from: index, context: context, received: received, output: &output)
            index = JSONScanner.skipSpace(bytes, end)
        }
    }

    /// Maps the document at `start`, which has no known shape; gives its end, or that of its line where it is not JSON.
    @inline(never)
    private mutating func mapUnknown(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int {
        if let end = mapElements(bytes, from: start, .space, context: context, received: received, output: &output) {
            return end
        }
        do throws(ScanFailure) {
            let end = try evaluator.paths.scanner.scan(bytes, from: start)
            guard end == bytes.count || bytes[end] <= 0x20 else {
                throw ScanFailure(reason: .invalidJSON, offset: end)
            }
            mapDocument(bytes, context: context, received: received, output: &output)
            return end
        } catch {
            if let end = mapLeniently(bytes, from: start, context: context, received: received, output: &output) {
                return end
            }
            let end = bytes.lineEnd(from: max(error.offset, start))
            output.reject(error.reason, bytes: bytes[start..<end], detail: RejectionDetail(offset: error.offset))
            return end
        }
    }
}
