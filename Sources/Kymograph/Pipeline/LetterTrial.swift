import FoundationEssentials
import KymographCore
import KymographTemplates

/// Maps the bytes of dead letters without taking what comes of them: what would be rejected again stays a letter, and
/// is counted once.
package struct LetterTrial {
    private let settings: PipelineSettings
    private let set: MappingSet
    /// The types of the store's readings, by number.
    private let types: [MeasurementType]

    /// A trial with the mappings of `set`, which are those that `settings` names, of letters of a store with `types`.
    init(_ settings: PipelineSettings, _ set: MappingSet, types: [MeasurementType]) {
        (self.settings, self.set, self.types) = (settings, set, types)
    }

    /// A trial with the mappings that `settings` names, of letters of a store with `types`.
    ///
    /// - Throws: ``PipelineError`` when they have errors.
    package init(_ settings: PipelineSettings, types: [MeasurementType]) throws(PipelineError) {
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
        guard let set else {
            let text = diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors"
            throw PipelineError(message: text, exitCode: ExitStatus.config)
        }
        self.init(settings, set, types: types)
    }

    /// Why letters would be rejected again.
    package func refusals(_ letters: [StoredLetter]) -> [LetterRefusal] {
        letters.compactMap { letter in reason(letter).map { LetterRefusal(letter.number, "rejected again: \($0)") } }
    }

    private func reason(_ letter: StoredLetter) -> String? {
        guard let bytes = letter.bytes else { return nil }
        switch letter.kind {
        case "payload": return payloadReason(letter, bytes)
        case "measurement" where letter.reason == Rejection.noFHIRTemplate.name: return measurementReason(bytes)
        case "measurement" where letter.reason == Rejection.superseded.name: return supersededReason(bytes)
        default: return nil
        }
    }

    private func payloadReason(_ letter: StoredLetter, _ bytes: [UInt8]) -> String? {
        let known = settings.listeningSources.first { $0.name == letter.source }
        let source = known ?? PipelineSettings.Source(.standardInput(descriptor: -1))
        let input = settings.laneInput(source, set: set)
        var mapper = Mapper(set, templates: input.templates)
        var collector = PayloadPreview.Collector()
        let storage = PaddedBytes(copying: bytes)
        if LetterReplay.hasLines(letter.source, known, settings), !bytes.contains(0x0A) {
            mapper.mapLine(storage.view, context: input.context, received: letter.at, output: &collector)
        } else {
            mapper.mapDatagram(storage.view, context: input.context, received: letter.at, output: &collector)
        }
        let again = collector.rejected.first { $0.0.name == letter.reason }
        guard let rejected = again ?? (collector.readings.isEmpty ? collector.rejected.first : nil) else { return nil }
        let detail = set.describe(rejected.2)
        return detail.isEmpty ? rejected.0.name : "\(rejected.0.name), \(detail)"
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
