import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

@testable import KymographCore

/// Patients and Devices of bundle after bundle: kept records change nothing.
@Suite struct PartyTableTests {
    /// One writer and one assembler for all bundles give what new ones give for each: with identifiers too long to be
    /// written as they are, a Device that is the gateway, a Patient with the name of a Device, and types of the
    /// reference system, which write identifiers otherwise.
    @Test(arguments: Trials.seeds(20)) func bundlesDoNotDependOnThoseBefore(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var pipeline = try TestPipeline(
            TestTemplates.heartRate, TestTemplates.heartRate.replacing("heartRate", with: "pulse"))
        pipeline.types[1].compatibility = .iomtFHIR
        pipeline.options.bundleType = .allCases.randomElement(using: &generator) ?? .batch
        pipeline.options.write = .allCases.randomElement(using: &generator) ?? .putByID
        pipeline.options.profile = Bool.random(using: &generator) ? .phd : .none
        // As one system, the gateway's Device has the key of a device.
        pipeline.options.gateway = "a"
        pipeline.options.gatewaySystem = pipeline.options.deviceSystem
        // The reference system's Patients have no system.
        if Bool.random(using: &generator) { pipeline.options.patientSystem = "" }
        let names = ["a", "b", "c", String(repeating: "long", count: 40)]
        var lasting = pipeline.writer()
        for bundle in 0..<30 {
            var fresh = pipeline.writer()
            for minute in 0..<Int.random(in: 1...4, using: &generator) {
                let window = window(
                    device: names.randomElement(using: &generator) ?? "a",
                    patient: Bool.random(using: &generator) ? names.randomElement(using: &generator) : nil,
                    type: Int.random(in: 0...1, using: &generator), minute: minute)
                #expect(window.withContent { lasting.add($0) } == window.withContent { fresh.add($0) })
            }
            let (text, expected) = (lasting.finish().string, fresh.finish().string)
            #expect(text == expected, "seed \(seed), bundle \(bundle)")
            lasting.reset()
        }
    }

    /// What an Observation says of its Patient and Device does not depend on the types that were before it: a long
    /// identifier is written by the reference's types as it is, and by others as a digest.
    @Test(arguments: ObservationOptions.BundleType.allCases, ObservationOptions.Format.allCases)
    func identifiersDoNotDependOnTheOrder(
        type: ObservationOptions.BundleType, format: ObservationOptions.Format
    ) throws {
        var pipeline = try TestPipeline(
            TestTemplates.heartRate, TestTemplates.heartRate.replacing("heartRate", with: "pulse"))
        pipeline.types[1].compatibility = .iomtFHIR
        (pipeline.options.bundleType, pipeline.options.format) = (type, format)
        let device = String(repeating: "long", count: 40)
        func resources(_ types: [Int]) throws -> [String] {
            var writer = pipeline.writer()
            for type in types {
                let window = window(device: device, patient: nil, type: type, minute: 0)
                #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
            }
            return try PartyTableTests.described(writer.finish().string, format)
        }
        let (one, other) = (try resources([0]), try resources([1]))
        #expect(one != other)
        #expect(try resources([0, 1]).sorted() == (one + other).sorted())
        #expect(try resources([1, 0]).sorted() == (one + other).sorted())
    }

    /// Observations with the identifiers of their Patients and Devices, those that bundles refer to included.
    private static func described(_ text: String, _ format: ObservationOptions.Format) throws -> [String] {
        let lines = try text.split(separator: "\n").map { try TextJSON.parse(String($0)) }
        guard format == .bundle else { return lines.map { described($0, [:]) } }
        let entries = lines.flatMap { $0["entry"]?.elements ?? [] }
        var identifiers: [String: String] = [:]
        for entry in entries { identifiers[entry.text("fullUrl") ?? ""] = identifier(entry["resource"]) }
        return entries.compactMap { $0["resource"] }.filter { $0.text("resourceType") == "Observation" }
            .map { described($0, identifiers) }
    }

    private static func described(_ observation: JSONNode, _ identifiers: [String: String]) -> String {
        let parties = ["subject", "device"].map { name in
            observation.text("\(name).identifier.value")
                ?? observation.text("\(name).reference").flatMap { identifiers[$0] } ?? "none"
        }
        return "\(observation.text("code.coding.0.code") ?? "") \(identifier(observation)) \(parties)"
    }

    private static func identifier(_ resource: JSONNode?) -> String { resource?.text("identifier.0.value") ?? "none" }

    /// Beyond what is kept, bundles are the same still.
    @Test func whatIsForgottenIsWrittenAnew() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var lasting = pipeline.writer()
        for number in 0..<8_000 {
            let window = window(device: "device-\(number % 4_000)", patient: nil, type: 0, minute: 0)
            #expect(window.withContent { lasting.add($0) } == .added(condensedValues: 0))
            if number % 500 == 0 {
                var fresh = pipeline.writer()
                _ = window.withContent { fresh.add($0) }
                let (text, expected) = (lasting.finish().string, fresh.finish().string)
                #expect(text == expected, "\(number)")
            }
            lasting.reset()
        }
    }

    private func window(device: String, patient: String?, type: Int, minute: Int) -> TestWindow {
        let start = TestWindow.tenOClock + Int64(minute) * 60 * TestWindow.second
        var window = TestWindow(device: device, patient: patient, type: type, start: start)
        window.add(0, [0: "60"])
        return window
    }
}
