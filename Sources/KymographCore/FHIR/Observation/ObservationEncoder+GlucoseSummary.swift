/// Writes summaries of glucose.
extension ObservationEncoder {
    /// Surveys `content`, whose type gives a summary; gives the reason when there is nothing to write.
    @inline(never)
    mutating func prepareSummary(_ content: borrowing WindowContent, _ program: TypeProgram) -> Rejection? {
        let summary = summaries[Int(program.summary)]
        isReference = summary.isReference
        losses = ObservationLosses()
        if content.status == .enteredInError {
            span = EffectiveSpan(window: content, program)
            glucose.clear()
        } else {
            span = EffectiveSpan(content, program)
            if let rejection = glucose.make(content, summary, &losses) { return rejection }
        }
        take(.panel, content, program)
        return nil
    }

    /// Makes the identity of `part` the one that is written.
    mutating func take(_ part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram) {
        let summary = summaries[Int(program.summary)]
        digestIdentity(content, program, name: summary.names[part.rawValue])
    }

    /// Writes the prepared summary: one Observation a line, the panel last.
    @inline(never)
    mutating func writeSummary(
        _ content: borrowing WindowContent, _ program: TypeProgram, references: ObservationReferences,
        into writer: inout ByteWriter
    ) {
        for index in 0..<GlucosePart.count {
            guard let part = GlucosePart(rawValue: index) else { continue }
            if index > 0 { writer.append("\n") }
            take(part, content, program)
            writeSummary(part, content, program, references: references, into: &writer)
        }
    }

    /// Writes the Observation of the prepared summary whose identity was taken last.
    mutating func writeSummary(
        _ part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram,
        references: ObservationReferences, into writer: inout ByteWriter
    ) {
        let summary = summaries[Int(program.summary)]
        writer.append("{\"resourceType\":\"Observation\"")
        writeID(options.writesID, references, &writer)
        writer.append(",\"identifier\":[")
        writeIdentifier(&writer)
        writer.append("],\"status\":\"")
        writer.append(content.status.code)
        writer.append(constants.view(summary.heads[part.rawValue].places))
        writeCircumstances(content, references, &writer)
        writeFigure(of: part, content, program, references, &writer)
        writer.append("}")
    }

    private mutating func writeFigure(
        of part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram,
        _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        let summary = summaries[Int(program.summary)]
        if glucose.isEmpty, part != .panel { return writer.append(constants.view(summary.absence.places)) }
        switch part {
        case .mean: write(glucose.mean, of: part, summary, &writer)
        case .timesInRanges: writeRanges(summary, &writer)
        case .managementIndicator: write(glucose.managementIndicator, of: part, summary, &writer)
        case .variation: write(glucose.variation, of: part, summary, &writer)
        case .daysOfWear: write(glucose.days, of: part, summary, &writer)
        case .sensorActive: write(glucose.active, of: part, summary, &writer)
        case .panel: writeMembers(content, program, references, &writer)
        }
    }

    private mutating func writeIdentifier(_ writer: inout ByteWriter) {
        writer.append("{\"system\":\"")
        writer.append(ownSystems.observation.escaped)
        writer.append("\",\"value\":\"")
        appendIdentityValue(to: &writer)
        writer.append("\"}")
    }

    /// Writes whom it is about, when, and by what it was measured.
    private mutating func writeCircumstances(
        _ content: borrowing WindowContent, _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        writeSubject(of: content.series, references, &writer)
        writer.append("}")
        if let encounter = content.series.encounter, !encounter.isEmpty {
            writer.append(",\"")
            writer.append(options.version.encounterMember)
            writer.append("\":{")
            writeEncounter(encounter, references, &writer)
            writer.append("}")
        }
        writer.append(",")
        writeWindow(&writer)
        writer.append(",\"device\":{")
        writeDevice(of: content.series, references, &writer)
        writer.append("}")
    }

    // MARK: Values

    private mutating func write(
        _ number: Decimal64?, of part: GlucosePart, _ summary: GlucoseSummaryProgram, _ writer: inout ByteWriter
    ) {
        guard let number else { return writer.append(constants.view(summary.absence.places)) }
        writer.append(",\"valueQuantity\":{\"value\":")
        writer.append(number)
        writer.append(constants.view(summary.units[part.rawValue].places))
    }

    private mutating func writeRanges(_ summary: GlucoseSummaryProgram, _ writer: inout ByteWriter) {
        writer.append(",\"component\":[")
        for index in 0..<GlucoseRange.codes.count {
            if index > 0 { writer.append(",") }
            writer.append(constants.view(summary.ranges[index].places))
            writer.append(glucose.shares[index])
            writer.append(constants.view(summary.units[GlucosePart.timesInRanges.rawValue].places))
            writer.append("}")
        }
        writer.append("]")
    }

    /// Writes the panel's references to the other parts, and takes their identities.
    private mutating func writeMembers(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ references: ObservationReferences,
        _ writer: inout ByteWriter
    ) {
        let isOld = options.version == .stu3
        isOld ? writer.append(",\"related\":[") : writer.append(",\"hasMember\":[")
        for index in 0..<GlucosePart.panel.rawValue {
            guard let part = GlucosePart(rawValue: index) else { continue }
            take(part, content, program)
            if index > 0 { writer.append(",") }
            isOld ? writer.append("{\"type\":\"has-member\",\"target\":{") : writer.append("{")
            writeMemberReference(index, references, &writer)
            isOld ? writer.append("}}") : writer.append("}")
        }
        writer.append("]")
    }

    private mutating func writeMemberReference(
        _ member: Int, _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        if references == .left { return holes.leave(.member, at: writer.count, member: member) }
        if options.version.hasReferenceType { writer.append("\"type\":\"Observation\",") }
        writer.append("\"identifier\":{\"system\":\"")
        writer.append(ownSystems.observation.escaped)
        writer.append("\",\"value\":\"")
        // One Identifier, which a long one's whole text has no place in.
        writer.appendJSON(identityValue)
        writer.append("\"}")
    }

    // MARK: Types

    /// Whether contents of this type become one Observation each.
    @inline(__always)
    func isObservation(_ type: Int) -> Bool { types[type].hasTemplate }

    /// How many resources a content becomes of a type that does not become one Observation.
    func resourceCount(of type: Int) -> Int { types[type].summary < 0 ? 1 : GlucosePart.count }

    /// The program of types that give summaries, or nil.
    func summaryProgram(of type: Int) -> TypeProgram? {
        let program = types[type]
        return program.summary >= 0 ? program : nil
    }
}
