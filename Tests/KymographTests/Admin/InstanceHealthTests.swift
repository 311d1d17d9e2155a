@testable import Kymograph
import Testing

/// When an instance is ready, and why it is not.
@Suite struct InstanceHealthTests {
    private func delivery(_ sink: String, up: Bool) -> (sink: String, summary: DeliverySummary) {
        var summary = DeliverySummary()
        (summary.circuit, summary.lastError) = (up ? "closed" : "open", "refused")
        return (sink, summary)
    }

    /// What is wrong after no sink has taken anything for `seconds`.
    private func obstacles(_ facts: InstanceFacts, downFor seconds: Int? = nil) -> [String] {
        let now = ContinuousClock.now
        return InstanceHealth(facts: facts, downSince: seconds.map { now - .seconds($0) }, now: now).obstacles
            .map(\.text)
    }

    @Test func eachObstacleIsNamed() {
        #expect(obstacles(InstanceFacts()) == [])
        #expect(obstacles(InstanceFacts(isStarting: true)).first?.hasPrefix("recovering") == true)
        #expect(obstacles(InstanceFacts(isStopping: true)).first?.hasPrefix("stopping") == true)
        #expect(obstacles(InstanceFacts(isStoreFull: true)).first?.hasPrefix("store full") == true)
        #expect(obstacles(InstanceFacts(failure: "the disk")) == ["failed: the disk"])
        #expect(obstacles(InstanceFacts(isStarting: true, isStoreFull: true)).count == 2)
    }

    @Test func sinksMayBeDownForAMinute() {
        let facts = InstanceFacts(deliveries: [delivery("server", up: false)])
        #expect(obstacles(facts, downFor: 60 - 1) == [] && obstacles(facts) == [])
        #expect(obstacles(facts, downFor: 61) == ["all sinks down for more than 60 s: server (open)"])
    }

    @Test func oneSinkThatTakesIsEnough() {
        let (up, down) = (delivery("a", up: true), delivery("b", up: false))
        #expect(InstanceFacts(deliveries: [down, down]).areAllSinksDown)
        #expect(!InstanceFacts(deliveries: [up, down]).areAllSinksDown)
        #expect(!InstanceFacts().areAllSinksDown)
        var facts = InstanceFacts(deliveries: [down])
        facts.run.outputs = [.init(name: "files out", isUp: true)]
        #expect(!facts.areAllSinksDown)
        facts.run.outputs[0].isUp = false
        #expect(facts.areAllSinksDown)
        let text = "all sinks down for more than 60 s: files out (cannot be written to, see the log), b (open)"
        #expect(obstacles(facts, downFor: 61) == [text])
        facts.deliveries = [up]
        #expect(!facts.areAllSinksDown)
    }
}
