import FoundationEssentials
@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// Payloads of devices: a letter for the mapping, and the payloads, one a line.
extension FuzzTarget {
    static let devices = [
        FuzzTarget(
            name: "gatt", longest: 512, run: { payloads($0, packetMappings) }, prepare: { _ = packetMappings }),
        FuzzTarget(
            name: "payload", longest: 2_048, run: { payloads($0, documentMappings) }, prepare: { _ = documentMappings }),
        FuzzTarget(
            name: "observation", longest: 2_048, run: observations, prepare: { _ = (allMappings, inFormerVersion) }),
        FuzzTarget(name: "capture", longest: 2_048, run: capture),
    ]

    /// Mappings of the catalogue whose payloads carry packets.
    private static let packetNames = [
        "binary-patch", "blood-pressure-cuff", "bluetooth-battery", "foot-pod", "glucose-meter", "glucose-sensor",
        "heart-rate-strap", "polar-h10", "pulse-oximeter", "thermometer", "weight-scale",
    ]
    private static let packetMappings = LoadedMapping.all { packetNames.contains($0) }
    private static let documentMappings = LoadedMapping.all { !packetNames.contains($0) }

    private static func payloads(_ bytes: [UInt8], _ mappings: [LoadedMapping]) {
        var input = FuzzInput(bytes)
        let mapping = input.choice(of: mappings)
        let isLine = input.choice(2) == 0
        let rest = input.rest
        let payloads = isLine ? rest.split(separator: 0x0A).map(Array.init) : [rest, rest]
        mapping.compare(payloads, isLine: isLine)
    }

    /// Payloads go all the way to resources, in the versions of FHIR that differ most.
    private static func observations(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let place = input.choice(allMappings.count)
        let mappings = input.choice(of: [allMappings, inFormerVersion])
        mappings[place].preview(input.rest)
    }

    private static let allMappings = documentMappings + packetMappings
    private static let inFormerVersion = allMappings.map { mapping in
        let former = MappingSelection.load([mapping.name], fhirVersion: .stu3).set
        return former.map { LoadedMapping(name: mapping.name, set: $0) } ?? mapping
    }

    // MARK: Captures

    /// Packets of a recording become frames that are JSON.
    private static func capture(_ bytes: [UInt8]) {
        let recorded = (try? SnoopCapture.packets(of: bytes)) ?? []
        let shown = TextCapture.packets(of: bytes)
        for packet in recorded + shown {
            let frame = packet.frame(device: "default", offsetMinutes: 60)
            demand((try? JSONTree(parsing: frame)) != nil, "no JSON: \(String(decoding: frame, as: UTF8.self))")
        }
    }
}

/// A mapping, and what it makes of payloads.
struct LoadedMapping: Sendable {
    let name: String
    let set: MappingSet

    /// Those of the catalogue that are wanted, by name.
    static func all(_ isWanted: (String) -> Bool) -> [LoadedMapping] {
        MappingCatalogue.names.filter(isWanted).sorted().compactMap { name in
            MappingSelection.load([name]).set.map { LoadedMapping(name: name, set: $0) }
        }
    }

    /// Maps `payloads` with a fast path and without, which must give the same.
    func compare(_ payloads: [[UInt8]], isLine: Bool) {
        let quick = outcomes(payloads, isLine: isLine, usesFastPath: true)
        let general = outcomes(payloads, isLine: isLine, usesFastPath: false)
        demand(quick == general, "\(name): with a fast path \(quick), without \(general)")
    }

    /// Maps `payload` all the way: what comes out is JSON.
    func preview(_ payload: [UInt8]) {
        let preview = PayloadPreview(
            payload: payload, set: set, templates: set.templates(of: [name]),
            context: SourceContext(defaultDevice: Array("default".utf8)), received: Instant(seconds: 4_102_444_800))
        for json in preview.measurements + preview.retractions + preview.observations + preview.resources {
            demand((try? JSONTree(parsing: json)) != nil, "\(name): no JSON: \(String(decoding: json, as: UTF8.self))")
        }
    }

    /// What comes of each payload: readings as JSON, and rejections with their bytes.
    private func outcomes(_ payloads: [[UInt8]], isLine: Bool, usesFastPath: Bool) -> [[String]] {
        var mapper = Mapper(set, templates: set.templates(of: [name]), usesFastPath: usesFastPath)
        let context = SourceContext(defaultDevice: Array("default".utf8))
        return payloads.map { payload in
            var collector = PayloadPreview.Collector()
            let storage = PaddedBytes(copying: payload)
            let received = Instant(seconds: 4_102_444_800)
            if isLine {
                mapper.mapLine(storage.view, context: context, received: received, output: &collector)
            } else {
                mapper.mapDatagram(storage.view, context: context, received: received, output: &collector)
            }
            let readings = collector.readings.map { String(decoding: $0.json(set), as: UTF8.self) }
            let retractions = collector.retractions.map { String(decoding: $0.json(set), as: UTF8.self) }
            return readings + retractions + collector.rejected.map { "\($0.0) \($0.1)" }
        }
    }
}
