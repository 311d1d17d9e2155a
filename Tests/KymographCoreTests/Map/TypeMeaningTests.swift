import KymographCore
import KymographTemplates
import Testing

/// What readings mean stays what it was, whatever mappings come and go: units, conversions, maps, concepts.
@Suite struct TypeMeaningTests {
    /// A type as its two files have it.
    struct Kind {
        var name = "glucose"
        var match = "$..[?(@glucose)]"
        var period = "instance"
        var value = #""unit":"mg/dL","code":"mg/dL""#
        var valueType = "Quantity"
        /// Further members of the device template's value.
        var rule = ""
        var folder = "./a/meter/"
        /// The values; all but the first are in components.
        var names = ["x"]
        /// Whether readings have a start.
        var start = false
        /// Whether they have an id of their sender.
        var id = false
        /// What the FHIR template says of several of one time.
        var sameInstant: SameInstant?
        /// The body of a MedicationAdministration, which readings become in place of Observations.
        var resource: String?
        var compatibility = Compatibility.none

        private var device: String {
            let start =
                (start ? #""startExpression":"$.s","# : "") + (id ? #""readingIdExpression":"$.i","# : "")
            let values = names.map { #"{"valueName":"\#($0)","valueExpression":"$.glucose"\#(rule)}"# }
            return #"""
                {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
                "typeName":"\#(name)","typeMatchExpression":"\#(match)","deviceIdExpression":"$.d",\#(start)
                "timestampExpression":"$.t","values":[\#(values.joined(separator: ","))]}}]}
                """#
        }

        private var fhir: String {
            if let resource {
                return #"""
                    {"templateType":"CollectionFhir","template":[{"templateType":"ResourceFhir","template":{
                    "typeName":"\#(name)","resourceType":"MedicationAdministration","resource":{
                    "status":"completed","medicationCodeableConcept":{"text":"insulin"},
                    "subject":{"$reference":"patient"},"effectiveDateTime":{"$time":"end"},\#(resource)}}}]}
                    """#
            }
            let values = names.map { #"{"valueType":"\#(valueType)","valueName":"\#($0)",\#(value)}"# }
            let sameInstant = sameInstant.map { #""sameInstant":"\#($0.rawValue)","# } ?? ""
            let components = values.dropFirst().map { #"{"codes":[{"code":"c"}],"value":\#($0)}"# }
            return #"""
                {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
                "typeName":"\#(name)","period":"\#(period)",\#(sameInstant)"codes":[{"code":"c"}],"value":\#(values[0]),
                "components":[\#(components.joined(separator: ","))]}}]}
                """#
        }

        var mapping: NamedMapping {
            NamedMapping(
                name: folder, device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)), compatibility: compatibility)
        }
    }

    /// What a store would know after a run with `set`, if readings of all its types came.
    private func stored(_ set: MappingSet, hasReadings: Bool = true) -> [FormerType] {
        set.types.indices.map {
            FormerType(type: set.types[$0], history: set.histories[$0], hasReadings: hasReadings)
        }
    }

    /// The error of loading the last of `kinds` after runs with the others, one after the other; nil when it loads.
    private func refusal(_ kinds: Kind..., hasReadings: Bool = true) throws -> String? {
        var known: [FormerType] = []
        for kind in kinds.dropLast() {
            let result = MappingLoader.load([kind.mapping], stored: known)
            known = stored(try #require(result.set, "\(result.diagnostics.map(\.text))"), hasReadings: hasReadings)
        }
        let result = MappingLoader.load([kinds[kinds.count - 1].mapping], stored: known)
        #expect((result.set == nil) == result.diagnostics.contains { $0.severity == .error })
        return result.diagnostics.first { $0.severity == .error }?.text
    }

    private let molar = #""unit":"mmol/L","code":"mmol/L""#

    @Test(arguments: ["instance", "5m", "correlation"])
    func anotherUnitIsRefused(period: String) throws {
        let error = try refusal(Kind(period: period), Kind(period: period, value: molar))
        #expect(error?.contains("from 'mg/dL' to 'mmol/L', and the store holds readings") == true)
        #expect(error?.contains("use another --data directory") == true)
    }

    /// A run with other types, or without a unit, makes nothing forgotten.
    @Test func theUnitIsKnownForEver() throws {
        let other = Kind(name: "steps", match: "$..[?(@steps)]", value: #""unit":"steps""#)
        #expect(try refusal(Kind(), other, Kind(value: molar)) != nil)
        #expect(try refusal(Kind(), other, Kind()) == nil)
        let none = Kind(value: #""extra":1"#, valueType: "String")
        #expect(try refusal(Kind(), none, Kind(value: molar)) != nil)
        #expect(try refusal(Kind(), Kind(period: "5m"), Kind(period: "1m", value: molar)) != nil)
    }

    /// Numbers without unit are not in the unit that a later mapping states, nor the other way round.
    @Test func fromAndToNoUnit() throws {
        let none = Kind(value: #""extra":1"#)
        #expect(try refusal(Kind(), none)?.contains("from 'mg/dL' to 'none'") == true)
        #expect(try refusal(none, Kind())?.contains("from 'none' to 'mg/dL'") == true)
    }

    /// A unit may be spelled in another way, and its text for people may change.
    @Test func theSameUnit() throws {
        #expect(try refusal(Kind(), Kind(value: #""unit":"milligram per decilitre","code":"mg/dL""#)) == nil)
        let beats = Kind(value: #""unit":"bpm","code":"{beats}/min""#)
        #expect(try refusal(beats, Kind(value: #""unit":"1/min","code":"/min""#)) == nil)
        #expect(try refusal(Kind(value: #""unit":"mg/dL""#), Kind()) == nil)
    }

    /// A type that the store has heard of, and has no readings of, means what the new mapping says.
    @Test func nobodyHasReadings() throws {
        #expect(try refusal(Kind(), Kind(value: molar), hasReadings: false) == nil)
    }

    @Test func anotherScale() throws {
        let series = #""unit":"mV","code":"mV","defaultPeriod":10"#
        let plain = Kind(period: "1m", value: series, valueType: "SampledData")
        let scaled = Kind(period: "1m", value: series + #","factor":0.5"#, valueType: "SampledData")
        #expect(try refusal(plain, scaled)?.contains("the factor of the value 'x'") == true)
        #expect(try refusal(scaled, scaled) == nil)
    }

    @Test func anotherConversion() throws {
        let unit = #","unit":{"from":"mmol/L","to":"mg/dL","substance":"glucose"}"#
        #expect(try refusal(Kind(), Kind(rule: unit))?.contains("the unit conversion of the value 'x'") == true)
        #expect(try refusal(Kind(rule: unit), Kind(rule: unit)) == nil)
        // Another device that measures the same.
        #expect(try refusal(Kind(), Kind(match: "$..[?(@mmol)]", rule: unit)) == nil)
        #expect(try refusal(Kind(), Kind(rule: unit, folder: "./a/other/")) == nil)
        // The folder of the same device elsewhere.
        #expect(try refusal(Kind(), Kind(rule: unit, folder: "../meter")) != nil)
    }

    @Test func anotherPowerOfTen() throws {
        func kind(_ scale: String) -> Kind { Kind(rule: #","scale":\#(scale)"#) }
        #expect(try refusal(kind("-3"), kind("-2"))?.contains("the scale of the value 'x'") == true)
        #expect(try refusal(Kind(), kind("-3")) != nil)
        #expect(try refusal(kind("-3"), kind("-3")) == nil)
    }

    @Test func codedValues() throws {
        func kind(_ map: String) -> Kind { Kind(value: #""extra":1"#, valueType: "String", rule: #","map":{\#(map)}"#) }
        let error = try refusal(kind(#""1":"sitting""#), kind(#""1":"standing""#))
        #expect(error?.contains("the map of '1' of the value 'x'") == true)
        #expect(try refusal(kind(#""1":"sitting""#), kind(#""1":"sitting","2":"standing""#)) == nil)
        #expect(try refusal(Kind(value: #""extra":1"#, valueType: "String"), kind(#""1":"sitting""#)) != nil)
        func concept(_ code: String) -> Kind {
            Kind(value: #""codes":[{"system":"s","code":"\#(code)"}]"#, valueType: "CodeableConcept")
        }
        #expect(try refusal(concept("a"), concept("b"))?.contains("the concept of the value 'x'") == true)
        #expect(try refusal(concept("a"), concept("a")) == nil)
    }

    /// Catches: a late reading that rewrites an Observation without the values of the former ones.
    @Test(arguments: ["instance", "5m", "correlation"])
    func aValueThatIsGoneIsRefused(period: String) throws {
        func kind(_ names: String..., in period: String = period) -> Kind { Kind(period: period, names: names) }
        let error = try refusal(kind("hr"), kind("pulse"))
        #expect(error?.contains("no longer uses the value 'hr', and the store holds readings of it") == true)
        #expect(error?.contains("keep the value, give the type another name, or use another --data") == true)
        #expect(try refusal(kind("hr", "spo2"), kind("hr")) != nil)
        #expect(try refusal(kind("hr"), kind("hr", "spo2"), kind("spo2")) != nil)
        #expect(try refusal(kind("hr"), kind("spo2", "hr")) == nil)
        #expect(try refusal(kind("hr"), kind("pulse"), hasReadings: false) == nil)
        let other = Kind(name: "steps", match: "$..[?(@steps)]")
        #expect(try refusal(kind("hr"), other, kind("pulse")) != nil)
    }

    /// Windows of another length are written by the template that there is; single readings are not.
    @Test func aValueThatIsGoneFromWindowsOfAnotherLength() throws {
        #expect(try refusal(Kind(period: "5m", names: ["hr"]), Kind(period: "1m", names: ["pulse"])) != nil)
        #expect(try refusal(Kind(period: "instance", names: ["hr"]), Kind(period: "1m", names: ["pulse"])) == nil)
    }

    /// Catches: a day that is sent again, and counts twice, since its readings have ids by now. What no template with
    /// the former match or of the former folder has brought is of another device.
    @Test(arguments: ["instance", "5m", "correlation"]) func idsThatComeLate(period: String) throws {
        func kind(id: Bool = false, match: String = "$..[?(@glucose)]", folder: String = "./a/meter/") -> Kind {
            Kind(match: match, period: period, folder: folder, id: id)
        }
        let error = try refusal(kind(), kind(id: true))
        #expect(error?.hasPrefix("device.json:2:") == true, "\(error ?? "")")
        #expect(error?.contains("has 'readingIdExpression' now, and the store holds readings without it") == true)
        #expect(error?.contains("leave it out; or give the type another name") == true)
        #expect(try refusal(kind(id: true), kind())?.contains("keep it: where it selects nothing") == true)
        #expect(try refusal(kind(), Kind(name: "other"), kind(id: true)) != nil)
        #expect(try refusal(kind(), kind(id: true), hasReadings: false) == nil)
        #expect(try refusal(kind(id: true), kind(id: true)) == nil)
        // The same payloads by a copy of the mapping, and the mapping with another match at once.
        #expect(try refusal(kind(), kind(id: true, folder: "./b/")) != nil)
        let changed = try refusal(kind(), kind(id: true, match: "$..[?(@uuid)]"))
        #expect(changed?.contains("keep the template '$..[?(@glucose)]' beside this one") == true, "\(changed ?? "")")
        #expect(try refusal(kind(), kind(id: true, match: "$..[?(@uuid)]", folder: "./b/")) == nil)
    }

    /// Catches: a correction that takes the place of one of several readings of its time, and leaves the others.
    @Test(arguments: ["5m", "correlation"]) func severalReadingsThatWereKept(period: String) throws {
        func kind(_ sameInstant: SameInstant?) -> Kind { Kind(period: period, sameInstant: sameInstant) }
        // What is usual for windows.
        let (usual, keep, latest, reject) = (kind(nil), kind(.keep), kind(.latest), kind(.reject))
        for new in [latest, reject] {
            let error = try refusal(keep, new)
            #expect(error?.hasPrefix("fhir.json:2:") == true, "\(error ?? "")")
            #expect(error?.contains("from 'keep' to '\(new.sameInstant?.rawValue ?? "")'") == true)
            #expect(error?.contains("the store holds readings that may be several of one time") == true)
            #expect(try refusal(usual, new) != nil)
            #expect(try refusal(keep, new, hasReadings: false) == nil)
            #expect(try refusal(new, new) == nil)
            // What has one of each time may get more, and cannot go back then.
            #expect(try refusal(new, keep) == nil)
            #expect(try refusal(new, keep, new) != nil)
        }
        #expect(try refusal(latest, reject) == nil)
        #expect(try refusal(usual, keep) == nil)
        #expect(try refusal(Kind(period: "7m"), latest) == nil)
    }

    /// Of single readings only one can stay, whatever is said.
    @Test func singleReadingsAreNeverSeveral() throws {
        let keep = Kind(id: true, sameInstant: .keep)
        #expect(try refusal(keep, Kind(id: true, sameInstant: .latest)) == nil)
        #expect(try refusal(keep, Kind(id: true, sameInstant: .reject)) == nil)
    }

    /// A device of its own brings ids to a type whose other devices have none, and these stay as they are.
    @Test func idsOfAnotherDevice() throws {
        let former = try #require(MappingLoader.load([Kind().mapping]).set)
        let other = Kind(match: "$..[?(@uuid)]", folder: "./b/", id: true)
        let both = MappingLoader.load([Kind().mapping, other.mapping], stored: stored(former))
        let known = stored(try #require(both.set, "\(both.diagnostics.map(\.text))"))
        #expect(MappingLoader.load([Kind().mapping, other.mapping], stored: known).set != nil)
        #expect(MappingLoader.load([Kind(id: true).mapping, other.mapping], stored: known).set == nil)
    }

    /// Stores of an earlier version know whether any template of a type has had ids, which templates there were, and
    /// what became of several readings of one time.
    @Test func readingsOfAnEarlierVersion() throws {
        func known(_ kind: Kind) throws -> [FormerType] {
            stored(try #require(MappingLoader.load([kind.mapping]).set)).map { former in
                var former = former
                (former.history.meaning.namings, former.history.meaning.keepsSeveral) = (nil, nil)
                former.history.meaning.noteFormer(former.type)
                return former
            }
        }
        #expect(MappingLoader.load([Kind(id: true).mapping], stored: try known(Kind())).set == nil)
        #expect(MappingLoader.load([Kind(start: true).mapping], stored: try known(Kind())).set == nil)
        let windows = Kind(period: "5m")
        let latest = Kind(period: "5m", sameInstant: .latest)
        #expect(MappingLoader.load([latest.mapping], stored: try known(windows)).set == nil)
        #expect(MappingLoader.load([latest.mapping], stored: try known(latest)).set != nil)
        #expect(MappingLoader.load([Kind().mapping], stored: try known(Kind())).set != nil)
        #expect(MappingLoader.load([Kind().mapping], stored: try known(Kind(id: true))).set != nil)
    }

    private func dose(_ unit: String, name: String = "x") -> Kind {
        var kind = Kind(names: [name])
        kind.resource = #""dosage":{"dose":{"value":{"$value":"\#(name)","as":"decimal"}\#(unit)}}"#
        return kind
    }

    /// Catches: a dose of 4 IU that is shown as 4 mg.
    @Test func anotherUnitInAResource() throws {
        func unit(_ code: String) -> String {
            #","unit":"\#(code)","system":"http://unitsofmeasure.org","code":"\#(code)""#
        }
        let error = try refusal(dose(unit("[iU]")), dose(unit("mg")))
        #expect(error?.contains("the unit of the value 'x' of type 'glucose' changes from '[iU]' to 'mg'") == true)
        #expect(try refusal(dose(unit("[iU]")), dose(""))?.contains("from '[iU]' to 'none'") == true)
        #expect(try refusal(dose(#","unit":"IU""#), dose(#","unit":"mg""#)) != nil)
        #expect(try refusal(dose(unit("[iU]")), dose(unit("[iU]"))) == nil)
        #expect(try refusal(dose(unit("[iU]"), name: "units"), dose(unit("[iU]"), name: "dose")) != nil)
    }

    /// A store of an earlier version does not know the units in resources, nor which values there are.
    @Test func whatIsNotKnownIsNoChange() throws {
        let set = try #require(MappingLoader.load([dose(#","unit":"IU""#).mapping]).set)
        let known = stored(set).map { former in
            let history = TypeHistory(hasTemplate: former.history.hasTemplate, meaning: TypeMeaning())
            return FormerType(type: former.type, history: history, hasReadings: true)
        }
        let new = try #require(MappingLoader.load([dose(#","unit":"mg""#, name: "dose").mapping], stored: known).set)
        #expect(try refusal(dose(#","unit":"mg""#, name: "dose")) == nil)
        let next = MappingLoader.load([dose(#","unit":"IU""#, name: "dose").mapping], stored: stored(new))
        #expect(next.set == nil)
    }

    /// A reading with start and end, and a window of the same time, would be one Observation.
    @Test func windowsAndReadingsOfOneTime() throws {
        let reading = Kind(start: true)
        let error = try refusal(Kind(period: "5m"), reading)
        #expect(error?.contains("would have the identity of a window") == true)
        #expect(try refusal(reading, Kind(period: "5m")) != nil)
        #expect(try refusal(reading, Kind(name: "other"), Kind(period: "5m")) != nil)
        #expect(try refusal(Kind(period: "5m"), reading, hasReadings: false) == nil)
        #expect(try refusal(Kind(period: "5m"), Kind()) == nil)
        #expect(try refusal(reading, Kind(period: "correlation")) == nil)
    }

    /// The reference writes whole seconds, so that a window of less than two is a moment.
    @Test func shortWindowsOfTheReference() throws {
        func kind(_ period: String) -> Kind { Kind(period: period, compatibility: .iomtFHIR) }
        #expect(try refusal(kind("1s"), kind("instance")) != nil)
        #expect(try refusal(kind("1s"), kind("500ms")) != nil)
        #expect(try refusal(kind("61s"), kind("60500ms")) != nil)
        #expect(try refusal(kind("2s"), kind("instance")) == nil)
        #expect(try refusal(kind("61s"), kind("1m")) == nil)
        #expect(try refusal(Kind(period: "1s"), kind("instance")) == nil)
        #expect(try refusal(Kind(period: "1s"), Kind()) == nil)
    }

    /// Two windows of one second would be one Observation.
    @Test(arguments: [("500ms", false), ("60500ms", false), ("1s", true), ("1h", true)])
    func windowsOfTheReferenceAreOfWholeSeconds(period: String, isTaken: Bool) throws {
        let result = MappingLoader.load([Kind(period: period, compatibility: .iomtFHIR).mapping])
        #expect((result.set != nil) == isTaken)
        #expect(result.diagnostics.contains { $0.text.contains("are not of whole seconds") } == !isTaken)
        #expect(MappingLoader.load([Kind(period: period).mapping]).set != nil)
    }

    /// Open windows of another length are written by the template that there is, in the run that finds them in its
    /// journal, and in queries.
    @Test func windowsOfAnotherLengthHaveATemplate() throws {
        let first = try #require(MappingLoader.load([Kind(period: "5m").mapping]).set)
        let second = try #require(MappingLoader.load([Kind(period: "1m").mapping], stored: stored(first)).set)
        #expect(second.types.count == 2 && second.fhirTemplates.allSatisfy { $0 != nil })
        let single = try #require(MappingLoader.load([Kind().mapping], stored: stored(first)).set)
        #expect(single.types.count == 2 && single.fhirTemplates.map { $0 != nil } == [false, true])
    }
}
