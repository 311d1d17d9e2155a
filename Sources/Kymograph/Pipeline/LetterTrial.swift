import FoundationEssentials
import KymographCore
import KymographTemplates

/// Maps the bytes of dead letters without taking what comes of them: what would be rejected again stays a letter, and
/// is counted once.
package struct LetterTrial {
    let settings: PipelineSettings
    let set: MappingSet
    /// The types of the store's readings, by number.
    let types: [MeasurementType]
    /// The names of the sources of the store's readings, by number.
    let sources: [Int: String]
    /// What is paused.
    let pauses: [Pause]
    /// Whether a letter is mapped by the clock by which it came where its source names none.
    let followsClocks: Bool
    var pausedTypes: Set<String> { Set(pauses.filter { $0.kind == .type }.map(\.name)) }

    /// A trial with the mappings of `set`, which are those that `settings` names, of letters of a store with `types`
    /// and `sources`, while `pauses` are in force. By default it is of letters that are sent to sources as these are.
    init(
        _ settings: PipelineSettings, _ set: MappingSet, types: [MeasurementType],
        sources: [(name: String, number: Int)], pauses: [Pause], followsClocks: Bool = false
    ) {
        (self.settings, self.set, self.types, self.pauses) = (settings, set, types, pauses)
        self.sources = Dictionary(sources.map { ($0.number, $0.name) }) { first, _ in first }
        self.followsClocks = followsClocks
    }

    /// A trial with the mappings that `settings` names, of letters of the store of `reader`, for ``LetterReplay``.
    ///
    /// - Throws: ``PipelineError`` when they have errors, or the store cannot be read.
    package init(_ settings: PipelineSettings, _ reader: StoreReader) throws(PipelineError) {
        let types = try reader.types()
        let (sources, pauses) = try reader.read { (try Store.namedSources($0), try Pause.read($0)) }
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
        guard let set else {
            let text = diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors"
            throw PipelineError(message: text, exitCode: ExitStatus.config)
        }
        self.init(settings, set, types: types, sources: sources, pauses: pauses, followsClocks: true)
    }

    /// Why letters would be rejected again.
    package func refusals(_ letters: [StoredLetter]) -> [LetterRefusal] {
        letters.compactMap { letter in
            let again = reason(letter).map { "rejected again: \($0)" }
            let reason = again ?? contextObstacle(letter) ?? sourceObstacle(letter)
            return reason.map { LetterRefusal(letter.number, $0) }
        }
    }

    private func reason(_ letter: StoredLetter) -> String? {
        guard let bytes = letter.bytes else { return nil }
        if let reason = decidedReason(letter) { return reason }
        switch letter.kind {
        case "payload": return payloadReason(letter, bytes)
        case "measurement" where letter.reason == Rejection.noFHIRTemplate.name: return measurementReason(bytes)
        case "measurement" where letter.reason == Rejection.superseded.name: return supersededReason(bytes)
        default: return nil
        }
    }

    /// Whether what `letter` was rejected for is in what its payload gives now: where it names the type of a reading,
    /// one of that type is, and no other, which would be there while that reading is missing.
    func givesAll(_ letter: StoredLetter) -> Bool {
        guard letter.namesType, let bytes = letter.bytes else { return true }
        let collector = trial(letter, bytes)
        return (collector.readings + collector.retractions).count {
            letter.names(type: set.types[$0.identity.type].name)
        } == 1
    }

    private func payloadReason(_ letter: StoredLetter, _ bytes: [UInt8]) -> String? {
        if let reason = pauseReason(letter.source) { return reason }
        let collector = trial(letter, bytes)
        let again = collector.rejected.first { $0.0.name == letter.reason }
        guard let rejected = again ?? (collector.readings.isEmpty ? collector.rejected.first : nil) else { return nil }
        let detail = set.describe(rejected.2)
        return detail.isEmpty ? rejected.0.name : "\(rejected.0.name), \(detail)"
    }

    /// That the source `name` is paused, if it is.
    func pauseReason(_ name: String) -> String? {
        guard pauses.contains(where: { $0.kind == .source && $0.isNamed(name) }) else { return nil }
        return "sourcePaused, its source is paused: 'kymo resume' ends that"
    }

    /// Where it came from, if it is there; else what its bytes come by.
    func source(of letter: StoredLetter) -> PipelineSettings.Source {
        let known = settings.listeningSources.first { $0.isNamed(letter.source) }
        return known ?? PipelineSettings.Source(.standardInput(descriptor: -1))
    }

    /// What the payload gives now; or by what its source has said with `context`.
    func trial(
        _ letter: StoredLetter, _ bytes: [UInt8], by context: SourceContext? = nil
    ) -> PayloadPreview.Collector {
        let known = settings.listeningSources.first { $0.isNamed(letter.source) }
        let source = source(of: letter)
        let input = settings.laneInput(source, set: set)
        let bounds = PayloadBounds(admission(of: letter, by: source), mapping: letter.mappingName)
        let names = bounds.mappings(of: settings.mappings(of: source))
        var mapper = Mapper(set, templates: names.map { set.templates(of: $0) } ?? input.templates)
        var context = context ?? presentContext(of: letter)
        if let patient = bounds.owner?.patient { context.defaultPatient = patient }
        var collector = PayloadPreview.Collector(patients: settings.patientRules, lengthSlots: set.lengthSlots)
        collector.rules = settings.decider(ofSource: letter.source, types: set.types)
        collector.intake = IntakeLimits([source.intake], pausedTypes: pausedTypes, types: set.types)
        let storage = PaddedBytes(copying: bytes)
        if LetterReplay.hasLines(letter.source, known, settings), !bytes.contains(0x0A) {
            mapper.mapLine(storage.view, context: context, received: letter.at, output: &collector)
        } else {
            mapper.mapDatagram(storage.view, context: context, received: letter.at, output: &collector)
        }
        return collector
    }

    /// What the list of peers of `source` lets its sender bring; nil without one, or for a sender that it does not
    /// know.
    private func admission(of letter: StoredLetter, by source: PipelineSettings.Source) -> PeerAdmission? {
        let list = source.configuration.peers?.current(note: { _ in })
        return letter.peerName.flatMap { list?.peer(named: $0, device: letter.certifiedDevice)?.single }
    }

    private struct Members: Decodable {
        var type: String
        enum CodingKeys: String, CodingKey { case type = "Type" }
    }

    /// The number of the type of a reading that was mapped; nil where the mappings have none of that name.
    private func type(of members: Members) -> Int? { set.types.firstIndex { $0.name == members.type } }

    /// Of a reading whose place another has taken: it has it still, unless the type keeps both by now.
    private func supersededReason(_ bytes: [UInt8]) -> String? {
        if let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)),
            let type = type(of: members), set.types[type].sameInstant == .keep,
            let record = LetterRecord(letter: bytes)
        {
            let number = record.series.withByteView { SeriesKey.identity($0).type }
            let former = types.indices.contains(number) ? types[number] : set.types[type]
            if !JournalRecord.hasId(record.bytes, of: former) { return nil }
        }
        return "superseded, another reading has taken its place: discard the letter"
    }

    /// Of a reading that was mapped, and whose type had no FHIR template.
    private func measurementReason(_ bytes: [UInt8]) -> String? {
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)) else { return nil }
        guard type(of: members).flatMap({ set.fhirTemplates[$0] }) == nil else { return nil }
        return "no mapping has a FHIR template for the type '\(members.type)'"
    }
}

extension StoredLetter {
    /// Whether its details name the type of the reading that was rejected. What no template matches is of none.
    var namesType: Bool {
        reason != Rejection.noTemplate.name && ["mapping ", "type ", "rule "].contains { detail.hasPrefix($0) }
    }

    /// Whether its details name `type`.
    func names(type: String) -> Bool {
        let text = Array(detail.utf8)
        return text.ranges(of: Array("type \(type)".utf8)).contains { place in
            place.upperBound == text.endIndex || Array(",;".utf8).contains(text[place.upperBound])
        }
    }
}
