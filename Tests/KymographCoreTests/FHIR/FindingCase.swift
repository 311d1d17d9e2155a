import Testing

/// A FHIR template with one doubtful thing, and its sound counterpart.
struct FindingCase: CustomTestStringConvertible {
    var code: String
    /// Members of the template's body, besides its type name.
    var doubtful: String
    var sound: String
    /// What message and advice say.
    var words: [String]
    var typeName = "x"

    var testDescription: String { "\(code): \(words)" }

    init(_ code: String, _ doubtful: String, _ sound: String, _ words: String..., typeName: String = "x") {
        self.code = code
        self.doubtful = doubtful
        self.sound = sound
        self.words = words
        self.typeName = typeName
    }
}

extension FindingCase {
    private static let vital = """
        "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
        "code":"vital-signs"}]}]
        """

    private static func codes(_ loinc: String...) -> String {
        "\"codes\":[" + loinc.map { "{\"system\":\"http://loinc.org\",\"code\":\"\($0)\"}" }.joined(separator: ",")
            + "]"
    }

    private static func quantity(_ code: String, _ name: String = "v") -> String {
        "{\"valueType\":\"Quantity\",\"valueName\":\"\(name)\",\"unit\":\"u\",\"code\":\"\(code)\"}"
    }

    private static func value(_ loinc: String, _ code: String, name: String = "v") -> String {
        "\(codes(loinc)),\(vital),\"value\":\(quantity(code, name))"
    }

    private static func coded(_ coding: String) -> String {
        "\"codes\":[\(coding)],\"value\":\(quantity("1"))"
    }

    private static func member(_ member: String) -> String {
        "\"codes\":[],\"value\":{\"valueName\":\"v\",\(member)}"
    }

    private static func pressure(_ components: String..., with member: String = "") -> String {
        "\(codes("85354-9")),\(vital)\(member),\"components\":[\(components.joined(separator: ","))]"
    }

    private static func part(_ loinc: String, _ value: String = quantity("mm[Hg]")) -> String {
        "{\(codes(loinc)),\"value\":\(value)}"
    }

    private static let soundPressure = pressure(part("8480-6"), part("8462-4"))
    private static let sampled = """
        {"valueType":"SampledData","valueName":"v","unit":"mV","defaultPeriod":4}
        """

    private static func waveform(_ members: String, name: String = "\"valueName\":\"v\"") -> String {
        "\"codes\":[],\"value\":{\"valueType\":\"SampledData\",\(name),\"unit\":\"mV\",\"code\":\"mV\",\(members)}"
    }

    private static let names = (0..<17).map { "\"\($0)\"" }.joined(separator: ",")

    private static let waveforms = [
        FindingCase(
            "wrong-period", waveform("\"dimensions\":2"), waveform("\"dimensions\":2,\"rateName\":\"r\""), "apart"),
        FindingCase(
            "wrong-period", waveform("\"dimensions\":2,\"defaultPeriod\":\"auto\""),
            waveform("\"dimensions\":2,\"defaultPeriod\":4"), "apart"),
        FindingCase(
            "wrong-period", waveform("\"dimensions\":0,\"defaultPeriod\":4"),
            waveform("\"dimensions\":256,\"defaultPeriod\":4"), "dimensions", "256"),
        FindingCase(
            "wrong-period", waveform("\"rateName\":\"r\",\"periodName\":\"p\""), waveform("\"periodName\":\"p\""),
            "rateName", "periodName"),
        FindingCase(
            "wrong-period", waveform("\"dimensions\":3,\"defaultPeriod\":4", name: "\"valueNames\":[\"I\",\"II\"]"),
            waveform("\"dimensions\":2,\"defaultPeriod\":4", name: "\"valueNames\":[\"I\",\"II\"]"), "2 valueNames"),
        FindingCase(
            "missing-field", waveform("\"defaultPeriod\":4", name: "\"valueNames\":[\(names)]"),
            waveform("\"defaultPeriod\":4", name: "\"valueNames\":[\(names.dropLast(5))]"), "1 to 16"),
        FindingCase(
            "missing-field", waveform("\"defaultPeriod\":4", name: "\"valueNames\":[\"I\"],\"valueName\":\"v\""),
            waveform("\"defaultPeriod\":4", name: "\"valueNames\":[\"I\"]"), "valueName"),
        FindingCase(
            "single-sample", waveform("\"defaultPeriod\":4"), waveform("\"defaultPeriod\":4,\"dimensions\":1"),
            "one sample"),
        FindingCase(
            "unknown-field", waveform("\"rate\":4,\"dimensions\":1,\"defaultPeriod\":4"),
            waveform("\"dimensions\":1,\"defaultPeriod\":4"), "rate"),
    ]

    private static func ranges(_ members: String) -> String {
        "\"codes\":[],\"value\":{\"valueType\":\"Statistics\",\"valueName\":\"v\",\"code\":\"%\"\(members)}"
    }

    private static let shares = ",\"timeInRanges\":[{\"text\":\"low\",\"below\":5}]"

    private static let holdTimes = [
        FindingCase(
            "misplaced-member", ranges(",\"holdTime\":\"15m\""), ranges("\(shares),\"holdTime\":\"15m\""),
            "'holdTime'", "timeInRanges"),
        FindingCase(
            "wrong-period", ranges("\(shares),\"holdTime\":\"long\""), ranges("\(shares),\"holdTime\":\"15m\""),
            "'long' is no length"),
    ]

    static let all = codings + units + groupings + series + waveforms + holdTimes + vitalSigns + pressures

    private static func series(_ members: String) -> String {
        "\"codes\":[],\"period\":\"1m\",\"value\":\(sampled.dropLast()),\(members)}"
    }

    private static let series = [
        FindingCase(
            "wrong-limit", series("\"lowerLimit\":5,\"upperLimit\":5.0"), series("\"lowerLimit\":5,\"upperLimit\":5.1"),
            "'upperLimit' is not above"),
        FindingCase(
            "wrong-limit", series("\"lowerLimit\":1234567890123456789012"), series("\"lowerLimit\":-0.5"),
            "at most 18 digits"),
        FindingCase(
            "wrong-limit", series("\"compact\":true,\"upperLimit\":5"), series("\"compact\":false,\"upperLimit\":5"),
            "'compact' cannot be true", "remove one"),
        FindingCase(
            "unknown-choice", series("\"collision\":\"first\""), series("\"collision\":\"mean\""), "collision 'first'"),
        FindingCase(
            "wrong-limit", series("\"compact\":true,\"factor\":2"), series("\"origin\":1,\"factor\":2"), "compact",
            "factor"),
        FindingCase("wrong-limit", series("\"factor\":0"), series("\"factor\":-0.5"), "factor"),
        FindingCase("wrong-period", series("\"defaultPeriod\":0"), series("\"defaultPeriod\":\"auto\""), "above zero"),
    ]

    private static let codings = [
        FindingCase(
            "loinc-check-digit", value("55423-7", "{steps}"), value("55423-8", "{steps}"), "ends in -8"),
        FindingCase("loinc-format", value("8867", "/min"), value("8867-4", "/min"), "'8867'", "look like 8867-4"),
        FindingCase("loinc-format", value("88674", "/min"), value("8867-4", "/min"), "did you mean '8867-4'?"),
        FindingCase(
            "system-spelling", coded("{\"system\":\"https://loinc.org/\",\"code\":\"9279-1\"}"),
            coded("{\"system\":\"urn:mine\",\"code\":\"9279-1\"}"), "\"system\": \"http://loinc.org\""),
        FindingCase(
            "code-without-system", coded("{\"code\":\"8867-4\"}"), coded("{\"system\":\"urn:mine\",\"code\":\"a\"}"),
            "'8867-4'", "is it of LOINC?"),
        FindingCase(
            "coding-without-code", coded("{\"system\":\"urn:mine\",\"display\":\"a\"}"),
            coded("{\"system\":\"urn:mine\",\"code\":\"a\",\"display\":\"a\"}"), "add \"code\""),
        FindingCase(
            "code-mismatch", value("8867-4", "/min", name: "diastolic"),
            value("8867-4", "/min", name: "restingHeartRate"),
            "'Heart rate'", "value name 'diastolic'", "8462-4"),
        FindingCase(
            "code-mismatch", value("8867-4", "/min", name: "heartRateVariability"),
            value("80404-7", "ms", name: "heartRateVariability"), "80404-7"),
        FindingCase(
            "code-mismatch", value("29463-7", "kg"), value("8302-2", "cm"), "type name", typeName: "bodyHeight"),
        FindingCase(
            "repeated-code", "\(value("9279-1", "/min")),\"components\":[\(part("9279-1", quantity("/min")))]",
            "\(value("9279-1", "/min")),\"components\":[\(part("2708-6", quantity("%")))]", "obs-7"),
    ]

    private static let units = [
        FindingCase("ucum-code", value("85354-1", "mmHg"), value("8478-0", "mm[Hg]"), "mm[Hg]"),
        FindingCase("ucum-code", value("8867-4", "bpm"), value("8867-4", "/min"), "\"code\": \"/min\""),
        FindingCase("ucum-code", value("8310-5", "C"), value("8310-5", "Cel"), "Cel"),
        FindingCase("ucum-code", value("8310-5", "F"), value("8310-5", "[degF]"), "[degF]"),
        FindingCase("ucum-code", value("29463-7", "LBS"), value("29463-7", "[lb_av]"), "[lb_av]"),
        FindingCase("ucum-code", value("15074-8", "mmol/l"), value("15074-8", "mmol/L"), "compare codes as text"),
        FindingCase(
            "ucum-code", member("\"valueType\":\"Quantity\",\"code\":\"µg\""),
            member("\"valueType\":\"Quantity\",\"code\":\"ug\""), "ASCII"),
        FindingCase("ucum-code", value("8310-5", "kcal/hr/kg"), value("8310-5", "kcal/(kg.h)"), "'hr'", "'h'"),
        FindingCase("ucum-code", value("8310-5", "hertz"), value("8310-5", "Hz"), "unknown unit 'hertz'"),
        FindingCase("ucum-code", value("8310-5", "dB(SPL)"), value("8310-5", "dB[SPL]"), "dB(SPL)"),
        FindingCase("ucum-code", value("8310-5", "IU"), value("8310-5", "[IU]"), "'[IU]'"),
        FindingCase("ucum-code", value("8310-5", "{steps"), value("8310-5", "{steps}/{session}"), "'{steps'"),
        FindingCase("ucum-code", value("8310-5", "10*x/uL"), value("8310-5", "10*3/uL"), "10*x"),
        FindingCase(
            "unit-mismatch", value("2339-0", "mmol/L"), value("15074-8", "mmol/L"), "or LOINC 15074-8 for 'mmol/L'"),
        FindingCase("unit-mismatch", value("2339-0", "ug/L"), value("2339-0", "mg/dL"), "\"code\": \"mg/dL\""),
        FindingCase("unit-mismatch", value("2708-6", "1"), value("2708-6", "%"), "a percentage"),
        FindingCase("unit-mismatch", value("8867-4", "Hz"), value("40443-4", "{beats}/min"), "a rate per minute"),
        FindingCase(
            "unit-mismatch",
            "\(codes("55423-8")),\"value\":{\"valueType\":\"SampledData\",\"valueName\":\"v\",\"unit\":\"bpm\"}",
            "\(codes("55423-8")),\"value\":{\"valueType\":\"SampledData\",\"valueName\":\"v\",\"unit\":\"count\"}",
            "a count"),
        FindingCase(
            "missing-unit", member("\"valueType\":\"Quantity\""), member("\"valueType\":\"String\""), "a Quantity value"
        ),
        FindingCase(
            "unit-without-code", member("\"valueType\":\"Quantity\",\"unit\":\"bpm\""),
            member("\"valueType\":\"Quantity\",\"unit\":\"bpm\",\"code\":\"/min\""), "add \"code\": \"/min\""),
    ]

    private static let groupings = [
        FindingCase(
            "single-sample", "\"codes\":[],\"value\":\(sampled)", "\"codes\":[],\"period\":\"1m\",\"value\":\(sampled)",
            "\"period\""),
        FindingCase("no-value", "\"codes\":[]", "\"codes\":[],\"value\":\(quantity("1"))", "neither a value"),
        FindingCase(
            "missing-field", member("\"valuetype\":\"String\""), member("\"ValueType\":\"String\""),
            "Property ValueType is missing", "spell it \"valueType\""),
    ]

    private static let vitalSigns = [
        FindingCase(
            "vital-sign-category", "\(codes("9279-1")),\"value\":\(quantity("/min"))", value("9279-1", "/min"),
            "needs the category"),
        FindingCase(
            "vital-sign-value", "\(codes("9279-1")),\(vital),\"value\":{\"valueType\":\"String\",\"valueName\":\"v\"}",
            value("9279-1", "/min"), "resprate"),
        FindingCase("vital-sign-unit", value("29463-7", "[oz_av]"), value("29463-7", "g"), "bodyweight", "\"[lb_av]\""),
        FindingCase("vital-sign-unit", value("8867-4", "{beats}/min"), value("8867-4", "/min"), "heartrate"),
        FindingCase(
            "vital-sign-unit", "\(value("8867-4", "/min")),\"components\":[\(part("80404-7", quantity("ms")))]",
            "\(value("8867-4", "/min")),\"components\":[\(part("2708-6", quantity("%")))]", "'ms' in a component"),
        FindingCase(
            "vital-sign-code", value("59408-5", "%"),
            "\(codes("2708-6", "59408-5")),\(vital),\"value\":\(quantity("%"))",
            "\"code\": \"2708-6\""),
        FindingCase("vital-sign-code", value("8462-4", "mm[Hg]"), soundPressure, "as a component", "85354-9"),
        FindingCase("vital-sign-code", value("85353-1", "1"), value("8867-4", "/min"), "a template cannot write"),
        FindingCase(
            "profile-mismatch",
            "\(value("9279-1", "/min")),\"profile\":[\"http://hl7.org/fhir/StructureDefinition/heartrate\"]",
            "\(value("8867-4", "/min")),\"profile\":[\"http://hl7.org/fhir/StructureDefinition/heartrate\"]", "8867-4"),
    ]

    private static let pressures = [
        FindingCase("blood-pressure-part", pressure(part("8480-6")), soundPressure, "LOINC 8462-4"),
        FindingCase(
            "blood-pressure-part", pressure(part("8480-6"), part("8462-4", sampled)), soundPressure, "only a Quantity"),
        FindingCase(
            "vital-sign-unit", pressure(part("8480-6"), part("8462-4", quantity("kPa"))), soundPressure, "\"mm[Hg]\""),
        FindingCase(
            "blood-pressure-value",
            pressure(part("8480-6"), part("8462-4"), with: ",\"value\":\(quantity("mm[Hg]"))"), soundPressure,
            "no value of its own"),
    ]
}
