@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Framings as the configuration says them.
@Suite struct FramingSettingsTests {
    private static let capture: StreamFraming = {
        var framing = CaptureFraming()
        framing.device = "strap-1"
        framing.offsetMinutes = -210
        return .capture(framing)
    }()

    @Test(arguments: [
        ("lines", StreamFraming.lines), ("nul", .frames(Framing(.delimiter([0])))),
        ("delimiter,1e", .frames(Framing(.delimiter([0x1E])))),
        ("delimiter,0d0A,crc32", .frames(Framing(.delimiter([0x0D, 0x0A]), check: .crc32))),
        ("slip", .frames(Framing(.slip))), ("cobs,crc16-ccitt", .frames(Framing(.cobs, check: .crc16ccitt))),
        ("cobs,crc32,check-be", .frames(Framing(.cobs, check: .crc32, isCheckBigEndian: true))),
        ("fixed,20", .frames(Framing(.fixed(20)))),
        ("length,u16be", .frames(Framing(.length(LengthField(.fixed(width: 2, isBigEndian: true)))))),
        (
            "length,u32le,at=2,add=-6,keep,crc16-x25",
            .frames(
                Framing(
                    .length(
                        LengthField(
                            .fixed(width: 4, isBigEndian: false), offset: 2, adjustment: -6, keepsHead: true)),
                    check: .crc16x25))
        ), ("length,varint", .frames(Framing(.length(LengthField(.varint))))), ("capture", .capture(CaptureFraming())),
        ("capture,device=strap-1,utc-offset=-03:30", Self.capture),
    ])
    func reads(text: String, framing: StreamFraming) {
        let result = load(
            "framing: \(text)\nsources:\n- {unix: a}\n- unix: b\n  framing: \(text)\n- unix: c\n  framing: nul")
        #expect(result.diagnostics.map(\.text) == [])
        let settings = result.settings
        #expect(settings.sources.map { settings.framing(of: $0) }.prefix(2) == [framing, framing])
        #expect(settings.sources.last.map { settings.framing(of: $0) } == .frames(Framing(.delimiter([0]))))
        #expect(FramingText.text(framing) == text.lowercased())
    }

    @Test(arguments: [
        (
            "cob",
            "'cob' is not one of lines, nul, delimiter, length, slip, cobs, fixed, capture, json, csv, hl7v2, "
                + "apple-health; "
                + "did you mean 'cobs'?"
        ),
        ("json,crc32", "'json' has no option 'crc32'; docs/framings.md has all of them"),
        (
            "csv,header",
            "'csv' has no option 'header'; write delimiter=semicolon, comment=#, columns=a|b or trim, with commas between"
        ),
        (
            "csv,comment=##",
            "'##' is no delimiter and no character that begins a comment; "
                + "write one character other than a quote, or comma, semicolon, tab or bar as delimiter"
        ),
        (
            "csv,columns=a|a",
            "'a|a' names a column twice, or not at all; write each name once, with | between: columns=device|time|value"
        ),
        ("lines,crc32", "'lines' has no option 'crc32'; docs/framings.md has all of them"),
        ("slip,at=2", "'slip' has no option 'at=2'; docs/framings.md has all of them"),
        ("cobs,check-be", "'check-be' is of no use without a checksum; docs/framings.md has all of them"),
        ("delimiter", "'' is no delimiter; write one to eight bytes in hexadecimal, as delimiter,1e"),
        ("delimiter,0g", "'0g' is no delimiter; write one to eight bytes in hexadecimal, as delimiter,1e"),
        (
            "fixed,0",
            "'0' is not a whole number from 1 to 16777216; write for instance fixed,20 for payloads of 20 bytes"
        ),
        ("fixed,1048577", "payloads of 1048577 bytes are longer than limits.lineBytes; raise limits.lineBytes"),
        (
            "length,u17",
            "'u17' is not one of u8, u16le, u16be, u24le, u24be, u32le, u32be, varint; did you mean 'u8'?"
        ), ("capture,slip", "'capture' has no option 'slip'; docs/framings.md has all of them"),
        ("capture,device=", "'capture' has no option 'device='; docs/framings.md has all of them"),
        ("capture,utc-offset=1", "'1' is no offset from UTC; write for instance +01:00"),
        ("capture,utc-offset=++1:00", "'++1:00' is no offset from UTC; write for instance +01:00"),
        ("length,u8,at=99", "'99' is not a whole number from 0 to 64; write for instance at=2"),
    ])
    func refuses(text: String, message: String) {
        #expect(messages("framing: \(text)") == ["kymo.yaml:1:10: error: framing: \(message)"])
    }

    @Test func hasNoEffectOnDatagrams() {
        #expect(
            messages("sources:\n- udp: 127.0.0.1:0\n  framing: nul") == [
                "kymo.yaml:3:12: warning: sources[0].framing: it has no effect here; "
                    + "its messages have their borders already"
            ])
    }

    @Test func serialLinesAreSources() {
        let result = load("", environment: ["KYMO_SERIAL": "/dev/ttyS0:9600,7E1", "KYMO_FRAMING": "slip"])
        #expect(result.diagnostics.map(\.text) == [])
        #expect(
            result.settings.sources.map(\.name) == ["serial /dev/ttyS0"]
                && result.settings.framing == .frames(Framing(.slip)))
        #expect(
            messages("sources:\n- serial: /dev/ttyS0") == [
                "kymo.yaml:2:11: error: sources[0].serial: '/dev/ttyS0' is no serial line: it has no speed; write "
                    + "/dev/ttyUSB0:115200 or /dev/ttyUSB0:115200,8N1"
            ])
        #expect(
            messages("sources:\n- serial: /dev/ttyS0:9600\n- serial: /dev/ttyS0:300") == [
                "kymo.yaml:3:11: error: sources[1].serial: two sources have the line /dev/ttyS0; remove one, or choose "
                    + "another address"
            ])
    }
}
