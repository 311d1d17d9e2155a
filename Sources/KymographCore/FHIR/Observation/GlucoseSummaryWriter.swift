/// Writes summaries of glucose: several Observations, the panel last.
struct GlucoseSummaryWriter: ~Copyable, Sendable {
    private let summaries: RawArray<GlucoseSummaryProgram>
    private let version: FHIRVersion
    /// The figures of the prepared summary.
    private var glucose = GlucoseFigures()

    init(_ summaries: consuming RawArray<GlucoseSummaryProgram>, _ version: FHIRVersion) {
        self.summaries = summaries
        self.version = version
    }

    /// Surveys `content`, whose type gives a summary; gives the reason when there is nothing to write.
    mutating func prepare(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ head: inout HeadWriter,
        _ losses: inout ObservationLosses
    ) -> Rejection? {
        let summary = summaries[Int(program.summary)]
        head.references.isReference = summary.isReference
        losses = ObservationLosses()
        if content.status == .enteredInError {
            head.times.span = EffectiveSpan(window: content, program)
            glucose.clear()
        } else {
            head.times.span = EffectiveSpan(content, program)
            if let rejection = glucose.make(content, summary, &losses) { return rejection }
        }
        takeIdentity(of: .panel, content, program, &head)
        return nil
    }

    /// Makes the identity of `part` the one that is written.
    mutating func takeIdentity(
        of part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram, _ head: inout HeadWriter
    ) {
        let summary = summaries[Int(program.summary)]
        head.takeIdentity(of: content, program, name: summary.names[part.rawValue])
    }

    /// Writes the prepared summary: one Observation a line.
    mutating func write(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ head: inout HeadWriter,
        into writer: inout ByteWriter
    ) {
        for index in 0..<GlucosePart.count {
            guard let part = GlucosePart(rawValue: index) else { continue }
            if index > 0 { writer.append("\n") }
            takeIdentity(of: part, content, program, &head)
            write(part, content, program, &head, into: &writer)
        }
    }

    /// Writes the Observation of the prepared summary whose identity was taken last.
    mutating func write(
        _ part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram, _ head: inout HeadWriter,
        into writer: inout ByteWriter
    ) {
        let summary = summaries[Int(program.summary)]
        writer.append("{\"resourceType\":\"Observation\"")
        head.writeID(head.writesID, &writer)
        writer.append(",\"identifier\":[")
        head.identity.append(in: head.references.ownSystems.observation, to: &writer)
        writer.append("],\"status\":\"")
        writer.append(content.status.code)
        writer.append(head.constants.view(summary.heads[part.rawValue].places))
        writeCircumstances(content, &head, &writer)
        writeFigure(of: part, summary, content, program, &head, &writer)
        writer.append("}")
    }

    /// Writes whom it is about, when, and by what it was measured.
    private mutating func writeCircumstances(
        _ content: borrowing WindowContent, _ head: inout HeadWriter, _ writer: inout ByteWriter
    ) {
        head.references.writeSubject(of: content.series, &writer)
        writer.append("}")
        if let encounter = content.series.encounter, !encounter.isEmpty {
            writer.append(",\"")
            writer.append(version.encounterMember)
            writer.append("\":{")
            head.references.writeEncounter(encounter, &writer)
            writer.append("}")
        }
        writer.append(",")
        head.times.writeWindow(&writer)
        writer.append(",\"device\":{")
        head.references.writeDevice(of: content.series, &writer)
        writer.append("}")
    }

    // MARK: Values

    private mutating func writeFigure(
        of part: GlucosePart, _ summary: GlucoseSummaryProgram, _ content: borrowing WindowContent,
        _ program: TypeProgram, _ head: inout HeadWriter, _ writer: inout ByteWriter
    ) {
        if glucose.isEmpty, part != .panel { return writer.append(head.constants.view(summary.absence.places)) }
        switch part {
        case .mean: write(glucose.mean, of: part, summary, head.constants, &writer)
        case .timesInRanges: writeRanges(summary, head.constants, &writer)
        case .managementIndicator: write(glucose.managementIndicator, of: part, summary, head.constants, &writer)
        case .variation: write(glucose.variation, of: part, summary, head.constants, &writer)
        case .daysOfWear: write(glucose.days, of: part, summary, head.constants, &writer)
        case .sensorActive: write(glucose.active, of: part, summary, head.constants, &writer)
        case .panel: writeMembers(content, program, &head, &writer)
        }
    }

    private mutating func write(
        _ number: Decimal64?, of part: GlucosePart, _ summary: GlucoseSummaryProgram,
        _ constants: borrowing ByteWriter, _ writer: inout ByteWriter
    ) {
        guard let number else { return writer.append(constants.view(summary.absence.places)) }
        writer.append(",\"valueQuantity\":{\"value\":")
        writer.append(number)
        writer.append(constants.view(summary.units[part.rawValue].places))
    }

    private mutating func writeRanges(
        _ summary: GlucoseSummaryProgram, _ constants: borrowing ByteWriter, _ writer: inout ByteWriter
    ) {
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
        _ content: borrowing WindowContent, _ program: TypeProgram, _ head: inout HeadWriter,
        _ writer: inout ByteWriter
    ) {
        let isOld = version == .stu3
        isOld ? writer.append(",\"related\":[") : writer.append(",\"hasMember\":[")
        for index in 0..<GlucosePart.panel.rawValue {
            guard let part = GlucosePart(rawValue: index) else { continue }
            takeIdentity(of: part, content, program, &head)
            if index > 0 { writer.append(",") }
            isOld ? writer.append("{\"type\":\"has-member\",\"target\":{") : writer.append("{")
            head.references.writeMember(index, head.identity.value, &writer)
            isOld ? writer.append("}}") : writer.append("}")
        }
        writer.append("]")
    }
}
