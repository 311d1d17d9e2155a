import KymographCore
import KymographTemplates
import Testing

/// Windows whose readings have all moved to other times, in every shape of Observation: what was sent is retracted, and
/// nothing is looked for in the first reading, which is not there.
@Suite struct EmptiedWindowTests {
    private static func emptied(hour: Bool = false) -> TestWindow {
        var window = hour ? GlucoseTrial.window([]) : TestWindow()
        window.status = .enteredInError
        return window
    }

    private func retracts(_ node: JSONNode) {
        #expect(node.text("status") == "entered-in-error" && node["valueQuantity"] == nil && node["component"] == nil)
        #expect(node.text("effectivePeriod.start")?.hasPrefix("2024-05-01T10:00:00") == true)
        #expect(node["issued"] == nil && node["subject"] != nil)
    }

    @Test(arguments: Compatibility.allCases, [false, true])
    func observations(compatibility: Compatibility, withIssued: Bool) throws {
        let body =
            withIssued
            ? TestTemplates.heartRate.replacing("\"typeName\"", with: "\"issued\":true,\"typeName\"")
            : TestTemplates.heartRate
        var pipeline = try TestPipeline(body)
        for index in pipeline.types.indices { pipeline.types[index].compatibility = compatibility }
        let node = try pipeline.observation(Self.emptied())
        retracts(node)
        // Or else a vital sign is not valid.
        let reason = node.text("dataAbsentReason.coding.0.code")
        #expect(reason == (compatibility == .none ? "unknown" : nil))
    }

    @Test func observationsOfTheGuide() throws {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        (pipeline.options.profile, pipeline.options.gateway) = (.phd, "FE-ED-AB-EE-DE-AD-77-C3")
        retracts(try pipeline.observation(Self.emptied()))
    }

    /// Each member, under the identity that it was sent with.
    @Test func summariesOfGlucose() throws {
        let trial = try GlucoseTrial("mg/dL")
        let before = try trial.observations(GlucoseTrial.window(["100", "120"]))
        let after = try trial.observations(Self.emptied(hour: true))
        #expect(before.keys == after.keys)
        for (code, node) in after {
            retracts(node)
            #expect(node.text("id") == before[code]?.text("id"))
            let isPanel = node["hasMember"] != nil
            #expect(isPanel || node.text("dataAbsentReason.coding.0.code") == "unknown")
        }
    }

    /// Figures of the window before are not written.
    @Test func aSummaryAfterAnother() throws {
        let trial = try GlucoseTrial("mg/dL")
        var writer = trial.pipeline.writer()
        let full = GlucoseTrial.window(["100", "120"], hour: 1)
        let empty = Self.emptied(hour: true)
        #expect(full.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(empty.withContent { writer.add($0) } == .added(condensedValues: 0))
        let entries = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        let retracted = entries.compactMap { $0["resource"] }.filter { $0.text("status") == "entered-in-error" }
        #expect(retracted.count == 7)
        for node in retracted { retracts(node) }
    }
}
