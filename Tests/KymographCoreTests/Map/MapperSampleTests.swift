import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Arrays of numbers become the samples of one reading.
@Suite struct MapperSampleTests {
    private static let waveform = #""valueType":"SampledData","valueName":"x","dimensions":1,"defaultPeriod":2"#

    private func run(
        _ value: String = waveform, member: String = "", compatibility: Compatibility = .none,
        kind: String = "JsonPath",
        expression: String = "$.x"
    ) throws -> MappingRun {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"\(kind)Content","template":{
            "typeName":"t","typeMatchExpression":"$..[?(@d)]","deviceIdExpression":"\(root(kind)).d",
            "timestampExpression":"\(root(kind)).t",
            "values":[{"valueName":"x","valueExpression":\(text(expression, kind))\(member)}]}}]}
            """
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
            "typeName":"t","codes":[{"system":"urn:test","code":"1"}],"value":{\(value)}}}]}
            """
        return try MappingRun(device: device, fhir: fhir, compatibility: compatibility)
    }

    private func root(_ kind: String) -> String { kind == "Calculated" ? "$.matchedToken" : "$" }

    private func text(_ expression: String, _ kind: String) -> String {
        kind == "Calculated" ? "{\"value\":\"\(expression)\",\"language\":\"JmesPath\"}" : "\"\(expression)\""
    }

    private func line(_ x: String) -> String { "{\"d\":\"a\",\"t\":\"2023-11-01T08:00:00Z\",\"x\":\(x)}" }

    @Test(arguments: [
        ("[1,2,3]", "1 2 3"), ("[-12, 0 ,300000]", "-12 0 300000"), ("[0.10,0.1,-2,1E3]", "0.10 0.1 -2 1000"),
        ("[null,5,\"NaN\",\"NRes\",\"E\"]", "E 5 E E E"), ("[\"-INF\",\"L\",\"INF\",\"+INF\",\"U\"]", "L L U U U"),
        ("[null]", "E"), ("[-0,0.0,0]", "0 0.0 0"), ("7.50", "750e-2"), ("\"7.5\"", "75e-1"),
        ("[999999999999999999,-999999999999999999]", "999999999999999999 -999999999999999999"),
    ])
    func takesNumbersAndWhatStandsForNone(x: String, expected: String) throws {
        let outcome = try run().line(line(x))
        #expect(outcome.values() == [expected])
        #expect(outcome.rejections.isEmpty)
    }

    @Test(arguments: [
        ("[1,\"two\"]", Rejection.invalidValue), ("[1,[2]]", .invalidValue), ("[{}]", .invalidValue),
        ("[true]", .invalidValue), ("[1234567890123456789]", .inexactNumber),
        ("[100000000000000000,0.001]", .inexactNumber), ("[]", .missingValue), ("null", .missingValue),
        ("{}", .missingValue),
    ])
    func refusesEverythingElse(x: String, reason: Rejection) throws {
        #expect(try run().line(line(x)).reasons == [reason])
    }

    @Test(arguments: [("[]", Rejection.missingValue), ("{}", .invalidValue), ("null", .nullValue)])
    func requiredArraysMustBeThere(x: String, reason: Rejection) throws {
        let run = try run(member: ",\"required\":true")
        #expect(run.line(line(x)).reasons == [reason])
        #expect(run.line(line("[1]")).values() == ["1"])
    }

    /// Steps of at most 31 take a byte, so as many as may be fit; larger ones are refused when they do not.
    @Test func aReadingHoldsSoManySamples() throws {
        let run = try run()
        let flat = Array(repeating: "0", count: 65_000)
        #expect(run.line(line("[\(flat.joined(separator: ","))]")).values() == [flat.joined(separator: " ")])
        #expect(run.line(line("[\(flat.joined(separator: ",")),0]")).reasons == [.tooManySamples])
        let steep = (0..<22_000).map { $0 % 2 == 0 ? "0" : "9999" }
        #expect(run.line(line("[\(steep.joined(separator: ","))]")).reasons == [.tooManySamples])
        let half = steep.prefix(20_000)
        #expect(run.line(line("[\(half.joined(separator: ","))]")).values() == [half.joined(separator: " ")])
    }

    /// A unit or a map is for one number.
    @Test func rulesDoNotTakeArrays() throws {
        let run = try run(member: ",\"unit\":{\"from\":\"V\",\"to\":\"mV\"}")
        #expect(run.line(line("[1,2]")).reasons == [.invalidValue])
        #expect(run.line(line("2")).values() == ["2000"])
    }

    /// Where no array is asked for, nothing changes: the value is left out, as in the reference system.
    @Test func otherValuesTakeNoArrays() throws {
        let plain = try run(#""valueType":"SampledData","valueName":"x","defaultPeriod":2"#)
        #expect(plain.line(line("[1,2]")).reasons == [.missingValue])
        #expect(plain.line(line("3")).values() == ["3"])
        let reference = try run(compatibility: .iomtFHIR)
        #expect(reference.line(line("[1,2]")).values() == [nil])
    }

    /// What the template names as absent is a text, beside arrays and numbers.
    @Test func textsInPlaceOfAnArray() throws {
        let run = try run(Self.waveform + ",\"absent\":true")
        #expect(run.line(line("\"NaN\"")).values() == ["NaN"])
        #expect(run.line(line("[1,2]")).values() == ["1 2"])
        #expect(run.line(line("3.0")).values() == ["3.0"])
    }

    @Test func takesArraysThatJMESPathMade() throws {
        let run = try run(kind: "Calculated", expression: "sort(matchedToken.x)")
        #expect(run.line(line("[3,-1.5,2]")).values() == ["-1.5 2 3"])
        #expect(run.line(line("[3,1,2]")).values() == ["1 2 3"])
    }

    /// Every digit comes back, whatever the numbers.
    @Test(arguments: Trials.seeds(200)) func everySampleIsKept(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let span = [3, 40, 5_000, 1_000_000_000_000][Int.random(in: 0..<4, using: &random)]
        let decimals = Int.random(in: 0...4, using: &random)
        let samples = (0..<Int.random(in: 1...900, using: &random)).map { _ -> String in
            if Int.random(in: 0..<50, using: &random) == 0 {
                return ["E", "L", "U"].randomElement(using: &random) ?? "E"
            }
            let digits = Int.random(in: -span...span, using: &random)
            let places = decimals == 0 ? 0 : Int.random(in: 0...decimals, using: &random)
            guard places > 0 else { return "\(digits)" }
            let fraction = String("\(abs(digits))0000".prefix(places))
            return (digits < 0 ? "-" : "") + "\(abs(digits) / 7).\(fraction)"
        }
        let payload = samples.map { "ELU".contains($0) ? "\"\($0)\"" : $0 }.joined(separator: ",")
        let outcome = try run().line(line("[\(payload)]"))
        #expect(outcome.values() == [samples.joined(separator: " ")], "seed \(seed)")
    }
}
