package import KymographCore
import KymographTemplates

/// The mapping and the times of the workload.
package enum Workload {
    /// First event time, in milliseconds: 2026-01-01T00:00:00Z.
    static let start: UInt64 = 1_767_225_600_000
    /// A device of the workload sends a reading every 3.6 s on average.
    static let millisecondsPerDeviceReading: UInt64 = 3_600
    /// A receive time that is behind all event times.
    package static let received = Instant(nanoseconds: Int64(start) * 1_000_000 + 86_400_000_000_000)

    /// The folder `workload/`, loaded.
    package static func mappings() -> MappingSet {
        load(device: PackageResources.device_json, fhir: PackageResources.fhir_json)
    }

    /// The same with windows of `period` in place of five minutes.
    static func mappings(period: String) -> MappingSet {
        let fhir = String(decoding: PackageResources.fhir_json, as: UTF8.self)
            .replacing("\"period\": \"5m\"", with: "\"period\": \"\(period)\"")
        return load(device: PackageResources.device_json, fhir: Array(fhir.utf8))
    }

    /// A mapping for ``LinePool/healthReadings(count:)``: the four fields that the rivals read.
    package static func healthMappings(compatibility: Compatibility = .none) -> MappingSet {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"heartRate","typeMatchExpression":"$..[?(@heartRate)]","deviceIdExpression":"$.deviceId",
            "patientIdExpression":"$.patientId","timestampExpression":"$.endDate",
            "values":[{"valueName":"rate","valueExpression":"$.heartRate","required":true}]}}]}
            """
        return load(device: Array(device.utf8), fhir: Array(heartRateTemplate.utf8), compatibility: compatibility)
    }

    static let heartRateTemplate = """
        {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
        "typeName":"heartRate","codes":[{"system":"http://loinc.org","code":"8867-4"}],
        "value":{"valueType":"Statistics","valueName":"rate","unit":"beats/min","code":"/min"}}}]}
        """

    static func load(device: [UInt8], fhir: [UInt8], compatibility: Compatibility = .none) -> MappingSet {
        let mapping = NamedMapping(
            name: "workload", device: MappingFile(name: "device.json", bytes: device),
            fhir: MappingFile(name: "fhir.json", bytes: fhir), compatibility: compatibility)
        let result = MappingLoader.load([mapping])
        guard let set = result.set else { fatalError("the workload's mapping is wrong: \(result.diagnostics)") }
        return set
    }

    /// Stands in for SHA-256, which the product's owner hands in from its crypto library: a cheap mix, so that what is
    /// measured is this project's work and the same on every processor.
    package static let digest = Digest256 { message, bytes in
        var mixed: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<message.count { mixed = (mixed ^ UInt64(message[index])) &* 0x0100_0000_01B3 }
        for index in 0..<32 { bytes[index] = UInt8(truncatingIfNeeded: mixed >> UInt64(index % 8 * 8)) }
    }

    /// A writer of entries for `set`, for bundles or lines.
    package static func entries(_ set: MappingSet, _ format: ObservationOptions.Format = .bundle) -> EntryWriter {
        var options = ObservationOptions()
        options.format = format
        return EntryWriter(
            ObservationEncoder(types: set.types, templates: set.fhirTemplates, options: options, digest: digest))
    }
}
