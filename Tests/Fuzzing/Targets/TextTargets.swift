@testable import Kymograph
@testable import KymographCore

/// Short texts: numbers, times, queries, addresses.
extension FuzzTarget {
    static let texts = [
        FuzzTarget(name: "number", longest: 64, run: number),
        FuzzTarget(name: "time", longest: 64, run: time),
        FuzzTarget(name: "zone", longest: 1_024, run: zone),
        FuzzTarget(name: "query", longest: 512, run: query),
        FuzzTarget(name: "address", longest: 512, run: address),
    ]

    /// A number is the same when it is written and read again.
    private static func number(_ bytes: [UInt8]) {
        let storage = PaddedBytes(copying: bytes)
        guard case .number(let number) = DecimalParser.parse(storage.view) else { return }
        var writer = ByteWriter()
        writer.append(number)
        let again = PaddedBytes(copying: writer.view.array)
        guard case .number(let second) = DecimalParser.parse(again.view) else {
            return demand(false, "\(number) is written as \(writer.view.string), which is none")
        }
        var other = ByteWriter()
        other.append(second)
        demand(other.view.string == writer.view.string, "\(writer.view.string) becomes \(other.view.string)")
    }

    /// A time is the same when it is written and read again.
    private static func time(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let format = input.choice(of: TimestampFormat.allCases)
        let storage = PaddedBytes(copying: input.rest)
        let found =
            format == .iso8601 ? TimestampParser.iso8601(storage.view) : TimestampParser.epoch(storage.view, format)
        guard let found else { return }
        var writer = ByteWriter()
        writer.append(found.instant, found.form)
        let again = PaddedBytes(copying: writer.view.array)
        let second = TimestampParser.iso8601(again.view)
        demand(second?.instant == found.instant, "\(found) is written as \(writer.view.string)")
    }

    /// Offsets of a zone are of its file, and changes go forwards.
    private static func zone(_ bytes: [UInt8]) {
        guard let zone = LocalTimeZone(name: "z", file: bytes) else { return }
        for seconds in [-9_000_000_000, -86_400, 0, 1_700_000_000, 9_000_000_000] as [Int64] {
            _ = zone.offset(at: seconds)
            demand(zone.lastChange(upTo: seconds).map { $0 <= seconds } ?? true, "the last change is later")
            demand(zone.nextChange(after: seconds).map { $0 > seconds } ?? true, "the next change is earlier")
            let local = Timestamp(instant: Instant(seconds: seconds), form: .unknown, isLocal: true)
            guard let settled = zone.settled(local) else { continue }
            let utc = settled.instant.nanoseconds / 1_000_000_000
            demand(abs(utc - seconds) <= 2 * 86_400, "\(seconds) is at \(utc)")
        }
    }

    /// Queries of the search, and of the console; an escape is two hexadecimal digits.
    private static func query(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for isLenient in [true, false] {
            guard let pairs = try? SearchText.pairs(text) else { break }
            _ = try? SearchParameters.query(pairs, isLenient: isLenient)
        }
        let plain = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        let hasEscape = text.utf8.split(separator: 0x25, omittingEmptySubsequences: false).dropFirst().contains {
            let digits = $0.prefix(2)
            return digits.count == 2 && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }
        }
        guard !hasEscape else { return }
        demand(
            PercentText.decoded(text[...]).utf8.elementsEqual(plain), "\(text): \(PercentText.decoded(text[...]))")
    }

    /// Connection strings, URLs and topics, none of whose secrets is in a message.
    private static func address(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ConnectionString.Fault) {
            let found = try ConnectionString(text)
            demand(found.endpoint.hasPrefix("http"), "\(found.endpoint)")
        } catch {
            let secret = text.firstRange(of: "SharedAccessKey=").map { text[$0.upperBound...].prefix { $0 != ";" } }
            demand(
                secret.map { $0.utf8.count < 12 || !error.description.contains($0) } ?? true, "\(error.description)")
        }
        _ = try? ServerURL(text)
        if let filter = try? TopicFilter(parsing: text) {
            for topic in ["w/1", "a/b/c", "$SYS/x", ""] {
                _ = topic.utf8.map { $0 }.withByteView { filter.match($0) != nil }
            }
        }
        _ = try? IngestKinds.builtIn.framing(text)
    }
}
