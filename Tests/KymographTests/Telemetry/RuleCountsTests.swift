@testable import Kymograph
import KymographCore
import KymographTestKit
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

    /// Catches: a sender whose labels take the places of the tags that an operator has named.
    @Test func tagsOfSettingsHaveTheirPlaces() throws {
        let scratch = Scratch()
        let file = scratch.file("rules.yaml")
        let constants = (0..<20).map { "c\($0 + 10)" }
        Files.write(
            file,
            Array(
                """
                rules:
                  - {name: a, then: rewrite, tag: [\(constants[0..<8].joined(separator: ", "))]}
                  - {name: b, then: rewrite, tag: [{from: deviceId}]}

                """.utf8))
        var settings = PipelineSettings()
        settings.rules = try RulesFile.open(file)
        var source = PipelineSettings.Source(.udp(host: "127.0.0.1", port: 5_000))
        source.tags = Array(constants[8...])
        for (tags, named) in [(source.tags, 12), ([], 16)] {
            let counts = RuleCounts()
            source.tags = tags
            settings.sources = [source]
            counts.expect(tagsOf: settings)
            for number in 0..<40 { counts.tagged(1, with: ReadingTags.list(["label\(number + 10)"])) }
            let ours = Array(constants[0..<8]) + tags
            for tag in ours { counts.tagged(5, with: ReadingTags.list([tag])) }
            let tagged = counts.facts.tagged
            #expect(tagged.filter { $0.name.hasPrefix("label") }.count == named)
            #expect(tagged.filter { $0.count == 5 }.map(\.name) == ours)
            #expect(tagged.first { $0.name == "other" }?.count == 40 - named)
        }
    }

    /// A reload that brings constants has places for them; what has a name keeps it.
    @Test func tagsOfAReload() throws {
        let scratch = Scratch()
        let file = scratch.file("rules.yaml")
        let counts = RuleCounts()
        var settings = PipelineSettings()
        for (round, tag) in ["{from: deviceId}", "[new, {from: deviceId}]", "new"].enumerated() {
            Files.write(file, Array("rules:\n  - {name: a, then: rewrite, tag: \(tag)}\n".utf8))
            settings.rules = try RulesFile.open(file)
            counts.expect(tagsOf: settings)
            for number in 0..<20 { counts.tagged(1, with: ReadingTags.list(["label\(number + 10)"])) }
            if round > 0 { counts.tagged(1, with: ReadingTags.list(["new"])) }
        }
        // Without tags that senders choose, all have a name while there is room.
        let tagged = counts.facts.tagged
        #expect(tagged.filter { $0.count == 3 }.count == 16 && tagged.filter { $0.name == "new" }.map(\.count) == [2])
        #expect(tagged.first { $0.name == "other" }?.count == 8 && tagged.count == 16 + 4 + 2)
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
