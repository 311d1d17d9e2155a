/// Writes Observations from window contents, straight to bytes.
///
/// Templates are compiled before, into ``ObservationPrograms``; a warmed-up encoder allocates nothing per Observation.
/// Output is FHIR JSON of the version that the options say, minified, without narrative. The shape of Observations is
/// decided by ``ProgramCompiler`` alone: other shapes are other compilations of the same steps, not branches in the
/// writing.
///
/// The encoder takes the steps of a program, and hands each to the writer that owns the state for it. What only reads
/// is mutating as well where it is called while an Observation is written: the compiler lends a call that only reads a
/// copy of all 2 KiB of a noncopyable struct that is being changed (Swift 6.3). Writers are lent to each other as
/// `inout` for the same reason.
package struct ObservationEncoder: ~Copyable, Sendable {
    private let compile: ObservationPrograms.Compiler
    let options: ObservationOptions
    private let steps: RawArray<ProgramStep>
    private let types: RawArray<TypeProgram>
    var head: HeadWriter
    private var tags = TagWriter()
    private var values: ValueWriter
    private var series: SeriesWriter
    private var summaries: GlucoseSummaryWriter
    private var resources: ResourceWriter
    var attachments: AttachmentWriter
    /// The member that says why an Observation without readings has no value: profiles demand one of both.
    private let absence: [UInt8]

    /// Writes by `programs`. `compile` makes programs for newer templates.
    package init(
        _ programs: consuming ObservationPrograms, options: ObservationOptions, digest: Digest256,
        compile: @escaping ObservationPrograms.Compiler
    ) {
        self.compile = compile
        self.options = options
        steps = programs.steps
        types = programs.types
        head = HeadWriter(programs.constants, options, digest)
        values = ValueWriter(programs.fields, programs.tables)
        series = SeriesWriter(options.version.seriesTiming)
        summaries = GlucoseSummaryWriter(programs.summaries, options.version)
        resources = ResourceWriter(programs.resources, programs.resourceSteps, options)
        attachments = AttachmentWriter(programs.attachments, options)
        let member = JSONText.dataAbsentReason("unknown") + ","
        absence = Array((options.version == .stu3 ? CodeSystemNames.stu3(in: member) : member).utf8)
    }

    /// An encoder with the same options for other templates.
    func encoder(types: [MeasurementType], templates: [FHIRTemplate?]) -> ObservationEncoder {
        ObservationEncoder(
            compile(types, templates, options), options: options, digest: head.identity.digest, compile: compile)
    }

    // MARK: Types

    /// Whether contents of this type become one Observation each.
    @inline(__always)
    func isObservation(_ type: Int) -> Bool { types[type].hasTemplate }

    /// The resource that readings of a type become in place of Observations, or nil.
    mutating func resource(of type: Int) -> ResourceProgram? { resources.resource(of: types[type]) }

    /// The program of a type.
    func program(of type: Int) -> TypeProgram { types[type] }

    /// The program of types that give summaries, or nil.
    func summaryProgram(of type: Int) -> TypeProgram? {
        let program = types[type]
        return program.summary >= 0 ? program : nil
    }

    // MARK: Contents

    /// Appends the Observation of `content`, which has at least one reading, to `writer`, with references by
    /// identifier; nothing when skipped.
    package mutating func encode(_ content: borrowing WindowContent, into writer: inout ByteWriter) -> EncodeOutcome {
        if let rejection = prepare(content) { return .skipped(rejection) }
        return .written(condensedValues: write(content, references: .byIdentifier, into: &writer))
    }

    /// What the prepared content's Observation does not say.
    @inline(__always)
    package var losses: ObservationLosses { values.losses }

    /// The slots of values that Observations since the last time of asking withhold, since readings of one correlation
    /// and time differ in them; none before the first time, from which on they are noted.
    package mutating func takeWithheld() -> [Int] { values.takeWithheld() }

    /// Whether a resource was written since the last time of asking that is no Observation.
    @inline(__always)
    package mutating func takeResource() -> Bool { resources.takeWritten() }

    /// Surveys `content` and takes its identity; gives the reason when there is nothing to write.
    mutating func prepare(_ content: borrowing WindowContent) -> Rejection? {
        let program = types[content.series.type]
        guard program.hasTemplate else { return prepareOther(content, program) }
        head.references.isReference = program.isCompatible
        tags.prepare(content)
        if content.status == .enteredInError { return prepareEmpty(content, program) }
        guard content.readings.count > 0 else { return .missingValue }
        head.times.span = EffectiveSpan(content, program)
        let survey = values.survey(content, program, &head.times.span)
        // The reference gives up where a value cannot be written, and writes Observations without any (quirk 17).
        if program.isCompatible, let loss = survey.loss { return loss }
        guard survey.hasValue || program.isCompatible else { return survey.loss ?? .missingValue }
        head.takeIdentity(of: content, program)
        return nil
    }

    /// Prepares to say of an Observation without readings, or of one reading that is no more, that it was an error.
    @inline(never)
    private mutating func prepareEmpty(
        _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> Rejection? {
        head.times.span =
            content.readings.count > 0
            ? EffectiveSpan(content, program) : EffectiveSpan(window: content, program)
        values.clear(program)
        head.takeIdentity(of: content, program)
        return nil
    }

    /// Prepares what is not one Observation.
    @inline(never)
    private mutating func prepareOther(_ content: borrowing WindowContent, _ program: TypeProgram) -> Rejection? {
        if program.summary >= 0 { return summaries.prepare(content, program, &head, &values.losses) }
        guard let resource = resources.resource(of: program) else { return .noFHIRTemplate }
        return resources.prepare(resource, content, program, &head, &values)
    }

    /// Writes the prepared `content`; gives the number of condensed readings.
    mutating func write(
        _ content: borrowing WindowContent, references: ObservationReferences, into writer: inout ByteWriter
    ) -> Int {
        let program = types[content.series.type]
        head.references.form = references
        var condensed = 0
        var hasComponents = false
        var index = program.stepStart
        while index < program.stepEnd {
            let step = steps[index]
            index &+= 1
            guard values.satisfies(step) else { continue }
            switch step.code {
            case .literal: writer.append(padded: head.constants.view(step.places))
            case .component:
                hasComponents ? writer.append(",") : writer.append(",\"component\":[")
                hasComponents = true
                writer.append(padded: head.constants.view(step.places))
            case .endComponents: if hasComponents { writer.append("]") }
            case .id: head.writeID(head.writesID, &writer)
            case .identifier: head.identity.append(to: &writer)
            case .status: writer.append(content.status.stated(isPreliminary: program.isPreliminary).code)
            case .subject: head.references.writeSubject(of: content.series, &writer)
            case .device: head.references.writeDevice(of: content.series, &writer)
            case .encounter: writeEncounter(step, content, &writer)
            case .effective:
                if content.status == .enteredInError, !program.isCompatible { writer.append(absence) }
                head.times.writeEffective(content, program, &writer)
            case .issued: head.times.writeIssued(content, &writer)
            case .referenceIssued: head.times.writeReferenceIssued(content, &writer)
            case .result: values.writeResult(step, &writer)
            case .minimum: values.writeLeast(step, content, program, &writer)
            case .maximum: values.writeGreatest(step, content, program, &writer)
            case .count: values.writeCount(step, &writer)
            case .text: values.writeText(step, content, program, &writer)
            case .boolean: values.writeBoolean(step, "true", "false", &writer)
            case .yesNo: values.writeBoolean(step, "Y", "N", &writer)
            case .time: values.writeTimeOfDay(step, content, program, &writer)
            case .reason: values.writeReason(step, &writer)
            case .comparator: values.writeComparator(step, &writer)
            case .figure: values.writeFigure(step, &writer)
            case .interpretation: values.writeInterpretation(step, program, &writer)
            case .second: values.writeSecond(step, content, program, &writer)
            case .period: values.writePeriod(step, content, program, &writer)
            case .range: values.writeRange(step, content, program, &writer)
            case .origin: writeOrigin(step, content, program, &writer)
            case .series: condensed += writeSeries(step, content, program, &writer)
            case .attachableSeries: condensed += writeAttachable(step, content, program, &writer)
            case .derivedFrom: writeDerivedFrom(content, program, &writer)
            case .gateway: head.references.writeGateway(&writer)
            case .guideStatus: head.writeGuideStatus(content, program, &writer)
            case .guideIdentifier:
                head.writeGuideIdentifier(content, code: head.constants.view(step.places), &writer)
            case .resource: writeResource(content, program, &writer)
            case .summary: writeSummary(content, program, &writer)
            case .tags: writeTags(step, program, &writer)
            case .startSeconds: head.times.writeSeconds(head.times.span.start, &writer)
            case .endSeconds: head.times.writeSeconds(head.times.span.end, &writer)
            }
        }
        return condensed
    }

    @inline(__always)
    private mutating func writeTags(_ step: ProgramStep, _ program: TypeProgram, _ writer: inout ByteWriter) {
        guard let place = TagPlace(rawValue: step.field) else { return }
        tags.write(
            place, known: head.constants.view(program.tagStart..<program.tagEnd), to: &writer, &values.losses)
    }

    /// Writes the tags of the Observation into what holds its samples: who may see the one may see the other.
    @inline(never)
    func writeAttachmentTags(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        let program = types[content.series.type]
        tags.writeMeta(known: head.constants.view(program.tagStart..<program.tagEnd), to: &writer)
    }

    private mutating func writeEncounter(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ writer: inout ByteWriter
    ) {
        guard let encounter = content.series.encounter, !encounter.isEmpty else { return }
        writer.append(head.constants.view(step.places))
        head.references.writeEncounter(encounter, &writer)
        writer.append("}")
    }

    // MARK: Series

    private mutating func writeOrigin(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let field = values.field(step.field, of: program)
        if let waveform = values.waveform(step, field) {
            return series.writeOrigin(waveform, content, head.times.span, &writer)
        }
        series.writeOrigin(field, content, program, head.times.span, &writer)
    }

    mutating func writeSeries(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) -> Int {
        let field = values.field(step.field, of: program)
        if let waveform = values.waveform(step, field) {
            return series.write(waveform, field.limits, content, head.times.span, &writer)
        }
        return series.write(field, content, program, head.times.span, &writer)
    }

    // MARK: What is not one Observation

    @inline(never)
    private mutating func writeResource(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        guard let resource = resources.resource(of: program) else { return }
        resources.write(resource, content, program, &head, &values, into: &writer)
    }

    @inline(never)
    private mutating func writeSummary(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        summaries.write(content, program, &head, into: &writer)
    }

    /// Makes the identity of `part` of the prepared summary the one that is written.
    mutating func takeIdentity(
        of part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram
    ) {
        summaries.takeIdentity(of: part, content, program, &head)
    }

    /// Writes the Observation of the prepared summary whose identity was taken last.
    mutating func write(
        _ part: GlucosePart, _ content: borrowing WindowContent, _ program: TypeProgram,
        references: ObservationReferences, into writer: inout ByteWriter
    ) {
        head.references.form = references
        summaries.write(part, content, program, &head, into: &writer)
    }
}
