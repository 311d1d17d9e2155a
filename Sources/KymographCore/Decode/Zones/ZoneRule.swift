/// How a zone's clock changes every year: the TZ text of POSIX, with hours up to 167 as RFC 8536 has it.
struct ZoneRule {
    /// Seconds ahead of UTC in standard time and in daylight-saving time.
    private var standard: Int64 = 0
    private var saving: Int64 = 0
    /// When daylight-saving time begins and ends; nil where there is none.
    private var begin: Day?
    private var end: Day?

    /// `Mm.w.d/time`: the `week`th `weekday` (0 is Sunday) of a month, 5 for the last; seconds of the wall clock after
    /// its midnight.
    private struct Day {
        var month: Int
        var week: Int
        var weekday: Int
        var seconds: Int64
    }

    /// Reads `text`, such as `CET-1CEST,M3.5.0,M10.5.0/3`, or nothing at all for "no rule"; nil when it is malformed.
    init?(_ text: [UInt8]) {
        var reader = Reader(text: text)
        guard !text.isEmpty else { return }
        guard reader.name(), let west = reader.time() else { return nil }
        (standard, saving) = (-west, -west + 3_600)
        guard !reader.isAtEnd else { return }
        guard reader.name() else { return nil }
        if reader.next != UInt8(ascii: ",") {
            guard let west = reader.time() else { return nil }
            saving = -west
        }
        guard let begin = reader.day(), let end = reader.day(), reader.isAtEnd else { return nil }
        (self.begin, self.end) = (begin, end)
    }

    /// Appends the changes behind the last one of `zone`, up to 2261.
    func append(to zone: inout ZoneFileReader.Zone) {
        guard let begin, let end else { return }
        let last = zone.changes.last ?? .min
        for year in 1970...2261 {
            let changes = [
                (ZoneRule.midnight(begin, year) + begin.seconds - standard, saving),
                (ZoneRule.midnight(end, year) + end.seconds - saving, standard),
            ]
            for (time, offset) in changes.sorted(by: { $0.0 < $1.0 }) where time > last {
                zone.changes.append(time)
                zone.offsets.append(offset)
            }
        }
    }

    /// Seconds from the epoch to the midnight, of the wall clock, that begins `day` of `year`.
    private static func midnight(_ day: Day, _ year: Int) -> Int64 {
        let first = Calendar.days(year: year, month: day.month, day: 1)
        // 1970-01-01 was a Thursday.
        let weekday = ((first + 4) % 7 + 7) % 7
        var date = 1 + (day.weekday - weekday + 7) % 7 + (day.week - 1) * 7
        if date > Calendar.days(inMonth: day.month, year: year) { date -= 7 }
        return Int64(first + date - 1) * 86_400
    }

    /// Goes through the text.
    private struct Reader {
        let text: [UInt8]
        private var place = 0

        init(text: [UInt8]) { self.text = text }

        var isAtEnd: Bool { place == text.count }
        /// The next byte, 0 at the end.
        var next: UInt8 { isAtEnd ? 0 : text[place] }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            place += 1
            return true
        }

        /// Takes a name: letters, or anything between `<` and `>`.
        mutating func name() -> Bool {
            let first = place
            if take(UInt8(ascii: "<")) {
                while !isAtEnd, next != UInt8(ascii: ">") { place += 1 }
                return take(UInt8(ascii: ">"))
            }
            while next | 0x20 >= UInt8(ascii: "a"), next | 0x20 <= UInt8(ascii: "z") { place += 1 }
            return place > first
        }

        private mutating func digits() -> Int64? {
            let first = place
            var value: Int64 = 0
            while next &- UInt8(ascii: "0") < 10, place - first < 4 {
                value = value * 10 + Int64(next - UInt8(ascii: "0"))
                place += 1
            }
            return place == first ? nil : value
        }

        /// Takes `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func time() -> Int64? {
            let isNegative = take(UInt8(ascii: "-"))
            if !isNegative { _ = take(UInt8(ascii: "+")) }
            var seconds: Int64 = 0
            for unit in [Int64(3_600), 60, 1] {
                guard let number = digits() else { return nil }
                seconds += number * unit
                guard take(UInt8(ascii: ":")) else { break }
            }
            return isNegative ? -seconds : seconds
        }

        /// Takes `,Mm.w.d[/time]`.
        mutating func day() -> Day? {
            guard take(UInt8(ascii: ",")), take(UInt8(ascii: "M")), let month = digits(), take(UInt8(ascii: ".")),
                let week = digits(), take(UInt8(ascii: ".")), let weekday = digits(), (1...12).contains(month),
                (1...5).contains(week), (0...6).contains(weekday)
            else { return nil }
            var seconds: Int64 = 7_200
            if take(UInt8(ascii: "/")) {
                guard let time = time() else { return nil }
                seconds = time
            }
            return Day(month: Int(month), week: Int(week), weekday: Int(weekday), seconds: seconds)
        }
    }
}
