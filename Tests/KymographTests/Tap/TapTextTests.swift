@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// What a tap shows of an event, and what it does not.
@Suite struct TapTextTests {
    private func shape(_ payload: String) -> String {
        String(decoding: PayloadShape.of(Array(payload.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (
            #"{"deviceId":"monitor-4711","value":72.5,"ok":true,"none":null}"#,
            #"{"deviceId":"string","value":"number","ok":"boolean","none":"null"}"#
        ),
        (#"{"a":[{"spo2":97},{"spo2":98}],"b":[]}"#, #"{"a":[{"spo2":"number"}],"b":[]}"#),
        (
            #"{"monitor-4711":{"p7":1},"John Doe":2,"j.doe@ward":3,"heart_rate":4}"#,
            #"{"masked":{"p7":"number"},"masked":"number","masked":"number","heart_rate":"number"}"#
        ),
        ("{\"a\":1}\n{\"b\":2}\n", #"{"a":"number"}"#), ("monitor-4711;72", "\"text\""), ("", "\"text\""),
        (
            #"{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}"#,
            #"{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":"object"}}}}}}}}"#
        ),
    ])
    func aPayloadHasAShape(payload: String, expected: String) { #expect(shape(payload) == expected) }

    @Test func bytesThatAreNoTextAreBinary() {
        #expect(PayloadShape.of([0xFF, 0x00, 0x16]) == Array("\"binary\"".utf8))
    }

    @Test func aResourceKeepsWhatWasMeasured() throws {
        let resource = #"""
            {"resourceType":"Observation","id":"0815","status":"final","identifier":[{"system":"urn:x","value":"4711"}],
            "code":{"coding":[{"system":"http://loinc.org","code":"8867-4","display":"Heart rate"}],"text":"of 4711"},
            "subject":{"reference":"Patient/4711"},"device":{"identifier":{"value":"4711"}},
            "effectiveDateTime":"2026-03-01T08:00:00Z","valueQuantity":{"value":72.50,"unit":"/min"},
            "component":[{"valueString":"4711","valueBoolean":true}],"note":[{"text":"4711"}],
            "extension":[{"valueInteger":4711}]}
            """#
        let text = String(decoding: try #require(MaskedResource.of(Array(resource.utf8))), as: UTF8.self)
        #expect(!text.contains("4711") && !text.contains("0815"), "\(text)")
        let masked = try JSONTree(parsing: Array(text.utf8))
        #expect(masked["status"]?.text == "final" && masked["code"]?["text"]?.text == "masked")
        #expect(masked["code"]?["coding"]?.elements?.first?["code"]?.text == "8867-4")
        #expect(text.contains(#""valueQuantity":{"value":72.50,"unit":"/min"}"#))
        #expect(masked["effectiveDateTime"]?.text == "2026-03-01T08:00:00Z")
    }

    private func line(_ reveals: Bool) throws -> JSONTree {
        let type = MeasurementType(
            name: "rate", valueNames: ["beats", "note", "seventh"], grouping: .instance, isNumeric: [true, false, true])
        var measurement = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 1))
        measurement.setInline(0, Decimal64(mantissa: 7_250, exponent: -2))
        var records = ByteWriter()
        ValueRecord.append(slot: 1, text: ByteView("of 4711"), to: &records)
        let key = SeriesKey.encode(
            SeriesIdentity(
                type: 0, device: Array("4711".utf8), patient: Array("0815".utf8), encounter: Array("e-4711".utf8),
                correlation: nil))
        let text = TapText(reveals: reveals, sources: [("udp 127.0.0.1:5757", "messages")])
        let event = TappedMeasurement(
            source: 0, type: type, measurement: measurement, payload: records.view.array, key: key)
        let line = text.line(.measurement(event))
        #expect(line.last == 0x0A && line.count { $0 == 0x0A } == 1)
        if !reveals { #expect(!String(decoding: line, as: UTF8.self).contains(/4711|0815/)) }
        return try JSONTree(parsing: line)
    }

    @Test func aReadingHasItsNumbersAndNoTexts() throws {
        let masked = try line(false)
        #expect(masked["values"]?["beats"] == .number("72.50") && masked["values"]?["note"]?.text == "masked")
        #expect(masked["values"]?["seventh"] == nil && masked["source"]?.text == "udp 127.0.0.1:5757")
        #expect(masked["time"]?.text == "1970-01-01T00:00:01Z" && masked["at"]?.text == "1970-01-01T00:00:00Z")
        let revealed = try line(true)
        #expect(revealed["values"]?["note"]?.text == "of 4711" && revealed["encounter"]?.text == "e-4711")
        #expect(revealed["device"]?.text == "4711" && revealed["patient"]?.text == "0815")
        #expect(revealed["correlation"] == nil)
    }

    /// One name for one identifier, and another one in the next tap.
    @Test func aMaskTellsIdentifiersApart() {
        let (mask, other) = (IdentifierMask(), IdentifierMask())
        let name = mask.name(of: Array("watch-1".utf8))
        #expect(name == mask.name(of: Array("watch-1".utf8)) && name != mask.name(of: Array("watch-2".utf8)))
        #expect(name != other.name(of: Array("watch-1".utf8)) && name.count == "masked-".count + 8)
    }

    @Test func countsAreGrouped() {
        #expect([0, 999, 1_234, 1_234_567].map(TapText.grouped) == ["0", "999", "1,234", "1,234,567"])
    }
}
