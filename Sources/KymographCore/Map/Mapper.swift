/// Turns payloads into measurements with the device templates of one source. One per lane and source mapping.
///
/// A payload that is like one before takes the fast path (``KnownPayloads``); all others are scanned, and mapped by
/// their templates (``TemplateMapper``), an array of readings element by element where that is the same
/// (``ElementMapper``). Payloads that carry packets become objects first (``PacketMapper``).
package struct Mapper: ~Copyable {
    private var known: KnownPayloads
    private var templates: TemplateMapper
    private var elements: ElementMapper
    /// For payloads that carry packets: one, or none where they are JSON documents. In memory of its own, because parts
    /// of a mapper that are lent are copied.
    private var packets: OwnedList<PacketMapper>
    /// For documents that only the reference's reader takes; nil where nobody asks for its quirks.
    private var leniency: Leniency?

    /// Prepares the templates numbered `templates` of `set`.
    ///
    /// With `payloadIsRoot`, `$` is the payload as it is: for events that somebody else has put into their envelope, or
    /// left without. Without a fast path, all payloads are scanned, and give the same.
    package init(
        _ set: MappingSet, templates indexes: [Int], limits: ScanLimits = ScanLimits(), payloadIsRoot: Bool = false,
        usesFastPath: Bool = true
    ) {
        self.init(
            set, indexes, limits, payloadIsRoot: payloadIsRoot, usesFastPath: usesFastPath,
            packets: PacketMapper.list(set, indexes))
    }

    /// Prepares to map decoded payloads so that all that one template gives comes before what the next one gives.
    package init(explaining set: MappingSet, templates indexes: [Int]) {
        let none = OwnedList<PacketMapper>(count: 0) { _ in preconditionFailure("an empty list") }
        self.init(
            set, indexes, ScanLimits(), payloadIsRoot: false, usesFastPath: false, packets: none,
            mapsElements: false)
    }

    private init(
        _ set: MappingSet, _ indexes: [Int], _ limits: ScanLimits, payloadIsRoot: Bool, usesFastPath: Bool,
        packets: consuming OwnedList<PacketMapper>, mapsElements: Bool = true
    ) {
        let code = set.code(of: indexes)
        // Documents that are made here come in no envelope.
        let templates = TemplateMapper(
            set, code, limits: limits, payloadIsRoot: payloadIsRoot || set.hasMessages(indexes))
        known = KnownPayloads(code, templates.selector, in: set.program, isEnabled: usesFastPath)
        self.templates = templates
        elements = ElementMapper(
            code, in: set.program, limits: limits, isOff: payloadIsRoot || !mapsElements)
        leniency = code.templates.contains(where: \.isCompatible) ? Leniency() : nil
        self.packets = packets
    }

    /// What happened since the last call.
    package mutating func takeNotes() -> MappingNotes { templates.takeNotes() }

    /// What the numbers of frames have shown since the last call.
    mutating func takeGaps() -> [FrameGap] { packets.count > 0 ? packets[0].takeGaps() : [] }

    // MARK: Payloads

    /// Maps one line, which is a payload like any other (``mapDatagram(_:context:received:output:)``). `bytes` must be
    /// padded.
    package mutating func mapLine(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if packets.count > 0 {
            return mapPackets(bytes, isLine: true, context: context, received: received, output: &output)
        }
        let start = JSONScanner.skipSpace(bytes, 0)
        if start == bytes.count { return }
        if !known.takeUnknownLine(),
            known.tryKnown(bytes[start..<bytes.count], .end, context: context, received: received, output: &output)
                != nil
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

    /// Maps the document at the beginning of `bytes` if it takes the fast path and a newline follows it, and gives the
    /// place of the newline; nil when the line must be found and mapped, and nothing has happened. `bytes` must be
    /// padded.
    @inline(__always)
    package mutating func mapKnownLine(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        _ = known.takeUnknownLine()
        guard packets.count == 0,
            let end = known.tryKnown(bytes, .newline, context: context, received: received, output: &output)
        else { return nil }
        return bytes[end] == 0x0A ? end : end &+ 1
    }

    /// Maps one datagram: a value, or several (NDJSON is); or packets. `bytes` must be padded.
    ///
    /// Whatever is not JSON behind a value is rejected by itself. A document that is not JSON costs its line, and not
    /// the lines behind it (``goOn(behind:at:in:context:received:output:)``).
    package mutating func mapDatagram(
        _ bytes: ByteView, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        if packets.count > 0 {
            return mapPackets(bytes, isLine: false, context: context, received: received, output: &output)
        }
        mapValues(bytes, from: 0, context: context, received: received, output: &output)
    }

    @inline(never)
    private mutating func mapPackets(
        _ bytes: ByteView, isLine: Bool, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        packets[0].map(
            bytes, isLine: isLine, known: &known, templates: &templates, context: context, received: received,
            output: &output)
    }

    /// Maps the values from `start` on.
    @inline(__always)
    private mutating func mapValues(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) {
        var index = JSONScanner.skipSpace(bytes, start)
        while index < bytes.count {
            let rest = bytes[index..<bytes.count]
            let end =
                known.tryKnown(rest, .space, context: context, received: received, output: &output).map { index &+ $0 }
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
        let elementsEnd = elements.map(
            bytes, from: start, .space, known: &known, templates: &templates, context: context, received: received,
            output: &output)
        if let elementsEnd { return elementsEnd }
        do throws(ScanFailure) {
            let end = try scanValue(bytes, from: start)
            templates.mapDocument(bytes, known: &known, context: context, received: received, output: &output)
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
        let end = try templates.evaluator.paths.scanner.scan(bytes, from: start)
        if end == bytes.count || bytes[end] <= 0x20 { return end }
        let isContainer = bytes[end - 1] == UInt8(ascii: "}") || bytes[end - 1] == UInt8(ascii: "]")
        guard isContainer, leniency != nil || !bytes.goesOnWithDocument(at: end) else {
            throw ScanFailure(reason: .invalidJSON, offset: end)
        }
        return end
    }

    // MARK: What is not JSON

    /// Maps the value at `start` as the reference's reader takes it (mapping dialect, section 1.1), and returns the
    /// offset behind it; nil when it is not taken, or when nobody asked for quirks. Behind a value, comments alone are
    /// passed over.
    @inline(never)
    private mutating func mapLeniently(
        _ bytes: ByteView, from start: Int, context: borrowing SourceContext, received: Instant,
        output: inout some MeasurementOutput & ~Copyable
    ) -> Int? {
        guard var leniency = leniency.take() else { return nil }
        var end = leniency.rewrite(bytes, from: start, into: &templates.evaluator.paths.scanner)
        if let end {
            templates.mapDocument(
                leniency.text.view, original: bytes[start..<end], known: &known, context: context, received: received,
                output: &output)
        } else if JSONScanner.skipSpace(bytes, 0) < start, leniency.isBlank(bytes, from: start) {
            end = bytes.count
        }
        self.leniency = consume leniency
        return end
    }

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
    package func goesOnWithDocument(at index: Int) -> Bool {
        switch self[index] {
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): true
        default: false
        }
    }
}
