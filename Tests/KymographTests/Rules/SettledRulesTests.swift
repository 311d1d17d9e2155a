@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import KymographTemplates
import Testing

/// What settings, a store and programs say besides a list of rules.
@Suite struct SettledRulesTests {
    private let scratch = Scratch()

    private static func sources(_ numbers: Range<Int>) -> [PipelineSettings.Source] {
        numbers.map { number in
            var source = PipelineSettings.Source(.udp(host: "127.0.0.1", port: UInt16(5_000 + number)))
            source.statedName = "s\(number)"
            return source
        }
    }

    private func write(_ text: String) -> String {
        let file = scratch.file("rules.yaml")
        Files.write(file, Array(text.utf8))
        return file
    }

    /// A store in which an earlier run had `sources`.
    private func storeThatKnew(_ sources: [PipelineSettings.Source]) throws -> Store {
        var settings = PipelineSettings()
        settings.sources = sources
        // It keeps others out for as long as it lives.
        do {
            let former = try Store(path: scratch.path)
            defer { former.close() }
            _ = try PipelineOpening.numbered(settings, former)
        }
        return try Store(path: scratch.path)
    }

    private static func veto(of source: String) -> String {
        "resources:\n  - {name: none, then: veto, sources: [\(source)]}\n"
    }

    /// Readings of a source that was taken out of the configuration are still in windows, and rules are about them.
    @Test func sourcesThatAreConfiguredNoMore() throws {
        var settings = PipelineSettings()
        let store = try storeThatKnew(Self.sources(0..<2))
        defer { store.close() }
        let number = try #require(store.namedSources.first { $0.name == "s0" }?.number)
        settings.sources = Self.sources(1..<2)
        let sources = try PipelineOpening.numbered(settings, store).entryRules.sources
        #expect(sources.contains { $0.name == "s0" && $0.number == number })
        #expect(sources.contains { $0.name == "s1" && $0.number != number })
    }

    /// A rule for resources may be about such a source, and one for readings is about none any more: only that is told.
    @Test func whichSourcesOfRulesThereAreNot() throws {
        var settings = PipelineSettings()
        let store = try storeThatKnew(Self.sources(0..<2))
        defer { store.close() }
        settings.sources = Self.sources(1..<2)
        let reading = "rules:\n  - {name: one, then: drop, sources: [s0, s1]}\n"
        settings.rules = try RulesFile.open(write(reading + Self.veto(of: "s0, s1, s9")))
        let set = try #require(ConfigurationLoader.checkMappings(settings).set)
        let found = try PipelineOpening.numbered(settings, store).strayPatterns(set)
        #expect(found.count == 2, "\(found)")
        #expect(found.first?.hasPrefix("rule one: there is no source 's0'; ") == true, "\(found)")
        #expect(found.last?.hasPrefix("rule none: there is no source 's9'; ") == true, "\(found)")
    }

    /// A source that a reload has removed has no types and no tags any more.
    @Test func removedSourcesHaveNoPatterns() throws {
        var settings = PipelineSettings()
        settings.sources = Self.sources(0..<2)
        settings.sources[0].types = ["hartRate"]
        settings.sources[0].tags = ["icu"]
        var sink = PipelineSettings.Sink()
        (sink.statedName, sink.tags) = ("one", ["icu"])
        settings.sinks = [sink]
        let set = try #require(ConfigurationLoader.checkMappings(settings).set)
        #expect(settings.strayPatterns(set).map { $0.prefix(10) } == ["source s0:"])
        settings.sources[0].isRemoved = true
        #expect(settings.strayPatterns(set).map { $0.prefix(5) } == ["sink "])
    }

    /// Windows do not tell sources apart that are beyond those with a number: no rule is about one of them.
    @Test func sourcesWithoutANumber() throws {
        var settings = PipelineSettings()
        settings.sources = Self.sources(0..<20)
        let book = try RulesFile.open(write(Self.veto(of: "s19")))
        settings.rules = book
        let error = #expect(throws: PipelineError.self) { try PipelineOpening.numbered(settings, nil) }
        #expect(error?.message.contains("the rule none is about resources of s19") == true)
        #expect(error?.exitCode == ExitStatus.config)
        _ = write(Self.veto(of: "s0"))
        #expect(book.reread { _ in nil }.level == .info)
        let numbered = try PipelineOpening.numbered(settings, nil)
        _ = write(Self.veto(of: "s19"))
        let note = book.reread { numbered.unknownSource(of: $0.resources) }
        #expect(note.level == .error)
        #expect(book.current.rules.resources.map(\.sources) == [["s0"]])
    }

    /// Sinks choose by tags of templates and readings: what a patch adds is no such tag.
    @Test func tagsOfPatchesAreNotForSinks() throws {
        var settings = PipelineSettings()
        settings.rules = try RulesFile.open(
            write(
                """
                rules:
                  - {name: t, then: rewrite, devices: [w], tag: "urn:t|seen"}
                resources:
                  - {name: p, then: patch, types: [heartRate], set: {tag: [{code: patched}]}}

                """))
        #expect(Set(settings.tagsOfReadings) == ["urn:t|seen", "seen"])
    }

    /// A text that looks like a path of the reading would be on all readings, letter by letter.
    @Test func textsAreConstants() {
        let file = write(
            """
            rules:
              - {name: lab, then: rewrite, tag: values.labels}
              - {name: ward, then: rewrite, tag: ["urn:t|patientId", "urn:type|seen", typed, values]}
              - {name: arm, then: rewrite, tag: [{from: values.arm}]}

            """)
        let found = load("rules: \(file)\n").diagnostics.map(\.text).filter { $0.contains("a text is a constant") }
        let expected = [
            ("lab", "values.labels", "{from: values.labels}"),
            ("ward", "urn:t|patientId", "{from: patientId, system: \"urn:t\"}"),
        ].map { rule, tag, element in
            "kymo.yaml:1:8: warning: rules: the rule '\(rule)' adds the tag '\(tag)' as it stands: "
                + "a text is a constant; for a tag by what each reading says, write \(element)"
        }
        #expect(found == expected)
    }

    /// A patch adds nobody twice, and no second extension of one URL.
    @Test func patchesAddWhatIsNotThere() throws {
        let templates = try #require(PipelineRehearsal.reading).fhirTemplates
        let template = try #require(templates.compactMap { $0 }.first { $0.resource == nil && $0.summary == nil })
        var patch = EntryPatch()
        patch.members.performers = [PerformerRule(type: "Organization", system: "urn:o", value: "1", display: "Ward")]
        patch.members.extensions = [ExtensionRule(url: "urn:e", member: "valueInteger", json: "1")]
        let once = patch.applied(to: template)
        patch.members.performers[0].display = "Ward 1"
        patch.members.performers.append(PerformerRule(type: "Organization", system: "urn:o", value: "2"))
        patch.members.extensions[0].json = "2"
        let twice = patch.applied(to: once)
        #expect(once.members.performers.map(\.value) == ["1"] && once.members.extensions.map(\.json) == ["1"])
        #expect(twice.members.performers.map(\.value) == ["1", "2"] && twice.members.extensions.map(\.json) == ["1"])
    }

    /// What former rules have decided is counted, also when others come before the next report.
    @Test func countsOutliveTheirRules() throws {
        var rehearsal = PipelineRehearsal(
            set: try #require(PipelineRehearsal.reading),
            settings: WindowSettings(lateness: 5_000_000_000, idle: 1_000_000_000))
        rehearsal.follow(EntryRules([EntryRule(name: "none")], sinks: ["one"]))
        for minute in 10..<40 {
            let line = """
                {"deviceId":"w","type":"heartRate","timestamp":"2026-03-01T08:\(minute):00Z","value":60,"unit":"/min"}
                """
            rehearsal.take(Array(line.utf8), isBatchEnd: true)
        }
        rehearsal.adoptRules()
        _ = try? rehearsal.end()
        let record = rehearsal.record
        #expect(record.tally.vetoed > 1 && record.ruled == record.tally.vetoed)
    }

    private struct Telling: ReadingHook {
        var name: String { "telling" }

        func decide(_ reading: HookedReading) -> ReadingDecision {
            switch reading.values["wave"] {
            case .text(let text)?: .reject(text)
            case .number?, nil: .drop
            }
        }
    }

    /// A hook gets samples as text, and is known to be there.
    @Test func hooks() {
        var content = ByteWriter()
        var payload = ByteWriter()
        _ = SampleRecord.append(RawArray([1, 20, 3].map { Decimal64(mantissa: $0) }), to: &content)
        ValueRecord.append(slot: 5, .samples, content.view, to: &payload)
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        reading.payloadBytes = payload.count
        let type = MeasurementType(
            name: "ecg", valueNames: ["a", "b", "c", "d", "e", "wave"], grouping: .instance,
            isNumeric: Array(repeating: false, count: 6))
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array("w".utf8))))
        let hook = HookedReadings(Telling())
        let decided = hook.decide(reading, payload.view, key: key.view, type: type, source: "s")
        guard case .reject(let text) = decided else {
            Issue.record("\(decided)")
            return
        }
        #expect(text == "1 20 3")
        var settings = PipelineSettings()
        #expect(settings.deciders.isEmpty)
        settings.interceptor = hook
        #expect(settings.deciders == [.hook])
    }
}
