/// Reads messages of HL7 v2 with results (ORU^R01), and makes a JSON document of each group of results: those of one
/// order (OBR) of one patient (PID). docs/hl7.md says what is in it.
///
/// One object for a source of a lane. Nothing is allocated for a message after warm-up.
package final class HL7Reader {
    /// A result that is no part of a document, and why.
    struct Refusal: BitwiseCopyable {
        var reason: Rejection
        var result: HL7Result
    }

    private let needs: HL7Needs
    /// Whether a wall clock is known by which times without offset are read.
    package var hasClock = false
    private var message = ByteView("")
    private var segments = HL7SegmentList()
    private var levels = HL7Levels()
    private var containment = HL7Containment()
    private var twins = HL7Twins()
    /// What tells a result from others.
    private var key = ByteWriter(capacity: 256)
    private var writer = HL7SegmentWriter()
    private var output = ByteWriter(capacity: 4_096)
    private var letters = HL7LetterWriter()
    /// The results of the document, with their places in it.
    private var elements = RawArray<HL7Result>()
    private var refusals = RawArray<Refusal>()
    /// The offset that MSH-7 states for all times of the message.
    private var zone: ByteView?
    private var patient = HL7Patient.none

    /// A reader whose documents have what `needs` says.
    package init(_ needs: HL7Needs) { self.needs = needs }

    /// The document of the group that was read last, padded; empty when it has no results.
    package var document: ByteView { elements.count == 0 ? output.view(0..<0) : output.view }

    /// How many results of the group are in no document.
    var refusalCount: Int { refusals.count }

    /// One of them.
    func refusal(_ index: Int) -> Refusal { refusals[index] }

    /// Begins with the message `bytes`, which must be padded, and valid until ``finish()``.
    ///
    /// - Throws: ``ScanFailure`` when it is no message, or none that is read here; when a group has a segment twice
    ///   that it may have once, or there are too many devices. Nothing of it has been read then.
    package func begin(_ bytes: ByteView) throws(ScanFailure) {
        let charset = try HL7MessageCheck.charset(of: bytes)
        let header = HL7Header(of: bytes)
        try segments.read(bytes, field: header.delimiters.field)
        try HL7MessageCheck.check(header, segments)
        message = bytes
        writer.text.delimiters = header.delimiters
        writer.text.charset = charset
        zone = HL7Time.offset(of: header.component(1, of: 7))
        letters.begin()
        patient = .none
        try findContainers()
    }

    /// Forgets the message.
    package func finish() {
        message = ByteView("")
        zone = nil
        patient = .none
        elements.removeAll()
        refusals.removeAll()
        twins.removeAll()
    }

    /// Reads the next group of results; false when there is none.
    package func nextGroup() -> Bool {
        elements.removeAll()
        refusals.removeAll()
        let former = levels.patientNumber
        guard levels.next(segments) else { return false }
        if levels.patientNumber != former { readPatient() }
        containment.beginGroup(patient: levels.patientNumber)
        findTwins()
        output.removeAll()
        output.append("{\"OBX\":[")
        var index = levels.order.lowerBound
        while index < levels.order.upperBound {
            index = segments[index].name == .obx ? readResult(at: index) : index + 1
        }
        output.append("]")
        appendSegments()
        output.append("}")
        output.pad(by: ByteView.padding)
        return true
    }

    /// The text that a dead letter keeps of the result whose object is at `range` of the document: a message with
    /// nothing but this result. Of other parts of the document, the message.
    func letter(of range: Range<Int>) -> ByteView {
        guard let result = result(at: range) else { return message }
        return letter(of: result)
    }

    /// The text that a dead letter keeps of the results whose objects are at `ranges` of the document, in any order,
    /// and which are one reading: a message with nothing but these. Of other parts of the document, the message.
    func letter(of ranges: [Range<Int>]) -> ByteView {
        let results = ranges.compactMap { result(at: $0) }.sorted { $0.segment < $1.segment }
        guard !results.isEmpty, results.count == ranges.count else { return message }
        return letters.letter(of: results, message, segments, levels)
    }

    /// The result whose object is at `range` of the document.
    private func result(at range: Range<Int>) -> HL7Result? {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].start < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        let isResult = low < elements.count && elements[low].start..<elements[low].stop == range
        return isResult ? elements[low] : nil
    }

    /// The text that a dead letter keeps of `result`, and of those that cannot be told from it.
    func letter(of result: HL7Result) -> ByteView {
        let results = result.hasTwins ? twins.all(from: result.segment).map { located($0) } : [result]
        return letters.letter(of: results, message, segments, levels)
    }

    /// The result at segment `index`, with the lines that name its device.
    private func located(_ index: Int) -> HL7Result {
        var result = HL7Result(segment: index, end: levels.end(ofResult: index, segments))
        noteContainers(of: HL7ResultFields(view(index), writer.text.delimiters), &result)
        return result
    }

    // MARK: What results have in common

    private func view(_ segment: Int) -> ByteView { message[segments[segment].range] }

    private func readPatient() {
        guard needs.members.contains(.patient) else { return }
        patient = HL7Patient(of: view(levels.patient.lowerBound), writer.text.delimiters)
    }

    /// Goes through all groups for the lines that say which devices, modules and channels there are: the device of a
    /// result may stand behind it.
    private func findContainers() throws(ScanFailure) {
        containment.removeAll()
        levels.begin(segments)
        while levels.next(segments) {
            try levels.check(segments)
            try findContainersOfGroup()
        }
        levels.begin(segments)
        containment.rewind()
    }

    private func findContainersOfGroup() throws(ScanFailure) {
        containment.beginGroup(patient: levels.patientNumber)
        for index in levels.order where segments[index].name == .obx {
            let fields = HL7ResultFields(view(index), writer.text.delimiters)
            guard fields.isContainer else { continue }
            try containment.add(
                fields.containment, device: device(of: fields, at: index, to: levels.end(ofResult: index, segments)),
                segment: index)
        }
    }

    /// The instance of equipment that a result, or a container, names itself (OBX-18, or PRT-10 of equipment).
    private func device(of fields: HL7ResultFields, at index: Int, to end: Int) -> ByteView? {
        let delimiters = writer.text.delimiters
        if let device = HL7Identifier.instance(fields.equipment, delimiters) { return device }
        for index in (index + 1)..<max(end, index + 1) where segments[index].name == .prt {
            let participation = view(index)
            guard
                participation.part(4, between: delimiters.field).part(0, between: delimiters.component)
                    .equals(ByteView("EQUIP"))
            else { continue }
            let named = participation.part(10, between: delimiters.field)
            if let device = HL7Identifier.instance(named, delimiters) { return device }
        }
        return nil
    }

    // MARK: Results that cannot be told apart

    /// Finds results of one code, device and time at several places. Where no code is there twice, as in most groups,
    /// nothing else is looked at.
    private func findTwins() {
        findTwins(byCodeAlone: true)
        if twins.hasAny { findTwins(byCodeAlone: false) }
    }

    private func findTwins(byCodeAlone: Bool) {
        twins.removeAll()
        for index in levels.order where segments[index].name == .obx {
            let fields = HL7ResultFields(view(index), writer.text.delimiters)
            guard !fields.isContainer, fields.isResult else { continue }
            key.removeAll()
            appendKeyOfCode(fields)
            if !byCodeAlone { appendKeyOfReading(fields, at: index) }
            twins.add(index, place: fields.containment, key: key.view)
        }
    }

    /// Writes code and coding system. No byte of a message is 0x0D within a segment, so that it divides.
    private func appendKeyOfCode(_ fields: HL7ResultFields) {
        let code = fields.code.part(0, between: writer.text.delimiters.repetition)
        key.append(code.part(0, between: writer.text.delimiters.component))
        key.append(0x0D)
        key.append(code.part(2, between: writer.text.delimiters.component))
        key.append(0x0D)
    }

    /// Writes time and device, and the channel where templates tell channels apart.
    private func appendKeyOfReading(_ fields: HL7ResultFields, at index: Int) {
        let time = timeField(of: fields).part(0, between: writer.text.delimiters.component)
        if HL7Time.append(time, zone: zone, hasClock: true, to: &key) != .written { key.append(time) }
        key.append(0x0D)
        if let own = device(of: fields, at: index, to: levels.end(ofResult: index, segments)) {
            key.append(own)
        } else if case .one(let container) = containment.find(fields.containment) {
            key.append(container.device)
        }
        guard needs.tellsChannels, fields.containment.isHL7Place else { return }
        key.append(0x0D)
        key.append(fields.containment.hl7Channel)
    }

    /// Refuses the results that cannot be told from the one at `index`, all at once with the first of them; false when
    /// it can be told from all others.
    private func refuseTwins(at index: Int, to end: Int) -> Bool {
        guard let first = twins.first(of: index) else { return false }
        guard first == index else { return true }
        var result = HL7Result(segment: index, end: end)
        result.hasTwins = true
        refusals.append(Refusal(reason: .ambiguousExpression, result: result))
        return true
    }

    // MARK: Results

    /// Reads the result at segment `index`; the first segment behind it.
    private func readResult(at index: Int) -> Int {
        let fields = HL7ResultFields(view(index), writer.text.delimiters)
        let end = levels.end(ofResult: index, segments)
        if fields.isContainer || refuseTwins(at: index, to: end) { return end }
        var result = HL7Result(segment: index, end: end)
        let start = output.count
        do throws(ScanFailure) {
            let isWithdrawn = fields.isWithdrawn && needs.members.contains(.withdrawn)
            guard fields.isResult || isWithdrawn else { throw ScanFailure(reason: .resultStatus, offset: 0) }
            if elements.count > 0 { output.append(",") }
            result.start = output.count
            output.append(isWithdrawn ? "{\"withdrawn\":{" : "{")
            // What value it had does not matter any more.
            if !isWithdrawn { try appendValue(of: fields) }
            try appendRead(fields, &result)
            appendWritten(index, end)
            output.append(isWithdrawn ? "}}" : "}")
            result.stop = output.count
            elements.append(result)
        } catch {
            output.truncate(to: start)
            noteContainers(of: fields, &result)
            refusals.append(Refusal(reason: error.reason, result: result))
        }
        return end
    }

    private func appendValue(of fields: HL7ResultFields) throws(ScanFailure) {
        try HL7Value.append(fields.value, type: fields.type, needs.members, &writer.text, to: &output)
    }

    /// Writes what else is read of the fields of a result, and of what is around it.
    private func appendRead(_ fields: HL7ResultFields, _ result: inout HL7Result) throws(ScanFailure) {
        if needs.members.contains(.time) { try appendTime(of: fields) }
        if needs.members.contains(.device) { try appendDevice(of: fields, &result) }
        switch patient {
        case .none: break
        case .one(let identifier): appendMember("patient", identifier)
        case .several: throw ScanFailure(reason: .ambiguousExpression, offset: 0)
        }
        guard needs.members.contains(.channel), fields.containment.isHL7Place else { return }
        appendMember("channel", fields.containment.hl7Channel)
    }

    /// OBX-14, else OBR-7.
    private func timeField(of fields: HL7ResultFields) -> ByteView {
        guard fields.time.count == 0 || fields.time.isHL7Null, let order = levels.observationRequest else {
            return fields.time
        }
        return view(order).part(7, between: writer.text.delimiters.field)
    }

    private func appendTime(of fields: HL7ResultFields) throws(ScanFailure) {
        switch appendTime(timeField(of: fields), as: "time") {
        case .written, .missing: break
        case .invalid: throw ScanFailure(reason: .invalidTimestamp, offset: 0)
        case .withoutZone: throw ScanFailure(reason: .unknownTimeZone, offset: 0)
        }
    }

    /// Writes `text` as a time, and nothing when it is none.
    private func appendTime(_ text: ByteView, as name: StaticString) -> HL7Time.Outcome {
        let start = output.count
        output.append("\"")
        output.append(name)
        output.append("\":\"")
        let time = text.part(0, between: writer.text.delimiters.component)
        let outcome = HL7Time.append(time, zone: zone, hasClock: hasClock, to: &output)
        guard outcome == .written else {
            output.truncate(to: start)
            return outcome
        }
        output.append("\",")
        return outcome
    }

    private func appendDevice(of fields: HL7ResultFields, _ result: inout HL7Result) throws(ScanFailure) {
        if let own = device(of: fields, at: result.segment, to: result.end) { return appendMember("device", own) }
        switch containment.find(fields.containment) {
        case .none: break
        case .one(let container):
            result.container = container.segment
            appendMember("device", container.device)
        case .conflict: throw ScanFailure(reason: .ambiguousExpression, offset: 0)
        }
    }

    /// Notes which lines name the device of a result that is refused: its letter has them, too.
    private func noteContainers(of fields: HL7ResultFields, _ result: inout HL7Result) {
        guard result.container < 0, device(of: fields, at: result.segment, to: result.end) == nil else { return }
        switch containment.find(fields.containment) {
        case .none: break
        case .one(let container): result.container = container.segment
        case .conflict(let one, let other):
            (result.container, result.otherContainer) = (one.segment, other.segment)
        }
    }

    private func appendMember(_ name: StaticString, _ text: ByteView) {
        output.append("\"")
        output.append(name)
        output.append("\":")
        writer.text.append(text, to: &output)
        output.append(",")
    }

    /// Writes the fields of a result, and the segments that belong to it.
    private func appendWritten(_ index: Int, _ end: Int) {
        if !writer.appendMembers(of: view(index), needs, to: &output), output.view[output.count - 1] == 0x2C {
            output.truncate(to: output.count - 1)
        }
        for name in [HL7SegmentName.nte, .prt] where needs.has(name) {
            let own = ((index + 1)..<max(end, index + 1)).filter { segments[$0].name == name }
            if !own.isEmpty { appendList(name, own, isFirst: output.view[output.count - 1] == 0x7B) }
        }
    }

    // MARK: Segments around results

    private func appendSegments() {
        let around = ([0] + Array(levels.head) + Array(levels.patient) + levels.aroundResults)
            .filter { needs.has(segments[$0].name) }
        for (place, index) in around.enumerated() {
            let name = segments[index].name
            if name.isSingle {
                appendKey(name)
                appendObject(index)
            } else if !around[..<place].contains(where: { segments[$0].name == name }) {
                appendList(name, around.filter { segments[$0].name == name }, isFirst: false)
            }
        }
    }

    private func appendList(_ name: HL7SegmentName, _ list: [Int], isFirst: Bool) {
        appendKey(name, isFirst: isFirst)
        output.append("[")
        for (place, index) in list.enumerated() {
            if place > 0 { output.append(",") }
            appendObject(index)
        }
        output.append("]")
    }

    private func appendKey(_ name: HL7SegmentName, isFirst: Bool = false) {
        if !isFirst { output.append(",") }
        output.append("\"")
        output.append(name.text)
        output.append("\":")
    }

    /// Writes a segment as an object, with the times of an order and of the message as they are read.
    private func appendObject(_ index: Int) {
        let (segment, field) = (view(index), writer.text.delimiters.field)
        output.append("{")
        if segments[index].name == .obr {
            if needs.members.contains(.time) { _ = appendTime(segment.part(7, between: field), as: "time") }
            if needs.members.contains(.end) { _ = appendTime(segment.part(8, between: field), as: "end") }
        } else if segments[index].name == .msh, needs.members.contains(.time) {
            _ = appendTime(segment.part(6, between: field), as: "time")
        }
        if !writer.appendMembers(of: segment, needs, to: &output), output.view[output.count - 1] == 0x2C {
            output.truncate(to: output.count - 1)
        }
        output.append("}")
    }
}
