import KymographCore
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

        var mapping: NamedMapping {
            let device = #"""
                {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
                "typeName":"\#(name)","typeMatchExpression":"\#(match)","deviceIdExpression":"$.d",
                "timestampExpression":"$.t","values":[{"valueName":"x","valueExpression":"$.glucose"\#(rule)}]}}]}
                """#
            let fhir = #"""
                {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
                "typeName":"\#(name)","period":"\#(period)","codes":[{"code":"c"}],
                "value":{"valueType":"\#(valueType)","valueName":"x",\#(value)}}}]}
                """#
            return NamedMapping(
                name: folder, device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
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
