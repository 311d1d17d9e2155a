@testable import Kymograph
import KymographCore
import Testing

/// What rules have decided, and which tags readings got: by name, of which metrics have only so many.
@Suite struct RuleCountsTests {
    /// Tags beyond the first 32 are `other`; those that were named stay named, and nothing is lost.
    @Test func tagsBeyondTheLimitAreTogether() {
        let counts = RuleCounts()
        for round in 1...2 {
            for number in 0..<40 {
                counts.tagged(round, with: ReadingTags.list(["urn:study|t\(number + 10)", "urn:all|every"]))
            }
        }
        let tagged = counts.facts.tagged
        #expect(tagged.count == 33 && tagged.map(\.name) == tagged.map(\.name).sorted())
        #expect(tagged.first { $0.name == "urn:all|every" }?.count == 120)
        // The first 31 of the others have names.
        #expect(tagged.filter { $0.name.hasPrefix("urn:study|") }.map(\.count) == Array(repeating: 3, count: 31))
        #expect(tagged.first { $0.name == "other" }?.count == 27)
        var run = PipelineSummary()
        run.rules = counts.facts
        let text = PrometheusText.text(CounterTable.samples(CounterInput(run: run)))
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("kymo_tag_readings_total{") }
        #expect(lines.count == 33 && lines.contains(#"kymo_tag_readings_total{tag="other"} 27"#), "\(lines)")
    }

    /// The same of rules, of which there may be 256 of each kind over reloads.
    @Test func rulesBeyondTheLimitAreTogether() {
        let counts = RuleCounts()
        for number in Array(0..<300) + [0] {
            let name = "r\(number + 1_000)"
            counts.refused(by: name)
            counts.rewrote(1, by: name)
            counts.ruled(1, by: name)
        }
        let facts = counts.facts
        for kind in [facts.refused, facts.rewritten, facts.entries] {
            #expect(kind.count == 257 && kind.map(\.count).reduce(0, +) == 301)
            #expect(kind.first { $0.name == "r1000" }?.count == 2)
            #expect(kind.first { $0.name == "other" }?.count == 44)
        }
    }
}
