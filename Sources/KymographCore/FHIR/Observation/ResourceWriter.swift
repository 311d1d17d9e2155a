/// Writes resources that are no Observations.
struct ResourceWriter: ~Copyable, Sendable {
    private let resources: RawArray<ResourceProgram>
    private let steps: RawArray<ResourceStep>
    /// Whether Devices that readings describe carry an id of ours.
    private let writesDeviceID: Bool
    /// Whether the gateway has an identifier.
    private let knowsGateway: Bool
    /// Members of the resource that is being written, the innermost last.
    private var frames = RawArray<ResourceFrame>(capacity: ResourceNode.mostLevels)
    /// Whether a resource was written; reset by whoever counts them.
    private var hasWritten = false

    init(
        _ resources: consuming RawArray<ResourceProgram>, _ steps: consuming RawArray<ResourceStep>,
        _ options: ObservationOptions
    ) {
        self.resources = resources
        self.steps = steps
        writesDeviceID = options.writesDeviceID
        knowsGateway = !options.gateway.isEmpty
    }

    /// The resource that readings become by `program` in place of Observations, or nil.
    @inline(__always)
    mutating func resource(of program: TypeProgram) -> ResourceProgram? {
        program.resource < 0 ? nil : resources[Int(program.resource)]
    }

    /// Whether a resource was written since the last time of asking.
    @inline(__always)
    mutating func takeWritten() -> Bool {
        guard hasWritten else { return false }
        hasWritten = false
        return true
    }

    /// Surveys `content`, whose type gives `resource`, and takes its identity; gives the reason when there is nothing
    /// to write.
    mutating func prepare(
        _ resource: ResourceProgram, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ head: inout HeadWriter, _ values: inout ValueWriter
    ) -> Rejection? {
        guard content.readings.count > 0 else { return .missingValue }
        head.references.isReference = resource.isReference
        head.times.span = EffectiveSpan(content, program)
        if let loss = values.surveyResource(content, program, &head.times.span) { return loss }
        if let rejection = surveyHoles(of: resource, content, program, head.constants, &values) { return rejection }
        head.takeIdentity(of: resource, content, program)
        return nil
    }

    private mutating func surveyHoles(
        of resource: ResourceProgram, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ constants: borrowing ByteWriter, _ values: inout ValueWriter
    ) -> Rejection? {
        frames.removeAll()
        frames.append(ResourceFrame())
        for index in resource.stepStart..<resource.stepEnd {
            let step = steps[index]
            switch step.code.role {
            case .literal: continue
            case .open: frames.append(ResourceFrame())
            case .close: _ = close(step)
            case .hole:
                let isFilled = fill(step, content, program, &values)
                if isFilled, !isWritable(step, content, program, constants, &values) { return .invalidValue }
            }
        }
        return frames[0].isDropped ? .missingValue : nil
    }

    /// Writes the prepared `resource`.
    mutating func write(
        _ resource: ResourceProgram, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ head: inout HeadWriter, _ values: inout ValueWriter, into writer: inout ByteWriter
    ) {
        hasWritten = true
        frames.removeAll()
        frames.append(ResourceFrame())
        for index in resource.stepStart..<resource.stepEnd {
            let step = steps[index]
            switch step.code.role {
            case .literal: writer.append(head.constants.view(step.places))
            case .open:
                frames.append(ResourceFrame(mark: writer.count))
                if !writer.isAtStart { writer.append(",") }
                writer.append(head.constants.view(step.places))
            case .close:
                guard let mark = close(step) else { continue }
                writer.truncate(to: mark)
                head.references.holes.takeBack(to: mark)
            case .hole:
                guard fill(step, content, program, &values) else { continue }
                writeHole(step, of: resource, content, program, &head, &values, &writer)
            }
        }
    }

    // MARK: What is there

    /// Ends the innermost frame; where it is taken back, tells where it began.
    private mutating func close(_ step: ResourceStep) -> Int? {
        guard let frame = frames.popLast() else { return nil }
        let outer = frames.count - 1
        guard frame.isDropped else {
            frames[outer].filled += frame.filled
            return nil
        }
        frames[outer].missing += 1
        if step.isDemanded { frames[outer].isBroken = true }
        return frame.mark
    }

    /// Notes in the innermost frame whether there is something for the hole of `step`.
    private mutating func fill(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ values: inout ValueWriter
    ) -> Bool {
        let last = frames.count - 1
        let isThere: Bool
        switch step.code {
        case .text, .word, .number, .boolean, .time: isThere = hasValue(step, content, program, &values)
        case .encounter, .encounterIdentifier: isThere = !(content.series.encounter ?? []).isEmpty
        case .gateway, .gatewayIdentifier: isThere = knowsGateway
        case .filled:
            frames[last].filled += 1
            return false
        case .id, .identity: return true
        case .start, .end, .received, .patient, .device, .patientIdentifier, .deviceIdentifier: isThere = true
        case .literal, .open, .close: return false
        }
        if isThere {
            frames[last].filled += 1
        } else {
            frames[last].missing += 1
            if step.isDemanded { frames[last].isBroken = true }
        }
        return isThere
    }

    private mutating func hasValue(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ values: inout ValueWriter
    ) -> Bool {
        guard values.facts(of: step.field).count > 0 else { return false }
        // FHIR has no empty strings.
        return values.text(of: step.field, content, program).map { !$0.isBlank } ?? true
    }

    /// Whether the value is one that the hole of `step` can have.
    private mutating func isWritable(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ constants: borrowing ByteWriter, _ values: inout ValueWriter
    ) -> Bool {
        guard step.code == .word || !step.places.isEmpty else { return true }
        guard let text = values.text(of: step.field, content, program)?.trimmed else { return step.places.isEmpty }
        guard !text.hasSpace else { return false }
        return step.places.isEmpty || constants.view(step.places).hasWord(text)
    }

    // MARK: Holes

    private mutating func writeHole(
        _ step: ResourceStep, of resource: ResourceProgram, _ content: borrowing WindowContent,
        _ program: TypeProgram, _ head: inout HeadWriter, _ values: inout ValueWriter, _ writer: inout ByteWriter
    ) {
        switch step.code {
        case .text, .word:
            guard let text = values.text(of: step.field, content, program) else {
                return writer.append(values.facts(of: step.field).result)
            }
            writer.appendJSON(text.trimmed)
        case .number: writer.append(values.facts(of: step.field).result)
        case .boolean: writer.append(values.facts(of: step.field).result.mantissa == 0 ? "false" : "true")
        case .time:
            if let text = values.text(of: step.field, content, program) { writer.append(timeOfDay: text) }
        case .start: head.times.write(head.times.span.start, content.readings[0].timeForm, &writer)
        case .end: head.times.write(head.times.span.end, content.readings[0].timeForm, &writer)
        case .received: head.times.write(content.readings[0].received, .unknown, &writer)
        // A server that made the Device for an Observation gave it an id of its own.
        case .id: head.writeID(resource.identity == .device ? writesDeviceID : head.writesID, &writer)
        case .identity: head.writeIdentity(of: resource, &writer)
        case .gateway: head.references.writeGateway(&writer)
        case .gatewayIdentifier: head.references.writeGatewayIdentifier(&writer)
        case .patient: head.references.writeSubject(of: content.series, &writer)
        case .device: head.references.writeDevice(of: content.series, &writer)
        case .encounter: head.references.writeEncounter(content.series.encounter ?? [], &writer)
        case .patientIdentifier: head.references.writeSubjectIdentifier(of: content.series, &writer)
        case .deviceIdentifier: head.references.writeDeviceIdentifier(of: content.series, &writer)
        case .encounterIdentifier:
            head.references.writeEncounterIdentifier(content.series.encounter ?? [], &writer)
        // They are no holes.
        case .literal, .open, .close, .filled: break
        }
    }
}

extension ByteWriter {
    /// Whether an object or a list was just opened: a JSON string cannot end so, as its quotation mark follows.
    fileprivate var isAtStart: Bool {
        count > 0 && (self[count - 1] == UInt8(ascii: "{") || self[count - 1] == UInt8(ascii: "["))
    }
}

extension ByteView {
    /// Whether `word` stands in it with a blank on both sides.
    fileprivate func hasWord(_ word: ByteView) -> Bool {
        var start = 1
        while start + word.count < count {
            let isThere = self[start - 1] == UInt8(ascii: " ") && self[start + word.count] == UInt8(ascii: " ")
            if isThere, self[start..<start + word.count].equals(word) { return true }
            start += 1
        }
        return false
    }

    /// Whether there is white space in it.
    fileprivate var hasSpace: Bool {
        for index in 0..<count where self[index] <= 0x20 { return true }
        return false
    }
}
