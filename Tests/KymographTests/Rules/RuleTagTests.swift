@testable import Kymograph
@testable import KymographCore
import KymographTemplates
import KymographTestKit
import Testing

/// `tag` of rules for readings, as files have it.
@Suite struct RuleTagTests {
    private let scratch = Scratch()

    private func open(_ tag: String) throws(SettingProblem) -> RuleBook {
        let file = scratch.file("rules.yaml")
        Files.write(file, Array("rules:\n  - {name: a, then: rewrite, tag: \(tag)}\n".utf8))
        return try RulesFile.open(file)
    }

    @Test func forms() throws {
        let rule = try #require(
            try open("[own, {from: values.arm, system: \"urn:s\"}, \"urn:t|x\", {from: \"[a, b]\"}]").current.rules
                .readings.first)
        #expect(rule.tags == ["own", "urn:t|x"])
        #expect(rule.computedTags.map(\.expression.text) == ["values.arm", "[a, b]"])
        #expect(rule.computedTags.map(\.system) == ["urn:s", nil])
        let alone = try #require(try open("{from: deviceId}").current.rules.readings.first)
        #expect(alone.tags.isEmpty && alone.computedTags.map(\.expression.text) == ["deviceId"])
    }

    @Test(arguments: [
        ("{form: values.arm}", "36: rules[0].tag: unknown key 'form'", "did you mean 'from'?"),
        ("[{from: a, colour: b}]", "46: rules[0].tag: unknown key 'colour'", "the keys of a tag are from and system"),
        ("[x, {system: \"urn:s\"}]", "39: rules[0].tag: a tag by what readings say has no 'from'", "values.arm"),
        ("[{}]", "36: rules[0].tag: a tag by what readings say has no 'from'", "'from: values.arm'"),
        ("{from: }", " rules[0].tag.from: expected an expression, found nothing", "write an expression"),
        ("{from: \" \"}", "42: rules[0].tag.from: the value is empty", "write a JMESPath expression"),
        ("{from: [a]}", "42: rules[0].tag.from: expected an expression, found a list", "write an expression"),
        ("{from: \"values.\"}", "42: rules[0].tag.from: ", "kymo eval --language JmesPath"),
        ("{from: \"split(a, ',')\"}", "42: rules[0].tag.from: ", "kymo eval --language JmesPath"),
        ("{from: a, system: ward}", "53: rules[0].tag.system: 'ward' is no system", "an absolute URI without '|'"),
        ("{from: a, system: \"urn:a|b\"}", "53: rules[0].tag.system: 'urn:a|b' is no system", "an absolute URI"),
        ("{from: a, system: {}}", "53: rules[0].tag.system: expected a URI, found keys and values", "write a URI"),
        (
            "{from: a, system: \"urn:\(String(repeating: "s", count: 195))\"}",
            "53: rules[0].tag.system: the system is longer than 198 bytes", "shorten it"
        ), ("[a, [b]]", "39: rules[0].tag: found a list in the list", "{from: EXPRESSION}"),
        ("[]", "35: rules[0].tag: the list is empty", "name at least one"),
        ("", " rules[0].tag: no value is given", "{from: EXPRESSION}"),
        ("[a, \"b |c\"]", "39: rules[0].tag: 'b |c' is no tag", "write a code, or system|code"),
        ("[a, b, c, d, e, f, g, {from: h}, {from: i}]", "35: rules[0].tag: there are more than 8 tags", "use fewer"),
    ])
    func errors(_ tag: String, _ message: String, _ advice: String) {
        let problem = #expect(throws: SettingProblem.self) { try open(tag) }
        // A value that is not there has no place of its own.
        let place = message.hasPrefix(" ") ? "" : "rules.yaml:2:"
        let said = problem?.message ?? ""
        #expect(said.contains("rules.yaml:2:") && said.contains(place + message), "\(said)")
        #expect(problem?.advice.contains(advice) == true, "\(problem?.advice ?? "")")
    }

    /// Only what rewrites has tags.
    @Test func otherActions() throws {
        let file = scratch.file("rules.yaml")
        Files.write(file, Array("rules:\n  - {name: a, then: reject, tag: {from: b}}\n".utf8))
        let problem = #expect(throws: SettingProblem.self) { try RulesFile.open(file) }
        #expect(problem?.message.contains("'set' and 'tag' are for rules with 'then: rewrite'") == true)
    }

    /// What is said of the patterns of a sink beside a rule with these tags, by pattern.
    private func strays(_ tag: String, _ patterns: [String]) throws -> [String: String] {
        let set = try #require(PipelineRehearsal.reading)
        var settings = PipelineSettings()
        settings.rules = try open(tag)
        var sink = PipelineSettings.Sink()
        (sink.statedName, sink.tags) = ("one", patterns)
        settings.sinks = [sink]
        let stray = settings.strayPatterns(set)
        return Dictionary(
            uniqueKeysWithValues: patterns.compactMap { pattern in
                stray.first { $0.contains("tag '\(pattern)'") }.map { (pattern, $0) }
            })
    }

    /// A filter of a sink may name a tag that only messages say, by its system; one of another system is told of, and
    /// so is a code, which may be a typing error, and which anyone may send.
    @Test func filtersOfSinks() throws {
        let patterns = ["s1", "urn:study|s1", "urn:*|s1", "*", "urn:*", "urn:other|s1", "own"]
        func told(_ tag: String) throws -> Set<String> { Set(try strays(tag, patterns).keys) }
        #expect(try told("own") == ["s1", "urn:study|s1", "urn:*|s1", "urn:*", "urn:other|s1"])
        #expect(try told("{from: a, system: \"urn:study\"}") == ["s1", "urn:other|s1", "own"])
        #expect(try told("[own, {from: a, system: \"urn:study\"}]") == ["s1", "urn:other|s1", "own"])
        #expect(
            try told("[own, {from: a}]") == ["s1", "urn:study|s1", "urn:*|s1", "urn:*", "urn:other|s1", "own"])
    }

    /// Catches: a typing error in the tag of a sink that nothing tells of, because some rule has `from`.
    @Test func typingErrorsOfSinks() throws {
        for from in ["{from: values.arm, system: \"urn:study\"}", "{from: values.arm}"] {
            let told = try strays("[icu, \"urn:t|ward\", \(from)]", ["icuu", "icu", "ward", "urn:t|ward", "x9"])
            let icuu = "no mapping has a tag 'icuu', and only 'from' of a rule may give it; did you mean 'icu'?"
            #expect(told["icuu"] == "sink one: \(icuu)")
            let open = "too, by 'from' of a rule; write system|code, and give the tag a system if it has none"
            #expect(told["icu"] == "sink one: senders can choose the tag 'icu', \(open)")
            #expect(told["ward"] == "sink one: senders can choose the tag 'ward', \(open)")
            #expect(told["urn:t|ward"] == nil)
            #expect(told["x9"]?.hasSuffix("give that 'from' a system, and write system|code") == true)
        }
        #expect(try strays("icu", ["icu"]).isEmpty)
    }

    /// Tags that peers give to their readings are none that no one gives.
    @Test func tagsOfPeers() throws {
        let file = scratch.file("peers.yaml")
        Files.write(file, Array("peers:\n  - {addresses: [10.0.0.0/8], name: ward, tags: [\"urn:t|ward\"]}\n".utf8))
        var settings = PipelineSettings()
        var source = PipelineSettings.Source(.udp(host: "127.0.0.1", port: 5_000))
        source.configuration.peers = try PeersFile.open(file)
        settings.sources = [source]
        #expect(settings.tagsOfReadings == ["urn:t|ward", "ward"])
    }
}
