/// Every kind of value and member, with what it gives.
extension ValueShape {
    static let all = typed + comparators + absents + members

    private static let mg = "\"unit\":\"mg/dL\",\"code\":\"mg/dL\""
    private static let mgWritten = ",\"unit\":\"mg/dL\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"mg/dL\"}"

    private static func one(_ type: String, _ more: String = "") -> String {
        value("\"valueType\":\"\(type)\",\"valueName\":\"v\"\(more.isEmpty ? "" : ",")\(more)")
    }

    private static func pair(_ type: String, _ more: String) -> String { value("\"valueType\":\"\(type)\",\(more)") }

    static let typed = [
        ValueShape(one("Integer"), [0: "7"], gives: "\"valueInteger\":7,"),
        ValueShape(one("integer"), [0: "-5.0"], gives: "\"valueInteger\":-5,"),
        ValueShape(one("Integer"), [0: "5"], [0: "5.5"], gives: "\"valueInteger\":5,"),
        ValueShape(one("Integer"), [0: "5.5"], gives: nil),
        ValueShape(one("Integer"), [0: "2147483648"], gives: nil),
        ValueShape(one("Boolean"), .texts([0: "True"]), gives: "\"valueBoolean\":true,"),
        ValueShape(one("Boolean"), .texts([0: "false"]), gives: "\"valueBoolean\":false,"),
        ValueShape(one("Boolean"), .texts([0: "1"]), gives: "\"valueBoolean\":true,"),
        ValueShape(one("Boolean"), .texts([0: "yes"]), gives: nil),
        ValueShape(one("DateTime"), .texts([0: "2024-02-29"]), gives: "\"valueDateTime\":\"2024-02-29\","),
        ValueShape(
            one("DateTime"), .texts([0: "2024-05-01T10:00:00.5+02:00"]),
            gives: "\"valueDateTime\":\"2024-05-01T10:00:00.5+02:00\","),
        ValueShape(one("DateTime"), .texts([0: "2023-02-29"]), gives: nil),
        ValueShape(one("DateTime"), .texts([0: "2024-05-01T10:00:00"]), gives: nil),
        ValueShape(one("Time"), .texts([0: "07:30"]), gives: "\"valueTime\":\"07:30:00\","),
        ValueShape(one("Time"), .texts([0: "23:59:59.123"]), gives: "\"valueTime\":\"23:59:59.123\","),
        ValueShape(one("Time"), .texts([0: "24:00:00"]), gives: nil),
        ValueShape(
            pair("Period", "\"start\":\"a\",\"end\":\"b\""),
            .texts([0: "2024-05-01T22:00:00Z", 1: "2024-05-02T06:30:00Z"]),
            gives: "\"valuePeriod\":{\"start\":\"2024-05-01T22:00:00Z\",\"end\":\"2024-05-02T06:30:00Z\"},"),
        ValueShape(
            pair("Period", "\"start\":\"a\",\"end\":\"b\""), .texts([1: "2024-05-02"]),
            gives: "\"valuePeriod\":{\"end\":\"2024-05-02\"},"),
        ValueShape(
            pair("Period", "\"start\":\"a\",\"end\":\"b\""),
            .texts([0: "2024-05-02T06:30:00+02:00", 1: "2024-05-02T04:29:59Z"]), gives: nil),
        ValueShape(
            pair("Range", "\"low\":\"a\",\"high\":\"b\",\(mg)"), [0: "70", 1: "180.0"],
            gives: "\"valueRange\":{\"low\":{\"value\":70\(mgWritten),\"high\":{\"value\":180.0\(mgWritten)},"),
        ValueShape(
            pair("Range", "\"high\":\"b\",\(mg)"), [0: "180"],
            gives: "\"valueRange\":{\"high\":{\"value\":180\(mgWritten)},"),
        ValueShape(pair("Range", "\"low\":\"a\",\"high\":\"b\",\(mg)"), [0: "70", 1: "69.9"], gives: nil),
        ValueShape(
            pair(
                "Ratio",
                "\"numerator\":\"a\",\"denominator\":\"b\",\"numeratorUnit\":{\"unit\":\"mg\",\"code\":\"mg\"}"),
            [0: "1", 1: "128"],
            gives: "\"valueRatio\":{\"numerator\":{\"value\":1,\"unit\":\"mg\","
                + "\"system\":\"http://unitsofmeasure.org\",\"code\":\"mg\"},\"denominator\":{\"value\":128}},"),
        ValueShape(pair("Ratio", "\"numerator\":\"a\",\"denominator\":\"b\""), [0: "1"], gives: nil),
    ]

    static let comparators = [
        ValueShape(
            one("Quantity", "\"comparator\":true,\(mg)"), .texts([0: "<5"]),
            gives: "\"valueQuantity\":{\"value\":5,\"comparator\":\"<\"\(mgWritten),"),
        ValueShape(
            one("Quantity", "\"comparator\":true,\(mg)"), .texts([0: " >= 7.10 "]),
            gives: "\"valueQuantity\":{\"value\":7.10,\"comparator\":\">=\"\(mgWritten),"),
        ValueShape(
            one("Quantity", "\"comparator\":true,\(mg)"), .texts([0: "7.0"]),
            gives: "\"valueQuantity\":{\"value\":7.0\(mgWritten),"),
        ValueShape(one("Quantity", "\"comparator\":true,\(mg)"), .texts([0: "about 5"]), gives: nil),
        ValueShape(
            one("Quantity", "\"comparatorName\":\"c\",\(mg)"), .texts([1: "<="], [0: "40"]),
            gives: "\"valueQuantity\":{\"value\":40,\"comparator\":\"<=\"\(mgWritten),"),
        ValueShape(
            one("Quantity", "\"comparatorName\":\"c\",\(mg)"), .texts([1: "="], [0: "40"]),
            gives: "\"valueQuantity\":{\"value\":40\(mgWritten),"),
        ValueShape(one("Quantity", "\"comparatorName\":\"c\",\(mg)"), .texts([1: "~"], [0: "40"]), gives: nil),
    ]

    private static func reason(_ code: String) -> String {
        "\"dataAbsentReason\":{\"coding\":[{\"system\":\"http://terminology.hl7.org/CodeSystem/data-absent-reason\","
            + "\"code\":\"\(code)\"}]},"
    }

    private static let lost = "\"absent\":{\"NaN\":\"not-a-number\",\"off\":\"temp-unknown\",\"\":\"unknown\"}"

    static let absents = [
        ValueShape(one("Quantity", "\(lost),\(mg)"), .texts([0: "NaN"]), gives: reason("not-a-number")),
        ValueShape(one("Quantity", "\(lost),\(mg)"), .texts([0: ""]), gives: reason("unknown")),
        ValueShape(
            one("Quantity", "\(lost),\(mg)"), .texts([0: "98.0"]), .texts([0: "off"]),
            gives: "\"valueQuantity\":{\"value\":98.0\(mgWritten),"),
        ValueShape(
            one("Quantity", "\(lost),\(mg)"), .texts([0: "off"]), .texts([0: "NaN"]), gives: reason("not-a-number")),
        ValueShape(one("Quantity", "\(lost),\(mg)"), .texts([0: "broken"]), gives: nil),
        ValueShape(
            one("Quantity", "\"absent\":{\"*\":\"error\"},\(mg)"), .texts([0: "broken"]), gives: reason("error")),
        ValueShape(
            one("Quantity", "\"absent\":{\"255\":\"error\"},\(mg)"), .texts([0: "255"]), gives: reason("error")),
        ValueShape(one("Quantity", "\"absent\":true,\(mg)"), .texts([0: "NRes"]), gives: reason("error")),
        ValueShape(
            one("Quantity", "\"absent\":true,\(mg)"), .texts([0: "-Infinity"]), gives: reason("negative-infinity")),
        ValueShape(one("Integer", lost), .texts([0: "off"]), gives: reason("temp-unknown")),
        ValueShape(one("String", "\"absent\":{\"\":\"unknown\"}"), .texts([0: ""]), gives: reason("unknown")),
        ValueShape(
            one("Statistics", "\(lost),\(mg)"), .texts([0: "off"]), .texts([0: "NaN"]), gives: reason("not-a-number")),
        ValueShape(
            one("Statistics", "\(lost),\"components\":[\"count\"],\(mg)"), .texts([0: "60"]), .texts([0: "NaN"]),
            .texts([0: "62"]),
            gives: "\"valueQuantity\":{\"value\":61.0\(mgWritten),,\"component\":[{\"code\":{\"coding\":[{\"system\":"
                + "\"http://terminology.hl7.org/CodeSystem/observation-statistics\",\"code\":\"count\"}]},"
                + "\"valueInteger\":2}]"),
        ValueShape(
            one("SampledData", "\(lost),\"defaultPeriod\":1000,\(mg)"), .texts([0: "60"]), .texts([0: "NaN"]),
            .texts([0: "62"]),
            gives: "\"valueSampledData\":{\"origin\":{\"value\":0\(mgWritten),\"period\":1000,\"dimensions\":1,"
                + "\"data\":\"60 E 62\"},"),
        ValueShape(
            one("SampledData", "\(lost),\"defaultPeriod\":1000,\(mg)"), .texts([0: "off"]),
            gives: reason("temp-unknown")),
        ValueShape(
            "\"codes\":[],\"components\":[{\"codes\":[{\"system\":\"urn:test\",\"code\":\"2\"}],"
                + "\"value\":{\"valueType\":\"Integer\",\"valueName\":\"v\",\(lost)}}]", .texts([0: "off"]),
            gives: ",\"component\":[{\"code\":{\"coding\":[{\"system\":\"urn:test\",\"code\":\"2\"}]},"
                + reason("temp-unknown").dropLast() + "}]"),
    ]

    private static let levels = "\"interpretation\":[{\"below\":70,\"code\":\"L\"},{\"above\":180,\"code\":\"H\"}]"

    private static func meaning(_ code: String) -> String {
        "\"interpretation\":[{\"coding\":[{\"system\":\"http://terminology.hl7.org/CodeSystem/"
            + "v3-ObservationInterpretation\",\"code\":\"\(code)\"}]}],"
    }

    static let members = [
        ValueShape(
            one("Quantity", "\(levels),\(mg)"), [0: "69.9"],
            gives: "\(meaning("L"))\"valueQuantity\":{\"value\":69.9\(mgWritten),"),
        ValueShape(
            one("Quantity", "\(levels),\(mg)"), [0: "70"], gives: "\"valueQuantity\":{\"value\":70\(mgWritten),"),
        ValueShape(
            one("Quantity", "\(levels),\"comparator\":true,\(mg)"), .texts([0: ">400"]),
            gives: "\"valueQuantity\":{\"value\":400,\"comparator\":\">\"\(mgWritten),"),
        ValueShape(
            one("Integer", "\"interpretation\":[{\"from\":3,\"to\":3,\"code\":\"A\"},{\"code\":\"N\"}]"), [0: "3"],
            gives: "\(meaning("A"))\"valueInteger\":3,"),
        ValueShape(
            one("Quantity", "\"referenceRange\":[{\"low\":70,\"high\":180.0},{\"text\":\"adults\"}],\(mg)"),
            [0: "100"],
            gives: "\"referenceRange\":[{\"low\":{\"value\":70\(mgWritten),\"high\":{\"value\":180.0\(mgWritten)},"
                + "{\"text\":\"adults\"}],\"valueQuantity\":{\"value\":100\(mgWritten),"),
        ValueShape(
            one("Integer") + ",\"note\":[\"at home\"],\"method\":{\"text\":\"cuff\"},\"bodySite\":{\"codes\":"
                + "[{\"system\":\"http://snomed.info/sct\",\"code\":\"368209003\"}]}", [0: "1"],
            gives: "\"note\":[{\"text\":\"at home\"}],\"bodySite\":{\"coding\":[{\"system\":\"http://snomed.info/sct\""
                + ",\"code\":\"368209003\"}]},\"method\":{\"text\":\"cuff\"},\"valueInteger\":1,"),
        ValueShape(
            one("Integer") + ",\"note\":{\"valueName\":\"n\"}", .texts([1: "felt \"well\""], [0: "1"]),
            gives: "\"note\":[{\"text\":\"felt \\\"well\\\"\"}],\"valueInteger\":1,"),
        ValueShape(one("Integer") + ",\"note\":{\"valueName\":\"n\"}", [0: "1"], gives: "\"valueInteger\":1,"),
        ValueShape(one("Integer") + ",\"note\":{\"valueName\":\"n\"}", .texts([1: "only a note"]), gives: nil),
        ValueShape(
            one("Integer") + ",\"performer\":[{\"type\":\"Organization\",\"identifier\":{\"system\":\"urn:o\","
                + "\"value\":\"7\"}}],\"extension\":[{\"url\":\"http://example.org/StructureDefinition/a\","
                + "\"valueBoolean\":true},{\"url\":\"http://example.org/StructureDefinition/b\","
                + "\"valueCode\":\"x\"}]", [0: "1"],
            gives: "\"extension\":[{\"url\":\"http://example.org/StructureDefinition/a\",\"valueBoolean\":true},"
                + "{\"url\":\"http://example.org/StructureDefinition/b\",\"valueCode\":\"x\"}],\"performer\":[{\"type\""
                + ":\"Organization\",\"identifier\":{\"system\":\"urn:o\",\"value\":\"7\"}}],\"valueInteger\":1,"),
        ValueShape(
            one("Integer") + ",\"issued\":true", [0: "1"],
            gives: "\"issued\":\"2024-05-01T10:00:00Z\","
                + "\"valueInteger\":1,"),
    ]
}
