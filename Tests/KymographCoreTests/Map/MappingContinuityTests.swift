import KymographCore
import KymographTemplates
import Testing

/// What keeps its number when a mapping set takes the place of another in a running pipeline.
@Suite struct MappingContinuityTests {
    /// A type as the tests write it: `period` as in the file, values in order, and the unit of all of them.
    struct Kind {
        var name = "a"
        var period = "1m"
        var values = ["x"]
        var unit = "/min"
        var valueType = "Quantity"
        var start = false
        var id = false
        var hasFHIR = true
        /// The values that the FHIR template uses; nil for all.
        var used: [String]?
    }

    private func mapping(_ kinds: [Kind]) -> NamedMapping {
        let device = kinds.map { kind in
            let values = kind.values.map { #"{"valueName":"\#($0)","valueExpression":"$.\#($0)"}"# }
            let start =
                (kind.start ? #""startExpression":"$.s","# : "") + (kind.id ? #""readingIdExpression":"$.i","# : "")
            return #"""
                {"templateType":"JsonPathContent","template":{"typeName":"\#(kind.name)",\#(start)
                "typeMatchExpression":"$..[?(@\#(kind.name))]","deviceIdExpression":"$.d",
                "timestampExpression":"$.t","values":[\#(values.joined(separator: ","))]}}
                """#
        }
        let fhir = kinds.filter(\.hasFHIR).map { kind in
            let components = (kind.used ?? kind.values).map { name in
                #"""
                {"codes":[{"code":"\#(name)"}],"value":{"valueType":"\#(kind.valueType)","valueName":"\#(name)",
                "unit":"\#(kind.unit)","code":"\#(kind.unit)"}}
                """#
            }
            return #"""
                {"templateType":"CodeValueFhir","template":{"typeName":"\#(kind.name)","period":"\#(kind.period)",
                "codes":[{"code":"c"}],"components":[\#(components.joined(separator: ","))]}}
                """#
        }
        func file(_ name: String, _ type: String, _ templates: [String]) -> MappingFile {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            return MappingFile(name: name, bytes: Array(text.utf8))
        }
        return NamedMapping(
            name: "m", device: file("m/device.json", "CollectionContent", device),
            fhir: file("m/fhir.json", "CollectionFhir", fhir))
    }

    private func load(_ kinds: [Kind], after former: MappingSet? = nil) throws -> MappingSet {
        let result = MappingLoader.load([mapping(kinds)], continuing: former)
        return try #require(result.set, "\(result.diagnostics.map(\.text))")
    }

    private func names(_ set: MappingSet) -> [String] { set.types.map(\.name) }

    @Test func typesAndValuesKeepTheirNumbers() throws {
        let first = try load([Kind(name: "a", values: ["x", "y"]), Kind(name: "b")])
        let second = try load(
            [Kind(name: "c"), Kind(name: "b"), Kind(name: "a", values: ["z", "y", "x"])], after: first)
        #expect(names(second) == ["a", "b", "c"])
        #expect(second.types[0].valueNames == ["x", "y", "z"])
        #expect(second.types[0].isNumeric == [true, true, true])
        #expect(second.fhirTemplates.map { $0?.typeName } == ["a", "b", "c"])
    }

    /// The device templates follow: values are written where the former set would look for them.
    @Test func readingsOfTheNewSetFitTheFormerSlots() throws {
        let first = try load([Kind(name: "a", values: ["x", "y", "u", "v", "w"]), Kind(name: "b")])
        let second = try load(
            [Kind(name: "b"), Kind(name: "a", values: ["w", "q", "y", "x", "v", "u"])], after: first)
        let payload = #"{"d":"dev","t":"2021-07-13T17:29:01Z","a":1,"x":1,"y":2,"u":3,"v":4,"w":5,"q":6}"#
        var output = CollectingOutput(first)
        var mapper = Mapper(second, templates: second.templates(of: ["m"]))
        let storage = PaddedBytes(copying: payload.utf8)
        mapper.mapLine(
            storage.view, context: SourceContext(), received: Instant(seconds: 1_700_000_000), output: &output)
        #expect(output.readings.map(\.type) == ["a"])
        #expect(output.readings.first?.values == ["x": "1", "y": "2", "u": "3", "v": "4", "w": "5"])
    }

    @Test func theSameAgainChangesNothing() throws {
        let kinds = [
            Kind(name: "a", start: true), Kind(name: "b", hasFHIR: false), Kind(name: "c", period: "instance"),
        ]
        var set = try load(kinds)
        for _ in 0..<5 { set = try load(kinds, after: set) }
        #expect(names(set) == ["a", "b", "c"])
        #expect(set.types[0].valueNames == ["x", "(length)"] && set.types[0].durationSlot == 1)
    }

    @Test func aTypeThatIsGoneKeepsItsTemplate() throws {
        let first = try load([Kind(name: "a"), Kind(name: "b")])
        let second = try load([Kind(name: "b")], after: first)
        #expect(names(second) == ["a", "b"] && second.fhirTemplates[0] != nil)
        let third = try load([Kind(name: "a", values: ["x", "y"])], after: second)
        #expect(names(third) == ["a", "b"] && third.types[0].valueNames == ["x", "y"])
    }

    /// The length of windows is a part of their Observations' identity: another length is another type.
    @Test func anotherPeriodIsAnotherType() throws {
        let first = try load([Kind(period: "5m")])
        let second = try load([Kind(period: "1m")], after: first)
        let minutes: [Int64] = [5, 1]
        #expect(second.types.map(\.grouping) == minutes.map { .tumbling(nanoseconds: $0 * 60_000_000_000) })
        let third = try load([Kind(period: "5m")], after: second)
        #expect(third.types.count == 2)
    }

    /// New readings of a type without template are rejected; windows of the time when it had one are written with that.
    @Test func aTemplateThatIsGone() throws {
        let first = try load([Kind(period: "instance")])
        let second = try load([Kind(hasFHIR: false)], after: first)
        #expect(names(second) == ["a", "a"] && second.fhirTemplates.map { $0 != nil } == [true, false])
        let third = try load([Kind(period: "instance")], after: second)
        #expect(third.types.count == 2)
    }

    /// After a store that knows the types of `former`, and has no readings of them.
    private func load(_ kinds: [Kind], afterUnread former: MappingSet) throws -> MappingSet {
        let stored = former.types.indices.map {
            FormerType(type: former.types[$0], history: former.histories[$0], hasReadings: false)
        }
        let result = MappingLoader.load([mapping(kinds)], stored: stored)
        return try #require(result.set, "\(result.diagnostics.map(\.text))")
    }

    @Test func theLengthKeepsItsSlot() throws {
        let first = try load([Kind(values: ["x"], start: true)])
        let second = try load([Kind(values: ["x", "y"])], afterUnread: first)
        #expect(second.types[0].valueNames == ["x", "(length)", "y"] && second.types[0].durationSlot == 1)
        let third = try load([Kind(values: ["y", "x"], start: true)], afterUnread: second)
        #expect(third.types[0].valueNames == ["x", "(length)", "y"] && third.types[0].durationSlot == 1)
        let late = try load(
            [Kind(values: ["x", "y"], start: true)], afterUnread: try load([Kind(values: ["x"])]))
        #expect(late.types[0].valueNames == ["x", "y", "(length)"] && late.types[0].durationSlot == 2)
    }

    /// What is found because of the former set.
    private func findings(_ kinds: [Kind], after former: [Kind]) throws -> [String] {
        let result = MappingLoader.load([mapping(kinds)], continuing: try load(former))
        #expect((result.set == nil) == result.diagnostics.contains { $0.severity == .error })
        let alone = MappingLoader.load([mapping(kinds)]).diagnostics
        return result.diagnostics.filter { !alone.contains($0) }.map(\.text)
    }

    /// A window is one Observation with one unit; it must not give former readings the new one.
    @Test func anotherUnitIsRefusedWhereWindowsAreOpen() throws {
        let found = try findings([Kind(unit: "mmol/L")], after: [Kind(unit: "mg/dL")])
        #expect(found.count == 1 && found[0].contains("from 'mg/dL' to 'mmol/L'") && found[0].contains("error"))
        #expect(found[0].hasPrefix("m/fhir.json:"))
        // Another period, or one Observation a reading, makes no other readings of them.
        let single = [Kind(period: "instance", unit: "mg/dL")]
        for period in ["instance", "5m", "correlation"] {
            #expect(try findings([Kind(period: period, unit: "mmol/L")], after: single).count == 1)
        }
        #expect(try findings([Kind(name: "b", unit: "mmol/L")], after: [Kind(unit: "mg/dL")]) == [])
    }

    /// Catches: a reading that is sent again, and counts twice, since it has an id or a start now, or none any more.
    @Test(arguments: ["1m", "instance", "correlation"]) func anotherNamingIsRefused(period: String) throws {
        let plain = Kind(period: period)
        let (named, begun) = (Kind(period: period, id: true), Kind(period: period, start: true))
        for (kind, field) in [(named, "readingIdExpression"), (begun, "startExpression")] {
            let added = try findings([kind], after: [plain])
            #expect(added.count == 1 && added[0].hasPrefix("m/device.json:1:"), "\(added)")
            #expect(
                added.first?.contains("type 'a' has '\(field)' now, and windows hold readings without it") == true)
            #expect(added.first?.contains("leave it out; or give the type another name") == true, "\(added)")
            let gone = try findings([plain], after: [kind])
            #expect(gone.count == 1 && gone[0].contains("type 'a' has no '\(field)' any more"), "\(gone)")
            #expect(try findings([kind], after: [kind]) == [])
        }
        // Windows of another length have readings of their own.
        #expect(try findings([Kind(period: "7m", id: true)], after: [plain]) == [])
    }

    /// What a start would refuse, a reload refuses, too.
    @Test(arguments: ["1m", "instance", "correlation"]) func valuesThatAreGone(period: String) throws {
        func kind(_ values: String...) -> [Kind] { [Kind(period: period, values: values)] }
        let some = try findings(kind("y"), after: kind("x", "y"))
        let message = "error: the FHIR template of 'a' no longer uses the value 'x', and windows hold readings of it"
        #expect(some.count == 1 && some[0].contains(message), "\(some)")
        let all = try findings(kind("pulse"), after: kind("hr", "low"))
        #expect(all.count == 1 && all[0].contains("no longer uses the values 'hr', 'low'"), "\(all)")
        #expect(try findings(kind("y", "x"), after: kind("x")) == [])
        #expect(try findings([Kind(name: "b")], after: kind("x")) == [])
    }

    /// Slots are bytes, the last of which is that of tags, and those of values that are gone are not given away.
    @Test func slotsEnd() throws {
        let names = (0..<200).map { "v\($0)" }
        let first = try load([Kind(period: "instance", values: names)])
        let others = (0..<100).map { "w\($0)" }
        let result = MappingLoader.load([mapping([Kind(period: "instance", values: others)])], continuing: first)
        #expect(result.set == nil && result.diagnostics.map(\.message).joined().contains("more than 255 values"))
    }

    /// A set with an error says the same as it would at the start.
    @Test func errorsComeFirst() throws {
        let kinds = [Kind(values: ["x"], used: ["y"])]
        let result = MappingLoader.load([mapping(kinds)], continuing: try load([Kind()]))
        #expect(result.set == nil)
        #expect(result.diagnostics == MappingLoader.load([mapping(kinds)]).diagnostics)
    }
}
