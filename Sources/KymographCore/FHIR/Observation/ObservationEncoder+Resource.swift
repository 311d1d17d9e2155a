/// Writes resources that are no Observations.
extension ObservationEncoder {
    /// Surveys `content`, whose type gives a resource, and digests its identity; gives the reason when there is nothing
    /// to write.
    @inline(never)
    mutating func prepareResource(_ content: borrowing WindowContent, _ program: TypeProgram) -> Rejection? {
        if program.summary >= 0 { return prepareSummary(content, program) }
        guard program.resource >= 0 else { return .noFHIRTemplate }
        guard content.readings.count > 0 else { return .missingValue }
        let resource = resources[Int(program.resource)]
        isReference = resource.isReference
        span = EffectiveSpan(content, program)
        losses = ObservationLosses()
        facts.removeAll()
        for index in program.fieldStart..<program.fieldEnd {
            let field = fields[index]
            var found = FieldFacts.survey(field, content)
            if field.isExtended { extend(&found, field, content) }
            // A resource is about one reading: what cannot be written of it is not left out.
            if let loss = found.loss { return loss }
            found.settle()
            facts.append(found)
        }
        if let rejection = surveyHoles(content, program, resource) { return rejection }
        digestIdentity(of: resource, content, program)
        return nil
    }

    private mutating func surveyHoles(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ resource: ResourceProgram
    ) -> Rejection? {
        frames.removeAll()
        frames.append(ResourceFrame())
        for index in resource.stepStart..<resource.stepEnd {
            let step = resourceSteps[index]
            switch step.code {
            case .literal: continue
            case .open: frames.append(ResourceFrame())
            case .close: _ = close(step)
            default:
                guard fill(step, content, program), !isWritable(step, content, program) else { continue }
                return .invalidValue
            }
        }
        return frames[0].isDropped ? .missingValue : nil
    }

    /// Writes the prepared resource.
    @inline(never)
    mutating func writeResource(
        _ content: borrowing WindowContent, _ program: TypeProgram, references: ObservationReferences,
        into writer: inout ByteWriter
    ) {
        let resource = resources[Int(program.resource)]
        wroteResource = true
        frames.removeAll()
        frames.append(ResourceFrame())
        for index in resource.stepStart..<resource.stepEnd {
            let step = resourceSteps[index]
            switch step.code {
            case .literal: writer.append(constants.view(Int(step.start)..<Int(step.end)))
            case .open:
                frames.append(ResourceFrame(mark: writer.count))
                if !writer.isAtStart { writer.append(",") }
                writer.append(constants.view(Int(step.start)..<Int(step.end)))
            case .close:
                guard let mark = close(step) else { continue }
                writer.truncate(to: mark)
                holes.takeBack(to: mark)
            default:
                guard fill(step, content, program) else { continue }
                writeHole(step, content, program, resource, references, &writer)
            }
        }
    }

    /// The resource that readings of a type become in place of Observations, or nil.
    func resource(of type: Int) -> ResourceProgram? {
        let place = types[type].resource
        return place < 0 ? nil : resources[Int(place)]
    }

    /// Whether a resource was written since the last time of asking that is no Observation.
    @inline(__always)
    package mutating func takeResource() -> Bool {
        guard wroteResource else { return false }
        wroteResource = false
        return true
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
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> Bool {
        let last = frames.count - 1
        let isThere: Bool
        switch step.code {
        case .text, .word, .number, .boolean, .time: isThere = hasValue(step, content, program)
        case .encounter, .encounterIdentifier: isThere = !(content.series.encounter ?? []).isEmpty
        case .gateway, .gatewayIdentifier: isThere = !options.gateway.isEmpty
        case .filled:
            frames[last].filled += 1
            return false
        case .id, .identity: return true
        // Times, and whom the reading is about.
        default: isThere = true
        }
        if isThere {
            frames[last].filled += 1
        } else {
            frames[last].missing += 1
            if step.isDemanded { frames[last].isBroken = true }
        }
        return isThere
    }

    private func hasValue(_ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram) -> Bool {
        guard facts[Int(step.field)].count > 0 else { return false }
        // FHIR has no empty strings.
        return text(step, content, program).map { !$0.isBlank } ?? true
    }

    /// Whether the value is one that the hole of `step` can have.
    private func isWritable(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> Bool {
        guard step.code == .word || step.end > step.start else { return true }
        guard let text = text(step, content, program)?.trimmed else { return step.end == step.start }
        guard !text.hasSpace else { return false }
        return step.end == step.start || constants.view(Int(step.start)..<Int(step.end)).hasWord(text)
    }

    private func text(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> ByteView? {
        let slot = Int(fields[program.fieldStart + Int(step.field)].slot)
        return content.text(facts[Int(step.field)].last, slot: slot)
    }

    // MARK: Holes

    private mutating func writeHole(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ resource: ResourceProgram, _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        switch step.code {
        case .text, .word:
            guard let text = text(step, content, program) else { return writer.append(facts[Int(step.field)].result) }
            writer.appendJSON(text.trimmed)
        case .number: writer.append(facts[Int(step.field)].result)
        case .boolean: writer.append(facts[Int(step.field)].result.mantissa == 0 ? "false" : "true")
        case .time: if let text = text(step, content, program) { writer.append(timeOfDay: text) }
        case .start: writeTime(span.start, content.readings[0].timeForm, &writer)
        case .end: writeTime(span.end, content.readings[0].timeForm, &writer)
        case .received: writeTime(content.readings[0].received, .unknown, &writer)
        // A server that made the Device for an Observation gave it an id of its own.
        case .id: writeID(resource.identity == .device ? options.writesDeviceID : options.writesID, references, &writer)
        case .identity: writeIdentity(resource, content, &writer)
        default: writeTarget(step, content, references, &writer)
        }
    }

    private mutating func writeTarget(
        _ step: ResourceStep, _ content: borrowing WindowContent, _ references: ObservationReferences,
        _ writer: inout ByteWriter
    ) {
        let own = ownSystems
        switch step.code {
        case .gateway: writeGateway(references, &writer)
        case .gatewayIdentifier: writer.append(systems.gateway, digest)
        case .patient: writeSubject(of: content.series, references, &writer)
        case .device: writeDevice(of: content.series, references, &writer)
        case .encounter: writeEncounter(content.series.encounter ?? [], references, &writer)
        case .patientIdentifier: writer.append(own.subject(of: content.series), ownDigest)
        case .deviceIdentifier: writer.append(own.device(of: content.series), ownDigest)
        default:
            writer.append(ResourceIdentifier(system: own.encounter, value: content.series.encounter ?? []), nil)
        }
    }

    private mutating func writeIdentity(
        _ resource: ResourceProgram, _ content: borrowing WindowContent, _ writer: inout ByteWriter
    ) {
        if resource.identity == .device {
            writer.appendHead(of: ownSystems.device)
            appendIdentityValue(to: &writer)
            return writer.append("\"}")
        }
        writer.append("{\"system\":\"")
        writer.append(systems.resource.escaped)
        writer.append("\",\"value\":\"")
        appendIdentityValue(to: &writer)
        writer.append("\"}")
    }

    /// The systems of the prepared content's Patient, Device and Encounter.
    var ownSystems: IdentifierSystems { isReference ? referenceSystems : systems }

    /// What long identifiers of the prepared content's Patient and Device are digested with; nil where they are written
    /// as they are.
    private var ownDigest: Digest256? { isReference ? nil : digest }
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
