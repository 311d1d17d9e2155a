@testable import KymographCore
import KymographTestKit
import Testing

/// Messages of HL7 v2 become documents that templates read.
@Suite struct HL7ReaderTests {
    private func element(_ result: String) throws -> JSONTree {
        let reading = HL7Reading([HL7Messages.header, HL7Messages.patient, HL7Messages.order, result])
        let document = try #require(
            reading.documents.first, "\(reading.refused.map(\.reason)) \(reading.failure as Any)")
        let results = try JSONTree(parsing: Array(document.utf8))["OBX"]?.elements
        return try #require(results?.first)
    }

    @Test func shapeOfADocument() throws {
        let reading = HL7Reading([
            HL7Messages.header, "PID|1||p-1^^^H&1.2&ISO^MR||Doe^Jane~Roe", "NK1|1|A", "NK1|2|B", HL7Messages.order,
            "NTE|1||of the order", HL7Messages.result, "NTE|1||of the result", "SPM|1",
        ])
        let expected = """
            {"OBX":[{"value":72,"time":"2026-03-01T08:00:00+01:00","device":"dev","patient":"p-1","channel":"1.1.1",\
            "1":"1","2":"NM","3":{"1":"c","2":"n","3":"MDC"},"4":"1.1.1.1","5":"72","6":"u","11":"F","18":"dev",\
            "NTE":[{"1":"1","3":"of the result"}]}],\
            "MSH":{"time":"2026-03-01T08:00:01+01:00","1":"|","2":"^~\\\\&","3":"GW","4":"WARD","5":"KYMO",\
            "6":"HOSPITAL","7":"20260301080001+0100","9":{"1":"ORU","2":"R01"},"10":"M1","11":"P","12":"2.6"},\
            "PID":{"1":"1","3":{"1":"p-1","4":{"1":"H","2":"1.2","3":"ISO"},"5":"MR"},\
            "5":[{"1":"Doe","2":"Jane"},"Roe"]},"NK1":[{"1":"1","2":"A"},{"1":"2","2":"B"}],\
            "OBR":{"time":"2026-03-01T08:00:00+01:00","1":"1","4":"X","7":"20260301080000"},\
            "NTE":[{"1":"1","3":"of the order"}],"SPM":[{"1":"1"}]}
            """
        #expect(reading.documents == [expected])
        #expect(reading.refused.isEmpty && reading.failure == nil)
    }

    /// Any distinct signs may be delimiters, and lines may end as files have it.
    @Test(arguments: ["\r", "\n", "\r\n"])
    func delimitersAndLineEnds(end: String) throws {
        let lines = [
            "MSH$%*!@$GW$$$$20260301080001+0100$$ORU%R01$M1$P$2.6", "PID$$$p-1*p-2%%%%MR", "OBR$1$$$X",
            "OBX$1$ST$c%n%MDC$1$a!F!b!S!c!T!d!R!e!E!f$u$$$$$F$$$20260301080000",
        ]
        let reading = HL7Reading(Array(lines.joined(separator: end).utf8))
        let tree = try JSONTree(parsing: Array(try #require(reading.documents.first).utf8))
        #expect(tree["OBX"]?.elements?.first?["5"]?.text == "a$b%c@d*e!f")
        #expect(tree["OBX"]?.elements?.first?["patient"]?.text == "p-2")
    }

    /// Only what stands for text is decoded; anything else stays as it came.
    @Test(arguments: [
        (#"a\F\b\S\c\T\d\R\e\E\f"#, #"a|b^c&d~e\f"#), (#"one\.br\two"#, "one\ntwo"), (#"\X41\\X4243\"#, "ABC"),
        (#"\Xc3a9\"#, #"\Xc3a9\"#), (#"\X4\"#, #"\X4\"#), (#"\H\bold\N\"#, #"\H\bold\N\"#), (#"C:\dir"#, #"C:\dir"#),
        (#"\"#, #"\"#), (#"\P\"#, #"\P\"#), ("say \"x\"\t", "say \"x\"\t"),
    ])
    func escapes(written: String, text: String) throws {
        #expect(try element("OBX|1|ST|c|1|\(written)|u|||||F")["5"]?.text == text)
    }

    @Test func charsets() throws {
        func value(_ bytes: [UInt8], _ charset: String) throws -> String? {
            let header = HL7Messages.header + "||||||" + charset
            let lines = Array("\(header)\rOBR|1||||||20260301080000\rOBX|1|ST|c|1|".utf8) + bytes
            let reading = HL7Reading(lines + Array("|u|||||F".utf8))
            guard let document = reading.documents.first else { return reading.failure?.name }
            return try JSONTree(parsing: Array(document.utf8))["OBX"]?.elements?.first?["5"]?.text
        }
        #expect(try value([0xFC], "8859/1") == "ü" && value([0xC3, 0xBC], "UNICODE UTF-8") == "ü")
        #expect(try value(Array(#"\XFC\"#.utf8), "8859/1") == "ü")
        #expect(try value(Array(#"\XC3BC\"#.utf8), "UNICODE UTF-8") == "ü")
        #expect(try value([0x41], "") == "A" && value([0x41], "ASCII") == "A")
        for (bytes, charset) in [
            ([0xFC], ""), ([0xC3, 0xBC], ""), ([0xFC], "ASCII"), ([0xFC], "UNICODE UTF-8"), ([0x41], "8859/15"),
            ([0x41], "UNICODE"), ([0x41], "8859/1~ISO IR87"), ([0x41], "\"\""),
        ] as [([UInt8], String)] {
            #expect(try value(bytes, charset) == "unsupportedCharset", "\(bytes) \(charset)")
        }
    }

    /// Nothing and null differ, and so do repetitions and one.
    @Test func emptyAndNull() throws {
        let result = try element("OBX|1|ST|c^^\"\"|\"\"||u~v||||~|F")
        #expect(result["3"]?["1"]?.text == "c" && result["3"]?["2"] == nil && result["3"]?["3"] == .null)
        #expect(result["4"] == .null && result["5"] == nil && result["value"] == nil)
        #expect(result["6"]?.elements?.map(\.text) == ["u", "v"] && result["10"]?.elements?.count == 2)
        #expect(try element("OBX|1|NM|c|1|\"\"|u|||||F")["value"] == .null)
    }

    @Test(arguments: [
        ("NM", "72", "72"), ("NM", "+072.50", "72.50"), ("NM", "-0.5", "-0.5"), ("NM", ".5", "0.5"), ("NM", "5.", "5"),
        ("NM", " 7 ", "7"), ("NM", "000", "0"), ("SN", "^100", "100"), ("SN", "=^100", "100"),
        ("SN", ">^100", "\">100\""),
        ("SN", "<=^1.50", "\"<=1.50\""), ("ST", "72", "\"72\""), ("CWE", "code^text^MDC", "\"code\""),
    ])
    func values(type: String, written: String, value: String) throws {
        let reading = HL7Reading(
            [HL7Messages.header, HL7Messages.order, "OBX|1|\(type)|c|1|\(written)|u|||||F"], names: ["OBX", "value"])
        #expect(reading.documents == ["{\"OBX\":[{\"value\":\(value)}]}"])
    }

    @Test func rangesRatiosAndSamples() throws {
        let range = try element("OBX|1|SN|c|1|^90^-^120|u|||||F")
        #expect(range["low"] == .number("90") && range["high"] == .number("120") && range["value"] == nil)
        let ratio = try element("OBX|1|SN|c|1|^1^:^128|u|||||F")
        #expect(ratio["numerator"] == .number("1") && ratio["denominator"] == .number("128"))
        #expect(try element("OBX|1|SN|c|1|>^5|u|||||F")["comparator"]?.text == ">")
        let samples = try element("OBX|1|NA|c|1|-10^^5.50^|u|||||F")["samples"]?.elements
        #expect(samples == [.number("-10"), .null, .number("5.50")])
        #expect(try element("OBX|1|NM|c|1|1~2|u|||||F")["value"] == nil)
    }

    @Test(arguments: [
        ("NM", "7,5"), ("NM", "1e3"), ("NM", "seven"), ("NM", "--5"), ("NM", "."), ("NM", "0x10"), ("SN", ">^"),
        ("SN", "<>^5"), ("SN", "5"), ("SN", "^2^+"), ("NA", "1^x^3"), ("", "72"),
    ])
    func valuesOfAnotherType(type: String, written: String) {
        let reading = HL7Reading([HL7Messages.header, HL7Messages.order, "OBX|1|\(type)|c|1|\(written)|u|||||F"])
        #expect(reading.documents.isEmpty && reading.refused.map(\.reason) == [.invalidValue])
    }

    /// HL7 table 0085, as version 2.8 has it.
    @Test(arguments: ["F", "C", "R", "A", "B", "D", "I", "N", "O", "P", "S", "U", "V", "W", "X", "", "f", "FF"])
    func statuses(status: String) {
        let reading = HL7Reading([HL7Messages.header, HL7Messages.order, "OBX|1|NM|c|1.1.1.1|72|u|||||\(status)"])
        let isFiled = ["F", "C", "R"].contains(status)
        #expect(reading.documents.count == (isFiled ? 1 : 0))
        #expect(reading.refused.map(\.reason) == (isFiled ? [] : [.resultStatus]))
    }

    @Test(arguments: [
        ("20260301080000.1234+0100", "2026-03-01T08:00:00.1234+01:00"),
        ("202603010800-0530", "2026-03-01T08:00:00-05:30"),
        ("20260301080059", "2026-03-01T08:00:59+01:00"), ("", "2026-03-01T08:00:00+01:00"),
        ("\"\"", "2026-03-01T08:00:00+01:00"),
    ])
    func times(written: String, time: String) throws {
        #expect(try element("OBX|1|NM|c|1|72|u|||||F|||\(written)")["time"]?.text == time)
    }

    @Test(arguments: [
        "20260301", "2026030108", "2026030108000", "20260301080000.", "2026-03-01T08:00:00", "x", "+0100",
    ])
    func whatIsNoTime(written: String) {
        let reading = HL7Reading([HL7Messages.header, HL7Messages.order, "OBX|1|NM|c|1|72|u|||||F|||\(written)"])
        #expect(reading.documents.isEmpty && reading.refused.map(\.reason) == [.invalidTimestamp])
    }

    /// The offset is the time's own, else that of MSH-7, else the source's, and never a guess.
    @Test func offsets() throws {
        let bare = HL7Messages.header.replacing("+0100", with: "")
        let lines = [bare, HL7Messages.order, "OBX|1|NM|c|1|72|u|||||F"]
        #expect(HL7Reading(lines).refused.map(\.reason) == [.unknownTimeZone])
        let clocked = try #require(HL7Reading(lines, hasClock: true).documents.first)
        #expect(clocked.contains("\"time\":\"2026-03-01T08:00:00\""))
        let own = HL7Reading([bare, HL7Messages.order, "OBX|1|NM|c|1|72|u|||||F|||20260301080000+0000"])
        #expect(own.documents.first?.contains("\"time\":\"2026-03-01T08:00:00+00:00\"") == true)
        // Who reads no time needs none.
        #expect(HL7Reading(lines, names: ["OBX", "5"]).documents == ["{\"OBX\":[{\"5\":\"72\"}]}"])
    }

    /// The device is what a result names itself, else the device above it, else the module.
    @Test func devices() throws {
        func devices(_ lines: [String]) throws -> [String?] {
            let reading = HL7Reading([HL7Messages.header, HL7Messages.patient] + lines)
            return try reading.documents.flatMap { document in
                (try JSONTree(parsing: Array(document.utf8))["OBX"]?.elements ?? []).map { $0["device"]?.text }
            }
        }
        func container(_ place: String, _ device: String) -> String {
            "OBX|1||69965^MDS^MDC|\(place)|||||||X|||||||\(device)"
        }
        func result(_ place: String, _ device: String = "") -> String {
            "OBX|1|NM|c|\(place)|72|u|||||F|||||||\(device)"
        }
        let order = HL7Messages.order
        let vmd = container("1.2.0.0", "vmd")
        #expect(try devices([order, container("1.0.0.0", "mds"), vmd, result("1.2.1.1")]) == ["mds"])
        #expect(try devices([order, container("1.0.0.0", ""), vmd, result("1.2.1.1.1")]) == ["vmd"])
        #expect(try devices([order, container("1.0.0.0", "mds"), result("1.2.1.1", "own^x")]) == ["own"])
        #expect(try devices([order, container("1.0.0.0", "^^0011^EUI-64"), result("1.2.1.1")]) == ["0011"])
        let other = result("1").replacing("|c|", with: "|d|")
        #expect(try devices([order, container("2.0.0.0", "mds"), result("1.2.1.1"), other]) == [nil, nil])
        // Another order of the patient knows it, unless two devices have the place.
        #expect(try devices([order, container("1.0.0.0", "a"), order, result("1.1.1.1")]) == ["a"])
        let two = [order, container("1.0.0.0", "a"), order, container("1.0.0.0", "b")]
        #expect(try devices(two + [result("1.1.1.1")]) == ["b"])
        // Which of them, nobody knows, and no module stands for one of them.
        #expect(try devices(two + [order, container("1.1.0.0", "vmd"), result("1.1.1.1")]) == [])
        // It may stand behind its results.
        #expect(try devices([order, result("1.1.1.1"), order, container("1.0.0.0", "a")]) == ["a"])
        #expect(try devices([order, container("1.0.0.0", "a"), "PID|||p-2", order, result("1.1.1.1")]) == [nil])
        #expect(try devices([order, result("1.1.1.1"), "PRT|1|UC||EQUIP^x||||||dev^y"]) == ["dev"])
    }

    /// A device that is named in two ways is none, and the letter has both lines.
    @Test func contradictingDevices() {
        func container(_ device: String) -> String { "OBX|1||69965^MDS^MDC|1.0.0.0|||||||X|||||||\(device)" }
        let module = "OBX|2||69965^VMD^MDC|1.1.0.0|||||||X|||||||vmd"
        let result = "OBX|3|NM|c^n^MDC|1.1.1.1|72|u|||||F"
        let own = result + "|||||||own"
        let lines = [HL7Messages.header, HL7Messages.order, container("a"), container("b"), module]
        let reading = HL7Reading(lines + [result, own])
        #expect(reading.documents.count == 1 && reading.refused.map(\.reason) == [.ambiguousExpression])
        let letter = [HL7Messages.header, HL7Messages.order, container("a"), container("b"), result, ""]
        #expect(reading.refused.first?.letter == HL7Messages.bytes(letter))
        #expect(HL7Reading(HL7Messages.bytes(letter)).refused.map(\.reason) == [.ambiguousExpression])
        // Who asks for no device needs none.
        #expect(HL7Reading(lines + [result], names: ["OBX", "5"]).documents == ["{\"OBX\":[{\"5\":\"72\"}]}"])
    }

    /// A segment that stands between results of a group without an order is none of the patient's in the letter, who has
    /// one of that name.
    @Test func segmentsBetweenResults() {
        let results = ["72", "x"].map { "OBX|1|NM|c^n^MDC|1.1.1.1|\($0)|u|||||F" }
        let lines = [HL7Messages.header, HL7Messages.patient, "PV1|1", results[0], "PV1|2", results[1]]
        let reading = HL7Reading(lines)
        #expect(reading.failure == nil && !reading.refused.isEmpty)
        for (reason, letter) in reading.refused {
            let again = HL7Reading(letter)
            #expect(again.failure == nil && again.refused.map(\.reason) == [reason])
            #expect(again.refused.first?.letter == letter, "\(String(decoding: letter, as: UTF8.self))")
        }
    }

    /// Flags of IHE PCD-01 that say the value is none, or not to be relied on; others say something of a value.
    @Test(arguments: [
        ("TEST", false), ("DEMO", false), ("CALIB", false), ("INV", false), ("NAV", false), ("BUSY", false),
        ("OFF", false), ("QUES", false), ("EARLY", false), ("H~DEMO", false), ("TEST~", false),
        ("INV^invalid^IHE", false), ("", true), ("N", true), ("H", true), ("LL~A", true), ("\"\"", true),
        ("OFFSET", true), ("N^TEST", true),
    ])
    func flags(written: String, isRead: Bool) {
        for status in ["R", "F", "C"] {
            let result = "OBX|1|NM|c|1.1.1.1|72|u||\(written)|||\(status)"
            let reading = HL7Reading([HL7Messages.header, HL7Messages.order, result])
            #expect(reading.documents.count == (isRead ? 1 : 0))
            #expect(reading.refused.map(\.reason) == (isRead ? [] : [.resultStatus]))
        }
    }

    /// Results of one code, device and time at two places are refused together, and their letter says so again.
    @Test func channels() {
        func result(_ place: String, _ value: Int, _ rest: String = "", code: String = "t^T^MDC") -> String {
            "OBX|1|NM|\(code)|\(place)|\(value)|u|||||F\(rest)"
        }
        func read(_ results: [String], names: [String] = ["OBX", "5"]) -> HL7Reading {
            HL7Reading([HL7Messages.header, HL7Messages.order] + results, names: names)
        }
        let two = [result("1.4.1.1", 36), result("1.4.2.1", 37)]
        let same = result("1.4.2.1", 38, "|||202603010800+0100")
        let other = result("1.4.1.1", 1, code: "h^H^MDC")
        let reading = read(two + [other, same])
        #expect(reading.documents == ["{\"OBX\":[{\"5\":\"1\"}]}"])
        #expect(reading.refused.map(\.reason) == [.ambiguousExpression])
        let letter = HL7Messages.bytes([HL7Messages.header, HL7Messages.order] + two + [same, ""])
        #expect(reading.refused.first?.letter == letter)
        #expect(HL7Reading(letter).refused.map(\.letter) == [letter])
        // Another time, device, group or coding system tells them apart; the same place is the same result.
        for results in [
            [two[0], result("1.4.2.1", 37, "|||20260301080001")], [two[0], result("1.4.2.1", 37, "|||||||dev")],
            [two[0], HL7Messages.order, two[1]], [two[0], result("1.4.2.1", 37, code: "t^T^L")], [two[0], two[0]],
            [two[0], result("1.4.2.1", 37).replacing("|F", with: "|X")],
        ] {
            let reading = read(results)
            #expect(!reading.documents.isEmpty, "\(results)")
            #expect(!reading.refused.map(\.reason).contains(.ambiguousExpression), "\(results)")
        }
        // Templates that look at channels tell them apart, and nothing within one.
        let told = read(two, names: ["OBX", "channel"])
        #expect(told.documents == ["{\"OBX\":[{\"channel\":\"1.4.1\"},{\"channel\":\"1.4.2\"}]}"])
        let within = read([two[0], result("1.4.1.2", 37)], names: ["OBX", "channel"])
        #expect(within.documents.isEmpty && within.refused.count == 1)
    }

    /// Results that are one reading are one letter, in the order of the message.
    @Test func lettersOfOneReading() throws {
        let results = ["s^S^MDC|1.1.1.1|120", "d^D^MDC|1.1.1.2|80", "t^T^MDC|1.2.1.1|37"].map {
            "OBX|1|NM|\($0)|u|||||F"
        }
        let reader = HL7Reader(HL7Needs(names: ["OBX", "5"], all: false))
        let message = HL7Messages.bytes([HL7Messages.header, HL7Messages.order] + results)
        let storage = PaddedBytes(copying: message)
        try reader.begin(storage.view)
        #expect(reader.nextGroup())
        #expect(reader.document.string == "{\"OBX\":[{\"5\":\"120\"},{\"5\":\"80\"},{\"5\":\"37\"}]}")
        let expected = HL7Messages.bytes([HL7Messages.header, HL7Messages.order, results[0], results[1], ""])
        #expect(reader.letter(of: [20..<30, 8..<19]).array == expected)
        // What is no result by itself is of the whole message.
        #expect(reader.letter(of: [20..<30, 0..<40]).array == message)
        reader.finish()
    }

    /// A message that is refused for what stands in its last group gives nothing of the first.
    @Test func nothingOfARefusedMessage() {
        let lines = [HL7Messages.header, HL7Messages.order, HL7Messages.result, HL7Messages.order, "PV1|1", "PV1|2"]
        let reading = HL7Reading(lines)
        #expect(reading.failure == .malformedMessage && reading.documents.isEmpty && reading.refused.isEmpty)
        let devices = (0..<300).map { "OBX|1||69965^MDS^MDC|\($0).0.0.0|||||||X|||||||d" }
        let many = HL7Reading([HL7Messages.header, HL7Messages.order, HL7Messages.result] + devices)
        #expect(many.failure == .tooManyValues && many.documents.isEmpty)
    }

    @Test func patients() throws {
        func patient(_ list: String) throws -> String? {
            let reading = HL7Reading([HL7Messages.header, "PID|||\(list)", HL7Messages.order, HL7Messages.result])
            guard let document = reading.documents.first else { return reading.refused.first?.reason.name }
            return try JSONTree(parsing: Array(document.utf8))["OBX"]?.elements?.first?["patient"]?.text
        }
        #expect(try patient("1") == "1" && patient("1^^^H^MR~2^^^I^NI") == "1" && patient("2^^^I^NI~1^^^H^PI") == "1")
        #expect(try patient("") == nil && patient("\"\"") == nil && patient("~1") == "1")
        #expect(try patient("1~2") == "ambiguousExpression" && patient("1^^^A^MR~2^^^B^MR") == "ambiguousExpression")
    }

    /// Messages that are not read, each as a whole.
    @Test(arguments: [
        ("", Rejection.malformedMessage), ("hello", .malformedMessage), ("MSH|^~\\&", .malformedMessage),
        ("MSH|^~^&|a||||||ORU^R01|1|P|2.6", .malformedMessage), ("MSH|^~\\|a||||||ORU^R01|1|P|2.6", .malformedMessage),
        ("MSHA^~\\&A", .malformedMessage), ("MSH|^~\\&|||||||ORU^R01||P|2.6", .malformedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6\robx|1", .malformedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6\rOBX1|1", .malformedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6\rMSH|^~\\&|", .malformedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6\rOBR|1\rPV1|1\rOBX|1|NM|c|1|1|u|||||F\rPV1|1", .malformedMessage),
        ("MSH|^~\\&|||||||ADT^A01|1|P|2.6", .unsupportedMessage),
        ("MSH|^~\\&|||||||ORU^R40|1|P|2.6", .unsupportedMessage),
        ("MSH|^~\\&|||||||ORU|1|P|2.6", .unsupportedMessage), ("MSH|^~\\&|||||||ORU^R01|1|P|3.0", .unsupportedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1||2.6", .unsupportedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6||7", .unsupportedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|P|2.6\rDSC|7", .unsupportedMessage), ("FHS|^~\\&|", .malformedMessage),
        ("MSH|^~\\&|||||||ORU^R01|1|T|2.6", .testMeasurement), ("MSH|^~\\&|||||||ORU^R01|1|D|2.6", .testMeasurement),
    ])
    func wholeMessages(text: String, reason: Rejection) {
        let reading = HL7Reading(Array(text.utf8))
        #expect(reading.failure == reason && reading.refused.isEmpty)
    }
}
