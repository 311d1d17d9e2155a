import GRDB
import KymographCore

/// The window of an Observation, as its identity tells (docs/identity.md).
struct ReceiptWindow {
    /// The parts of the identity, as they are written there.
    private let device: IdentifierText
    private let patient: IdentifierText
    private let type: String
    private let start: Instant
    private let end: Instant

    /// Reads an identity, by its bytes; nil for one of another form, such as that of a correlation.
    init?(_ identity: IdentifierText) {
        let dot = UInt8(ascii: ".")
        let parts = identity.utf8.split(separator: dot, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var rest = parts[3]
        guard let start = ReceiptWindow.takeTime(&rest), rest.popFirst() == dot, let end = ReceiptWindow.takeTime(&rest)
        else { return nil }
        (patient, device) = (IdentifierText(utf8: parts[0].plain), IdentifierText(utf8: parts[1].plain))
        (type, self.start, self.end) = (String(decoding: parts[2].plain, as: UTF8.self), start, end)
    }

    /// Takes a time such as `20260301080000Z` or `20260301080000.500Z` from the beginning of `text`.
    private static func takeTime(_ text: inout ArraySlice<UInt8>) -> Instant? {
        guard let end = text.firstIndex(of: UInt8(ascii: "Z")) else { return nil }
        let time = String(decoding: text[..<end], as: UTF8.self)
        let digits = Array(time.prefix(14))
        guard digits.count == 14, digits.allSatisfy(\.isNumber) else { return nil }
        text = text[(end + 1)...]
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return Instant(
            rfc3339: "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))"
                + time.dropFirst(14) + "Z")
    }

    /// Notes in `line` what the archive has of the window that left with `row`, or that it is a single reading.
    func note(in line: inout ReceiptLine, row: Int64, _ db: Database) throws {
        line.type = type
        (line.start, line.end) = (start.text, end.text)
        if start == end { return (line.readings, line.first, line.last) = (1, line.end, line.end) }
        // By the device first: thousands of windows begin together.
        let statement = try db.cachedStatement(
            sql: """
                SELECT window."end", window.outbox, readings, first, last FROM series
                CROSS JOIN window ON window.series = series.number AND window.start = ?
                CROSS JOIN type ON type.number = series.type
                WHERE series.device = ? AND type.name = ? AND coalesce(series.patient, '') = ? LIMIT 2
                """)
        let found = try Row.fetchAll(
            statement, arguments: [start.nanoseconds, device.text, type, patient.text])
        guard let window = found.first else {
            return (line.readings, line.first, line.last) = (1, line.end, line.end)
        }
        // In the identity the end is the last tick inside the window. Of several series nobody knows which one it is.
        guard found.count == 1, window[0] as Int64 - 100 >= end.nanoseconds,
            (window[0] as Int64 - 100) / 1_000_000_000 == end.nanoseconds / 1_000_000_000
        else { return }
        line.end = Instant(nanoseconds: window[0]).text
        guard window[1] as Int64 == row else { return }
        line.readings = window[2]
        (line.first, line.last) = (Instant(nanoseconds: window[3]).text, Instant(nanoseconds: window[4]).text)
    }
}

extension ArraySlice<UInt8> {
    /// A part of an identity as it was before it was escaped.
    fileprivate var plain: [UInt8] {
        var (bytes, rest) = ([UInt8](), self)
        while let byte = rest.popFirst() {
            let isDot = rest.starts(with: "2E".utf8)
            guard byte == UInt8(ascii: "%"), isDot || rest.starts(with: "25".utf8) else {
                bytes.append(byte)
                continue
            }
            bytes.append(isDot ? UInt8(ascii: ".") : byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
