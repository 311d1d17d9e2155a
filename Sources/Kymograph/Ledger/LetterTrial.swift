import Foundation
import KymographCore

/// Maps the bytes of dead letters without taking what comes of them: what would be rejected again stays a letter, and
/// is counted once.
public struct LetterTrial {
    private let settings: PipelineSettings
    private let set: MappingSet

    /// A trial with the mappings of `set`, which are those that `settings` names.
    init(_ settings: PipelineSettings, _ set: MappingSet) { (self.settings, self.set) = (settings, set) }

    /// A trial with the mappings that `settings` names.
    ///
    /// - Throws: ``PipelineError`` when they have errors.
    public init(_ settings: PipelineSettings) throws(PipelineError) {
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
        guard let set else {
            let text = diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors"
            throw PipelineError(message: text, exitCode: ExitStatus.config)
        }
        self.init(settings, set)
    }

    /// Why letters would be rejected again.
    public func refusals(_ letters: [StoredLetter]) -> [LetterRefusal] {
        letters.compactMap { letter in reason(letter).map { LetterRefusal(letter.number, "rejected again: \($0)") } }
    }

    private func reason(_ letter: StoredLetter) -> String? {
        guard let bytes = letter.bytes else { return nil }
        switch letter.kind {
        case "payload": return payloadReason(letter, bytes)
        case "measurement" where letter.reason == Rejection.noFHIRTemplate.name: return measurementReason(bytes)
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

    /// Of a reading that was mapped, and whose type had no FHIR template.
    private func measurementReason(_ bytes: [UInt8]) -> String? {
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)) else { return nil }
        let place = set.types.firstIndex { $0.name == members.type }
        guard place.flatMap({ set.fhirTemplates[$0] }) == nil else { return nil }
        return "no mapping has a FHIR template for the type '\(members.type)'"
    }
}
