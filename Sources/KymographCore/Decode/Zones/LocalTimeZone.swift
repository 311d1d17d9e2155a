/// A time zone by which times without an offset are read: a source's wall clock.
///
/// Made of a TZif file (RFC 8536), as the system's tz database has it; the rule at its end is applied up to 2261.
package struct LocalTimeZone: Sendable, Equatable {
    /// The name in the tz database, such as `Europe/Berlin`.
    package let name: String
    /// When the offset changes, in seconds since the epoch; in rising order.
    private let changes: [Int64]
    /// Seconds ahead of UTC: before the first change, and from each change on.
    private let offsets: [Int64]

    /// Reads `file`, a TZif file of version 2 or later; nil when it is none, or has a rule of another form than
    /// `Mm.w.d`, which no zone of the tz database has.
    package init?(name: String, file: [UInt8]) {
        guard var reader = ZoneFileReader(file), let zone = reader.read() else { return nil }
        self.name = name
        (changes, offsets) = (zone.changes, zone.offsets)
    }

    /// A zone whose clock is always `minutes` ahead of UTC.
    package init(name: String, minutes: Int16) {
        self.name = name
        (changes, offsets) = ([], [Int64(minutes) * 60])
    }

    /// The time that the zone's clock shows as `time`, which has no offset; nil when the clock shows it twice or never
    /// on a day on which it is changed.
    func settled(_ time: Timestamp) -> Timestamp? {
        guard let offset = offset(ofLocal: time.instant.nanoseconds / 1_000_000_000) else { return nil }
        let (nanoseconds, overflow) = time.instant.nanoseconds.subtractingReportingOverflow(offset * 1_000_000_000)
        guard !overflow else { return nil }
        // FHIR cannot write what was before standard time: offsets with seconds, or of more than 14 hours.
        let minutes = offset % 60 == 0 && abs(offset) <= 50_400 ? Int16(offset / 60) : UTCOffset.none
        return Timestamp(
            instant: Instant(nanoseconds: nanoseconds),
            form: TimeForm(offsetMinutes: minutes, digits: time.form.digits))
    }

    /// The only offset by which the clock shows `local`; nil when there is none, or more than one.
    private func offset(ofLocal local: Int64) -> Int64? {
        var found: Int64?
        // No zone is further than a day from UTC, so what is valid is in force within a day.
        for shift in stride(from: -86_400, through: 86_400, by: 86_400) as StrideThrough<Int64> {
            let candidate = offset(at: local + shift)
            guard candidate != found, offset(at: local - candidate) == candidate else { continue }
            guard found == nil else { return nil }
            found = candidate
        }
        return found
    }

    /// Seconds ahead of UTC at `seconds` since the epoch.
    package func offset(at seconds: Int64) -> Int64 { offsets[changeCount(upTo: seconds)] }

    /// When the offset was changed last, at `seconds` since the epoch or before; nil when it never was.
    package func lastChange(upTo seconds: Int64) -> Int64? {
        changes.indices.prefix(changeCount(upTo: seconds)).last { offsets[$0] != offsets[$0 + 1] }.map { changes[$0] }
    }

    /// When the offset is changed next, behind `seconds` since the epoch; nil when it never is.
    package func nextChange(after seconds: Int64) -> Int64? {
        let behind = changes.indices.dropFirst(changeCount(upTo: seconds))
        return behind.first { offsets[$0] != offsets[$0 + 1] }.map { changes[$0] }
    }

    /// How many changes there are at `seconds` since the epoch or before.
    private func changeCount(upTo seconds: Int64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
