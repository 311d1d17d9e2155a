import KymographCore

/// The time that a FHIR date stands for: all of the day, the second and so on that it names. Nanoseconds since the
/// epoch; what lies before or behind all that they can say is at their borders.
struct DateSpan: Hashable, Sendable {
    /// First nanosecond.
    var start: Int64
    /// First nanosecond behind it.
    var end: Int64

    init(start: Int64, end: Int64) { (self.start, self.end) = (start, end) }

    /// Reads `2026`, `2026-03`, `2026-03-01`, `2026-03-01T08:00`, with seconds, and with any fraction of them. A time
    /// without an offset, and a day, is of UTC. Nil for anything else.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let year = Self.number(bytes[...].prefix(4), digits: 4), year > 0 else { return nil }
        let month = bytes.count > 4 ? Self.part(bytes, after: 4, "-") : 1
        let day = bytes.count > 7 ? Self.part(bytes, after: 7, "-") : 1
        guard let month, let day, 1...12 ~= month, 1...31 ~= day, [4, 7, 10].contains(bytes.count) || bytes.count > 15
        else { return nil }
        let length = bytes.count > 10 ? Self.length(ofTime: bytes[10...]) : 86_400_000_000_000
        guard let length else { return nil }
        if bytes.count > 7, let border = Self.border(year) {
            self.init(start: border, end: border)
            return
        }
        switch bytes.count {
        case 4: self.init(start: Self.start(year, 1), end: Self.start(year + 1, 1))
        case 7:
            let next = month == 12 ? (year + 1, 1) : (year, month + 1)
            self.init(start: Self.start(year, month), end: Self.start(next.0, next.1))
        default:
            guard let start = Self.instant(bytes.count == 10 ? "\(text)T00:00Z" : text) else { return nil }
            self.init(start: start, end: start.plus(length))
        }
    }

    /// The two digits behind `sign`, which is at `place`.
    private static func part(_ bytes: [UInt8], after place: Int, _ sign: Unicode.Scalar) -> Int? {
        guard bytes.count >= place + 3, bytes[place] == UInt8(ascii: sign) else { return nil }
        return number(bytes[(place + 1)...].prefix(2), digits: 2)
    }

    private static func number(_ bytes: ArraySlice<UInt8>, digits: Int) -> Int? {
        guard bytes.count == digits, bytes.allSatisfy(isDigit) else { return nil }
        return bytes.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// How long `T08:00`, `T08:00:00.5Z` and so on lasts; nil for another form.
    private static func length(ofTime time: ArraySlice<UInt8>) -> Int64? {
        let time = Array(time)
        guard part(time, after: 0, "T") != nil, part(time, after: 3, ":") != nil else { return nil }
        var (rest, length): (ArraySlice<UInt8>, Int64) = (time[6...], 60_000_000_000)
        if rest.first == UInt8(ascii: ":") {
            guard number(rest.dropFirst().prefix(2), digits: 2) != nil else { return nil }
            (rest, length) = (rest.dropFirst(3), 1_000_000_000)
            if rest.first == UInt8(ascii: ".") {
                let digits = rest.dropFirst().prefix(while: isDigit)
                guard 1...18 ~= digits.count else { return nil }
                for _ in 0..<min(digits.count, 9) { length /= 10 }
                rest = rest.dropFirst(1 + digits.count)
            }
        }
        return isZone(Array(rest)) ? length : nil
    }

    /// Whether `bytes` are nothing, `Z`, or an offset.
    private static func isZone(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 1 else { return bytes.isEmpty || bytes == [UInt8(ascii: "Z")] }
        let isSigned = bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-")
        return bytes.count == 6 && isSigned && number(bytes[1...2], digits: 2) != nil
            && part(bytes, after: 3, ":") != nil
    }

    private static func start(_ year: Int, _ month: Int) -> Int64 {
        if let border = border(year) { return border }
        return instant("\(year)-\(month < 10 ? "0" : "")\(month)-01T00:00Z") ?? .max
    }

    /// The border that a year lies beyond; nil when it does not.
    private static func border(_ year: Int) -> Int64? { year < 1678 ? .min : year > 2261 ? .max : nil }

    private static func instant(_ text: String) -> Int64? {
        Array(text.utf8).withByteView { TimestampParser.iso8601($0)?.instant.nanoseconds }
    }
}

/// What a value of `date` or `_lastUpdated` asks for (FHIR search, "date"): both it and what it is compared with are
/// spans of time.
struct SearchDate: Hashable, Sendable {
    private enum Prefix: String, CaseIterable {
        case eq, ne, gt, lt, ge, le, sa, eb
    }

    private let prefix: Prefix
    private let span: DateSpan

    /// The dates in the value of `parameter`, which are separated by commas.
    static func all(_ text: String, of parameter: String) throws(SearchRefusal) -> [SearchDate] {
        var dates: [SearchDate] = []
        for part in SearchText.divided(text, at: ",") { dates.append(try SearchDate(part, of: parameter)) }
        return dates
    }

    private init(_ text: String, of parameter: String) throws(SearchRefusal) {
        let letters = text.prefix { $0.isLetter }
        guard let prefix = letters.isEmpty ? Prefix.eq : Prefix(rawValue: String(letters)) else {
            let names = Prefix.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed(parameter, "the prefixes are \(names)")
        }
        guard let span = DateSpan(String(text.dropFirst(letters.count))) else {
            throw .malformed(
                parameter, "write a date such as 2026-03-01 or 2026-03-01T08:00:00Z, the + of an offset as %2B")
        }
        (self.prefix, self.span) = (prefix, span)
    }

    /// Whether it asks for `found`.
    func matches(_ found: DateSpan) -> Bool {
        let isWithin = span.start <= found.start && found.end <= span.end
        return switch prefix {
        case .eq: isWithin
        case .ne: !isWithin
        case .gt: found.end > span.end
        case .lt: found.start < span.start
        case .ge: found.end > span.end || isWithin
        case .le: found.start < span.start || isWithin
        case .sa: found.start >= span.end
        case .eb: found.end <= span.start
        }
    }

    /// Before which time nothing ends that it asks for.
    var from: Int64 {
        switch prefix {
        case .eq, .ge: span.start
        case .gt, .sa: span.end
        case .ne, .lt, .le, .eb: .min
        }
    }

    /// Behind which time nothing starts that it asks for.
    var to: Int64 {
        switch prefix {
        case .eq, .le: span.end
        case .lt, .eb: span.start
        case .ne, .gt, .ge, .sa: .max
        }
    }
}
