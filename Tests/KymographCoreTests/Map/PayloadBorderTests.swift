import Foundation
import KymographCore
import Testing

/// A payload is what its framing says, on all sources: its values are all read, what is none is rejected by itself, and
/// nothing is passed over in silence. Lines and datagrams must say the same of the same bytes.
@Suite struct PayloadBorderTests {
    private func run(_ compatibility: Compatibility) throws -> MappingRun {
        try MappingRun([TestTemplate.jsonPath()], compatibility: compatibility)
    }

    private static func reading(_ value: Int) -> String { TestTemplate.reading("\"v\":\(value)") }

    /// A payload, the values that it gives, and what is rejected of it.
    static let payloads: [(String, [Int], [String])] = [
        ("\(reading(1))", [1], []),
        ("\(reading(1))\(reading(2))", [1, 2], []),
        ("\(reading(1)) \t\(reading(2)) ", [1, 2], []),
        ("[\(reading(1))][\(reading(2))]", [1, 2], []),
        ("\(reading(1))garbage", [1], ["garbage"]),
        ("\(reading(1)) garbage \(reading(2))", [1], ["garbage \(reading(2))"]),
        ("\(reading(1)) }", [1], ["}"]),
        ("\(reading(1))\(reading(2).dropLast())", [1], ["\(reading(2).dropLast())"]),
        ("\u{FEFF}\(reading(1))", [1], []),
        ("\u{FEFF} [\(reading(1))]", [1], []),
        ("\u{FEFF}", [], []),
        ("\(reading(1))\u{FEFF}", [1], ["\u{FEFF}"]),
        ("12abc", [], ["12abc"]),
    ]

    @Test(arguments: payloads, [Compatibility.none, .iomtFHIR]) func readsAllOfIt(
        _ payload: (text: String, values: [Int], rejected: [String]), _ compatibility: Compatibility
    ) throws {
        let run = try run(compatibility)
        for outcome in [run.line(payload.text), run.datagram(payload.text)] {
            #expect(outcome.values().map { $0.flatMap(Int.init) } == payload.values, "\(payload.text)")
            #expect(outcome.rejections.map(\.text) == payload.rejected, "\(payload.text)")
            #expect(outcome.reasons.allSatisfy { $0 == .invalidJSON || $0 == .invalidUTF8 })
        }
    }

    /// A value within a document whose beginning is lost may be of another device: what was around it is not known. The
    /// reference reads such a value.
    @Test(arguments: ["}", "]", ",\"p\":2}", ":1", ",\(reading(2))"]) func aPartOfADocumentIsNoReading(_ rest: String)
        throws
    {
        let payload = PayloadBorderTests.reading(1) + rest
        for outcome in [try run(.none).line(payload), try run(.none).datagram(payload)] {
            #expect(outcome.readings == [] && outcome.rejections.map(\.text) == [payload])
        }
        let outcome = try run(.iomtFHIR).line(payload)
        #expect(outcome.values() == ["1"] && outcome.rejections.map(\.text) == [rest])
    }

    /// A mapper that has learnt the shape of the line must not stop at its first value either.
    @Test func readsAllOfKnownLines() throws {
        let run = try run(.none)
        let good = PayloadBorderTests.reading(1)
        let outcome = run.lines([good, good, good, good + good, good + " x", good])
        #expect(outcome.readings.count == 7 && outcome.rejections.map(\.text) == ["x"])
    }

    /// What the reference's reader takes besides JSON, each with something behind it.
    @Test func lenientValuesAreAllRead() throws {
        let run = try run(.iomtFHIR)
        let lenient = "{d:'dev',t:'2021-07-13T17:29:01Z',v:1,}"
        let payloads = [
            lenient, "\(lenient) // note", "\(lenient)/* a */\u{C}", "\(lenient)\u{C}\(lenient)",
            "\(PayloadBorderTests.reading(1)) // note", "\(lenient) // note\n\(lenient)",
        ]
        for payload in payloads {
            let count = payload.components(separatedBy: "2021").count - 1
            for outcome in [run.line(payload), run.datagram(payload)] {
                #expect(outcome.readings.count == count && outcome.rejections == [], "\(payload)")
            }
        }
        let outcome = run.line("\(lenient) /* open")
        #expect(outcome.readings.count == 1 && outcome.rejections.map(\.text) == ["/* open"])
        #expect(run.line("// nothing").reasons == [.invalidJSON])
    }
}

/// What is not JSON and yet read by the reference's reader: under `compatibility: iomt-fhir` all of it is read that
/// docs/compatibility.md names, by lines and datagrams, and none of it by default.
@Suite struct LenientPayloadTests {
    /// A reading with `more` behind its members.
    private static func reading(_ more: String) -> String { TestTemplate.reading("\"v\":1\(more)") }

    /// Payloads that the reference's reader takes.
    static let taken = [
        "// a\n\(reading(""))", "/* a */\(reading(""))", reading(" // a\n"), reading(",/* a */\"x\":/**/2"),
        "\(reading("")) // a", "\(reading(""))/* a */", reading("").replacing("\"", with: "'"), reading(",'x':2"),
        reading(",\"x\":'a'"), reading(",x:2"), reading(",$x:2"), reading(",_x:2"), reading(",1x:2"),
        reading(",größe:2"),
        reading(",\"x\":NaN"), reading(",\"x\":Infinity"), reading(",\"x\":-Infinity"), reading(",\"x\":undefined"),
        reading(","), reading(",\"x\":[2,]"), reading(",\"x\":{\"y\":2,}"), reading(",\"x\":\"a\tb\""),
        reading(",\"x\":\"a\nb\""), reading(",\"x\":\"a\u{0}b\""), reading(",\"x\":\"a\u{1F}b\""),
        reading(",\"x\":\"it\\'s\""), "\u{C}\(reading(""))", "\(reading(""))\u{C}", reading(",\u{C}\"x\":2"),
        reading(",\u{B}\"x\":2"), reading(",\u{85}\"x\":2"), reading(",\u{A0}\"x\":2"), reading(",\u{2003}\"x\":2"),
        reading(",\u{2028}\"x\":2"), reading(",\u{3000}\"x\":2"),
    ]

    /// Payloads that nobody takes here; some of them the reference's reader does.
    static let refused = [
        reading(",\"x\":[1,,2]"), reading(",\"x\":[,1]"), reading(",,"), reading(",\"x\":0x1F"),
        reading(",\"x\":017"), reading(",\"x\":.5"), reading(",\"x\":-.5"), reading(",\"x\":5."),
        reading(",\"x\":+5"), reading(",\"x\":new Date(1)"), reading(",\"x\":True"), reading(",\"x\":-NaN"),
        reading(" \"x\":2"), reading(",\"x\":'a"), reading(",\"x\":\"\\x41\""), "# a\n\(reading(""))",
    ]

    private func outcomes(_ payload: String, _ compatibility: Compatibility) throws -> [MappingRun.Outcome] {
        let run = try MappingRun([TestTemplate.jsonPath()], compatibility: compatibility)
        return [run.line(payload), run.datagram(payload)]
    }

    @Test(arguments: taken) func readsWhatTheReferenceReads(_ payload: String) throws {
        for outcome in try outcomes(payload, .iomtFHIR) {
            #expect(outcome.values() == ["1"] && outcome.rejections == [], "\(outcome)")
        }
        for outcome in try outcomes(payload, .none) {
            #expect(!outcome.reasons.isEmpty && outcome.reasons.allSatisfy { $0 == .invalidJSON }, "\(outcome)")
        }
    }

    @Test(arguments: refused, [Compatibility.none, .iomtFHIR]) func refusesTheRest(
        _ payload: String, _ compatibility: Compatibility
    ) throws {
        for outcome in try outcomes(payload, compatibility) {
            #expect(!outcome.reasons.isEmpty && outcome.reasons.allSatisfy { $0 == .invalidJSON }, "\(outcome)")
        }
        for outcome in try outcomes(payload, compatibility) where !payload.hasPrefix("#") {
            #expect(outcome.readings == [], "\(outcome)")
        }
    }
}

/// Datagrams of several lines of which one is cut, wherever that is: it costs itself, and no other.
@Suite struct CutLineTests {
    private func line(_ number: Int) -> String {
        #"{"d":"d\#(number)","n":{"a":[1,{"b":2}]},"t":"2021-07-13T17:29:01Z","l":[1,2],"v":\#(number)}"#
    }

    private func check(
        _ payload: [String], values: [Int], rejected: [String], _ compatibility: Compatibility,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let run = try MappingRun([TestTemplate.jsonPath()], compatibility: compatibility)
        for end in ["\n", "\r\n"] {
            let outcome = run.datagram(payload.joined(separator: end))
            #expect(
                outcome.values().map { $0.flatMap(Int.init) } == values, "\(payload)", sourceLocation: sourceLocation)
            #expect(
                outcome.rejections.map { $0.text.filter { !$0.isNewline } } == rejected, "\(payload)",
                sourceLocation: sourceLocation)
        }
    }

    /// Cut at each byte: the first, one in the middle, two in a row, the last.
    @Test(arguments: [Compatibility.none, .iomtFHIR]) func aCutLineCostsItself(_ compatibility: Compatibility) throws {
        let whole = (0..<5).map(line)
        for count in 1..<whole[1].utf8.count {
            let cut = String(whole[1].prefix(count))
            try check([cut, whole[2], whole[3]], values: [2, 3], rejected: [cut], compatibility)
            try check([whole[0], cut, whole[2], whole[3]], values: [0, 2, 3], rejected: [cut], compatibility)
            try check([whole[0], cut, cut, whole[3]], values: [0, 3], rejected: [cut, cut], compatibility)
            try check([whole[0], cut], values: [0], rejected: [cut], compatibility)
        }
    }

    /// Cut at its beginning, it may be what looks like a value, or like the next line of a document.
    @Test func theRestOfALineIsNoReading() throws {
        let whole = (0..<4).map(line)
        for count in 1..<whole[1].utf8.count {
            let rest = String(whole[1].suffix(count))
            let outcome = try MappingRun([TestTemplate.jsonPath()]).datagram(
                [whole[0], rest, whole[2]].joined(separator: "\n"))
            #expect(outcome.values() == ["0", "2"], "\(rest)")
            #expect(!outcome.rejections.isEmpty)
        }
    }

    /// A document of several lines is one: a part of it, read without the rest, would be of nobody or of another.
    @Test func aBrokenDocumentOfSeveralLinesIsRefusedWhole() throws {
        let reading = line(1)
        let documents = [
            "[\n\(reading),\n\(reading) x,\n\(reading)\n]", "{\"p\":\"P\",\"r\":[\n\(reading),,\n\(reading)\n]}",
            "{\n  \"d\": \"D\"\n  \"v\": 1\n}",
        ]
        for document in documents {
            let outcome = try MappingRun([TestTemplate.jsonPath()]).datagram(line(0) + "\n" + document)
            #expect(outcome.values() == ["0"] && outcome.rejections.map(\.text) == [document], "\(document)")
        }
    }

    /// Documents of several lines that are whole are read as such, several in a row, too.
    @Test func wholeDocumentsOfSeveralLinesAreRead() throws {
        let document = "{\n\"d\":\"D\",\n\"t\":\"2021-07-13T17:29:01Z\",\n\"v\":\n72\n}\n"
        let outcome = try MappingRun([TestTemplate.jsonPath()]).datagram(document + document)
        #expect(outcome.values() == ["72", "72"] && outcome.rejections == [])
    }
}
