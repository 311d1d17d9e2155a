import Foundation
package import KymographCore

/// Mappings that are held against each other: many templates against one, JMESPath against JSONPath.
package enum MappingComparisons {
    /// The catalogue's mapping of HealthKitOnFhir messages.
    package static func healthKit() -> MappingSet { catalogue("healthkit-on-fhir") }

    /// A mapping of the catalogue, read from the project, whose device file `change` may change.
    private static func catalogue(_ name: String, change: (String) -> String = { $0 }) -> MappingSet {
        let folder = folder(name)
        do {
            let device = String(
                decoding: try Data(contentsOf: folder.appendingPathComponent("device.json")), as: UTF8.self)
            return Workload.load(
                device: Array(change(device).utf8),
                fhir: Array(try Data(contentsOf: folder.appendingPathComponent("fhir.json"))))
        } catch {
            fatalError("the catalogue cannot be read: \(error)")
        }
    }

    /// Where the project keeps a mapping of the catalogue.
    private static func folder(_ name: String) -> URL {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("mappings/\(name)")
    }

    /// A message of HL7 v2 with six readings of a monitor, from the examples of the catalogue.
    package static func monitorMessage() -> [UInt8] {
        let file = folder("pcd-01").appendingPathComponent("examples/monitor.in.hl7")
        guard let message = try? Data(contentsOf: file) else { fatalError("\(file.path) cannot be read") }
        return Array(message)
    }

    /// Maps messages of a monitor.
    package static func monitorMessages() -> MapStage {
        MapStage(messages: .copies(of: monitorMessage()), of: 6, catalogue("pcd-01"))
    }

    /// Maps heart rates that come as packets of the characteristic 2A37.
    package static func packets() -> MapStage {
        let set = catalogue("heart-rate-strap") { device in
            device.replacingOccurrences(of: "\"payload\": \"gatt\"", with: "\"payload\": \"gatt/2A37\"")
                .replacingOccurrences(of: "\"handles\": { \"0x0012\": \"2A37\" },", with: "")
        }
        return MapStage(packets: .heartRates(asPackets: true), set, received: Workload.received)
    }

    /// Maps the same heart rates as lines of the catalogue's own form.
    package static func packetsAsLines() -> MapStage {
        MapStage(.heartRates(asPackets: false), catalogue("reading"))
    }

    /// Maps heart-rate messages with all of the mapping's templates.
    package static func allTemplates() -> MapStage {
        let set = healthKit()
        return MapStage(.healthReadings(), set, templates: set.templates(of: ["workload"]))
    }

    /// Maps heart-rate messages with the one template that matches them.
    package static func oneTemplate() -> MapStage {
        let set = healthKit()
        let templates = set.templates(of: ["workload"]).filter { set.describe(template: $0).typeName == "heartRate" }
        return MapStage(.healthReadings(), set, templates: templates)
    }

    /// Maps heart-rate messages as the reference system does, with its quirks.
    package static func compatible() -> MapStage {
        MapStage(.healthReadings(), Workload.healthMappings(compatibility: .iomtFHIR))
    }

    /// Maps heart-rate messages with one template in `language`.
    package static func calculated(in language: ExpressionLanguage) -> MapStage {
        let isPath = language == .jsonPath
        let match = isPath ? "$..[?(@heartRate)]" : "to_array(Body)[?heartRate]"
        let token = isPath ? "$.matchedToken" : "matchedToken"
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"CalculatedContent","template":{
            "defaultExpressionLanguage":"\(language.rawValue)","typeName":"heartRate","typeMatchExpression":"\(match)",
            "deviceIdExpression":"\(token).deviceId","patientIdExpression":"\(token).patientId",
            "timestampExpression":"\(token).endDate",
            "values":[{"valueName":"rate","valueExpression":"\(token).heartRate","required":true}]}}]}
            """
        let set = Workload.load(device: Array(device.utf8), fhir: Array(Workload.heartRateTemplate.utf8))
        return MapStage(.healthReadings(), set)
    }
}
