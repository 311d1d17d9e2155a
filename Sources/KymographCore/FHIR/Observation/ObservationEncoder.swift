/// Writes Observations from window contents, straight to bytes.
///
/// Templates are compiled before, into ``ObservationPrograms``; a warmed-up encoder allocates nothing per Observation.
/// Output is FHIR JSON
/// of the version that the options say, minified, without narrative. The shape of Observations is decided by
/// ``ProgramCompiler`` alone: other shapes are other compilations of the same steps, not branches in the writing.
///
/// What only reads is mutating as well where it is called while an Observation is written: the compiler lends a call
/// that only reads a copy of all 2 KiB of a noncopyable struct that is being changed (Swift 6.3).
package struct ObservationEncoder: ~Copyable, Sendable {
    private let compile: ObservationPrograms.Compiler
    let options: ObservationOptions
    let digest: Digest256
    let systems: IdentifierSystems
    /// Systems of types that have the reference's identities.
    let referenceSystems: IdentifierSystems
    private let logical: LogicalReferences
    private let referenceLogical: LogicalReferences
    /// What the entries of Patients and Devices have in common.
    let entries: ResourceEntries
    let resources: RawArray<ResourceProgram>
    let resourceSteps: RawArray<ResourceStep>
    let summaries: RawArray<GlucoseSummaryProgram>
    /// The figures of the prepared summary.
    var glucose = GlucoseFigures()
    /// Members of the resource that is being written, the innermost last.
    var frames = RawArray<ResourceFrame>(capacity: ResourceNode.mostLevels)
    /// Whether a resource was written that is no Observation; reset by whoever counts them.
    var wroteResource = false
    let constants: ByteWriter
    let steps: RawArray<ProgramStep>
    let fields: RawArray<ProgramField>
    let types: RawArray<TypeProgram>
    let tables: ProgramTables
    var figures: WindowFigures
    var facts = RawArray<FieldFacts>()
    /// What was left open in the resource that is being written.
    var holes = EntryHoles()
    /// `system_value`, whose digest is the id.
    private var identity = ByteWriter(capacity: 256)
    var span = EffectiveSpan.none
    var times = TimeTexts()
    /// Digests of the prepared content's Patient and Device, where it has the reference's identity.
    private(set) var resourceDigests = ResourceDigests()
    /// Whether the prepared content has the reference's shape and identity.
    var isReference = false
    /// Where the identifier's value starts in `identity`.
    private var identityStart = 0
    /// Where the whole text of a long identity is; empty when the identity is written as it is.
    private var wholeIdentity = 0..<0
    /// The series whose origin was just written.
    var compactForm: SeriesForm?
    /// The scale of the waveform whose origin was just written.
    var compactScale: SeriesScale?
    /// What the prepared content's Observation does not say.
    package internal(set) var losses = ObservationLosses()
    /// Digest of the prepared content's identity.
    private(set) var identityDigest = Digest256.Bytes(repeating: 0)

    /// Writes by `programs`. `compile` makes programs for newer templates.
    package init(
        _ programs: consuming ObservationPrograms, options: ObservationOptions, digest: Digest256,
        compile: @escaping ObservationPrograms.Compiler
    ) {
        self.compile = compile
        constants = programs.constants
        steps = programs.steps
        fields = programs.fields
        types = programs.types
        resources = programs.resources
        resourceSteps = programs.resourceSteps
        summaries = programs.summaries
        figures = WindowFigures(count: programs.tables.figures.count)
        tables = programs.tables
        self.options = options
        self.digest = digest
        systems = IdentifierSystems(options)
        logical = LogicalReferences(systems, digest)
        referenceSystems = .reference(options)
        referenceLogical = LogicalReferences(referenceSystems, nil)
        entries = ResourceEntries(own: systems, reference: referenceSystems)
    }

    /// An encoder with the same options for other templates.
    func encoder(types: [MeasurementType], templates: [FHIRTemplate?]) -> ObservationEncoder {
        ObservationEncoder(compile(types, templates, options), options: options, digest: digest, compile: compile)
    }

    /// Appends the Observation of `content`, which has at least one reading, to `writer`, with references by
    /// identifier; nothing when skipped.
    package mutating func encode(_ content: borrowing WindowContent, into writer: inout ByteWriter) -> EncodeOutcome {
        if let rejection = prepare(content) { return .skipped(rejection) }
        return .written(condensedValues: write(content, references: .byIdentifier, into: &writer))
    }

    /// Surveys `content` and digests its identity; gives the reason when there is nothing to write.
    mutating func prepare(_ content: borrowing WindowContent) -> Rejection? {
        let program = types[content.series.type]
        guard program.hasTemplate else { return prepareResource(content, program) }
        isReference = program.isCompatible
        if content.status == .enteredInError { return prepareEmpty(content, program) }
        guard content.readings.count > 0 else { return .missingValue }
        span = EffectiveSpan(content, program)
        facts.removeAll()
        losses = ObservationLosses()
        var hasValue = false
        var loss: Rejection?
        for index in program.fieldStart..<program.fieldEnd {
            let field = fields[index]
            var found = FieldFacts.survey(field, content)
            if field.isExtended { extend(&found, field, content) }
            if field.hasSeries { checkSeries(&found, field) }
            if found.isImpaired { note(found) }
            loss = loss ?? found.loss
            found.settle()
            facts.append(found)
            let isThere = found.loss == nil && (found.count > 0 || found.reason >= 0)
            hasValue = hasValue || (isThere && !field.extras.isNote)
        }
        // The reference gives up where a value cannot be written, and writes Observations without any (quirk 17).
        if program.isCompatible, let loss { return loss }
        guard hasValue || program.isCompatible else { return loss ?? .missingValue }
        digestIdentity(content, program)
        return nil
    }

    /// Prepares to say of an Observation without readings that it was an error.
    @inline(never)
    private mutating func prepareEmpty(
        _ content: borrowing WindowContent, _ program: TypeProgram
    ) -> Rejection? {
        (span, losses) = (EffectiveSpan(window: content, program), ObservationLosses())
        facts.removeAll()
        for _ in program.fieldStart..<program.fieldEnd { facts.append(FieldFacts()) }
        digestIdentity(content, program)
        return nil
    }

    /// A series with more samples than one may have cannot be written.
    @inline(__always)
    private func checkSeries(_ found: inout FieldFacts, _ field: ProgramField) {
        guard found.count > 0, !found.hasArrays, !SeriesPlan.fits(period: field.period, span: span.length) else {
            return
        }
        if field.kind == .statistics { found.losesSeries = found.count > 1 } else { found.lose(.valueTooLong) }
    }

    private mutating func note(_ found: FieldFacts) {
        losses.passedOver += found.passedOver
        losses.unwritten += (found.loss == nil ? 0 : 1) + (found.losesSeries ? 1 : 0)
    }

    private mutating func digestIdentity(_ content: borrowing WindowContent, _ program: TypeProgram) {
        let name = constants.view(program.nameStart..<program.nameEnd)
        if program.isCompatible {
            digestResources(content)
            startIdentity(referenceSystems.observation.plain)
            identity.appendReferenceIdentity(
                content, program, name: name, resources: resourceDigests, times: &times)
        } else {
            startIdentity(systems.observation.plain)
            identity.appendIdentity(content, program, name: name, times: &times)
        }
        endIdentity()
    }

    /// Digests the identity of a resource that is no Observation.
    @inline(never)
    mutating func digestIdentity(
        of resource: ResourceProgram, _ content: borrowing WindowContent, _ program: TypeProgram
    ) {
        if resource.identity == .device {
            startIdentity(ownSystems.device.plain)
            identity.append(content.series.device)
        } else {
            startIdentity(systems.resource.plain)
            let name = constants.view(program.nameStart..<program.nameEnd)
            identity.appendIdentity(content, program, name: name, times: &times)
        }
        endIdentity()
    }

    /// Digests the identity that an Observation called `name` has, which is among the constants.
    @inline(never)
    mutating func digestIdentity(
        _ content: borrowing WindowContent, _ program: TypeProgram, name: TableRange
    ) {
        startIdentity(ownSystems.observation.plain)
        identity.appendIdentity(content, program, name: constants.view(name.places), times: &times)
        endIdentity()
    }

    @inline(__always)
    private mutating func startIdentity(_ system: [UInt8]) {
        identity.removeAll()
        identity.append(system)
        identity.append(UInt8(ascii: "_"))
        identityStart = identity.count
        wholeIdentity = 0..<0
    }

    @inline(__always)
    private mutating func endIdentity() {
        identityDigest = digest.of(identity.view)
        if !isReference, LongIdentifier.isLong(identityValue) { shortenIdentity() }
    }

    @inline(never)
    private mutating func shortenIdentity() {
        let whole = identityStart..<identity.count
        var short = ByteWriter(capacity: 80)
        short.appendDigest(of: identity.view(whole), digest)
        identityStart = identity.count
        identity.append(short.view)
        wholeIdentity = whole
    }

    @inline(never)
    private mutating func digestResources(_ content: borrowing WindowContent) {
        let subject = referenceSystems.subject(of: content.series)
        resourceDigests.subject = digest.ofIdentifier(subject.system.plain, subject.value, scratch: &identity)
        let device = referenceSystems.device(of: content.series)
        resourceDigests.device = digest.ofIdentifier(device.system.plain, device.value, scratch: &identity)
    }

    /// The identifier's value of the prepared content; what stands for it when it is long (``LongIdentifier``).
    var identityValue: ByteView {
        identity.view(identityStart..<identity.count)
    }

    /// The whole of a long identity; empty when ``identityValue`` is that.
    var wholeIdentityValue: ByteView { identity.view(wholeIdentity) }

    /// Writes ``identityValue`` within quotes, and behind what stands for a long one the whole.
    @inline(__always)
    func appendIdentityValue(to writer: inout ByteWriter) {
        writer.appendJSON(identityValue)
        if !wholeIdentity.isEmpty { writer.appendFullIdentifier(identity.view(wholeIdentity)) }
    }

    /// Writes the prepared `content`; gives the number of condensed readings.
    mutating func write(
        _ content: borrowing WindowContent, references: ObservationReferences, into writer: inout ByteWriter
    ) -> Int {
        let program = types[content.series.type]
        var condensed = 0
        var hasComponents = false
        for index in program.stepStart..<program.stepEnd {
            let step = steps[index]
            guard step.condition == .always || facts[Int(step.field)].satisfies(step.condition) else { continue }
            switch step.code {
            case .literal: writer.append(padded: constants.view(Int(step.start)..<Int(step.end)))
            case .component:
                hasComponents ? writer.append(",") : writer.append(",\"component\":[")
                hasComponents = true
                writer.append(padded: constants.view(Int(step.start)..<Int(step.end)))
            case .endComponents: if hasComponents { writer.append("]") }
            case .id: writeID(options.writesID, references, &writer)
            case .identifier: appendIdentityValue(to: &writer)
            case .status: writer.append(content.status.code)
            case .subject, .device, .encounter: writeReference(step, content, references, &writer)
            case .effective: writeEffective(content, program, &writer)
            case .result, .minimum, .maximum, .count, .text: writeValue(step, content, program, &writer)
            case .origin: writeOrigin(step, content, program, &writer)
            case .comparator, .second, .boolean, .yesNo, .time, .period, .range, .reason, .interpretation, .figure,
                .issued:
                writeFurther(step, content, program, &writer)
            case .series: condensed += writeSeries(step, content, program, &writer)
            case .referenceIssued: writeReferenceIssued(content, &writer)
            case .gateway: writeGateway(references, &writer)
            case .guideStatus: writeGuideStatus(content, &writer)
            case .guideIdentifier:
                writeGuideIdentifier(content, code: constants.view(Int(step.start)..<Int(step.end)), &writer)
            case .resource: writeResource(content, program, references: references, into: &writer)
            case .summary: writeSummary(content, program, references: references, into: &writer)
            }
        }
        return condensed
    }

    // MARK: Holes

    private mutating func writeReference(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ references: ObservationReferences,
        _ writer: inout ByteWriter
    ) {
        switch step.code {
        case .subject: writeSubject(of: content.series, references, &writer)
        case .device: writeDevice(of: content.series, references, &writer)
        default:
            guard let encounter = content.series.encounter, !encounter.isEmpty else { return }
            writer.append(constants.view(Int(step.start)..<Int(step.end)))
            writeEncounter(encounter, references, &writer)
            writer.append("}")
        }
    }

    /// Writes the member `id`, if the resource `hasID`, with a comma before it; or leaves room for it.
    @inline(__always)
    mutating func writeID(_ hasID: Bool, _ references: ObservationReferences, _ writer: inout ByteWriter) {
        if references == .left { return holes.leaveID(at: writer.count) }
        guard hasID else { return }
        writer.append(",\"id\":\"")
        writer.appendHex(identityDigest)
        writer.append("\"")
    }

    /// Writes the members of a Reference to whom the readings of `series` are about.
    @inline(__always)
    mutating func writeSubject(
        of series: borrowing SeriesIdentity, _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        if references == .left { return holes.leave(.patient, at: writer.count) }
        isReference
            ? referenceLogical.appendSubject(of: series, to: &writer)
            : logical.appendSubject(of: series, to: &writer)
    }

    /// As ``writeSubject(of:_:_:)``, to what took them.
    @inline(__always)
    mutating func writeDevice(
        of series: borrowing SeriesIdentity, _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        if references == .left { return holes.leave(.device, at: writer.count) }
        isReference
            ? referenceLogical.appendDevice(of: series, to: &writer)
            : logical.appendDevice(of: series, to: &writer)
    }

    /// As ``writeSubject(of:_:_:)``, to an encounter.
    @inline(__always)
    mutating func writeEncounter(
        _ encounter: [UInt8], _ references: ObservationReferences, _ writer: inout ByteWriter
    ) {
        if references == .left { return holes.leave(.encounter, at: writer.count) }
        isReference
            ? referenceLogical.appendEncounter(encounter, to: &writer)
            : logical.appendEncounter(encounter, to: &writer)
    }

    private mutating func writeEffective(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        if program.isCompatible { return writeReferencePeriod(&writer) }
        if program.effectiveForm != .automatic { return writeStatedEffective(content, program, &writer) }
        let form = timeForm(content, program)
        if program.coversWindow && span.start != span.end && form == .unknown { return writeWindow(&writer) }
        if span.start != span.end || program.needsPeriod { return writePeriod(form, &writer) }
        writer.append("\"effectiveDateTime\":\"")
        writeTime(span.end, form, &writer)
        writer.append("\"")
    }

    /// How the times of the readings were written. The bounds of a window have no digits of their own.
    func timeForm(_ content: borrowing WindowContent, _ program: TypeProgram) -> TimeForm {
        program.coversWindow && span.start != span.end
            ? TimeForm(offsetMinutes: content.readings.commonOffset) : content.readings.commonTimeForm
    }

    /// Writes the span as effectivePeriod.
    mutating func writePeriod(_ form: TimeForm, _ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        writeTime(span.start, form, &writer)
        writer.append("\",\"end\":\"")
        writeTime(span.end, form, &writer)
        writer.append("\"}")
    }

    /// Writes a point in time, ``ObservationOptions/timePrecision`` exact, as its source wrote it.
    mutating func writeTime(_ instant: Instant, _ form: TimeForm, _ writer: inout ByteWriter) {
        writer.append(options.timePrecision.cut(instant), options.timePrecision.cut(form))
    }

    /// Writes the bounds of the window, which all series share.
    @inline(__always)
    mutating func writeWindow(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        times.append(options.timePrecision.cut(span.start), .dateTime, to: &writer)
        writer.append("\",\"end\":\"")
        times.append(options.timePrecision.cut(span.end), .dateTime, to: &writer)
        writer.append("\"}")
    }

    private mutating func writeValue(
        _ step: ProgramStep, _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let facts = self.facts[Int(step.field)]
        let slot = Int(fields[program.fieldStart + Int(step.field)].slot)
        switch step.code {
        case .count: writer.append(digits: UInt64(facts.count))
        case .minimum: if let number = content.number(facts.least, slot: slot) { writer.append(number) }
        case .maximum: if let number = content.number(facts.greatest, slot: slot) { writer.append(number) }
        case .text:
            guard let text = content.text(facts.last, slot: slot) else { return writer.append(facts.result) }
            writer.appendJSON(text)
        default: writer.append(facts.result)
        }
    }
}
