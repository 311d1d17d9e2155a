/// Summaries with what they give.
enum StatisticsShapes {
    private static let head = "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"/min\",\"code\":\"/min\""
    private static let unit = ",\"unit\":\"/min\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min\"}"

    private static func component(_ code: String, _ value: String, own: Bool = false) -> String {
        let system =
            own
            ? "urn:kymograph:observation-statistics"
            : "http://terminology.hl7.org/CodeSystem/observation-statistics"
        return "{\"code\":{\"coding\":[{\"system\":\"\(system)\",\"code\":\"\(code)\"}]},"
            + "\"valueQuantity\":{\"value\":\(value)\(unit)}"
    }

    private static func shape(
        _ more: String, _ numbers: [String], _ result: String, _ components: String...
    ) -> ValueShape {
        let added = components.isEmpty ? "" : ",\"component\":[\(components.joined(separator: ","))]"
        var shape = ValueShape(
            ValueShape.value("\(head),\(more)"), gives: "\"valueQuantity\":{\"value\":\(result)\(unit),\(added)")
        shape.readings = numbers.map { ValueShape.Reading(numbers: [0: $0]) }
        return shape
    }

    private static func aggregate(_ name: String, _ numbers: [String], _ result: String) -> ValueShape {
        shape("\"aggregate\":\"\(name)\",\"components\":[]", numbers, result)
    }

    static let all = aggregates + parts + ranges

    static let aggregates = [
        aggregate("minimum", ["61", "60.50", "62"], "60.50"), aggregate("maximum", ["61", "62.0", "62"], "62.0"),
        aggregate("latest", ["61", "60", "62.0"], "62.0"), aggregate("count", ["61", "60"], "2"),
        aggregate("count", ["61"], "1"), aggregate("median", ["61"], "61"),
        aggregate("median", ["70", "60", "61.0"], "61.0"), aggregate("median", ["61", "60"], "60.5"),
        aggregate("median", ["62", "60", "60.00", "99"], "61.000"), aggregate("sum", ["1.5", "2"], "3.5"),
    ]

    /// 2, 4, 4, 4, 5, 5, 7, 9: squared distances from 5 add up to 32; the root of 32 / 7 is 2.138…
    private static let eight = ["9", "2", "4", "5", "4", "7", "5", "4"]

    static let parts =
        [
            shape(
                "\"components\":[\"median\",\"std-dev\",\"sum\",\"average\"]", eight, "5.0", component("median", "4.5"),
                component("std-dev", "2.1"), component("sum", "40"), component("average", "5.0")),
            shape("\"components\":[\"std-dev\"]", ["1", "2"], "1.5", component("std-dev", "0.7")),
            shape("\"components\":[\"std-dev\"]", ["0.50", "0.50"], "0.500", component("std-dev", "0.000")),
            shape("\"components\":[\"std-dev\"]", ["-3", "4.00"], "0.500", component("std-dev", "4.950")),
            shape(
                "\"components\":[\"20-percent\",\"25-percent\",\"75-percent\",\"80-percent\"]", eight, "5.0",
                component("20-percent", "4"), component("4-lower", "4"), component("4-upper", "5"),
                component("80-percent", "7")),
            shape(
                "\"components\":[\"95-percent\",\"2.5-percent\"]", eight, "5.0",
                component("95-percent", "9", own: true),
                component("2.5-percent", "2", own: true)),
            shape("\"components\":[\"median\"]", ["61"], "61"),
        ] + variances

    private static func variance(_ value: String) -> String {
        component("variance", value).replacing(
            "\"/min\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min\"",
            with: "\"(/min)²\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min/min\"")
    }

    /// 32 / 7 is 4.571…; 0.5 and 0.25 have exact squares of two and four decimals; 0.05 and 0.15 are halfway.
    private static let variances = [
        shape("\"components\":[\"variance\"]", eight, "5.0", variance("4.6")),
        shape("\"components\":[\"variance\"]", ["1", "2"], "1.5", variance("0.5")),
        shape("\"components\":[\"variance\"]", ["0.50", "0.5"], "0.500", variance("0.00000")),
        shape("\"components\":[\"variance\"]", ["-3", "4.00"], "0.500", variance("24.50000")),
        shape("\"components\":[\"variance\"]", ["0", "0", "0", "1"], "0.2", variance("0.2")),
        shape("\"components\":[\"variance\"]", ["0", "0", "0", "0", "1"], "0.2", variance("0.2")),
        shape("\"components\":[\"variance\"]", ["0", "0", "0", "0", "0.1"], "0.02", variance("0.002")),
    ]

    private static func share(_ code: String, _ value: String) -> String {
        "{\"code\":{\"coding\":[{\"system\":\"http://loinc.org\",\"code\":\"\(code)\"}]},\"valueQuantity\":{\"value\":"
            + "\(value),\"unit\":\"%\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"%\"}}"
    }

    private static func range(_ code: String, _ bounds: String) -> String {
        "{\"codes\":[{\"system\":\"http://loinc.org\",\"code\":\"\(code)\"}],\(bounds)}"
    }

    static let ranges = [
        shape(
            "\"components\":[\"median\"],\"timeInRanges\":["
                + "\(range("104641-6", "\"below\":70")),\(range("97510-2", "\"from\":70,\"to\":180")),"
                + "\(range("104640-8", "\"above\":180"))]", ["69", "70", "180.0"], "106.33", component("median", "70"),
            share("104641-6", "33.3"), share("97510-2", "66.7"), share("104640-8", "0.0")),
        // One second each, the last as long as it may.
        byTime("2s", ["69", "70", "180"], low: "25.0", within: "75.0"),
        byTime("1s", ["69", "70", "180"], low: "33.3", within: "66.7"),
        // Up to the end of the hour: 1 of 3,600 s.
        byTime("1d", ["69", "70", "180"], low: "0.0", within: "100.0"),
        byTime("500ms", ["69", "70", "69", "69"], low: "75.0", within: "25.0"),
    ]

    private static func byTime(_ holdTime: String, _ numbers: [String], low: String, within: String) -> ValueShape {
        shape(
            "\"components\":[],\"holdTime\":\"\(holdTime)\",\"timeInRanges\":["
                + "\(range("104641-6", "\"below\":70")),\(range("97510-2", "\"from\":70,\"to\":180"))],"
                + "\"aggregate\":\"latest\"", numbers, numbers[numbers.count - 1], share("104641-6", low),
            share("97510-2", within))
    }
}
